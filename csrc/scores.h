/*
 * scores.h - integer scores of a linear learner, and the votes of what it released.
 *
 * Winnow's weights are exp(eta * s_j) for the scores s_j = sum over the examples used of y x_j, so the
 * scores are its state ([BF] section 4.1). Rows x are packed bits (+-1 or 0/1),
 * CSR, or dense on a fixed-point grid: x = q / 2^k for an integer q. Everything is exact; the caller has
 * checked that nothing overflows.
 *
 * A release is a histogram of coordinates, (index[p], count[p]) for p < k with index rising; a negated
 * copy counts with a minus. Its vote on x is sum_p count[p] x[index[p]]; the prediction, its sign.
 *
 * Rows are chosen by index[0..m), or are rows 0..m-1 when index is NULL. y[i], +1 or -1, is the label of
 * row i, chosen or not.
 */
#ifndef DPF_SCORES_H
#define DPF_SCORES_H

#include "bits.h"

/* ---- updates ---------------------------------------------------------- */

/* What an update of packed rows works on at a time. */
enum { DPF_SCORES_COLUMNS = 64 * DPF_BITS_BLOCK };

/*
 * score[j] += sum over the m rows of y * (2 x_j - 1), for bits x_j.
 *
 *   rows     n * DPF_WORDS(d)                   read once
 *   scratch  DPF_BITS_SCRATCH
 *   tally    DPF_SCORES_COLUMNS                 scratch
 *   score    d                                  updated
 *
 * Rows of label -1 are counted flipped: the ones of a column, A, are then the agreements of x_j with y, and
 * the sum is 2 A - m. So one positional popcount (bits.h) serves both labels.
 */
void dpf_scores_add_packed(const uint64_t *rows, size_t n, size_t d, const int8_t *y, const int64_t *index, size_t m,
                           uint64_t *DPF_RESTRICT scratch, int64_t *DPF_RESTRICT tally, int64_t *DPF_RESTRICT score);

/* score[j] += sum over the m rows of y * q_j, for dense rows of d grid integers. One read of the rows. */
void dpf_scores_add_grid(const int32_t *rows, size_t d, const int8_t *y, const int64_t *index, size_t m,
                         int64_t *DPF_RESTRICT score);

/* Rows indptr[i] <= p < indptr[i + 1] of (indices[p], data[p]); data NULL when every entry is 1. */
typedef struct {
    const int64_t *indptr;
    const int32_t *indices;
    const int32_t *data;
} dpf_csr;

/*
 * The first of the m rows whose indices do not rise strictly within [0, d), as its place among the
 * chosen; m if all do. *longest is the most entries of a row before it.
 */
size_t dpf_scores_check_csr(const dpf_csr *rows, int64_t d, const int64_t *index, size_t m, int64_t *longest);

/* score[j] += sum over the m rows of y * x_j. Cost by stored entries. */
void dpf_scores_add_csr(const dpf_csr *rows, const int8_t *y, const int64_t *index, size_t m,
                        int64_t *DPF_RESTRICT score);

/* ---- scores that are mostly untouched --------------------------------- */

/*
 * A hash table from coordinates to scores: 2^bits slots, linear probing from the top bits of a product
 * (Fibonacci hashing). A free slot has key DPF_SCORES_FREE and score 0. The arrays are the caller's.
 */
#define DPF_SCORES_FREE UINT32_MAX
typedef struct {
    uint32_t *key;
    int64_t *score;
    unsigned bits;
    size_t used;
} dpf_scores;

/*
 * Adds chosen rows start..m-1 as above, coordinate by coordinate, while used <= limit < 2^bits; returns
 * the first row that might pass the limit, m when all are added. Cost by stored entries.
 */
size_t dpf_scores_add_sparse(dpf_scores *table, const dpf_csr *rows, const int8_t *y, const int64_t *index,
                             size_t start, size_t m, size_t limit);

/* Adds n scores with distinct keys that are not in the table and must fit; free slots are passed over. */
void dpf_scores_insert(dpf_scores *table, const uint32_t *key, const int64_t *score, size_t n);

/* ---- votes ------------------------------------------------------------ */

/*
 * vote[i] = sum_p count[p] * x, x the entry index[p] of row i: 2 x - 1 for a bit x when `signs`. Reads,
 * of each row, the cache lines that hold coordinates of the histogram, fetched some rows ahead.
 */
void dpf_scores_votes_packed(const uint64_t *rows, size_t n, size_t d, const int64_t *index, const int64_t *count,
                             size_t k, bool signs, int64_t *DPF_RESTRICT vote);
void dpf_scores_votes_grid(const int32_t *rows, size_t n, size_t d, const int64_t *index, const int64_t *count,
                           size_t k, int64_t *DPF_RESTRICT vote);

/* The same for n CSR rows. index rises strictly. An entry not in the histogram costs one look at a bit. */
void dpf_scores_votes_csr(const dpf_csr *rows, size_t n, const int64_t *index, const int64_t *count, size_t k,
                          int64_t *DPF_RESTRICT vote);

#endif
