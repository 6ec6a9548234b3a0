#include "sparse_vector.h"
#include "draw.h"

#include <math.h>

/*
 * With u = 2^-53: g * rate is right to 3 u, p to (3 g rate + 15) u and -log1p(-p), p < 1/2, to (5 g rate + 30) u;
 * -ln U to 10 u, by the branch that keeps its argument away from 1, less 2^-64 / U to 20 u. All of it and the last
 * few operations stay below 8 (g rate + 16) u = slack. For g <= 0 nothing grows with the gap. One-sided, 1 - p =
 * -expm1(-g rate) is right to 11 u, and its logarithm, where that is at most 1/2, to 24 u; else it is as above.
 */
bool dpf_sparse_vector_wait(uint64_t word, double rate, int64_t gap, bool one_sided, double guard, uint64_t *wait) {
    const double last = (double)DPF_SPARSE_VECTOR_HORIZON, unit = 0x1p-64;
    const double depth = (double)(gap > 0 ? gap : 1 - gap) * rate;
    if (gap > 0 && depth > 100) { /* N is shorter only if U > 1 - 2^32 exp(-100) > 1 - 2^-112 */
        *wait = DPF_SPARSE_VECTOR_HORIZON;
        return word != UINT64_MAX;
    }
    double hazard; /* -ln(1 - p) */
    if (gap <= 0) hazard = depth + log1p(exp(-rate));
    else if (one_sided) hazard = depth > 0.7 ? -log1p(-exp(-depth)) : -log(-expm1(-depth));
    else hazard = -log1p(-exp(-depth) / (1 + exp(-rate)));
    const double slack = guard * 0x1p-50 * (gap > 0 ? depth + 16 : 16);

    const double most = word >> 63 ? -log1p(-unit * (double)(0 - word)) : -log(unit * (double)word);
    const double least = most - 2 / (double)word; /* -ln(U + 2^-64) lies above it */
    const double low = floor(fmax(0, least / hazard * (1 - slack)));
    const double high = floor(most / hazard * (1 + slack));
    if (!(low == high || low >= last)) return false;
    *wait = low < last ? (uint64_t)low : DPF_SPARSE_VECTOR_HORIZON;
    return true;
}

void dpf_sparse_vector_resume(dpf_sparse_vector *tests, uint64_t wait) {
    tests->failing = wait;
    tests->passing = wait < DPF_SPARSE_VECTOR_HORIZON;
}

dpf_sparse_vector_outcome dpf_sparse_vector_run(bitgen_t *rng, double guard, dpf_sparse_vector *tests,
                                                const int64_t *count, const int64_t *length, size_t runs, size_t *at,
                                                int64_t *made, uint64_t *word) {
    /*@ loop invariant \at(*at, Pre) <= *at <= runs && (*at < runs ==> 0 <= *made <= length[*at]);
        loop assigns dpf_word_drawn, tests->count, tests->failing, tests->passing, *at, *made, *word;
        loop variant runs - *at; */
    for (; *at < runs; ++*at, *made = 0) {
        uint64_t left = (uint64_t)(length[*at] - *made), wait;
        if (left > 0 && tests->count != count[*at]) {
            tests->count = count[*at];
            tests->failing = 0;
            tests->passing = false;
        }
        /*@ loop invariant 0 <= *made && *made + left == length[*at] && (left > 0 ==> tests->count == count[*at]);
            loop assigns dpf_word_drawn, tests->failing, tests->passing, *made, *word, left, wait; */
        while (left > 0) {
            const uint64_t fail = tests->failing < left ? tests->failing : left;
            tests->failing -= fail;
            left -= fail;
            *made += (int64_t)fail;
            if (left == 0) break;
            if (tests->passing) {
                tests->passing = false;
                return DPF_SPARSE_VECTOR_PASSED;
            }
            const int64_t gap = tests->threshold - tests->count;
            if (tests->one_sided && gap <= 0) return DPF_SPARSE_VECTOR_PASSED;
            *word = dpf_draw_word(rng);
            if (!dpf_sparse_vector_wait(*word, tests->rate, gap, tests->one_sided, guard, &wait))
                return DPF_SPARSE_VECTOR_UNDECIDED;
            dpf_sparse_vector_resume(tests, wait);
        }
    }
    return DPF_SPARSE_VECTOR_FAILED;
}
