#include "bins.h"
#include "dpf_cpu.h"

enum { BLOCK = 64 };

/* at[i] = the number of edges below x[i], or any for NaN, for a block of numbers. */
DPF_BODY void search(const double *x, size_t rows, const double *edge, size_t edges, uint32_t *DPF_RESTRICT at) {
    for (size_t i = 0; i < rows; i++) at[i] = 0;
    if (!edges) return;
    for (size_t left = edges, half = left / 2; left > 1; left -= half, half = left / 2) {
        const double *middle = edge + half - 1;
        for (size_t i = 0; i < rows; i++) at[i] += middle[at[i]] < x[i] ? (uint32_t)half : 0;
    }
    for (size_t i = 0; i < rows; i++) at[i] += edge[at[i]] < x[i];
}

DPF_BODY void count8(const double *x, size_t n, const double *edge, size_t edges, uint8_t missing,
                     uint8_t *DPF_RESTRICT bin) {
    uint32_t at[BLOCK];
    for (size_t start = 0; start < n; start += BLOCK) {
        const size_t rows = n - start < BLOCK ? n - start : BLOCK;
        search(x + start, rows, edge, edges, at);
        for (size_t i = 0; i < rows; i++) bin[start + i] = x[start + i] != x[start + i] ? missing : (uint8_t)at[i];
    }
}

DPF_BODY void count16(const double *x, size_t n, const double *edge, size_t edges, uint16_t missing,
                      uint16_t *DPF_RESTRICT bin) {
    uint32_t at[BLOCK];
    for (size_t start = 0; start < n; start += BLOCK) {
        const size_t rows = n - start < BLOCK ? n - start : BLOCK;
        search(x + start, rows, edge, edges, at);
        for (size_t i = 0; i < rows; i++) bin[start + i] = x[start + i] != x[start + i] ? missing : (uint16_t)at[i];
    }
}

DPF_LEVELS(void, dpf_bins_count8, count8,
           (const double *x, size_t n, const double *edge, size_t edges, uint8_t missing, uint8_t *DPF_RESTRICT bin),
           (x, n, edge, edges, missing, bin))
DPF_LEVELS(void, dpf_bins_count16, count16,
           (const double *x, size_t n, const double *edge, size_t edges, uint16_t missing, uint16_t *DPF_RESTRICT bin),
           (x, n, edge, edges, missing, bin))
