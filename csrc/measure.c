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

void dpf_measure_count(const int32_t *score, size_t n, int32_t low, int64_t *DPF_RESTRICT count) {
    /*@ loop invariant 0 <= i <= n;
        loop invariant \forall integer k; 0 <= k < n ==> 0 <= count[score[k] - low] <= INT64_MAX - n + i;
        loop assigns i, count[0 .. 4294967295];
        loop variant n - i; */
    for (size_t i = 0; i < n; i++) count[(int64_t)score[i] - low]++;
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
    enum { BLOCK = 4096 }; /* rows whose entries of the table are still near when they are read again */
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

DPF_BODY void add(int32_t *DPF_RESTRICT score, const int8_t *sign, const float *margin, size_t n, float unit) {
    const float magic = 0x1.8p23f; /* moves the rounded value into the low bits, for sizes below 2^22 */
    for (size_t i = 0; i < n; i++) score[i] += sign[i] * (int32_t)((margin[i] * unit + magic) - magic);
}
DPF_LEVELS(void, dpf_measure_add, add,
           (int32_t *DPF_RESTRICT score, const int8_t *sign, const float *margin, size_t n, float unit),
           (score, sign, margin, n, unit))
