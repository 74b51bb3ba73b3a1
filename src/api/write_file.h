/* write_file.h - a text as a file that is there as a whole or not at all. */
#ifndef CLV_API_WRITE_FILE_H
#define CLV_API_WRITE_FILE_H

#include "base/arena.h"

/* n bytes, under a temporary name till all are there. CLV_EIO. */
clv_status clv_write_text(const char *path, const clv_alloc *alloc, const char *text, size_t n,
                          clv_error *err);

#endif
