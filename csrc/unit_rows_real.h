/* Bodies of unit_rows.c for entries of type REAL, named by NAMED(name); no header of its own. */

DPF_BODY void NAMED(scale)(const dpf_unit_rows *rows, double constant, bool inside, double *DPF_RESTRICT scale) {
    const REAL *x = rows->x;
    const size_t n = rows->n, d = rows->d;
    const unsigned bits = rows->bits;
    for (size_t i = 0; i < n; i++) {
        const REAL *row = x + i * d;
        double lane[LANES] = {0};
        size_t j = 0;
        for (; j + LANES <= d; j += LANES)
            for (size_t l = 0; l < LANES; l++) lane[l] += (double)row[j + l] * (double)row[j + l];
        for (size_t l = 0; j + l < d; l++) lane[l] += (double)row[j + l] * (double)row[j + l];
        double square = lane_sum(lane);
        if (!(square + constant * constant > SMALL && square < LARGE)) {
            const double by = square < LARGE ? GROW : SHRINK;
            square = 0;
            for (j = 0; j < d; j++) square += (by * (double)row[j]) * (by * (double)row[j]);
            square += (by * constant) * (by * constant);
            scale[i] = scale_of(sqrt(square), by, LEAST_NORM, inside, bits);
        } else scale[i] = scale_of(sqrt(square + constant * constant), 1, LEAST_NORM, inside, bits);
    }
}

DPF_BODY void NAMED(scale_csr)(const dpf_unit_rows *rows, double constant, bool inside, double *DPF_RESTRICT scale) {
    const REAL *data = rows->x;
    const size_t n = rows->n;
    const unsigned bits = rows->bits;
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        const int64_t end = rows->indptr[i + 1];
        if (rows->ones[i]) square = (double)(end - rows->indptr[i]);
        else
            for (int64_t p = rows->indptr[i]; p < end; p++) square += (double)data[p] * (double)data[p];
        if (!(square + constant * constant > SMALL && square < LARGE)) {
            const double by = square < LARGE ? GROW : SHRINK;
            square = 0;
            for (int64_t p = rows->indptr[i]; p < end; p++) {
                const double entry = by * (rows->ones[i] ? 1.0 : (double)data[p]); /* rows of ones have no data */
                square += entry * entry;
            }
            square += (by * constant) * (by * constant);
            scale[i] = scale_of(sqrt(square), by, LEAST_NORM, inside, bits);
        } else scale[i] = scale_of(sqrt(square + constant * constant), 1, LEAST_NORM, inside, bits);
    }
}

DPF_BODY void NAMED(eight)(const REAL *lane, REAL *DPF_RESTRICT sum) {
    for (size_t l = 0; l < 8; l++) sum[l] = (lane[l] + lane[l + 16]) + (lane[l + 8] + lane[l + 24]);
}

/*
 * The product of a row of LANES entries or more and w as LANES sums, of which eight are left. `last` is w for the row's
 * last LANES entries, zero for those that whole lanes have had; so lanes stay in registers.
 */
