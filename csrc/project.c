#include "project.h"
#include "dpf_cpu.h"
#include "exponential.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    LANES = 16,    /* partial sums, the same at every level */
    TILE = 512,    /* entries between two steps of compensated summation */
    SAMPLE = 1024, /* entries that are sorted */
    TRUSTED = 8,   /* rounds that may disappoint before bisection */
};

static const double REACH = 600;   /* how far above their unit stored exponentials serve */
static const double SLACK = 1e-12; /* in the mass, relative */

/* ---- loops over all entries ------------------------------------------- */

/* What a pass finds: the sum over x <= low of exp(x - low), and how many are >= high, between, finite. */
typedef struct {
    double below;
    size_t above, inside, finite;
} found;

/*
 * One tile into *f, but for its finite entries; returns its sum. e = exp(x - low), at most e^700; not `far`: right
 * if all entries are within 700 of low, as *near says.
 */
DPF_BODY double narrow_tile(const double *x, double low, double high, bool far, double *DPF_RESTRICT e, bool *near,
                            found *f) {
    double sum[LANES] = {0};
    uint64_t below[LANES] = {0}, above[LANES] = {0}, farthest = 0;
    for (size_t i = 0; i < TILE; i++) {
        const double y = x[i] - low;
        e[i] = far ? only_if(y <= 700, exponential(y)) + only_if(y > 700, 1e300) : exp_near(y);
        const uint64_t distance = bits_of(fabs(y)); /* in the order of the doubles, NaN above all */
        farthest = distance > farthest ? distance : farthest;
    }
    for (size_t i = 0; i < TILE; i += LANES)
        for (size_t l = 0; l < LANES; l++) {
            sum[l] += only_if(x[i + l] <= low, e[i + l]);
            below[l] += x[i + l] <= low;
            above[l] += x[i + l] >= high;
        }
    double total = 0;
    *near = farthest <= bits_of(700);
    f->inside = TILE, f->above = 0;
    for (size_t l = 0; l < LANES; l++) {
        total += sum[l];
        f->inside -= below[l] + above[l];
        f->above += above[l];
    }
    return total;
}

DPF_BODY size_t finite_of(const double *x) {
    size_t finite = 0;
    for (size_t i = 0; i < TILE; i++) finite += fabs(x[i]) <= DBL_MAX;
    return finite;
}

/* Copies the entries of a tile whose bits lie in [first, first + width) to `kept`, which may be before them. */
DPF_BODY void keep(const double *tile, uint64_t first, uint64_t width, double *kept) {
    for (size_t start = 0; start < TILE; start += 64) {
        uint64_t inside = 0;
        for (size_t i = 0; i < 64; i++) inside |= (uint64_t)(bits_of(tile[start + i]) - first < width) << i;
        for (; inside; inside &= inside - 1) *kept++ = tile[start + dpf_lowest_bit(inside)];
    }
}

/*
 * One read of x. What lies between low and high is copied to `kept` while there is room; kept may be x.
 * The exponentials go to `e` unless it is NULL. Requires low < high <= 0.
 */
DPF_BODY found narrow_body(const double *x, size_t n, double low, double high, double *kept, size_t room,
                           double *DPF_RESTRICT e) {
    /* Of numbers below zero, those between two have their bits between: one comparison of integers. */
    const uint64_t first = bits_of(-fabs(high)) + 1, width = bits_of(low) - first;
    double pad[TILE], spare[TILE], lost = 0;
    found all = {0, 0, 0, 0};
    for (size_t start = 0; start < n; start += TILE) {
        const size_t size = n - start < TILE ? n - start : TILE;
        const double *tile = x + start;
        if (size < TILE) {
            for (size_t i = 0; i < TILE; i++) pad[i] = i < size ? tile[i] : -INFINITY;
            tile = pad;
        }
        found f = {0, 0, 0, TILE};
        double *const to = e && size == TILE ? e + start : spare;
        bool near;
        double term = narrow_tile(tile, low, high, false, to, &near, &f);
        if (!near) {
            term = narrow_tile(tile, low, high, true, to, &near, &f);
            f.finite = finite_of(tile);
        }
        const double next = all.below + term, back = next - all.below; /* TwoSum */
        lost += (all.below - (next - back)) + (term - back);
        all.below = next;
        if (e && size < TILE) memcpy(e + start, spare, size * sizeof *e);
        if (f.inside && all.inside + size <= room) keep(tile, first, width, kept + all.inside);
        all.inside += f.inside;
        all.above += f.above;
        all.finite += f.finite;
    }
    all.below += lost;
    return all;
}

static found narrow(const double *x, size_t n, double low, double high, double *kept, size_t room,
                    double *DPF_RESTRICT e);
DPF_LEVELS(found, narrow, narrow_body,
           (const double *x, size_t n, double low, double high, double *kept, size_t room, double *DPF_RESTRICT e),
           (x, n, low, high, kept, room, e))

