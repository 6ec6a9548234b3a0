#include "capped_scaling.h"
#include "dpf_cpu.h"

enum { LANES = 32 };

DPF_BODY bool check(const double *weight, size_t n, size_t *positive, double *largest) {
    uint64_t wrong = 0, above = 0;
    double most[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) {
            const double w = weight[i + l];
            wrong |= !(w >= 0 && w <= 0x1.fffffffffffffp1023);
            above += w > 0;
            most[l] = w > most[l] ? w : most[l];
        }
    for (; i < n; i++) {
        wrong |= !(weight[i] >= 0 && weight[i] <= 0x1.fffffffffffffp1023);
        above += weight[i] > 0;
        most[0] = weight[i] > most[0] ? weight[i] : most[0];
    }
    for (size_t l = 1; l < LANES; l++) most[0] = most[l] > most[0] ? most[l] : most[0];
    *positive = above;
    *largest = most[0];
    return !wrong;
}
DPF_LEVELS(bool, dpf_capped_scaling_check, check,
           (const double *weight, size_t n, size_t *positive, double *largest), (weight, n, positive, largest))

DPF_BODY void count(const double *weight, size_t n, double c, size_t *capped, double *rest) {
    double lane[LANES] = {0};
    uint64_t ones[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) {
            const double w = weight[i + l];
            const bool full = c * w >= 1;
            ones[l] += full;
            lane[l] += full ? 0 : w;
        }
    for (; i < n; i++) {
        const bool full = c * weight[i] >= 1;
        ones[i % LANES] += full;
        lane[i % LANES] += full ? 0 : weight[i];
    }
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++) lane[l] += lane[l + half], ones[l] += ones[l + half];
    *capped = ones[0];
    *rest = lane[0];
}
DPF_LEVELS(void, dpf_capped_scaling_count, count,
           (const double *weight, size_t n, double c, size_t *capped, double *rest), (weight, n, c, capped, rest))

DPF_BODY void apply(const double *weight, size_t n, double c, double *DPF_RESTRICT out) {
    for (size_t i = 0; i < n; i++) {
        const double scaled = c * weight[i];
        out[i] = scaled < 1 ? scaled : 1;
    }
}
DPF_LEVELS(void, dpf_capped_scaling_apply, apply, (const double *weight, size_t n, double c, double *DPF_RESTRICT out),
           (weight, n, c, out))
