#include "integer_matrix.h"
#include "dpf_cpu.h"

enum { LANES = 8 }; /* entries of a row of w or out that are computed together */

/* The first `kept` of k products. */
DPF_BODY void products(const dpf_integer_matrix *matrix, const double *w, size_t k, size_t kept,
                       double *DPF_RESTRICT out) {
    for (size_t r = 0; r < matrix->rows; r++) {
        double total[LANES] = {0};
        for (int64_t e = matrix->start[r]; e < matrix->start[r + 1]; e++)
            for (size_t c = 0; c < kept; c++) total[c] += matrix->real[e] * w[(size_t)matrix->column[e] * k + c];
        for (size_t c = 0; c < kept; c++) out[r * k + c] = total[c];
    }
}

DPF_BODY void add(const dpf_integer_matrix *matrix, const int64_t *weight, size_t k, size_t kept,
                  int64_t *DPF_RESTRICT out) {
    for (size_t r = 0; r < matrix->rows; r++)
        for (int64_t e = matrix->start[r]; e < matrix->start[r + 1]; e++)
            for (size_t c = 0; c < kept; c++) {
                int64_t *sum = out + (size_t)matrix->column[e] * k + c;
                *sum = (int64_t)((uint64_t)*sum + (uint64_t)matrix->value[e] * (uint64_t)weight[r * k + c]);
            }
}

DPF_BODY void products_of(const dpf_integer_matrix *matrix, const double *w, size_t k, double *DPF_RESTRICT out) {
    size_t c = 0;
    for (; k - c >= LANES; c += LANES) products(matrix, w + c, k, LANES, out + c);
    if (k - c == 1) products(matrix, w + c, k, 1, out + c);
    else if (k - c) products(matrix, w + c, k, k - c, out + c);
}
DPF_LEVELS(void, dpf_integer_matrix_products, products_of,
           (const dpf_integer_matrix *matrix, const double *w, size_t k, double *DPF_RESTRICT out),
           (matrix, w, k, out))

DPF_BODY void add_of(const dpf_integer_matrix *matrix, const int64_t *weight, size_t k, int64_t *DPF_RESTRICT out) {
    if (k == 1) add(matrix, weight, 1, 1, out);
    else add(matrix, weight, k, k, out);
}
DPF_LEVELS(void, dpf_integer_matrix_add, add_of,
           (const dpf_integer_matrix *matrix, const int64_t *weight, size_t k, int64_t *DPF_RESTRICT out),
           (matrix, weight, k, out))
