/*
 * bits.h - packed 0/1 matrices, 64 entries to a word, the first in bit 0.
 *
 * A matrix of n rows and d columns is kept as n runs of DPF_WORDS(d) words
 * (row-major) or as d runs of DPF_WORDS(n) words (column-major); the second is
 * the first of the transpose, so one set of kernels serves both. Bits past the
 * end of a run are zero, on input and on output.
 */
#ifndef DPF_BITS_H
#define DPF_BITS_H

#include "dpf.h"

/*
 * rows = packed x, for bytes x[i * d + j] of 0 or 1. Returns the bitwise or of
 * all bytes read: more than 1 means that the input was not 0/1.
 *
 *   x     n * d               read
 *   rows  n * DPF_WORDS(d)    written
 *
 * Eight bytes to a byte by three shifts, many at a time. Cost: one read of x.
 */
uint8_t dpf_bits_pack(const uint8_t *x, size_t n, size_t d, uint64_t *DPF_RESTRICT rows);

/* x = the n * d bytes of packed rows; the inverse of dpf_bits_pack. */
void dpf_bits_unpack(const uint64_t *rows, size_t n, size_t d, uint8_t *DPF_RESTRICT x);

/*
 * Sets bit index[p] of run i for indptr[i] <= p < indptr[i + 1]: one CSR matrix
 * packed by rows, or one CSC matrix by columns. rows starts zeroed.
 */
/*@ requires n < SIZE_MAX && n * words <= 144115188075855872 && \valid(rows + (0 .. n * words - 1));
    requires \valid_read(indptr + (0 .. n)) && \forall integer i; 0 <= i <= n ==> indptr[i] >= 0;
    requires \forall integer i, p; 0 <= i < n && indptr[i] <= p < indptr[i + 1] ==>
        0 <= p && \valid_read(index + p) && 0 <= index[p] < 64 * words;
    requires \separated(rows + (0 .. n * words - 1), indptr + (0 .. n), index + (0 .. INT32_MAX));
    assigns rows[0 .. n * words - 1]; */
void dpf_bits_scatter32(const int32_t *indptr, const int32_t *index, size_t n, size_t words,
                        uint64_t *DPF_RESTRICT rows);
/*@ requires n < SIZE_MAX && n * words <= 144115188075855872 && \valid(rows + (0 .. n * words - 1));
    requires \valid_read(indptr + (0 .. n)) && \forall integer i; 0 <= i <= n ==> indptr[i] >= 0;
    requires \forall integer i, p; 0 <= i < n && indptr[i] <= p < indptr[i + 1] ==>
        0 <= p && \valid_read(index + p) && 0 <= index[p] < 64 * words;
    requires \separated(rows + (0 .. n * words - 1), indptr + (0 .. n), index + (0 .. INT64_MAX));
    assigns rows[0 .. n * words - 1]; */
void dpf_bits_scatter64(const int64_t *indptr, const int64_t *index, size_t n, size_t words,
                        uint64_t *DPF_RESTRICT rows);

/*
 * columns = rows transposed.
 *
 *   rows     n * DPF_WORDS(d)    read
 *   columns  d * DPF_WORDS(n)    written
 *
 * By tiles of 512 x 512 bits, so that both sides are touched in whole cache lines, and
 * along the shorter side, which is then read or written in order. Blocks of 64 x 64 by
 * swapping ever smaller halves (Hacker's Delight, 7-3), eight at a time, six swaps of
 * half their words in two passes over them. 34 KB of stack.
 */
void dpf_bits_transpose(const uint64_t *rows, size_t n, size_t d, uint64_t *DPF_RESTRICT columns);

/* The number of ones in `size` words. */
/*@ requires \valid_read(words + (0 .. size - 1)) && size <= 144115188075855872;
    assigns \nothing;
    ensures \result == ones_of(words, size); */
uint64_t dpf_bits_popcount(const uint64_t *words, size_t size);

/* out = a & b, or a & ~b, word by word; returns the number of ones. out may be a or b. */
/*@ requires \valid_read(a + (0 .. size - 1)) && \valid_read(b + (0 .. size - 1)) && \valid(out + (0 .. size - 1));
    requires size <= 144115188075855872;
    assigns out[0 .. size - 1];
    ensures \result <= 64 * size; */
uint64_t dpf_bits_and(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out);
/*@ requires \valid_read(a + (0 .. size - 1)) && \valid_read(b + (0 .. size - 1)) && \valid(out + (0 .. size - 1));
    requires size <= 144115188075855872;
    assigns out[0 .. size - 1];
    ensures \result <= 64 * size; */
uint64_t dpf_bits_andnot(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out);

/* at = the positions of the ones among `size` words, in increasing order; returns how many. */
/*@ requires \valid_read(words + (0 .. size - 1)) && size <= 144115188075855872;
    requires \valid(at + (0 .. ones_of(words, size) - 1));
    requires \separated(at + (0 .. ones_of(words, size) - 1), words + (0 .. size - 1));
    assigns at[0 .. ones_of{Pre}(words, size) - 1];
    ensures \result == ones_of{Pre}(words, size);
    ensures \forall integer i; 0 <= i < \result ==> 0 <= at[i] < 64 * size; */
size_t dpf_bits_nonzero(const uint64_t *words, size_t size, int64_t *DPF_RESTRICT at);

/*
 * out = column j of n rows of `words` words, on the rows in `chosen`, n packed bits; zero elsewhere.
 * Cost: a line of each row in `chosen`.
 */
void dpf_bits_column(const uint64_t *rows, size_t n, size_t words, size_t j, const uint64_t *chosen,
                     uint64_t *DPF_RESTRICT out);

/* Words of a row that a positional popcount works on at a time, and its scratch, in words. */
enum { DPF_BITS_BLOCK = 512, DPF_BITS_SCRATCH = 37 * DPF_BITS_BLOCK };

/*
 * out[j] = the number of rows whose entry j is 1, over the m rows index[0..m),
 * or over rows 0..m-1 when index is NULL. Row i starts at word i * stride. Where
 * label is not NULL, rows of a negative label are read flipped: out counts the rows
 * whose entry agrees with their label.
 *
 *   rows     n * stride         the chosen ones are read, nothing past the last one
 *   label    a row each         read, chosen or not, or NULL
 *   scratch  DPF_BITS_SCRATCH
 *   out      d                  written
 *
 * Bit-sliced counters: four or sixteen rows at a time go through a tree of
 * carry-save adders (Harley and Seal), five operations a row and word whatever its
 * 64 entries are; a carry of weight 2^k waits for its twin, so that the counters
 * above the tree cost one more adder a time, amortised. The planes become numbers
 * every 2^16 rows. Columns go by blocks whose counters stay in a near cache, and
 * rows in the order that memory likes. Cost: one read of the rows.
 */
void dpf_bits_positional_popcount(const uint64_t *rows, size_t n, size_t stride, const int64_t *index,
                                  const int8_t *label, size_t m, size_t d, uint64_t *DPF_RESTRICT scratch,
                                  int64_t *DPF_RESTRICT out);

/*
 * out_i = the conjunction of the k literals code[i * k .. i * k + k), for m of them.
 * A code is 2 * j for column j, 2 * j + 1 for its negation, -1 for the constant true.
 *
 *   columns  any * DPF_WORDS(n)   read
 *   out      m * DPF_WORDS(n)     written
 */
void dpf_bits_conjunctions(const uint64_t *columns, size_t n, const int64_t *code, size_t m, size_t k,
                           uint64_t *DPF_RESTRICT out);

#endif
