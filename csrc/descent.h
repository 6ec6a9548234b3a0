/*
 * descent.h - steps of a noisy descent whose coefficients are in groups: how far each group goes, the step itself, and
 * what each group keeps given the noise in it. dpfast/learners/halfspaces/shrunken.py says why. The same bits on every
 * machine: sums are added in the order of coefficients or of groups, and nothing is fused.
 *
 * Coefficients are m rows of k entries; row i is in group[i], below `groups`.
 */
#ifndef DPF_DESCENT_H
#define DPF_DESCENT_H

#include "dpf.h"

/* What limits the rates of groups: see dpf_descent_times. */
typedef struct {
    double little, sampled, usual, slope, steep, most, share, least;
} dpf_descent_limits;

/*
 * times[g] = how many times the common rate group g goes.
 *
 * With gone = max(1 - exp(-rates[g] curved[g]), little), the variance of a group on its whole way is
 * tau = signal[g] / gone^2 - sampled / curved[g]. Then times[g] is the larger of min(1, share max(tau / usual, least)) and
 * min(tau / usual, most, steep / (slope curved[g])).
 *
 *   rates, curved, signal   groups   read; of the products of rates and curved, each is at least 0
 *   times                   groups   written
 */
void dpf_descent_times(const double *rates, const double *curved, const double *signal, size_t groups,
                       const dpf_descent_limits *limits, double *DPF_RESTRICT times);

/*
 * velocity = lasting velocity + (fresh rate[group]) sum, then total += velocity: m * k entries each. Of k > 1 entries of a
 * row, their mean is subtracted from the sum before.
 *
 *   rate              one for each group        read
 *   sum               m * k                     read
 *   velocity, total   m * k                     changed in place
 */
void dpf_descent_move(const double *sum, const uint32_t *group, const double *rate, size_t m, size_t k, double lasting,
                      double fresh, double *DPF_RESTRICT velocity, double *DPF_RESTRICT total);

/*
 * square[g * k + c] = the sum of the squares of entry c of the rows in group g, in their order. Of m > DPF_DESCENT_WIDE
 * rows in at most two groups, each of which lies together, the sums are those of dpf_reals_sum.
 */
enum { DPF_DESCENT_WIDE = 4096 };
void dpf_descent_squares(const double *total, const uint32_t *group, size_t groups, size_t m, size_t k,
                         double *DPF_RESTRICT square);

/*
 * The variance of each group but the last without noise, and the share that each group keeps.
 *
 * With extra = square - members late noise for each group and entry, `before` is prior max(0, the sum of extra over the
 * groups that tell) / max(1, the number of their coefficients), and signal = max(0, extra + before) / (members + prior),
 * kept = signal / (signal + late noise). The last group, which never tells, keeps 1 - noise / max(square, noise).
 *
 *   square    groups * k         read
 *   members   groups             read
 *   noise     groups             read
 *   tells     groups             read, 0 or 1
 *   signal    (groups - 1) * k   written
 *   kept      groups * k         written
 *
 * The sum is that of dpf_reals_sum.
 */
void dpf_descent_shrink(const double *square, const double *members, const double *noise, const uint8_t *tells,
                        size_t groups, size_t k, double late, double prior, double *DPF_RESTRICT signal,
                        double *DPF_RESTRICT kept);

/* out = kept[group] total: m * k entries each. */
void dpf_descent_keep(const double *total, const uint32_t *group, const double *kept, size_t m, size_t k,
                      double *DPF_RESTRICT out);

#endif
