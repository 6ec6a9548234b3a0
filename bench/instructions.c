/*
 * instructions.c - kernels on small fixed inputs, for instruction counts and for platforms.
 *
 *   instructions NAME     prepares the inputs of kernel NAME and runs it inside `measured`, which callgrind is
 *                         told to count (instructions.py)
 *   instructions          the names
 *   instructions all      runs every kernel, and prints a hash of all that it wrote: the same on every machine
 *                         (tests/platforms/check.py)
 *   instructions best     the same at the best instruction-set level of the machine; other runs are at the scalar one
 *
 * Kernels are linked as they stand.
 *
 * To add a kernel: a function that prepares when `measuring` is false and runs when it is true, and its name
 * in `kernels`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bins.h"
#include "bits.h"
#include "capped_scaling.h"
#include "cells.h"
#include "classes.h"
#include "codes.h"
#include "cover.h"
#include "descent.h"
#include "dpf_cpu.h"
#include "draw.h"
#include "grid.h"
#include "integer_matrix.h"
#include "levels.h"
#include "logistic.h"
#include "measure.h"
#include "multiplicative_weights.h"
#include "net.h"
#include "noise.h"
#include "reals.h"
#include "resampling.h"
#include "scores.h"
#include "signs.h"
#include "sparse_vector.h"
#include "spread.h"
#include "texts.h"
#include "trees.h"
#include "unit_rows.h"

/* ---- inputs: splitmix64, the same everywhere -------------------------- */

static uint64_t mix(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t next_uint64(void *state) { return mix(state); }
static uint64_t stream = 1;
static bitgen_t rng = {.state = &stream, .next_uint64 = next_uint64};

/* Every buffer, for the hash: arrays of elements of 1, 2, 4 or 8 bytes, read as numbers, so that the order of
 * bytes does not matter. Buffers of structures are left out. */
static struct {
    const void *start;
    size_t count, size;
} buffer[64];
static size_t buffers;

static void *zeros(size_t count, size_t size) {
    void *start = calloc(count, size);
    if (start == NULL || buffers == sizeof buffer / sizeof buffer[0]) exit(2);
    buffer[buffers].start = start, buffer[buffers].count = count, buffer[buffers++].size = size;
    return start;
}

static uint64_t hashed(void) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t b = 0; b < buffers; b++) {
        for (size_t i = 0; i < buffer[b].count; i++) {
            const unsigned char *at = (const unsigned char *)buffer[b].start + i * buffer[b].size;
            uint8_t one;
            uint16_t two;
            uint32_t four;
            uint64_t value = 0;
            if (buffer[b].size == 1) memcpy(&one, at, 1), value = one;
            else if (buffer[b].size == 2) memcpy(&two, at, 2), value = two;
            else if (buffer[b].size == 4) memcpy(&four, at, 4), value = four;
            else if (buffer[b].size == 8) memcpy(&value, at, 8);
            hash = (hash ^ value) * 0x100000001b3u;
            hash ^= hash >> 29;
        }
    }
    buffers = 0;
    stream = 1;
    return hash;
}

static uint64_t *words(size_t size) {
    uint64_t state = 7, *out = zeros(size, 8);
    for (size_t i = 0; i < size; i++) out[i] = mix(&state);
    return out;
}

static int8_t *signs(size_t n) {
    uint64_t state = 8;
    int8_t *out = zeros(n, 1);
    for (size_t i = 0; i < n; i++) out[i] = mix(&state) & 1 ? 1 : -1;
    return out;
}

static int32_t *scores(size_t n, uint64_t span) {
    uint64_t state = 9;
    int32_t *out = zeros(n, sizeof *out);
    for (size_t i = 0; i < n; i++) out[i] = (int32_t)(mix(&state) % span);
    return out;
}

/* ---- kernels ---------------------------------------------------------- */

/* Sizes of packed tables, in rows and columns. */
enum { N = 1024, D = 2048, LEVELS = 1000, SCORES = 1 << 17, DRAWS = 1 << 14 };

static void bits_pack(bool measuring) {
    static uint8_t *x;
    static uint64_t *rows;
    if (measuring) {
        dpf_bits_pack(x, N, D, rows);
        return;
    }
    uint64_t state = 7;
    x = zeros(N * D, 1);
    for (size_t i = 0; i < N * D; i++) x[i] = mix(&state) & 1;
    rows = zeros(N * D / 64, 8);
}

static void bits_transpose(bool measuring) {
    static uint64_t *rows, *columns;
    if (measuring) {
        dpf_bits_transpose(rows, N, D, columns);
        return;
    }
    rows = words(N * D / 64);
    columns = zeros(N * D / 64, 8);
}

static void bits_positional_popcount(bool measuring) {
    static uint64_t *rows, *scratch;
    static int64_t *out;
    if (measuring) {
        dpf_bits_positional_popcount(rows, N, D / 64, NULL, NULL, N, D, scratch, out);
        return;
    }
    rows = words(N * D / 64);
    scratch = calloc(DPF_BITS_SCRATCH, 8); /* not hashed */
    out = zeros(D, 8);
}

static dpf_levels levels_of_scores(void) {
    const size_t blocks = SCORES / DPF_LEVELS_BLOCK;
    const double exponent = 0.01;
    return (dpf_levels){
        .scores = scores(SCORES, LEVELS),
        .n = SCORES,
        .size = sizeof(int32_t),
        .exponent = exponent,
        .rate = (float)(exponent / log(2) * 0x1p23),
        .cap = 2301, /* 23 / exponent, and 1 */
        .share_rate = (float)(exponent / log(2) * 0x1p23),
        .blocks = blocks,
        .entries = blocks,
        .best = zeros(blocks, 8),
        .mass = zeros(blocks, 8),
        .upto = zeros(blocks, 8),
    };
}

static void levels_scan(bool measuring) {
    static dpf_levels levels;
    if (measuring) dpf_levels_scan(&levels);
    else levels = levels_of_scores();
}

