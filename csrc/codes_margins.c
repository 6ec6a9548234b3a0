#include "codes.h"
#include "codes_join.h"
#include "dpf_cpu.h"

#define LANES 1
#define NAMED(name) one_##name
#include "codes_look_up.h"

#define LANES 2
#define NAMED(name) two_##name
#include "codes_look_up.h"

#define LANES 4
#define NAMED(name) four_##name
#include "codes_look_up.h"

#define LANES 8
#define NAMED(name) eight_##name
#include "codes_look_up.h"

DPF_BODY void look_up(const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *table, size_t k,
                      int32_t *DPF_RESTRICT joint, int32_t *DPF_RESTRICT margin) {
    for (size_t l = 0, kept; l < k; l += kept) {
        kept = k - l < 8 ? k - l : 8;
        if (kept == 1) one_margins(codes, plan, table + l, k, kept, joint, margin + l);
        else if (kept == 2) two_margins(codes, plan, table + l, k, kept, joint, margin + l);
        else if (kept <= 4) four_margins(codes, plan, table + l, k, kept, joint, margin + l);
        else eight_margins(codes, plan, table + l, k, kept, joint, margin + l);
    }
}

void dpf_codes_look_up(const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *table, size_t k,
                       int32_t *DPF_RESTRICT joint, int32_t *DPF_RESTRICT margin);
DPF_LEVELS(void, dpf_codes_look_up, look_up,
           (const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *table, size_t k,
            int32_t *DPF_RESTRICT joint, int32_t *DPF_RESTRICT margin),
           (codes, plan, table, k, joint, margin))

int64_t dpf_codes_reach(const dpf_codes *codes, const int32_t *table, size_t k) {
    int64_t reach = 0;
    for (size_t l = 0; l < k; l++) {
        int64_t sum = 0;
        for (size_t j = 0; j < codes->p; j++) {
            int64_t most = 0;
            for (size_t e = codes->offset[j] * k + l; e < (codes->offset[j] + codes->size[j]) * k; e += k) {
                const int64_t size = table[e] < 0 ? -(int64_t)table[e] : table[e];
                most = size > most ? size : most;
            }
            sum += most;
        }
        reach = sum > reach ? sum : reach;
    }
    return reach;
}

#if defined(DPF_TARGET_AVX512)
#include "codes_permute.h"
#endif

void dpf_codes_margins(const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *table, size_t k,
                       int32_t *DPF_RESTRICT joint, uint8_t *DPF_RESTRICT planes, int32_t *DPF_RESTRICT margin) {
#if defined(DPF_TARGET_AVX512)
    if (k <= DPF_CODES_PERMUTED && dpf_cpu_level() == DPF_AVX512 && permute(codes, table, k, planes, margin)) return;
#endif
    (void)planes;
    dpf_codes_look_up(codes, plan, table, k, joint, margin);
}