/* weight = min(1, factor * weight) */
DPF_BODY void scale_body(size_t n, double factor, double *DPF_RESTRICT weight) {
    for (size_t i = 0; i < n; i++) {
        const double w = factor * weight[i];
        weight[i] = w < 1 ? w : 1;
    }
}

static void scale(size_t n, double factor, double *DPF_RESTRICT weight);
DPF_LEVELS(void, scale, scale_body, (size_t n, double factor, double *DPF_RESTRICT weight), (n, factor, weight))

/* weight = 1 above the unit, factor * exp(x - unit) up to there; factor <= 1 */
DPF_BODY void weigh_body(const double *x, size_t n, double unit, double factor, double *DPF_RESTRICT weight) {
    for (size_t i = 0; i < n; i++) {
        const double y = x[i] - unit;
        weight[i] = only_if(y > 0, 1) + only_if(y <= 0, factor * exponential(y));
    }
}

static void weigh(const double *x, size_t n, double unit, double factor, double *DPF_RESTRICT weight);
DPF_LEVELS(void, weigh, weigh_body,
           (const double *x, size_t n, double unit, double factor, double *DPF_RESTRICT weight),
           (x, n, unit, factor, weight))

/* ---- selection -------------------------------------------------------- */

/* Unsigned integers in the order of the doubles, and back. */
static uint64_t key_of(double x) {
    const uint64_t bits = bits_of(x);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static double of_key(uint64_t key) { return of_bits(key >> 63 ? key & ~((uint64_t)1 << 63) : ~key); }

/* Sorts n <= SAMPLE doubles, a byte of their keys at a time. */
static void sort(double *x, size_t n, double *DPF_RESTRICT other) {
    uint32_t end[8][256] = {{0}};
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = key_of(x[i]);
        for (unsigned byte = 0; byte < 8; byte++) end[byte][key >> 8 * byte & 255]++;
    }
    double *from = x, *to = other;
    for (unsigned byte = 0; byte < 8; byte++) {
        if (n == 0 || end[byte][key_of(x[0]) >> 8 * byte & 255] == n) continue; /* one digit for all */
        uint32_t sum = 0;
        for (unsigned digit = 0; digit < 256; digit++) {
            const uint32_t count = end[byte][digit];
            end[byte][digit] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++) to[end[byte][key_of(from[i]) >> 8 * byte & 255]++] = from[i];
        double *const swap = from;
        from = to, to = swap;
    }
    if (from != x) memcpy(x, other, n * sizeof *x);
}

/*
 * What the search has left: `inside` entries of x[0..size) in (low, high). Of the others `above` count 1,
 * and those at or below `low` sum to `below` when low is the cap. Before anything is known, and after a
 * sample that misled: all entries, low = -DBL_MAX, high = INFINITY, and `inside` is a bound.
 */
typedef struct {
    const double *x;
    size_t size, inside;
    double low, high, above, below;
} bracket;

static bracket everything(const double *x, size_t n, size_t inside) {
    return (bracket){x, n, inside, -DBL_MAX, INFINITY, 0, 0};
}

/*
 * Where F crosses the mass among x[0..n), rising, each for `rate` entries of the bracket, got in `draws`
 * draws: it is above by z standard deviations at x[*low - 1], and below at x[*high]. None such: 0, and n.
 */
static void crossing(const double *x, size_t n, const bracket *at, double rate, double draws, double z, double mass,
                     size_t *low, size_t *high) {
    double cap = at->low, outside = at->below, sum = 0, squares = 0;
    *low = 0, *high = n;
    for (size_t i = 0; i < n; i++) {
        const double step = exponential(cap - x[i]), capped = (double)(n - i);
        cap = x[i];
        outside *= step;
        sum *= step;
        squares *= step * step;
        const double mean = (capped + sum) / draws, variance = capped + squares - draws * mean * mean;
        const double excess = at->above + outside + rate * (capped + sum) - mass, wide = z * rate;
        if (excess * excess >= wide * wide * variance) {
            if (excess >= 0) *low = i + 1, *high = n;
            else if (*high == n) *high = i;
        }
        sum++, squares++;
    }
}

/* Raises *low and lowers *high to sampled entries that are likely to hold the cap between them. One sample
 * is taken from each of SAMPLE strata, at places that depend on `round` and the size alone. */
static void guess(const bracket *at, unsigned round, double mass, double *DPF_RESTRICT sampled,
                  double *DPF_RESTRICT other, double *low, double *high) {
    uint64_t random = round;
    size_t drawn = 0, first, last;
    for (size_t i = 0; i < SAMPLE; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u; /* Knuth's, MMIX */
        const double stratum = (double)i + (double)(random >> 32) * 0x1p-32;
        const size_t k = (size_t)(stratum * ((double)at->size / SAMPLE));
        const double value = at->x[k < at->size ? k : at->size - 1];
        sampled[drawn] = value;
        drawn += value > at->low && value < at->high;
    }
    const bool counted = at->high < INFINITY;
    const double rate = counted ? (double)at->inside / (double)drawn : (double)at->size / SAMPLE;
    sort(sampled, drawn, other);
    crossing(sampled, drawn, at, rate, counted ? (double)drawn : SAMPLE, 3, mass, &first, &last);
    while (first && sampled[first - 1] >= *high) first--;
    if (first && sampled[first - 1] > *low) *low = sampled[first - 1];
    if (last < drawn && sampled[last] > *low && sampled[last] < *high) *high = sampled[last];
}

