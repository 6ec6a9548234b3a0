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

/* What makes the joint codes of a group, the last first. */
DPF_BODY size_t parts_of(const dpf_codes *codes, const dpf_codes_plan *plan, size_t g, dpf_codes_label label,
                         dpf_codes_label *DPF_RESTRICT part) {
    size_t parts = 0;
    for (size_t m = plan->first[g + 1]; m-- > plan->first[g];) {
        const uint32_t j = plan->member[m];
        part[parts++] = (dpf_codes_label){codes->column[j], codes->wide[j], codes->size[j]};
    }
    if (label.code) part[parts++] = label;
    return parts;
}

DPF_BODY void join(const dpf_codes *codes, const dpf_codes_plan *plan, size_t g, dpf_codes_label label, size_t start,
                   size_t rows, uint16_t *DPF_RESTRICT joint) {
    dpf_codes_label part[DPF_CODES_MEMBERS + 1];
    const size_t parts = parts_of(codes, plan, g, label, part);
    size_t at = 1;
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

void dpf_codes_join_rows(const dpf_codes *codes, const dpf_codes_plan *plan, size_t g, dpf_codes_label label,
                         size_t start, const uint16_t *row, size_t rows, uint16_t *DPF_RESTRICT joint) {
    dpf_codes_label part[DPF_CODES_MEMBERS + 1];
    const size_t parts = parts_of(codes, plan, g, label, part);
    for (size_t at = 0; at < parts; at++) {
        const uint8_t *narrow = (const uint8_t *)part[at].code + start;
        const uint16_t *wide = (const uint16_t *)part[at].code + start;
        const uint16_t scale = at ? (uint16_t)part[at].size : 0;
        for (size_t r = 0; r < rows; r++)
            joint[r] = (uint16_t)((at ? joint[r] : 0) * scale + (part[at].wide ? wide[row[r]] : narrow[row[r]]));
    }
}
