/*
 * reals.h - sums, products, exponentials and logarithms of doubles: the same bits on every machine.
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

#endif
