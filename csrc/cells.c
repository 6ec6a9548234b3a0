#include "cells.h"
#include "dpf_cpu.h"

#include <string.h>

#define BASE ((int64_t)(1023 + DPF_CELLS_LEAST) << DPF_CELLS_BITS)

enum { WHOLE, DAY, WORD, KINDS = 4 }; /* kinds of compact cells */

DPF_BODY int64_t bits_of(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

DPF_BODY int64_t code_of(double x) {
    const int64_t above = x > 0, last = DPF_CELLS_SIDE - 1;
    int64_t steps = (bits_of(x) & INT64_MAX) - above - BASE;
    steps = steps < 0 ? 0 : steps > last ? last : steps;
    int64_t code = above ? DPF_CELLS_ZERO + 1 + steps : DPF_CELLS_ZERO - 1 - steps;
    code = x <= 0 && x >= -1.0 / (1 << -DPF_CELLS_LEAST) ? DPF_CELLS_ZERO : code;
    return x != x ? DPF_CELLS_MISSING : code;
}

/* The largest number of a code of numbers. */
DPF_BODY double number_of(int64_t code) {
    const int64_t steps = code - DPF_CELLS_ZERO, size = (steps > 0 ? steps : steps < 0 ? -1 - steps : 0) + BASE;
    double number;
    memcpy(&number, &size, sizeof number);
    return steps > 0 ? number : steps < 0 ? -number : 0;
}

DPF_BODY void numbers(const double *x, size_t n, int64_t *DPF_RESTRICT code) {
    for (size_t i = 0; i < n; i++) code[i] = code_of(x[i]);
}

DPF_LEVELS(void, dpf_cells_of_numbers, numbers, (const double *x, size_t n, int64_t *DPF_RESTRICT code), (x, n, code))

#define MIDDLE 6755399441055744.0 /* 1.5 * 2^52: sums with it are rounded to integers */

/* The compact cell of a code, which is four times a number, plus its kind; INT64_MAX if there is none. No branch. */
DPF_BODY int64_t compact(int64_t code) {
    const double number = number_of(code), near = number < 1 << 29 && number > -(1 << 29) ? number : 0.5;
    const double rounded = near + MIDDLE;
    const uint64_t whole = (uint64_t)bits_of(rounded) - (uint64_t)bits_of(MIDDLE);
    const uint64_t of_number = rounded - MIDDLE == near ? whole * KINDS + WHOLE : INT64_MAX;
    const uint64_t of_word = (uint64_t)(code - DPF_CELLS_MISSING) * KINDS + WORD, of_day = (uint64_t)code * KINDS + DAY;
    return (int64_t)(code < DPF_CELLS_DATES ? of_day : code >= DPF_CELLS_MISSING ? of_word : of_number);
}

enum { LOOKED_AT = 1 << 10 }; /* codes, before the next look at whether one has no compact cell */

DPF_BODY unsigned bytes_of(const int64_t *code, size_t n) {
    int64_t least = -1, most = 0;
    for (size_t start = 0; start < n; start += LOOKED_AT) {
        const size_t stop = n - start < LOOKED_AT ? n : start + LOOKED_AT;
        for (size_t i = start; i < stop; i++) {
            const int64_t cell = compact(code[i]);
            least = cell < least ? cell : least;
            most = cell > most ? cell : most;
        }
        if (most > INT32_MAX) return 8;
    }
    if (least >= INT8_MIN && most <= INT8_MAX) return 1;
    return least >= INT16_MIN && most <= INT16_MAX ? 2 : 4;
}
DPF_LEVELS(unsigned, dpf_cells_bytes, bytes_of, (const int64_t *code, size_t n), (code, n))

DPF_BODY void compact_all(const int64_t *code, size_t n, unsigned bytes, void *DPF_RESTRICT cells) {
    if (bytes == 1) for (size_t i = 0; i < n; i++) ((int8_t *)cells)[i] = (int8_t)compact(code[i]);
    else if (bytes == 2) for (size_t i = 0; i < n; i++) ((int16_t *)cells)[i] = (int16_t)compact(code[i]);
    else for (size_t i = 0; i < n; i++) ((int32_t *)cells)[i] = (int32_t)compact(code[i]);
}
DPF_LEVELS(void, dpf_cells_compact, compact_all,
           (const int64_t *code, size_t n, unsigned bytes, void *DPF_RESTRICT cells), (code, n, bytes, cells))

DPF_BODY int64_t expanded(int32_t cell) {
    const int32_t kind = cell & (KINDS - 1), what = cell >> 2;
    return kind == WHOLE ? code_of(what) : kind == DAY ? what : DPF_CELLS_MISSING + what;
}

/* The code of a cell of 1, 2, 4 or 8 bytes. */
DPF_BODY int64_t read(const void *cells, unsigned bytes, size_t i) {
    if (bytes == 1) return expanded(((const int8_t *)cells)[i]);
    if (bytes == 2) return expanded(((const int16_t *)cells)[i]);
    if (bytes == 4) return expanded(((const int32_t *)cells)[i]);
    return ((const int64_t *)cells)[i];
}

void dpf_cells_expand(const void *cells, unsigned bytes, size_t n, int64_t *DPF_RESTRICT code) {
    for (size_t i = 0; i < n; i++) code[i] = read(cells, bytes, i);
}

/* The cell of the survey of a code; DPF_CELLS_SURVEYED of words. */
DPF_BODY uint32_t surveyed(int64_t code, const uint8_t *year) {
    if (code >= DPF_CELLS_MISSING) return DPF_CELLS_SURVEYED - (code == DPF_CELLS_MISSING);
    if (code < DPF_CELLS_DATES) {
        const uint32_t since = code < 0 ? 0 : year[code], last = DPF_CELLS_YEARS - 1;
        return 2 * DPF_CELLS_SIGNED + (since < last ? since : last);
    }
    const int64_t steps = code - DPF_CELLS_ZERO;
    if (!steps) return DPF_CELLS_POWERS;
    const int64_t power = ((steps < 0 ? -steps : steps) - 1) >> DPF_CELLS_BITS;
    const int64_t bits = (steps > 0 ? steps : -1 - steps) + BASE;
    const int64_t fraction = DPF_CELLS_BITS + 1023 - (bits >> DPF_CELLS_BITS); /* bits of mantissa after the point */
    const bool whole = fraction <= 0
                       || (fraction <= DPF_CELLS_BITS && !(bits & (((int64_t)1 << fraction) - 1)));
    return (uint32_t)(DPF_CELLS_POWERS + (steps > 0 ? power + 1 : -power - 1) + (whole ? DPF_CELLS_SIGNED : 0));
}

DPF_BODY void survey_of(const void *cells, unsigned bytes, size_t n, const uint8_t *year,
                        uint64_t *DPF_RESTRICT count) {
    for (size_t i = 0; i < n; i++) count[surveyed(read(cells, bytes, i), year)]++;
}

void dpf_cells_survey(const void *cells, unsigned bytes, size_t n, const uint8_t *year, int64_t *DPF_RESTRICT count) {
    uint64_t seen[DPF_CELLS_SURVEYED + 1] = {0}, byte[256] = {0};
    if (bytes == 1) {
        for (size_t i = 0; i < n; i++) byte[((const uint8_t *)cells)[i]]++;
        for (int k = 0; k < 256; k++) seen[surveyed(expanded((int8_t)k), year)] += byte[k];
    } else if (bytes == 2) survey_of(cells, 2, n, year, seen);
    else if (bytes == 4) survey_of(cells, 4, n, year, seen);
    else survey_of(cells, 8, n, year, seen);
    for (size_t c = 0; c < DPF_CELLS_SURVEYED; c++) count[c] += (int64_t)seen[c];
}

enum { BUCKET_BITS = 11, BUCKETS = 1 << BUCKET_BITS, NO_VALUE = 1 << 16 };

typedef struct {
    const dpf_cells_values *values;
    int64_t first, last; /* starts among numbers; codes between them are in buckets of equal size */
    unsigned shift;
    uint16_t before, after;     /* the run before the first, and of what comes after all buckets */
    uint16_t below[BUCKETS + 1]; /* the run of the first code of each bucket */
} look_up;

/* The last run from `low` to `high` that begins at a code or before it. */
DPF_BODY size_t run_of(const int64_t *start, size_t low, size_t high, int64_t code) {
    while (low < high) {
        const size_t middle = (low + high + 1) / 2;
        if (start[middle] <= code) low = middle;
        else high = middle - 1;
    }
    return low;
}

static void prepare(look_up *at, const dpf_cells_values *values) {
    const int64_t *start = values->start;
    const size_t begin = run_of(start, 0, values->runs - 1, DPF_CELLS_DATES),
                 end = run_of(start, begin, values->runs - 1, DPF_CELLS_MISSING - 1);
    at->values = values;
    at->before = (uint16_t)begin;
    at->after = (uint16_t)end;
    at->shift = 0;
    at->first = at->last = DPF_CELLS_MISSING;
    if (begin == end) return;
    at->first = start[begin + 1];
    at->last = start[end];
    const int64_t span = at->last - at->first;
    while (span >> at->shift >= BUCKETS) at->shift++;
    size_t run = begin;
    for (int64_t b = 0; b <= span >> at->shift; b++) {
        while (run < end && start[run + 1] <= at->first + (b << at->shift)) run++;
        at->below[b] = (uint16_t)run;
    }
    at->below[(span >> at->shift) + 1] = (uint16_t)end;
}

/* The value of a code; NO_VALUE of a word that has none. */
DPF_BODY uint32_t value_of(const look_up *at, int64_t code) {
    const dpf_cells_values *values = at->values;
    if (code >= at->first && code < DPF_CELLS_MISSING) {
        if (code >= at->last) return values->value[at->after];
        const int64_t b = (code - at->first) >> at->shift;
        const size_t low = at->below[b], high = at->below[b + 1];
        if (high - low > 1) return values->value[run_of(values->start, low, high, code)];
        return values->value[low + ((high != low) & (values->start[high] <= code))]; /* mostly: no branch */
    }
    if (code > DPF_CELLS_MISSING && values->of_word) {
        const size_t word = (size_t)(code - DPF_CELLS_MISSING - 1);
        return word < values->words ? values->of_word[word] : NO_VALUE;
    }
    if (code >= DPF_CELLS_MISSING) return values->value[values->runs - 1];
    return values->value[run_of(values->start, 0, at->before, code)];
}

static void look_up_bytes(const look_up *at, uint32_t *value) {
    for (int k = 0; k < 256; k++) value[k] = value_of(at, expanded((int8_t)k));
}

DPF_BODY bool count_of(const void *cells, unsigned bytes, size_t n, const look_up *at, size_t size,
                       int64_t *DPF_RESTRICT count) {
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        const uint32_t value = value_of(at, read(cells, bytes, i));
        if (value < size) count[value]++;
        all &= value < NO_VALUE;
    }
    return all;
}

