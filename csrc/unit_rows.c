#include "unit_rows.h"
#include "dpf_cpu.h"

#include <math.h>

enum { LANES = 32 };
#define LARGE 1e300 /* squares below it are sums of finite ones */
#define SHRINK 0x1p-600
#define LEAST_NORM 1e-30 /* so that scales are floats */

DPF_BODY double lane_sum(double *lane) {
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

DPF_BODY double double_lane_sum(double *lane) { return lane_sum(lane); }

DPF_BODY float float_lane_sum(float *lane) {
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

/* For a norm of root / shrink. Less by 2^-20 of itself, which covers the rounding of norm, scale and products. */
DPF_BODY double scale_of(double root, double shrink, bool inside, unsigned bits) {
    const double radius = ldexp(1 - 0x1p-20, (int)bits);
    if (inside && root <= shrink) return radius;
    return root > LEAST_NORM * shrink ? radius / root * shrink : 0;
}

DPF_BODY float clipped(double product, double shift, double scale, unsigned bits) {
    const double margin = (product + shift) * ldexp(scale, -(int)bits);
    if (margin > 1) return 1;
    return margin > -1 ? (float)margin : -1; /* also where huge entries left no number */
}

#define REAL float
#define NAMED(name) float_##name
#include "unit_rows_real.h"
#undef REAL
#undef NAMED
#define REAL double
#define NAMED(name) double_##name
#include "unit_rows_real.h"

/* ---- packed ------------------------------------------------------------- */

DPF_BODY void packed_scale(const uint64_t *rows, size_t n, size_t d, double constant, bool inside, unsigned bits,
                           double *DPF_RESTRICT scale) {
    const size_t words = DPF_WORDS(d);
    for (size_t i = 0; i < n; i++) {
        uint64_t ones = 0;
        for (size_t w = 0; w < words; w++) ones += dpf_popcount(rows[i * words + w]);
        scale[i] = scale_of(sqrt((double)ones + constant * constant), 1, inside, bits);
    }
}

DPF_BODY void packed_margins(const uint64_t *rows, size_t n, size_t d, double constant, unsigned bits,
                             const double *scale, const float *w, float *DPF_RESTRICT margin) {
    const size_t words = DPF_WORDS(d), whole = d / 64;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *row = rows + i * words;
        float lane[LANES] = {0};
        for (size_t k = 0; k < whole; k++)
            for (unsigned half = 0; half < 2; half++) {
                const uint32_t part = (uint32_t)(row[k] >> 32 * half);
                const float *at = w + 64 * k + 32 * half;
                for (unsigned l = 0; l < LANES; l++) lane[l] += part & (uint32_t)1 << l ? at[l] : 0;
            }
        for (size_t j = 64 * whole; j < d; j++)
            lane[j % LANES] += row[j / 64] >> j % 64 & 1 ? w[j] : 0;
        margin[i] = clipped((double)float_lane_sum(lane), constant * w[d], scale[i], bits);
    }
}

/* Sums of a word's columns stay in registers while rows pass by, in 32 bits as long as they must fit. */
DPF_BODY void packed_add(const uint64_t *rows, size_t n, size_t d, double constant, const double *scale,
                         const int32_t *weight, int64_t *DPF_RESTRICT total) {
    enum { TILE = 256 };
    const size_t words = DPF_WORDS(d);
    int32_t step[TILE];
    for (size_t start = 0, end; start < n; start = end) {
        int64_t room = INT32_MAX;
        for (end = start; end < n && end - start < TILE; end++) {
            const int64_t value = (int64_t)weight[end] * (int32_t)scale[end], size = value < 0 ? -value : value;
            if (size > room) break;
            room -= size;
            step[end - start] = (int32_t)value;
            total[d] += (int64_t)weight[end] * (int32_t)(constant * scale[end]);
        }
        for (size_t k = 0; k < words; k++) {
            int32_t sum[64] = {0};
            for (size_t i = start; i < end; i++) {
                const int32_t value = step[i - start];
                const uint32_t low = (uint32_t)rows[i * words + k], high = (uint32_t)(rows[i * words + k] >> 32);
                for (unsigned b = 0; b < 32; b++) sum[b] += low & (uint32_t)1 << b ? value : 0;
                for (unsigned b = 0; b < 32; b++) sum[32 + b] += high & (uint32_t)1 << b ? value : 0;
            }
            const size_t size = d - 64 * k < 64 ? d - 64 * k : 64;
            for (size_t b = 0; b < size; b++) total[64 * k + b] += sum[b];
        }
    }
}

/* ---- one copy for each level ---------------------------------------------- */

DPF_LEVELS(void, dpf_unit_rows_scale_float, float_scale,
           (const float *x, size_t n, size_t d, double constant, bool inside, unsigned bits,
            double *DPF_RESTRICT scale),
           (x, n, d, constant, inside, bits, scale))
DPF_LEVELS(void, dpf_unit_rows_scale_double, double_scale,
           (const double *x, size_t n, size_t d, double constant, bool inside, unsigned bits,
            double *DPF_RESTRICT scale),
           (x, n, d, constant, inside, bits, scale))
DPF_LEVELS(void, dpf_unit_rows_scale_packed, packed_scale,
           (const uint64_t *rows, size_t n, size_t d, double constant, bool inside, unsigned bits,
            double *DPF_RESTRICT scale),
           (rows, n, d, constant, inside, bits, scale))
DPF_LEVELS(void, dpf_unit_rows_margins_float, float_margins,
           (const float *x, size_t n, size_t d, double constant, unsigned bits, const double *scale, const float *w,
            float *DPF_RESTRICT margin),
           (x, n, d, constant, bits, scale, w, margin))
DPF_LEVELS(void, dpf_unit_rows_margins_double, double_margins,
           (const double *x, size_t n, size_t d, double constant, unsigned bits, const double *scale, const float *w,
            float *DPF_RESTRICT margin),
           (x, n, d, constant, bits, scale, w, margin))
DPF_LEVELS(void, dpf_unit_rows_margins_packed, packed_margins,
           (const uint64_t *rows, size_t n, size_t d, double constant, unsigned bits, const double *scale,
            const float *w, float *DPF_RESTRICT margin),
           (rows, n, d, constant, bits, scale, w, margin))
DPF_LEVELS(void, dpf_unit_rows_add_float, float_add,
           (const float *x, size_t n, size_t d, double constant, const double *scale, const int32_t *weight,
            int64_t *DPF_RESTRICT total),
           (x, n, d, constant, scale, weight, total))
DPF_LEVELS(void, dpf_unit_rows_add_double, double_add,
           (const double *x, size_t n, size_t d, double constant, const double *scale, const int32_t *weight,
            int64_t *DPF_RESTRICT total),
           (x, n, d, constant, scale, weight, total))
DPF_LEVELS(void, dpf_unit_rows_add_packed, packed_add,
           (const uint64_t *rows, size_t n, size_t d, double constant, const double *scale, const int32_t *weight,
            int64_t *DPF_RESTRICT total),
           (rows, n, d, constant, scale, weight, total))

/* Sparse rows are gathered and scattered, entry by entry: no level does better than another. */

void dpf_unit_rows_scale_csr_float(const dpf_unit_csr *rows, const float *data, size_t n, double constant,
                                   bool inside, unsigned bits, double *DPF_RESTRICT scale) {
    float_scale_csr(rows, data, n, constant, inside, bits, scale);
}

void dpf_unit_rows_scale_csr_double(const dpf_unit_csr *rows, const double *data, size_t n, double constant,
                                    bool inside, unsigned bits, double *DPF_RESTRICT scale) {
    double_scale_csr(rows, data, n, constant, inside, bits, scale);
}

void dpf_unit_rows_margins_csr_float(const dpf_unit_csr *rows, const float *data, size_t n, size_t d,
                                     double constant, unsigned bits, const double *scale, const float *w,
                                     float *DPF_RESTRICT margin) {
    float_margins_csr(rows, data, n, d, constant, bits, scale, w, margin);
}

void dpf_unit_rows_margins_csr_double(const dpf_unit_csr *rows, const double *data, size_t n, size_t d,
                                      double constant, unsigned bits, const double *scale, const float *w,
                                      float *DPF_RESTRICT margin) {
    double_margins_csr(rows, data, n, d, constant, bits, scale, w, margin);
}

void dpf_unit_rows_add_csr_float(const dpf_unit_csr *rows, const float *data, size_t n, size_t d,
                                 double constant, const double *scale, const int32_t *weight,
                                 int64_t *DPF_RESTRICT total) {
    float_add_csr(rows, data, n, d, constant, scale, weight, total);
}

void dpf_unit_rows_add_csr_double(const dpf_unit_csr *rows, const double *data, size_t n, size_t d,
                                  double constant, const double *scale, const int32_t *weight,
                                  int64_t *DPF_RESTRICT total) {
    double_add_csr(rows, data, n, d, constant, scale, weight, total);
}
