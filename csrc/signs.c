#include "signs.h"
#include "dpf_cpu.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 4, TILE = 256 }; /* words of components, and entries of a row, at a time */

/* ---- signs ------------------------------------------------------------ */

DPF_BODY uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

DPF_BODY uint64_t of_coordinate(const uint64_t key[2], uint64_t j) {
    return mix(key[0] + j * UINT64_C(0x9e3779b97f4a7c15));
}

DPF_BODY uint64_t word_of(const uint64_t key[2], uint64_t coordinate, uint64_t w) {
    return mix(coordinate ^ (key[1] + w * UINT64_C(0xd1342543de82ef95)));
}

/* Ones in the components that exist of word w. */
DPF_BODY uint64_t existing(size_t m, size_t w) {
    return m - 64 * w < 64 ? ~(uint64_t)0 >> (64 - (m - 64 * w)) : ~(uint64_t)0;
}

DPF_BODY void make_matrix(const uint64_t key[2], size_t first, size_t d, size_t m, uint64_t *DPF_RESTRICT matrix) {
    const size_t words = DPF_WORDS(m);
    for (size_t j = 0; j < d; j++) {
        const uint64_t coordinate = of_coordinate(key, first + j);
        for (size_t w = 0; w < words; w++) matrix[j * words + w] = word_of(key, coordinate, w) & existing(m, w);
    }
}

DPF_LEVELS(void, dpf_signs_matrix, make_matrix,
           (const uint64_t key[2], size_t first, size_t d, size_t m, uint64_t *DPF_RESTRICT matrix),
           (key, first, d, m, matrix))

/* tile[e] = words w0 .. w0 + BLOCK - 1 of coordinate indices[e], zeros past the last. */
DPF_BODY void fetch(const int32_t *indices, size_t size, const uint64_t *matrix, const uint64_t key[2], size_t m,
                    size_t w0, uint64_t (*DPF_RESTRICT tile)[BLOCK]) {
    const size_t words = DPF_WORDS(m), width = words - w0 < BLOCK ? words - w0 : BLOCK;
    if (!matrix) {
        for (size_t e = 0; e < size; e++) {
            const uint64_t coordinate = of_coordinate(key, (uint64_t)indices[e]);
            for (size_t w = 0; w < BLOCK; w++) tile[e][w] = word_of(key, coordinate, w0 + w);
        }
    } else if (width == BLOCK) {
        for (size_t e = 0; e < size; e++) memcpy(tile[e], matrix + (size_t)indices[e] * words + w0, sizeof tile[e]);
    } else {
        for (size_t e = 0; e < size; e++)
            for (size_t w = 0; w < BLOCK; w++) tile[e][w] = w < width ? matrix[(size_t)indices[e] * words + w0 + w] : 0;
    }
}

/* ---- entries that are one --------------------------------------------- */

enum { PLANES = 9, GROUP = 8 }; /* TILE < 2^PLANES */

/* high:low = a + b + c, bit by bit. */
DPF_BODY void add(uint64_t *high, uint64_t *low, uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t half = a ^ b;
    *high = (a & b) | (half & c);
    *low = half ^ c;
}

/* count[r] += how many of `size` <= TILE words of the tile have bit r; rows up to a multiple of GROUP are zeroed. */
DPF_BODY void count_tile(uint64_t (*DPF_RESTRICT tile)[BLOCK], size_t size, int32_t *DPF_RESTRICT count) {
    uint64_t plane[PLANES][BLOCK] = {{0}};
    unsigned planes = 0;
    while (size >> planes) planes++;
    for (size_t e = size; e % GROUP; e++) memset(tile[e], 0, sizeof tile[e]);
    for (size_t e = 0; e < size; e += GROUP) {
        uint64_t carry[BLOCK];
        for (size_t w = 0; w < BLOCK; w++) {
            uint64_t one = plane[0][w], two = plane[1][w], four = plane[2][w], a, b, c, d;
            add(&a, &one, one, tile[e][w], tile[e + 1][w]);
            add(&b, &one, one, tile[e + 2][w], tile[e + 3][w]);
            add(&c, &two, two, a, b);
            add(&a, &one, one, tile[e + 4][w], tile[e + 5][w]);
            add(&b, &one, one, tile[e + 6][w], tile[e + 7][w]);
            add(&d, &two, two, a, b);
            add(&carry[w], &four, four, c, d);
            plane[0][w] = one, plane[1][w] = two, plane[2][w] = four;
        }
        for (unsigned k = 3; k < planes; k++) {
            for (size_t w = 0; w < BLOCK; w++) {
                const uint64_t both = plane[k][w] & carry[w];
                plane[k][w] ^= carry[w];
                carry[w] = both;
            }
        }
    }
    for (unsigned k = 0; k < planes; k++) {
        for (size_t w = 0; w < 2 * BLOCK; w++) {
            const uint32_t half = (uint32_t)(plane[k][w / 2] >> (w % 2 * 32));
            for (unsigned b = 0; b < 32; b++) count[32 * w + b] += (int32_t)((half >> b & 1) << k);
        }
    }
}

