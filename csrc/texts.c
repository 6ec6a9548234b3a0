#include "texts.h"

#include <string.h>

typedef struct {
    const uint8_t *at, *end;
} span;

static bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

static bool is_letter(uint8_t byte) { return (byte | 32) >= 'a' && (byte | 32) <= 'z'; }

/* The bytes of the blank at `at`, 0 if there is none. */
static size_t blank(const uint8_t *at, const uint8_t *end) {
    const size_t left = (size_t)(end - at);
    if (at[0] < 0x80) return at[0] == ' ' || (at[0] >= 9 && at[0] <= 13) || (at[0] >= 28 && at[0] <= 31);
    if (left >= 2 && at[0] == 0xc2) return at[1] == 0x85 || at[1] == 0xa0 ? 2 : 0;
    if (left < 3) return 0;
    if (at[0] == 0xe1) return at[1] == 0x9a && at[2] == 0x80 ? 3 : 0;
    if (at[0] == 0xe3) return at[1] == 0x80 && at[2] == 0x80 ? 3 : 0;
    if (at[0] != 0xe2) return 0;
    if (at[1] == 0x81) return at[2] == 0x9f ? 3 : 0;
    return at[1] == 0x80 && ((at[2] >= 0x80 && at[2] <= 0x8a) || at[2] == 0xa8 || at[2] == 0xa9 || at[2] == 0xaf) ? 3 : 0;
}

static span trimmed(span all) {
    size_t size;
    while (all.at < all.end && (size = blank(all.at, all.end))) all.at += size;
    while (all.at < all.end) {
        const uint8_t *last = all.end - 1;
        while (last > all.at && (*last & 0xc0) == 0x80) last--;
        if (blank(last, all.end) != (size_t)(all.end - last)) break;
        all.end = last;
    }
    return all;
}

static bool is_mark(span of, const uint64_t *mark, size_t marks) {
    const size_t size = (size_t)(of.end - of.at);
    if (size > DPF_TEXTS_MARK) return false;
    uint64_t packed = (uint64_t)size << 56;
    for (size_t k = 0; k < size; k++) packed |= (uint64_t)of.at[k] << 8 * k;
    for (size_t k = 0; k < marks; k++)
        if (mark[k] == packed) return true;
    return false;
}

static const uint8_t *digits(const uint8_t *at, const uint8_t *end) {
    while (at < end && is_digit(*at)) at++;
    return at;
}

static bool is_number(span of) {
    const uint8_t *at = of.at + (of.at < of.end && (*of.at == '+' || *of.at == '-'));
    if (of.end - at == 3 && memcmp(at, "inf", 3) == 0) return true;
    const uint8_t *whole = digits(at, of.end), *next = whole;
    if (next < of.end && *next == '.') next = digits(next + 1, of.end);
    if (whole == at && next - whole < 2) return false; /* no digit */
    if (next == of.end) return true;
    if ((*next | 32) != 'e') return false;
    next++;
    next += next < of.end && (*next == '+' || *next == '-');
    return next < of.end && digits(next, of.end) == of.end;
}

static int32_t two(const uint8_t *at) { return 10 * (at[0] - '0') + at[1] - '0'; }

/* The civil calendar in eras of 400 years, which begin on March 1 [Hinnant, "chrono-compatible low-level date algorithms"]. */
static int32_t days_since_1970(int32_t year, int32_t month, int32_t day) {
    year += 400 - (month <= 2); /* the year 0 too is in an era from 0 on */
    const int32_t era = year / 400, of_era = year % 400;
    const int32_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return (era - 1) * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool is_day(span of, int32_t *day) {
    const uint8_t *at = of.at;
    if (of.end - at < 10 || at[4] != '-' || at[7] != '-') return false;
    for (int k = 0; k < 10; k++)
        if (k != 4 && k != 7 && !is_digit(at[k])) return false;
    if (of.end - at > 10) {
        if (at[10] != 'T' && at[10] != ' ') return false;
        if (memchr(at + 10, '\n', (size_t)(of.end - at - 10))) return false;
    }
    static const int8_t length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int32_t year = 100 * two(at) + two(at + 2), month = two(at + 5), last = two(at + 8);
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month < 1 || month > 12 || last < 1 || last > length[month - 1] + (leap && month == 2)) return false;
    *day = days_since_1970(year, month, last);
    return true;
}

/* Whether a text begins as numbers do that are more than digits: with a sign, a currency, a bracket or a digit. */
static bool begins_a_form(span of) {
    const uint8_t *at = of.at;
    const size_t left = (size_t)(of.end - at);
    if (is_digit(at[0]) || (at[0] && strchr("+-.$([~", at[0]))) return true;
    if (at[0] == 'P') return left > 1 && (is_digit(at[1]) || at[1] == 'T');
    if (left > 1 && at[0] == 0xc2) return at[1] == 0xa3 || at[1] == 0xa5;                 /* pound, yen */
    if (left > 2 && at[0] == 0xe2) return (at[1] == 0x82 && at[2] == 0xac)                /* euro */
                                          || (at[1] == 0x88 && at[2] == 0x92)             /* minus */
                                          || (at[1] == 0x80 && at[2] == 0x93)             /* dash */
                                          || (at[1] == 0x89 && at[2] == 0x88);            /* about */
    return false;
}

static uint8_t kind_of(span of) {
    const bool form = begins_a_form(of);
    if (!form && !is_letter(of.at[0]) && of.at[0] < 0x80) return DPF_TEXTS_WORD;
    for (const uint8_t *at = of.at; at < of.end; at++) {
        if (is_digit(*at)) return form ? DPF_TEXTS_FORM : DPF_TEXTS_NAMED;
        if (form && of.end - at >= 3 && memcmp(at, "inf", 3) == 0) return DPF_TEXTS_FORM;
    }
    return DPF_TEXTS_WORD;
}

bool dpf_texts_kinds(const uint8_t *text, const int64_t *ends, const uint8_t *present, size_t n, const uint64_t *mark,
                     size_t marks, uint8_t *DPF_RESTRICT kind, int32_t *DPF_RESTRICT day) {
    bool padded = false;
    for (size_t i = 0; i < n; i++) {
        kind[i] = DPF_TEXTS_MISSING;
        day[i] = 0;
        if (present && !present[i]) continue;
        const span all = {text + ends[i], text + ends[i + 1]}, of = trimmed(all);
        padded |= of.end - of.at != all.end - all.at;
        if (is_mark(of, mark, marks)) continue;
        if (of.at == of.end) kind[i] = DPF_TEXTS_WORD;
        else if (is_number(of)) kind[i] = DPF_TEXTS_NUMBER;
        else if (is_day(of, &day[i])) kind[i] = DPF_TEXTS_DAY;
        else kind[i] = kind_of(of);
    }
    return padded;
}
