/*
 * cells.h - codes of the cells of a table about which nothing is declared: see dpfast/tables/cells.py.
 *
 * A code is a date (0 to DPF_CELLS_DATES - 1), a number (from there to MISSING - 1, in increasing order), MISSING, or a word
 * (MISSING + 1 + its number). Columns are kept as codes of eight bytes, or compact in one, two or four: four times an integer,
 * plus its kind. The integer is a whole number, a day, the number of a word (less 1: -1 is a missing cell), or, of a decimal
 * fraction, the fraction times 10^places, where a column has one number of places. A fraction is kept so only if the integer
 * over 10^places, rounded to a double, is the same number: nothing is lost. Every function maps one cell at a time.
 */
#ifndef DPF_CELLS_H
#define DPF_CELLS_H

#include "dpf.h"

enum { DPF_CELLS_BITS = 52, DPF_CELLS_LEAST = -20, DPF_CELLS_MOST = 44 }; /* of mantissa, and powers of two of numbers */
enum { DPF_CELLS_POWERS = DPF_CELLS_MOST - DPF_CELLS_LEAST, DPF_CELLS_DATES = 1 << 16 };
#define DPF_CELLS_SIDE ((int64_t)DPF_CELLS_POWERS << DPF_CELLS_BITS) /* codes of one sign */
#define DPF_CELLS_ZERO (DPF_CELLS_DATES + DPF_CELLS_SIDE)
#define DPF_CELLS_MISSING (DPF_CELLS_ZERO + DPF_CELLS_SIDE + 1)

/* The code of each of n numbers, MISSING for NaN. One read. */
void dpf_cells_of_numbers(const double *x, size_t n, int64_t *DPF_RESTRICT code);

/*
 * The decimal places, at least `places`, that all fractions among these codes have; more than DPF_CELLS_PLACES if there are
 * none, or if an integer had more than 29 bits. Stops at the first fraction without.
 */
enum { DPF_CELLS_PLACES = 9 };
unsigned dpf_cells_places(const int64_t *code, size_t n, unsigned places);

/*
 * The bytes that compact cells of these codes need, with so many places: 1, 2 or 4; 8 if there are none. Stops soon after a
 * number without.
 */
unsigned dpf_cells_bytes(const int64_t *code, size_t n, unsigned places);

/* Compact cells of that many bytes. */
void dpf_cells_compact(const int64_t *code, size_t n, unsigned places, unsigned bytes, void *DPF_RESTRICT cells);

/* A column, or some rows of it. */
typedef struct {
    const void *cells;
    size_t n;
    unsigned bytes;  /* of a cell: 1, 2, 4 or 8 */
    unsigned places; /* at most DPF_CELLS_PLACES */
} dpf_cells_stored;

void dpf_cells_expand(dpf_cells_stored stored, int64_t *DPF_RESTRICT code);

/*
 * count[c] += the number of rows in cell c of the survey, which has no cell for words.
 *
 *   year   DPF_CELLS_DATES   read: the year of each date, from the first one on; later ones are the last
 *   work   256 entries for cells of one byte, 65536 for those of two: each cell that may occur is mapped once, not each
 *          row. NULL for wider cells, and where rows are few.
 *   count  DPF_CELLS_SURVEYED
 *
 * The cells are numbers by sign and power of two, with zero in their middle; the same of whole numbers; years; MISSING.
 */
enum { DPF_CELLS_SIGNED = 2 * DPF_CELLS_POWERS + 1, DPF_CELLS_YEARS = 180 };
enum { DPF_CELLS_SURVEYED = 2 * DPF_CELLS_SIGNED + DPF_CELLS_YEARS + 1 };
void dpf_cells_survey(dpf_cells_stored stored, const uint8_t *year, int64_t *DPF_RESTRICT work,
                      int64_t *DPF_RESTRICT count);

/*
 * Values of codes, where successive ones mostly have the same: codes from start[k] on have value[k]. Word w has of_word[w];
 * without of_word, which may be NULL, words have the last value.
 */
typedef struct {
    const int64_t *start; /* runs, increasing from 0, at most MISSING */
    const uint16_t *value;
    size_t runs; /* 1 to 65535 */
    const uint16_t *of_word;
    size_t words;
} dpf_cells_values;

/*
 * count[v] += the number of rows of value v < size; out[i] = the value of row i, of one byte or, where wide, two. `work` is as
 * above. Return whether every word has a value, and every value its byte.
 *
 * Cost: one read. A table of equal parts of the codes leads to a few runs, among which a binary search decides; with `work`
 * the search is made for cells, and rows take one look-up.
 */
bool dpf_cells_count(dpf_cells_stored stored, const dpf_cells_values *values, size_t size, int64_t *DPF_RESTRICT work,
                     int64_t *DPF_RESTRICT count);
bool dpf_cells_take(dpf_cells_stored stored, const dpf_cells_values *values, bool wide, int64_t *DPF_RESTRICT work,
                    void *DPF_RESTRICT out);

#endif
