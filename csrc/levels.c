#include "levels.h"
#include "bounds.h"
#include "dpf_cpu.h"
#include "draw.h"

#include <math.h>

/* ---- blocks ----------------------------------------------------------- */

typedef enum { HIGHEST, LOWEST, MIRRORED } order;

#define SCORE int8_t
#define LEAST INT8_MIN
#define GAP uint32_t
#define NAME(verb) dpf_levels_##verb##_8
#include "levels_scan.h"

#define SCORE int16_t
#define LEAST INT16_MIN
#define GAP uint32_t
#define NAME(verb) dpf_levels_##verb##_16
#include "levels_scan.h"

#define SCORE int32_t
#define LEAST INT32_MIN
#define GAP uint32_t
#define NAME(verb) dpf_levels_##verb##_32
#include "levels_scan.h"

#define SCORE int64_t
#define LEAST INT64_MIN
#define GAP uint64_t
#define NAME(verb) dpf_levels_##verb##_64
#include "levels_scan.h"

bool dpf_levels_scan(dpf_levels *levels) {
    switch (levels->size) {
    case 1: return dpf_levels_scan_8(levels);
    case 2: return dpf_levels_scan_16(levels);
    case 4: return dpf_levels_scan_32(levels);
    default: return dpf_levels_scan_64(levels);
    }
}

static size_t find(const dpf_levels *levels, size_t block, uint32_t *rank) {
    switch (levels->size) {
    case 1: return dpf_levels_find_8(levels, block, rank);
    case 2: return dpf_levels_find_16(levels, block, rank);
    case 4: return dpf_levels_find_32(levels, block, rank);
    default: return dpf_levels_find_64(levels, block, rank);
    }
}

static int64_t score_of(const dpf_levels *levels, size_t j) {
    switch (levels->size) {
    case 1: return ((const int8_t *)levels->scores)[j];
    case 2: return ((const int16_t *)levels->scores)[j];
    case 4: return ((const int32_t *)levels->scores)[j];
    default: return ((const int64_t *)levels->scores)[j];
    }
}

/* The distance of a score from the best; wraps to the right difference. */
static uint64_t distance(const dpf_levels *levels, int64_t score, int64_t best) {
    const uint64_t above = (uint64_t)score - (uint64_t)best;
    return levels->lowest ? above : 0 - above;
}

static uint32_t share_of(const dpf_levels *levels, uint64_t gap) {
    return 1 + dpf_levels_chord_64(gap, levels->cap, levels->drop, levels->share_rate);
}

/* ---- entries ---------------------------------------------------------- */

void dpf_levels_rank(dpf_levels *levels) {
    int64_t peak = levels->best[0];
    for (size_t i = 1; i < levels->entries; i++)
        if (levels->lowest ? levels->best[i] < peak : levels->best[i] > peak) peak = levels->best[i];
    levels->peak = peak;
}

/* mass * factor / 2^shift, rounded down, where that fits. */
DPF_BODY uint64_t scaled(uint64_t mass, uint64_t factor, int shift) {
    uint64_t low, high = dpf_multiply(mass, factor, &low);
    if (shift <= 0) return low << -shift;
    return shift < 64 ? high << (63 - shift) << 1 | low >> shift : high >> (shift - 64);
}

/*
 * The bound of `mass` at a gap, by 2^-shift. Beyond 32 halvings it is that of 32 fewer, by 2^-32 more: else 2^53
 * candidates of no weight would have 2^23 times the best one's bound. Another SLACK serves steps twice as many.
 */
static uint64_t bound_of(uint64_t mass, uint64_t gap, float rate, int shift) {
    const float near = 32.0f * DPF_BOUND_STEPS, steps = (float)gap * rate;
    if (steps <= near) return 1 + scaled(mass, 1 + dpf_chord(steps, DPF_LEVELS_SCALE), shift);
    const float more = (steps < 2 * near ? steps : 2 * near) - (near + DPF_BOUND_SLACK);
    return 1 + scaled(mass, 1 + dpf_chord(more, DPF_LEVELS_SCALE), shift + 32);
}

uint64_t dpf_levels_weigh(dpf_levels *levels, size_t first, size_t last) {
    uint64_t total = first > 0 ? levels->upto[first - 1] : 0;
    for (size_t i = first; i < last; i++) {
        const uint64_t gap = distance(levels, levels->best[i], levels->peak);
        const int shift = levels->shift + (i < levels->blocks ? DPF_LEVELS_SHARE : 0);
        total += bound_of(levels->mass[i], gap, levels->rate, shift);
        levels->upto[i] = total;
    }
    return total;
}

/* ---- draws ------------------------------------------------------------ */

/* Searches wait for memory: GROUP of them go on side by side. */
enum { GROUP = 16 };