static void levels_draw(bool measuring) {
    static dpf_levels levels;
    static dpf_levels_round draws;
    static int64_t *drawn;
    if (measuring) {
        dpf_levels_coin coin;
        dpf_levels_start(&draws, DRAWS);
        while (!dpf_levels_draw(&rng, &levels, 1, &draws, drawn, &coin)) dpf_levels_toss(&draws, true);
        return;
    }
    levels = levels_of_scores();
    dpf_levels_scan(&levels);
    dpf_levels_rank(&levels);
    levels.shift = 18 - 32; /* SCORES has 18 bits */
    dpf_levels_weigh(&levels, 0, levels.entries);
    draws.trials = zeros(DRAWS, sizeof *draws.trials);
    drawn = zeros(DRAWS, 8);
}

static void cover_count(bool measuring) {
    static uint64_t *columns, *label;
    static int64_t *count;
    if (measuring) {
        dpf_cover_count(columns, D, N, label, 2, count);
        return;
    }
    columns = words(N * D / 64);
    label = words(2 * D / 64);
    for (size_t w = 0; w < D / 64; w++) label[D / 64 + w] = ~label[w];
    count = zeros(2 * N, 8);
}

static void scores_add_packed(bool measuring) {
    static uint64_t *rows, *scratch;
    static int64_t *tally, *score;
    static int8_t *y;
    if (measuring) {
        dpf_scores_add_packed(rows, N, D, y, NULL, N, scratch, tally, score);
        return;
    }
    rows = words(N * D / 64);
    y = signs(N);
    scratch = calloc(DPF_BITS_SCRATCH, 8); /* not hashed */
    tally = zeros(DPF_SCORES_COLUMNS, 8);
    score = zeros(D, 8);
}

static void scores_add_csr(bool measuring) {
    static dpf_csr rows;
    static int64_t *score;
    static int8_t *y;
    enum { ENTRIES = 64 };
    if (measuring) {
        dpf_scores_add_csr(&rows, y, NULL, N, score);
        return;
    }
    int64_t *indptr = zeros(N + 1, 8);
    int32_t *indices = zeros(N * ENTRIES, 4);
    for (size_t i = 0; i <= N; i++) indptr[i] = (int64_t)(i * ENTRIES);
    for (size_t p = 0; p < N * ENTRIES; p++) indices[p] = (int32_t)(p % ENTRIES * (D / ENTRIES) + p / ENTRIES % 32);
    rows = (dpf_csr){indptr, indices, NULL};
    y = signs(N);
    score = zeros(D, 8);
}

static void scores_votes_packed(bool measuring) {
    static uint64_t *rows;
    static int64_t index[256], count[256], *vote;
    if (measuring) {
        dpf_scores_votes_packed(rows, N, D, index, count, 256, true, vote);
        return;
    }
    rows = words(N * D / 64);
    for (int64_t p = 0; p < 256; p++) index[p] = p * (D / 256), count[p] = 1 + p % 3;
    vote = zeros(N, 8);
}

/* Scale 10, as dpfast/kernels/noise.pyx prepares it. */
static void noise(bool measuring, dpf_noise_law *law) {
    static int64_t *out;
    uint64_t word[2];
    if (measuring) {
        dpf_noise_draw(&rng, law, 1 << 16, DRAWS, out, word);
        return;
    }
    law->cells = 16;
    law->area = 10;
    while (!dpf_noise_prepare(law)) law->area++;
    out = zeros(DRAWS, 8);
}

static void noise_laplace(bool measuring) {
    static dpf_noise_law law = {.shift = 10};
    law.rate = (uint64_t)ldexp(1.4426950408889634 / 10, 66); /* log2(e) / 10 */
    noise(measuring, &law);
}

static void noise_gaussian(bool measuring) {
    static dpf_noise_law law = {.shift = 7, .squared = true};
    law.rate = (uint64_t)ldexp(0.8493218002880191 / 10, 67); /* sqrt(log2(e) / 2) / 10 */
    noise(measuring, &law);
}

static void measure_project(bool measuring) {
    enum { SIZE = 500 };
    static int32_t *score, *weight, table[SIZE];
    static uint16_t pairs[SIZE + 2];
    static int64_t *group;
    static int8_t *y;
    if (measuring) {
        int64_t more;
        dpf_measure_pairs(table, SIZE, pairs);
        dpf_measure_groups(table, SIZE, 3, group);
        group[0] += dpf_measure_look(score, SCORES, pairs, SIZE, 300, weight, &more);
        dpf_measure_settle(y, SCORES, more / 2, weight);
        return;
    }
    score = scores(SCORES, LEVELS);
    weight = zeros(SCORES, 4);
    group = zeros(SIZE / 8 + 1, 8);
    y = signs(SCORES);
    for (int32_t s = 0; s < SIZE; s++) table[s] = SIZE - 1 - s;
}

static void measure_weights(bool measuring) {
    enum { SIZE = 500 };
    static int32_t *score, *weight, table[SIZE];
    static int64_t *count;
    static int8_t *y;
    if (measuring) {
        int64_t more;
        dpf_measure_count(score, SCORES, 0, 0, count);
        count[0] += dpf_measure_total(score, SCORES, table, SIZE, 300, &more);
        dpf_measure_weights(score, y, SCORES, table, SIZE, 300, more / 2, weight);
        return;
    }
    score = scores(SCORES, LEVELS);
    weight = zeros(SCORES, 4);
    y = signs(SCORES);
    count = zeros(LEVELS, 8);
    for (int32_t s = 0; s < SIZE; s++) table[s] = SIZE - 1 - s;
}

/* Rows in the unit ball for the functions below. */
static float *x, *hypothesis, *margin;
static double *scale;
static dpf_unit_rows rows_of_x;

