/* manifest_check.h - does a manifest agree with itself? What it says twice has to be the same
 * twice, and what it says once is held by its digest (docs/formats/manifest.md).
 */
#ifndef CLV_RUN_MANIFEST_CHECK_H
#define CLV_RUN_MANIFEST_CHECK_H

#include "run/program.h"

/* Checksum of all that stands before the key "routes", without the comma and the blanks between
 * words: in hexadecimal digits, in the arena. The models have it in their metadata. O(n). */
clv_status clr_manifest_sum_routes(const char *text, size_t n, clv_arena *arena, const char **ret,
                                   clv_error *err);
/* Models, their files, collectives, groups, transfers and copies: CLV_EFORMAT says what is wrong,
 * where, and what was expected. O(n^2) in models, in collectives, and in devices of copies. */
clv_status clr_manifest_check(const clr_program *program, clv_error *err);

#endif
