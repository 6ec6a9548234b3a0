/* grid_real.h - the loop of grid.h for one type of reals; included by grid.c once a type. REAL is the type, KEY the
 * integer of its size, LARGEST the largest of those, NAME(suffix) the name. */

/* Integers in the order of the reals: they may be compared in any order of lanes. And back. */
DPF_BODY KEY NAME(_key)(REAL x) {
    KEY key;
    memcpy(&key, &x, sizeof key);
    return key < 0 ? key ^ LARGEST : key;
}

DPF_BODY double NAME(_real)(KEY key) {
    REAL x;
    if (key < 0) key ^= LARGEST;
    memcpy(&x, &key, sizeof x);
    return x;
}

DPF_BODY void NAME(_body)(const REAL *x, size_t n, unsigned bits, int32_t *DPF_RESTRICT q, double *low, double *high) {
    enum { CHUNK = 1024 };
    const double scale = (double)((uint64_t)1 << bits);
    KEY lowest = LARGEST, highest = -LARGEST;
    int32_t nans = 0;
    for (size_t start = 0; start < n; start += CHUNK) {
        const size_t end = n - start < CHUNK ? n : start + CHUNK;
        for (size_t i = start; i < end; i++) {
            const REAL above = x[i] > -1 ? x[i] : -1, clipped = above < 1 ? above : 1;
            const int32_t rounded = (int32_t)(((double)clipped * scale + MIDDLE) - MIDDLE), number = x[i] == x[i];
            q[i] = rounded & -number;
            nans |= !number;
        }
        for (size_t i = start; i < end; i++) {
            const KEY key = NAME(_key)(x[i]);
            lowest = key < lowest ? key : lowest;
            highest = key > highest ? key : highest;
        }
    }
    *low = !nans ? NAME(_real)(lowest) : NAN;
    *high = !nans ? NAME(_real)(highest) : NAN;
}

DPF_LEVELS(void, NAME(), NAME(_body),
           (const REAL *x, size_t n, unsigned bits, int32_t *DPF_RESTRICT q, double *low, double *high),
           (x, n, bits, q, low, high))

/* The bits of the number that MIDDLE moves onto the integers; it is clipped there, where clipping moves no other number
 * and costs two instructions. The last bits are the integer. */
DPF_BODY uint64_t NAME(_moved)(REAL x, double scale) {
    const double moved = (double)x * scale + MIDDLE, least = moved > MIDDLE ? moved : MIDDLE; /* NaN is not above */
    const double unit = least < MIDDLE + scale ? least : MIDDLE + scale;
    uint64_t moved_bits;
    memcpy(&moved_bits, &unit, sizeof moved_bits);
    return moved_bits;
}

DPF_BODY int64_t NAME(_sum_body)(const REAL *x, size_t n, unsigned bits) {
    enum { LANES = 32 }; /* sums in progress: one of a few waits for itself */
    const double scale = (double)((uint64_t)1 << bits);
    uint64_t total[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) total[l] += NAME(_moved)(x[i + l], scale);
    for (; i < n; i++) total[0] += NAME(_moved)(x[i], scale);
    for (size_t l = 1; l < LANES; l++) total[0] += total[l];
    return (int64_t)(total[0] - n * UINT64_C(0x4338000000000000)); /* the bits of MIDDLE, modulo 2^64 */
}

DPF_LEVELS(int64_t, NAME(_sum), NAME(_sum_body), (const REAL *x, size_t n, unsigned bits), (x, n, bits))

#undef REAL
#undef KEY
#undef LARGEST
#undef NAME