static void unit_rows(void) {
    const int32_t *random = scores(N * D, 2001);
    x = zeros(N * D, 4);
    for (size_t p = 0; p < N * D; p++) x[p] = (float)(random[p] - 1000) / 1000;
    hypothesis = zeros(D + 1, 4);
    memcpy(hypothesis, x, D * sizeof *x);
    scale = zeros(N, 8);
    rows_of_x = (dpf_unit_rows){.kind = DPF_UNIT_ROWS_DENSE, .x = x, .n = N, .d = D, .bits = 20};
    dpf_unit_rows_scale(&rows_of_x, 1, true, scale);
}

static void unit_rows_margins(bool measuring) {
    if (measuring) {
        dpf_unit_rows_margins(&rows_of_x, 1, scale, hypothesis, NULL, margin);
        return;
    }
    unit_rows();
    margin = zeros(N, 4);
}

static void unit_rows_margins_narrow(bool measuring) {
    enum { NARROW = 12 };
    if (measuring) {
        dpf_unit_rows_margins(&rows_of_x, 1, scale, hypothesis, NULL, margin);
        return;
    }
    unit_rows();
    rows_of_x.d = NARROW;
    dpf_unit_rows_scale(&rows_of_x, 1, true, scale);
    margin = zeros(N, 4);
}

static void unit_rows_checksum(bool measuring) {
    static uint64_t *checksum;
    if (measuring) {
        *checksum = dpf_unit_rows_checksum(x, N * D - 1); /* the last words do not fill all lanes */
        return;
    }
    unit_rows();
    checksum = zeros(1, 8);
}

static void unit_rows_add(bool measuring) {
    static int32_t *weight;
    static int64_t *total;
    if (measuring) {
        dpf_unit_rows_add(&rows_of_x, 1, scale, weight, total);
        return;
    }
    unit_rows();
    weight = scores(N, 4096);
    total = zeros(D + 1, 8);
}

static void unit_rows_apart(bool measuring) {
    static int32_t *centre;
    static int64_t *apart;
    if (measuring) {
        dpf_unit_rows_apart(&rows_of_x, 1, scale, centre, apart);
        return;
    }
    unit_rows();
    centre = scores(D + 1, 256);
    apart = zeros(N, 8);
}

/* Narrow rows, so that what is done for each class beside the products counts. */
static void unit_rows_residuals_many(bool measuring) {
    enum { NARROW = 12, CLASSES = 5 };
    static int32_t *limit, *residual;
    static uint16_t *label;
    static float *lane, *score;
    static int64_t *total;
    static const float odds[CLASSES] = {0.1f};
    if (measuring) {
        dpf_unit_rows_residuals_many(&rows_of_x, 1, scale, hypothesis, CLASSES, 9, odds, label, limit, NULL, NULL, lane,
                                     score, residual, total);
        return;
    }
    unit_rows();
    rows_of_x.d = NARROW, rows_of_x.bits = 17;
    dpf_unit_rows_scale(&rows_of_x, 1, true, scale);
    const size_t block = dpf_unit_rows_in_block(&rows_of_x);
    label = zeros(N, 2);
    limit = scores(N, 4097);
    lane = zeros(DPF_LOGISTIC_LANES(CLASSES), 4);
    score = zeros(block * CLASSES, 4);
    residual = zeros(block * CLASSES, 4);
    total = zeros(CLASSES * (NARROW + 2), 8);
    for (size_t i = 0; i < N; i++) label[i] = (uint16_t)(i % CLASSES);
}

static void net_count(bool measuring) {
    enum { M = 4, SIDE = 15, FACE = SIDE * SIDE, GRID = 1 << 16 };
    static dpf_net net = {.n = N, .m = M, .side = SIDE, .tau = GRID / 5};
    static uint32_t scratch[4 * (SIDE + 1)], wrong[2 * SIDE];
    static uint64_t *histogram;
    if (measuring) {
        dpf_net_count(&net, (M - 2) * FACE, M * FACE, scratch, wrong, histogram); /* both inner coordinates */
        return;
    }
    int32_t *z = scores(N * M, GRID);
    for (size_t p = 0; p < N * M; p++) z[p] = z[p] / 2 - GRID / 4; /* four coordinates of half a row each */
    double *inverse = zeros(2 * N, 8);
    int64_t *ends = zeros(4, 8);
    net.z = z, net.inverse = inverse, net.ends = ends;
    dpf_net_prepare(&net, inverse, ends);
    histogram = zeros(N + 1, 8);
}

static void sparse_vector_run(bool measuring) {
    static dpf_sparse_vector tests = {.threshold = 4000, .rate = 0.02};
    static int64_t *count, *length, made;
    static size_t at;
    static uint64_t word;
    if (measuring) {
        dpf_sparse_vector_run(&rng, 1, &tests, count, length, DRAWS, &at, &made, &word);
        return;
    }
    count = zeros(DRAWS, 8);
    length = zeros(DRAWS, 8);
    for (size_t i = 0; i < DRAWS; i++) count[i] = (int64_t)(i % 2), length[i] = 1000;
}

static void draw_below(bool measuring) {
    static uint64_t *bound, *drawn;
    if (measuring) {
        dpf_draw_below_each(&rng, bound, DRAWS, drawn);
        return;
    }
    bound = words(DRAWS);
    for (size_t i = 0; i < DRAWS; i++) bound[i] = 1 + (bound[i] >> i % 64);
    drawn = zeros(DRAWS, 8);
}

static double *weights_of_doubles(size_t n) {
    uint64_t state = 11;
    double *out = zeros(n, 8);
    for (size_t i = 0; i < n; i++) out[i] = (double)(mix(&state) >> 40);
    return out;
}

static void resampling_draw(bool measuring) {
    static double *weight, largest;
    static uint64_t *upto;
    static int64_t *drawn;
    if (measuring) {
        dpf_resampling_check(weight, SCORES, &largest);
        dpf_resampling_sum(weight, SCORES, 1, upto);
        dpf_resampling_draw(&rng, weight, SCORES, 1, upto, N, drawn);
        return;
    }
    weight = weights_of_doubles(SCORES);
    upto = zeros((SCORES + DPF_RESAMPLING_BLOCK - 1) / DPF_RESAMPLING_BLOCK, 8);
    drawn = zeros(N, 8);
}

