/* manifest.h - manifest.json of a lowered folder, read as a program (docs/lowering.md). */
#ifndef CLV_RUN_MANIFEST_H
#define CLV_RUN_MANIFEST_H

#include "run/program.h"

/* All lives in the arena; folder stays the caller's. CLV_EIO, CLV_EFORMAT: one sentence that says
 * where in the file. No other file of the folder is opened. That it was changed by its digest is
 * left to clr_execution_open(), which can say more of it. */
clv_status clr_manifest_read(const char *folder, clv_arena *arena, clr_program *ret,
                             clv_error *err);
/* The same of a text, without looking at its digest and whether it agrees with itself
 * (manifest_check.h). */
clv_status clr_manifest_parse(const char *text, size_t n, const char *folder, clv_arena *arena,
                              clr_program *ret, clv_error *err);
/* Of the files that it lists, sizes and checksums: CLV_EFORMAT names the first that differs or is
 * missing. O(bytes). */
clv_status clr_manifest_check_files(const clr_program *program, clv_arena *arena, clv_error *err);

#endif
