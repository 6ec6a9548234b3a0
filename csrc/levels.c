#include "levels.h"
#include "draw.h"
#include "dpf_cpu.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SCORE int8_t
#define GAP uint32_t
#define NAME(verb) dpf_levels_##verb##_8
#include "levels_scan.h"
#undef SCORE
#undef GAP
#undef NAME

#define SCORE int16_t
#define GAP uint32_t
#define NAME(verb) dpf_levels_##verb##_16
#include "levels_scan.h"
#undef SCORE
#undef GAP
#undef NAME

#define SCORE int32_t
#define GAP uint32_t
#define NAME(verb) dpf_levels_##verb##_32
#include "levels_scan.h"
#undef SCORE
#undef GAP
#undef NAME

#define SCORE int64_t
#define GAP uint64_t
#define NAME(verb) dpf_levels_##verb##_64
#include "levels_scan.h"

void dpf_levels_locate(const uint32_t *table, size_t blocks, size_t levels, const uint32_t *level,
                       size_t m, uint64_t *rank, uint32_t *block) {
    const size_t width = levels + 1;
    for (size_t p = 0; p < m; p++) {
        const uint32_t *up_to = table + level[p];
        size_t low = 0, high = blocks - 1; /* the first block with more than rank[p] up to it */
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (up_to[middle * width] > rank[p]) high = middle;
            else low = middle + 1;
        }
        if (low > 0) rank[p] -= up_to[(low - 1) * width];
        block[p] = (uint32_t)low;
    }
}

double dpf_levels_cumulate(const uint64_t *count, const uint64_t *gap, size_t levels, double t,
                           double *DPF_RESTRICT cumulative) {
    const double u = DBL_EPSILON / 2; /* the largest relative error of one rounding */
    double sum = 0, lost = 0, error = 0;
    for (size_t k = 0; k < levels; k++) {
        cumulative[k] = sum + lost;
        if (count[k] == 0) continue;
        const double x = t * (double)gap[k], term = (double)count[k] * exp(-x);
        const double next = sum + term, back = next - sum; /* TwoSum: next + its error is exact */
        lost += (sum - (next - back)) + (term - back);
        sum = next;
        if (term > 0) error += term * (10 + 4 * x);
        cumulative[k] = sum + lost;
    }
    return u * (2 * error + 16 * (sum + lost));
}

size_t dpf_levels_choose(bitgen_t *rng, const double *cumulative, size_t levels, double guard,
                         bool open, size_t start, size_t m, uint32_t *DPF_RESTRICT level,
                         uint64_t *word) {
    const double unit = cumulative[levels - 1] / 18446744073709551616.0; /* total / 2^64 */
    for (size_t i = start; i < m; i++) {
        const uint64_t u = dpf_draw_word(rng);
        const double target = (double)u * unit;
        size_t low = 0, high = levels - 1; /* the answer lies in [low, high] */
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (cumulative[middle] > target) high = middle;
            else low = middle + 1;
        }
        const bool sure_below = low == 0 || target - cumulative[low - 1] > guard;
        const bool sure_above = (low == levels - 1 && !open) || cumulative[low] - target > guard;
        if (!sure_below || !sure_above) {
            *word = u;
            return i;
        }
        level[i] = (uint32_t)low;
    }
    return m;
}
