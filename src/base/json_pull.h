/* json_pull.h - a JSON text read from front to back, piece by piece, without holding it.
 *
 * For files too large for a tree: the caller asks for what it expects next, and what else stands
 * there is refused with one sentence that names the place, as json.h does: "p.json: nodes[3].costs
 * is true, expected ...". Objects have known keys, each at most once; unknown ones are refused. As
 * strict as json_check.h: RFC 8259, UTF-8, no \u0000.
 *
 *     CLV_TRY(clv_json_pull_object(j, err));
 *     for (int key;;) {
 *         CLV_TRY(clv_json_pull_key(j, keys, required, &key, err));
 *         if (key < 0)
 *             break;
 *         ... pull the value of keys[key] ...
 *     }
 */
#ifndef CLV_BASE_JSON_PULL_H
#define CLV_BASE_JSON_PULL_H

#include <stdbool.h>

#include "base/arena.h"

/* Objects and arrays within each other; the deepest format read this way has 5. */
#define CLV_JSON_PULL_DEPTH 16
/* Bytes of a key that are kept; a longer one is no known key. */
#define CLV_JSON_PULL_KEY 64

typedef struct {
    bool is_array, begun;
    int64_t index; /* of the element in an array */
    uint32_t seen; /* keys in an object, as bits */
    char key[CLV_JSON_PULL_KEY];
} clv_json_pull_level;

typedef struct {
    const char *what; /* names the text in messages */
    int fd;           /* -1: the text is in memory as a whole */
    int fault;        /* errno of a read that failed */
    unsigned char *buf;
    const unsigned char *start, *at, *end; /* what is in memory */
    int64_t before;                        /* bytes of the text in front of start */
    int64_t line, line_start;              /* of at; from 1, and the byte it starts with */
    int depth;
    clv_json_pull_level level[CLV_JSON_PULL_DEPTH];
} clv_json_pull;

/* A list of whole numbers that is used again and again. */
typedef struct {
    clv_arena *arena;
    int64_t *at;
    int32_t n, cap;
} clv_json_ints;

/* Text in memory, which stays until the reading is over. */
void clv_json_pull_text(clv_json_pull *j, const char *text, size_t n, const char *what);
/* A regular file, open for reading; it is the caller's to close. The arena holds one buffer. */
clv_status clv_json_pull_file(clv_json_pull *j, int fd, const char *what, clv_arena *arena,
                              clv_error *err);

/* Goes into an object. */
clv_status clv_json_pull_object(clv_json_pull *j, clv_error *err);
/* The next key as its place in keys (NULL-terminated, at most 32); -1: the object has ended, and
 * had all keys whose bits are in required. */
clv_status clv_json_pull_key(clv_json_pull *j, const char *const *keys, uint32_t required, int *ret,
                             clv_error *err);
/* Goes into an array; then, before each element: is there one? false: the array has ended. */
clv_status clv_json_pull_array(clv_json_pull *j, clv_error *err);
clv_status clv_json_pull_next(clv_json_pull *j, bool *ret, clv_error *err);

/* A whole number, exact in all 64 bits, however written: 10, 10.0, 1e1. */
clv_status clv_json_pull_int(clv_json_pull *j, int64_t low, int64_t high, int64_t *ret,
                             clv_error *err);
/* A whole array of them. list->n is set. O(n), at some hundred million bytes a second. */
clv_status clv_json_pull_ints(clv_json_pull *j, int64_t low, int64_t high, clv_json_ints *list,
                              clv_error *err);
/* A string; of one that is longer than the buffer the first characters that fit. size >= 5. */
clv_status clv_json_pull_string(clv_json_pull *j, char *buf, size_t size, clv_error *err);
/* Nothing is left but space. */
clv_status clv_json_pull_end(clv_json_pull *j, clv_error *err);

/* Where the reader is: "p.json: nodes.costs[17]". Returns buf. */
const char *clv_json_pull_path(const clv_json_pull *j, char *buf, size_t size);

#endif
