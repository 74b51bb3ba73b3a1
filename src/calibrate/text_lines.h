/* text_lines.h - a text line by line, and the numbers of a line. No locale has a say. */
#ifndef CLV_CALIBRATE_TEXT_LINES_H
#define CLV_CALIBRATE_TEXT_LINES_H

#include "base/arena.h"
#include "base/str.h"

/* The bytes of a file; what names it in messages. */
typedef struct {
    const char *text, *what;
    size_t n;
} clv_file_text;

typedef struct {
    const clv_file_text *text;
    size_t next;
    int32_t number; /* of the line at hand, from 1 */
    clv_str line;   /* without its end, be that "\n" or "\r\n" */
} clv_lines;

/* The next line that is not empty; false at the end, or where a line has 2^31 bytes. */
bool clv_next_line(clv_lines *lines);
/* What is before the next of some separators, which goes; and the rest stays. False at the end.
 * Runs of blanks are one separator, and those at the ends none. */
bool clv_next_field(clv_str *rest, char separator, clv_str *ret);

/* "file:12: " and a sentence. */
clv_status clv_fail_line(const clv_lines *lines, clv_error *err, const char *fmt, ...)
    CLV_PRINTF(3, 4);

/* A decimal number, and a whole one from 0 to 2^50, with nothing else around them. */
bool clv_scan_number(clv_str text, double *ret);
bool clv_scan_int(clv_str text, int64_t *ret);

#endif
