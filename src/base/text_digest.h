/* text_digest.h - JSON files that end with the checksum of all that stands before it, under the key
 * "digest". What is edited by hand is found so, where nothing else says the same.
 */
#ifndef CLV_BASE_TEXT_DIGEST_H
#define CLV_BASE_TEXT_DIGEST_H

#include "base/checksum.h"

#define CLV_TEXT_DIGEST "digest"

/* text: an object as base/json_out.h writes it, indented. The new text is in the arena. O(n). */
clv_status clv_text_digest_add(const char *text, size_t n, clv_arena *arena, const char **ret,
                               size_t *ret_n, clv_error *err);
/* path: of the file; remedy: what to do about it, both for the message. CLV_EFORMAT: the text was
 * changed, or has no digest. O(n). */
clv_status clv_text_digest_check(const char *text, size_t n, const char *path, const char *remedy,
                                 clv_arena *arena, clv_error *err);

/* The last place where the key, with its quotes, has a checksum, and what is behind that; NULL:
 * there is none. text: a NUL follows its n bytes. O(n). */
const char *clv_text_find_checksum(const char *text, size_t n, const char *key, clv_checksum *ret,
                                   const char **ret_behind);

#endif
