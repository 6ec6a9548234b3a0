#include "bits.h"
#include "dpf_cpu.h"

#include <string.h>

/* Ones in the entries that exist, zeros past them, for the last word of a run of n bits. */
static uint64_t last_word(size_t n) { return n % 64 ? ~(uint64_t)0 >> (64 - n % 64) : ~(uint64_t)0; }

/* ---- packing ---------------------------------------------------------- */

/* Byte k of eight, counted from bit 0 of a word, is where k ^ FIRST_BYTE says. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { FIRST_BYTE = 7 };
#else
enum { FIRST_BYTE = 0 };
#endif

/* Eight bytes of 0/1 to eight bits, in order: pairs of bytes, then of pairs, then of fours, move together. */
DPF_BODY uint8_t gather8(const uint8_t *x, uint64_t *seen) {
    uint64_t bytes;
    memcpy(&bytes, x, 8);
    *seen |= bytes;
    if (FIRST_BYTE) {
        bytes |= bytes << 9, bytes |= bytes << 18, bytes |= bytes << 36;
        return (uint8_t)(bytes >> 56);
    }
    bytes |= bytes >> 7, bytes |= bytes >> 14, bytes |= bytes >> 28;
    return (uint8_t)bytes;
}

/* out = `groups` bytes of eight bits each, `step` at a time; the last ones may be written twice. groups >= step. */
DPF_BODY void gather_run(const uint8_t *x, size_t groups, size_t step, uint64_t *seen,
                         uint8_t *DPF_RESTRICT out) {
    uint64_t all = *seen;
    for (size_t g = 0; g < groups; g += step) {
        const size_t first = g + step <= groups ? g : groups - step;
        for (size_t k = first; k < first + step; k++) out[k ^ FIRST_BYTE] = gather8(x + 8 * k, &all);
    }
    *seen = all;
}

DPF_BODY uint8_t pack(const uint8_t *x, size_t n, size_t d, uint64_t *DPF_RESTRICT rows) {
    if (d % 64 == 0) d *= n, n = 1;
    const size_t words = DPF_WORDS(d), groups = d / 8;
    uint64_t seen = 0;
    for (size_t i = 0; i < n; i++, x += d, rows += words) {
        uint8_t *out = (uint8_t *)rows;
        if (d % 64) rows[words - 1] = 0;
        if (groups >= 64) gather_run(x, groups, 64, &seen, out);
        else if (groups >= 16) gather_run(x, groups, 16, &seen, out);
        else if (groups >= 8) gather_run(x, groups, 8, &seen, out);
        else gather_run(x, groups, 1, &seen, out);
        if (d % 8 && groups) { /* the last eight, without those that are packed */
            out[groups ^ FIRST_BYTE] = gather8(x + d - 8, &seen) >> (8 - d % 8);
        } else if (d % 8) {
            for (size_t j = 0; j < d; j++) seen |= x[j], rows[0] |= (uint64_t)(x[j] & 1) << j;
        }
    }
    for (int shift = 32; shift >= 8; shift /= 2) seen |= seen >> shift;
    return (uint8_t)seen;
}

DPF_LEVELS(uint8_t, dpf_bits_pack, pack,
           (const uint8_t *x, size_t n, size_t d, uint64_t *DPF_RESTRICT rows), (x, n, d, rows))

/* Eight bits to eight bytes of 0/1, in order: byte k keeps bit k alone, which then reaches the byte's top. */
DPF_BODY void scatter8(uint64_t bits, uint8_t *x) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const uint64_t own = 0x0102040810204080u;
#else
    const uint64_t own = 0x8040201008040201u;
#endif
    const uint64_t bytes = ((bits & 0xff) * 0x0101010101010101u) & own;
    const uint64_t ones = (bytes + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
    memcpy(x, &ones, 8);
}

void dpf_bits_unpack(const uint64_t *rows, size_t n, size_t d, uint8_t *DPF_RESTRICT x) {
    for (size_t i = 0; i < n; i++, x += d) {
        for (size_t j = 0; j < d; j += 64, rows++) {
            size_t b = 0;
            for (; b < 64 && j + b + 8 <= d; b += 8) scatter8(*rows >> b, x + j + b);
            for (; b < 64 && j + b < d; b++) x[j + b] = *rows >> b & 1;
        }
    }
}

