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
#include <stdio.h>

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

/* A string; of one that is longer than the buffer the first characters that fit. size >= 5. */
clv_status clv_json_pull_string(clv_json_pull *j, char *buf, size_t size, clv_error *err);
/* Nothing is left but space. */
clv_status clv_json_pull_end(clv_json_pull *j, clv_error *err);

/* Where the reader is: "p.json: nodes.costs[17]". Returns buf. */
const char *clv_json_pull_path(const clv_json_pull *j, char *buf, size_t size);

/* -- for readers of other values: json_pull_int.c -- */

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

static inline bool clv_pull_is_digit(int c) { return c >= '0' && c <= '9'; }

/* "p.json: line 1, byte 17: not JSON: 'x', expected a value", of the character at j->at. */
clv_status clv_pull_syntax(const clv_json_pull *j, const char *expected, clv_error *err);
/* "p.json: nodes is 5, expected an object". */
clv_status clv_pull_wrong(const clv_json_pull *j, const char *is, const char *expected,
                          clv_error *err);
/* The same where the kind of the value that follows is wrong. */
clv_status clv_pull_wrong_kind(clv_json_pull *j, const char *expected, clv_error *err);

#endif
