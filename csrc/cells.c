#include "cells.h"
#include "dpf_cpu.h"

#include <string.h>

#define BASE ((int64_t)(1023 + DPF_CELLS_LEAST) << DPF_CELLS_BITS)

enum { WHOLE, DAY, WORD, DECIMAL, KINDS }; /* kinds of compact cells */

static const double SCALE[DPF_CELLS_PLACES + 1] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

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

DPF_BODY bool fits(double number) { return number < 1 << 29 && number > -(1 << 29); }

/* A number of at most 29 bits rounded to an integer; .5 for another one, which no number is equal to. */
DPF_BODY double rounded(double number) { return fits(number) ? number + MIDDLE - MIDDLE : 0.5; }

DPF_BODY uint64_t integer_of(double whole) { return (uint64_t)bits_of(whole + MIDDLE) - (uint64_t)bits_of(MIDDLE); }

/* Whether a number is an integer of at most 29 bits over a power of ten. */
DPF_BODY bool is_decimal(double number, double scale) {
    const double integer = rounded(number * scale);
    return integer / scale == number && integer != 0.5 && fits(integer);
}

/*
 * The compact cell of a code, which is four times a number, plus its kind; INT64_MAX if there is none. No branch; without
 * `decimals`, and so without a division, fractions have none.
 */
DPF_BODY int64_t compact(int64_t code, double scale, bool decimals) {
    const double number = number_of(code), whole = rounded(number);
    uint64_t of_number = whole == number && whole != 0.5 ? integer_of(whole) * KINDS + WHOLE : INT64_MAX;
    if (decimals) {
        const uint64_t decimal = integer_of(rounded(number * scale)) * KINDS + DECIMAL;
        of_number = of_number == INT64_MAX && is_decimal(number, scale) ? decimal : of_number;
    }
    const uint64_t of_word = (uint64_t)(code - DPF_CELLS_MISSING) * KINDS + WORD, of_day = (uint64_t)code * KINDS + DAY;
    return (int64_t)(code < DPF_CELLS_DATES ? of_day : code >= DPF_CELLS_MISSING ? of_word : of_number);
}

unsigned dpf_cells_places(const int64_t *code, size_t n, unsigned places) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        if (compact(code[i], 1, false) != INT64_MAX) continue;
        const double number = number_of(code[i]), size = number < 0 ? -number : number;
        while (!is_decimal(number, SCALE[places]))
            if (++places > DPF_CELLS_PLACES) return places;
        largest = size > largest ? size : largest;
    }
    return fits(largest * SCALE[places]) ? places : DPF_CELLS_PLACES + 1;
}

enum { LOOKED_AT = 1 << 10 }; /* codes, before the next look at whether one has no compact cell */

DPF_BODY unsigned bytes_of(const int64_t *code, size_t n, double scale, bool decimals) {
    int64_t least = -1, most = 0;
    for (size_t start = 0; start < n; start += LOOKED_AT) {
        const size_t stop = n - start < LOOKED_AT ? n : start + LOOKED_AT;
        for (size_t i = start; i < stop; i++) {
            const int64_t cell = compact(code[i], scale, decimals);
            least = cell < least ? cell : least;
            most = cell > most ? cell : most;
        }
        if (most > INT32_MAX) return 8;
    }
    if (least >= INT8_MIN && most <= INT8_MAX) return 1;
    return least >= INT16_MIN && most <= INT16_MAX ? 2 : 4;
}

DPF_BODY unsigned bytes_with(const int64_t *code, size_t n, unsigned places) {
    return places ? bytes_of(code, n, SCALE[places], true) : bytes_of(code, n, 1, false);
}
DPF_LEVELS(unsigned, dpf_cells_bytes, bytes_with, (const int64_t *code, size_t n, unsigned places), (code, n, places))

DPF_BODY void compact_all(const int64_t *code, size_t n, double scale, bool decimals, unsigned bytes,
                          void *DPF_RESTRICT cells) {
    if (bytes == 1) for (size_t i = 0; i < n; i++) ((int8_t *)cells)[i] = (int8_t)compact(code[i], scale, decimals);
    else if (bytes == 2) for (size_t i = 0; i < n; i++) ((int16_t *)cells)[i] = (int16_t)compact(code[i], scale, decimals);
    else for (size_t i = 0; i < n; i++) ((int32_t *)cells)[i] = (int32_t)compact(code[i], scale, decimals);
}

DPF_BODY void compact_with(const int64_t *code, size_t n, unsigned places, unsigned bytes, void *DPF_RESTRICT cells) {
    if (places) compact_all(code, n, SCALE[places], true, bytes, cells);
    else compact_all(code, n, 1, false, bytes, cells);
}
DPF_LEVELS(void, dpf_cells_compact, compact_with,
           (const int64_t *code, size_t n, unsigned places, unsigned bytes, void *DPF_RESTRICT cells),
           (code, n, places, bytes, cells))

DPF_BODY int64_t expanded(int32_t cell, double scale) {
    const int32_t kind = cell & (KINDS - 1), what = cell >> 2;
    if (kind == WHOLE) return code_of(what);
    if (kind == DECIMAL) return code_of(what / scale);
    return kind == DAY ? what : DPF_CELLS_MISSING + what;
}

/* The code of a cell of 1, 2, 4 or 8 bytes. */
DPF_BODY int64_t read(const void *cells, unsigned bytes, double scale, size_t i) {
    if (bytes == 1) return expanded(((const int8_t *)cells)[i], scale);
    if (bytes == 2) return expanded(((const int16_t *)cells)[i], scale);
    if (bytes == 4) return expanded(((const int32_t *)cells)[i], scale);
    return ((const int64_t *)cells)[i];
}

