#include "bits.h"
#include "bits_swap.h"
#include "dpf_cpu.h"

#include <string.h>

/* Ones in the entries that exist, zeros past them, for the last word of a run of n bits. */
static uint64_t last_word(size_t n) { return n % 64 ? ~(uint64_t)0 >> (64 - n % 64) : ~(uint64_t)0; }

/* ---- packing ---------------------------------------------------------- */

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
DPF_BODY void gather_run(const uint8_t *x, size_t groups, size_t step, uint64_t *seen, uint8_t *DPF_RESTRICT out) {
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

DPF_LEVELS(uint8_t, dpf_bits_pack, pack, (const uint8_t *x, size_t n, size_t d, uint64_t *DPF_RESTRICT rows),
           (x, n, d, rows))

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
    /*@ loop invariant 0 <= i <= n;
        loop assigns i, rows[0 .. n * words - 1];
        loop variant n - i; */
    for (size_t i = 0; i < n; i++)
        /*@ ghost dpf_fits(i, n, words); */
        /*@ loop invariant 0 <= indptr[i] <= p;
            loop assigns p, rows[0 .. n * words - 1];
            loop variant indptr[i + 1] - p; */
        for (int32_t p = indptr[i]; p < indptr[i + 1]; p++) set_bit(rows + i * words, (uint64_t)index[p]);
}

void dpf_bits_scatter64(const int64_t *indptr, const int64_t *index, size_t n, size_t words,
                        uint64_t *DPF_RESTRICT rows) {
    /*@ loop invariant 0 <= i <= n;
        loop assigns i, rows[0 .. n * words - 1];
        loop variant n - i; */
    for (size_t i = 0; i < n; i++)
        /*@ ghost dpf_fits(i, n, words); */
        /*@ loop invariant 0 <= indptr[i] <= p;
            loop assigns p, rows[0 .. n * words - 1];
            loop variant indptr[i + 1] - p; */
        for (int64_t p = indptr[i]; p < indptr[i + 1]; p++) set_bit(rows + i * words, (uint64_t)index[p]);
}

/* ---- transpose -------------------------------------------------------- */

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
        for (size_t i = 0; i < inner; i += LINE) transpose_tile(rows, n, d, across ? o : i, across ? i : o, columns);
}

DPF_LEVELS(void, dpf_bits_transpose, transpose,
           (const uint64_t *rows, size_t n, size_t d, uint64_t *DPF_RESTRICT columns), (rows, n, d, columns))

/* ---- whole words ------------------------------------------------------ */

DPF_BODY uint64_t popcount(const uint64_t *words, size_t size) {
    uint64_t ones = 0;
    /*@ loop invariant 0 <= w <= size && ones == ones_of(words, w) && ones <= 64 * w;
        loop assigns w, ones;
        loop variant size - w; */
    for (size_t w = 0; w < size; w++) ones += dpf_popcount(words[w]);
    return ones;
}

DPF_LEVELS(uint64_t, dpf_bits_popcount, popcount, (const uint64_t *words, size_t size), (words, size))

DPF_BODY uint64_t and_flipped(const uint64_t *a, const uint64_t *b, uint64_t flip, size_t size, uint64_t *out) {
    uint64_t ones = 0;
    /*@ loop invariant 0 <= w <= size && ones <= 64 * w;
        loop assigns w, ones, out[0 .. size - 1];
        loop variant size - w; */
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

DPF_LEVELS(uint64_t, dpf_bits_and, and_words, (const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out),
           (a, b, size, out))
DPF_LEVELS(uint64_t, dpf_bits_andnot, andnot_words, (const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out),
           (a, b, size, out))

size_t dpf_bits_nonzero(const uint64_t *words, size_t size, int64_t *DPF_RESTRICT at) {
    size_t found = 0;
    /*@ loop invariant 0 <= w <= size && found == ones_of{Pre}(words, w) && found <= 64 * w;
        loop invariant \forall integer i; 0 <= i < found ==> 0 <= at[i] < 64 * w;
        loop assigns w, found, at[0 .. ones_of{Pre}(words, size) - 1];
        loop variant size - w; */
    for (size_t w = 0; w < size; w++)
        /*@ loop invariant found + ones(rest) == ones_of{Pre}(words, w + 1);
            loop invariant found <= 64 * w + 64 && \forall integer i; 0 <= i < found ==> 0 <= at[i] < 64 * (w + 1);
            loop assigns rest, found, at[0 .. ones_of{Pre}(words, size) - 1];
            loop variant ones(rest); */
        for (uint64_t rest = words[w]; rest; rest &= rest - 1) at[found++] = (int64_t)(64 * w + dpf_lowest_bit(rest));
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

/* ---- conjunctions ----------------------------------------------------- */

void dpf_bits_conjunctions(const uint64_t *columns, size_t n, const int64_t *code, size_t m, size_t k,
                           uint64_t *DPF_RESTRICT out) {
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
