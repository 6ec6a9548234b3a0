/*
 * signs.h - random projection by a matrix A of entries +-1/sqrt(m), m x d, that is stored as bits or made from
 * a key where it is needed, never as floats.
 *
 * The sign of (component r, coordinate j) is bit r % 64 of word(j, r / 64), 1 for +1, and 128 bits of key:
 *
 *     word(j, w) = mix(mix(key[0] + j * G) ^ (key[1] + w * H)),
 *
 * mix the finaliser of SplitMix64 (Steele, Lea, Flood 2014), G and H odd constants: a counter-based generator,
 * good enough for random projection (Achlioptas 2003) and not cryptographic. A is public in every use here.
 *
 * The stored form is `matrix`, d runs of DPF_WORDS(m) words, run j the signs of coordinate j, zeros past m.
 * Sums over the coordinates of a row go component by component in the order of the coordinates, so that
 * every level, and a row as CSR, dense or packed, gives identical bits.
 */
#ifndef DPF_SIGNS_H
#define DPF_SIGNS_H

#include "dpf.h"

/* matrix = the runs of coordinates first .. first + d - 1. */
void dpf_signs_matrix(const uint64_t key[2], size_t first, size_t d, size_t m, uint64_t *DPF_RESTRICT matrix);

/*
 * out[i * m + r] = (A x_i)_r for n CSR rows: row i has data[p] at coordinate indices[p] for
 * indptr[i] <= p < indptr[i + 1], or 1 if data is NULL. Entries and out are double if `wide`, else float. Signs
 * come from matrix, or from the key if that is NULL.
 *
 * Cost per stored entry: m signed additions, 16 a vector; in a row whose entries are all 1, bit-sliced counters of all m
 * components at once, about six operations for 256 of them, which give the same numbers. Requires indices >= 0, fewer
 * than 2^31 entries a row.
 */
void dpf_signs_csr(const int64_t *indptr, const int32_t *indices, const void *data, bool wide, size_t n,
                   const uint64_t *matrix, const uint64_t key[2], size_t m, void *DPF_RESTRICT out);

/* The same for n dense rows of d numbers. Cost: n * d * m signed additions; signs are unpacked once for 48 rows. */
void dpf_signs_dense(const void *x, bool wide, size_t n, size_t d, const uint64_t *matrix, size_t m,
                     void *DPF_RESTRICT out);

/*
 * The same for n packed rows of d bits (bits.h).
 *
 *   total  m   read: how many coordinates have sign +1, for each component
 *   at     d   scratch
 *
 * Exact until the last scaling. A row costs what its ones cost, or its zeros if they are fewer. Requires d < 2^30.
 */
void dpf_signs_packed(const uint64_t *rows, size_t n, size_t d, const uint64_t *matrix, const int64_t *total,
                      size_t m, int32_t *DPF_RESTRICT at, float *DPF_RESTRICT out);

/*
 * out[j] = (A' v)_j for d coordinates; v has 64 * DPF_WORDS(m) entries, zeros past m. Sixteen partial sums, by
 * r % 16, are added up in pairs. Cost: d * m signed additions.
 */
void dpf_signs_lift(const double *v, const uint64_t key[2], size_t m, size_t d, size_t from, size_t to,
                    double *DPF_RESTRICT out);

#endif
