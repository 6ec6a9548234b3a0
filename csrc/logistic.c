#include "logistic.h"
#include "dpf_cpu.h"

#include <string.h>

/* exp(x) of x <= 0, to 2^-22 of it and at most 1; exp(-69) below that. */
DPF_BODY float falling(float x) {
    const float magic = 0x1.8p23f; /* sums with it are rounded to integers */
    const float above = x > -69.0f ? x : -69.0f;
    const float m = (above * 0x1.715476p0f + magic) - magic;
    const float r = (above - m * 0x1.62e4p-1f) - m * 0x1.7f7d1cp-20f;
    const int32_t bits = ((int32_t)m + 127) * (1 << 23);
    float sum = 0x1.6c16c2p-10f, power;
    sum = sum * r + 0x1.111112p-7f;
    sum = sum * r + 0x1.555556p-5f;
    sum = sum * r + 0x1.555556p-3f;
    sum = sum * r + 0.5f;
    sum = sum * r + 1.0f;
    sum = sum * r + 1.0f;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

DPF_BODY float linear(const void *score, bool real, size_t at, float step, float constant) {
    const float scaled = (real ? ((const float *)score)[at] : (float)((const int32_t *)score)[at]) * step;
    return scaled + constant;
}

DPF_BODY void two_of(const void *score, bool real, float step, float constant, const uint8_t *label,
                     const int32_t *limit, size_t n, int32_t *DPF_RESTRICT residual) {
    for (size_t i = 0; i < n; i++) {
        const float f = linear(score, real, i, step, constant), ahead = label[i] ? f : -f;
        const float e = falling(ahead > 0 ? -ahead : ahead), half = (e + e) / (1.0f + e);
        const int32_t size = (int32_t)((float)limit[i] * (ahead > 0 ? half : 1.0f));
        residual[i] = label[i] ? size : -size;
    }
}

DPF_BODY void two(const void *score, bool real, float step, float constant, const uint8_t *label,
                  const int32_t *limit, size_t n, int32_t *DPF_RESTRICT residual) {
    if (real) two_of(score, true, step, constant, label, limit, n, residual);
    else two_of(score, false, step, constant, label, limit, n, residual);
}
DPF_LEVELS(void, dpf_logistic_two, two,
           (const void *score, bool real, float step, float constant, const uint8_t *label, const int32_t *limit,
            size_t n, int32_t *DPF_RESTRICT residual),
           (score, real, step, constant, label, limit, n, residual))

DPF_BODY void margin_of(const void *score, bool real, float step, float constant, const uint8_t *label,
                        const int32_t *limit, size_t n, int32_t *DPF_RESTRICT residual) {
    for (size_t i = 0; i < n; i++) {
        const float f = linear(score, real, i, step, constant), ahead = label[i] ? f : -f;
        const float beyond = ahead + ahead - 4.0f, e = falling(beyond > 0 ? -beyond : beyond);
        const float share = (beyond > 0 ? e : 1.0f) / (1.0f + e) * 0x1.04b056p0f; /* 1 + exp(-4) */
        const int32_t size = (int32_t)((float)limit[i] * (share < 1.0f ? share : 1.0f));
        residual[i] = label[i] ? size : -size;
    }
}

DPF_BODY void margin(const void *score, bool real, float step, float constant, const uint8_t *label,
                     const int32_t *limit, size_t n, int32_t *DPF_RESTRICT residual) {
    if (real) margin_of(score, true, step, constant, label, limit, n, residual);
    else margin_of(score, false, step, constant, label, limit, n, residual);
}
DPF_LEVELS(void, dpf_logistic_margin, margin,
           (const void *score, bool real, float step, float constant, const uint8_t *label, const int32_t *limit,
            size_t n, int32_t *DPF_RESTRICT residual),
           (score, real, step, constant, label, limit, n, residual))

/* lane[c * BLOCK + i] = score of class c in row i of a block. */
DPF_BODY void spread(const void *score, bool real, float step, const float *constant, size_t rows, size_t k,
                     float *DPF_RESTRICT lane) {
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < rows; i++)
            lane[c * DPF_LOGISTIC_BLOCK + i] = linear(score, real, i * k + c, step, constant[c]);
}

/* The residuals of a block. The own class is told by its score, which is set to that of no other. */
DPF_BODY void block(const uint16_t *label, const int32_t *limit, size_t rows, size_t k, float *DPF_RESTRICT lane,
                    int32_t *DPF_RESTRICT residual) {
    enum { BLOCK = DPF_LOGISTIC_BLOCK };
    float own[BLOCK], most[BLOCK], sum[BLOCK];
    int32_t left[BLOCK];
    for (size_t i = 0; i < rows; i++) {
        own[i] = lane[label[i] * BLOCK + i];
        lane[label[i] * BLOCK + i] = -3e38f;
        most[i] = -3e38f;
        sum[i] = 0;
    }
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < rows; i++) most[i] = lane[c * BLOCK + i] > most[i] ? lane[c * BLOCK + i] : most[i];
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < rows; i++) {
            const float e = c == label[i] ? 0.0f : falling(lane[c * BLOCK + i] - most[i]);
            lane[c * BLOCK + i] = e;
            sum[i] += e;
        }
    for (size_t i = 0; i < rows; i++) { /* what each e is multiplied by: limit h / sum */
        const float ahead = own[i] - most[i], e = falling(ahead > 0 ? -ahead : ahead);
        const float odds = ahead > 0 ? sum[i] * e : sum[i];     /* against the own class, over that of `unit` */
        const float unit = ahead > 0 ? 1.0f : e;
        const float half = odds < unit ? (odds + odds) / (odds + unit) : 1.0f;
        left[i] = limit[i];
        sum[i] = (float)limit[i] * half / sum[i];
    }
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < rows; i++) {
            const int32_t size = (int32_t)(lane[c * BLOCK + i] * sum[i]), held = size < left[i] ? size : left[i];
            left[i] -= held;
            residual[i * k + c] = -held;
        }
    for (size_t i = 0; i < rows; i++) residual[i * k + label[i]] = limit[i] - left[i];
}

DPF_BODY void many(const void *score, bool real, float step, const float *constant, const uint16_t *label,
                   const int32_t *limit, size_t n, size_t k, float *DPF_RESTRICT lane,
                   int32_t *DPF_RESTRICT residual) {
    for (size_t start = 0, rows; start < n; start += rows) {
        const void *at = (const char *)score + start * k * 4;
        rows = n - start < DPF_LOGISTIC_BLOCK ? n - start : DPF_LOGISTIC_BLOCK;
        if (real) spread(at, true, step, constant, rows, k, lane);
        else spread(at, false, step, constant, rows, k, lane);
        block(label + start, limit + start, rows, k, lane, residual + start * k);
    }
}
DPF_LEVELS(void, dpf_logistic_many, many,
           (const void *score, bool real, float step, const float *constant, const uint16_t *label,
            const int32_t *limit, size_t n, size_t k, float *DPF_RESTRICT lane, int32_t *DPF_RESTRICT residual),
           (score, real, step, constant, label, limit, n, k, lane, residual))