DPF_BODY void set_bit(uint64_t *row, uint64_t j) { row[j / 64] |= (uint64_t)1 << (j % 64); }

void dpf_bits_scatter32(const int32_t *indptr, const int32_t *index, size_t n, size_t words,
                        uint64_t *DPF_RESTRICT rows) {
    for (size_t i = 0; i < n; i++)
        for (int32_t p = indptr[i]; p < indptr[i + 1]; p++)
            set_bit(rows + i * words, (uint64_t)index[p]);
}

void dpf_bits_scatter64(const int64_t *indptr, const int64_t *index, size_t n, size_t words,
                        uint64_t *DPF_RESTRICT rows) {
    for (size_t i = 0; i < n; i++)
        for (int64_t p = indptr[i]; p < indptr[i + 1]; p++)
            set_bit(rows + i * words, (uint64_t)index[p]);
}

/* ---- transpose -------------------------------------------------------- */

enum { LINE = 8 }; /* words of a cache line; as many blocks of 64 x 64 bits are transposed together */

/* Swaps bits that are s apart: the halves off the diagonal of a 2s x 2s block, in two of its rows. */
DPF_BODY void swap(uint64_t *a, uint64_t *b, unsigned s, uint64_t low) {
    const uint64_t differ = (*a >> s ^ *b) & low;
    *a ^= differ << s;
    *b ^= differ;
}

/* Swaps halves of size 4s, 2s and s in eight rows that are `step` apart. */
DPF_BODY void swap_three(uint64_t (*a)[LINE], size_t step, unsigned s, uint64_t low4, uint64_t low2, uint64_t low1) {
    for (size_t l = 0; l < LINE; l++) {
        uint64_t x0 = a[0][l], x1 = a[step][l], x2 = a[2 * step][l], x3 = a[3 * step][l];
        uint64_t x4 = a[4 * step][l], x5 = a[5 * step][l], x6 = a[6 * step][l], x7 = a[7 * step][l];
        swap(&x0, &x4, 4 * s, low4), swap(&x1, &x5, 4 * s, low4);
        swap(&x2, &x6, 4 * s, low4), swap(&x3, &x7, 4 * s, low4);
        swap(&x0, &x2, 2 * s, low2), swap(&x1, &x3, 2 * s, low2);
        swap(&x4, &x6, 2 * s, low2), swap(&x5, &x7, 2 * s, low2);
        swap(&x0, &x1, s, low1), swap(&x2, &x3, s, low1);
        swap(&x4, &x5, s, low1), swap(&x6, &x7, s, low1);
        a[0][l] = x0, a[step][l] = x1, a[2 * step][l] = x2, a[3 * step][l] = x3;
        a[4 * step][l] = x4, a[5 * step][l] = x5, a[6 * step][l] = x6, a[7 * step][l] = x7;
    }
}

DPF_BODY void transpose_blocks(uint64_t (*a)[LINE]) {
    for (size_t k = 0; k < 8; k++)
        swap_three(a + k, 8, 8, 0x00000000ffffffffu, 0x0000ffff0000ffffu, 0x00ff00ff00ff00ffu);
    for (size_t k = 0; k < 64; k += 8)
        swap_three(a + k, 1, 1, 0x0f0f0f0f0f0f0f0fu, 0x3333333333333333u, 0x5555555555555555u);
}

DPF_BODY size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Up to 8 x 8 blocks from word row v0 and column w0. Lanes are the words of a row; where it has fewer, those of
 * `groups` rows. The buffer is a line longer than a power of two, so that its lines do not meet in the cache. */
