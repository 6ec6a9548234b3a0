#include "grid.h"
#include "dpf_cpu.h"

#include <math.h>
#include <string.h>

/* 1.5 * 2^52: sums with it are rounded to integers. */
#define MIDDLE 6755399441055744.0

#define REAL float
#define KEY int32_t
#define LARGEST INT32_MAX
#define NAME(suffix) dpf_grid_float##suffix
#include "grid_real.h"

#define REAL double
#define KEY int64_t
#define LARGEST INT64_MAX
#define NAME(suffix) dpf_grid_double##suffix
#include "grid_real.h"

void dpf_grid(const void *x, bool wide, size_t n, unsigned bits, int32_t *DPF_RESTRICT q, double *low, double *high) {
    if (wide) dpf_grid_double(x, n, bits, q, low, high);
    else dpf_grid_float(x, n, bits, q, low, high);
}

int64_t dpf_grid_sum(const void *x, bool wide, size_t n, unsigned bits) {
    return wide ? dpf_grid_double_sum(x, n, bits) : dpf_grid_float_sum(x, n, bits);
}

enum { LANES = 8 };

/* The largest and the least of some numbers, lane by lane. */
typedef struct {
    double most[LANES], least[LANES];
} extremes;

/* Takes up to LANES numbers in, and adds 0 to the lanes of `finite`, or NaN if one is not finite. */
DPF_BODY void take_in(const double *x, size_t some, extremes *DPF_RESTRICT seen, double *DPF_RESTRICT finite) {
    for (size_t l = 0; l < some; l++) {
        seen->most[l] = x[l] > seen->most[l] ? x[l] : seen->most[l];
        seen->least[l] = x[l] < seen->least[l] ? x[l] : seen->least[l];
        finite[l] += x[l] - x[l];
    }
}

/* The extremes of one number in each of `rows` rows, in the first lane. */
DPF_BODY void of_one(const double *x, size_t rows, extremes *DPF_RESTRICT seen, double *DPF_RESTRICT finite) {
    size_t i = 0;
    for (; rows - i >= LANES; i += LANES) take_in(x + i, LANES, seen, finite);
    take_in(x + i, rows - i, seen, finite);
    for (size_t l = 1; l < LANES; l++) {
        seen->most[0] = seen->most[l] > seen->most[0] ? seen->most[l] : seen->most[0];
        seen->least[0] = seen->least[l] < seen->least[0] ? seen->least[l] : seen->least[0];
    }
}

DPF_BODY double step(const double *x, const int64_t *start, size_t p, size_t k, double ranges, double sums) {
    double range = 0, largest = 0, finite[LANES] = {0}, unseen = 0;
    for (size_t c = 0, some; c < k; c += some) {
        double sum[LANES] = {0};
        some = k - c < LANES ? k - c : LANES;
        for (size_t j = 0; j < p; j++) {
            const double *first = x + (size_t)start[j] * k + c;
            const size_t rows = (size_t)(start[j + 1] - start[j]);
            extremes seen;
            for (size_t l = 0; l < LANES; l++) seen.most[l] = seen.least[l] = first[l < some ? l : 0];
            if (k == 1) of_one(first, rows, &seen, finite);
            else if (some == LANES)
                for (size_t i = 0; i < rows; i++) take_in(first + i * k, LANES, &seen, finite);
            else
                for (size_t i = 0; i < rows; i++) take_in(first + i * k, some, &seen, finite);
            for (size_t l = 0; l < some; l++) {
                const double most = seen.most[l], least = seen.least[l];
                range = most - least > range ? most - least : range;
                sum[l] += most > -least ? most : -least;
            }
        }
        for (size_t l = 0; l < some; l++) largest = sum[l] > largest ? sum[l] : largest;
    }
    for (size_t l = 0; l < LANES; l++) unseen += finite[l];
    const double fine = range / ranges, wide = largest / sums, least = fine > wide ? fine : wide;
    return unseen == 0 ? least > 0 ? least : 1 : NAN;
}
DPF_LEVELS(double, dpf_grid_step, step,
           (const double *x, const int64_t *start, size_t p, size_t k, double ranges, double sums),
           (x, start, p, k, ranges, sums))

DPF_BODY void round_all(const double *x, size_t n, double step, int32_t *DPF_RESTRICT q) {
    for (size_t i = 0; i < n; i++) {
        const double shifted = x[i] / step + MIDDLE;
        uint64_t bits;
        memcpy(&bits, &shifted, sizeof bits);
        q[i] = (int32_t)(uint32_t)bits;
    }
}
DPF_LEVELS(void, dpf_grid_round, round_all, (const double *x, size_t n, double step, int32_t *DPF_RESTRICT q),
           (x, n, step, q))
