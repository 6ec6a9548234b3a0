/* Bodies of unit_rows.c for entries of type REAL, named by NAMED(name); no header of its own. */

DPF_BODY void NAMED(scale)(const REAL *x, size_t n, size_t d, double constant, bool inside, unsigned bits,
                           double *DPF_RESTRICT scale) {
    for (size_t i = 0; i < n; i++) {
        const REAL *row = x + i * d;
        double lane[LANES] = {0};
        size_t j = 0;
        for (; j + LANES <= d; j += LANES)
            for (size_t l = 0; l < LANES; l++) lane[l] += (double)row[j + l] * (double)row[j + l];
        for (size_t l = 0; j + l < d; l++) lane[l] += (double)row[j + l] * (double)row[j + l];
        double square = lane_sum(lane);
        if (!(square < LARGE)) {
            square = 0;
            for (j = 0; j < d; j++) square += (SHRINK * (double)row[j]) * (SHRINK * (double)row[j]);
            square += (SHRINK * constant) * (SHRINK * constant);
            scale[i] = scale_of(sqrt(square), SHRINK, inside, bits);
        } else
            scale[i] = scale_of(sqrt(square + constant * constant), 1, inside, bits);
    }
}

DPF_BODY void NAMED(scale_csr)(const dpf_unit_csr *rows, const REAL *data, size_t n, double constant, bool inside,
                               unsigned bits, double *DPF_RESTRICT scale) {
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        const int64_t end = rows->indptr[i + 1];
        if (!data) square = (double)(end - rows->indptr[i]);
        else
            for (int64_t p = rows->indptr[i]; p < end; p++) square += (double)data[p] * (double)data[p];
        if (!(square < LARGE)) {
            square = 0;
            for (int64_t p = rows->indptr[i]; p < end; p++)
                square += (SHRINK * (double)data[p]) * (SHRINK * (double)data[p]);
            square += (SHRINK * constant) * (SHRINK * constant);
            scale[i] = scale_of(sqrt(square), SHRINK, inside, bits);
        } else
            scale[i] = scale_of(sqrt(square + constant * constant), 1, inside, bits);
    }
}

DPF_BODY void NAMED(margins)(const REAL *x, size_t n, size_t d, double constant, unsigned bits, const double *scale,
                             const float *w, float *DPF_RESTRICT margin) {
    for (size_t i = 0; i < n; i++) {
        const REAL *row = x + i * d;
        REAL lane[LANES] = {0};
        size_t j = 0;
        for (; j + LANES <= d; j += LANES)
            for (size_t l = 0; l < LANES; l++) lane[l] += row[j + l] * (REAL)w[j + l];
        for (size_t l = 0; j + l < d; l++) lane[l] += row[j + l] * (REAL)w[j + l];
        margin[i] = clipped((double)NAMED(lane_sum)(lane), constant * w[d], scale[i], bits);
    }
}

DPF_BODY void NAMED(margins_csr)(const dpf_unit_csr *rows, const REAL *data, size_t n, size_t d, double constant,
                                 unsigned bits, const double *scale, const float *w, float *DPF_RESTRICT margin) {
    enum { CHAINS = 4 };
    for (size_t i = 0; i < n; i++) {
        const int32_t *index = rows->indices + rows->indptr[i];
        const size_t size = (size_t)(rows->indptr[i + 1] - rows->indptr[i]);
        REAL chain[CHAINS] = {0};
        size_t p = 0;
        if (!data) {
            for (; p + CHAINS <= size; p += CHAINS)
                for (size_t l = 0; l < CHAINS; l++) chain[l] += (REAL)w[index[p + l]];
            for (size_t l = 0; p + l < size; l++) chain[l] += (REAL)w[index[p + l]];
        } else {
            const REAL *value = data + rows->indptr[i];
            for (; p + CHAINS <= size; p += CHAINS)
                for (size_t l = 0; l < CHAINS; l++) chain[l] += value[p + l] * (REAL)w[index[p + l]];
            for (size_t l = 0; p + l < size; l++) chain[l] += value[p + l] * (REAL)w[index[p + l]];
        }
        margin[i] =
            clipped((double)((chain[0] + chain[1]) + (chain[2] + chain[3])), constant * w[d], scale[i], bits);
    }
}

DPF_BODY void NAMED(add)(const REAL *x, size_t n, size_t d, double constant, const double *scale,
                         const int32_t *weight, int64_t *DPF_RESTRICT total) {
    enum { ROWS = 4 }; /* added together, so that totals are loaded and stored less often */
    const REAL *row[ROWS];
    REAL s[ROWS];
    int32_t u[ROWS];
    size_t held = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && weight[i]) {
            row[held] = x + i * d, s[held] = (REAL)scale[i], u[held] = weight[i], held++;
            total[d] += (int64_t)weight[i] * (int32_t)(constant * scale[i]);
        }
        if (held == ROWS) {
            for (size_t j = 0; j < d; j++)
                total[j] += (int64_t)u[0] * (int32_t)(row[0][j] * s[0]) + (int64_t)u[1] * (int32_t)(row[1][j] * s[1]) +
                            (int64_t)u[2] * (int32_t)(row[2][j] * s[2]) + (int64_t)u[3] * (int32_t)(row[3][j] * s[3]);
            held = 0;
        }
    }
    for (size_t r = 0; r < held; r++)
        for (size_t j = 0; j < d; j++) total[j] += (int64_t)u[r] * (int32_t)(row[r][j] * s[r]);
}

DPF_BODY void NAMED(add_csr)(const dpf_unit_csr *rows, const REAL *data, size_t n, size_t d, double constant,
                             const double *scale, const int32_t *weight, int64_t *DPF_RESTRICT total) {
    for (size_t i = 0; i < n; i++) {
        if (!weight[i]) continue;
        const int64_t u = weight[i], end = rows->indptr[i + 1];
        const REAL s = (REAL)scale[i];
        if (!data) {
            const int64_t step = u * (int32_t)s;
            for (int64_t p = rows->indptr[i]; p < end; p++) total[rows->indices[p]] += step;
        } else
            for (int64_t p = rows->indptr[i]; p < end; p++) total[rows->indices[p]] += u * (int32_t)(data[p] * s);
        total[d] += u * (int32_t)(constant * scale[i]);
    }
}