DPF_BODY void transpose_tile(const uint64_t *rows, size_t n, size_t d, size_t v0, size_t w0,
                             uint64_t *DPF_RESTRICT columns) {
    const size_t row_words = DPF_WORDS(d), column_words = DPF_WORDS(n);
    const size_t width = least(row_words - w0, LINE), height = least(column_words - v0, LINE);
    const size_t lanes = width > 4 ? 8 : width > 2 ? 4 : width, groups = LINE / lanes;
    uint64_t a[LINE][64 + 1][LINE];
    rows += 64 * v0 * row_words + w0, n -= 64 * v0;
    columns += 64 * w0 * column_words + v0, d -= 64 * w0;
    for (size_t v = 0; v < height; v += groups) {
        uint64_t(*block)[LINE] = a[v / groups];
        if (width == LINE && n >= 64 * (v + 1)) {
            for (size_t k = 0; k < 64; k++) memcpy(block[k], rows + (64 * v + k) * row_words, sizeof *block);
        } else {
            memset(block, 0, 64 * sizeof *block);
            for (size_t u = v; u < v + groups && u < height; u++)
                for (size_t w = 0; w < width; w++)
                    for (size_t k = 0; k < least(n - 64 * u, 64); k++)
                        block[k][(u - v) * lanes + w] = rows[(64 * u + k) * row_words + w];
        }
        transpose_blocks(block);
    }
    for (size_t w = 0; w < width; w++, columns += 64 * column_words) {
        const size_t some = least(d - 64 * w, 64);
        if (width == LINE && height == LINE) {
            for (size_t k = 0; k < some; k++)
                for (size_t v = 0; v < LINE; v++) columns[k * column_words + v] = a[v][k][w];
        } else {
            for (size_t v = 0; v < height; v++)
                for (size_t k = 0; k < some; k++)
                    columns[k * column_words + v] = a[v / groups][k][v % groups * lanes + w];
        }
    }
}

DPF_BODY void transpose(const uint64_t *rows, size_t n, size_t d, uint64_t *DPF_RESTRICT columns) {
    const size_t row_words = DPF_WORDS(d), column_words = DPF_WORDS(n);
    const bool across = row_words <= column_words; /* along the shorter side: that one streams */
    const size_t outer = across ? column_words : row_words, inner = across ? row_words : column_words;
    for (size_t o = 0; o < outer; o += LINE)
        for (size_t i = 0; i < inner; i += LINE)
            transpose_tile(rows, n, d, across ? o : i, across ? i : o, columns);
}

DPF_LEVELS(void, dpf_bits_transpose, transpose,
           (const uint64_t *rows, size_t n, size_t d, uint64_t *DPF_RESTRICT columns),
           (rows, n, d, columns))

/* ---- whole words ------------------------------------------------------ */

DPF_BODY uint64_t popcount(const uint64_t *words, size_t size) {
    uint64_t ones = 0;
    for (size_t w = 0; w < size; w++) ones += dpf_popcount(words[w]);
    return ones;
}

DPF_LEVELS(uint64_t, dpf_bits_popcount, popcount, (const uint64_t *words, size_t size), (words, size))

DPF_BODY uint64_t and_flipped(const uint64_t *a, const uint64_t *b, uint64_t flip, size_t size,
                              uint64_t *out) {
    uint64_t ones = 0;
    for (size_t w = 0; w < size; w++) {
        out[w] = a[w] & (b[w] ^ flip);
        ones += dpf_popcount(out[w]);
    }
    return ones;
}

DPF_BODY uint64_t and_words(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out) {
    return and_flipped(a, b, 0, size, out);
}

DPF_BODY uint64_t andnot_words(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out) {
    return and_flipped(a, b, ~(uint64_t)0, size, out);
}

DPF_LEVELS(uint64_t, dpf_bits_and, and_words,
           (const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out), (a, b, size, out))
DPF_LEVELS(uint64_t, dpf_bits_andnot, andnot_words,
           (const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out), (a, b, size, out))

size_t dpf_bits_nonzero(const uint64_t *words, size_t size, int64_t *DPF_RESTRICT at) {
    size_t found = 0;
    for (size_t w = 0; w < size; w++)
        for (uint64_t rest = words[w]; rest; rest &= rest - 1)
            at[found++] = (int64_t)(64 * w + dpf_lowest_bit(rest));
    return found;
}

void dpf_bits_column(const uint64_t *rows, size_t n, size_t words, size_t j, const uint64_t *chosen,
                     uint64_t *DPF_RESTRICT out) {
    const unsigned place = j % 64;
    rows += j / 64;
    for (size_t i = 0; i < n; i += 64, rows += 64 * words) {
        uint64_t column = 0;
        if (chosen[i / 64] == ~(uint64_t)0)
            for (unsigned k = 0; k < 64; k++) column |= (rows[k * words] >> place & 1) << k;
        else
            for (uint64_t rest = chosen[i / 64]; rest; rest &= rest - 1) {
                const unsigned k = dpf_lowest_bit(rest);
                column |= (rows[k * words] >> place & 1) << k;
            }
        out[i / 64] = column;
    }
}

/* ---- positional popcount ---------------------------------------------- */

