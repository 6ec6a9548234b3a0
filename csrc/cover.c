#include "cover.h"
#include "dpf_cpu.h"

#include <string.h>

/* ---- counts ----------------------------------------------------------- */

enum { CHUNK = 2048, SIDE = 4 }; /* words of a label that stay near; long columns that share one */

/* in[k] += the ones of column k that are in `label`, for `some` columns; all[k] += its ones, unless NULL. */
DPF_BODY void count_chunk(const uint64_t *column, size_t words, size_t some, const uint64_t *label, size_t size,
                          uint64_t *DPF_RESTRICT all, int64_t *DPF_RESTRICT in) {
    uint64_t ones[SIDE] = {0}, labelled[SIDE] = {0};
    for (size_t w = 0; w < size; w++) {
        for (size_t k = 0; k < some; k++) {
            const uint64_t entries = column[k * words + w];
            if (all) ones[k] += dpf_popcount(entries);
            labelled[k] += dpf_popcount(entries & label[w]);
        }
    }
    for (size_t k = 0; k < some; k++) {
        if (all) all[k] += ones[k];
        in[k] += (int64_t)labelled[k];
    }
}

/* Memory gives its best to one stream: so the last label is what the others leave, and a short column goes alone. */
DPF_BODY void count_columns(const uint64_t *column, size_t words, size_t some, const uint64_t *label, size_t classes,
                            size_t m, int64_t *DPF_RESTRICT count) {
    uint64_t all[SIDE] = {0};
    const size_t last = classes - 1;
    for (size_t w0 = 0; w0 < words; w0 += CHUNK) {
        const size_t size = words - w0 < CHUNK ? words - w0 : CHUNK;
        count_chunk(column + w0, words, some, label + w0, size, all, count);
        for (size_t c = 1; c < last; c++)
            count_chunk(column + w0, words, some, label + c * words + w0, size, NULL, count + c * m);
    }
    for (size_t k = 0; k < some && last; k++) {
        count[last * m + k] = (int64_t)all[k];
        for (size_t c = 0; c < last; c++) count[last * m + k] -= count[c * m + k];
    }
}

DPF_BODY void count_labels(const uint64_t *columns, size_t n, size_t m, const uint64_t *label, size_t classes,
                           int64_t *DPF_RESTRICT count) {
    const size_t words = DPF_WORDS(n);
    size_t j = 0;
    memset(count, 0, classes * m * sizeof *count);
    if (words > CHUNK)
        for (; j + SIDE <= m; j += SIDE) count_columns(columns + j * words, words, SIDE, label, classes, m, count + j);
    for (; j < m; j++) count_columns(columns + j * words, words, 1, label, classes, m, count + j);
}

DPF_LEVELS(void, dpf_cover_count, count_labels,
           (const uint64_t *columns, size_t n, size_t m, const uint64_t *label, size_t classes,
            int64_t *DPF_RESTRICT count),
           (columns, n, m, label, classes, count))

size_t dpf_cover_tally(const uint64_t *rows, size_t n, size_t m, const uint64_t *mask, int64_t sign,
                       int64_t *DPF_RESTRICT index, uint64_t *DPF_RESTRICT scratch, int64_t *DPF_RESTRICT tally,
                       int64_t *DPF_RESTRICT count, uint64_t *DPF_RESTRICT touched) {
    const size_t words = DPF_WORDS(n), row_words = DPF_WORDS(m);
    size_t all = 0, batch = 0;
    for (size_t w = 0; w < words;) {
        size_t size = (DPF_COVER_BATCH - batch) / 64;
        if (size > words - w) size = words - w;
        const size_t found = dpf_bits_nonzero(mask + w, size, index + batch);
        for (size_t i = 0; i < found; i++) index[batch + i] += (int64_t)(64 * w);
        batch += found;
        w += size;
        if (w < words && batch <= DPF_COVER_BATCH - 64) continue;
        if (batch == 0) continue;
        dpf_bits_positional_popcount(rows, n, row_words, index, NULL, batch, m, scratch, tally);
        for (size_t j = 0; j < m; j++) count[j] += sign * tally[j];
        if (touched)
            for (size_t i = 0; i < batch; i++)
                for (size_t v = 0; v < row_words; v++) touched[v] |= rows[(size_t)index[i] * row_words + v];
        all += batch;
        batch = 0;
    }
    return all;
}

/* ---- weights ---------------------------------------------------------- */

DPF_BODY void block_scores(const dpf_cover *cover, size_t block, int64_t *DPF_RESTRICT score) {
    const size_t first = 64 * block;
    const size_t size = cover->m - first < 64 ? cover->m - first : 64;
    int64_t covers[64] = {0}, total = 0;
    for (size_t c = 0; c < cover->classes; c++) {
        const int64_t *count = cover->count + c * cover->m + first;
        for (size_t k = 0; k < size; k++) covers[k] += count[k];
        total += cover->total[c];
    }
    for (size_t c = 0; c < cover->classes; c++) {
        const int64_t *count = cover->count + c * cover->m + first;
        int64_t *plain = score + 64 * c, *negated = score + 64 * (cover->classes + c);
        for (size_t k = 0; k < size; k++) plain[k] = cover->correct * count[k] - cover->covered * covers[k];
        for (size_t k = size; k < 64; k++) plain[k] = 0;
        if (cover->polarities < 2) continue;
        const int64_t whole = cover->correct * cover->total[c] - cover->covered * total;
        for (size_t k = 0; k < 64; k++) negated[k] = whole - plain[k];
    }
}