/* Entries and ranks of m <= GROUP trials. */
static void propose(bitgen_t *rng, const dpf_levels *levels, dpf_levels_trial *trial, size_t m) {
    const uint64_t *upto = levels->upto, *from[GROUP];
    uint64_t rank[GROUP];
    for (size_t k = 0; k < m; k++) rank[k] = dpf_draw_below(rng, upto[levels->entries - 1]), from[k] = upto;
    for (size_t n = levels->entries; n > 1; n -= n / 2) /* the first with upto > rank is among the n from `from` on */
        for (size_t k = 0; k < m; k++) from[k] += n / 2 & (0 - (size_t)(from[k][n / 2 - 1] <= rank[k]));
    for (size_t k = 0; k < m; k++) {
        const size_t i = (size_t)(from[k] - upto);
        trial[k].entry = (uint32_t)i;
        trial[k].rank = i < levels->blocks ? (uint32_t)dpf_draw_below(rng, levels->mass[i]) : 0;
    }
}

/* The candidate of a trial, and its coin but for the word. */
static int64_t candidate(const dpf_levels *levels, const dpf_levels_trial *trial, dpf_levels_coin *coin) {
    const size_t i = trial->entry;
    coin->mass = levels->mass[i];
    coin->bound = levels->upto[i] - (i > 0 ? levels->upto[i - 1] : 0);
    coin->share = 1;
    coin->gap = distance(levels, levels->best[i], levels->peak);
    if (i >= levels->blocks) return (int64_t)((1 + levels->mirrored) * levels->n + (i - levels->blocks));
    uint32_t rank = trial->rank;
    const size_t j = find(levels, i, &rank);
    int64_t score = score_of(levels, j);
    coin->share = share_of(levels, distance(levels, score, levels->best[i]));
    const bool copy = levels->mirrored && rank >= coin->share;
    if (copy) {
        score = -score;
        coin->share = share_of(levels, distance(levels, score, levels->best[i]));
    }
    coin->gap = distance(levels, score, levels->peak);
    return (int64_t)(copy ? levels->n + j : j);
}

/*
 * With u = 2^-53: exponent * gap is right to 3 u, exp to (3 y + 8) u of itself, the ratio to 4 u more, the uniform to u
 * and its own step of 2^-64. The slack is more than twice all that. A y of 1000 stands for any larger.
 */
static bool accepts(const dpf_levels *levels, const dpf_levels_coin *coin, double guard, bool *accepted) {
    const double y = fmin(levels->exponent * (double)coin->gap, 1000);
    const double odds = (double)coin->mass / ((double)coin->bound * (double)coin->share);
    const double ratio = exp(-y) * odds * (double)((uint64_t)1 << (DPF_LEVELS_SCALE - levels->shift));
    const double uniform = (double)coin->word * 0x1p-64, slack = guard * 0x1p-52 * (4 + ratio * (16 + 4 * y));
    *accepted = uniform < ratio;
    return fabs(uniform - ratio) > slack;
}

void dpf_levels_start(dpf_levels_round *round, size_t m) {
    for (size_t i = 0; i < m; i++) round->trials[i].draw = i;
    round->next = round->size = 0;
    round->left = m;
}

void dpf_levels_toss(dpf_levels_round *round, bool accepted) {
    const uint64_t draw = round->trials[round->next++].draw;
    if (!accepted) round->trials[round->left++].draw = draw;
}

static void fetch(const dpf_levels *levels, const dpf_levels_trial *trial) {
    const char *at = (const char *)levels->scores + (size_t)trial->entry * DPF_LEVELS_BLOCK * levels->size;
    if (trial->entry < levels->blocks)
        for (size_t byte = 0; byte < DPF_LEVELS_BLOCK * levels->size; byte += 64) dpf_prefetch(at + byte);
}

bool dpf_levels_draw(bitgen_t *rng, const dpf_levels *levels, double guard, dpf_levels_round *round, int64_t *drawn,
                     dpf_levels_coin *coin) {
    enum { AHEAD = 8 };
    for (;;) {
        while (round->next < round->size) {
            if (round->next + AHEAD < round->size) fetch(levels, round->trials + round->next + AHEAD);
            const dpf_levels_trial *trial = round->trials + round->next;
            bool accepted;
            drawn[trial->draw] = candidate(levels, trial, coin);
            coin->word = dpf_draw_word(rng);
            if (!accepts(levels, coin, guard, &accepted)) return false;
            dpf_levels_toss(round, accepted);
        }
        if (round->left == 0) return true;
        round->size = round->left;
        round->next = round->left = 0;
        for (size_t k = 0; k < round->size; k += GROUP)
            propose(rng, levels, round->trials + k, round->size - k < GROUP ? round->size - k : GROUP);
    }
}
