#include "codes_join.h"
#include "dpf_cpu.h"

/* joint = joint * size + code; code alone if it is the first. */
DPF_BODY void append(dpf_codes_label next, bool first, size_t start, size_t rows, uint16_t *DPF_RESTRICT joint) {
    const uint8_t *narrow = (const uint8_t *)next.code + start;
    const uint16_t *wide = (const uint16_t *)next.code + start, scale = (uint16_t)next.size;
    if (next.wide && first) memcpy(joint, wide, rows * sizeof *joint);
    else if (next.wide)
        for (size_t i = 0; i < rows; i++) joint[i] = (uint16_t)(joint[i] * scale + wide[i]);
    else if (first)
        for (size_t i = 0; i < rows; i++) joint[i] = narrow[i];
    else
        for (size_t i = 0; i < rows; i++) joint[i] = (uint16_t)(joint[i] * scale + narrow[i]);
}

DPF_BODY void append_two(dpf_codes_label a, dpf_codes_label b, size_t start, size_t rows,
                         uint16_t *DPF_RESTRICT joint) {
    const uint8_t *high = (const uint8_t *)a.code + start, *low = (const uint8_t *)b.code + start;
    const uint16_t scale = (uint16_t)b.size;
    for (size_t i = 0; i < rows; i++) joint[i] = (uint16_t)(high[i] * scale + low[i]);
}

DPF_BODY void join(const dpf_codes *codes, const dpf_codes_plan *plan, size_t g, dpf_codes_label label, size_t start,
                   size_t rows, uint16_t *DPF_RESTRICT joint) {
    dpf_codes_label part[DPF_CODES_MEMBERS + 1];
    size_t parts = 0, at = 1;
    for (size_t m = plan->first[g + 1]; m-- > plan->first[g];) {
        const uint32_t j = plan->member[m];
        part[parts++] = (dpf_codes_label){codes->column[j], codes->wide[j], codes->size[j]};
    }
    if (label.code) part[parts++] = label;
    if (parts > 1 && !part[0].wide && !part[1].wide) {
        append_two(part[0], part[1], start, rows, joint);
        at = 2;
    } else append(part[0], true, start, rows, joint);
    for (; at < parts; at++) append(part[at], false, start, rows, joint);
}

DPF_LEVELS(void, dpf_codes_join, join,
           (const dpf_codes *codes, const dpf_codes_plan *plan, size_t g, dpf_codes_label label, size_t start,
            size_t rows, uint16_t *DPF_RESTRICT joint),
           (codes, plan, g, label, start, rows, joint))
