#include "multiplicative_weights.h"
#include "bounds.h"
#include "dpf_cpu.h"
#include "draw.h"

#include <math.h>
#include <string.h>

/* ---- bounds ----------------------------------------------------------- */

DPF_BODY uint32_t below_bound(float gap, float rate) { return dpf_below_bound(gap, rate, DPF_WEIGHTS_SCALE); }

uint32_t dpf_weights_bound(const dpf_weights *w, uint64_t gap) { return 1 + below_bound((float)gap, w->rate); }

/* ---- rows on the grid: q = sign * loss, false if one lay outside ------- */

/*
 * A number that is rounded by adding 1.5 * 2^23 (2^52) to it stands, plus that power's bits, in the sum's. Its bits are
 * compared with those of the number cut to [low, high]: the same if it lies inside, but perhaps for a zero.
 */
DPF_BODY bool floats_inside(const float *x, size_t n, float low, float high) {
    int32_t outside = 0;
    for (size_t j = 0; j < n; j++) outside |= !(low <= x[j] && x[j] <= high);
    return !outside;
}

DPF_BODY bool float_on_grid(const float *x, size_t n, float low, float high, float scale, int32_t *DPF_RESTRICT q) {
    int32_t differs = 0;
    for (size_t j = 0; j < n; j++) {
        const float above = x[j] > low ? x[j] : low, inside = above < high ? above : high;
        const float rounded = inside * scale + 12582912.0f;
        int32_t given, cut, bits;
        memcpy(&given, x + j, sizeof given), memcpy(&cut, &inside, sizeof cut), memcpy(&bits, &rounded, sizeof bits);
        differs |= given ^ cut;
        q[j] = bits - 0x4b400000;
    }
    return !differs || floats_inside(x, n, low, high);
}

DPF_BODY bool doubles_inside(const double *x, size_t n, double low, double high) {
    int64_t outside = 0;
    for (size_t j = 0; j < n; j++) outside |= !(low <= x[j] && x[j] <= high);
    return !outside;
}

DPF_BODY bool double_on_grid(const double *x, size_t n, double low, double high, double scale,
                             int32_t *DPF_RESTRICT q) {
    int64_t differs = 0;
    for (size_t j = 0; j < n; j++) {
        const double above = x[j] > low ? x[j] : low, inside = above < high ? above : high;
        const double rounded = inside * scale + 6755399441055744.0;
        int64_t given, cut, bits;
        memcpy(&given, x + j, sizeof given), memcpy(&cut, &inside, sizeof cut), memcpy(&bits, &rounded, sizeof bits);
        differs |= given ^ cut;
        q[j] = (int32_t)(bits - 0x4338000000000000);
    }
    return !differs || doubles_inside(x, n, low, high);
}

DPF_BODY bool grid_on_grid(const int32_t *x, size_t n, int32_t low, int32_t high, int32_t sign,
                           int32_t *DPF_RESTRICT q) {
    int32_t outside = 0;
    for (size_t j = 0; j < n; j++) {
        const int32_t above = x[j] > low ? x[j] : low, inside = above < high ? above : high;
        outside |= inside ^ x[j];
        q[j] = sign * inside;
    }
    return !outside;
}

/* Whole words: q has room for the last one's. */
DPF_BODY void bits_on_grid(const uint64_t *x, size_t n, int32_t zero, int32_t step, int32_t *DPF_RESTRICT q) {
    for (size_t w = 0; w < DPF_WORDS(n); w++) {
        const uint32_t half[2] = {(uint32_t)x[w], (uint32_t)(x[w] >> 32)};
        for (size_t h = 0; h < 2; h++)
            for (uint32_t b = 0; b < 32; b++) q[64 * w + 32 * h + b] = zero + (step & -(int32_t)(half[h] >> b & 1));
    }
}

DPF_BODY int sign_of(const dpf_losses *losses, size_t row) { return losses->sign ? losses->sign[row] : 1; }

