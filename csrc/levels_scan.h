/* levels_scan.h - the scans of levels.h for one score type; included by levels.c once a type.
 * SCORE is the type, LEAST its least value, GAP an unsigned type that holds any difference of two, NAME(verb) the
 * name. */

DPF_BODY SCORE NAME(lowest)(const SCORE *score, size_t n) {
    SCORE low = score[0];
    for (size_t i = 0; i < n; i++) low = score[i] < low ? score[i] : low;
    return low;
}

DPF_BODY SCORE NAME(highest)(const SCORE *score, size_t n) {
    SCORE high = score[0];
    for (size_t i = 0; i < n; i++) high = score[i] > high ? score[i] : high;
    return high;
}

/* One less than the share of a gap. */
DPF_BODY uint32_t NAME(chord)(GAP gap, GAP cap, unsigned drop, float rate) {
    const GAP near = gap < cap ? gap : cap;
    return dpf_chord((float)(int32_t)(near >> drop) * rate, DPF_LEVELS_SHARE);
}

/* The sum of a score's chord and its copy's, if it has one; differences wrap, so any two scores are fine. */
DPF_BODY uint32_t NAME(chords)(SCORE score, GAP best, order by, GAP cap, unsigned drop, float rate) {
    const GAP s = (GAP)score;
    if (by == LOWEST) return NAME(chord)(s - best, cap, drop, rate);
    if (by == HIGHEST) return NAME(chord)(best - s, cap, drop, rate);
    return NAME(chord)(best - s, cap, drop, rate) + NAME(chord)(best + s, cap, drop, rate);
}

DPF_BODY bool NAME(block)(const dpf_levels *levels, const SCORE *score, size_t n, order by, unsigned drop,
                          int64_t *best, uint64_t *mass) {
    const GAP cap = (GAP)levels->cap;
    const float rate = levels->share_rate;
    const SCORE low = by == HIGHEST ? 0 : NAME(lowest)(score, n);
    const SCORE high = by == LOWEST ? 0 : NAME(highest)(score, n);
    const GAP negated = low < 0 ? 0 - (GAP)low : 0, positive = high > 0 ? (GAP)high : 0;
    const GAP top = by == LOWEST ? (GAP)low : by == HIGHEST ? (GAP)high : negated > positive ? negated : positive;
    uint32_t sum = (by == MIRRORED ? 2 : 1) * (uint32_t)n;
    for (size_t i = 0; i < n; i++) sum += NAME(chords)(score[i], top, by, cap, drop, rate);
    *mass = sum;
    *best = by != MIRRORED ? (SCORE)top : levels->lowest ? (int64_t)(0 - (uint64_t)top) : (int64_t)top;
    return by != MIRRORED || low != LEAST;
}

DPF_BODY bool NAME(blocks)(const dpf_levels *levels, order by, unsigned drop) {
    const SCORE *score = levels->scores;
    const size_t whole = levels->n / DPF_LEVELS_BLOCK, rest = levels->n % DPF_LEVELS_BLOCK;
    bool fit = true;
    for (size_t b = 0; b < whole; b++, score += DPF_LEVELS_BLOCK)
        fit &= NAME(block)(levels, score, DPF_LEVELS_BLOCK, by, drop, levels->best + b, levels->mass + b);
    if (rest) fit &= NAME(block)(levels, score, rest, by, drop, levels->best + whole, levels->mass + whole);
    return fit;
}

DPF_BODY bool NAME(ordered)(const dpf_levels *levels, unsigned drop) {
    return levels->mirrored ? NAME(blocks)(levels, MIRRORED, drop)
           : levels->lowest ? NAME(blocks)(levels, LOWEST, drop)
                            : NAME(blocks)(levels, HIGHEST, drop);
}

/* Nothing to drop is the usual case, and one operation less. */
DPF_BODY bool NAME(scan_body)(const dpf_levels *levels) {
    return levels->drop == 0 ? NAME(ordered)(levels, 0) : NAME(ordered)(levels, levels->drop);
}

DPF_LEVELS(bool, NAME(scan), NAME(scan_body), (const dpf_levels *levels), (levels))

/* The score, of n, whose shares *rank falls into; *rank becomes the rest inside them. */
DPF_BODY size_t NAME(seek)(const dpf_levels *levels, const SCORE *score, size_t n, GAP best, order by, uint32_t *rank) {
    enum { CHUNK = 64 };
    const GAP cap = (GAP)levels->cap;
    const unsigned drop = levels->drop;
    const float rate = levels->share_rate;
    const uint32_t copies = by == MIRRORED ? 2 : 1;
    uint32_t share[CHUNK], left = *rank;
    size_t start = 0;
    for (;; start += CHUNK) {
        uint32_t sum = 0;
        if (n - start >= CHUNK)
            for (size_t k = 0; k < CHUNK; k++)
                sum += share[k] = copies + NAME(chords)(score[start + k], best, by, cap, drop, rate);
        else
            for (size_t k = 0; k < n - start; k++)
                sum += share[k] = copies + NAME(chords)(score[start + k], best, by, cap, drop, rate);
        if (left < sum || n - start <= CHUNK) break; /* the second only if scores were changed since the scan */
        left -= sum;
    }
    size_t k = 0;
    for (; left >= share[k] && k + 1 < CHUNK && start + k + 1 < n; k++) left -= share[k];
    *rank = left;
    return start + k;
}

DPF_BODY size_t NAME(find_body)(const dpf_levels *levels, size_t block, uint32_t *rank) {
    const size_t start = block * DPF_LEVELS_BLOCK, left = levels->n - start;
    const size_t n = left < DPF_LEVELS_BLOCK ? left : DPF_LEVELS_BLOCK;
    const SCORE *score = (const SCORE *)levels->scores + start;
    const GAP best = (GAP)levels->best[block];
    return start + (levels->mirrored ? NAME(seek)(levels, score, n, levels->lowest ? 0 - best : best, MIRRORED, rank)
                    : levels->lowest ? NAME(seek)(levels, score, n, best, LOWEST, rank)
                                     : NAME(seek)(levels, score, n, best, HIGHEST, rank));
}

DPF_LEVELS(size_t, NAME(find), NAME(find_body), (const dpf_levels *levels, size_t block, uint32_t *rank),
           (levels, block, rank))

#undef SCORE
#undef LEAST
#undef GAP
#undef NAME
