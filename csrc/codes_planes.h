/*
 * Counts for codes.c by AVX-512: columns of few codes as bit planes, without a store for each row. No header of its own.
 *
 * Plane b of a column has bit b of every code. Rows of one label that are chosen are a vector of bits too, and the rows
 * among them that have code v are an `and` of it with all planes, or their complements. The upper planes are fixed for
 * eight codes at a time, by what they have in common; of the lower three all eight products are counted, without
 * complements, 512 rows at once: f[s], the rows that have at least the bits of s. A row has the bits of s and no others as
 * often as inclusion and exclusion say, once all rows are counted:
 *
 *     for each bit b:  f[s] -= f[s + b]  for all s without b.
 *
 * So a cell costs three operations for each code, label and 512 rows. Planes are made on the way: an affine map of bytes
 * over GF(2) whose matrix is the data transposes 8 x 8 bits, and shuffles gather what belongs to one plane. The order of
 * the rows within 512 is lost; labels go the same way, as bytes of one bit, and lose it likewise.
 */
#include <immintrin.h>

#define WIDE DPF_TARGET_AVX512 static inline __attribute__((always_inline))

enum { PLANED_ROWS = 512, PLANED_VECTORS = 32, PLANED_SPAN = PLANED_ROWS * PLANED_VECTORS, LOWER = 3 };

typedef struct {
    __m512i plane[8][PLANED_VECTORS];
} planes;

/* The even words of a and b, by turns, and the odd ones. */
WIDE void part_words(__m512i a, __m512i b, __m512i *even, __m512i *odd) {
    *even = _mm512_mask_blend_epi16(0xaaaaaaaa, a, _mm512_slli_epi32(b, 16));
    *odd = _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(a, 16), b);
}

/* The same of bytes. */
WIDE void part_bytes(__m512i a, __m512i b, __m512i *even, __m512i *odd) {
    *even = _mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaa, a, _mm512_slli_epi16(b, 8));
    *odd = _mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaa, _mm512_srli_epi16(a, 8), b);
}

/* The even, or the odd, double words of a and b, two and two. */
WIDE __m512i dwords(__m512i a, __m512i b, const int odd) {
    const __m512 x = _mm512_castsi512_ps(a), y = _mm512_castsi512_ps(b);
    return _mm512_castps_si512(odd ? _mm512_shuffle_ps(x, y, 0xdd) : _mm512_shuffle_ps(x, y, 0x88));
}

/* The first `bits` planes of 512 bytes, zeros past `rows`; asks for what is `next`. */
WIDE void split(const uint8_t *byte, const uint8_t *next, size_t rows, size_t bits, size_t at,
                planes *DPF_RESTRICT out) {
    const __m512i unit = _mm512_set1_epi64((int64_t)0x8040201008040201);
    __m512i v[8], low[4], high[4], word[4][2], plane[8];
    for (size_t k = 0; k < 8; k++) {
        const size_t left = rows > 64 * k ? rows - 64 * k : 0;
        const __mmask64 in = left < 64 ? ((__mmask64)1 << left) - 1 : ~(__mmask64)0;
        v[k] = _mm512_gf2p8affine_epi64_epi8(unit, _mm512_maskz_loadu_epi8(in, byte + 64 * k), 0);
        dpf_prefetch(next + 64 * k);
    }
    for (size_t k = 0; k < 4; k++) low[k] = dwords(v[2 * k], v[2 * k + 1], 0);
    for (size_t k = 0; k < 2; k++) part_words(low[2 * k], low[2 * k + 1], &word[0][k], &word[1][k]);
    if (bits > 4) {
        for (size_t k = 0; k < 4; k++) high[k] = dwords(v[2 * k], v[2 * k + 1], 1);
        for (size_t k = 0; k < 2; k++) part_words(high[2 * k], high[2 * k + 1], &word[2][k], &word[3][k]);
    }
    for (size_t b = 0; 2 * b < bits; b++) part_bytes(word[b][0], word[b][1], &plane[2 * b], &plane[2 * b + 1]);
    for (size_t b = 0; b < bits; b++) out->plane[b][at] = plane[b];
}

/* f[s] += rows of `mask` whose upper planes are those of `prefix` and which have at least the bits of s. */
WIDE void count_products(const planes *planes, const __m512i *mask, size_t vectors, size_t upper, size_t prefix,
                         int64_t *DPF_RESTRICT f) {
    const __m512i *a = planes->plane[0], *b = planes->plane[1], *c = planes->plane[2];
    __m512i held[8], flip[8 - LOWER];
    for (size_t s = 0; s < 8; s++) held[s] = _mm512_setzero_si512();
    for (size_t u = 0; u < upper; u++) flip[u] = _mm512_set1_epi64(prefix >> u & 1 ? 0 : -1);
    for (size_t at = 0; at < vectors; at++) {
        __m512i product[8];
        product[0] = mask[at];
        for (size_t u = 0; u < upper; u++) /* and (plane xor flip) */
            product[0] = _mm512_ternarylogic_epi64(product[0], planes->plane[LOWER + u][at], flip[u], 0x60);
        product[1] = _mm512_and_si512(product[0], a[at]);
        for (size_t s = 0; s < 2; s++) product[2 + s] = _mm512_and_si512(product[s], b[at]);
        for (size_t s = 0; s < 4; s++) product[4 + s] = _mm512_and_si512(product[s], c[at]);
        for (size_t s = 0; s < 8; s++) held[s] = _mm512_add_epi64(held[s], _mm512_popcnt_epi64(product[s]));
    }
    for (size_t s = 0; s < 8; s++) f[s] = _mm512_reduce_add_epi64(held[s]);
}

