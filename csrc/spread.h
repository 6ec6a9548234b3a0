/*
 * spread.h - noisy numbers of rows in cells along a line, and ends of cells and of bins that follow from them:
 * dpfast/discovery/spread.py says what for. The same bits on every machine: sums are added in the order that is written,
 * and nothing is fused.
 *
 * Cell i of n lies between end[i] and end[i + 1], which rise, and has row[i] >= 0 rows; `total` is about their sum. A cell
 * holds rows if it has some.
 */
#ifndef DPF_SPREAD_H
#define DPF_SPREAD_H

#include "dpf.h"

/* What numbers may be ends: whole ones or any, but none nearer to 0 than `least`, from `low` to `high`. */
typedef struct {
    bool whole;
    double least, low, high;
} dpf_spread_grid;

/* x = floor(x) if whole; least if 0 < x < least and 0 if -least < x <= 0; the nearest from low to high. */
void dpf_spread_snap(double *x, size_t n, const dpf_spread_grid *grid);

/* Put numbers in increasing order, each once; return how many are left. Cost: n^2 for numbers in no order. */
size_t dpf_spread_distinct(double *x, size_t n);

/* out[k] = low + k (high - low) / parts for k from 0 to parts: parts + 1 written. */
void dpf_spread_steps(double low, double high, size_t parts, double *DPF_RESTRICT out);

/* row[i] = noisy[i] if it is above `sure`, or above `likely` beside another one above it, else 0; return how many are not. */
size_t dpf_spread_clear(const double *noisy, size_t n, double likely, double sure, double *DPF_RESTRICT row);

/*
 * Parts of the cells that hold rows: max(1, floor(min(cells row / total, row / least))) of equal length for each.
 *
 *   out  written: the ends of the parts, from cell to cell, the common end of two cells once
 *
 * Return how many are written: at most 2 `cells` + 2 n.
 */
size_t dpf_spread_divide(const double *row, const double *end, size_t n, double total, size_t cells, double least,
                         double *DPF_RESTRICT out);

/*
 * at[k] = the number below which rank[k] total rows lie, if they are spread evenly within a cell; rounded down to a whole
 * number, or the lower end of the cell, if `whole` and inside of it.
 *
 *   below  n + 1   written: the rows below each end
 *
 * Requires n > 0.
 */
void dpf_spread_quantiles(const double *row, const double *end, size_t n, double total, const double *rank,
                          size_t ranks, bool whole, double *DPF_RESTRICT below, double *DPF_RESTRICT at);

/*
 * kept = those of m rising edges that separate rows: more than `some` lie between each and the one before, and beyond it.
 *
 *   below  n + 1       written, as for dpf_spread_quantiles
 *   kept   at most m   written
 *
 * Return how many are kept. Requires n > 0.
 */
size_t dpf_spread_part(const double *row, const double *end, size_t n, double total, double some, const double *edge,
                       size_t m, double *DPF_RESTRICT below, double *DPF_RESTRICT kept);

/*
 * What a look at m parts of cells, with the ends part_end[0..m] on the grid, confirms of the n cells.
 *
 * A part has the rows noisy[k] where these are above `likely`, or 0. But the own parts of a cell that holds rows, or the one
 * that it shares, have what dpf_reals_halves gives them of its rows, if the cell is confirmed, or else 0. It is if the
 * sum s of noisy over its q parts is above row / 2, or s + w row is above sure sqrt(v (1 + w)), with v = q variance and
 * w = v / before.
 *
 *   rest  n   written: the rows of confirmed cells, 0 for others
 *   part  m   written
 *   half  m   written
 *
 * Sums are those of eight, and of halves of more than 128.
 */
typedef struct {
    double likely, sure, variance, before;
} dpf_spread_noise;
void dpf_spread_refine(const double *row, const double *end, size_t n, const double *noisy, const double *part_end,
                       size_t m, const dpf_spread_grid *grid, const dpf_spread_noise *noise, double *DPF_RESTRICT rest,
                       double *DPF_RESTRICT part, double *DPF_RESTRICT half);

#endif