enum {
    BLOCK = DPF_BITS_BLOCK,
    PLANES = 16,                /* of a counter */
    BATCH = (1 << PLANES) - 16, /* rows that it counts */
    FOUR = 2,                   /* logarithms of how many rows are added at a time */
    GROUP = 4,
    AHEAD = 32,     /* rows by which one of an index is fetched early */
    NEAR = 1 << 19, /* words that a cache may hold */
};

/* The compiler sees whole lines: its loops have no rest. */
#define EACH_WORD(width) for (size_t w = 0; w < ((width) & ~(size_t)(LINE - 1)); w++)

/*
 * m rows of a block of columns, from number `first` on or as the index says; those of a negative label are read
 * flipped. The width is in whole lines: what follows a row is counted too, and left out in the end. From row number
 * `edge` on, where nothing may follow, a copy is read.
 */
typedef struct {
    const uint64_t *rows, *last_rows;
    size_t stride, first, m, width, edge;
    const int64_t *index;
    const int8_t *label;
} row_block;

/* PLANES planes of BLOCK words, and what waits to be added to each; what comes next; two blocks for FOUR; last rows. */
typedef struct {
    uint64_t *plane, *waiting, *carry, *pair, *last_rows;
} counters;

/*
 * From far memory, reading in order is twice as fast as anything else. So rows that lie together are added one after
 * another, four a round; where they are short, near, or pages apart, sixteen side by side cost less.
 */
DPF_BODY unsigned rows_at_a_time(size_t m, size_t words, bool together) {
    return together && words > 16 && words <= 192 && m * words > NEAR ? FOUR : GROUP;
}

DPF_BODY size_t number_of(const row_block *some, size_t i) {
    return some->index ? (size_t)some->index[i] : some->first + i;
}

/* high:low = a + b + c, bit by bit; so written for gcc to find the operations with three operands. */
DPF_BODY void add(uint64_t *high, uint64_t *low, uint64_t a, uint64_t b, uint64_t c) {
    *high = (a & b) | (c & (a | b));
    *low = a ^ b ^ c;
}

/* ones += a row; what overflows goes to twos, or joins what overflowed there, which it cannot meet. */
DPF_BODY void add_row(const uint64_t *row, uint64_t flip, size_t width, bool join, uint64_t *DPF_RESTRICT ones,
                      uint64_t *DPF_RESTRICT twos) {
    EACH_WORD(width) {
        const uint64_t x = row[w] ^ flip;
        twos[w] = (join ? twos[w] : 0) | (ones[w] & x);
        ones[w] ^= x;
    }
}

/* The last of four rows. Then twos += what their two pairs gave; what overflows goes to fours. */
DPF_BODY void add_fourth(const uint64_t *row, uint64_t flip, size_t width, const uint64_t *DPF_RESTRICT first_pair,
                         const uint64_t *DPF_RESTRICT second_pair, uint64_t *DPF_RESTRICT ones,
                         uint64_t *DPF_RESTRICT twos, uint64_t *DPF_RESTRICT fours) {
    EACH_WORD(width) {
        const uint64_t x = row[w] ^ flip, second = second_pair[w] | (ones[w] & x);
        ones[w] ^= x;
        add(&fours[w], &twos[w], twos[w], first_pair[w], second);
    }
}

/* ones..eights += sixteen rows; what overflows goes to sixteens. */
DPF_BODY void add_group(const uint64_t *const *row, const uint64_t *flip, size_t width, uint64_t *DPF_RESTRICT ones,
                        uint64_t *DPF_RESTRICT twos, uint64_t *DPF_RESTRICT fours, uint64_t *DPF_RESTRICT eights,
                        uint64_t *DPF_RESTRICT sixteens) {
#define ROW(r) (row[r][w] ^ flip[r])
    EACH_WORD(width) {
        uint64_t one = ones[w], two = twos[w], four = fours[w], eight = eights[w];
        uint64_t two_a, two_b, four_a, four_b, eight_a, eight_b;
        add(&two_a, &one, one, ROW(0), ROW(1));
        add(&two_b, &one, one, ROW(2), ROW(3));
        add(&four_a, &two, two, two_a, two_b);
        add(&two_a, &one, one, ROW(4), ROW(5));
        add(&two_b, &one, one, ROW(6), ROW(7));
        add(&four_b, &two, two, two_a, two_b);
        add(&eight_a, &four, four, four_a, four_b);
        add(&two_a, &one, one, ROW(8), ROW(9));
        add(&two_b, &one, one, ROW(10), ROW(11));
        add(&four_a, &two, two, two_a, two_b);
        add(&two_a, &one, one, ROW(12), ROW(13));
        add(&two_b, &one, one, ROW(14), ROW(15));
        add(&four_b, &two, two, two_a, two_b);
        add(&eight_b, &four, four, four_a, four_b);
        add(&sixteens[w], &eight, eight, eight_a, eight_b);
        ones[w] = one, twos[w] = two, fours[w] = four, eights[w] = eight;
    }
#undef ROW
}

