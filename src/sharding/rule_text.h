/* rule_text.h - the text of a sharding rule, taken apart. docs/sharding.md teaches the notation.
 *
 *   [v<13] (a..,n..!)->(a..,n..!); a..=axis?1 | (a..,n!,c..)->(a..,n!,c..); a..=axis?-1
 *
 * A rule is one or several cases, "|" between; the first whose conditions in [...] hold counts.
 * This file knows the text only, and nothing of operators.
 */
#ifndef CLV_SHARDING_RULE_TEXT_H
#define CLV_SHARDING_RULE_TEXT_H

#include "base/arena.h"
#include "base/str.h"
#include "sharding/factors.h"

/* One of the factors of a dimension. */
typedef struct {
    clv_str name;   /* empty: no factor, always whole */
    int64_t number; /* without a name: the size; 0: whatever it is ("_") */
    bool run;       /* "a..": any number of dimensions, "..." has the name "." */
    bool given;     /* kind is written, else it follows from the outputs */
    bool by_index, even;
    clv_factor_kind kind;
    clv_reduce reduce;
    int64_t before, after, granule;
} clv_term;

typedef struct {
    int32_t first, n; /* terms, outermost first; a run stands alone */
} clv_dim_text;

typedef struct {
    int32_t first, n; /* dims */
    bool whole;       /* "-": any shape, not split */
    bool broadcast;   /* its first dims may be missing */
    bool once;
    clv_str transposed; /* attribute that swaps the last two dims, or empty */
} clv_operand_text;

/* Where a number stands. */
typedef struct {
    enum { CLV_FROM_NUMBER, CLV_FROM_ATTR, CLV_FROM_INPUT, CLV_FROM_LAST_DIM } kind;
    clv_str attr;
    int32_t in, at; /* input, and element of its value; at -1: its only one */
    int64_t number; /* or where the attribute or input is missing, if `otherwise` */
    bool otherwise;
} clv_source;

typedef struct {
    enum { CLV_NOTE_RUN, CLV_NOTE_SIZE, CLV_NOTE_SHAPE, CLV_NOTE_NO_PAD } kind;
    clv_source from;
    clv_str run;      /* NOTE_RUN: `from` is how many dimensions it has */
    bool of_output;   /* NOTE_RUN: negative numbers count from the end of output 0's dims */
    int32_t first, n; /* NOTE_SIZE, NOTE_NO_PAD: terms whose product it is */
} clv_note;

typedef struct {
    clv_term *terms;
    clv_dim_text *dims;
    clv_operand_text *operands; /* inputs, then outputs */
    clv_note *notes;
    int32_t n_terms, n_dims, n_in, n_out, n_notes;
    bool by_shape;                 /* the note "constant" */
    int32_t repeat_in, repeat_out; /* the last so many operands stand for all further ones; 0 */
} clv_rule_text;

/* A condition of a case. */
typedef struct {
    enum {
        CLV_WHEN_VERSION, /* of the operator set, below number */
        CLV_WHEN_IN,      /* input `in` is there */
        CLV_WHEN_OUT,
        CLV_WHEN_RANK, /* of input `in` is number */
        CLV_WHEN_ATTR  /* is there; equal to, or below, the number or word */
    } kind;
    bool negated, below, compares, is_number;
    clv_str attr, word;
    int32_t in;
    int64_t number, otherwise;
    bool has_otherwise;
} clv_when;

/* Takes the next case off *rest: its conditions (one after another by clv_when_next) and its body.
 * False: there is no further one, or it is malformed (then *rest is not empty). */
bool clv_case_next(clv_str *rest, clv_str *ret_when, clv_str *ret_body);
/* "whole: REASON", which *body then is. */
bool clv_case_is_whole(clv_str *body);
/* "=name" or "=name:param": a writer's (writers.h). */
bool clv_case_is_written(clv_str body, clv_str *ret_name, clv_str *ret_param);
/* False: none left; *ret_ok false: malformed. */
bool clv_when_next(clv_str *rest, clv_when *ret, bool *ret_ok);
/* Takes the body of a case apart; what it returns lives in the arena and points into the text.
 * CLV_EINTERNAL with a sentence when it cannot be read. O(length). */
clv_status clv_rule_text_read(clv_str body, clv_arena *arena, clv_rule_text *ret, clv_error *err);

/* -- to show a rule -- */

/* Each name of the text once, in order, with its kind, which follows from the outputs where it is
 * not written. ret: n_terms of them; how many there are. O(terms squared). */
int32_t clv_rule_text_factors(const clv_rule_text *text, clv_term *ret);
/* "(m,k),(k,n)->(m,n)": the dimensions of inputs and outputs, each with its factors, "_" where it
 * is always whole, "!" behind a factor that must be. NULL: no memory. O(dimensions). */
const char *clv_factors_show(const clv_factors *f, clv_arena *arena);

#endif