void dpf_cover_scores(const dpf_cover *cover, size_t block, int64_t *DPF_RESTRICT score) {
    block_scores(cover, block, score);
}

/* The scores of a block, and the highest of a live candidate. */
DPF_BODY int64_t block_highest(const dpf_cover *cover, size_t block, int64_t *DPF_RESTRICT score) {
    const size_t variants = cover->polarities * cover->classes;
    int64_t best = INT64_MIN;
    block_scores(cover, block, score);
    for (size_t v = 0; v < variants; v++)
        for (size_t k = 0; k < 64; k++) {
            const int64_t live = cover->alive[block] >> k & 1 ? score[64 * v + k] : INT64_MIN;
            best = live > best ? live : best;
        }
    return best;
}

DPF_BODY int64_t highest(const dpf_cover *cover, int64_t *DPF_RESTRICT score) {
    int64_t best = INT64_MIN;
    for (size_t b = 0; b < DPF_WORDS(cover->m); b++) {
        const int64_t of_block = block_highest(cover, b, score);
        best = of_block > best ? of_block : best;
    }
    return best;
}

DPF_LEVELS(int64_t, dpf_cover_highest, highest, (const dpf_cover *cover, int64_t *DPF_RESTRICT score), (cover, score))

/* weight[i] for the candidates of a block; false if a live one lies above the reference. */
DPF_BODY bool block_weights(const dpf_cover *cover, size_t block, int64_t *DPF_RESTRICT score,
                            double *DPF_RESTRICT weight) {
    const uint64_t alive = cover->alive[block], mask = ((uint64_t)1 << cover->shift) - 1;
    const size_t variants = cover->polarities * cover->classes;
    uint64_t above = 0;
    block_scores(cover, block, score);
    for (size_t v = 0; v < variants; v++) {
        for (size_t k = 0; k < 64; k++) {
            const uint64_t gap = (uint64_t)(cover->reference - score[64 * v + k]);
            const uint64_t live = alive >> k & 1, near = gap < cover->gaps ? gap : 0;
            above |= live & gap >> 63;
            const double term = cover->coarse[near >> cover->shift] * cover->fine[near & mask];
            weight[64 * v + k] = (live & (gap < cover->gaps)) ? term : 0.0;
        }
    }
    return !above;
}

DPF_BODY bool weigh(const dpf_cover *cover, const uint64_t *touched, int64_t *DPF_RESTRICT score,
                    double *DPF_RESTRICT weight, double *DPF_RESTRICT block_weight) {
    const size_t size = 64 * cover->polarities * cover->classes;
    bool below = true;
    for (size_t b = 0; b < DPF_WORDS(cover->m); b++) {
        if (!touched[b]) continue;
        const int64_t best = block_highest(cover, b, score);
        if (best == INT64_MIN || (best < cover->reference && (uint64_t)(cover->reference - best) >= cover->gaps)) {
            block_weight[b] = 0; /* what each candidate would weigh: most blocks are far from the best */
            continue;
        }
        below &= block_weights(cover, b, score, weight);
        double sum[8] = {0};
        for (size_t i = 0; i < size; i += 8)
            for (size_t l = 0; l < 8; l++) sum[l] += weight[i + l];
        block_weight[b] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }
    return below;
}

DPF_LEVELS(bool, dpf_cover_weigh, weigh,
           (const dpf_cover *cover, const uint64_t *touched, int64_t *DPF_RESTRICT score, double *DPF_RESTRICT weight,
            double *DPF_RESTRICT block_weight),
           (cover, touched, score, weight, block_weight))

/* ---- choice ----------------------------------------------------------- */

size_t dpf_cover_at(const dpf_cover *cover, const double *block_weight, const double *constant, double target,
                    double guard, int64_t *DPF_RESTRICT score, double *DPF_RESTRICT weight) {
    const size_t blocks = DPF_WORDS(cover->m), size = 64 * cover->polarities * cover->classes;
    double before = 0;
    size_t b = 0;
    for (; b < blocks && before + block_weight[b] <= target; b++) before += block_weight[b];

    const double *term = constant;
    size_t terms = cover->classes;
    if (b < blocks) {
        block_weights(cover, b, score, weight);
        term = weight, terms = size;
    }
    size_t i = 0;
    for (; i + 1 < terms && before + term[i] <= target; i++) before += term[i];
    const bool sure_below = (b == 0 && i == 0) || target - before > guard;
    const bool sure_above = before + term[i] - target > guard;
    return sure_below && sure_above ? size * b + i : SIZE_MAX;
}
