/*
 * resampling.h - exact multinomial draws from weights given as doubles.
 *
 * A double is a rational number, so "proportional to the weights" has an exact meaning, and no draw here moves it by
 * rounding. With scale = 2^s, each weight has the integer bound floor(weight * scale) + 1, above weight * scale. A draw
 * picks a unit among all bounds. Units of an entry below its last one belong to the entry; the last one does with
 * probability weight * scale - floor(weight * scale), which is decided by as many random words as it takes (usually
 * one). Otherwise the draw begins anew, with a probability of at most the number of entries over the sum of bounds.
 *
 * Bounds are added up by blocks of DPF_RESAMPLING_BLOCK entries; a draw searches the blocks and then reads one.
 */
#ifndef DPF_RESAMPLING_H
#define DPF_RESAMPLING_H

#include "dpf.h"
#include "numpy/random/bitgen.h"

enum { DPF_RESAMPLING_BLOCK = 256 };

/* What a look at the weights tells: all are finite and at least 0, and the largest of them. */
bool dpf_resampling_check(const double *weight, size_t n, double *largest);

/*
 * upto[b] = the sum of the bounds of the entries in blocks 0 to b.
 *
 *   weight  n                                 read, finite and at least 0
 *   upto    ceil(n / DPF_RESAMPLING_BLOCK)    written
 *
 * Requires weight * scale < 2^52 for all, and a power of two for scale. Cost: one read of the weights.
 */
void dpf_resampling_sum(const double *weight, size_t n, double scale, uint64_t *DPF_RESTRICT upto);

/*
 * drawn[i] for m independent draws, entry j with probability proportional to weight[j].
 *
 *   weight, scale, upto  as above, of n >= 1 entries, one of them above 0
 *   drawn                m, written
 *
 * Cost: for each draw a search of the blocks and a read of one.
 */
void dpf_resampling_draw(bitgen_t *rng, const double *weight, size_t n, double scale, const uint64_t *upto, size_t m,
                         int64_t *DPF_RESTRICT drawn);

#endif
