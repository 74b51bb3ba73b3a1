/* file.h - a small text file as a whole. Models are not read this way: they are mapped. */
#ifndef CLV_BASE_FILE_H
#define CLV_BASE_FILE_H

#include "base/arena.h"

/* The file's bytes, with a NUL behind them that *ret_n does not count. Not a regular file, missing,
 * unreadable: CLV_EIO; longer than max bytes: CLV_ELIMIT. The sentence names the path. */
clv_status clv_read_file(const char *path, size_t max, clv_arena *arena, const char **ret_text,
                         size_t *ret_n, clv_error *err);

#endif
