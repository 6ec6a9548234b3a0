/* bins.h - the bins of real numbers between edges. */
#ifndef DPF_BINS_H
#define DPF_BINS_H

#include "dpf.h"

/*
 * bin[i] = the number of edges below x[i], or `missing` if it is NaN; the same with 16 bits.
 *
 *   x     n                       read
 *   edge  edges, not decreasing   read, no NaN among them
 *   bin   n                       written
 *
 * Requires edges < 2^8, or 2^16. A binary search without branches, whose steps are taken for a block of numbers at a time,
 * so that none waits for another. Cost: log2(edges) steps for each number.
 */
void dpf_bins_count8(const double *x, size_t n, const double *edge, size_t edges, uint8_t missing,
                     uint8_t *DPF_RESTRICT bin);
void dpf_bins_count16(const double *x, size_t n, const double *edge, size_t edges, uint16_t missing,
                      uint16_t *DPF_RESTRICT bin);

#endif
