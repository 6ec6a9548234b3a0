#include "descent.h"
#include "dpf_cpu.h"
#include "reals_exp.h"

enum { LANES = 16 }; /* those of reals.c */

DPF_BODY double larger(double a, double b) { return a > b ? a : b; }
DPF_BODY double smaller(double a, double b) { return a < b ? a : b; }

DPF_BODY void times_of(const double *rates, const double *curved, const double *signal, size_t groups,
                       const dpf_descent_limits *limits, double *DPF_RESTRICT times) {
    const dpf_descent_limits l = *limits;
    for (size_t g = 0; g < groups; g++) {
        const double gone = larger(1 - dpf_reals_exponential(-rates[g] * curved[g]), l.little);
        const double wanted = (signal[g] / (gone * gone) - l.sampled / curved[g]) / l.usual;
        const double most = smaller(l.most, l.steep / (l.slope * curved[g]));
        const double less = smaller(1, l.share * larger(wanted, l.least));
        times[g] = larger(less, smaller(wanted, most));
    }
}
DPF_LEVELS(void, dpf_descent_times, times_of,
           (const double *rates, const double *curved, const double *signal, size_t groups,
            const dpf_descent_limits *limits, double *DPF_RESTRICT times),
           (rates, curved, signal, groups, limits, times))

DPF_BODY void move_all(const double *sum, const uint32_t *group, const double *rate, size_t m, size_t k, double lasting,
                       double fresh, double *DPF_RESTRICT velocity, double *DPF_RESTRICT total) {
    for (size_t i = 0; i < m; i++) {
        const double own = fresh * rate[group[i]];
        for (size_t c = 0; c < k; c++) {
            const size_t at = i * k + c;
            velocity[at] = velocity[at] * lasting + own * sum[at];
            total[at] += velocity[at];
        }
    }
}

DPF_BODY void move(const double *sum, const uint32_t *group, const double *rate, size_t m, size_t k, double lasting,
                   double fresh, double *DPF_RESTRICT velocity, double *DPF_RESTRICT total) {
    if (k == 1) move_all(sum, group, rate, m, 1, lasting, fresh, velocity, total);
    else move_all(sum, group, rate, m, k, lasting, fresh, velocity, total);
}
DPF_LEVELS(void, dpf_descent_move, move,
           (const double *sum, const uint32_t *group, const double *rate, size_t m, size_t k, double lasting,
            double fresh, double *DPF_RESTRICT velocity, double *DPF_RESTRICT total),
           (sum, group, rate, m, k, lasting, fresh, velocity, total))

void dpf_descent_squares(const double *total, const uint32_t *group, size_t m, size_t k, double *DPF_RESTRICT square) {
    for (size_t i = 0; i < m; i++)
        for (size_t c = 0; c < k; c++) square[group[i] * k + c] += total[i * k + c] * total[i * k + c];
}

void dpf_descent_shrink(const double *square, const double *members, const double *noise, const uint8_t *tells,
                        size_t groups, size_t k, double prior, double *DPF_RESTRICT signal,
                        double *DPF_RESTRICT kept) {
    double lane[LANES] = {0}, telling = 0;
    size_t added = 0;
    for (size_t g = 0; g < groups; g++) {
        if (!tells[g]) continue;
        telling += members[g] * (double)k;
        for (size_t c = 0; c < k; c++) lane[added++ % LANES] += square[g * k + c] - members[g] * noise[g];
    }
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++) lane[l] += lane[l + half];
    const double before = prior * larger(0, lane[0] / larger(1, telling));
    for (size_t g = 0; g < groups; g++)
        for (size_t c = 0; c < k; c++) {
            const double extra = square[g * k + c] - members[g] * noise[g] + before;
            const double own = larger(0, extra) / (members[g] + prior);
            signal[g * k + c] = own;
            kept[g * k + c] = own / (own + noise[g]);
        }
}
