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

void dpf_measure_weights(const int32_t *score, const int8_t *sign, size_t n, const int32_t *table, size_t size,
                         int64_t threshold, size_t split, int64_t part, int32_t *DPF_RESTRICT weight) {
    for (size_t i = 0; i < n; i++) weight[i] = sign[i] * units(table, size, score[i] - threshold - (i < split));
    if (split < n) weight[split] += (int32_t)(sign[split] * part);
}

DPF_BODY void add(int32_t *DPF_RESTRICT score, const int8_t *sign, const float *margin, size_t n, float unit) {
    const float magic = 0x1.8p23f; /* moves the rounded value into the low bits, for sizes below 2^22 */
    for (size_t i = 0; i < n; i++) score[i] += sign[i] * (int32_t)((margin[i] * unit + magic) - magic);
}
DPF_LEVELS(void, dpf_measure_add, add,
           (int32_t *DPF_RESTRICT score, const int8_t *sign, const float *margin, size_t n, float unit),
           (score, sign, margin, n, unit))
