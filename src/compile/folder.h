/* folder.h - a candidate's private folder, and what is written into it. */
#ifndef CLV_COMPILE_FOLDER_H
#define CLV_COMPILE_FOLDER_H

#include "base/arena.h"

/* A new folder that only this user may enter, below parent. The path is absolute. CLV_EIO. */
clv_status clv_folder_make(const char *parent, clv_arena *arena, const char **ret, clv_error *err);
/* Writes a file of the folder. */
clv_status clv_folder_write(const char *folder, const char *name, const char *text, size_t n,
                            clv_arena *arena, clv_error *err);
/* With all that is in it; links are removed, not followed. What cannot be removed stays. */
void clv_folder_remove(const char *folder);

#endif
