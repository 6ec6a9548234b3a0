#include "bits.h"
#include "bits_swap.h"
#include "dpf_cpu.h"

#include <string.h>

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