bool dpf_cells_count(const void *cells, unsigned bytes, size_t n, const dpf_cells_values *values, size_t size,
                     int64_t *DPF_RESTRICT count) {
    look_up at;
    prepare(&at, values);
    if (bytes == 8) return count_of(cells, 8, n, &at, size, count);
    if (bytes == 4) return count_of(cells, 4, n, &at, size, count);
    if (bytes == 2) return count_of(cells, 2, n, &at, size, count);
    int64_t byte[256] = {0};
    uint32_t value[256];
    bool all = true;
    look_up_bytes(&at, value);
    for (size_t i = 0; i < n; i++) byte[((const uint8_t *)cells)[i]]++;
    for (int k = 0; k < 256; k++) {
        if (value[k] < size) count[value[k]] += byte[k];
        all &= !byte[k] || value[k] < NO_VALUE;
    }
    return all;
}

DPF_BODY bool take_of(const void *cells, unsigned bytes, size_t n, const look_up *at, bool wide,
                      void *DPF_RESTRICT out) {
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t value = value_of(at, read(cells, bytes, i));
        most = value > most ? value : most;
        if (wide) ((uint16_t *)out)[i] = (uint16_t)value;
        else ((uint8_t *)out)[i] = (uint8_t)value;
    }
    return most <= (wide ? UINT16_MAX : UINT8_MAX);
}

bool dpf_cells_take(const void *cells, unsigned bytes, size_t n, const dpf_cells_values *values, bool wide,
                    void *DPF_RESTRICT out) {
    look_up at;
    prepare(&at, values);
    if (bytes == 8) return wide ? take_of(cells, 8, n, &at, true, out) : take_of(cells, 8, n, &at, false, out);
    if (bytes == 4) return wide ? take_of(cells, 4, n, &at, true, out) : take_of(cells, 4, n, &at, false, out);
    if (bytes == 2) return wide ? take_of(cells, 2, n, &at, true, out) : take_of(cells, 2, n, &at, false, out);
    uint32_t value[256], most = 0;
    look_up_bytes(&at, value);
    for (size_t i = 0; i < n; i++) {
        const uint32_t each = value[((const uint8_t *)cells)[i]];
        most = each > most ? each : most;
        if (wide) ((uint16_t *)out)[i] = (uint16_t)each;
        else ((uint8_t *)out)[i] = (uint8_t)each;
    }
    return most <= (wide ? UINT16_MAX : UINT8_MAX);
}