/* Entries start..start + n - 1 of a dense row; start is a multiple of 64. */
DPF_BODY bool on_grid(const dpf_losses *losses, size_t row, int sign, size_t start, size_t n, int32_t *DPF_RESTRICT q) {
    const double low = losses->low / losses->unit, high = losses->high / losses->unit;
    const size_t first = row * losses->stride + start;
    sign *= sign_of(losses, row);
    switch (losses->kind) {
    case DPF_LOSSES_FLOAT:
        return float_on_grid((const float *)losses->values + first, n, (float)low, (float)high,
                             (float)(sign * losses->unit), q);
    case DPF_LOSSES_DOUBLE:
        return double_on_grid((const double *)losses->values + first, n, low, high, sign * losses->unit, q);
    case DPF_LOSSES_GRID:
        return grid_on_grid((const int32_t *)losses->values + first, n, losses->low, losses->high, sign, q);
    default:
        bits_on_grid((const uint64_t *)losses->values + row * losses->stride + start / 64, n, sign * losses->low,
                     sign * (losses->high - losses->low), q);
        return true;
    }
}

/* ---- passes ----------------------------------------------------------- */

/*
 * The sum of n integers, each below 2^31 unless they are `pairs` already: two of them fit 32 bits. They are added two to
 * a word of 64 bits: `both` holds the lower ones' sum and, times 2^32 modulo 2^64, the upper ones', which `upper` holds.
 */
DPF_BODY uint64_t sum_of(const uint32_t *x, size_t n, bool pairs) {
    const size_t half = pairs ? 0 : n / 4 * 2, start = pairs ? 0 : 2 * half, words = pairs ? n / 2 : half / 2;
    uint64_t both = 0, upper = 0;
    for (size_t w = 0; w < words; w++) {
        uint64_t word, other = 0;
        memcpy(&word, x + 2 * w, sizeof word);
        if (!pairs) memcpy(&other, x + half + 2 * w, sizeof other);
        both += word + other, upper += (word + other) >> 32;
    }
    uint64_t sum = both - (upper << 32) + upper;
    for (size_t j = pairs ? 2 * words : start; j < n; j++) sum += x[j];
    return sum;
}

#define TOTAL int32_t
#define NAME(verb) dpf_weights_##verb##_32
#include "multiplicative_weights_scan.h"

#define TOTAL int64_t
#define NAME(verb) dpf_weights_##verb##_64
#include "multiplicative_weights_scan.h"

static bool pass(dpf_weights *w, const dpf_losses *losses, size_t row, int sign) {
    return w->narrow ? dpf_weights_pass_32(w, w->narrow, losses, row, sign)
                     : dpf_weights_pass_64(w, w->wide, losses, row, sign);
}

static int64_t total_of(const dpf_weights *w, size_t j) { return w->narrow ? w->narrow[j] : w->wide[j]; }

/* The least offset for totals in [low, high]. */
static int64_t least_offset(const dpf_weights *w, int64_t low, int64_t high) {
    return w->mirrored ? (high > -low ? high : -low) : -low;
}

/* Whether such totals, and their gaps at this offset, fit their type. */
static bool has_room(const dpf_weights *w, int64_t low, int64_t high, int64_t offset) {
    const int64_t farthest = (w->mirrored && -low > high ? -low : high) + offset;
    return w->wide || (low >= INT32_MIN && high <= INT32_MAX && farthest <= INT32_MAX && offset <= INT32_MAX);
}

/* Sums at the least offset for the totals and for `lowest` and `highest`, which may come, and `reserve` more. */
static void settle(dpf_weights *w, int64_t lowest, int64_t highest, int64_t reserve) {
    if (w->stale) pass(w, NULL, 0, 1);
    const int64_t low = lowest < w->low ? lowest : w->low, high = highest > w->high ? highest : w->high;
    w->offset = least_offset(w, low, high) + reserve;
    pass(w, NULL, 0, 1);
    w->peak = w->sum;
}