DPF_BODY void NAMED(eight_sums)(const REAL *row, size_t d, const float *w, const float *last, REAL *DPF_RESTRICT sum) {
    REAL lane[LANES];
    for (size_t l = 0; l < LANES; l++) lane[l] = 0 + row[l] * (REAL)w[l];
    for (size_t j = LANES; j + LANES <= d; j += LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += row[j + l] * (REAL)w[j + l];
    if (d % LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += row[d - LANES + l] * (REAL)last[l];
    NAMED(eight)(lane, sum);
}

/* Products of rows of fewer entries wait in `few` until those of all ROWS are stored, so that no load waits for one. */
DPF_BODY void NAMED(margins)(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                             float *DPF_RESTRICT margin) {
    enum { ROWS = 16 };
    const REAL *x = rows->x;
    const size_t n = rows->n, d = rows->d;
    const double shift = constant * w[d], unit = ldexp(1, -(int)rows->bits);
    float last[LANES] = {0};
    REAL few[ROWS][LANES] = {0};
    for (size_t l = LANES - d % LANES; l < LANES && d > LANES; l++) last[l] = w[d - LANES + l];
    for (size_t i = 0; i < n; i += ROWS) {
        const size_t size = n - i < ROWS ? n - i : ROWS;
        REAL s[ROWS][8];
        if (d < LANES) {
            for (size_t r = 0; r < size; r++)
                for (size_t j = 0; j < d; j++) few[r][j] = x[(i + r) * d + j] * (REAL)w[j];
            for (size_t r = 0; r < size; r++) NAMED(eight)(few[r], s[r]);
        } else
            for (size_t r = 0; r < size; r++) NAMED(eight_sums)(x + (i + r) * d, d, w, last, s[r]);
        for (size_t r = 0; r < size; r++) {
            const REAL even = (s[r][0] + s[r][4]) + (s[r][2] + s[r][6]);
            const REAL odd = (s[r][1] + s[r][5]) + (s[r][3] + s[r][7]);
            margin[i + r] = clipped(even + odd + shift, scale[i + r] * unit);
        }
    }
}

/*
 * Products are sums in the order of a row's entries, each of which waits for the one before it. So two rows go together as
 * far as the shorter one; the last row may go with itself. Where only one has entries other than 1, those are read of both.
 */
DPF_BODY void NAMED(margins_csr)(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                                 float *DPF_RESTRICT margin) {
    const REAL *data = rows->x;
    const int32_t *indices = rows->indices;
    const size_t n = rows->n, d = rows->d;
    const double shift = constant * w[d], unit = ldexp(1, -(int)rows->bits);
    for (size_t i = 0, k; i < n; i = k + 1) {
        k = i + 1 < n ? i + 1 : i;
        const int64_t at0 = rows->indptr[i], size0 = rows->indptr[i + 1] - at0;
        const int64_t at1 = rows->indptr[k], size1 = rows->indptr[k + 1] - at1;
        const int64_t shared = size0 < size1 ? size0 : size1;
        const int32_t *j0 = indices + at0, *j1 = indices + at1;
        double s0 = shift, s1 = shift;
        if (rows->ones[i] & rows->ones[k]) {
            for (int64_t p = 0; p < shared; p++) s0 += w[j0[p]], s1 += w[j1[p]];
            for (int64_t p = shared; p < size0; p++) s0 += w[j0[p]];
            for (int64_t p = shared; p < size1; p++) s1 += w[j1[p]];
        } else {
            const REAL *x0 = data + at0, *x1 = data + at1;
            for (int64_t p = 0; p < shared; p++) s0 += (double)x0[p] * w[j0[p]], s1 += (double)x1[p] * w[j1[p]];
            for (int64_t p = shared; p < size0; p++) s0 += (double)x0[p] * w[j0[p]];
            for (int64_t p = shared; p < size1; p++) s1 += (double)x1[p] * w[j1[p]];
        }
        margin[i] = clipped(s0, scale[i] * unit);
        margin[k] = clipped(s1, scale[k] * unit);
    }
}

DPF_BODY void NAMED(add)(const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *weight,
                         int64_t *DPF_RESTRICT total) {
    enum { ROWS = 4 }; /* whose sum 32 bits hold: 4 * 2^12 * (2^17 - 1) < 2^31 */
    const REAL *x = rows->x;
    const size_t n = rows->n, d = rows->d;
    size_t held = 0, at[ROWS];
    for (size_t i = 0; i < n; i++) {
        if (!weight[i]) continue;
        total[d] += (int64_t)weight[i] * (int32_t)(constant * scale[i]);
        at[held++] = i;
        if (held < ROWS) continue;
        held = 0;
        const REAL *x0 = x + at[0] * d, *x1 = x + at[1] * d, *x2 = x + at[2] * d, *x3 = x + at[3] * d;
        const REAL s0 = (REAL)scale[at[0]], s1 = (REAL)scale[at[1]], s2 = (REAL)scale[at[2]], s3 = (REAL)scale[at[3]];
        const int32_t u0 = weight[at[0]], u1 = weight[at[1]], u2 = weight[at[2]], u3 = weight[at[3]];
        for (size_t j = 0; j < d; j++)
            total[j] += u0 * (int32_t)(x0[j] * s0) + u1 * (int32_t)(x1[j] * s1) + u2 * (int32_t)(x2[j] * s2) +
                        u3 * (int32_t)(x3[j] * s3);
    }
    for (size_t r = 0; r < held; r++) {
        const REAL *row = x + at[r] * d, s = (REAL)scale[at[r]];
        const int32_t u = weight[at[r]];
        for (size_t j = 0; j < d; j++) total[j] += u * (int32_t)(row[j] * s);
    }
}

DPF_BODY void NAMED(add_csr)(const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *weight,
                             int64_t *DPF_RESTRICT total) {
    const REAL *data = rows->x;
    const size_t n = rows->n, d = rows->d;
    for (size_t i = 0; i < n; i++) {
        if (!weight[i]) continue;
        const int64_t u = weight[i], end = rows->indptr[i + 1];
        const REAL s = (REAL)scale[i];
        if (rows->ones[i]) {
            const int64_t step = u * (int32_t)s;
            for (int64_t p = rows->indptr[i]; p < end; p++) total[rows->indices[p]] += step;
        } else {
            for (int64_t p = rows->indptr[i]; p < end; p++) total[rows->indices[p]] += u * (int32_t)(data[p] * s);
        }
        total[d] += u * (int32_t)(constant * scale[i]);
    }
}

DPF_BODY void NAMED(apart)(const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *centre,
                           int64_t *DPF_RESTRICT apart) {
    const REAL *x = rows->x;
    const size_t n = rows->n, d = rows->d;
    for (size_t i = 0; i < n; i++) {
        const REAL *row = x + i * d, s = (REAL)scale[i];
        int64_t sum = far_by((int32_t)(constant * scale[i]), centre[d]);
        for (size_t j = 0; j < d; j++) sum += far_by((int32_t)(row[j] * s), centre[j]);
        apart[i] = sum;
    }
}

DPF_BODY void NAMED(apart_csr)(const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *centre,
                               int64_t *DPF_RESTRICT apart) {
    const REAL *data = rows->x;
    const size_t n = rows->n, d = rows->d;
    for (size_t i = 0; i < n; i++) {
        const int64_t end = rows->indptr[i + 1];
        const REAL s = (REAL)scale[i];
        int64_t sum = far_by((int32_t)(constant * scale[i]), centre[d]);
        for (int64_t p = rows->indptr[i]; p < end; p++)
            sum += far_by((int32_t)(rows->ones[i] ? s : data[p] * s), centre[rows->indices[p]]);
        apart[i] = sum;
    }
}

#undef REAL
#undef NAMED
#undef LEAST_NORM