/* At most SAMPLE entries: the weights are min(1, *factor * exp(L - *unit)), if that puts the cap in the
 * bracket; returns whether it does. */
static bool solve(const bracket *at, double mass, double *entry, double *DPF_RESTRICT other, double *unit,
                  double *factor) {
    size_t low, high;
    sort(entry, at->inside, other);
    crossing(entry, at->inside, at, 1, (double)at->inside, 0, mass, &low, &high);
    *unit = low ? entry[low - 1] : at->low;
    double sum = at->below * exponential(at->low - *unit);
    for (size_t i = 0; i < low; i++) sum += exponential(entry[i] - *unit);
    *factor = (mass - (at->above + (double)(at->inside - low))) / sum;
    return low < at->inside || *factor >= exponential(*unit - at->high);
}

static bool all_weights(const double *x, size_t n) {
    bool all = true;
    for (size_t i = 0; i < n; i++) all &= x[i] <= DBL_MAX;
    return all;
}

size_t dpf_project_scratch(size_t n) { return n / 8 + 2 * TILE + 3 * SAMPLE; }

int dpf_project_cap(const double *log_weight, size_t n, double mass, double *DPF_RESTRICT scratch,
                    double *DPF_RESTRICT weight, size_t *finite) {
    const size_t room = n / 8 + 2 * TILE + SAMPLE;
    double *const kept = scratch, *const sampled = kept + room, *const other = sampled + SAMPLE;
    double floor = -DBL_MAX, ceiling = 0; /* F(floor) >= mass; F(ceiling) < mass, or the ceiling is 0 */
    double unit, factor, stored = 0;      /* weight[i] holds exp(log_weight[i] - stored) */
    bracket at = everything(log_weight, n, n);
    unsigned doubts = 0; /* rounds that left more than half */

    for (unsigned round = 0;; round++) {
        if (at.x == kept && at.inside <= SAMPLE) {
            if (solve(&at, mass, kept, other, &unit, &factor)) break;
            if (at.high == ceiling) { /* the cap would be above 0; elsewhere, a rounding */
                if (ceiling == 0) unit = 0, factor = 1;
                break;
            }
            floor = at.high;
            at = everything(log_weight, n, (size_t)at.above);
            doubts++;
        }

        double low = at.low > floor ? at.low : floor, high = at.high < ceiling ? at.high : ceiling;
        const bool fits = at.x != kept && at.inside + TILE <= room;
        if (doubts >= TRUSTED && !(fits && at.inside <= SAMPLE)) {
            /* Halve what is possible, at most 64 times. */
            const uint64_t from = key_of(floor), to = key_of(-fabs(ceiling));
            low = of_key(from + (to - from) / 2), high = nextafter(low, INFINITY);
            at = everything(log_weight, n, at.inside);
        } else if (!fits) {
            guess(&at, round, mass, sampled, other, &low, &high);
        }

        const bool whole = at.x != kept;
        const found f = narrow(at.x, at.size, low, high, kept, room, whole ? weight : NULL);
        if (round == 0) {
            *finite = f.finite;
            if (f.finite < n && !all_weights(log_weight, n)) return DPF_PROJECT_NOT_A_WEIGHT;
            if ((double)f.finite < mass * (1 - SLACK)) return DPF_PROJECT_OUT_OF_REACH;
            if ((double)f.finite <= mass * (1 + SLACK)) { /* all that are finite are capped */
                unit = -DBL_MAX, factor = 1, stored = 0;
                break;
            }
        }
        double above = (double)f.above, below = f.below;
        if (whole) stored = low;
        else above += at.above, below += at.below * exponential(at.low - low);
        if (low > floor && above + (double)f.inside + below < mass) { /* the cap is below `low` */
            ceiling = low;
            at = everything(log_weight, n, at.size - f.above - f.inside);
            doubts++;
        } else {
            floor = low;
            doubts += f.inside > at.inside / 2;
            const bool stayed = !whole || f.inside + TILE <= room; /* all of them are in `kept` */
            at = (bracket){log_weight, n, f.inside, low, high, above, below};
            if (stayed) at.x = kept, at.size = f.inside;
        }
    }

    if (factor > 1) factor = 1;
    if (unit >= stored && unit - stored <= REACH) scale(n, factor * exponential(stored - unit), weight);
    else weigh(log_weight, n, unit, factor, weight);
    return DPF_PROJECT_DENSE;
}
