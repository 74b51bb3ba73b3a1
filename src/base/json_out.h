/* json_out.h - JSON text in a fixed order, written piece by piece into memory.
 *
 * Keys come in the order of the calls, numbers are the shortest that read back the same, strings
 * are escaped, and invalid UTF-8 and NUL are replaced by U+FFFD. So the same calls give the same
 * bytes, in any locale. A lack of memory is kept until clv_json_end() reports it.
 */
#ifndef CLV_BASE_JSON_OUT_H
#define CLV_BASE_JSON_OUT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    clv_arena *arena;
    char *text; /* NUL-terminated after clv_json_end() */
    size_t n, cap;
    int depth;
    bool comma, pretty, failed; /* failed: out of memory; stays so */
} clv_json_out;

void clv_json_begin(clv_json_out *out, clv_arena *arena, bool pretty);
/* key NULL inside arrays and at the root. */
void clv_json_open_object(clv_json_out *out, const char *key);
void clv_json_close_object(clv_json_out *out);
void clv_json_open_array(clv_json_out *out, const char *key);
void clv_json_close_array(clv_json_out *out);
void clv_json_put_string(clv_json_out *out, const char *key, const char *value); /* NULL: null */
void clv_json_put_str(clv_json_out *out, const char *key, clv_str value);
void clv_json_put_int(clv_json_out *out, const char *key, int64_t value);
/* An array of n, all on one line. */
void clv_json_put_ints(clv_json_out *out, const char *key, const int32_t *value, int32_t n);
/* NaN and the infinities, which JSON cannot say, become null. */
void clv_json_put_number(clv_json_out *out, const char *key, double value);
void clv_json_put_bool(clv_json_out *out, const char *key, bool value);
void clv_json_put_null(clv_json_out *out, const char *key);
/* The shortest of 15 to 17 digits that reads back as value, which must be finite. Returns buf. */
const char *clv_json_number_text(char buf[static 32], double value);
/* A newline at the end; CLV_ENOMEM if any call failed. */
clv_status clv_json_end(clv_json_out *out, clv_error *err);

#endif
