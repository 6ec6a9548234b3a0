#include "codes.h"
#include "bits.h"
#include "codes_join.h"
#include "dpf_cpu.h"

/* Rows of a span that count, block by block, and their weights, some lanes each. */
typedef struct {
    size_t rows[SPAN / BLOCK];
    uint16_t row[SPAN]; /* in its block */
    int32_t weight[SPAN];
} chosen;

#define LANES 1
#define NAMED(name) dpf_codes_one_##name
#include "codes_lanes.h"

#define LANES 2
#define NAMED(name) dpf_codes_two_##name
#include "codes_lanes.h"

#define LANES 4
#define NAMED(name) dpf_codes_four_##name
#include "codes_lanes.h"

#define LANES 8
#define NAMED(name) dpf_codes_eight_##name
#include "codes_lanes.h"

/* The rows of a span that are in the mask. */
DPF_BODY void choose_masked(const uint64_t *mask, size_t start, size_t end, chosen *DPF_RESTRICT some) {
    size_t held = 0;
    for (size_t i = start, b = 0; i < end; i += BLOCK, b++) {
        const size_t before = held, words = DPF_WORDS(end - i < BLOCK ? end - i : BLOCK);
        for (size_t w = 0; w < words; w++)
            for (uint64_t ones = mask[i / 64 + w]; ones; ones &= ones - 1)
                some->row[held++] = (uint16_t)(64 * w + dpf_lowest_bit(ones));
        some->rows[b] = held - before;
    }
}

/* joint[2 e] and joint[2 e + 1] += the low and the high half of pair e, which becomes zero. */
DPF_BODY void part_pairs(size_t cells, uint32_t *DPF_RESTRICT pair, int32_t *DPF_RESTRICT joint) {
    for (size_t e = 0; e < cells; e++) {
        joint[2 * e] += (int32_t)(pair[e] & 0xffff);
        joint[2 * e + 1] += (int32_t)(pair[e] >> 16);
        pair[e] = 0;
    }
}

/* What each chosen row of a span adds to the pair of its joint code: 1 to the half of its label. */
DPF_BODY void label_pairs(dpf_codes_label label, size_t start, size_t end, bool all, chosen *DPF_RESTRICT some) {
    const uint8_t *narrow = label.code;
    const uint16_t *wide = label.code;
    const uint16_t *row = some->row;
    int32_t *weight = some->weight;
    for (size_t i = start, b = 0; i < end; i += BLOCK, b++) {
        const size_t rows = some->rows[b];
        for (size_t r = 0; r < rows; r++) {
            const size_t at = i + (all ? r : row[r]);
            weight[r] = (label.wide ? wide[at] : narrow[at]) ? 1 << 16 : 1;
        }
        row += rows, weight += rows;
    }
}

#if defined(DPF_TARGET_AVX512)
#include "codes_planes.h"
#endif

size_t dpf_codes_planed(size_t n, size_t chosen, size_t classes) {
    if (dpf_cpu_level() != DPF_AVX512 || classes > 8) return 0;
    for (size_t size = 256; size >= 8; size /= 2) {
        const size_t scarce = size > 64 ? PLANED : 8 * PLANED; /* few large codes make one that is joined */
        if (size * classes <= PLANED && size * classes * n <= chosen * scarce) return size;
    }
    return 0;
}

void dpf_codes_count(const dpf_codes *codes, const dpf_codes_plan *plan, size_t planed, const void *label,
                     bool wide_label, size_t classes, const uint64_t *mask, int32_t *DPF_RESTRICT joint,
                     int64_t *DPF_RESTRICT total) {
    const dpf_codes_label labels = {label, wide_label, classes}, none = {NULL, false, 1};
    const size_t cells = plan->cell[plan->groups];
    const bool pairs = classes == 2;
    uint32_t *pair = (uint32_t *)joint + 2 * cells; /* two numbers of 16 bits */
    chosen some;
#if defined(DPF_TARGET_AVX512)
    if (planed) count_planes(codes, labels, mask, planed, total);
#else
    (void)planed; /* 0 */
#endif
    if (plan->groups == 0) return;
    memset(joint, 0, cells * DPF_CODES_COUNTED(classes) * sizeof *joint);
    for (size_t r = 0; r < SPAN; r++) some.weight[r] = 1;
    for (size_t start = 0, end, held = 0; start < codes->n; start = end) {
        end = codes->n - start < SPAN ? codes->n : start + SPAN;
        if (mask) choose_masked(mask, start, end, &some);
        else
            for (size_t i = start, b = 0; i < end; i += BLOCK, b++) some.rows[b] = end - i < BLOCK ? end - i : BLOCK;
        if (pairs) {
            label_pairs(labels, start, end, !mask, &some);
            dpf_codes_one_add_span(codes, plan, none, start, end, &some, pair);
            held += SPAN;
            if (held + SPAN > UINT16_MAX || end == codes->n) part_pairs(cells, pair, joint), held = 0;
        } else dpf_codes_one_add_span(codes, plan, labels, start, end, &some, joint);
    }
    dpf_codes_one_settle(codes, plan, joint, classes, classes, classes, total);
}

