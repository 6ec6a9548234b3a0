#include "scores.h"
#include "dpf_cpu.h"

#include <math.h>
#include <string.h>

DPF_BODY size_t chosen(const int64_t *index, size_t i) { return index ? (size_t)index[i] : i; }

/* ---- packed rows ------------------------------------------------------ */

DPF_BODY void add_packed(const uint64_t *rows, size_t n, size_t d, const int8_t *y, const int64_t *index, size_t m,
                         uint64_t *DPF_RESTRICT scratch, int64_t *DPF_RESTRICT tally, int64_t *DPF_RESTRICT score) {
    const size_t words = DPF_WORDS(d);
    for (size_t first = 0; first < d; first += DPF_SCORES_COLUMNS) {
        const size_t size = d - first < DPF_SCORES_COLUMNS ? d - first : DPF_SCORES_COLUMNS;
        dpf_bits_positional_popcount(rows + first / 64, n, words, index, y, m, size, scratch, tally);
        for (size_t j = 0; j < size; j++) score[first + j] += 2 * tally[j] - (int64_t)m;
    }
}

DPF_LEVELS(void, dpf_scores_add_packed, add_packed,
           (const uint64_t *rows, size_t n, size_t d, const int8_t *y, const int64_t *index, size_t m,
            uint64_t *DPF_RESTRICT scratch, int64_t *DPF_RESTRICT tally, int64_t *DPF_RESTRICT score),
           (rows, n, d, y, index, m, scratch, tally, score))

/* ---- grid rows -------------------------------------------------------- */

/* score += k <= FOUR rows: negated where flip is -1, left as they are where it is 0. */
DPF_BODY void add_grid_rows(const int32_t *const *row, const int64_t *flip, size_t k, size_t size,
                            int64_t *DPF_RESTRICT score) {
    for (size_t j = 0; j < size; j++) {
        int64_t sum = 0;
        for (size_t r = 0; r < k; r++) sum += ((int64_t)row[r][j] ^ flip[r]) - flip[r];
        score[j] += sum;
    }
}

DPF_BODY void add_grid(const int32_t *rows, size_t d, const int8_t *y, const int64_t *index, size_t m,
                       int64_t *DPF_RESTRICT score) {
    enum { BLOCK = 2048, FOUR = 4 }; /* scores that stay in the nearest cache; rows to a pass over them */
    for (size_t start = 0; start < d; start += BLOCK) {
        const size_t size = d - start < BLOCK ? d - start : BLOCK;
        for (size_t r = 0; r < m; r += FOUR) {
            const size_t k = m - r < FOUR ? m - r : FOUR;
            const int32_t *row[FOUR];
            int64_t flip[FOUR];
            for (size_t i = 0; i < k; i++) {
                row[i] = rows + chosen(index, r + i) * d + start;
                flip[i] = y[chosen(index, r + i)] < 0 ? -1 : 0;
            }
            if (k == FOUR) add_grid_rows(row, flip, FOUR, size, score + start);
            else
                for (size_t i = 0; i < k; i++) add_grid_rows(row + i, flip + i, 1, size, score + start);
        }
    }
}

DPF_LEVELS(void, dpf_scores_add_grid, add_grid,
           (const int32_t *rows, size_t d, const int8_t *y, const int64_t *index, size_t m,
            int64_t *DPF_RESTRICT score),
           (rows, d, y, index, m, score))

/* ---- CSR rows --------------------------------------------------------- */

size_t dpf_scores_check_csr(const dpf_csr *rows, int64_t d, const int64_t *index, size_t m, int64_t *longest) {
    *longest = 0;
    for (size_t r = 0; r < m; r++) {
        const size_t i = chosen(index, r);
        int64_t before = -1;
        bool rising = true;
        for (int64_t p = rows->indptr[i]; p < rows->indptr[i + 1]; p++) {
            rising &= rows->indices[p] > before;
            before = rows->indices[p];
        }
        if (!rising || before >= d) return r;
        const int64_t size = rows->indptr[i + 1] - rows->indptr[i];
        if (size > *longest) *longest = size;
    }
    return m;
}

DPF_BODY int64_t entry(const dpf_csr *rows, int64_t p) { return rows->data ? rows->data[p] : 1; }

enum { AHEAD = 16 }; /* entries by which a random access is fetched early */

void dpf_scores_add_csr(const dpf_csr *rows, const int8_t *y, const int64_t *index, size_t m,
                        int64_t *DPF_RESTRICT score) {
    for (size_t r = 0; r < m; r++) {
        const size_t i = chosen(index, r);
        const int64_t end = rows->indptr[i + 1];
        for (int64_t p = rows->indptr[i]; p < end; p++) {
            if (p + AHEAD < end) dpf_prefetch(score + rows->indices[p + AHEAD]);
            score[rows->indices[p]] += y[i] * entry(rows, p);
        }
    }
}

/* ---- scores that are mostly untouched --------------------------------- */

DPF_BODY size_t home(const dpf_scores *table, uint32_t key) {
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - table->bits));
}

DPF_BODY size_t slot_of(const dpf_scores *table, uint32_t key) {
    const size_t mask = ((size_t)1 << table->bits) - 1;
    size_t s = home(table, key);
    while (table->key[s] != key && table->key[s] != DPF_SCORES_FREE) s = (s + 1) & mask;
    return s;
}