/* total[code * classes] += rows of `mask` with each code of a column. */
WIDE void count_column(const planes *planes, const __m512i *mask, size_t vectors, size_t upper, size_t size,
                       size_t classes, int64_t *DPF_RESTRICT total) {
    for (size_t prefix = 0; 8 * prefix < size; prefix++) {
        int64_t f[8];
        count_products(planes, mask, vectors, upper, prefix, f);
        for (size_t b = 1; b < 8; b *= 2)
            for (size_t s = 0; s < 8; s++) f[s] -= s & b ? 0 : f[s + b];
        for (size_t s = 0; s < 8 && 8 * prefix + s < size; s++) total[(8 * prefix + s) * classes] += f[s];
    }
}

/* The chosen rows of each label, `vectors` of 512 rows, as the first planes. */
WIDE void split_labels(dpf_codes_label label, const uint64_t *mask, size_t start, size_t rows,
                       planes *DPF_RESTRICT out) {
    const __m512i one = _mm512_set1_epi64((int64_t)0x8040201008040201);
    for (size_t i = 0; i < rows; i += PLANED_ROWS) {
        uint8_t byte[PLANED_ROWS] = {0};
        for (size_t r = i; r < rows && r < i + PLANED_ROWS; r += 64) {
            const __mmask64 in = rows - r < 64 ? ((__mmask64)1 << (rows - r)) - 1 : ~(__mmask64)0;
            const __mmask64 chosen = mask ? in & mask[(start + r) / 64] : in;
            const uint8_t *code = (const uint8_t *)label.code + (start + r) * (label.wide ? 2 : 1);
            __m512i of = _mm512_maskz_loadu_epi8(in, code);
            if (label.wide) {
                const __m512i first = _mm512_maskz_loadu_epi16((__mmask32)in, code);
                const __m512i second = _mm512_maskz_loadu_epi16((__mmask32)(in >> 32), code + 64);
                of = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(first)),
                                        _mm512_cvtepi16_epi8(second), 1);
            }
            _mm512_storeu_si512(byte + r - i, _mm512_maskz_permutexvar_epi8(chosen, of, one));
        }
        split(byte, byte, PLANED_ROWS, 8, i / PLANED_ROWS, out);
    }
}

/* One loop for each number of planes. */
WIDE void count_span(const uint8_t *column, const uint8_t *next, size_t rows, size_t upper, size_t size,
                     const planes *labels, size_t classes, planes *DPF_RESTRICT planes, int64_t *DPF_RESTRICT total) {
    const size_t vectors = (rows + PLANED_ROWS - 1) / PLANED_ROWS;
    for (size_t at = 0; at < vectors; at++)
        split(column + at * PLANED_ROWS, next + at * PLANED_ROWS, rows - at * PLANED_ROWS, LOWER + upper, at, planes);
    for (size_t c = 0; c < classes; c++)
        count_column(planes, labels->plane[c], vectors, upper, size, classes, total + c);
}

DPF_TARGET_AVX512 static void count_planes(const dpf_codes *codes, dpf_codes_label label, const uint64_t *mask,
                                           size_t planed, int64_t *DPF_RESTRICT total) {
    planes labels, planes;
    for (size_t start = 0; start < codes->n; start += PLANED_SPAN) {
        const size_t rows = codes->n - start < PLANED_SPAN ? codes->n - start : PLANED_SPAN;
        split_labels(label, mask, start, rows, &labels);
        for (size_t j = 0, next; j < codes->p; j = next) {
            const size_t size = codes->size[j];
            int64_t *to = total + codes->offset[j] * label.size;
            for (next = j + 1; next < codes->p && !dpf_codes_is_planed(codes, next, planed); next++) {}
            if (!dpf_codes_is_planed(codes, j, planed)) continue;
            const uint8_t *column = (const uint8_t *)codes->column[j] + start;
            const uint8_t *ahead = next < codes->p ? (const uint8_t *)codes->column[next] + start : column;
            if (size <= 8) count_span(column, ahead, rows, 0, size, &labels, label.size, &planes, to);
            else if (size <= 16) count_span(column, ahead, rows, 1, size, &labels, label.size, &planes, to);
            else if (size <= 32) count_span(column, ahead, rows, 2, size, &labels, label.size, &planes, to);
            else if (size <= 64) count_span(column, ahead, rows, 3, size, &labels, label.size, &planes, to);
            else if (size <= 128) count_span(column, ahead, rows, 4, size, &labels, label.size, &planes, to);
            else count_span(column, ahead, rows, 5, size, &labels, label.size, &planes, to);
        }
    }
}
