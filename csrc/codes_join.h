/* What codes.c and codes_margins.c share. */
#ifndef DPF_CODES_JOIN_H
#define DPF_CODES_JOIN_H

#include "codes.h"

#include <string.h>

enum {
    BLOCK = 1024, /* rows whose joint codes stay near */
    SPAN = 8192,  /* rows, times sums, for which the tables of joint codes stay near */
    SIDE = 4,     /* groups that take turns, so that no addition waits for the one before */
    PLANED = 320, /* codes times labels: planes of so many cost what groups do where all rows count */
    FEW = 8,      /* rows of a block to each one that counts, from which on only these are joined */
};

typedef struct {
    const void *code; /* NULL for none */
    bool wide;
    size_t size;
} dpf_codes_label;

/* Whether the joint codes of a group have to be made: all but those of one column of bytes without labels. */
DPF_BODY bool dpf_codes_joins(const dpf_codes *codes, const dpf_codes_plan *plan, size_t g, dpf_codes_label label) {
    return label.code || plan->first[g + 1] - plan->first[g] > 1 || codes->wide[plan->member[plan->first[g]]];
}

/* Whether column j is counted by planes and in no group. */
DPF_BODY bool dpf_codes_is_planed(const dpf_codes *codes, size_t j, size_t planed) {
    return !codes->wide[j] && codes->size[j] <= planed;
}

/* Asks for some rows of the columns of group g. */
DPF_BODY void dpf_codes_fetch(const dpf_codes *codes, const dpf_codes_plan *plan, size_t g, size_t start, size_t rows) {
    for (size_t m = plan->first[g]; m < plan->first[g + 1]; m++) {
        const size_t j = plan->member[m], size = codes->wide[j] ? 2 : 1;
        const char *column = codes->column[j];
        for (size_t at = start * size; at < (start + rows) * size; at += 64) dpf_prefetch(column + at);
    }
}

/* The joint codes of group g in `rows` rows; if there are labels, times their number plus the label. */
void dpf_codes_join(const dpf_codes *codes, const dpf_codes_plan *plan, size_t g, dpf_codes_label label, size_t start,
                    size_t rows, uint16_t *DPF_RESTRICT joint);

/* The same for rows start + row[0], ..., start + row[rows - 1]. */
void dpf_codes_join_rows(const dpf_codes *codes, const dpf_codes_plan *plan, size_t g, dpf_codes_label label,
                         size_t start, const uint16_t *row, size_t rows, uint16_t *DPF_RESTRICT joint);

#endif