static void capped_scaling_project(bool measuring) {
    static double *weight, *out, rest, largest;
    static size_t capped, positive;
    if (measuring) {
        dpf_capped_scaling_check(weight, SCORES, &positive, &largest);
        dpf_capped_scaling_count(weight, SCORES, 0x1p-23, &capped, &rest);
        dpf_capped_scaling_apply(weight, SCORES, 0x1p-23, out);
        return;
    }
    weight = weights_of_doubles(SCORES);
    out = zeros(SCORES, 8);
}

static void trees_leaves(bool measuring) {
    enum { TREES = 16, DEPTH = 4, NODES = (1 << DEPTH) - 1, COLUMNS = 8, EACH = 8, QUESTIONS = COLUMNS * EACH };
    static const uint8_t *column[COLUMNS];
    static uint32_t *asked, *node;
    static uint8_t *threshold, *leaf;
    static uint64_t *answer;
    if (measuring) {
        dpf_trees_leaves(column, asked, threshold, QUESTIONS, node, TREES, DEPTH, N, N, answer, leaf);
        return;
    }
    uint64_t state = 10;
    for (size_t j = 0; j < COLUMNS; j++) {
        uint8_t *bytes = zeros(N, 1);
        for (size_t i = 0; i < N; i++) bytes[i] = (uint8_t)mix(&state);
        column[j] = bytes;
    }
    asked = zeros(QUESTIONS, 4), threshold = zeros(QUESTIONS, 1), node = zeros(TREES * NODES, 4);
    for (uint32_t q = 0; q < QUESTIONS; q++) asked[q] = q / EACH, threshold[q] = (uint8_t)mix(&state);
    for (size_t q = 0; q < TREES * NODES; q++) node[q] = mix(&state) % QUESTIONS;
    answer = zeros(QUESTIONS * DPF_TREES_WORDS, 8);
    leaf = zeros(TREES * N, 1);
}

static void trees_thresholds(bool measuring) {
    enum { TREES = 16, DEPTH = 4, NODES = (1 << DEPTH) - 1, COLUMNS = 8 };
    static const uint8_t *column[COLUMNS];
    static uint32_t *asked, *count, *held;
    static double *quantile;
    static uint8_t *place, *threshold;
    if (measuring) {
        dpf_trees_thresholds(column, asked, quantile, TREES, DEPTH, N, count, place, threshold, held);
        return;
    }
    uint64_t state = 11;
    for (size_t j = 0; j < COLUMNS; j++) {
        uint8_t *bytes = zeros(N, 1);
        for (size_t i = 0; i < N; i++) bytes[i] = (uint8_t)mix(&state);
        column[j] = bytes;
    }
    asked = zeros(TREES * NODES, 4), quantile = zeros(TREES * NODES, sizeof *quantile);
    for (size_t q = 0; q < TREES * NODES; q++)
        asked[q] = mix(&state) % COLUMNS, quantile[q] = (double)(mix(&state) >> 12) * 0x1p-52;
    count = zeros(256 << (DEPTH - 1), 4), held = zeros(TREES << DEPTH, 4);
    place = zeros(N, 1), threshold = zeros(TREES * NODES, 1);
}

static void classes_counts(bool measuring) {
    static uint64_t *columns, *members;
    static uint32_t *count;
    if (measuring) {
        dpf_classes_counts(columns, members, D, N / 64, count);
        return;
    }
    columns = words(N * D / 64);
    members = words(N / 64);
    count = zeros(D, 4);
}

static void signs_matrix(bool measuring) {
    static const uint64_t key[2] = {11, 13};
    static uint64_t *matrix;
    if (measuring) {
        dpf_signs_matrix(key, 0, D, N, matrix);
        return;
    }
    matrix = zeros(D * N / 64, 8);
}

static void signs_dense(bool measuring) {
    enum { ROWS = 50, WIDE = 200, PARTS = 130 };
    static const uint64_t key[2] = {11, 13};
    static uint64_t *matrix;
    static float *x, *projected;
    if (measuring) {
        dpf_signs_dense(x, false, ROWS, WIDE, matrix, PARTS, projected);
        return;
    }
    matrix = zeros(WIDE * DPF_WORDS(PARTS), 8);
    dpf_signs_matrix(key, 0, WIDE, PARTS, matrix);
    x = zeros(ROWS * WIDE, 4);
    for (size_t i = 0; i < ROWS * WIDE; i++) x[i] = (float)(mix(&stream) >> 40) * 0x1p-23f - 1;
    projected = zeros(ROWS * PARTS, 4);
}

/* A table of COLUMNS columns of 32 codes, each a group of its own. */
enum { COLUMNS = 16, CODES = 32, CODE_ROWS = 1 << 14 };
static const void *code_column[COLUMNS];
static uint32_t *code_size, *code_offset, *code_first, *code_member, *code_cell;
static uint8_t *code_wide;
static dpf_codes code_table;
static dpf_codes_plan code_plan;

static void codes(void) {
    uint64_t state = 10;
    code_size = zeros(COLUMNS, 4), code_offset = zeros(COLUMNS + 1, 4), code_wide = zeros(COLUMNS, 1);
    for (size_t j = 0; j < COLUMNS; j++) {
        uint8_t *column = zeros(CODE_ROWS, 1);
        for (size_t i = 0; i < CODE_ROWS; i++) column[i] = mix(&state) % CODES;
        code_column[j] = column;
        code_size[j] = CODES;
        code_offset[j + 1] = (uint32_t)((j + 1) * CODES);
    }
    code_table = (dpf_codes){code_column, code_wide, code_size, code_offset, CODE_ROWS, COLUMNS};
    code_first = zeros(COLUMNS + 1, 4), code_member = zeros(COLUMNS, 4), code_cell = zeros(COLUMNS + 1, 4);
    for (uint32_t g = 0; g < COLUMNS; g++) {
        code_first[g + 1] = g + 1, code_member[g] = g, code_cell[g + 1] = (g + 1) * CODES;
    }
    code_plan = (dpf_codes_plan){code_first, code_member, code_cell, COLUMNS};
}