/* count = how many of `size` coordinates have sign +1, for the components of BLOCK words from w0 on. */
DPF_BODY void count_ones(const int32_t *indices, size_t size, const uint64_t *matrix, const uint64_t key[2], size_t m,
                         size_t w0, int32_t *DPF_RESTRICT count) {
    memset(count, 0, 64 * BLOCK * sizeof *count);
    for (size_t p = 0; p < size; p += TILE) {
        uint64_t tile[TILE][BLOCK];
        const size_t part = size - p < TILE ? size - p : TILE;
        fetch(indices + p, part, matrix, key, m, w0, tile);
        count_tile(tile, part, count);
    }
}

/* ---- real entries ----------------------------------------------------- */

enum { ROWS = 4, GROUP_OF_ROWS = 48, RUN = 128 };

#define FOUR(b) (uint64_t)1 << (b), (uint64_t)2 << (b), (uint64_t)4 << (b), (uint64_t)8 << (b)
#define SIXTEEN(b) FOUR(b), FOUR(b + 4), FOUR(b + 8), FOUR(b + 12)

#define REAL float
#define FUSED fmaf
#define WORD uint32_t
#define BITS {SIXTEEN(0), SIXTEEN(16)}
#define NAME(verb) dpf_signs_##verb##_float
#include "signs_real.h"

#define REAL double
#define FUSED fma
#define WORD uint64_t
#define BITS {SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)}
#define NAME(verb) dpf_signs_##verb##_double
#include "signs_real.h"

void dpf_signs_csr(const int64_t *indptr, const int32_t *indices, const void *data, bool wide, size_t n,
                   const uint64_t *matrix, const uint64_t key[2], size_t m, void *DPF_RESTRICT out) {
    if (wide) dpf_signs_csr_double(indptr, indices, data, n, matrix, key, m, out);
    else dpf_signs_csr_float(indptr, indices, data, n, matrix, key, m, out);
}

void dpf_signs_dense(const void *x, bool wide, size_t n, size_t d, const uint64_t *matrix, size_t m,
                     void *DPF_RESTRICT out) {
    if (wide) dpf_signs_dense_double(x, n, d, matrix, m, out);
    else dpf_signs_dense_float(x, n, d, matrix, m, out);
}

/* ---- packed rows ------------------------------------------------------ */

/* at = the places of the ones of row, or of its zeros if they are fewer; returns how many ones there are. */
DPF_BODY size_t rarer_places(const uint64_t *row, size_t d, int32_t *DPF_RESTRICT at) {
    size_t ones = 0, found = 0;
    for (size_t w = 0; w < DPF_WORDS(d); w++) ones += dpf_popcount(row[w]);
    const uint64_t flip = 2 * ones > d ? ~(uint64_t)0 : 0;
    for (size_t w = 0; w < DPF_WORDS(d); w++)
        for (uint64_t rest = (row[w] ^ flip) & existing(d, w); rest; rest &= rest - 1)
            at[found++] = (int32_t)(64 * w + dpf_lowest_bit(rest));
    return ones;
}

DPF_BODY void packed(const uint64_t *rows, size_t n, size_t d, const uint64_t *matrix, const int64_t *total, size_t m,
                     int32_t *DPF_RESTRICT at, float *DPF_RESTRICT out) {
    const float scale = (float)(1 / sqrt((double)m));
    for (size_t i = 0; i < n; i++, rows += DPF_WORDS(d), out += m) {
        const size_t ones = rarer_places(rows, d, at);
        const bool rare = 2 * ones <= d;
        for (size_t r0 = 0; r0 < m; r0 += 64 * BLOCK) {
            const size_t width = m - r0 < 64 * BLOCK ? m - r0 : 64 * BLOCK;
            int32_t count[64 * BLOCK];
            count_ones(at, rare ? ones : d - ones, matrix, NULL, m, r0 / 64, count);
            for (size_t r = 0; r < width; r++) {
                const int32_t plus = rare ? count[r] : (int32_t)total[r0 + r] - count[r];
                out[r0 + r] = scale * (float)(2 * plus - (int32_t)ones);
            }
        }
    }
}

DPF_LEVELS(void, dpf_signs_packed, packed,
           (const uint64_t *rows, size_t n, size_t d, const uint64_t *matrix, const int64_t *total, size_t m,
            int32_t *DPF_RESTRICT at, float *DPF_RESTRICT out),
           (rows, n, d, matrix, total, m, at, out))

/* ---- back ------------------------------------------------------------- */

DPF_BODY void lift(const double *v, const uint64_t key[2], size_t m, size_t d, size_t from, size_t to,
                   double *DPF_RESTRICT out) {
    enum { LANES = 16 };
    const double scale = 1 / sqrt((double)m);
    for (size_t j = 0; j < d; j++) {
        const uint64_t coordinate = of_coordinate(key, j);
        double sum[LANES] = {0};
        for (size_t w = from; w < to; w++) {
            const uint64_t word = word_of(key, coordinate, w);
            uint64_t flip[64];
            dpf_signs_flips_double(word, flip);
            for (size_t part = 0; part < 64; part += LANES)
                for (size_t b = 0; b < LANES; b++)
                    sum[b] += dpf_signs_flipped_double(v[64 * w + part + b], flip[part + b]);
        }
        for (size_t half = LANES / 2; half; half /= 2)
            for (size_t b = 0; b < half; b++) sum[b] += sum[b + half];
        out[j] = scale * sum[0];
    }
}

DPF_LEVELS(void, dpf_signs_lift, lift,
           (const double *v, const uint64_t key[2], size_t m, size_t d, size_t from, size_t to,
            double *DPF_RESTRICT out),
           (v, key, m, d, from, to, out))
