/*
 * capped_scaling.h - the Bregman projection of a measure onto measures of bounded density, for plain doubles.
 *
 * For weights w_i >= 0 and a mass M below the number of those above 0, there is exactly one c > 0 with
 *
 *     sum over i of min(1, c w_i) = M,
 *
 * and min(1, c w) is the measure of mass M, bounded by 1, that is nearest to w in relative entropy [Bun, Carmosino and
 * Sorrell 2020, section 4]. The sum is concave, increasing and piecewise linear in c, so Newton's method from below
 * climbs to the root without overshooting: c' = (M - capped) / (sum of the others), and capped entries stay capped.
 */
#ifndef DPF_CAPPED_SCALING_H
#define DPF_CAPPED_SCALING_H

#include "dpf.h"

/* Whether all of n weights are finite and at least 0; the number of those above 0 and the largest. */
bool dpf_capped_scaling_check(const double *weight, size_t n, size_t *positive, double *largest);

/*
 * *capped = #{i : c w_i >= 1}; *rest = the sum of the other weights, added in one fixed order.
 *
 * Cost: one read of the weights. The same bits at every instruction-set level.
 */
void dpf_capped_scaling_count(const double *weight, size_t n, double c, size_t *capped, double *rest);

/* out[i] = min(1, c w_i). */
void dpf_capped_scaling_apply(const double *weight, size_t n, double c, double *DPF_RESTRICT out);

#endif
