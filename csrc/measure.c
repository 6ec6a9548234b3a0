#include "measure.h"
#include "dpf_cpu.h"

#include <math.h>

DPF_BODY int32_t units(const int32_t *table, size_t size, int64_t above) {
    return table[above <= 0 ? 0 : above < (int64_t)size ? above : (int64_t)size - 1];
}

DPF_BODY void range(const int32_t *score, size_t n, int32_t *low, int32_t *high) {
    int32_t least = score[0], most = score[0];
    /*@ loop invariant 1 <= i <= n && \forall integer k; 0 <= k < i ==> least <= score[k] <= most;
        loop invariant \exists integer k; 0 <= k < i && least == score[k];
        loop invariant \exists integer k; 0 <= k < i && most == score[k];
        loop assigns i, least, most;
        loop variant n - i; */
    for (size_t i = 1; i < n; i++) {
        least = score[i] < least ? score[i] : least;
        most = score[i] > most ? score[i] : most;
    }
    *low = least, *high = most;
}
DPF_LEVELS(void, dpf_measure_range, range, (const int32_t *score, size_t n, int32_t *low, int32_t *high),
           (score, n, low, high))

void dpf_measure_count(const int32_t *score, size_t n, int bits, int32_t low, int64_t *DPF_RESTRICT count) {
    /*@ loop invariant 0 <= i <= n;
        loop invariant \forall integer k; 0 <= k < n ==> 0 <= count[(score[k] >> bits) - low] <= INT64_MAX - n + i;
        loop assigns i, count[0 .. 4294967295];
        loop variant n - i; */
    for (size_t i = 0; i < n; i++) count[(int64_t)(score[i] >> bits) - low]++;
}

size_t dpf_measure_split(const int32_t *score, size_t n, const int32_t *table, size_t size, int64_t threshold,
                         int64_t excess, int64_t *part) {
    size_t i = 0;
    /*@ loop invariant 0 <= i <= n && 0 <= excess <= \at(excess, Pre);
        loop assigns i, excess;
        loop variant n - i; */
    for (; i < n; i++) {
        const int64_t above = score[i] - threshold;
        const int64_t step = units(table, size, above - 1) - units(table, size, above);
        if (step > excess) break;
        excess -= step;
    }
    *part = excess;
    return i;
}

enum { BLOCK = 4096 }; /* rows whose entries of the table are still near when they are read again, and whose sum of units
                        * below 2^16 32 bits hold */

/*
 * Units of scores above a threshold, whose place in the table 32 bits hold: `least` is the threshold, or the nearest to it
 * below which no score is `size` - 1 above it; scores are cut to [from, to] and `least` is taken off, modulo 2^32.
 */
typedef struct {
    uint32_t least;
    int32_t from, to;
} places;

static places places_of(size_t size, int64_t threshold) {
    const int64_t last = (int64_t)size - 1;
    const int64_t low = threshold < INT32_MIN - last ? INT32_MIN - last : threshold < INT32_MAX ? threshold : INT32_MAX;
    const int64_t from = low < INT32_MIN ? INT32_MIN : low, to = low + last < INT32_MAX ? low + last : INT32_MAX;
    const places p = {(uint32_t)low, (int32_t)from, (int32_t)to};
    return p;
}

DPF_BODY int32_t units_at(const int32_t *table, places p, int32_t score) {
    const int32_t above = score > p.from ? score : p.from, inside = above < p.to ? above : p.to;
    return table[(uint32_t)inside - p.least];
}

/* *more = what the units of the rows rise by, from one threshold to the next; returned: their sum before. */
DPF_BODY int64_t sum_of(const int32_t *score, size_t n, const int32_t *table, places p, places next, int64_t *more) {
    int64_t sum = 0, rise = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t units = units_at(table, p, score[i]);
        sum += units;
        rise += units_at(table, next, score[i]) - units;
    }
    *more = rise;
    return sum;
}
DPF_LEVELS(int64_t, dpf_measure_sum, sum_of,
           (const int32_t *score, size_t n, const int32_t *table, places p, places next, int64_t *more),
           (score, n, table, p, next, more))

int64_t dpf_measure_total(const int32_t *score, size_t n, const int32_t *table, size_t size, int64_t threshold,
                          int64_t *more) {
    return dpf_measure_sum(score, n, table, places_of(size, threshold), places_of(size, threshold + 1), more);
}

DPF_BODY void weigh(const int32_t *score, const int8_t *sign, size_t n, const int32_t *table, places p,
                    int32_t *DPF_RESTRICT weight) {
    for (size_t i = 0; i < n; i++) weight[i] = sign[i] * units_at(table, p, score[i]);
}
DPF_LEVELS(void, dpf_measure_weigh, weigh,
           (const int32_t *score, const int8_t *sign, size_t n, const int32_t *table, places p,
            int32_t *DPF_RESTRICT weight),
           (score, sign, n, table, p, weight))

void dpf_measure_weights(const int32_t *score, const int8_t *sign, size_t n, const int32_t *table, size_t size,
                         int64_t threshold, int64_t excess, int32_t *DPF_RESTRICT weight) {
    const places p = places_of(size, threshold), next = places_of(size, threshold + 1);
    size_t split = 0;
    for (size_t block; split < n; split += block) {
        int64_t more;
        block = n - split < BLOCK ? n - split : BLOCK;
        dpf_measure_sum(score + split, block, table, p, next, &more);
        if (more > excess) break;
        excess -= more;
        dpf_measure_weigh(score + split, sign + split, block, table, next, weight + split);
    }
    if (split == n) return;
    const size_t whole = split;
    split += dpf_measure_split(score + split, n - split, table, size, threshold, excess, &excess);
    dpf_measure_weigh(score + whole, sign + whole, split - whole, table, next, weight + whole);
    dpf_measure_weigh(score + split, sign + split, n - split, table, p, weight + split);
    weight[split] += (int32_t)(sign[split] * excess);
}

