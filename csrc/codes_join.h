/* What codes.c and codes_margins.c share. */
#ifndef DPF_CODES_JOIN_H
#define DPF_CODES_JOIN_H

#include "codes.h"

#include <string.h>

enum {
    BLOCK = 1024, /* rows whose joint codes stay near */
    SPAN = 8192,  /* rows, times sums, for which the tables of joint codes stay near */
    SIDE = 4,     /* groups that take turns, so that no addition waits for the one before */
};

typedef struct {
    const void *code; /* NULL for none */
    bool wide;
    size_t size;
} dpf_codes_label;

/* The joint codes of group g in `rows` rows; if there are labels, times their number plus the label. */
void dpf_codes_join(const dpf_codes *codes, const dpf_codes_plan *plan, size_t g, dpf_codes_label label, size_t start,
                    size_t rows, uint16_t *DPF_RESTRICT joint);

#endif
