#include "unit_rows.h"
#include "dpf_cpu.h"
#include "logistic.h"

#include <math.h>
#include <string.h>

enum { LANES = 32 };
#define LARGE 1e300 /* squares below it are sums of finite ones */
#define SMALL 1e-250 /* squares above it have lost nothing */
#define SHRINK 0x1p-600
#define GROW 0x1p600

DPF_BODY double lane_sum(double *lane) {
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

/* For a norm of root / shrink, which counts as 0 up to `least`. Less by 2^-20 of itself, which covers the rounding of norm, scale and products. */
DPF_BODY double scale_of(double root, double shrink, double least, bool inside, unsigned bits) {
    const double radius = ldexp(1 - 0x1p-20, (int)bits);
    if (inside && root <= shrink) return radius;
    return root > least * shrink ? radius / root * shrink : 0;
}

DPF_BODY float clipped(double product, double scale) {
    const double margin = product * scale;
    if (margin > 1) return 1;
    return margin > -1 ? (float)margin : -1; /* also where huge entries left no number */
}

/* (q - c)^2 - c^2 */
DPF_BODY int64_t far_by(int32_t q, int32_t c) {
    return (int64_t)q * ((int64_t)q - 2 * (int64_t)c);
}

/* Each lane has its sum and the sum of its sums, in which the place of a word counts. */
DPF_BODY uint64_t checksum(const void *x, size_t n) {
    uint32_t sum[LANES] = {0}, sums[LANES] = {0}, rest[LANES] = {0};
    const size_t whole = n - n % LANES;
    const char *at = x;
    for (size_t i = 0; i < whole; i += LANES)
        for (size_t l = 0; l < LANES; l++) {
            uint32_t word;
            memcpy(&word, at + (i + l) * sizeof word, sizeof word);
            sum[l] += word;
            sums[l] += sum[l];
        }
    if (whole < n) memcpy(rest, at + whole * sizeof *rest, (n - whole) * sizeof *rest);
    uint64_t mixed = n;
    for (size_t l = 0; l < LANES; l++) {
        mixed ^= (uint64_t)sums[l] << 32 | (uint32_t)(sum[l] + rest[l]);
        mixed *= 0x9e3779b97f4a7c15u;
        mixed ^= mixed >> 29;
    }
    return mixed;
}

DPF_BODY bool scales_within(const double *scale, size_t n, double most) {
    uint64_t within = 1; /* as wide as a scale */
    for (size_t i = 0; i < n; i++) within &= (uint64_t)((scale[i] >= 0) & (scale[i] < most));
    return within;
}

#define REAL float
#define NAMED(name) float_##name
#define LEAST_NORM 1e-30 /* so that scales are of type REAL */
#include "unit_rows_real.h"
#define REAL double
#define NAMED(name) double_##name
#define LEAST_NORM 1e-300
#include "unit_rows_real.h"

/* ---- packed ------------------------------------------------------------- */

DPF_BODY void packed_scale(const dpf_unit_rows *rows, double constant, bool inside, double *DPF_RESTRICT scale) {
    const uint64_t *x = rows->x;
    const size_t n = rows->n, words = DPF_WORDS(rows->d);
    for (size_t i = 0; i < n; i++) {
        uint64_t ones = 0;
        for (size_t w = 0; w < words; w++) ones += dpf_popcount(x[i * words + w]);
        scale[i] = scale_of(sqrt((double)ones + constant * constant), 1, 0, inside, rows->bits);
    }
}

enum { PLANES = DPF_UNIT_ROWS_PLANES, CHUNK = DPF_UNIT_ROWS_CHUNK };

/* Words of the chunk that begins at word k of a row; rows that fit are taken several at once. */
DPF_BODY size_t chunk_words(size_t words, size_t k) {
    if (words <= CHUNK) return CHUNK / words * words;
    return words - k < CHUNK ? words - k : CHUNK;
}

/*
 * w_j = step * (v_j - 2^(PLANES - 1)) for integers v_j of PLANES bits, to within step / 2; a product is then a sum of
 * popcounts of row & plane, in integers. Planes come by chunks of words, and repeat where several rows fit into a
 * chunk, so that rows are taken together. Returns step.
 */
static double planes_of(const float *w, size_t d, uint64_t *DPF_RESTRICT plane) {
    const size_t words = DPF_WORDS(d);
    float largest = 0;
    for (size_t j = 0; j < d; j++) largest = fabsf(w[j]) > largest ? fabsf(w[j]) : largest;
    const double half = (double)(1 << (PLANES - 1)), step = largest > 0 ? largest / (half - 1) : 1;
    for (size_t k = 0; k < words; k += CHUNK) {
        const size_t size = chunk_words(words, k);
        memset(plane, 0, size * PLANES * sizeof *plane);
        for (size_t f = 0; f < size; f++) { /* word of the chunk, and word k + f of the row, or one that it repeats */
            if (k + f >= words) {
                for (size_t p = 0; p < PLANES; p++) plane[p * size + f] = plane[p * size + f - words];
                continue;
            }
            const size_t first = 64 * (k + f), end = d - first < 64 ? d - first : 64;
            for (size_t b = 0; b < end; b++) {
                const uint64_t value = (uint64_t)(rint(w[first + b] / step) + half);
                for (size_t p = 0; p < PLANES; p++) plane[p * size + f] |= (value >> p & 1) << b;
            }
        }
        plane += size * PLANES;
    }
    return step;
}

/* value[f] = sum over the bits of x[f] of v - 2^(PLANES - 1), in the planes of a chunk of `size` words. */
DPF_BODY void plane_values(const uint64_t *x, const uint64_t *plane, size_t size, size_t used,
                           int64_t *DPF_RESTRICT value) {
    for (size_t f = 0; f < used; f++) value[f] = -(int64_t)(dpf_popcount(x[f]) << (PLANES - 1));
    for (size_t p = 0; p < PLANES; p += 4) {
        const uint64_t *a = plane + p * size, *b = a + size, *c = b + size, *d = c + size;
        for (size_t f = 0; f < used; f++)
            value[f] += (int64_t)((dpf_popcount(x[f] & a[f]) + 2 * dpf_popcount(x[f] & b[f]) +
                                   4 * dpf_popcount(x[f] & c[f]) + 8 * dpf_popcount(x[f] & d[f]))
                                  << p);
    }
}

DPF_BODY void packed_margins(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                             const uint64_t *plane, double step, float *DPF_RESTRICT margin) {
    const uint64_t *x = rows->x;
    const size_t n = rows->n, words = DPF_WORDS(rows->d), together = words <= CHUNK ? CHUNK / words : 1;
    const double shift = constant * w[rows->d], unit = ldexp(1, -(int)rows->bits);
    int64_t value[CHUNK];
    for (size_t i = 0; i < n; i += together) {
        const size_t several = n - i < together ? n - i : together;
        int64_t product = 0;
        const uint64_t *at = plane;
        for (size_t k = 0; k < words; k += CHUNK) {
            const size_t size = chunk_words(words, k), used = words <= CHUNK ? several * words : size;
            plane_values(x + i * words + k, at, size, used, value);
            at += size * PLANES;
            if (words <= CHUNK) break;
            for (size_t f = 0; f < used; f++) product += value[f];
        }
        for (size_t r = 0; r < several; r++) {
            if (words <= CHUNK) {
                product = 0;
                for (size_t k = 0; k < words; k++) product += value[r * words + k];
            }
            margin[i + r] = clipped((double)product * step + shift, scale[i + r] * unit);
        }
    }
}

/* Sums of a word's columns stay in registers while rows pass by, in 32 bits as long as they must fit. */
DPF_BODY void packed_add(const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *weight,
                         int64_t *DPF_RESTRICT total) {
    enum { TILE = 256 };
    const uint64_t *x = rows->x;
    const size_t n = rows->n, d = rows->d, words = DPF_WORDS(d);
    int32_t step[TILE];
    for (size_t start = 0, end; start < n; start = end) {
        int64_t room = INT32_MAX;
        for (end = start; end < n && end - start < TILE; end++) {
            const int64_t value = (int64_t)weight[end] * (int32_t)scale[end], size = value < 0 ? -value : value;
            if (size > room) break;
            room -= size;
            step[end - start] = (int32_t)value;
            total[d] += (int64_t)weight[end] * (int32_t)(constant * scale[end]);
        }
        for (size_t k = 0; k < words; k++) {
            int32_t sum[64] = {0};
            for (size_t i = start; i < end; i++) {
                const int32_t value = step[i - start];
                const uint32_t low = (uint32_t)x[i * words + k], high = (uint32_t)(x[i * words + k] >> 32);
                for (unsigned b = 0; b < 32; b++) sum[b] += value & (int32_t)(low << (31 - b)) >> 31;
                for (unsigned b = 0; b < 32; b++) sum[32 + b] += value & (int32_t)(high << (31 - b)) >> 31;
            }
            const size_t size = d - 64 * k < 64 ? d - 64 * k : 64;
            for (size_t b = 0; b < size; b++) total[64 * k + b] += sum[b];
        }
    }
}

DPF_BODY void packed_apart(const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *centre,
                           int64_t *DPF_RESTRICT apart) {
    const uint64_t *x = rows->x;
    const size_t n = rows->n, d = rows->d, words = DPF_WORDS(d);
    for (size_t i = 0; i < n; i++) {
        const int32_t q = (int32_t)scale[i];
        int64_t sum = far_by((int32_t)(constant * scale[i]), centre[d]);
        for (size_t k = 0; k < words; k++) {
            const size_t size = d - 64 * k < 64 ? d - 64 * k : 64;
            const uint64_t word = x[i * words + k];
            for (size_t b = 0; b < size; b++) sum += -(int64_t)(word >> b & 1) & far_by(q, centre[64 * k + b]);
        }
        apart[i] = sum;
    }
}

/* ---- one copy of each for each level -------------------------------------- */

DPF_LEVELS(uint64_t, dpf_unit_rows_checksum, checksum, (const void *x, size_t n), (x, n))
DPF_LEVELS(bool, dpf_unit_rows_scales_within, scales_within, (const double *scale, size_t n, double most),
           (scale, n, most))
DPF_LEVELS(void, dpf_unit_rows_scale_float, float_scale,
           (const dpf_unit_rows *rows, double constant, bool inside, double *DPF_RESTRICT scale),
           (rows, constant, inside, scale))
DPF_LEVELS(void, dpf_unit_rows_scale_double, double_scale,
           (const dpf_unit_rows *rows, double constant, bool inside, double *DPF_RESTRICT scale),
           (rows, constant, inside, scale))
DPF_LEVELS(void, dpf_unit_rows_scale_packed, packed_scale,
           (const dpf_unit_rows *rows, double constant, bool inside, double *DPF_RESTRICT scale),
           (rows, constant, inside, scale))
DPF_LEVELS(void, dpf_unit_rows_margins_float, float_margins,
           (const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
            float *DPF_RESTRICT margin),
           (rows, constant, scale, w, margin))
DPF_LEVELS(void, dpf_unit_rows_margins_double, double_margins,
           (const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
            float *DPF_RESTRICT margin),
           (rows, constant, scale, w, margin))
DPF_LEVELS(void, dpf_unit_rows_margins_packed, packed_margins,
           (const dpf_unit_rows *rows, double constant, const double *scale, const float *w, const uint64_t *plane,
            double step, float *DPF_RESTRICT margin),
           (rows, constant, scale, w, plane, step, margin))
DPF_LEVELS(void, dpf_unit_rows_add_float, float_add,
           (const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *weight,
            int64_t *DPF_RESTRICT total),
           (rows, constant, scale, weight, total))
DPF_LEVELS(void, dpf_unit_rows_add_double, double_add,
           (const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *weight,
            int64_t *DPF_RESTRICT total),
           (rows, constant, scale, weight, total))
DPF_LEVELS(void, dpf_unit_rows_add_packed, packed_add,
           (const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *weight,
            int64_t *DPF_RESTRICT total),
           (rows, constant, scale, weight, total))
DPF_LEVELS(void, dpf_unit_rows_apart_float, float_apart,
           (const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *centre,
            int64_t *DPF_RESTRICT apart),
           (rows, constant, scale, centre, apart))
DPF_LEVELS(void, dpf_unit_rows_apart_double, double_apart,
           (const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *centre,
            int64_t *DPF_RESTRICT apart),
           (rows, constant, scale, centre, apart))
DPF_LEVELS(void, dpf_unit_rows_apart_packed, packed_apart,
           (const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *centre,
            int64_t *DPF_RESTRICT apart),
           (rows, constant, scale, centre, apart))

/* ---- all kinds --------------------------------------------------------------
 * Sparse rows are gathered and scattered, entry by entry: no level does better than another.
 */

void dpf_unit_rows_scale(const dpf_unit_rows *rows, double constant, bool inside, double *DPF_RESTRICT scale) {
    if (rows->kind == DPF_UNIT_ROWS_PACKED) dpf_unit_rows_scale_packed(rows, constant, inside, scale);
    else if (rows->kind == DPF_UNIT_ROWS_CSR && rows->wide) double_scale_csr(rows, constant, inside, scale);
    else if (rows->kind == DPF_UNIT_ROWS_CSR) float_scale_csr(rows, constant, inside, scale);
    else if (rows->wide) dpf_unit_rows_scale_double(rows, constant, inside, scale);
    else dpf_unit_rows_scale_float(rows, constant, inside, scale);
}

/* w in planes for packed rows: the step. */
static double prepare(const dpf_unit_rows *rows, const float *w, uint64_t *DPF_RESTRICT plane) {
    return rows->kind == DPF_UNIT_ROWS_PACKED ? planes_of(w, rows->d, plane) : 0;
}

static void margins_of(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                       const uint64_t *plane, double step, float *DPF_RESTRICT margin) {
    if (rows->kind == DPF_UNIT_ROWS_PACKED) dpf_unit_rows_margins_packed(rows, constant, scale, w, plane, step, margin);
    else if (rows->kind == DPF_UNIT_ROWS_CSR && rows->wide) double_margins_csr(rows, constant, scale, w, margin);
    else if (rows->kind == DPF_UNIT_ROWS_CSR) float_margins_csr(rows, constant, scale, w, margin);
    else if (rows->wide) dpf_unit_rows_margins_double(rows, constant, scale, w, margin);
    else dpf_unit_rows_margins_float(rows, constant, scale, w, margin);
}

void dpf_unit_rows_margins(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                           uint64_t *DPF_RESTRICT plane, float *DPF_RESTRICT margin) {
    const double step = prepare(rows, w, plane);
    margins_of(rows, constant, scale, w, plane, step, margin);
}

void dpf_unit_rows_add(const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *weight,
                       int64_t *DPF_RESTRICT total) {
    if (rows->kind == DPF_UNIT_ROWS_PACKED) dpf_unit_rows_add_packed(rows, constant, scale, weight, total);
    else if (rows->kind == DPF_UNIT_ROWS_CSR && rows->wide) double_add_csr(rows, constant, scale, weight, total);
    else if (rows->kind == DPF_UNIT_ROWS_CSR) float_add_csr(rows, constant, scale, weight, total);
    else if (rows->wide) dpf_unit_rows_add_double(rows, constant, scale, weight, total);
    else dpf_unit_rows_add_float(rows, constant, scale, weight, total);
}

void dpf_unit_rows_apart(const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *centre,
                         int64_t *DPF_RESTRICT apart) {
    if (rows->kind == DPF_UNIT_ROWS_PACKED) dpf_unit_rows_apart_packed(rows, constant, scale, centre, apart);
    else if (rows->kind == DPF_UNIT_ROWS_CSR && rows->wide) double_apart_csr(rows, constant, scale, centre, apart);
    else if (rows->kind == DPF_UNIT_ROWS_CSR) float_apart_csr(rows, constant, scale, centre, apart);
    else if (rows->wide) dpf_unit_rows_apart_double(rows, constant, scale, centre, apart);
    else dpf_unit_rows_apart_float(rows, constant, scale, centre, apart);
}

/* ---- blocks ---------------------------------------------------------------- */

enum { BLOCK_ROWS = 1024, SPARSE_ROWS = 4096, BLOCK_BYTES = 1 << 16 }; /* at most; a block stays in the cache */

static size_t bytes_of_row(const dpf_unit_rows *rows) {
    if (rows->kind == DPF_UNIT_ROWS_PACKED) return 8 * DPF_WORDS(rows->d);
    return (rows->wide ? sizeof(double) : sizeof(float)) * rows->d;
}

/* Entries of sparse rows are few, and what they are looked up in may fill the cache: their blocks are the largest. */
static size_t rows_of_block(const dpf_unit_rows *rows) {
    if (rows->kind == DPF_UNIT_ROWS_CSR) return SPARSE_ROWS;
    const size_t most = BLOCK_BYTES / (bytes_of_row(rows) + 1);
    return most < 1 ? 1 : most < BLOCK_ROWS ? most : BLOCK_ROWS;
}

/* The rows of the block that begins at row `start`. */
static dpf_unit_rows block_of(const dpf_unit_rows *rows, size_t start, size_t size) {
    dpf_unit_rows block = *rows;
    block.n = rows->n - start < size ? rows->n - start : size;
    if (rows->kind == DPF_UNIT_ROWS_CSR) block.indptr += start, block.ones += start;
    else if (rows->x) block.x = (const char *)rows->x + start * bytes_of_row(rows);
    return block;
}

static uint64_t checksum_of(const dpf_unit_rows *block) {
    return dpf_unit_rows_checksum(block->x, block->n * bytes_of_row(block) / sizeof(uint32_t));
}

size_t dpf_unit_rows_blocks(const dpf_unit_rows *rows) {
    const size_t size = rows_of_block(rows);
    return (rows->n + size - 1) / size;
}

void dpf_unit_rows_checksums(const dpf_unit_rows *rows, uint64_t *DPF_RESTRICT checksum) {
    const size_t size = rows_of_block(rows);
    for (size_t start = 0; start < rows->n; start += size) {
        const dpf_unit_rows block = block_of(rows, start, size);
        *checksum++ = checksum_of(&block);
    }
}

bool dpf_unit_rows_residuals(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                             float slope, float odds, const uint8_t *label, const int32_t *limit,
                             const uint64_t *checksum, uint64_t *DPF_RESTRICT plane, int64_t *DPF_RESTRICT total) {
    const size_t size = rows_of_block(rows);
    const double step = prepare(rows, w, plane);
    float margin[SPARSE_ROWS];
    int32_t residual[SPARSE_ROWS];
    for (size_t start = 0; start < rows->n; start += size) {
        const dpf_unit_rows block = block_of(rows, start, size);
        if (checksum && checksum_of(&block) != *checksum++) return false;
        margins_of(&block, constant, scale + start, w, plane, step, margin);
        dpf_logistic_margin(margin, true, slope, odds, label + start, limit + start, block.n, residual);
        dpf_unit_rows_add(&block, constant, scale + start, residual, total);
        for (size_t i = 0; i < block.n; i++) total[rows->d + 1] += residual[i];
    }
    return true;
}

size_t dpf_unit_rows_in_block(const dpf_unit_rows *rows) {
    const size_t size = rows_of_block(rows);
    return rows->n < size ? rows->n : size;
}

bool dpf_unit_rows_residuals_many(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                                  size_t k, float slope, const float *odds, const uint16_t *label,
                                  const int32_t *limit, const uint64_t *checksum, uint64_t *DPF_RESTRICT plane,
                                  float *DPF_RESTRICT lane, float *DPF_RESTRICT score, int32_t *DPF_RESTRICT residual,
                                  int64_t *DPF_RESTRICT total) {
    const size_t size = rows_of_block(rows), d = rows->d;
    float margin[SPARSE_ROWS];
    int32_t weight[SPARSE_ROWS];
    for (size_t start = 0; start < rows->n; start += size) {
        const dpf_unit_rows block = block_of(rows, start, size);
        if (checksum && checksum_of(&block) != *checksum++) return false;
        for (size_t c = 0; c < k; c++) {
            dpf_unit_rows_margins(&block, constant, scale + start, w + c * (d + 1), plane, margin);
            for (size_t i = 0; i < block.n; i++) score[i * k + c] = margin[i];
        }
        dpf_logistic_many(score, true, slope, odds, label + start, limit + start, block.n, k, lane, residual);
        for (size_t c = 0; c < k; c++) {
            int64_t *of_class = total + c * (d + 2);
            for (size_t i = 0; i < block.n; i++) of_class[d + 1] += weight[i] = residual[i * k + c];
            dpf_unit_rows_add(&block, constant, scale + start, weight, of_class);
        }
    }
    return true;
}
