/*
 * integer_matrix.h - sparse matrices of integers, row by row: products with doubles, and with integers from the left.
 *
 * Row r has the entries value[start[r]] to value[start[r + 1] - 1], in the columns column[...]; `real` has the same
 * values as doubles.
 */
#ifndef DPF_INTEGER_MATRIX_H
#define DPF_INTEGER_MATRIX_H

#include "dpf.h"

typedef struct {
    const int64_t *start;
    const int32_t *column;
    const int64_t *value;
    const double *real;
    size_t rows;
} dpf_integer_matrix;

/*
 * out[r * k + c] = sum over the entries of row r of real * w[column * k + c], in their order; nothing is fused, so that
 * the result is the same on every machine.
 */
void dpf_integer_matrix_products(const dpf_integer_matrix *matrix, const double *w, size_t k,
                                 double *DPF_RESTRICT out);

/* out[column * k + c] += sum over the rows r of value * weight[r * k + c], modulo 2^64. */
void dpf_integer_matrix_add(const dpf_integer_matrix *matrix, const int64_t *weight, size_t k,
                            int64_t *DPF_RESTRICT out);

#endif
