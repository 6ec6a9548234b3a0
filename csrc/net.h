/*
 * net.h - a net of the unit sphere of R^m, and how many rows each of its members gets wrong.
 *
 * For 2 <= m <= 32 and an odd side k, a point is an integer vector p with one coordinate, its face, equal to k, and every
 * other one among -(k-1), -(k-3), ..., k-1. The members are p / |p| and -p / |p| over all points p: 2 m k^(m-1) of them.
 * Every unit vector u lies within sqrt(m-1) / k of a member: u or -u, stretched until its largest coordinate is k, lies
 * on a face, within sqrt(m-1) of the point p in the middle of its cell; stretching those two back by 1/k leaves them
 * outside the open unit ball, and projecting onto a ball brings no two vectors farther apart.
 *
 * A line is all members whose points differ in one coordinate, the inner one: the last one, or the last but one on the
 * last face. Lines are numbered by face, then by the places of the outer coordinates in rising order, in base k. Within
 * a line, member j < k is that of the point whose inner coordinate is 2j - (k-1), and member k + j the opposite one.
 *
 * A row z, its label multiplied in, is right under the member w if <w, z> >= tau / 2. Along a line <p, z> = a + b t
 * is linear in the inner coordinate t and |p| = sqrt(c + t^2) is convex, so a row is right on an interval for p and on
 * another one for -p. The ends of both are the two roots of one quadratic, (a + b t)^2 = (tau / 2)^2 (c + t^2): a row
 * costs two table entries a line, not 2k products.
 *
 * Exact, though in doubles. Multiplied by 4 all coefficients are integers below 2^53, tau and all c + t^2 are odd, so
 * that no discriminant, leading coefficient or value at a place t is zero; a value of at least 1 keeps every root at
 * least 1 / (2 tau sqrt(D)) away from every t; rounding moves it by less than half of that, and what makes it a place of
 * a table by less than another third, if
 *
 *   tau odd,  tau <= 2^(bits+1) / 10 + 1,   |z| <= 2^bits + m/2 for all rows,   and
 *   (m-1) k^2 (2^(bits+1) + m)^2 <= 2^51.
 */
#ifndef DPF_NET_H
#define DPF_NET_H

#include "dpf.h"

enum { DPF_NET_LARGEST_M = 32 };

/* Rows in the unit ball on a grid of 2^-bits, column by column, and what a line needs to know of them. */
typedef struct {
    const int32_t *z;      /* z[j * n + i]: coordinate j of row i */
    const double *inverse; /* 1 / (b^2 - tau^2), b = 2 z[j]: n for j = m-1, then n for j = m-2 */
    const int64_t *ends;   /* rows with b > tau, and with b < -tau, for j = m-1; the same for j = m-2 */
    size_t n, m;
    int64_t side, tau;
} dpf_net;

/*
 * Fills inverse[2n] and ends[4] from the rest of *net.
 */
void dpf_net_prepare(const dpf_net *net, double *DPF_RESTRICT inverse, int64_t *DPF_RESTRICT ends);

/*
 * wrong[w] = the number of rows that are not right under member w of line `line`, for w < 2 side.
 *
 *   scratch  4 * (side + 1)  overwritten
 *   wrong    2 * side        written
 *
 * n < 2^31. Time: a root and a division for each row, and the members. The same bits at every instruction-set level.
 */
void dpf_net_line(const dpf_net *net, uint64_t line, uint32_t *DPF_RESTRICT scratch, uint32_t *DPF_RESTRICT wrong);

/* histogram[g] += the number of members of lines start, ..., stop - 1 that get g rows wrong; buffers as for line. */
void dpf_net_count(const dpf_net *net, uint64_t start, uint64_t stop, uint32_t *DPF_RESTRICT scratch,
                   uint32_t *DPF_RESTRICT wrong, uint64_t *DPF_RESTRICT histogram);

/*
 * The line of member number *rank (from 0) among those of lines start, ..., stop - 1 that get `level` rows wrong, its
 * number within the line in *rank; or `stop`, *rank lowered by how many there are, if they do not suffice.
 */
uint64_t dpf_net_find(const dpf_net *net, uint64_t start, uint64_t stop, uint32_t level, uint32_t *DPF_RESTRICT scratch,
                      uint32_t *DPF_RESTRICT wrong, uint64_t *rank);

#endif