DPF_BODY uint32_t largest_size(const int32_t *weight, size_t count) {
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t size = weight[i] < 0 ? 0 - (uint32_t)weight[i] : (uint32_t)weight[i];
        most = size > most ? size : most;
    }
    return most;
}
DPF_LEVELS(uint32_t, dpf_codes_largest_size, largest_size, (const int32_t *weight, size_t count), (weight, count))

void dpf_codes_sum(const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *weight, size_t k,
                   int32_t *DPF_RESTRICT joint, int64_t *DPF_RESTRICT total) {
    const uint32_t most = dpf_codes_largest_size(weight, codes->n * k);
    const size_t fit = most == 0 ? SIZE_MAX / 2 : most > INT32_MAX ? 1 : INT32_MAX / most;
    for (size_t l = 0, kept; l < k; l += kept) {
        kept = k - l < 8 ? k - l : 8;
        if (kept == 1) dpf_codes_one_sum(codes, plan, weight + l, k, kept, fit, joint, total + l);
        else if (kept == 2) dpf_codes_two_sum(codes, plan, weight + l, k, kept, fit, joint, total + l);
        else if (kept <= 4) dpf_codes_four_sum(codes, plan, weight + l, k, kept, fit, joint, total + l);
        else dpf_codes_eight_sum(codes, plan, weight + l, k, kept, fit, joint, total + l);
    }
}

/* ---- single columns ------------------------------------------------------ */

DPF_BODY uint32_t largest(const void *codes, bool wide, size_t n) {
    uint16_t most = 0;
    uint8_t most_narrow = 0;
    if (wide)
        for (size_t i = 0; i < n; i++) most = ((const uint16_t *)codes)[i] > most ? ((const uint16_t *)codes)[i] : most;
    else
        for (size_t i = 0; i < n; i++) {
            const uint8_t code = ((const uint8_t *)codes)[i];
            most_narrow = code > most_narrow ? code : most_narrow;
        }
    return wide ? most : most_narrow;
}

/* Whether codes lie within low to low + span, as bytes. */
DPF_BODY void within(const void *codes, bool wide, size_t start, size_t rows, uint16_t low, uint16_t span,
                     uint8_t *DPF_RESTRICT out) {
    const uint8_t *narrow = (const uint8_t *)codes + start, low_byte = (uint8_t)low, span_byte = (uint8_t)span;
    const uint16_t *code = (const uint16_t *)codes + start;
    if (wide)
        for (size_t i = 0; i < rows; i++) out[i] = (uint16_t)(code[i] - low) <= span;
    else
        for (size_t i = 0; i < rows; i++) out[i] = (uint8_t)(narrow[i] - low_byte) <= span_byte;
}

DPF_BODY void match(const void *codes, bool wide, size_t n, uint32_t low, uint32_t high,
                    uint64_t *DPF_RESTRICT rows) {
    uint8_t byte[SPAN];
    for (size_t start = 0; start < n; start += SPAN) {
        const size_t size = n - start < SPAN ? n - start : SPAN;
        within(codes, wide, start, size, (uint16_t)low, (uint16_t)(high - low), byte);
        dpf_bits_pack(byte, 1, size, rows + start / 64);
    }
}

/* ---- one copy for each level --------------------------------------------- */

DPF_LEVELS(uint32_t, dpf_codes_largest, largest, (const void *column, bool wide, size_t n), (column, wide, n))
DPF_LEVELS(void, dpf_codes_match, match,
           (const void *column, bool wide, size_t n, uint32_t low, uint32_t high, uint64_t *DPF_RESTRICT rows),
           (column, wide, n, low, high, rows))
