/* json.h - the one door to cJSON: checked reading. Writing is json_out.h.
 *
 * clv_json_parse() gives a tree that is freed with clv_json_free(). A reader says which keys an
 * object may have (clv_json_keys) and takes them by type; each failure names where, with the line in
 * a document of several: "cluster.json:14: levels[1].bandwidth". Duplicate keys, text after the value, nesting over 64 and
 * numbers that are not finite are refused.
 */
#ifndef CLV_BASE_JSON_H
#define CLV_BASE_JSON_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct cJSON clv_json; /* opaque to callers */

/* what names the document in messages. Text need not be NUL-terminated. Memory is malloc's, for
 * cJSON has no other way but a global hook. Any thread may call it; cJSON notes the place of a
 * syntax error in a global that we never read, and there is none in a text that passed our check.
 * O(n log n) in the most keys of one object, O(n) else. */
clv_status clv_json_parse(const char *text, size_t n, const char *what, clv_json **ret,
                          clv_error *err);
/* Of one line of something, which what names too: messages add the column alone. */
clv_status clv_json_parse_line(const char *text, size_t n, const char *what, clv_json **ret,
                               clv_error *err);
void clv_json_free(clv_json *json); /* NULL is fine */

/* Where a value stands, for messages: build on the stack. parent NULL at the root, whose key is the
 * document's name; index -1 unless an array element. */
typedef struct clv_json_at {
    const struct clv_json_at *parent;
    const char *key;
    int32_t index;
    const clv_json *json;
} clv_json_at;

clv_json_at clv_json_root(const clv_json *json, const char *what);
/* "cluster.json:14: levels[1].bandwidth" into buf: of what is absent the line of what it is absent
 * in, and no line of the document as a whole, nor where all is on one line. Returns buf. */
const char *clv_json_path(const clv_json_at *at, char *buf, size_t size);

/* at must be an object with no other keys than these (NULL-terminated list). */
clv_status clv_json_keys(const clv_json_at *at, const char *const *allowed, clv_error *err);
/* The member, or with ret->json NULL when absent and not required. ret must not be at itself.
 * O(keys). */
clv_status clv_json_member(const clv_json_at *at, const char *key, bool required, clv_json_at *ret,
                           clv_error *err);
/* at must be an array: its length, and its elements in O(1) when walked in order, with the one
 * before as previous (NULL at the first; it may be where the result goes). json is NULL past the
 * end. */
clv_status clv_json_length(const clv_json_at *at, int32_t *ret, clv_error *err);
clv_json_at clv_json_element(const clv_json_at *at, int32_t index, const clv_json_at *previous);

/* Values by type; another one is CLV_EFORMAT with what stands there. The string lives as long as
 * the tree. */
clv_status clv_json_string(const clv_json_at *at, const char **ret, clv_error *err);
/* The same, copied into the arena: it outlives the tree. */
clv_status clv_json_copy_string(const clv_json_at *at, clv_arena *arena, const char **ret,
                                clv_error *err);
/* The texts of a member that is an array, copied; *ret and *ret_n stay where it is absent. */
clv_status clv_json_copy_texts(const clv_json_at *object, const char *key, clv_arena *arena,
                               const char ***ret, int32_t *ret_n, clv_error *err);
clv_status clv_json_number(const clv_json_at *at, double min, double max, double *ret,
                           clv_error *err);
/* Whole numbers up to 2^53 exactly. */
clv_status clv_json_int(const clv_json_at *at, int64_t min, int64_t max, int64_t *ret,
                        clv_error *err);
/* A number from 0 to max, rounded to a whole one up or down; to the digit where no double has it.
 * max: at most 10^18. */
clv_status clv_json_rounded(const clv_json_at *at, int64_t max, bool up, int64_t *ret,
                            clv_error *err);
clv_status clv_json_bool(const clv_json_at *at, bool *ret, clv_error *err);
bool clv_json_is_object(const clv_json_at *at);
bool clv_json_is_string(const clv_json_at *at);
bool clv_json_is_null(const clv_json_at *at);
bool clv_json_is_array(const clv_json_at *at);
/* The members of an object in their order, O(1) each: the first with previous NULL, else the one
 * behind it. at must be an object. json is NULL past the end. */
clv_json_at clv_json_next_member(const clv_json_at *at, const clv_json_at *previous);
/* Name of the i-th member of an object, in order; NULL past the end. O(i). */
const char *clv_json_key_at(const clv_json_at *at, int32_t i);

#endif