static void codes_count(bool measuring) {
    static uint8_t *label;
    static int32_t *joint;
    static int64_t *total;
    if (measuring) {
        dpf_codes_count(&code_table, &code_plan, 0, label, false, 2, NULL, joint, total);
        return;
    }
    codes();
    label = zeros(CODE_ROWS, 1);
    for (size_t i = 0; i < CODE_ROWS; i++) label[i] = i % 3 == 0;
    joint = calloc(COLUMNS * CODES * DPF_CODES_COUNTED(2), sizeof *joint); /* scratch */
    total = zeros(COLUMNS * CODES * 2, 8);
}

static void codes_sum(bool measuring) {
    static int32_t *weight, *joint;
    static int64_t *total;
    if (measuring) {
        dpf_codes_sum(&code_table, &code_plan, weight, 1, joint, total);
        return;
    }
    codes();
    weight = scores(CODE_ROWS, 4096);
    joint = calloc(COLUMNS * CODES, sizeof *joint); /* scratch */
    total = zeros(COLUMNS * CODES, 8);
}

static void codes_margins(bool measuring) {
    static int32_t *table, *joint, *margin;
    static uint8_t *planes;
    if (measuring) {
        dpf_codes_margins(&code_table, &code_plan, table, 1, joint, planes, margin);
        return;
    }
    codes();
    table = scores(COLUMNS * CODES, 1 << 20);
    joint = calloc(COLUMNS * CODES, sizeof *joint); /* scratch */
    planes = calloc(DPF_CODES_PLANES * COLUMNS, 1); /* scratch */
    margin = zeros(CODE_ROWS, 4);
}

static void logistic_two(bool measuring) {
    static int32_t *score, *limit, *residual;
    static uint8_t *label;
    if (measuring) {
        dpf_logistic_two(score, false, 1e-6f, 0.1f, label, limit, CODE_ROWS, residual);
        return;
    }
    score = scores(CODE_ROWS, 1 << 20);
    label = zeros(CODE_ROWS, 1);
    limit = zeros(CODE_ROWS, 4);
    residual = zeros(CODE_ROWS, 4);
    for (size_t i = 0; i < CODE_ROWS; i++) label[i] = i % 3 == 0, limit[i] = 1 << 16;
}

static void logistic_many(bool measuring) {
    enum { CLASSES = 7 };
    static int32_t *score, *limit, *residual;
    static uint16_t *label;
    static float *lane;
    static const float constant[CLASSES];
    if (measuring) {
        dpf_logistic_many(score, false, 1e-6f, constant, label, limit, CODE_ROWS, CLASSES, lane, residual);
        return;
    }
    score = scores(CODE_ROWS * CLASSES, 1 << 20);
    label = zeros(CODE_ROWS, 2);
    limit = zeros(CODE_ROWS, 4);
    residual = zeros(CODE_ROWS * CLASSES, 4);
    lane = zeros(DPF_LOGISTIC_LANES(CLASSES), 4);
    for (size_t i = 0; i < CODE_ROWS; i++) label[i] = (uint16_t)(i % CLASSES), limit[i] = 1 << 16;
}

static void reals_mixture(bool measuring) {
    enum { VALUES = 100, SCALES = 12, STEPS = 84 };
    static double *square, *begin, *middle, *density, *kept, *weight, *share;
    if (measuring) {
        dpf_reals_mixture(square, VALUES, 1, 3, begin, middle, STEPS, density, kept, SCALES, 10, 0.1, weight, share);
        return;
    }
    const int32_t *random = scores(VALUES, 1000);
    square = zeros(VALUES, 8), begin = zeros(STEPS, 8), middle = zeros(STEPS, 8), share = zeros(VALUES, 8);
    density = zeros(SCALES * STEPS, 8), kept = zeros(SCALES, 8), weight = zeros(SCALES + 1, 8);
    for (size_t i = 0; i < VALUES; i++) square[i] = random[i] / 8.0;
    for (size_t l = 0; l < STEPS; l++) begin[l] = (double)l, middle[l] = (double)l + 0.5;
    for (size_t p = 0; p < SCALES * STEPS; p++) density[p] = 1 / (1 + (double)p);
    for (size_t s = 0; s < SCALES; s++) kept[s] = (double)s / SCALES;
    for (size_t s = 0; s <= SCALES; s++) weight[s] = 1.0 / (SCALES + 1);
}

static void reals_smooth(bool measuring) {
    enum { COUNTS = 1 << 8 };
    static double *x, *apart;
    if (measuring) {
        dpf_reals_smooth(x, COUNTS, 200, apart);
        return;
    }
    const int32_t *random = scores(COUNTS, 1000);
    x = zeros(COUNTS, 8), apart = zeros(COUNTS, 8);
    for (size_t i = 0; i < COUNTS; i++) x[i] = random[i];
}

/* GROUPS groups of ENTRIES coefficients, each of one number. */
enum { ENTRIES = 2000, GROUPS = 80 };

static double *reals_below(size_t n, double most) {
    const int32_t *random = scores(n, 1 << 20);
    double *real = zeros(n, 8);
    for (size_t i = 0; i < n; i++) real[i] = most * random[i] / (1 << 20);
    return real;
}

static uint32_t *groups(void) {
    uint32_t *group = zeros(ENTRIES, 4);
    for (size_t i = 0; i < ENTRIES; i++) group[i] = (uint32_t)(i * GROUPS / ENTRIES);
    return group;
}