void dpf_cells_expand(dpf_cells_stored stored, int64_t *DPF_RESTRICT code) {
    for (size_t i = 0; i < stored.n; i++) code[i] = read(stored.cells, stored.bytes, SCALE[stored.places], i);
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

DPF_BODY void survey_of(dpf_cells_stored stored, unsigned bytes, const uint8_t *year, uint64_t *DPF_RESTRICT count) {
    const double scale = SCALE[stored.places];
    for (size_t i = 0; i < stored.n; i++) count[surveyed(read(stored.cells, bytes, scale, i), year)]++;
}

/* seen[c] = the number of rows with cell c of one or two bytes, read as unsigned; return the number of such cells. */
static size_t see(dpf_cells_stored stored, int64_t *DPF_RESTRICT seen) {
    const size_t cells = (size_t)1 << 8 * stored.bytes;
    memset(seen, 0, cells * sizeof *seen);
    for (size_t i = 0; i < stored.n; i++)
        seen[stored.bytes == 1 ? ((const uint8_t *)stored.cells)[i] : ((const uint16_t *)stored.cells)[i]]++;
    return cells;
}

/* The code of such a cell. */
static int64_t code_of_cell(dpf_cells_stored stored, size_t cell) {
    return expanded(stored.bytes == 1 ? (int8_t)cell : (int16_t)cell, SCALE[stored.places]);
}

void dpf_cells_survey(dpf_cells_stored stored, const uint8_t *year, int64_t *DPF_RESTRICT work,
                      int64_t *DPF_RESTRICT count) {
    uint64_t rows[DPF_CELLS_SURVEYED + 1] = {0};
    if (work) {
        const size_t cells = see(stored, work);
        for (size_t c = 0; c < cells; c++)
            if (work[c]) rows[surveyed(code_of_cell(stored, c), year)] += (uint64_t)work[c];
    } else if (stored.bytes == 1) survey_of(stored, 1, year, rows);
    else if (stored.bytes == 2) survey_of(stored, 2, year, rows);
    else if (stored.bytes == 4) survey_of(stored, 4, year, rows);
    else survey_of(stored, 8, year, rows);
    for (size_t c = 0; c < DPF_CELLS_SURVEYED; c++) count[c] += (int64_t)rows[c];
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

DPF_BODY bool count_of(dpf_cells_stored stored, unsigned bytes, const look_up *at, size_t size,
                       int64_t *DPF_RESTRICT count) {
    const double scale = SCALE[stored.places];
    bool all = true;
    for (size_t i = 0; i < stored.n; i++) {
        const uint32_t value = value_of(at, read(stored.cells, bytes, scale, i));
        if (value < size) count[value]++;
        all &= value < NO_VALUE;
    }
    return all;
}

bool dpf_cells_count(dpf_cells_stored stored, const dpf_cells_values *values, size_t size, int64_t *DPF_RESTRICT work,
                     int64_t *DPF_RESTRICT count) {
    look_up at;
    prepare(&at, values);
    if (work) {
        const size_t cells = see(stored, work);
        bool all = true;
        for (size_t c = 0; c < cells; c++) {
            if (!work[c]) continue;
            const uint32_t value = value_of(&at, code_of_cell(stored, c));
            if (value < size) count[value] += work[c];
            all &= value < NO_VALUE;
        }
        return all;
    }
    if (stored.bytes == 8) return count_of(stored, 8, &at, size, count);
    if (stored.bytes == 4) return count_of(stored, 4, &at, size, count);
    return stored.bytes == 2 ? count_of(stored, 2, &at, size, count) : count_of(stored, 1, &at, size, count);
}

DPF_BODY bool take_of(dpf_cells_stored stored, unsigned bytes, const look_up *at, const int64_t *value_of_cell,
                      bool wide, void *DPF_RESTRICT out) {
    const double scale = SCALE[stored.places];
    uint32_t most = 0;
    for (size_t i = 0; i < stored.n; i++) {
        const uint32_t value = !value_of_cell ? value_of(at, read(stored.cells, bytes, scale, i))
                               : bytes == 1   ? (uint32_t)value_of_cell[((const uint8_t *)stored.cells)[i]]
                                              : (uint32_t)value_of_cell[((const uint16_t *)stored.cells)[i]];
        most = value > most ? value : most;
        if (wide) ((uint16_t *)out)[i] = (uint16_t)value;
        else ((uint8_t *)out)[i] = (uint8_t)value;
    }
    return most <= (wide ? UINT16_MAX : UINT8_MAX);
}

DPF_BODY bool take_either(dpf_cells_stored stored, unsigned bytes, const look_up *at, const int64_t *value_of_cell,
                          bool wide, void *DPF_RESTRICT out) {
    return wide ? take_of(stored, bytes, at, value_of_cell, true, out)
                : take_of(stored, bytes, at, value_of_cell, false, out);
}

bool dpf_cells_take(dpf_cells_stored stored, const dpf_cells_values *values, bool wide, int64_t *DPF_RESTRICT work,
                    void *DPF_RESTRICT out) {
    look_up at;
    prepare(&at, values);
    if (work) {
        const size_t cells = (size_t)1 << 8 * stored.bytes;
        for (size_t c = 0; c < cells; c++) work[c] = value_of(&at, code_of_cell(stored, c));
        return stored.bytes == 1 ? take_either(stored, 1, &at, work, wide, out) : take_either(stored, 2, &at, work, wide, out);
    }
    if (stored.bytes == 8) return take_either(stored, 8, &at, NULL, wide, out);
    if (stored.bytes == 4) return take_either(stored, 4, &at, NULL, wide, out);
    if (stored.bytes == 2) return take_either(stored, 2, &at, NULL, wide, out);
    return take_either(stored, 1, &at, NULL, wide, out);
}
