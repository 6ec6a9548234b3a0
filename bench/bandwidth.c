/* bandwidth.c - the two loops that a machine's memory is measured by. Built by bandwidth.py. */
#include <stddef.h>
#include <stdint.h>

enum { LANES = 32 };

/* The sum of n words, n a multiple of LANES: one read of 8 n bytes. */
uint64_t bandwidth_read(const uint64_t *x, size_t n) {
    uint64_t lane[LANES] = {0}, sum = 0;
    for (size_t i = 0; i < n; i += LANES)
        for (size_t k = 0; k < LANES; k++) lane[k] += x[i + k];
    for (size_t k = 0; k < LANES; k++) sum += lane[k];
    return sum;
}

/* a = b + s c: 24 n bytes as STREAM counts them; what a cache fetches before a write is not counted. */
void bandwidth_triad(double *restrict a, const double *restrict b, const double *restrict c, double s,
                     size_t n) {
    for (size_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}
