/* multiplicative_weights_scan.h - the scans of multiplicative_weights.h for one type of totals; included by multiplicative_weights.c once a type.
 * TOTAL is the type, NAME(verb) the name. */

/* The bounds of an expert and of its mirror image, each below 2^31; one less each. */
DPF_BODY uint32_t NAME(below)(TOTAL total, TOTAL offset, bool mirrored, float rate) {
    const uint32_t own = below_bound((float)(total + offset), rate);
    return mirrored ? own + below_bound((float)(offset - total), rate) : own;
}

DPF_BODY uint32_t NAME(bounds)(TOTAL total, TOTAL offset, bool mirrored, float rate) {
    return 1 + mirrored + NAME(below)(total, offset, mirrored, rate);
}

/* total += q; low and high follow; the sum of the bounds. */
DPF_BODY uint64_t NAME(update)(TOTAL *DPF_RESTRICT total, uint32_t *DPF_RESTRICT q, size_t n, TOTAL offset,
                               bool mirrored, float rate, TOTAL *low, TOTAL *high) {
    TOTAL l = *low, h = *high;
    for (size_t j = 0; j < n; j++) {
        const TOTAL next = total[j] + (int32_t)q[j];
        total[j] = next;
        l = next < l ? next : l;
        h = next > h ? next : h;
        q[j] = NAME(below)(next, offset, mirrored, rate);
    }
    *low = l, *high = h;
    return sum_of(q, n, mirrored) + n * (1 + mirrored);
}

/* A pass: adds sign * row number `row`, or nothing if losses is NULL. False if a loss lay outside. */
DPF_BODY bool NAME(pass_body)(dpf_weights *w, TOTAL *total, const dpf_losses *losses, size_t row, int sign) {
    uint32_t q[DPF_WEIGHTS_BLOCK];
    const TOTAL offset = (TOTAL)w->offset;
    TOTAL low = total[0], high = total[0];
    if (losses) low = (TOTAL)(sizeof(TOTAL) < 8 ? INT32_MAX : INT64_MAX), high = -low - 1;
    bool inside = true;
    w->sum = 0;
    for (size_t start = 0, b = 0; start < w->d; start += w->block, b++) {
        const size_t end = w->d - start < w->block ? w->d : start + w->block;
        uint64_t sum = 0;
        for (size_t i = start; i < end; i += DPF_WEIGHTS_BLOCK) {
            const size_t size = end - i < DPF_WEIGHTS_BLOCK ? end - i : DPF_WEIGHTS_BLOCK;
            if (losses) inside &= on_grid(losses, row, sign, i, size, (int32_t *)q);
            else memset(q, 0, sizeof q);
            sum += w->mirrored ? NAME(update)(total + i, q, size, offset, true, w->rate, &low, &high)
                               : NAME(update)(total + i, q, size, offset, false, w->rate, &low, &high);
        }
        w->sums[b] = sum;
        w->sum += sum;
    }
    w->low = low, w->high = high, w->stale = false;
    return inside;
}

DPF_LEVELS(bool, NAME(pass), NAME(pass_body),
           (dpf_weights *w, TOTAL *total, const dpf_losses *losses, size_t row, int sign),
           (w, total, losses, row, sign))

/* The expert, of n, whose bounds *rank falls into; *rank becomes the rest inside them. */
DPF_BODY size_t NAME(find_body)(const TOTAL *total, size_t n, TOTAL offset, bool mirrored, float rate, uint64_t *rank) {
    enum { CHUNK = 128 };
    size_t j = 0;
    for (; n - j > CHUNK; j += CHUNK) {
        uint64_t sum = 0;
        for (size_t k = 0; k < CHUNK; k++) sum += NAME(bounds)(total[j + k], offset, mirrored, rate);
        if (*rank < sum) break;
        *rank -= sum;
    }
    for (;; j++) {
        const uint64_t own = NAME(bounds)(total[j], offset, mirrored, rate);
        if (*rank < own) return j;
        *rank -= own;
    }
}

DPF_LEVELS(size_t, NAME(find), NAME(find_body),
           (const TOTAL *total, size_t n, TOTAL offset, bool mirrored, float rate, uint64_t *rank),
           (total, n, offset, mirrored, rate, rank))

#undef TOTAL
#undef NAME
