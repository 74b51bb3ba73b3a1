/* folder.h - a private folder for as long as something is judged or measured, and what is written
 * into it. */
#ifndef CLV_COMPILE_FOLDER_H
#define CLV_COMPILE_FOLDER_H

#include "base/arena.h"
#include "base/temporary.h"

typedef struct {
    const char *path; /* absolute */
    int parent;       /* the folder that it is in */
    clv_temporary is;
} clv_folder;

/* Removes what runs that were killed left below parent. O(its files). */
void clv_folder_tidy(const char *parent);
/* A new folder that only this user may enter, below parent. CLV_EIO. */
clv_status clv_folder_make(const char *parent, clv_arena *arena, clv_folder *ret, clv_error *err);
/* With all that is in it, as clv_folder_clear(). */
void clv_folder_remove(clv_folder *folder);
/* Writes a file of the folder. */
clv_status clv_folder_write(const char *folder, const char *name, const char *text, size_t n,
                            clv_arena *arena, clv_error *err);
/* Removes the folder of that path with all that is in it; links are removed, not followed. What
 * cannot be removed stays. */
void clv_folder_clear(const char *path);

#endif
