/* Bodies of codes.c for cells of LANES numbers of 32 bits, named by NAMED(name); no header of its own. */

#define CELL NAMED(cell)

typedef struct {
    uint32_t lane[LANES]; /* those of an integer with a sign */
} CELL;

/* table[s][code[s][row]] += weight for `some` groups of codes of one width; row NULL where all rows of the block count. */
DPF_BODY void NAMED(scatter)(const void *const *code, bool wide, const uint16_t *row, size_t rows,
                             const int32_t *weight, size_t some, CELL *const *table) {
    for (size_t r = 0; r < rows; r++) {
        const size_t i = row ? row[r] : r;
        uint32_t w[LANES];
        for (size_t l = 0; l < LANES; l++) w[l] = (uint32_t)weight[r * LANES + l];
        for (size_t s = 0; s < some; s++) {
            CELL *cell = table[s] + (wide ? ((const uint16_t *)code[s])[i] : ((const uint8_t *)code[s])[i]);
            for (size_t l = 0; l < LANES; l++) cell->lane[l] += w[l];
        }
    }
}

/* One loop for each number of groups, and kind of codes. */
DPF_BODY void NAMED(scatter_some)(const void *const *code, bool wide, const uint16_t *row, size_t rows,
                                  const int32_t *weight, size_t some, CELL *const *table) {
    if (some == SIDE && !wide && !row) NAMED(scatter)(code, false, NULL, rows, weight, SIDE, table);
    else if (some == SIDE && !wide) NAMED(scatter)(code, false, row, rows, weight, SIDE, table);
    else if (some == SIDE && !row) NAMED(scatter)(code, true, NULL, rows, weight, SIDE, table);
    else if (some == SIDE) NAMED(scatter)(code, true, row, rows, weight, SIDE, table);
    else if (some == 3 && !wide) NAMED(scatter)(code, false, row, rows, weight, 3, table);
    else if (some == 2 && !wide) NAMED(scatter)(code, false, row, rows, weight, 2, table);
    else if (!wide) NAMED(scatter)(code, false, row, rows, weight, 1, table);
    else if (some == 3) NAMED(scatter)(code, true, row, rows, weight, 3, table);
    else if (some == 2) NAMED(scatter)(code, true, row, rows, weight, 2, table);
    else NAMED(scatter)(code, true, row, rows, weight, 1, table);
}
DPF_LEVELS(void, NAMED(add), NAMED(scatter_some),
           (const void *const *code, bool wide, const uint16_t *row, size_t rows, const int32_t *weight, size_t some,
            CELL *const *table),
           (code, wide, row, rows, weight, some, table))

/* Adds the weights of the chosen rows of a span to the cells of their joint codes. */
DPF_BODY void NAMED(add_span)(const dpf_codes *codes, const dpf_codes_plan *plan, dpf_codes_label label, size_t start,
                              size_t end, const chosen *chosen, void *DPF_RESTRICT cells) {
    uint16_t joint[SIDE * BLOCK];
    for (size_t g = 0, some; g < plan->groups; g += some) {
        const uint16_t *row = chosen->row;
        const int32_t *weight = chosen->weight;
        const bool joins = dpf_codes_joins(codes, plan, g, label);
        CELL *table[SIDE];
        const void *code[SIDE];
        for (some = 0; some < SIDE && g + some < plan->groups; some++) {
            if (dpf_codes_joins(codes, plan, g + some, label) != joins) break;
            table[some] = (CELL *)cells + plan->cell[g + some] * label.size;
        }
        for (size_t i = start, b = 0; i < end; i += BLOCK, b++) {
            const size_t all = end - i < BLOCK ? end - i : BLOCK, rows = chosen->rows[b];
            const uint16_t *at = rows == all ? NULL : row;
            const bool few = joins && rows < all / FEW;
            if (rows == 0) continue;
            for (size_t s = 0; s < some; s++) {
                if (g + some + s < plan->groups && rows >= all / 256) dpf_codes_fetch(codes, plan, g + some + s, i, all);
                code[s] = joint + s * BLOCK;
                if (few) dpf_codes_join_rows(codes, plan, g + s, label, i, at, rows, joint + s * BLOCK);
                else if (joins) dpf_codes_join(codes, plan, g + s, label, i, all, joint + s * BLOCK);
                else code[s] = (const uint8_t *)codes->column[plan->member[plan->first[g + s]]] + i;
            }
            NAMED(add)(code, joins, few ? NULL : at, rows, weight, some, table);
            row += rows, weight += rows * LANES;
        }
    }
}

