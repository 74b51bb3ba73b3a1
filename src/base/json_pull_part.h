/* json_pull_part.h - what the two halves of json_pull.h share; seen by nobody else. */
#ifndef CLV_BASE_JSON_PULL_PART_H
#define CLV_BASE_JSON_PULL_PART_H

#include <stdio.h>

#include "base/json_pull.h"

/* The next piece of the text; false at its end. All before at is given up. */
bool clv_pull_refill(clv_json_pull *j);

/* The character at j->at, EOF at the end or where reading failed. */
static inline int clv_pull_char(clv_json_pull *j)
{
    if (j->at == j->end && !clv_pull_refill(j))
        return EOF;
    return *j->at;
}

/* The same behind any space. */
int clv_pull_peek(clv_json_pull *j);

/* "p.json: line 1, byte 17: not JSON: 'x', expected a value", of the character at j->at. */
clv_status clv_pull_syntax(const clv_json_pull *j, const char *expected, clv_error *err);
/* "p.json: nodes is 5, expected an object". */
clv_status clv_pull_wrong(const clv_json_pull *j, const char *is, const char *expected,
                          clv_error *err);
/* The same where the kind of the value that follows is wrong. */
clv_status clv_pull_wrong_kind(clv_json_pull *j, const char *expected, clv_error *err);

#endif
