/*
 * texts.h - what texts are by their form alone: missing, numbers, days, or perhaps words.
 *
 * Texts are UTF-8, one behind another: text i has the bytes ends[i] to ends[i + 1] - 1. Blanks around a text do not count;
 * they are those of str.strip of Python: white space of Unicode, of one to three bytes.
 */
#ifndef DPF_TEXTS_H
#define DPF_TEXTS_H

#include "dpf.h"

/*
 * WORD: is neither a number nor a date in any form.
 * MISSING: is null or one of the marks.
 * NUMBER: digits with at most one decimal point, and an exponent; or inf. A sign may come first.
 * DAY: YYYY-MM-DD, a day that there is, perhaps followed by "T" or a blank and anything without a line feed.
 * NAMED: begins like a word and has a digit, as a date with the name of a month does.
 * FORM: begins as other forms of numbers and dates do, and has a digit or "inf".
 */
enum { DPF_TEXTS_WORD, DPF_TEXTS_MISSING, DPF_TEXTS_NUMBER, DPF_TEXTS_DAY, DPF_TEXTS_NAMED, DPF_TEXTS_FORM };

/* Marks have at most so many bytes, and are packed: byte k is bits 8 k to 8 k + 7, and the number of bytes the last one. */
enum { DPF_TEXTS_MARK = 7 };

/*
 * Return whether there are blanks around a text that is present.
 *
 *   text     bytes            read
 *   ends     n + 1, rising    read
 *   present  n, or NULL       read; 0 for a null
 *   mark     marks            read
 *   kind     n                written
 *   day      n                written: days since 1970-01-01 of a DAY, 0 of others
 *
 * Every text by itself. Cost: one read.
 */
bool dpf_texts_kinds(const uint8_t *text, const int64_t *ends, const uint8_t *present, size_t n, const uint64_t *mark,
                     size_t marks, uint8_t *DPF_RESTRICT kind, int32_t *DPF_RESTRICT day);

#endif
