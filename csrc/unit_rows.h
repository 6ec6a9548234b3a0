/*
 * unit_rows.h - rows of the unit ball on an integer grid: what a private halfspace learner reads.
 *
 * Row i is the vector (x_i, constant) of d + 1 entries, the last one for the intercept (constant may be
 * 0), times a scale of its own that brings it into the ball of radius 2^bits. On the grid its entries are
 * q_ij = trunc(scale[i] * x_ij), rounded towards zero, so that their Euclidean norm is at most 2^bits
 * exactly and sums of weighted rows are integers: the same in every order, for every block and thread, and
 * what one row can change in them is known exactly (docs/privacy.md). Margins are floats: they are
 * computed from what was released and from one row each, and no claim rests on them.
 *
 * Rows are dense float or double, CSR, or packed 0/1 (bits.h). Dense x: n * d, read once by each function here. The
 * same bits at every instruction-set level, and what a row becomes depends on that row and its type alone.
 */
#ifndef DPF_UNIT_ROWS_H
#define DPF_UNIT_ROWS_H

#include "dpf.h"

/*
 * CSR rows, whose data is an argument of its own. ones[i] tells that all entries of row i are 1: its data is not read,
 * and what it becomes is what its data would have made of it.
 */
typedef struct {
    const int64_t *indptr;
    const int32_t *indices;
    const uint8_t *ones;
} dpf_unit_csr;

/*
 * A checksum of n words of 32 bits, by which an array that was changed is told, rows or columns that were exchanged too.
 * Not secret: whoever wants to can find another array of the same checksum. One read of x.
 */
uint64_t dpf_unit_rows_checksum(const void *x, size_t n);

/* ---- scales ------------------------------------------------------------ */

/*
 * scale[i] = 2^bits / |(x_i, constant)|, a little less; with `inside`, 2^bits at most, so that rows inside the
 * ball stay as they are. 0 for a row of norm below 1e-30 if not `inside`. Finite x, however large: no square overflows.
 */
void dpf_unit_rows_scale_float(const float *x, size_t n, size_t d, double constant, bool inside, unsigned bits,
                               double *DPF_RESTRICT scale);
void dpf_unit_rows_scale_double(const double *x, size_t n, size_t d, double constant, bool inside, unsigned bits,
                                double *DPF_RESTRICT scale);
void dpf_unit_rows_scale_csr_float(const dpf_unit_csr *rows, const float *data, size_t n, double constant, bool inside,
                                   unsigned bits, double *DPF_RESTRICT scale);
void dpf_unit_rows_scale_csr_double(const dpf_unit_csr *rows, const double *data, size_t n, double constant,
                                    bool inside, unsigned bits, double *DPF_RESTRICT scale);
void dpf_unit_rows_scale_packed(const uint64_t *rows, size_t n, size_t d, double constant, bool inside, unsigned bits,
                                double *DPF_RESTRICT scale);

/* Whether all scales lie in [0, most), as the sums below want them. */
bool dpf_unit_rows_scales_within(const double *scale, size_t n, double most);

/* ---- margins ----------------------------------------------------------- */

/* margin[i] = <w, (x_i, constant)> * scale[i] / 2^bits for w of d + 1 entries, clipped to [-1, 1]. */
void dpf_unit_rows_margins_float(const float *x, size_t n, size_t d, double constant, unsigned bits,
                                 const double *scale, const float *w, float *DPF_RESTRICT margin);
void dpf_unit_rows_margins_double(const double *x, size_t n, size_t d, double constant, unsigned bits,
                                  const double *scale, const float *w, float *DPF_RESTRICT margin);
void dpf_unit_rows_margins_csr_float(const dpf_unit_csr *rows, const float *data, size_t n, size_t d, double constant,
                                     unsigned bits, const double *scale, const float *w, float *DPF_RESTRICT margin);
