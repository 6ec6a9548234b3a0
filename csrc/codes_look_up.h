/* Bodies of codes_margins.c for LANES margins a row, named by NAMED(name); no header of its own. */

#define CELL NAMED(cell)

typedef struct {
    int32_t lane[LANES];
} CELL;

/* margin[i] += table[s][joint[s][i]] for `some` groups. */
DPF_BODY void NAMED(look_up)(const uint16_t *joint, size_t rows, size_t some, const CELL *const *table,
                             CELL *DPF_RESTRICT margin) {
    for (size_t i = 0; i < rows; i++) {
        CELL sum = margin[i];
        for (size_t s = 0; s < some; s++) {
            const CELL *entry = table[s] + joint[s * BLOCK + i];
            for (size_t l = 0; l < LANES; l++) sum.lane[l] += entry->lane[l];
        }
        margin[i] = sum;
#if DPF_BUILTINS
        __asm__ volatile(""); /* row by row: entries of several rows in one vector take twice as long */
#endif
    }
}

/* What each joint code adds to margins, the first `kept` of k. */
DPF_BODY void NAMED(join_tables)(const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *table, size_t k,
                                 size_t kept, CELL *DPF_RESTRICT cells) {
    memset(cells, 0, plan->cell[plan->groups] * sizeof *cells);
    for (size_t g = 0; g < plan->groups; g++) {
        const size_t joint = plan->cell[g + 1] - plan->cell[g];
        CELL *cell = cells + plan->cell[g];
        for (size_t m = plan->first[g], stride = 1; m < plan->first[g + 1]; m++) {
            const uint32_t j = plan->member[m];
            for (size_t at = 0, code = 0; at < joint; at += stride, code = code + 1 < codes->size[j] ? code + 1 : 0)
                for (size_t e = at; e < at + stride; e++)
                    for (size_t l = 0; l < kept; l++) cell[e].lane[l] += table[(codes->offset[j] + code) * k + l];
            stride *= codes->size[j];
        }
    }
}

DPF_BODY void NAMED(margins)(const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *table, size_t k,
                             size_t kept, void *DPF_RESTRICT joint, int32_t *DPF_RESTRICT margin) {
    enum { ROWS = SPAN / LANES };
    const dpf_codes_label none = {NULL, false, 1};
    CELL *cells = joint, held[ROWS];
    uint16_t at[SIDE * BLOCK];
    NAMED(join_tables)(codes, plan, table, k, kept, cells);
    for (size_t start = 0, rows; start < codes->n; start += rows) {
        rows = codes->n - start < ROWS ? codes->n - start : ROWS;
        memset(held, 0, rows * sizeof *held);
        for (size_t g = 0, some; g < plan->groups; g += some) {
            const CELL *side[SIDE];
            some = plan->groups - g < SIDE ? 1 : SIDE;
            for (size_t s = 0; s < some; s++) side[s] = cells + plan->cell[g + s];
            for (size_t i = 0; i < rows; i += BLOCK) {
                const size_t all = rows - i < BLOCK ? rows - i : BLOCK;
                for (size_t s = 0; s < some; s++)
                    dpf_codes_join(codes, plan, g + s, none, start + i, all, at + s * BLOCK);
                if (some == SIDE) NAMED(look_up)(at, all, SIDE, side, held + i);
                else NAMED(look_up)(at, all, 1, side, held + i);
            }
        }
        for (size_t i = 0; i < rows; i++)
            for (size_t l = 0; l < kept; l++) margin[(start + i) * k + l] = held[i].lane[l];
    }
}

#undef CELL
#undef LANES
#undef NAMED
