#include "spread.h"
#include "reals.h"

#include <math.h>
#include <string.h>

static double snapped(double x, const dpf_spread_grid *grid) {
    x = grid->whole ? floor(x) : x;
    if (fabs(x) < grid->least) x = x > 0 ? grid->least : 0;
    x = x > grid->low ? x : grid->low;
    return x < grid->high ? x : grid->high;
}

void dpf_spread_snap(double *x, size_t n, const dpf_spread_grid *grid) {
    for (size_t i = 0; i < n; i++) x[i] = snapped(x[i], grid);
}

size_t dpf_spread_distinct(double *x, size_t n) {
    size_t left = 0;
    for (size_t i = 0; i < n; i++) { /* x[0..left - 1] rises */
        const double each = x[i];
        size_t at = left;
        while (at && x[at - 1] > each) at--;
        if (at && x[at - 1] == each) continue;
        memmove(x + at + 1, x + at, (left - at) * sizeof *x);
        x[at] = each;
        left++;
    }
    return left;
}

void dpf_spread_steps(double low, double high, size_t parts, double *DPF_RESTRICT out) {
    const double step = (high - low) / (double)parts;
    for (size_t k = 0; k <= parts; k++) out[k] = low + (double)k * step;
}

size_t dpf_spread_clear(const double *noisy, size_t n, double likely, double sure, double *DPF_RESTRICT row) {
    size_t held = 0;
    for (size_t i = 0; i < n; i++) {
        const bool beside = (i && noisy[i - 1] > likely) || (i + 1 < n && noisy[i + 1] > likely);
        const bool clear = noisy[i] > sure || (noisy[i] > likely && beside);
        row[i] = clear ? noisy[i] : 0;
        held += row[i] != 0;
    }
    return held;
}

size_t dpf_spread_divide(const double *row, const double *end, size_t n, double total, size_t cells, double least,
                         double *DPF_RESTRICT out) {
    size_t made = 0, left = 2 * cells; /* that there is room for, whatever the rows are */
    for (size_t i = 0; i < n; i++) {
        if (row[i] == 0) continue;
        const double share = (double)cells * row[i] / total, most = row[i] / least;
        const double wanted = share < most ? share : most;
        const size_t parts = !(wanted >= 1) ? 1 : wanted < (double)left + 1 ? (size_t)wanted : left + 1;
        left -= parts - 1;
        const double low = end[i], step = (end[i + 1] - low) / (double)parts;
        made -= made && out[made - 1] == low;
        for (size_t k = 0; k < parts; k++) out[made++] = low + (double)k * step;
        out[made++] = end[i + 1];
    }
    return made;
}

static void add_up(const double *row, size_t n, double *DPF_RESTRICT below) {
    below[0] = 0;
    for (size_t i = 0; i < n; i++) below[i + 1] = i ? below[i] + row[i] : row[i];
}

/* The first of n rising numbers that is at least x; n if none is. */
static size_t first_from(const double *rising, size_t n, double x) {
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (rising[middle] < x) low = middle + 1;
        else high = middle;
    }
    return low;
}

void dpf_spread_quantiles(const double *row, const double *end, size_t n, double total, const double *rank,
                          size_t ranks, bool whole, double *DPF_RESTRICT below, double *DPF_RESTRICT at) {
    add_up(row, n, below);
    for (size_t k = 0; k < ranks; k++) {
        const double rows = rank[k] * total;
        const size_t cell = first_from(below + 1, n - 1, rows);
        const double part = (rows - below[cell]) / (row[cell] > 0 ? row[cell] : 1);
        const double low = end[cell], within = part < 0 ? 0 : part > 1 ? 1 : part;
        at[k] = low + (end[cell + 1] - low) * within;
        if (whole && part < 1) at[k] = floor(at[k]) > low ? floor(at[k]) : low;
    }
}

/* The rows below a number, from those below each end. */
static double below_of(const double *below, const double *end, size_t n, double x) {
    if (x < end[0]) return below[0];
    if (x >= end[n]) return below[n];
    const size_t cell = first_from(end + 1, n - 1, x);
    if (end[cell + 1] == x) return below[cell + 1];
    if (end[cell] == x) return below[cell];
    const double slope = (below[cell + 1] - below[cell]) / (end[cell + 1] - end[cell]);
    return slope * (x - end[cell]) + below[cell];
}

size_t dpf_spread_part(const double *row, const double *end, size_t n, double total, double some, const double *edge,
                       size_t m, double *DPF_RESTRICT below, double *DPF_RESTRICT kept) {
    size_t left = 0;
    double before = 0;
    add_up(row, n, below);
    for (size_t k = 0; k < m; k++) {
        const double rows = below_of(below, end, n, edge[k]);
        if (rows - before > some && total - rows > some) {
            kept[left++] = edge[k];
            before = rows;
        }
    }
    return left;
}

static double sum_of(const double *x, size_t n) {
    if (n < 8) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += x[i];
        return sum;
    }
    if (n > 128) {
        const size_t half = n / 2 - n / 2 % 8;
        return sum_of(x, half) + sum_of(x + half, n - half);
    }
    double lane[8];
    size_t i = 8;
    for (size_t l = 0; l < 8; l++) lane[l] = x[l];
    for (; i < n - n % 8; i += 8)
        for (size_t l = 0; l < 8; l++) lane[l] += x[i + l];
    double sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    for (; i < n; i++) sum += x[i];
    return sum;
}

typedef struct {
    size_t first, after;
} span;

/* The own parts of a cell, or the one that it shares. */
static span parts_of(const double *end, size_t cell, const double *part_end, size_t m, const dpf_spread_grid *grid) {
    const size_t first = first_from(part_end, m + 1, snapped(end[cell], grid));
    const size_t last = first_from(part_end, m + 1, snapped(end[cell + 1], grid));
    const size_t after = last > first ? last : first + 1;
    return (span){first < m ? first : m, after < m ? after : m};
}

void dpf_spread_refine(const double *row, const double *end, size_t n, const double *noisy, const double *part_end,
                       size_t m, const dpf_spread_grid *grid, const dpf_spread_noise *noise, double *DPF_RESTRICT rest,
                       double *DPF_RESTRICT part, double *DPF_RESTRICT half) {
    for (size_t k = 0; k < m; k++) part[k] = noisy[k] > noise->likely ? noisy[k] : 0;
    for (size_t i = 0; i < n; i++) {
        rest[i] = 0;
        if (row[i] == 0) continue;
        const span own = parts_of(end, i, part_end, m, grid);
        for (size_t k = own.first; k < own.after; k++) part[k] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (row[i] == 0) continue;
        const span own = parts_of(end, i, part_end, m, grid);
        const size_t parts = own.after - own.first;
        if (!parts) continue;
        const double again = sum_of(noisy + own.first, parts), variance = noise->variance * (double)parts;
        const double weight = variance / noise->before;
        const bool clear = again + weight * row[i] > noise->sure * sqrt(variance * (1 + weight));
        if (!(2 * again > row[i] || clear)) continue;
        rest[i] = row[i];
        dpf_reals_halves(noisy + own.first, parts, row[i], noise->likely, half);
        for (size_t k = 0; k < parts; k++) part[own.first + k] += half[k];
    }
}
