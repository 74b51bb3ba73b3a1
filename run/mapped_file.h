/* mapped_file.h - the bytes of a file while it is open. */
#ifndef CLV_RUN_MAPPED_FILE_H
#define CLV_RUN_MAPPED_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    const char *path; /* stays the caller's */
    const uint8_t *bytes;
    size_t n;
} clr_mapped_file;

/* CLV_EIO: it cannot be read, or is no regular file. */
clv_status clr_mapped_file_open(const char *path, clr_mapped_file *ret, clv_error *err);
void clr_mapped_file_close(clr_mapped_file *file); /* zeroed is fine */

#endif
