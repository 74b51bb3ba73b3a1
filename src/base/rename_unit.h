/* rename_unit.h - several files of one folder that get their names together or not at all.
 *
 * The system renames one file at a time. So a list of all renamings is written first, into a file
 * ".NAME.cleave.unit" that only one writer can make, and that it holds a lock on; then they are
 * done; then the list is removed. A second writer waits for the lock. Where a program ends in
 * between, the list stays, and whoever next writes to the folder, or opens a file of it, does what
 * is left. All files are whole before the list is there, so it can always be done to the end.
 * docs/decisions/0006-outputs.md.
 */
#ifndef CLV_BASE_RENAME_UNIT_H
#define CLV_BASE_RENAME_UNIT_H

#include <stdbool.h>

#include "base/arena.h"

/* Names below a folder. from begins with a temporary's name (temporary.h), which is held. */
typedef struct {
    int folder;
    const char *from, *to;
    bool is_new; /* there must be no file of the name; else one is replaced */
} clv_renaming;

/* The list is written for the first of them, in its folder, and speaks of those in this folder
 * alone: of files in several folders a kill at that moment may leave some. */
typedef struct {
    const clv_renaming *at;
    int32_t n;
    const char *path; /* of the first, for messages */
} clv_unit;

/* Folders that names go through have to be there. CLV_EIO: nothing was renamed. The files that were
 * replaced then have the temporary names. */
clv_status clv_unit_commit(const clv_unit *unit, clv_arena *arena, clv_error *err);

/* Does what programs that ended too early have left: finishes their renamings and removes their
 * temporaries. What cannot be done is left alone. */
void clv_tidy_folder(int folder);
/* The renamings alone: of a file `base` and those that get their names with it. O(1). */
void clv_finish_unit_of(int folder, const char *base);
/* Of all files in the folder that path is in. O(its files). */
void clv_finish_units_beside(const char *path);

#endif
