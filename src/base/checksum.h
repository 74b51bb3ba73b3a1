/* checksum.h - the one door to xxHash: XXH3 of 128 bits, of bytes as they come and of files.
 *
 * It finds accidents: a flipped bit, a file cut short, one file in another's place. It does not
 * stop an attacker.
 */
#ifndef CLV_BASE_CHECKSUM_H
#define CLV_BASE_CHECKSUM_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/open_inside.h"

typedef struct {
    uint64_t high, low;
} clv_checksum;

static inline bool clv_checksum_eq(clv_checksum a, clv_checksum b)
{
    return a.high == b.high && a.low == b.low;
}

/* 32 hex digits, high first, as xxhsum -H2 prints them; with the NUL. Returns buf. */
#define CLV_CHECKSUM_TEXT 33
const char *clv_checksum_text(char buf[static CLV_CHECKSUM_TEXT], clv_checksum sum);
/* False unless it is 32 hex digits. */
bool clv_checksum_parse(const char *text, clv_checksum *ret);

/* Bytes as they come; all 0 bytes so far at first. NULL without memory. It lives in the arena. */
typedef struct clv_checksum_state clv_checksum_state;
clv_checksum_state *clv_checksum_new(clv_arena *arena);
void clv_checksum_restart(clv_checksum_state *s);
void clv_checksum_add(clv_checksum_state *s, const void *bytes, size_t n);
/* The same of JSON text without the blanks between its words, so that it may be laid out anew. The
 * text begins outside of a string. O(n). */
void clv_checksum_add_json(clv_checksum_state *state, const char *text, size_t n);
void clv_checksum_add_zeros(clv_checksum_state *s, uint64_t n);
clv_checksum clv_checksum_end(const clv_checksum_state *s); /* of all so far; more may follow */

/* Of a whole file, through a buffer: O(1) memory. CLV_EIO; inside: as clv_open_inside_or_fail(). */
clv_status clv_checksum_file(const char *path, clv_arena *arena, clv_checksum *ret,
                             int64_t *ret_bytes, clv_error *err);
/* Of a file that is open at its first byte, and that is closed in any case. */
clv_status clv_checksum_opened(int fd, const char *path, clv_arena *arena, clv_checksum *ret,
                               int64_t *ret_bytes, clv_error *err);
clv_status clv_checksum_inside(const clv_file_inside *file, clv_arena *arena, clv_checksum *ret,
                               int64_t *ret_bytes, clv_error *err);

#endif
