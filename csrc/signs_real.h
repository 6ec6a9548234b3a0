/* signs_real.h - the loops of signs.h over real entries; included by signs.c once a type. REAL is the type, WORD
 * the unsigned type of its size, BITS the values of its bits from the lowest, FUSED(x, y, z) x * y + z rounded once,
 * NAME(verb) the name. */

enum { NAME(lanes) = 8 * sizeof(WORD) };
static const WORD NAME(bit)[NAME(lanes)] = BITS;

/* flip[b] = the sign bit of a REAL where bit b of word is 0. */
DPF_BODY void NAME(flips)(WORD word, WORD *DPF_RESTRICT flip) {
    for (size_t b = 0; b < NAME(lanes); b++) flip[b] = word & NAME(bit)[b] ? 0 : NAME(bit)[NAME(lanes) - 1];
}

DPF_BODY REAL NAME(flipped)(REAL x, WORD flip) {
    WORD bits;
    memcpy(&bits, &x, sizeof x);
    bits ^= flip;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* sum[k][b] += x[k] with the sign that bit b of word stands for. */
DPF_BODY void NAME(add)(const REAL *x, size_t rows, uint64_t word, REAL (*DPF_RESTRICT sum)[64]) {
    for (size_t part = 0; part < 64; part += NAME(lanes)) {
        WORD flip[NAME(lanes)];
        NAME(flips)((WORD)(word >> part), flip);
        for (size_t k = 0; k < rows; k++)
            for (size_t b = 0; b < NAME(lanes); b++) sum[k][part + b] += NAME(flipped)(x[k], flip[b]);
    }
}

DPF_BODY bool NAME(all_ones)(const REAL *data, size_t size) {
    bool others = false;
    for (size_t p = 0; p < size; p++) others |= data[p] != 1;
    return !others;
}

/* The components of a row of ones: their sums are counts, which are the same numbers as sums of +-1. */
DPF_BODY void NAME(row_of_ones)(const int32_t *indices, size_t size, const uint64_t *matrix, const uint64_t key[2],
                                size_t m, REAL *DPF_RESTRICT out) {
    const REAL scale = (REAL)(1 / sqrt((double)m));
    for (size_t r0 = 0; r0 < m; r0 += 64 * BLOCK) {
        const size_t width = m - r0 < 64 * BLOCK ? m - r0 : 64 * BLOCK;
        int32_t count[64 * BLOCK];
        count_ones(indices, size, matrix, key, m, r0 / 64, count);
        for (size_t r = 0; r < width; r++) out[r0 + r] = scale * (REAL)(count[r] - ((int32_t)size - count[r]));
    }
}

DPF_BODY void NAME(csr_body)(const int64_t *indptr, const int32_t *indices, const REAL *data, size_t n,
                             const uint64_t *matrix, const uint64_t key[2], size_t m, REAL *DPF_RESTRICT out) {
    const REAL scale = (REAL)(1 / sqrt((double)m));
    for (size_t i = 0; i < n; i++, out += m) {
        const size_t begin = (size_t)indptr[i], end = (size_t)indptr[i + 1];
        if (!data || NAME(all_ones)(data + begin, end - begin)) {
            NAME(row_of_ones)(indices + begin, end - begin, matrix, key, m, out);
            continue;
        }
        for (size_t r0 = 0; r0 < m; r0 += 64 * BLOCK) {
            REAL sum[BLOCK][64] = {{0}};
            const size_t left = m - r0, width = left < 64 * BLOCK ? DPF_WORDS(left) : BLOCK;
            for (size_t p = begin; p < end; p += TILE) {
                uint64_t tile[TILE][BLOCK];
                const size_t size = end - p < TILE ? end - p : TILE;
                fetch(indices + p, size, matrix, key, m, r0 / 64, tile);
                for (size_t w = 0; w < width; w++)
                    for (size_t e = 0; e < size; e++) NAME(add)(data + p + e, 1, tile[e][w], sum + w);
            }
            for (size_t r = 0; r < 64 * BLOCK && r < left; r++) out[r0 + r] = scale * sum[r / 64][r % 64];
        }
    }
}

DPF_LEVELS(void, NAME(csr), NAME(csr_body),
           (const int64_t *indptr, const int32_t *indices, const REAL *data, size_t n, const uint64_t *matrix,
            const uint64_t key[2], size_t m, REAL *DPF_RESTRICT out),
           (indptr, indices, data, n, matrix, key, m, out))

/*
 * sum[k][r] += row[k][j] with the sign of flip[j][r], for `run` coordinates, `rows` <= ROWS rows and `width` components: two
 * constants whose sums stay in registers meanwhile. The first `added` rows flip a bit and add. The others multiply by 1
 * with that sign, which all of them share, and add, in one instruction: the product is exact, so the sum is the same.
 */
DPF_BODY void NAME(add_run)(const REAL *const *row, const WORD (*flip)[64], size_t run, const size_t rows,
                            const size_t added, const size_t width, REAL (*DPF_RESTRICT sum)[64]) {
    const REAL *first = row[0], *second = row[1], *third = row[2], *fourth = row[3];
    REAL part[ROWS][64];
    for (size_t k = 0; k < rows; k++)
        for (size_t r = 0; r < width; r++) part[k][r] = sum[k][r];
    for (size_t j = 0; j < run; j++) {
        const REAL entry[ROWS] = {first[j], second[j], third[j], fourth[j]};
        for (size_t k = 0; k < added; k++)
            for (size_t r = 0; r < width; r++) part[k][r] += NAME(flipped)(entry[k], flip[j][r]);
        for (size_t k = added; k < rows; k++)
            for (size_t r = 0; r < width; r++) part[k][r] = FUSED(entry[k], NAME(flipped)(1, flip[j][r]), part[k][r]);
    }
    for (size_t k = 0; k < rows; k++)
        for (size_t r = 0; r < width; r++) sum[k][r] = part[k][r];
}

/* The signs of RUN coordinates are unpacked once for the rows of a group. */
DPF_BODY void NAME(dense_body)(const REAL *x, size_t n, size_t d, const uint64_t *matrix, size_t m, const size_t step,
                               const size_t added, const size_t width, REAL *DPF_RESTRICT out) {
    const REAL scale = (REAL)(1 / sqrt((double)m));
    const size_t words = DPF_WORDS(m);
    for (size_t i0 = 0; i0 < n; i0 += GROUP_OF_ROWS, out += GROUP_OF_ROWS * m, x += GROUP_OF_ROWS * d) {
        const size_t rows = n - i0 < GROUP_OF_ROWS ? n - i0 : GROUP_OF_ROWS;
        for (size_t w = 0; w < words; w++) {
            REAL sum[GROUP_OF_ROWS][64] = {{0}};
            for (size_t j0 = 0; j0 < d; j0 += RUN) {
                const size_t run = d - j0 < RUN ? d - j0 : RUN;
                WORD flip[RUN][64];
                for (size_t j = 0; j < run; j++)
                    for (size_t part = 0; part < 64; part += NAME(lanes))
                        NAME(flips)((WORD)(matrix[(j0 + j) * words + w] >> part), flip[j] + part);
                for (size_t i = 0; i < rows; i += step) {
                    const REAL *row[ROWS]; /* the first of the last rows stands for those past n */
                    for (size_t k = 0; k < ROWS; k++) row[k] = x + (i + k < rows ? i + k : i) * d + j0;
                    for (size_t r = 0; r < 64; r += width)
                        NAME(add_run)(row, (const WORD(*)[64])(flip[0] + r), run, step, added, width,
                                      (REAL(*)[64])(sum[i] + r));
                }
            }
            for (size_t k = 0; k < rows; k++)
                for (size_t r = 64 * w; r < 64 * (w + 1) && r < m; r++) out[k * m + r] = scale * sum[k][r % 64];
        }
    }
}

/*
 * Sums for the 32 registers of AVX-512, and for the 16 of AVX2. Many processors add in other units than those of fused
 * products, so that rows of both kinds keep more units busy than either, and than the products of floats of BLAS. The
 * shapes are measured. Elsewhere a fused product may be a call, and all rows are added.
 */
#if defined(DPF_TARGET_AVX2)
DPF_TARGET_AVX512 static void NAME(dense_of_32)(const REAL *x, size_t n, size_t d, const uint64_t *matrix, size_t m,
                                                REAL *DPF_RESTRICT out) {
    NAME(dense_body)(x, n, d, matrix, m, 4, 1, 64, out);
}

DPF_TARGET_AVX2 static void NAME(dense_of_16)(const REAL *x, size_t n, size_t d, const uint64_t *matrix, size_t m,
                                              REAL *DPF_RESTRICT out) {
    NAME(dense_body)(x, n, d, matrix, m, 3, 2, 32, out);
}
#endif

static void NAME(dense)(const REAL *x, size_t n, size_t d, const uint64_t *matrix, size_t m, REAL *DPF_RESTRICT out) {
#if defined(DPF_TARGET_AVX2)
    if (dpf_cpu_level() == DPF_AVX512) NAME(dense_of_32)(x, n, d, matrix, m, out);
    else if (dpf_cpu_level() == DPF_AVX2) NAME(dense_of_16)(x, n, d, matrix, m, out);
    else
#endif
        NAME(dense_body)(x, n, d, matrix, m, 3, 3, 32, out);
}

#undef REAL
#undef WORD
#undef BITS
#undef FUSED
#undef NAME