/* 2^log rows from number i on, as far as there are some; what overflows goes to `over`. */
DPF_BODY void add_rows(const row_block *some, size_t i, unsigned log, const counters *to, uint64_t *over) {
    static const uint64_t no_row[BLOCK];
    const size_t width = some->width;
    const uint64_t *row[1 << GROUP];
    uint64_t flip[1 << GROUP], *const plane = to->plane, *const second_pair = to->pair + BLOCK;
    for (size_t r = 0; r < (size_t)1 << log; r++) {
        const bool there = i + r < some->m;
        const size_t number = there ? number_of(some, i + r) : 0;
        row[r] = number < some->edge ? some->rows + number * some->stride
                                     : some->last_rows + (number - some->edge) * some->stride;
        if (!there) row[r] = no_row;
        flip[r] = there && some->label && some->label[number] < 0 ? ~(uint64_t)0 : 0;
        if (some->index && i + r + AHEAD < some->m)
            for (size_t w = 0; w < width; w += LINE)
                dpf_prefetch(some->rows + number_of(some, i + r + AHEAD) * some->stride + w);
    }
    if (log == FOUR) {
        add_row(row[0], flip[0], width, false, plane, to->pair);
        add_row(row[1], flip[1], width, true, plane, to->pair);
        add_row(row[2], flip[2], width, false, plane, second_pair);
        add_fourth(row[3], flip[3], width, to->pair, second_pair, plane, plane + width, over);
    } else {
        add_group(row, flip, width, plane, plane + width, plane + 2 * width, plane + 3 * width, over);
    }
}

/* Plane k += what waits there and what comes; what overflows goes to `over`, which may be where it came from. */
DPF_BODY void add_carry(const counters *to, unsigned k, size_t width, uint64_t *over) {
    uint64_t *DPF_RESTRICT plane = to->plane + k * width;
    const uint64_t *DPF_RESTRICT waiting = to->waiting + k * width, *carry = to->carry;
    EACH_WORD(width) add(&over[w], &plane[w], plane[w], waiting[w], carry[w]);
}

/* Counters of fewer than 2^planes rows: bit k of that of column 64 w + b is bit b of plane[k * width + w]. */
DPF_BODY void count_planes(const row_block *some, unsigned log, unsigned planes, const counters *to) {
    const size_t width = some->width;
    size_t rounds = 0;
    memset(to->plane, 0, planes * width * sizeof *to->plane);
    for (size_t i = 0; i < some->m; i += (size_t)1 << log, rounds++) {
        add_rows(some, i, log, to, rounds & 1 ? to->carry : to->waiting + log * width);
        for (unsigned k = log; rounds >> (k - log) & 1; k++)
            add_carry(to, k, width, rounds >> (k - log + 1) & 1 ? to->carry : to->waiting + (k + 1) * width);
    }
    memset(to->carry, 0, width * sizeof *to->carry);
    for (unsigned k = log; k < planes; k++) {
        if (!(rounds >> (k - log) & 1)) memset(to->waiting + k * width, 0, width * sizeof *to->waiting);
        add_carry(to, k, width, to->carry);
    }
}

/* Eight planes of a line of words become counts of a byte: byte j of a[k][l] is that of column 8 k + j of word l. */
DPF_BODY void planes_to_bytes(uint64_t (*a)[LINE]) {
    swap_three(a, 1, 1, 0x0f0f0f0f0f0f0f0fu, 0x3333333333333333u, 0x5555555555555555u);
    swap_three(a, 1, 8, 0x00000000ffffffffu, 0x0000ffff0000ffffu, 0x00ff00ff00ff00ffu);
}

