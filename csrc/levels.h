/*
 * levels.h - exact draws with probability proportional to exp(t * score).
 *
 * Scores are integers, so only the number of candidates at each level matters.
 * A level is named by its gap, the distance from the best score; its weight is
 * count * exp(-t * gap). Levels 0..levels-1 are tabled; what lies deeper falls
 * into one last slot, number `levels`, called the rest. Steps: extremes, count,
 * cumulate, choose (a level), locate and find (a uniform member of it).
 *
 * choose is guarded inversion: the outcome of a 64-bit word is decided here only
 * where no rounding below could change it; the caller decides the others in
 * multiprecision. So no outcome's probability is moved by rounding.
 *
 * Negated copies (a candidate of score -s for each s) need no storage: the candidates at v, and
 * those at -v, are the scores of magnitude |v|. So magnitudes are counted, once for both.
 *
 * Scans exist for int8, int16, int32 and int64 scores (suffixes 8, 16, 32, 64).
 */
#ifndef DPF_LEVELS_H
#define DPF_LEVELS_H

#include "dpf.h"
#include "numpy/random/bitgen.h"

/* Equal neighbours must not wait for one another: counts go to this many tables in turn. */
enum { DPF_LANES = 4 };

/* Which scores come first: the highest, the lowest, or those of largest magnitude. */
enum { DPF_HIGHEST, DPF_LOWEST, DPF_MAGNITUDE };

/* Lowest and highest of n >= 1 scores. */
void dpf_levels_extremes_8(const int8_t *score, size_t n, int8_t *low, int8_t *high);
void dpf_levels_extremes_16(const int16_t *score, size_t n, int16_t *low, int16_t *high);
void dpf_levels_extremes_32(const int32_t *score, size_t n, int32_t *low, int32_t *high);
void dpf_levels_extremes_64(const int64_t *score, size_t n, int64_t *low, int64_t *high);

/*
 * table[b][g] = the number of scores at gap g in blocks 0..b, of `block` scores each (the last may
 * be shorter), for g < levels; table[b][levels] the rest. The gap is best - score, score - best
 * or best - |score|, by `order`, and is at least 0. One read of the scores. Requires n < 2^32.
 *
 *   lanes  DPF_LANES * (levels + 1)          scratch
 *   table  ceil(n / block) * (levels + 1)    written
 */
void dpf_levels_count_8(const int8_t *score, size_t n, int64_t best, int order, size_t levels,
                        size_t block, uint32_t *DPF_RESTRICT lanes, uint32_t *DPF_RESTRICT table);
void dpf_levels_count_16(const int16_t *score, size_t n, int64_t best, int order, size_t levels,
                         size_t block, uint32_t *DPF_RESTRICT lanes, uint32_t *DPF_RESTRICT table);
void dpf_levels_count_32(const int32_t *score, size_t n, int64_t best, int order, size_t levels,
                         size_t block, uint32_t *DPF_RESTRICT lanes, uint32_t *DPF_RESTRICT table);
void dpf_levels_count_64(const int64_t *score, size_t n, int64_t best, int order, size_t levels,
                         size_t block, uint32_t *DPF_RESTRICT lanes, uint32_t *DPF_RESTRICT table);

/*
 * The index of score number `rank` (from 0) of those equal to `value` or to `other`; there must be more
 * than `rank`. Reads up to that index.
 */
size_t dpf_levels_find_8(const int8_t *score, size_t n, int8_t value, int8_t other, size_t rank);
size_t dpf_levels_find_16(const int16_t *score, size_t n, int16_t value, int16_t other,
                          size_t rank);
size_t dpf_levels_find_32(const int32_t *score, size_t n, int32_t value, int32_t other,
                          size_t rank);
size_t dpf_levels_find_64(const int64_t *score, size_t n, int64_t value, int64_t other,
                          size_t rank);

/*
 * Turns "member number rank[p] of level[p]" into "member number rank[p] of level[p] in block[p]", for m
 * of them, by bisection in a table of `blocks` rows as count leaves it.
 */
void dpf_levels_locate(const uint32_t *table, size_t blocks, size_t levels, const uint32_t *level,
                       size_t m, uint64_t *rank, uint32_t *block);

/*
 * cumulative[k] = sum over j <= k of count[j] * exp(-t * gap[j]); returns a bound on
 *
 *   |computed - true| of any of them, plus the same for a target u / 2^64 * cumulative[levels - 1]
 *
 * for the true t within one rounding of `t`. Each term has relative error at most 10 + 4 t gap
 * roundings (the argument takes three, exp eight, the product one), sums are compensated.
 *
 *   count, gap  levels   read; t >= 0
 *   cumulative  levels   written
 */
double dpf_levels_cumulate(const uint64_t *count, const uint64_t *gap, size_t levels, double t,
                           double *DPF_RESTRICT cumulative);

/*
 * level[i] for draw i, from `start` until m or until a word falls within `guard` of a boundary.
 * Returns the number of the draw that it stopped at, its word in *word; m when all are done.
 * `open` says that a rest lies past the last level, so that its upper end is a boundary too.
 */
size_t dpf_levels_choose(bitgen_t *rng, const double *cumulative, size_t levels, double guard,
                         bool open, size_t start, size_t m, uint32_t *DPF_RESTRICT level,
                         uint64_t *word);

#endif