void dpf_weights_settle(dpf_weights *w) {
    w->stale = true;
    w->offset = least_offset(w, w->low, w->high);
    settle(w, w->low, w->high, 0);
}

/* ---- draws ------------------------------------------------------------ */

/*
 * With u = 2^-53: exponent * gap is right to 2 u, exp to (2 y + 8) u of itself, the ratio to 2 u more, the uniform to
 * u and its own step of 2^-64. The slack is more than twice all that. A y of 1000 stands for any larger.
 */
static dpf_weights_status kept(const dpf_weights *w, const dpf_weights_coin *coin, double guard, bool *keep) {
    const double y = fmin(w->exponent * (double)coin->gap, 1000);
    const double ratio = exp(-y) * ((double)((uint64_t)1 << DPF_WEIGHTS_SCALE) / (double)coin->bound);
    const double uniform = (double)coin->word * 0x1p-64, slack = guard * 0x1p-52 * (4 + ratio * (16 + 4 * y));
    *keep = uniform < ratio;
    return fabs(uniform - ratio) > slack ? DPF_WEIGHTS_DONE : DPF_WEIGHTS_UNDECIDED;
}

dpf_weights_status dpf_weights_draw(bitgen_t *rng, dpf_weights *w, double guard, dpf_weights_coin *coin) {
    for (bool keep = false; !keep;) {
        uint64_t rank = dpf_draw_below(rng, w->sum);
        size_t b = 0;
        for (; rank >= w->sums[b]; b++) rank -= w->sums[b];
        const size_t start = b * w->block, n = w->d - start < w->block ? w->d - start : w->block;
        const size_t j =
            start + (w->narrow
                         ? dpf_weights_find_32(w->narrow + start, n, (int32_t)w->offset, w->mirrored, w->rate, &rank)
                         : dpf_weights_find_64(w->wide + start, n, w->offset, w->mirrored, w->rate, &rank));
        coin->gap = (uint64_t)(w->offset + total_of(w, j));
        coin->bound = dpf_weights_bound(w, coin->gap);
        coin->expert = (int64_t)j;
        if (rank >= coin->bound) {
            coin->gap = (uint64_t)(w->offset - total_of(w, j));
            coin->bound = dpf_weights_bound(w, coin->gap);
            coin->expert = (int64_t)(w->d + j);
        }
        coin->word = dpf_draw_word(rng);
        if (kept(w, coin, guard, &keep) != DPF_WEIGHTS_DONE) return DPF_WEIGHTS_UNDECIDED;
    }
    w->drawn = coin->expert;
    return DPF_WEIGHTS_DONE;
}

/* ---- additions -------------------------------------------------------- */

/* If half of all bounds may belong to nothing, a smaller offset helps. */
static bool is_thin(const dpf_weights *w) { return w->sum < 2 * (uint64_t)w->d * (1 + w->mirrored); }

static dpf_weights_status add_dense(dpf_weights *w, const dpf_losses *losses, size_t row) {
    const int sign = sign_of(losses, row);
    const int64_t one = (int64_t)sign * losses->low, other = (int64_t)sign * losses->high;
    const int64_t least = one < other ? one : other, most = one < other ? other : one;
    const int64_t low = w->low + (least < 0 ? least : 0), high = w->high + (most > 0 ? most : 0);
    const int64_t offset = least_offset(w, low, high);
    if (!has_room(w, low, high, offset)) return DPF_WEIGHTS_ROOM;
    w->offset = offset;
    if (!pass(w, losses, row, 1)) {
        pass(w, losses, row, -1);
        return DPF_WEIGHTS_REFUSED;
    }
    if (is_thin(w) && w->exponent * (double)(w->offset - least_offset(w, w->low, w->high)) > 0.7)
        settle(w, w->low, w->high, 0);
    w->peak = w->sum;
    return DPF_WEIGHTS_DONE;
}

