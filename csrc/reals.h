/*
 * reals.h - sums, products, exponentials, logarithms, mixtures and halves of doubles: the same bits on every machine.
 *
 * A sum is of LANES sums in a fixed order, whatever the machine has to add with; nothing is fused or reordered. Libraries
 * for linear algebra and for mathematical functions choose their loops by the processor, and round differently.
 */
#ifndef DPF_REALS_H
#define DPF_REALS_H

#include "dpf.h"

double dpf_reals_sum(const double *x, size_t n);

/* out[i] = <row_i, w> for n dense rows of d entries: one read. Every row by itself. */
void dpf_reals_products(const double *x, size_t n, size_t d, const double *w, double *DPF_RESTRICT out);

/* The same for CSR rows, which begin and end at indptr[0..n]; entries are added in their order. */
void dpf_reals_products_csr(const int64_t *indptr, const int32_t *indices, const double *data, size_t n, const double *w,
                            double *DPF_RESTRICT out);

/* exp(x) within one unit in the last place for x in [-708, 708]; 0 below. */
void dpf_reals_exp(const double *x, size_t n, double *DPF_RESTRICT out);

/* The natural logarithm of normal positive numbers, within two units in the last place. */
void dpf_reals_log(const double *x, size_t n, double *DPF_RESTRICT out);

/*
 * share[i] = what is kept of value i, given the square of it over the variance of its noise, and a step by expectation
 * maximization of the weights of the scales that values may have: see dpfast/learners/halfspaces/scales.py.
 *
 * Squares count as the middle of their level l, which ends where level l + 1 begins; level 0 has all that are less. A
 * scale s has the density (1 + s)^-1/2 exp(-middle / (2 + 2 s)) and keeps s / (1 + s). A value keeps the mean over the
 * scales by weight times density. The new weight of a scale is the sum over the values of its part in that mean, and
 * `rare`, or `prior` for the usual scale; divided by the sum of these.
 *
 *   square   n, the entries i * apart       read
 *   usual    the first scale, 0 or more     read
 *   begin    levels, rising                 read
 *   middle   levels                         read
 *   density  others * levels, scale by scale, of the scales other than the usual one, and
 *   kept     others, what they keep         read
 *   weight   1 + others                     changed in place
 *   share    n, the entries i * apart       written
 *
 * Requires others < DPF_REALS_SCALES and 0 < levels <= DPF_REALS_LEVELS.
 */
enum { DPF_REALS_SCALES = 16, DPF_REALS_LEVELS = 128 };
void dpf_reals_mixture(const double *square, size_t n, size_t apart, double usual, const double *begin,
                       const double *middle, size_t levels, const double *density, const double *kept, size_t others,
                       double prior, double rare, double *DPF_RESTRICT weight, double *DPF_RESTRICT share);

/*
 * out[i] = the part of `rows` that cell i has: half by half, evenly but where the noisy counts of two halves differ by more
 * than `likely`, so many times the deviation of a count, times that of the difference of their means. Then each half has its
 * share of their sums, of which one below `likely` times the root of its cells is 0; see dpfast/discovery/spread.py.
 *
 *   noisy  n   read
 *   out    n   written
 *
 * Requires n > 0. Cost: n additions for each of log2(n) levels, from the first cell to the last.
 */
void dpf_reals_halves(const double *noisy, size_t n, double rows, double likely, double *DPF_RESTRICT out);

/*
 * The coefficients of x in the Haar basis that are below `cut` in size become 0: x is changed in place.
 *
 *   x      n, a power of 2   changed
 *   apart  n                 scratch
 */
void dpf_reals_smooth(double *DPF_RESTRICT x, size_t n, double cut, double *DPF_RESTRICT apart);

#endif