static void descent_move(bool measuring) {
    static double *sum, *rate, *velocity, *total, *square;
    static uint32_t *group;
    if (measuring) {
        dpf_descent_move(sum, group, rate, ENTRIES, 1, 0.9, 0.1, velocity, total);
        dpf_descent_squares(total, group, GROUPS, ENTRIES, 1, square);
        return;
    }
    sum = reals_below(ENTRIES, 3), velocity = reals_below(ENTRIES, 2), total = reals_below(ENTRIES, 9);
    rate = reals_below(GROUPS, 0.1), square = zeros(GROUPS, 8), group = groups();
}

static void descent_shrink(bool measuring) {
    static double *square, *members, *noise, *signal, *kept, *curved, *times;
    static uint8_t *tells;
    if (measuring) {
        const dpf_descent_limits limits = {1e-6, 2, 1.2, 3, 0.5, 32, 0.7, 0.25};
        dpf_descent_shrink(square, members, noise, tells, GROUPS, 1, 0.8, 10, signal, kept);
        dpf_descent_times(noise, curved, signal, GROUPS, &limits, times);
        return;
    }
    square = reals_below(GROUPS, 100), members = zeros(GROUPS, 8), noise = zeros(GROUPS, 8);
    signal = zeros(GROUPS, 8), kept = zeros(GROUPS, 8), curved = zeros(GROUPS, 8), times = zeros(GROUPS, 8);
    tells = zeros(GROUPS, 1);
    for (size_t g = 0; g < GROUPS; g++) {
        members[g] = ENTRIES / GROUPS, noise[g] = 1 / (1 + (double)g), curved[g] = 0.01 * (1 + (double)g);
        square[g] *= square[g], tells[g] = g % 5 > 0;
    }
}

static void grid_of_columns(bool measuring) {
    static double *x;
    static int64_t *start;
    static int32_t *q;
    if (measuring) {
        dpf_grid_round(x, ENTRIES, dpf_grid_step(x, start, GROUPS, 1, 0x1p24, 0x1p31), q);
        return;
    }
    x = reals_below(ENTRIES, 5), start = zeros(GROUPS + 1, 8), q = zeros(ENTRIES, 4);
    for (size_t j = 0; j <= GROUPS; j++) start[j] = (int64_t)(j * ENTRIES / GROUPS);
}

static void integer_matrix(bool measuring) {
    enum { EACH = 7 };
    static dpf_integer_matrix matrix;
    static int64_t *start, *value, *weight, *total;
    static int32_t *column;
    static double *real, *w, *product;
    if (measuring) {
        dpf_integer_matrix_products(&matrix, w, 1, product);
        dpf_integer_matrix_add(&matrix, weight, 1, total);
        return;
    }
    uint64_t state = 12;
    start = zeros(ENTRIES + 1, 8), value = zeros(ENTRIES * EACH, 8), weight = zeros(ENTRIES, 8);
    total = zeros(ENTRIES, 8), column = zeros(ENTRIES * EACH, 4), real = zeros(ENTRIES * EACH, 8);
    w = reals_below(ENTRIES, 1), product = zeros(ENTRIES, 8);
    for (size_t i = 0; i < ENTRIES; i++) start[i + 1] = (int64_t)((i + 1) * EACH), weight[i] = (int64_t)mix(&state);
    for (size_t p = 0; p < ENTRIES * EACH; p++) {
        column[p] = (int32_t)(mix(&state) % ENTRIES), value[p] = (int64_t)(mix(&state) % 1000) - 500;
        real[p] = (double)value[p];
    }
    matrix = (dpf_integer_matrix){start, column, value, real, ENTRIES};
}

static void codes_match(bool measuring) {
    static uint64_t *rows;
    if (measuring) {
        dpf_codes_match(code_column[0], false, CODE_ROWS, 3, 17, rows);
        return;
    }
    codes();
    rows = zeros(CODE_ROWS / 64, 8);
}

/* ---- cells of tables -------------------------------------------------- */

enum { CELLS = 1 << 14 };

/* Numbers, some of them whole, too large, too small, zero or missing. */
static double *numbers(void) {
    double *number = zeros(CELLS, 8);
    uint64_t state = 13;
    for (size_t i = 0; i < CELLS; i++) {
        const double whole = (double)(int64_t)(mix(&state) % 2001) - 1000;
        const double wide = ldexp(whole, (int)(mix(&state) % 120) - 60);
        number[i] = i % 7 == 0 ? NAN : i % 3 == 0 ? whole : i % 3 == 1 ? whole / 64 : wide;
    }
    return number;
}

static void bins_count(bool measuring) {
    enum { EDGES = 300 };
    static double *number, *edge;
    static uint8_t *narrow;
    static uint16_t *wide;
    if (measuring) {
        dpf_bins_count8(number, CELLS, edge, 200, 255, narrow);
        dpf_bins_count16(number, CELLS, edge, EDGES, 999, wide);
        return;
    }
    number = numbers(), edge = zeros(EDGES, 8), narrow = zeros(CELLS, 1), wide = zeros(CELLS, 2);
    for (size_t k = 0; k < EDGES; k++) edge[k] = 0.25 * (double)k - 20;
}

static void cells_of_numbers(bool measuring) {
    static double *number;
    static int64_t *code, *count, *start, *seen, *again;
    static uint8_t *year;
    static int32_t *compact;
    static uint16_t *value, *out;
    if (measuring) {
        const dpf_cells_values values = {start, value, 3, NULL, 0};
        dpf_cells_of_numbers(number, CELLS, code);
        const dpf_cells_stored stored = {code, CELLS, 8, 0};
        seen[0] = dpf_cells_bytes(code, CELLS, 0);
        dpf_cells_survey(stored, year, NULL, count);
        dpf_cells_count(stored, &values, 3, NULL, seen + 1);
        dpf_cells_take(stored, &values, true, NULL, out);
        for (size_t i = 0; i < CELLS; i++) number[i] = (double)(i % 5000);
        dpf_cells_of_numbers(number, CELLS, again);
        dpf_cells_compact(again, CELLS, 0, 4, compact);
        dpf_cells_expand((dpf_cells_stored){compact, CELLS, 4, 0}, again);
        return;
    }
    number = numbers(), code = zeros(CELLS, 8), again = zeros(CELLS, 8), compact = zeros(CELLS, 4), out = zeros(CELLS, 2);
    count = zeros(DPF_CELLS_SURVEYED, 8), year = zeros(DPF_CELLS_DATES, 1), seen = zeros(4, 8);
    start = zeros(3, 8), value = zeros(3, 2);
    start[1] = DPF_CELLS_ZERO, start[2] = DPF_CELLS_MISSING, value[1] = 1, value[2] = 2;
    for (size_t i = 0; i < DPF_CELLS_DATES; i++) year[i] = (uint8_t)(i / 366);
}