static uint64_t bounds_at(const dpf_weights *w, size_t j) {
    return w->narrow ? dpf_weights_bounds_32(w->narrow[j], (int32_t)w->offset, w->mirrored, w->rate)
                     : dpf_weights_bounds_64(w->wide[j], w->offset, w->mirrored, w->rate);
}

static dpf_weights_status add_sparse(dpf_weights *w, const dpf_losses *losses, size_t row) {
    const int sign = sign_of(losses, row);
    const int32_t *data = losses->values;
    const int64_t begin = losses->indptr[row], end = losses->indptr[row + 1];
    int64_t lowest = INT64_MAX, highest = INT64_MIN;
    for (int64_t p = begin; p < end; p++) {
        const int64_t next = total_of(w, (size_t)losses->indices[p]) + (int64_t)sign * data[p];
        lowest = next < lowest ? next : lowest;
        highest = next > highest ? next : highest;
    }
    const int64_t low = lowest < w->low ? lowest : w->low, high = highest > w->high ? highest : w->high;
    /* Where totals can fall, room for six halvings of the bounds, so that offsets are seldom refitted. */
    const bool falls = w->mirrored || (sign > 0 ? losses->low < 0 : losses->high > 0);
    const int64_t reserve = falls ? (int64_t)fmin(4 / w->exponent, 1 << 26) : 0, needed = least_offset(w, low, high);
    if (!has_room(w, low, high, (needed > w->offset ? needed : w->offset) + reserve)) return DPF_WEIGHTS_ROOM;
    if (needed > w->offset) settle(w, lowest, highest, reserve);
    for (int64_t p = begin; p < end; p++) {
        const size_t j = (size_t)losses->indices[p], b = j / w->block;
        const uint64_t before = bounds_at(w, j);
        if (w->narrow) w->narrow[j] += sign * data[p];
        else w->wide[j] += sign * data[p];
        const uint64_t change = bounds_at(w, j) - before; /* modulo 2^64 */
        w->sums[b] += change;
        w->sum += change;
    }
    w->low = lowest < w->low ? lowest : w->low, w->high = highest > w->high ? highest : w->high, w->stale = true;
    if (w->sum > w->peak) w->peak = w->sum;
    if (is_thin(w) && w->sum < w->peak / 2) settle(w, INT64_MAX, INT64_MIN, reserve);
    return DPF_WEIGHTS_DONE;
}

dpf_weights_status dpf_weights_add(dpf_weights *w, const dpf_losses *losses, size_t row) {
    const size_t j = w->drawn < 0 ? 0 : (size_t)w->drawn % w->d;
    const int64_t before = total_of(w, j);
    const dpf_weights_status status =
        losses->kind == DPF_LOSSES_CSR ? add_sparse(w, losses, row) : add_dense(w, losses, row);
    if (status != DPF_WEIGHTS_DONE || w->drawn < 0) return status;
    const int64_t loss = total_of(w, j) - before;
    w->paid += (size_t)w->drawn < w->d ? loss : -loss;
    w->drawn = -1;
    return status;
}

dpf_weights_status dpf_weights_play(bitgen_t *rng, dpf_weights *w, const dpf_losses *losses, double guard, size_t *row,
                                    size_t stop, int64_t *expert, dpf_weights_coin *coin) {
    for (; *row < stop; ++*row) {
        if (w->drawn < 0) {
            const dpf_weights_status status = dpf_weights_draw(rng, w, guard, coin);
            if (status != DPF_WEIGHTS_DONE) return status;
        }
        expert[*row] = w->drawn;
        const dpf_weights_status status = dpf_weights_add(w, losses, *row);
        if (status != DPF_WEIGHTS_DONE) return status;
    }
    return DPF_WEIGHTS_DONE;
}
