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
 * n rows of d entries, on a grid of 2^bits. x points to all entries of dense rows, to the stored ones of CSR rows (NULL
 * if all are 1), both float or, if wide, double; or to the words of packed rows. ones[i] tells that all stored entries of
 * CSR row i are 1: they are not read, and what the row becomes is what they would have made of it.
 */
typedef enum { DPF_UNIT_ROWS_DENSE, DPF_UNIT_ROWS_CSR, DPF_UNIT_ROWS_PACKED } dpf_unit_rows_kind;
typedef struct {
    dpf_unit_rows_kind kind;
    bool wide;
    const void *x;
    const int64_t *indptr;
    const int32_t *indices;
    const uint8_t *ones;
    size_t n, d;
    unsigned bits;
} dpf_unit_rows;

/*
 * A checksum of n words of 32 bits, by which an array that was changed is told, rows or columns that were exchanged too.
 * Not secret: whoever wants to can find another array of the same checksum. One read of x.
 */
uint64_t dpf_unit_rows_checksum(const void *x, size_t n);

/* The checksums of consecutive blocks of n >= 1 dense rows, of which there are so many. */
size_t dpf_unit_rows_blocks(const dpf_unit_rows *rows);
void dpf_unit_rows_checksums(const dpf_unit_rows *rows, uint64_t *DPF_RESTRICT checksum);

/* ---- scales ------------------------------------------------------------ */

/*
 * scale[i] = 2^bits / |(x_i, constant)|, a little less; with `inside`, 2^bits at most, so that rows inside the
 * ball stay as they are. 0 for a row of floats of norm below 1e-30, or of doubles below 1e-300, if not `inside`. Finite x,
 * of any size: no square overflows or vanishes.
 */
void dpf_unit_rows_scale(const dpf_unit_rows *rows, double constant, bool inside, double *DPF_RESTRICT scale);

/* Whether all scales lie in [0, most), as the sums below want them. */
bool dpf_unit_rows_scales_within(const double *scale, size_t n, double most);

/* ---- margins ----------------------------------------------------------- */

/*
 * margin[i] = <w, (x_i, constant)> * scale[i] / 2^bits for finite w of d + 1 entries, clipped to [-1, 1]. For packed rows
 * w is rounded to 2^-19 of its largest entry, and its bits are laid out in
 *
 *   plane  DPF_UNIT_ROWS_PLANE_WORDS(d)   scratch; NULL for other rows
 */
enum { DPF_UNIT_ROWS_PLANES = 20, DPF_UNIT_ROWS_CHUNK = 128 };
#define DPF_UNIT_ROWS_PLANE_WORDS(d) ((DPF_WORDS(d) + DPF_UNIT_ROWS_CHUNK) * DPF_UNIT_ROWS_PLANES)
void dpf_unit_rows_margins(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                           uint64_t *DPF_RESTRICT plane, float *DPF_RESTRICT margin);

/* ---- sums -------------------------------------------------------------- */

/*
 * total[j] += sum_i weight[i] q_ij for j <= d. Requires |weight| <= 2^12, so that 32 bits hold the sums of some rows,
 * n < 2^31, and bits <= 17. Rows of weight 0 are not read.
 */
void dpf_unit_rows_add(const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *weight,
                       int64_t *DPF_RESTRICT total);

/* ---- residuals ----------------------------------------------------------- */

/*
 * total[j] += sum_i r_i q_ij for j <= d, and total[d + 1] += sum_i r_i, for the residuals r_i by margin (logistic.h) of
 * scores odds + slope * margin[i]. The same as margins, residuals and `dpf_unit_rows_add` one after another, but
 * block by block, so that rows come from memory once. n >= 1.
 *
 *   label     n, 0 or 1                                         read
 *   limit     n, 0 to 2^12                                      read
 *   checksum  dpf_unit_rows_blocks(rows), or NULL: not checked  read
 *   plane     as for margins
 *   total     d + 2
 *
 * False, and later blocks are not read, if a block has not its checksum any more.
 */
bool dpf_unit_rows_residuals(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                             float slope, float odds, const uint8_t *label, const int32_t *limit,
                             const uint64_t *checksum, uint64_t *DPF_RESTRICT plane, int64_t *DPF_RESTRICT total);

/*
 * The same for k >= 2 classes with the residuals of logistic.h for scores odds[c] + slope * <w_c, ...>, where w has d + 1
 * entries for each class, and total d + 2. A block is read from memory once, and 2 k times from the cache.
 *
 *   odds      k                                               read
 *   label     n, below k                                      read
 *   lane      DPF_LOGISTIC_LANES(k) floats                    scratch
 *   score     k for each of dpf_unit_rows_in_block(rows)      scratch, as residual is
 */
size_t dpf_unit_rows_in_block(const dpf_unit_rows *rows);
bool dpf_unit_rows_residuals_many(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                                  size_t k, float slope, const float *odds, const uint16_t *label,
                                  const int32_t *limit, const uint64_t *checksum, uint64_t *DPF_RESTRICT plane,
                                  float *DPF_RESTRICT lane, float *DPF_RESTRICT score, int32_t *DPF_RESTRICT residual,
                                  int64_t *DPF_RESTRICT total);

/* ---- apart --------------------------------------------------------------- */

/*
 * apart[i] = |q_i - centre|^2 - |centre|^2, exactly. Requires |centre| <= 2^18 and bits <= 17.
 *
 *   centre  d + 1   read
 *   apart   n       written
 */
void dpf_unit_rows_apart(const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *centre,
                         int64_t *DPF_RESTRICT apart);

#endif