/* out = the counters of d columns; or more, plus them. */
DPF_BODY void read_counters(const uint64_t *plane, unsigned planes, size_t width, size_t d, bool more,
                            int64_t *DPF_RESTRICT out) {
    for (size_t w = 0; 64 * w < d; w += LINE, out += 64 * LINE) {
        const size_t size = d - 64 * w < 64 * LINE ? d - 64 * w : 64 * LINE;
        for (unsigned first = 0; first < planes; first += 8) {
            uint64_t a[8][LINE];
            uint8_t count[64 * LINE];
            for (unsigned k = 0; k < 8; k++)
                for (size_t l = 0; l < LINE; l++) a[k][l] = first + k < planes ? plane[(first + k) * width + w + l] : 0;
            planes_to_bytes(a);
            for (size_t l = 0; l < LINE; l++)
                for (size_t k = 0; k < 8; k++) memcpy(count + 64 * l + 8 * k, &a[k][l], 8);
            if (more || first)
                for (size_t j = 0; j < size; j++) out[j] += (int64_t)count[j ^ FIRST_BYTE] << first;
            else
                for (size_t j = 0; j < size; j++) out[j] = count[j ^ FIRST_BYTE];
        }
    }
}

DPF_BODY void positional_popcount(const uint64_t *rows, size_t n, size_t stride, const int64_t *index,
                                  const int8_t *label, size_t m, size_t d, uint64_t *DPF_RESTRICT scratch,
                                  int64_t *DPF_RESTRICT out) {
    enum { ALL = PLANES * BLOCK };
    scratch += (0 - (uintptr_t)scratch) / sizeof *scratch % LINE; /* stores then stay within lines */
    const counters to = {scratch, scratch + ALL, scratch + 2 * ALL, scratch + 2 * ALL + BLOCK,
                         scratch + 2 * ALL + 3 * BLOCK};
    const size_t words = DPF_WORDS(d);
    const unsigned log = rows_at_a_time(m, words, stride == words && !index);
    if (m == 0) memset(out, 0, d * sizeof *out);
    for (size_t w0 = 0; w0 < words; w0 += BLOCK) {
        const uint64_t *const from = rows + w0;
        const size_t width = words - w0 < BLOCK ? (words - w0 + LINE - 1) / LINE * LINE : BLOCK;
        const size_t columns = d - 64 * w0 < 64 * width ? d - 64 * w0 : 64 * width;
        const size_t beyond = width > words - w0 ? (LINE - 2 + stride) / stride : 0, edge = n > beyond ? n - beyond : 0;
        memset(to.last_rows, 0, (BLOCK + 2 * LINE) * sizeof *rows);
        if (edge < n) memcpy(to.last_rows, from + edge * stride, ((n - edge - 1) * stride + words - w0) * sizeof *rows);
        for (size_t start = 0; start < m; start += BATCH) {
            const size_t size = m - start < BATCH ? m - start : BATCH;
            const int64_t *part = index ? index + start : NULL;
            const row_block some = {from, to.last_rows, stride, start, size, width, edge, part, label};
            unsigned planes = log;
            while (size >> planes) planes++;
            if (log == FOUR) count_planes(&some, FOUR, planes, &to);
            else count_planes(&some, GROUP, planes, &to);
            read_counters(to.plane, planes, width, columns, start > 0, out + 64 * w0);
        }
    }
}

DPF_LEVELS(void, dpf_bits_positional_popcount, positional_popcount,
           (const uint64_t *rows, size_t n, size_t stride, const int64_t *index, const int8_t *label, size_t m,
            size_t d, uint64_t *DPF_RESTRICT scratch, int64_t *DPF_RESTRICT out),
           (rows, n, stride, index, label, m, d, scratch, out))

/* ---- conjunctions ----------------------------------------------------- */

void dpf_bits_conjunctions(const uint64_t *columns, size_t n, const int64_t *code, size_t m,
                           size_t k, uint64_t *DPF_RESTRICT out) {
    const size_t words = DPF_WORDS(n);
    for (size_t i = 0; i < m; i++, code += k, out += words) {
        memset(out, 0xff, words * sizeof *out);
        for (size_t l = 0; l < k; l++) {
            if (code[l] < 0) continue;
            const uint64_t *column = columns + (size_t)(code[l] / 2) * words;
            const uint64_t flip = code[l] % 2 ? ~(uint64_t)0 : 0;
            for (size_t w = 0; w < words; w++) out[w] &= column[w] ^ flip;
        }
        if (words) out[words - 1] &= last_word(n);
    }
}
