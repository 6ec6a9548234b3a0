/*
 * project.h - Bregman projection of a measure onto the dense ones, by capped scaling. [BCS] Bun, Carmosino,
 * Sorrell, Efficient, Noise-Tolerant, and Private Learning via Boosting, section 4.
 *
 * No learner uses it: measure.h keeps the same measures in integers, whose mass is exact, and a claim rests on that. It
 * is for those who have real log weights, and is what tests compare measure.h with.
 *
 * From log weights L[0..n) and a mass, the weights min(1, c exp(L[i])) with the least c >= 1 for which they
 * sum to at least the mass. With a cap q = -ln c, the level whose weight is 1, their sum
 *
 *   F(q) = #{L[i] >= q} + sum over L[i] < q of exp(L[i] - q)
 *
 * falls with q; the cap solves F(q) = mass, or is 0 where F(0) >= mass. It is selected as a quantile is:
 * a sample brackets it, one pass sums what lies outside the bracket and keeps what lies inside, and so on
 * until few enough are left to sort. Only differences of log weights are taken, so nothing overflows and a
 * weight underflows to zero only below e^-708.
 */
#ifndef DPF_PROJECT_H
#define DPF_PROJECT_H

#include "dpf.h"

/* DENSE: done. NOT_A_WEIGHT: an entry is NaN or +infinity. OUT_OF_REACH: too few entries above -infinity. */
enum { DPF_PROJECT_DENSE, DPF_PROJECT_NOT_A_WEIGHT, DPF_PROJECT_OUT_OF_REACH };

/* Doubles of scratch that n entries need: about n / 8. */
size_t dpf_project_scratch(size_t n);

/*
 * weight[i] = min(1, c exp(log_weight[i])), as above; returns DPF_PROJECT_DENSE, or why not.
 *
 *   log_weight  n                        read; -infinity is weight zero
 *   scratch     dpf_project_scratch(n)   scratch
 *   weight      n                        written, also when refused; may not overlap the others
 *   finite      1                        the number of entries above -infinity
 *
 * Requires n >= 1 and mass > 0. A mass that all finite entries at 1 miss by a relative 1e-12 is reached.
 * Where c > 1 the weights sum to the mass within a relative 1e-12. The same bits at every instruction-set
 * level. Cost: one read of log_weight with an exponential each, written to weight, then one pass to scale
 * them; another read for each sample that misled, about 80 at worst.
 */
int dpf_project_cap(const double *log_weight, size_t n, double mass, double *DPF_RESTRICT scratch,
                    double *DPF_RESTRICT weight, size_t *finite);

#endif
