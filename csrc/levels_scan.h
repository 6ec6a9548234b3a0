/* levels_scan.h - the scans of levels.h for one score type; included by levels.c once a type.
 * SCORE is the type, GAP an unsigned type that holds any difference of two, NAME(verb) the name. */

DPF_BODY void NAME(extremes_body)(const SCORE *score, size_t n, SCORE *low, SCORE *high) {
    SCORE l = score[0], h = score[0];
    for (size_t i = 0; i < n; i++) {
        l = score[i] < l ? score[i] : l;
        h = score[i] > h ? score[i] : h;
    }
    *low = l, *high = h;
}

DPF_LEVELS(void, NAME(extremes), NAME(extremes_body),
           (const SCORE *score, size_t n, SCORE *low, SCORE *high), (score, n, low, high))

/* slot[i] = the gap of score[i], or `levels` beyond. Differences wrap, so any two scores are fine. */
DPF_BODY void NAME(slots)(const SCORE *score, size_t n, int64_t best, int order, uint32_t levels,
                          uint32_t *DPF_RESTRICT slot) {
    const GAP flip = order == DPF_LOWEST ? ~(GAP)0 : 0;
    if (order == DPF_MAGNITUDE) {
        for (size_t i = 0; i < n; i++) {
            const GAP gap = (GAP)best - (score[i] < 0 ? 0 - (GAP)score[i] : (GAP)score[i]);
            slot[i] = gap < levels ? (uint32_t)gap : levels;
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            const GAP gap = (((GAP)best - (GAP)score[i]) ^ flip) - flip;
            slot[i] = gap < levels ? (uint32_t)gap : levels;
        }
    }
}

DPF_BODY void NAME(count_body)(const SCORE *score, size_t n, int64_t best, int order, size_t levels,
                               size_t block, uint32_t *DPF_RESTRICT lanes,
                               uint32_t *DPF_RESTRICT table) {
    enum { CHUNK = 1024 };
    const size_t width = levels + 1;
    uint32_t slot[CHUNK], *l0 = lanes, *l1 = l0 + width, *l2 = l1 + width, *l3 = l2 + width;
    memset(lanes, 0, DPF_LANES * width * sizeof *lanes);
    for (size_t start = 0; start < n; start += block, table += width) {
        const size_t end = n - start < block ? n : start + block;
        for (size_t i = start; i < end; i += CHUNK) {
            const size_t size = end - i < CHUNK ? end - i : CHUNK;
            NAME(slots)(score + i, size, best, order, (uint32_t)levels, slot);
            size_t k = 0;
            for (; k + 4 <= size; k += 4) l0[slot[k]]++, l1[slot[k + 1]]++, l2[slot[k + 2]]++, l3[slot[k + 3]]++;
            for (; k < size; k++) l0[slot[k]]++;
        }
        for (size_t g = 0; g < width; g++) table[g] = l0[g] + l1[g] + l2[g] + l3[g];
    }
}

DPF_LEVELS(void, NAME(count), NAME(count_body),
           (const SCORE *score, size_t n, int64_t best, int order, size_t levels, size_t block,
            uint32_t *DPF_RESTRICT lanes, uint32_t *DPF_RESTRICT table),
           (score, n, best, order, levels, block, lanes, table))

/* Two values cost two comparisons, so one value has a loop of its own. */
DPF_BODY size_t NAME(find_either)(const SCORE *score, SCORE value, SCORE other, bool both, size_t n,
                                  size_t rank) {
    enum { CHUNK = 512 };
    size_t i = 0;
    for (; n - i >= CHUNK; i += CHUNK) { /* skip the chunks that end before the wanted one */
        uint32_t equal = 0;
        for (size_t k = 0; k < CHUNK; k++)
            equal += (score[i + k] == value) | (both & (score[i + k] == other));
        if (equal > rank) break;
        rank -= equal;
    }
    while ((score[i] != value && score[i] != other) || rank-- > 0) i++;
    return i;
}

DPF_BODY size_t NAME(find_body)(const SCORE *score, size_t n, SCORE value, SCORE other, size_t rank) {
    return value == other ? NAME(find_either)(score, value, value, false, n, rank)
                          : NAME(find_either)(score, value, other, true, n, rank);
}

DPF_LEVELS(size_t, NAME(find), NAME(find_body),
           (const SCORE *score, size_t n, SCORE value, SCORE other, size_t rank),
           (score, n, value, other, rank))
