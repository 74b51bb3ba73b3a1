/* weights_folder_read.h - a folder of shards, opened: what weights.json says, and whether it can
 * be. */
#ifndef CLV_WEIGHTS_WEIGHTS_FOLDER_READ_H
#define CLV_WEIGHTS_WEIGHTS_FOLDER_READ_H

#include "weights/weights_folder.h"

/* Reads weights.json and looks at the size of every file: the shards cover their weights, lie in
 * their files and not in each other, copies have one checksum, names stay in the folder. Bytes of
 * shards are not read. CLV_EIO: no such folder, a file is missing; CLV_EFORMAT: all else. O(shards
 * log shards). */
clv_status clv_weights_folder_read(const char *path, clv_arena *arena, clv_weights_folder *ret,
                                   clv_error *err);
/* Of one that was read; what it says in memory stays. */
void clv_weights_folder_close(clv_weights_folder *f);
/* The same of a text, but for the files, which need not be there. */
clv_status clv_weights_folder_parse(const char *text, size_t n, const char *path, clv_arena *arena,
                                    clv_weights_folder *ret, clv_error *err);

#endif