void dpf_unit_rows_margins_csr_double(const dpf_unit_csr *rows, const double *data, size_t n, size_t d, double constant,
                                      unsigned bits, const double *scale, const float *w, float *DPF_RESTRICT margin);

/*
 * Packed rows want w in bit planes: w_j = step * (v_j - 2^(PLANES - 1)) for integers v_j of PLANES bits, to within step / 2;
 * a product is then a sum of popcounts of row & plane, in integers. Planes come by chunks of words, and repeat where
 * several rows fit into a chunk, so that rows are taken together. Returns step; finite w.
 *
 *   plane  DPF_UNIT_ROWS_PLANE_WORDS(d)   written
 */
enum { DPF_UNIT_ROWS_PLANES = 20, DPF_UNIT_ROWS_CHUNK = 128 };
#define DPF_UNIT_ROWS_PLANE_WORDS(d) ((DPF_WORDS(d) + DPF_UNIT_ROWS_CHUNK) * DPF_UNIT_ROWS_PLANES)
double dpf_unit_rows_planes(const float *w, size_t d, uint64_t *DPF_RESTRICT plane);

/* w_constant is w[d]. */
void dpf_unit_rows_margins_packed(const uint64_t *rows, size_t n, size_t d, double constant, unsigned bits,
                                  const double *scale, float w_constant, const uint64_t *plane, double step,
                                  float *DPF_RESTRICT margin);

/* ---- sums -------------------------------------------------------------- */

/*
 * total[j] += sum_i weight[i] q_ij for j <= d. Requires |weight| <= 2^12, so that 32 bits hold the sums of some rows,
 * n < 2^31, and bits <= 17. Rows of weight 0 are not read.
 */
void dpf_unit_rows_add_float(const float *x, size_t n, size_t d, double constant, const double *scale,
                             const int32_t *weight, int64_t *DPF_RESTRICT total);
void dpf_unit_rows_add_double(const double *x, size_t n, size_t d, double constant, const double *scale,
                              const int32_t *weight, int64_t *DPF_RESTRICT total);
void dpf_unit_rows_add_csr_float(const dpf_unit_csr *rows, const float *data, size_t n, size_t d, double constant,
                                 const double *scale, const int32_t *weight, int64_t *DPF_RESTRICT total);
void dpf_unit_rows_add_csr_double(const dpf_unit_csr *rows, const double *data, size_t n, size_t d, double constant,
                                  const double *scale, const int32_t *weight, int64_t *DPF_RESTRICT total);
void dpf_unit_rows_add_packed(const uint64_t *rows, size_t n, size_t d, double constant, const double *scale,
                              const int32_t *weight, int64_t *DPF_RESTRICT total);

/* ---- apart --------------------------------------------------------------- */

/*
 * apart[i] = |q_i - centre|^2 - |centre|^2, exactly. Requires |centre| <= 2^18 and bits <= 17.
 *
 *   centre  d + 1   read
 *   apart   n       written
 */
void dpf_unit_rows_apart_float(const float *x, size_t n, size_t d, double constant, const double *scale,
                               const int32_t *centre, int64_t *DPF_RESTRICT apart);
void dpf_unit_rows_apart_double(const double *x, size_t n, size_t d, double constant, const double *scale,
                                const int32_t *centre, int64_t *DPF_RESTRICT apart);
void dpf_unit_rows_apart_csr_float(const dpf_unit_csr *rows, const float *data, size_t n, size_t d, double constant,
                                   const double *scale, const int32_t *centre, int64_t *DPF_RESTRICT apart);
void dpf_unit_rows_apart_csr_double(const dpf_unit_csr *rows, const double *data, size_t n, size_t d, double constant,
                                    const double *scale, const int32_t *centre, int64_t *DPF_RESTRICT apart);
void dpf_unit_rows_apart_packed(const uint64_t *rows, size_t n, size_t d, double constant, const double *scale,
                                const int32_t *centre, int64_t *DPF_RESTRICT apart);

#endif
