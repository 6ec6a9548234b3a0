/*
 * logistic.h - capped logistic residuals of rows, as integers: how far a model of probabilities is from a row's label.
 *
 * With chances p of its classes, which are the softmax of its scores, a row of class y has the residual
 *
 *     h (e_y - q),  h = min(1, 2 (1 - p_y)),  q_c = p_c / (1 - p_y) for c != y, q_y = 0,
 *
 * that is twice y - p, shrunk to h = 1 where p_y < 1/2. On the grid a row has a limit A: its entries are truncated towards 0,
 * those of other classes are at most 0 and add up to -s with 0 <= s <= A, exactly, and that of its own class is s. So their
 * absolute values add up to at most 2 A, and their Euclidean norm is at most sqrt(2) A. Of two classes only the entry of
 * the second is kept, of absolute value at most A.
 *
 * The residual by margin of two classes is h = min(1, (1 + exp(-4)) / (1 + exp(2 m - 4))), where m is the score of the
 * row's own class: 1 where m < 0, and about a half at m = 2. Times the limit it is truncated towards 0 too.
 *
 * A residual is a function of its row's scores, label and limit alone: every operation is one of IEEE arithmetic in single
 * precision, in one order, so that bits are the same wherever a row lies and at every instruction-set level.
 */
#ifndef DPF_LOGISTIC_H
#define DPF_LOGISTIC_H

#include "dpf.h"

/*
 * residual[i] = the entry of the second of two classes, where constant + step * score[i] are its log odds.
 *
 *   score     n, int32 or, where `real`, finite float   read
 *   label     n, 0 or 1                                 read
 *   limit     n, 0 to 2^24                              read
 *   residual  n                                         written
 */
void dpf_logistic_two(const void *score, bool real, float step, float constant, const uint8_t *label,
                      const int32_t *limit, size_t n, int32_t *DPF_RESTRICT residual);

/* The same with the residual by margin. */
void dpf_logistic_margin(const void *score, bool real, float step, float constant, const uint8_t *label,
                         const int32_t *limit, size_t n, int32_t *DPF_RESTRICT residual);

/*
 * residual[i * k + c] = the entry of class c, where constant[c] + step * score[i * k + c] is its score.
 *
 *   label   n, below k                     read
 *   lane    DPF_LOGISTIC_LANES(k) floats   scratch
 */
enum { DPF_LOGISTIC_BLOCK = 128 };
#define DPF_LOGISTIC_LANES(k) ((k) * DPF_LOGISTIC_BLOCK)
void dpf_logistic_many(const void *score, bool real, float step, const float *constant, const uint16_t *label,
                       const int32_t *limit, size_t n, size_t k, float *DPF_RESTRICT lane,
                       int32_t *DPF_RESTRICT residual);

#endif
