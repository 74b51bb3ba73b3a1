/* json_check.h - is a text JSON, to the letter?
 *
 * cJSON builds the tree but lets much through: raw control characters, broken UTF-8, numbers like
 * 01 and 1., \u0000 (which cuts a string short), any number of levels up to 1000; and it does not
 * say what is wrong, nor whether text is bad or memory lacks. So the text is checked first, in one
 * pass, and what passes can fail in cJSON only for want of memory.
 */
#ifndef CLV_BASE_JSON_CHECK_H
#define CLV_BASE_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#define CLV_JSON_DEPTH_MAX 64 /* deepest file of ours has 8; recursion below stays small */

/* RFC 8259 with UTF-8 and without \u0000. CLV_EFORMAT names line and column (both from 1; a column
 * is a character), CLV_ELIMIT is nesting over CLV_JSON_DEPTH_MAX. is_line: the text is a line of
 * something that `what` names, so the column alone is given. O(n). */
clv_status clv_json_check(const char *text, size_t n, const char *what, bool is_line,
                          clv_error *err);

#endif