/* total[code] += the numbers of its joint codes, the first `kept` of `unit`; totals are k apart. */
DPF_BODY void NAMED(settle)(const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *cells, size_t unit,
                            size_t kept, size_t k, int64_t *DPF_RESTRICT total) {
    for (size_t g = 0; g < plan->groups; g++) {
        const size_t joint = plan->cell[g + 1] - plan->cell[g];
        for (size_t m = plan->first[g], stride = 1; m < plan->first[g + 1]; m++) {
            const size_t size = codes->size[plan->member[m]];
            const int32_t *number = cells + plan->cell[g] * unit;
            for (size_t at = 0; at < joint; at += stride * size) {
                int64_t *sum = total + codes->offset[plan->member[m]] * k;
                if (stride == 1 && kept == unit && k == unit)
                    for (size_t e = 0; e < size * unit; e++) sum[e] += number[e];
                else
                    for (size_t code = 0; code < size; code++)
                        for (size_t l = 0; l < kept; l++) {
                            int64_t all = 0;
                            for (size_t e = 0; e < stride; e++) all += number[(code * stride + e) * unit + l];
                            sum[code * k + l] += all;
                        }
                number += stride * size * unit;
            }
            stride *= size;
        }
    }
}

/* Rows of a block with a weight other than zero, and those weights, the first `kept` of k. */
DPF_BODY size_t NAMED(choose)(const int32_t *weight, size_t rows, size_t k, size_t kept, uint16_t *DPF_RESTRICT row,
                              int32_t *DPF_RESTRICT held) {
    size_t count = 0;
    if (kept < LANES) memset(held, 0, rows * LANES * sizeof *held);
    for (size_t i = 0; i < rows; i++) {
        int32_t any = 0;
        for (size_t l = 0; l < kept; l++) any |= held[count * LANES + l] = weight[i * k + l];
        row[count] = (uint16_t)i;
        count += any != 0;
    }
    return count;
}

/* total += weight by codes, the first `kept` of k weights; so many rows fit into a cell. */
DPF_BODY void NAMED(sum)(const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *weight, size_t k,
                         size_t kept, size_t fit, int32_t *DPF_RESTRICT cells, int64_t *DPF_RESTRICT total) {
    const size_t size = plan->cell[plan->groups] * LANES * sizeof *cells, span = fit < SPAN / LANES ? fit : SPAN / LANES;
    const dpf_codes_label none = {NULL, false, 1};
    chosen some;
    memset(cells, 0, size);
    for (size_t start = 0, end, added = 0; start < codes->n; start = end) {
        size_t held = 0;
        end = codes->n - start < span ? codes->n : start + span;
        for (size_t i = start, b = 0; i < end; i += BLOCK, b++) {
            const size_t all = end - i < BLOCK ? end - i : BLOCK;
            const int32_t *from = weight + i * k;
            uint16_t *row = some.row + held;
            int32_t *to = some.weight + held * LANES;
            some.rows[b] = NAMED(choose)(from, all, k, LANES == 1 ? 1 : kept, row, to);
            held += some.rows[b];
        }
        NAMED(add_span)(codes, plan, none, start, end, &some, cells);
        added += span;
        if (added + span > fit || end == codes->n) {
            NAMED(settle)(codes, plan, cells, LANES, kept, k, total);
            memset(cells, 0, size);
            added = 0;
        }
    }
}

#undef CELL
#undef LANES
#undef NAMED
