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

/* The numbers of one column and class: their largest and least, and whether all are finite. */
typedef struct {
    double most, least;
    bool finite;
} extremes;

DPF_BODY extremes extremes_of(const double *x, size_t rows, size_t k) {
    extremes e = {x[0], x[0], true};
    for (size_t i = 0; i < rows; i++) {
        const double each = x[i * k];
        e.most = each > e.most ? each : e.most;
        e.least = each < e.least ? each : e.least;
        e.finite &= each - each == 0;
    }
    return e;
}

DPF_BODY double step(const double *x, const int64_t *start, size_t p, size_t k, double ranges, double sums) {
    double range = 0, largest = 0;
    bool finite = true;
    for (size_t c = 0; c < k; c++) {
        double sum = 0;
        for (size_t j = 0; j < p; j++) {
            const double *column = x + (size_t)start[j] * k + c;
            const size_t rows = (size_t)(start[j + 1] - start[j]);
            const extremes e = k == 1 ? extremes_of(column, rows, 1) : extremes_of(column, rows, k);
            range = e.most - e.least > range ? e.most - e.least : range;
            sum += e.most > -e.least ? e.most : -e.least;
            finite &= e.finite;
        }
        largest = sum > largest ? sum : largest;
    }
    const double fine = range / ranges, wide = largest / sums, least = fine > wide ? fine : wide;
    return finite ? least > 0 ? least : 1 : NAN;
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
