/* write_file.h - files that are there as a whole or not at all. */
#ifndef CLV_API_WRITE_FILE_H
#define CLV_API_WRITE_FILE_H

#include "proto/sink.h"

/* Opens path for writing under a temporary name, lets body fill it, and keeps the file only if all
 * went well. CLV_EIO, or what body fails with. */
clv_status clv_write_file(const char *path, const clv_alloc *alloc,
                          clv_status (*body)(void *ctx, const clv_sink *to, clv_error *err),
                          void *ctx, clv_error *err);
/* The same of n bytes. */
clv_status clv_write_text(const char *path, const clv_alloc *alloc, const char *text, size_t n,
                          clv_error *err);

#endif
