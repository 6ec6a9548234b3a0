/*
 * cover.h - greedy cover for decision lists: counts, weights, exact choice.
 *
 * A candidate is (feature, negated or not, label b). On the rows not yet covered it has
 *
 *   score = correct * #{rows it covers with label b} - covered * #{rows it covers}
 *
 * for integers that may differ from draw to draw, and is chosen with probability
 * proportional to exp(t * score). Counts are exact integers; each row is read once to count it and once when it leaves. Weights are sums
 * of doubles by blocks of 64 features, so that a round in which little changed weighs
 * little again; they only ever decide where rounding cannot matter.
 *
 * Order of candidates: blocks of 64 features; in a block all plain ones of label 0, of label
 * 1, ..., then all negated ones of label 0, ...; so candidate = 64 * (block * variants + v) + k
 * with v = negated * classes + label, k = feature % 64, variants = polarities * classes.
 */
#ifndef DPF_COVER_H
#define DPF_COVER_H

#include "bits.h"

/*
 * count[c * m + j] = #{rows with bit j and label c}, for m packed columns over n rows.
 *
 *   columns  m * DPF_WORDS(n)         read once
 *   label    classes * DPF_WORDS(n)   read; label[c] packs the rows of label c, and each row has one
 *   count    classes * m              written
 */
void dpf_cover_count(const uint64_t *columns, size_t n, size_t m, const uint64_t *label, size_t classes,
                     int64_t *DPF_RESTRICT count);

/*
 * count[j] += sign * #{rows in mask with bit j}, for j < m; returns the number of rows in mask.
 *
 *   rows     n * DPF_WORDS(m)    the rows in mask are read
 *   mask     DPF_WORDS(n)        read
 *   index    DPF_COVER_BATCH     scratch
 *   scratch  DPF_BITS_SCRATCH
 *   tally    m                   scratch
 *   touched  DPF_WORDS(m)        |= the rows in mask, unless NULL
 */
enum { DPF_COVER_BATCH = 1 << 15 };
size_t dpf_cover_tally(const uint64_t *rows, size_t n, size_t m, const uint64_t *mask, int64_t sign,
                       int64_t *DPF_RESTRICT index, uint64_t *DPF_RESTRICT scratch, int64_t *DPF_RESTRICT tally,
                       int64_t *DPF_RESTRICT count, uint64_t *DPF_RESTRICT touched);

/* What the weight of a candidate depends on. exp(-t * gap) = coarse[gap >> shift] * fine[gap mod 2^shift]
 * for gap = reference - score < gaps; beyond, the weight counts as zero. */
typedef struct {
    size_t m, classes, polarities;
    const int64_t *count;  /* classes * m, over the rows not covered */
    const int64_t *total;  /* classes */
    const uint64_t *alive; /* DPF_WORDS(m): features not yet used */
    int64_t correct, covered, reference;
    uint64_t gaps;
    unsigned shift;
    const double *coarse, *fine;
} dpf_cover;

/* score[64 * v + k] for the candidates of one block; 0 past the last feature. */
void dpf_cover_scores(const dpf_cover *cover, size_t block, int64_t *DPF_RESTRICT score);

/* The highest score of a live candidate, INT64_MIN if none is left. score: scratch of one block. */
int64_t dpf_cover_highest(const dpf_cover *cover, int64_t *DPF_RESTRICT score);

/*
 * block_weight[b] = the summed weight of the live candidates of block b, for each b with touched[b] != 0.
 * Returns false if a live candidate scores above the reference: its weight is then wrong, and the caller
 * must set a higher one. Relative error of a weight at most 512 roundings while t * gaps <= 120.
 *
 *   scratch  64 * variants   score and weight, each
 */
bool dpf_cover_weigh(const dpf_cover *cover, const uint64_t *touched, int64_t *DPF_RESTRICT score,
                     double *DPF_RESTRICT weight, double *DPF_RESTRICT block_weight);

/*
 * The candidate at `target`, 0 <= target < total weight, in cumulative order of the blocks followed by
 * the `classes` candidates of the constant true, whose weights are given; those have numbers from
 * 64 * variants * DPF_WORDS(m) on. SIZE_MAX if a boundary lies within `guard` of the target.
 */
size_t dpf_cover_at(const dpf_cover *cover, const double *block_weight, const double *constant, double target,
                    double guard, int64_t *DPF_RESTRICT score, double *DPF_RESTRICT weight);

#endif
