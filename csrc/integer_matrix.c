#include "integer_matrix.h"

DPF_BODY void products(const dpf_integer_matrix *matrix, const double *w, size_t k, double *DPF_RESTRICT out) {
    for (size_t r = 0; r < matrix->rows; r++) {
        for (size_t c = 0; c < k; c++) {
            double total = 0;
            for (int64_t e = matrix->start[r]; e < matrix->start[r + 1]; e++)
                total += matrix->real[e] * w[(size_t)matrix->column[e] * k + c];
            out[r * k + c] = total;
        }
    }
}

void dpf_integer_matrix_products(const dpf_integer_matrix *matrix, const double *w, size_t k,
                                 double *DPF_RESTRICT out) {
    if (k == 1) products(matrix, w, 1, out);
    else products(matrix, w, k, out);
}

DPF_BODY void add(const dpf_integer_matrix *matrix, const int64_t *weight, size_t k, int64_t *DPF_RESTRICT out) {
    for (size_t r = 0; r < matrix->rows; r++)
        for (int64_t e = matrix->start[r]; e < matrix->start[r + 1]; e++)
            for (size_t c = 0; c < k; c++) {
                int64_t *sum = out + (size_t)matrix->column[e] * k + c;
                *sum = (int64_t)((uint64_t)*sum + (uint64_t)matrix->value[e] * (uint64_t)weight[r * k + c]);
            }
}

void dpf_integer_matrix_add(const dpf_integer_matrix *matrix, const int64_t *weight, size_t k,
                            int64_t *DPF_RESTRICT out) {
    if (k == 1) add(matrix, weight, 1, out);
    else add(matrix, weight, k, out);
}
