/*
 * Margins for codes_margins.c by AVX-512, what no compiler makes of a loop: a permutation of bytes looks 64 codes up at
 * once, in a table of up to 64, 128 or 256 that stays in registers. No header of its own.
 *
 * An entry less its column's least, below 2^24, is three bytes, a plane each. Bytes of a plane add up in 16 bits, odd rows
 * apart from all; one more addition than 16 bits hold would take 258 columns.
 */
#include <immintrin.h>

#define WIDE DPF_TARGET_AVX512 static inline __attribute__((always_inline))

enum { PLANES = 3, ROWS = 2048, COLUMNS = 256, SMALL = 64 };

/* Sums of a plane over columns, in 16 bits: both of rows 2 i and 256 times 2 i + 1, odd of the latter alone. */
typedef struct {
    uint16_t both[PLANES][ROWS / 2], odd[PLANES][ROWS / 2];
} tallies;

/* Codes `at` to at + 63 of `rows`, zeros past the end. */
WIDE __m512i codes_at(const uint8_t *column, size_t at, size_t rows) {
    const __mmask64 in = rows - at < 64 ? ((__mmask64)1 << (rows - at)) - 1 : ~(__mmask64)0;
    return _mm512_maskz_loadu_epi8(in, column + at);
}

/* Adds what `some` columns of at most 64 codes look up, whose tables follow each other; asks for columns to come. */
WIDE void add_small(const uint8_t *const *column, const uint8_t *const *next, size_t some, size_t rows,
                    const uint8_t *plane, tallies *DPF_RESTRICT tally) {
    __m512i table[4][PLANES];
    for (size_t s = 0; s < some; s++)
        for (size_t l = 0; l < PLANES; l++) table[s][l] = _mm512_loadu_si512(plane + (s * PLANES + l) * SMALL);
    for (size_t at = 0; at < rows; at += 64) {
        __m512i code[4];
        for (size_t s = 0; s < some; s++) code[s] = codes_at(column[s], at, rows);
        for (size_t s = 0; s < some; s++) dpf_prefetch(next[s] + at);
        for (size_t l = 0; l < PLANES; l++) {
            __m512i both = _mm512_loadu_si512(tally->both[l] + at / 2),
                    odd = _mm512_loadu_si512(tally->odd[l] + at / 2);
            for (size_t s = 0; s < some; s++) {
                const __m512i value = _mm512_permutexvar_epi8(code[s], table[s][l]);
                both = _mm512_add_epi16(both, value);
                odd = _mm512_add_epi16(odd, _mm512_srli_epi16(value, 8));
            }
            _mm512_storeu_si512(tally->both[l] + at / 2, both);
            _mm512_storeu_si512(tally->odd[l] + at / 2, odd);
        }
    }
}

/* Adds what one column of at most `size` codes, 128 or 256, looks up; asks for the column to come. */
WIDE void add_large(const uint8_t *column, const uint8_t *next, size_t size, size_t rows, const uint8_t *plane,
                    tallies *DPF_RESTRICT tally) {
    __m512i table[PLANES][4];
    for (size_t l = 0; l < PLANES; l++)
        for (size_t q = 0; q < size / 64; q++) table[l][q] = _mm512_loadu_si512(plane + l * size + 64 * q);
    for (size_t at = 0; at < rows; at += 64) {
        const __m512i code = codes_at(column, at, rows);
        const __mmask64 high = _mm512_movepi8_mask(code);
        dpf_prefetch(next + at);
        for (size_t l = 0; l < PLANES; l++) {
            __m512i value = _mm512_permutex2var_epi8(table[l][0], code, table[l][1]);
            if (size > 128)
                value = _mm512_mask_blend_epi8(high, value, _mm512_permutex2var_epi8(table[l][2], code, table[l][3]));
            uint16_t *both = tally->both[l] + at / 2, *odd = tally->odd[l] + at / 2;
            _mm512_storeu_si512(both, _mm512_add_epi16(_mm512_loadu_si512(both), value));
            _mm512_storeu_si512(odd, _mm512_add_epi16(_mm512_loadu_si512(odd), _mm512_srli_epi16(value, 8)));
        }
    }
}

/* sum += the tallies of `rows` rows, which become zero; an odd row count touches one sum more. */
WIDE void add_up(size_t rows, tallies *DPF_RESTRICT tally, int32_t *DPF_RESTRICT sum) {
    for (size_t i = 0; i < (rows + 1) / 2; i++) {
        const uint32_t odd0 = tally->odd[0][i], odd1 = tally->odd[1][i], odd2 = tally->odd[2][i];
        const uint16_t even0 = (uint16_t)(tally->both[0][i] - (odd0 << 8));
        const uint16_t even1 = (uint16_t)(tally->both[1][i] - (odd1 << 8));
        const uint16_t even2 = (uint16_t)(tally->both[2][i] - (odd2 << 8));
        sum[2 * i] += (int32_t)(even0 + ((uint32_t)even1 << 8) + ((uint32_t)even2 << 16));
        sum[2 * i + 1] += (int32_t)(odd0 + (odd1 << 8) + (odd2 << 16));
    }
    memset(tally, 0, sizeof *tally);
}

