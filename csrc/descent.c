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
        double mean = 0;
        for (size_t c = 0; c < k && k > 1; c++) mean += sum[i * k + c];
        mean /= (double)k;
        for (size_t c = 0; c < k; c++) {
            const size_t at = i * k + c;
            velocity[at] = velocity[at] * lasting + own * (sum[at] - mean);
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

/* before + the squares of entries that are k apart, one after another. */
DPF_BODY double squares_after(double before, const double *entry, size_t rows, size_t k) {
    for (size_t i = 0; i < rows; i++) before += entry[i * k] * entry[i * k];
    return before;
}

DPF_BODY double lane_sum(double *lane) {
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

/* The sum of the same squares, added in lanes, which takes less time. */
DPF_BODY double squares_in_lanes(const double *entry, size_t rows, size_t k) {
    double lane[LANES] = {0};
    for (size_t i = 0; i < rows; i++) lane[i % LANES] += entry[i * k] * entry[i * k];
    return lane_sum(lane);
}

void dpf_descent_squares(const double *total, const uint32_t *group, size_t groups, size_t m, size_t k,
                         double *DPF_RESTRICT square) {
    const bool lone = groups <= 2 && m > DPF_DESCENT_WIDE;
    for (size_t at = 0; at < groups * k; at++) square[at] = 0;
    for (size_t i = 0, rows; i < m; i += rows) { /* of one group, whose sums stay in registers */
        double *sum = square + group[i] * k;
        for (rows = 1; i + rows < m && group[i + rows] == group[i];) rows++;
        for (size_t c = 0; c < k; c++) {
            const double *entry = total + i * k + c;
            sum[c] = lone ? squares_in_lanes(entry, rows, k) : squares_after(sum[c], entry, rows, k);
        }
    }
}

void dpf_descent_shrink(const double *square, const double *members, const double *noise, const uint8_t *tells,
                        size_t groups, size_t k, double late, double prior, double *DPF_RESTRICT signal,
                        double *DPF_RESTRICT kept) {
    const size_t last = groups - 1;
    double lane[LANES] = {0}, telling = 0;
    size_t added = 0;
    for (size_t g = 0; g < last; g++) {
        if (!tells[g]) continue;
        telling += members[g] * (double)k;
        for (size_t c = 0; c < k; c++) lane[added++ % LANES] += square[g * k + c] - members[g] * (late * noise[g]);
    }
    const double before = prior * larger(0, lane_sum(lane) / larger(1, telling));
    for (size_t g = 0; g < last; g++)
        for (size_t c = 0; c < k; c++) {
            const double left = late * noise[g], extra = square[g * k + c] - members[g] * left + before;
            const double own = larger(0, extra) / (members[g] + prior);
            signal[g * k + c] = own;
            kept[g * k + c] = own / (own + left);
        }
    for (size_t c = 0; c < k; c++) kept[last * k + c] = 1 - noise[last] / larger(square[last * k + c], noise[last]);
}

DPF_BODY void keep(const double *total, const uint32_t *group, const double *kept, size_t m, size_t k,
                   double *DPF_RESTRICT out) {
    for (size_t i = 0; i < m; i++)
        for (size_t c = 0; c < k; c++) out[i * k + c] = total[i * k + c] * kept[group[i] * k + c];
}

void dpf_descent_keep(const double *total, const uint32_t *group, const double *kept, size_t m, size_t k,
                      double *DPF_RESTRICT out) {
    if (k == 1) keep(total, group, kept, m, 1, out);
    else keep(total, group, kept, m, k, out);
}
