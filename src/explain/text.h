/* text.h - text that grows in an arena, and numbers and names as people read them.
 *
 * A clv_text remembers that it ran out of memory, so a report is written without a check at every
 * line and one at the end.
 */
#ifndef CLV_EXPLAIN_TEXT_H
#define CLV_EXPLAIN_TEXT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

/* Columns of a report; only sentences and names that must be exact go over it. */
#define CLV_REPORT_WIDTH 80

/* How a report is to look; zeros: as in a file. */
typedef struct {
    int32_t columns; /* 0: CLV_REPORT_WIDTH */
    bool colour;     /* with the escape sequences of terminals */
} clv_text_form;

typedef struct {
    clv_arena *arena;
    clv_text_form form;
    char *at; /* NUL-terminated when n > 0 */
    size_t n, cap;
    bool failed;
} clv_text;

static inline int32_t clv_text_columns(const clv_text *text)
{
    return text->form.columns > 0 ? text->form.columns : CLV_REPORT_WIDTH;
}

/* What a part of a text is to a reader who skims it. */
typedef enum {
    CLV_TONE_HEAD, /* of a table */
    CLV_TONE_GOOD,
    CLV_TONE_LOOK, /* deserves a look */
    CLV_TONE_BAD
} clv_tone;
/* What begins a tone, and what ends any; "" where the form has no colour. */
const char *clv_tone_begin(const clv_text *text, clv_tone tone);
const char *clv_tone_end(const clv_text *text);
/* From here on the gap of a solution deserves a look. */
#define CLV_GAP_WIDE 0.05
/* Words in a tone, in the text's arena; as they are where the form has no colour, "" marks the text
 * as failed. Not for cells of words: a table escapes what is in them. */
const char *clv_toned(clv_text *text, clv_tone tone, const char *words);

/* Add to the end of the text. Amortised O(n). */
void clv_text_add(clv_text *text, const char *bytes, size_t n);
void clv_text_printf(clv_text *text, const char *fmt, ...) CLV_PRINTF(2, 3);
/* A line, or several, of a label of at most 11 characters and a sentence behind it in a column of
 * its own, cut at spaces; words that are wider than a line are not cut. */
void clv_text_labelled(clv_text *text, const char *label, const char *fmt, ...) CLV_PRINTF(3, 4);
#define CLV_LABEL_COLUMNS 12
/* The same of words without a label: the text is at the column indent already, where all further
 * lines begin. */
void clv_text_wrapped(clv_text *text, int32_t indent, const char *words);
/* NULL when out of memory; "" when nothing was added. */
const char *clv_text_end(clv_text *text);

/* A name as it may be shown: control characters and broken UTF-8 as \xNN. In the arena, NULL when
 * there is no memory. O(n). */
const char *clv_show_name(clv_arena *arena, clv_str name);
/* Like it, what is behind the first third replaced by "..." where it has more than columns (at
 * least 5) characters. */
const char *clv_show_name_cut(clv_arena *arena, clv_str name, int32_t columns);
/* Columns of valid UTF-8: its characters, without the escape sequences of tones. */
int32_t clv_show_width(const char *text);

/* -- numbers and names in the text's arena, as cells of a table (table.h) or words of a line -- */

/* A copy of what is shown in a cell; NULL marks the text as failed. */
const char *clv_text_keep(clv_text *text, const char *shown);
/* NULL where the number is not known (below 0), which a table shows as "-". */
const char *clv_cell_bytes(clv_text *text, int64_t bytes);
const char *clv_cell_memory(clv_text *text, int64_t bytes); /* as predicted */
const char *clv_cell_flops(clv_text *text, int64_t flops);
const char *clv_cell_time(clv_text *text, int64_t ns);
/* Any whole number. */
const char *clv_cell_count(clv_text *text, int64_t n);
/* As clv_show_name() and clv_show_name_cut(), but never NULL: "" marks the text as failed. */
const char *clv_cell_str(clv_text *text, clv_str name);
const char *clv_cell_str_cut(clv_text *text, clv_str name, int32_t columns);
/* The same of a string, "?" for NULL; the second cut to 30 columns, for running text and for
 * columns but the first. */
const char *clv_cell_name(clv_text *text, const char *name);
const char *clv_cell_short(clv_text *text, const char *name);

/* As a string in a Python list is shown: 'it', "it's". Adds to text. */
void clv_text_quoted(clv_text *text, const char *name);

#endif