WIDE size_t table_size(uint32_t size) { return size <= 64 ? 64 : size <= 128 ? 128 : 256; }

/* The planes of `size` entries of a column, zeros up to `room`, and its least entry; false if three bytes do not hold an
 * entry less the least. */
WIDE bool split_column(const int32_t *entry, size_t size, size_t room, uint8_t *DPF_RESTRICT plane, int32_t *least) {
    int32_t low = entry[0], high = entry[0];
    for (size_t v = 0; v < size; v++) low = entry[v] < low ? entry[v] : low, high = entry[v] > high ? entry[v] : high;
    *least = low;
    for (size_t l = 0; l < PLANES; l++) {
        memset(plane + l * room + size, 0, room - size);
        for (size_t v = 0; v < size; v++)
            plane[l * room + v] = (uint8_t)(((uint32_t)entry[v] - (uint32_t)low) >> (8 * l));
    }
    return (int64_t)high - low < 1 << 24;
}

/* The planes of all columns of bytes, one after another, for entries that are k apart, and the sum of their least ones;
 * false if three bytes do not hold an entry less its column's least. */
WIDE bool split(const dpf_codes *codes, const int32_t *table, size_t k, uint8_t *DPF_RESTRICT plane,
                int32_t *least_sum) {
    int32_t held[256], least = 0;
    *least_sum = 0;
    for (size_t j = 0; j < codes->p; j++) {
        const int32_t *entry = table + codes->offset[j] * k;
        const size_t size = codes->size[j], room = table_size(codes->size[j]);
        if (codes->wide[j]) continue;
        for (size_t v = 0; v < size && k > 1; v++) held[v] = entry[v * k];
        if (!split_column(k > 1 ? held : entry, size, room, plane, &least)) return false;
        plane += PLANES * room;
        *least_sum += least;
    }
    return true;
}

/* sum += what rows `start` to start + rows - 1 look up. */
WIDE void look_up_block(const dpf_codes *codes, const int32_t *table, size_t k, const uint8_t *plane, size_t start,
                        size_t rows, tallies *DPF_RESTRICT tally, int32_t *DPF_RESTRICT sum) {
    size_t added = 0;
    for (size_t j = 0, some; j < codes->p; j += some) {
        const uint8_t *column[4] = {NULL}, *next[4] = {NULL};
        some = 1;
        if (codes->wide[j]) {
            const uint16_t *code = (const uint16_t *)codes->column[j] + start;
            for (size_t i = 0; i < rows; i++) sum[i] += table[(codes->offset[j] + code[i]) * k];
            continue;
        }
        const size_t size = table_size(codes->size[j]);
        column[0] = (const uint8_t *)codes->column[j] + start;
        if (size == SMALL)
            for (; some < 4 && j + some < codes->p && !codes->wide[j + some] && codes->size[j + some] <= SMALL; some++)
                column[some] = (const uint8_t *)codes->column[j + some] + start;
        for (size_t s = 0; s < some; s++) {
            const size_t to_come = j + some + s < codes->p ? j + some + s : j + s;
            next[s] = (const uint8_t *)codes->column[to_come] + (codes->wide[to_come] ? 2 : 1) * start;
        }
        if (size == 256) add_large(column[0], next[0], 256, rows, plane, tally);
        else if (size == 128) add_large(column[0], next[0], 128, rows, plane, tally);
        else if (some == 4) add_small(column, next, 4, rows, plane, tally);
        else if (some == 3) add_small(column, next, 3, rows, plane, tally);
        else if (some == 2) add_small(column, next, 2, rows, plane, tally);
        else add_small(column, next, 1, rows, plane, tally);
        plane += some * PLANES * size;
        added += some;
        if (added > COLUMNS - 4) add_up(rows, tally, sum), added = 0;
    }
    if (added) add_up(rows, tally, sum);
}

/* The margins, unless some column's entries are too far apart. */
DPF_TARGET_AVX512 static bool permute(const dpf_codes *codes, const int32_t *table, size_t k,
                                      uint8_t *DPF_RESTRICT planes, int32_t *DPF_RESTRICT margin) {
    const size_t size = DPF_CODES_PLANES * codes->p;
    int32_t least[DPF_CODES_PERMUTED], held[DPF_CODES_PERMUTED][ROWS];
    tallies tally;
    for (size_t l = 0; l < k; l++)
        if (!split(codes, table + l, k, planes + l * size, least + l)) return false;
    memset(&tally, 0, sizeof tally);
    for (size_t start = 0; start < codes->n; start += ROWS) {
        const size_t rows = codes->n - start < ROWS ? codes->n - start : ROWS;
        const bool there = k == 1 && rows == ROWS;
        for (size_t l = 0; l < k; l++) {
            int32_t *sum = there ? margin + start : held[l];
            for (size_t i = 0; i < rows; i++) sum[i] = least[l];
            look_up_block(codes, table + l, k, planes + l * size, start, rows, &tally, sum);
        }
        for (size_t i = 0; i < rows && !there; i++)
            for (size_t l = 0; l < k; l++) margin[(start + i) * k + l] = held[l][i];
    }
    return true;
}
