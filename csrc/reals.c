#include "reals.h"
#include "dpf_cpu.h"
#include "reals_exp.h"

#include <math.h>

enum { LANES = 16 };

DPF_BODY double lane_sum(double *lane) {
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

DPF_BODY double sum(const double *x, size_t n) {
    const size_t whole = n - n % LANES;
    double lane[LANES] = {0};
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += x[i + l];
    for (size_t i = whole; i < n; i++) lane[i - whole] += x[i];
    return lane_sum(lane);
}
DPF_LEVELS(double, dpf_reals_sum, sum, (const double *x, size_t n), (x, n))

DPF_BODY void products(const double *x, size_t n, size_t d, const double *w, double *DPF_RESTRICT out) {
    const size_t whole = d - d % LANES;
    for (size_t i = 0; i < n; i++) {
        const double *row = x + i * d;
        double lane[LANES] = {0};
        for (size_t j = 0; j < whole; j += LANES)
            for (size_t l = 0; l < LANES; l++) lane[l] += row[j + l] * w[j + l];
        for (size_t j = whole; j < d; j++) lane[j - whole] += row[j] * w[j];
        out[i] = lane_sum(lane);
    }
}
DPF_LEVELS(void, dpf_reals_products, products,
           (const double *x, size_t n, size_t d, const double *w, double *DPF_RESTRICT out), (x, n, d, w, out))

void dpf_reals_products_csr(const int64_t *indptr, const int32_t *indices, const double *data, size_t n, const double *w,
                            double *DPF_RESTRICT out) {
    for (size_t i = 0; i < n; i++) {
        double total = 0;
        for (int64_t p = indptr[i]; p < indptr[i + 1]; p++) total += data[p] * w[indices[p]];
        out[i] = total;
    }
}

DPF_BODY void exps(const double *x, size_t n, double *DPF_RESTRICT out) {
    for (size_t i = 0; i < n; i++) out[i] = dpf_reals_exponential(x[i]);
}
DPF_LEVELS(void, dpf_reals_exp, exps, (const double *x, size_t n, double *DPF_RESTRICT out), (x, n, out))

/*
 * x = 2^k m with m in [sqrt(1/2), sqrt(2)); ln(m) = 2 artanh(s) = 2 (s + s^3/3 + s^5/5 + ...), s = (m-1) / (m+1), whose
 * terms past s^23 are below 2^-60 of the first. ln 2 is taken in two parts, of which k times the first is exact.
 */
DPF_BODY double logarithm(double x) {
    enum { TERMS = 11 };
    const uint64_t root = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u; /* sqrt(1/2), 1 */
    const uint64_t above = dpf_reals_bits_of(x) - root + one;             /* exponent field: that of 1, plus k */
    const double k = (double)(int64_t)(above >> 52) - 1023, m = dpf_reals_of_bits((above & 0xfffffffffffffu) + root);
    const double s = (m - 1) / (m + 1), square = s * s;
    double series = 0;
    for (size_t t = TERMS; t; t--) series = square * (series + 1 / (double)(2 * t + 1));
    return k * 0x1.62e42fefa0000p-1 + (2 * s + (2 * s * series + k * 0x1.cf79abc9e3b3ap-40));
}

void dpf_reals_log(const double *x, size_t n, double *DPF_RESTRICT out) {
    for (size_t i = 0; i < n; i++) out[i] = logarithm(x[i]);
}

/* The last level that begins at x or below it, or 0: halves of the levels that are left, without a branch. */
DPF_BODY size_t level_of(double x, const double *begin, size_t levels) {
    size_t level = 0;
    for (size_t left = levels; left > 1; left -= left / 2) level += x < begin[level + left / 2] ? 0 : left / 2;
    return level;
}

DPF_BODY void mixture(const double *square, size_t n, size_t apart, double usual, const double *begin,
                      const double *middle, size_t levels, const double *density, const double *kept, size_t others,
                      double prior, double rare, double *DPF_RESTRICT weight, double *DPF_RESTRICT share) {
    double own[DPF_REALS_LEVELS], total[DPF_REALS_LEVELS], mean[DPF_REALS_LEVELS], count[DPF_REALS_LEVELS];
    double part[DPF_REALS_SCALES], explained[DPF_REALS_SCALES];
    const double wide = 1 + usual, rate = -0.5 / wide, half = logarithm(wide) / 2;
    for (size_t l = 0; l < levels; l++) {
        const double power = middle[l] * rate - half;
        own[l] = dpf_reals_exponential(power > -700 ? power : -700);
        count[l] = 0;
    }
    part[0] = weight[0] * (usual / wide);
    for (size_t s = 0; s < others; s++) part[s + 1] = weight[s + 1] * kept[s];
    for (size_t l = 0; l < levels; l++) {
        double all[LANES] = {own[l] * weight[0]}, held[LANES] = {own[l] * part[0]};
        for (size_t s = 0; s < others; s++) {
            all[s + 1] = density[s * levels + l] * weight[s + 1];
            held[s + 1] = density[s * levels + l] * part[s + 1];
        }
        total[l] = lane_sum(all);
        mean[l] = lane_sum(held) / total[l];
    }
    for (size_t i = 0; i < n; i++) {
        const size_t l = level_of(square[i * apart], begin, levels);
        share[i * apart] = mean[l];
        count[l]++;
    }
    for (size_t l = 0; l < levels; l++) count[l] /= total[l];
    products(own, 1, levels, count, explained);
    products(density, others, levels, count, explained + 1);
    for (size_t s = 0; s <= others; s++) explained[s] = weight[s] * explained[s] + rare;
    explained[0] += prior - rare;
    const double whole = sum(explained, others + 1);
    for (size_t s = 0; s <= others; s++) weight[s] = explained[s] / whole;
}
DPF_LEVELS(void, dpf_reals_mixture, mixture,
           (const double *square, size_t n, size_t apart, double usual, const double *begin, const double *middle,
            size_t levels, const double *density, const double *kept, size_t others, double prior, double rare,
            double *DPF_RESTRICT weight, double *DPF_RESTRICT share),
           (square, n, apart, usual, begin, middle, levels, density, kept, others, prior, rare, weight, share))

static double sum_in_order(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

void dpf_reals_halves(const double *noisy, size_t n, double rows, double likely, double *DPF_RESTRICT out) {
    if (n == 1) {
        out[0] = rows;
        return;
    }
    const size_t half = n / 2, rest = n - half;
    const double a = (double)half, b = (double)rest;
    double first = sum_in_order(noisy, half), second = sum_in_order(noisy + half, rest), share = a / (double)n;
    if (fabs(first / a - second / b) > likely * sqrt(1 / a + 1 / b)) {
        first = first >= likely * sqrt(a) ? first : 0;
        second = second >= likely * sqrt(b) ? second : 0;
        if (first != 0 || second != 0) share = first / (first + second);
    }
    dpf_reals_halves(noisy, half, rows * share, likely, out);
    dpf_reals_halves(noisy + half, rest, rows * (1 - share), likely, out + half);
}

void dpf_reals_smooth(double *DPF_RESTRICT x, size_t n, double cut, double *DPF_RESTRICT apart) {
    const double root = 0x1.6a09e667f3bcdp-1; /* of 1/2 */
    for (size_t half = n / 2; half; half /= 2)
        for (size_t i = 0; i < half; i++) {
            const double a = x[2 * i], b = x[2 * i + 1], difference = (a - b) * root;
            apart[half + i] = fabs(difference) < cut ? 0 : difference;
            x[i] = (a + b) * root;
        }
    for (size_t half = 1; half < n; half *= 2)
        for (size_t i = half; i--;) {
            const double sum = x[i], difference = apart[half + i];
            x[2 * i] = (sum + difference) * root;
            x[2 * i + 1] = (sum - difference) * root;
        }
}
