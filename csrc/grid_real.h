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

DPF_BODY int64_t NAME(_sum_body)(const REAL *x, size_t n, unsigned bits) {
    const double scale = (double)((uint64_t)1 << bits);
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        const REAL least = x[i] > 0 ? x[i] : 0, unit = least < 1 ? least : 1;
        const double moved = (double)unit * scale + MIDDLE; /* its low bits are the rounded integer */
        int64_t low_bits;
        memcpy(&low_bits, &moved, sizeof low_bits);
        total += low_bits - INT64_C(0x4338000000000000);
    }
    return total;
}

DPF_LEVELS(int64_t, NAME(_sum), NAME(_sum_body), (const REAL *x, size_t n, unsigned bits), (x, n, bits))

#undef REAL
#undef KEY
#undef LARGEST
#undef NAME
