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

/*
 * The step of a grid for the entries of p columns, each of k numbers: row i has the numbers x[i * k] to x[i * k + k - 1],
 * and column j the rows start[j] to start[j + 1] - 1.
 *
 * It is the larger of range / ranges, where range is that of the numbers of one column, the most over columns and k, and
 * of sum / sums, where sum is that of the largest |x| of each column, the most over k; 1 if both are 0. NaN if a number
 * is not finite. Requires that every column has a row. Cost: one read.
 */
double dpf_grid_step(const double *x, const int64_t *start, size_t p, size_t k, double ranges, double sums);

/* q = x / step rounded to the nearest integer, ties to even, for |x / step| <= 2^31 - 1. */
void dpf_grid_round(const double *x, size_t n, double step, int32_t *DPF_RESTRICT q);

#endif