size_t dpf_scores_add_sparse(dpf_scores *table, const dpf_csr *rows, const int8_t *y, const int64_t *index,
                             size_t start, size_t m, size_t limit) {
    for (size_t r = start; r < m; r++) {
        const size_t i = chosen(index, r);
        const int64_t begin = rows->indptr[i], end = rows->indptr[i + 1];
        if (table->used + (size_t)(end - begin) > limit) return r;
        for (int64_t p = begin; p < end; p++) {
            if (p + AHEAD < end) {
                const size_t s = home(table, (uint32_t)rows->indices[p + AHEAD]);
                dpf_prefetch(table->key + s);
                dpf_prefetch(table->score + s);
            }
            const uint32_t key = (uint32_t)rows->indices[p];
            const size_t s = slot_of(table, key);
            table->used += table->key[s] == DPF_SCORES_FREE;
            table->key[s] = key;
            table->score[s] += y[i] * entry(rows, p);
        }
    }
    return m;
}

void dpf_scores_insert(dpf_scores *table, const uint32_t *key, const int64_t *score, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (key[i] == DPF_SCORES_FREE) continue;
        const size_t s = slot_of(table, key[i]);
        table->key[s] = key[i];
        table->score[s] = score[i];
        table->used++;
    }
}

/* ---- votes ------------------------------------------------------------ */

DPF_BODY void votes_packed(const uint64_t *rows, size_t n, size_t d, const int64_t *index, const int64_t *count,
                           size_t k, bool signs, int64_t *DPF_RESTRICT vote) {
    const size_t words = DPF_WORDS(d);
    int64_t total = 0;
    for (size_t p = 0; p < k; p++) total += count[p];
    for (size_t i = 0; i < n; i++) {
        const uint64_t *row = rows + i * words;
        int64_t ones = 0;
        for (size_t p = 0; p < k; p++) {
            const uint64_t j = (uint64_t)index[p];
            ones += count[p] & -(int64_t)(row[j / 64] >> (j % 64) & 1);
        }
        vote[i] = signs ? 2 * ones - total : ones;
    }
}

DPF_LEVELS(void, dpf_scores_votes_packed, votes_packed,
           (const uint64_t *rows, size_t n, size_t d, const int64_t *index, const int64_t *count, size_t k, bool signs,
            int64_t *DPF_RESTRICT vote),
           (rows, n, d, index, count, k, signs, vote))

DPF_BODY void votes_grid(const int32_t *rows, size_t n, size_t d, const int64_t *index, const int64_t *count, size_t k,
                         int64_t *DPF_RESTRICT vote) {
    enum { ROWS_AHEAD = 4 };
    for (size_t i = 0; i < n; i++) {
        const int32_t *row = rows + i * d, *later = i + ROWS_AHEAD < n ? row + ROWS_AHEAD * d : row;
        int64_t sum = 0;
        for (size_t p = 0; p < k; p++) dpf_prefetch(later + index[p]);
        for (size_t p = 0; p < k; p++) sum += count[p] * row[index[p]];
        vote[i] = sum;
    }
}

DPF_LEVELS(void, dpf_scores_votes_grid, votes_grid,
           (const int32_t *rows, size_t n, size_t d, const int64_t *index, const int64_t *count, size_t k,
            int64_t *DPF_RESTRICT vote),
           (rows, n, d, index, count, k, vote))

/* Place of j among k rising indices, k if it is not there. */
/*@ requires \valid_read(index + (0 .. k - 1)) && k <= INT64_MAX;
    requires \forall integer a, b; 0 <= a < b < k ==> index[a] < index[b];
    assigns \nothing;
    ensures \result < k ==> index[\result] == j;
    ensures \result >= k ==> \result == k && \forall integer p; 0 <= p < k ==> index[p] != j; */
DPF_BODY size_t place_of(const int64_t *index, size_t k, int64_t j) {
    size_t low = 0, high = k;
    /*@ loop invariant 0 <= low <= high <= k;
        loop invariant \forall integer p; 0 <= p < low ==> index[p] < j;
        loop invariant \forall integer p; high <= p < k ==> index[p] >= j;
        loop assigns low, high;
        loop variant high - low; */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (index[middle] < j) low = middle + 1;
        else high = middle;
    }
    return low < k && index[low] == j ? low : k;
}

void dpf_scores_votes_csr(const dpf_csr *rows, size_t n, const int64_t *index, const int64_t *count, size_t k,
                          int64_t *DPF_RESTRICT vote) {
    enum { FILTER = 1 << 16 }; /* bit j mod FILTER is set for every j of the histogram */
    uint64_t filter[FILTER / 64] = {0};
    for (size_t p = 0; p < k; p++) filter[index[p] % FILTER / 64] |= (uint64_t)1 << (index[p] % 64);
    for (size_t i = 0; i < n; i++) {
        int64_t sum = 0;
        for (int64_t p = rows->indptr[i]; p < rows->indptr[i + 1]; p++) {
            const int64_t j = rows->indices[p];
            if (!(filter[j % FILTER / 64] >> (j % 64) & 1)) continue;
            const size_t at = place_of(index, k, j);
            if (at < k) sum += count[at] * entry(rows, p);
        }
        vote[i] = sum;
    }
}
