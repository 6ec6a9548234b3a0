/* grid.h - real numbers on a fixed-point grid: x = q / 2^bits for an integer q. */
#ifndef DPF_GRID_H
#define DPF_GRID_H

#include "dpf.h"

/*
 * For n floats, or doubles if `wide`, q = x * 2^bits rounded to the nearest integer, ties to even, for x clipped to
 * [-1, 1]; 0 for NaN. low and high become the extremes of x, both NaN if any x is. Requires n >= 1, bits <= 30.
 */
void dpf_grid(const void *x, bool wide, size_t n, unsigned bits, int32_t *DPF_RESTRICT q, double *low, double *high);

/*
 * The sum of x * 2^bits over n floats, or doubles if `wide`, each clipped to [0, 1], 0 for NaN, and rounded to the nearest
 * integer, ties to even. Requires bits <= 30 and n < 2^32. Cost: one read.
 */
int64_t dpf_grid_sum(const void *x, bool wide, size_t n, unsigned bits);

#endif