DPF_BODY bool narrow(const int32_t *table, size_t size, uint16_t *DPF_RESTRICT pairs) {
    uint32_t rises = 0;
    pairs[0] = pairs[1] = (uint16_t)table[0];
    for (size_t i = 1; i < size; i++) {
        rises |= table[i] > table[i - 1];
        pairs[i + 1] = (uint16_t)table[i];
    }
    pairs[size + 1] = (uint16_t)table[size - 1];
    return !rises;
}
DPF_LEVELS(bool, dpf_measure_pairs, narrow, (const int32_t *table, size_t size, uint16_t *DPF_RESTRICT pairs),
           (table, size, pairs))

DPF_BODY void group(const int32_t *table, size_t size, int bits, int64_t *DPF_RESTRICT sum) {
    const size_t width = (size_t)1 << bits;
    for (size_t b = 0; b < size; b += width) {
        const size_t end = size - b < width ? size : b + width;
        int64_t of_group = 0;
        for (size_t i = b; i < end; i++) of_group += table[i];
        sum[b >> bits] = of_group;
    }
}
DPF_LEVELS(void, dpf_measure_groups, group,
           (const int32_t *table, size_t size, int bits, int64_t *DPF_RESTRICT sum), (table, size, bits, sum))

/* at[0] in the low half, at[1] in the high one: in one load, without which gcc does not vectorise. */
#if DPF_BUILTINS && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
typedef uint32_t two_halves __attribute__((aligned(2), may_alias));
DPF_BODY uint32_t both(const uint16_t *at) { return *(const two_halves *)at; }
#else
DPF_BODY uint32_t both(const uint16_t *at) { return at[0] | (uint32_t)at[1] << 16; }
#endif

DPF_BODY uint32_t lower(int32_t pair) { return (uint32_t)pair & 0xffff; }
DPF_BODY uint32_t upper(int32_t pair) { return (uint32_t)pair >> 16; }

DPF_BODY int64_t look(const int32_t *score, size_t n, const uint16_t *pairs, places p, int32_t *DPF_RESTRICT pair,
                      int64_t *more) {
    int64_t here = 0, next = 0;
    for (size_t b = 0; b < n; b += BLOCK) {
        const size_t end = n - b < BLOCK ? n : b + BLOCK;
        uint32_t of_here = 0, of_next = 0;
        for (size_t i = b; i < end; i++) {
            const int32_t above = score[i] > p.from ? score[i] : p.from, inside = above < p.to ? above : p.to;
            pair[i] = (int32_t)both(pairs + (int32_t)((uint32_t)inside - p.least));
            of_next += lower(pair[i]), of_here += upper(pair[i]);
        }
        here += of_here, next += of_next;
    }
    *more = next - here;
    return here;
}
DPF_LEVELS(int64_t, dpf_measure_look_from, look,
           (const int32_t *score, size_t n, const uint16_t *pairs, places p, int32_t *DPF_RESTRICT pair, int64_t *more),
           (score, n, pairs, p, pair, more))

int64_t dpf_measure_look(const int32_t *score, size_t n, const uint16_t *pairs, size_t size, int64_t threshold,
                         int32_t *DPF_RESTRICT pair, int64_t *more) {
    return dpf_measure_look_from(score, n, pairs, places_of(size + 1, threshold), pair, more);
}

DPF_BODY void settle(const int8_t *sign, size_t n, int64_t excess, int32_t *DPF_RESTRICT weight) {
    size_t split = 0;
    for (size_t block; split < n; split += block) {
        uint32_t more = 0;
        block = n - split < BLOCK ? n - split : BLOCK;
        for (size_t i = split; i < split + block; i++) more += lower(weight[i]) - upper(weight[i]);
        if (more > excess) break;
        excess -= more;
        for (size_t i = split; i < split + block; i++) weight[i] = sign[i] * (int32_t)lower(weight[i]);
    }
    for (; split < n && lower(weight[split]) - upper(weight[split]) <= excess; split++) {
        excess -= lower(weight[split]) - upper(weight[split]);
        weight[split] = sign[split] * (int32_t)lower(weight[split]);
    }
    for (size_t i = split; i < n; i++) weight[i] = sign[i] * (int32_t)upper(weight[i]);
    if (split < n) weight[split] += sign[split] * (int32_t)excess;
}
DPF_LEVELS(void, dpf_measure_settle, settle,
           (const int8_t *sign, size_t n, int64_t excess, int32_t *DPF_RESTRICT weight), (sign, n, excess, weight))

DPF_BODY void add(int32_t *DPF_RESTRICT score, const int8_t *sign, const float *margin, size_t n, float unit) {
    const float magic = 0x1.8p23f; /* moves the rounded value into the low bits, for sizes below 2^22 */
    for (size_t i = 0; i < n; i++) score[i] += sign[i] * (int32_t)((margin[i] * unit + magic) - magic);
}
DPF_LEVELS(void, dpf_measure_add, add,
           (int32_t *DPF_RESTRICT score, const int8_t *sign, const float *margin, size_t n, float unit),
           (score, sign, margin, n, unit))
