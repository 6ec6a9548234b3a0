#include "grid.h"
#include "dpf_cpu.h"

#include <math.h>
#include <string.h>

/* 1.5 * 2^52: sums with it are rounded to integers. */
#define MIDDLE 6755399441055744.0

#define REAL float
#define KEY int32_t
#define LARGEST INT32_MAX
#define NAME(suffix) dpf_grid_float##suffix
#include "grid_real.h"

#define REAL double
#define KEY int64_t
#define LARGEST INT64_MAX
#define NAME(suffix) dpf_grid_double##suffix
#include "grid_real.h"

void dpf_grid(const void *x, bool wide, size_t n, unsigned bits, int32_t *DPF_RESTRICT q, double *low, double *high) {
    if (wide) dpf_grid_double(x, n, bits, q, low, high);
    else dpf_grid_float(x, n, bits, q, low, high);
}

int64_t dpf_grid_sum(const void *x, bool wide, size_t n, unsigned bits) {
    return wide ? dpf_grid_double_sum(x, n, bits) : dpf_grid_float_sum(x, n, bits);
}