/* Fractions with two decimal places, kept in four bytes, and in two, of which each cell is looked up once. */
static void cells_decimals(bool measuring) {
    static double *number;
    static int64_t *code, *again, *count, *start, *seen, *work;
    static uint8_t *year;
    static int32_t *four;
    static int16_t *two;
    static uint16_t *value, *out;
    if (measuring) {
        const dpf_cells_values values = {start, value, 3, NULL, 0};
        dpf_cells_of_numbers(number, CELLS, code);
        const unsigned places = dpf_cells_places(code, CELLS, 0);
        seen[0] = places, seen[1] = dpf_cells_bytes(code, CELLS, places);
        dpf_cells_compact(code, CELLS, places, 4, four);
        dpf_cells_compact(code, CELLS, places, 2, two);
        dpf_cells_expand((dpf_cells_stored){four, CELLS, 4, places}, again);
        const dpf_cells_stored stored = {two, CELLS, 2, places};
        dpf_cells_survey(stored, year, work, count);
        dpf_cells_count(stored, &values, 3, work, seen + 2);
        dpf_cells_take(stored, &values, true, work, out);
        return;
    }
    number = zeros(CELLS, 8), code = zeros(CELLS, 8), again = zeros(CELLS, 8), four = zeros(CELLS, 4), two = zeros(CELLS, 2);
    count = zeros(DPF_CELLS_SURVEYED, 8), year = zeros(DPF_CELLS_DATES, 1), seen = zeros(5, 8), work = zeros(1 << 16, 8);
    start = zeros(3, 8), value = zeros(3, 2), out = zeros(CELLS, 2);
    start[1] = DPF_CELLS_ZERO, start[2] = DPF_CELLS_MISSING, value[1] = 1, value[2] = 2;
    for (size_t i = 0; i < DPF_CELLS_DATES; i++) year[i] = (uint8_t)(i / 366);
    for (size_t i = 0; i < CELLS; i++) number[i] = (double)((int64_t)(i * 7 % 16001) - 8000) / 100;
}

/* Cells with noisy rows, their parts, and the edges of bins that follow. */
static void spread_edges(bool measuring) {
    enum { PLACES = 200, PARTS = 300, RANKS = 99 };
    static double *noisy, *row, *end, *part_end, *parts_noisy, *ends, *rest, *part, *half, *below, *rank, *at, *kept;
    static int64_t *sizes;
    const dpf_spread_grid grid = {false, 1e-3, -50, 50};
    if (measuring) {
        const dpf_spread_noise noise = {2.5, 4, 1, 4};
        double total = 0;
        sizes[0] = (int64_t)dpf_spread_clear(noisy, PLACES, 2.5, 4, row);
        for (size_t i = 0; i < PLACES; i++) total += row[i];
        sizes[1] = (int64_t)dpf_spread_divide(row, end, PLACES, total, PARTS, 1.4, ends);
        dpf_spread_snap(ends, (size_t)sizes[1], &grid);
        sizes[1] = (int64_t)dpf_spread_distinct(ends, (size_t)sizes[1]);
        dpf_spread_steps(-40, 40, PARTS, part_end);
        dpf_spread_refine(row, end, PLACES, parts_noisy, part_end, PARTS, &grid, &noise, rest, part, half);
        dpf_spread_quantiles(part, part_end, PARTS, total, rank, RANKS, false, below, at);
        sizes[2] = (int64_t)dpf_spread_part(part, part_end, PARTS, total, 0.005 * total, at, RANKS, below, kept);
        return;
    }
    noisy = zeros(PLACES, 8), row = zeros(PLACES, 8), end = zeros(PLACES + 1, 8), rest = zeros(PLACES, 8);
    part_end = zeros(PARTS + 1, 8), parts_noisy = zeros(PARTS, 8), part = zeros(PARTS, 8), half = zeros(PARTS, 8);
    ends = zeros(2 * PARTS + 2 * PLACES, 8), below = zeros(PARTS + 1, 8);
    rank = zeros(RANKS, 8), at = zeros(RANKS, 8), kept = zeros(RANKS, 8), sizes = zeros(3, 8);
    uint64_t state = 29;
    for (size_t i = 0; i <= PLACES; i++) end[i] = 0.5 * (double)i - 50;
    for (size_t i = 0; i < PLACES; i++) noisy[i] = (double)(mix(&state) % 4000) / 1000 + (i > 60 && i < 140 ? 20 : -2);
    for (size_t k = 0; k < PARTS; k++) parts_noisy[k] = (double)(mix(&state) % 4000) / 1000 + (k > 90 && k < 210 ? 9 : -2);
    for (size_t k = 0; k < RANKS; k++) rank[k] = (double)(k + 1) / (RANKS + 1);
}

static void texts_kinds(bool measuring) {
    static const char *const form[] = {"",     "NA",         " 12.5e-3 ",  "-.5",      "2020-02-29", "2021-02-29 x",
                                       "word", "1999-12-31T", "3 Jan 2020", "1,234.5",  "inf",        "\xc2\xa0word\xe2\x80\x83"};
    enum { FORMS = sizeof form / sizeof *form, TEXTS = 1 << 12 };
    static uint8_t *text, *kind;
    static int64_t *ends;
    static int32_t *day;
    if (measuring) {
        const uint64_t mark[] = {UINT64_C(2) << 56 | (uint64_t)'A' << 8 | 'N', 0};
        day[TEXTS] = dpf_texts_kinds(text, ends, NULL, TEXTS, mark, 2, kind, day);
        return;
    }
    text = zeros(TEXTS * 16, 1), ends = zeros(TEXTS + 1, 8), kind = zeros(TEXTS, 1), day = zeros(TEXTS + 1, 4);
    for (size_t i = 0; i < TEXTS; i++) {
        const char *chosen = form[i % FORMS];
        const size_t size = strlen(chosen);
        memcpy(text + ends[i], chosen, size);
        ends[i + 1] = ends[i] + (int64_t)size;
    }
}

static void grid_of_reals(bool measuring) {
    static double *x, *ends;
    static int64_t *sum;
    static int32_t *q;
    if (measuring) {
        sum[0] = dpf_grid_sum(x, true, CELLS, 20);
        dpf_grid(x, true, CELLS, 16, q, ends, ends + 1);
        return;
    }
    x = reals_below(CELLS, 1.5), q = zeros(CELLS, 4), ends = zeros(2, 8), sum = zeros(1, 8);
}

static void weights_play(bool measuring) {
    enum { ROUNDS = 20, EXPERTS = 1501 };
    static float *loss;
    static int32_t *total;
    static uint64_t *sums;
    static int64_t *expert;
    if (measuring) {
        dpf_losses losses = {.kind = DPF_LOSSES_FLOAT, .values = loss, .stride = EXPERTS, .high = 1 << 16, .unit = 1 << 16};
        dpf_weights weights = {.narrow = total, .d = EXPERTS, .block = DPF_WEIGHTS_BLOCK, .exponent = 0x1p-18,
                               .rate = 46.166241308446828f, .sums = sums, .drawn = -1};
        dpf_weights_coin coin;
        size_t row = 0;
        dpf_weights_settle(&weights);
        expert[ROUNDS] = dpf_weights_play(&rng, &weights, &losses, 1, &row, ROUNDS, expert, &coin);
        expert[ROUNDS + 1] = weights.paid;
        return;
    }
    uint64_t state = 14;
    loss = zeros(ROUNDS * EXPERTS, 4), total = zeros(EXPERTS, 4), sums = zeros(2, 8), expert = zeros(ROUNDS + 2, 8);
    for (size_t i = 0; i < ROUNDS * EXPERTS; i++) loss[i] = (float)(mix(&state) >> 40) * 0x1p-24f;
}

/* ---- which ------------------------------------------------------------ */

static const struct {
    const char *name;
    void (*kernel)(bool measuring);
} kernels[] = {
    {"bins_count", bins_count},
    {"cells_of_numbers", cells_of_numbers},
    {"cells_decimals", cells_decimals},
    {"spread_edges", spread_edges},
    {"texts_kinds", texts_kinds},
    {"grid_of_reals", grid_of_reals},
    {"weights_play", weights_play},
    {"bits_pack", bits_pack},
    {"bits_transpose", bits_transpose},
    {"bits_positional_popcount", bits_positional_popcount},
    {"levels_scan", levels_scan},
    {"levels_draw", levels_draw},
    {"cover_count", cover_count},
    {"scores_add_packed", scores_add_packed},
    {"scores_add_csr", scores_add_csr},
    {"scores_votes_packed", scores_votes_packed},
    {"noise_laplace", noise_laplace},
    {"noise_gaussian", noise_gaussian},
    {"measure_project", measure_project},
    {"measure_weights", measure_weights},
    {"unit_rows_margins", unit_rows_margins},
    {"unit_rows_margins_narrow", unit_rows_margins_narrow},
    {"unit_rows_checksum", unit_rows_checksum},
    {"unit_rows_add", unit_rows_add},
    {"unit_rows_apart", unit_rows_apart},
    {"unit_rows_residuals_many", unit_rows_residuals_many},
    {"net_count", net_count},
    {"sparse_vector_run", sparse_vector_run},
    {"draw_below", draw_below},
    {"classes_counts", classes_counts},
    {"trees_leaves", trees_leaves},
    {"trees_thresholds", trees_thresholds},
    {"resampling_draw", resampling_draw},
    {"capped_scaling_project", capped_scaling_project},
    {"signs_matrix", signs_matrix},
    {"signs_dense", signs_dense},
    {"logistic_two", logistic_two},
    {"logistic_many", logistic_many},
    {"reals_mixture", reals_mixture},
    {"reals_smooth", reals_smooth},
    {"descent_move", descent_move},
    {"descent_shrink", descent_shrink},
    {"grid_of_columns", grid_of_columns},
    {"integer_matrix", integer_matrix},
    {"codes_match", codes_match},
    {"codes_count", codes_count},
    {"codes_sum", codes_sum},
    {"codes_margins", codes_margins},
};

void measured(void (*kernel)(bool measuring));
void measured(void (*kernel)(bool measuring)) { kernel(true); }

int main(int arguments, char **argument) {
    const int best = dpf_cpu_best();
    const bool at_best = arguments > 1 && strcmp(argument[1], "best") == 0;
    const bool all = at_best || (arguments > 1 && strcmp(argument[1], "all") == 0);
    if (at_best) dpf_cpu_share(&best);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        if (arguments < 2) {
            puts(kernels[k].name);
        } else if (all) {
            kernels[k].kernel(false);
            kernels[k].kernel(true);
            printf("%s %016llx\n", kernels[k].name, (unsigned long long)hashed());
        } else if (strcmp(kernels[k].name, argument[1]) == 0) {
            kernels[k].kernel(false);
            void (*volatile run)(void (*)(bool)) = measured; /* volatile: no compiler may inline it */
            run(kernels[k].kernel);
            return 0;
        }
    }
    return arguments < 2 || all ? 0 : 1;
}
