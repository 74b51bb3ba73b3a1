/* file_bytes.h - the bytes of a file in memory.
 *
 * They are read, not mapped from the file: one that becomes shorter meanwhile is an error then,
 * where a map would end the program with SIGBUS.
 */
#ifndef CLV_RUN_FILE_BYTES_H
#define CLV_RUN_FILE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    const char *path; /* stays the caller's */
    const uint8_t *bytes;
    size_t n;
} clr_file_bytes;

/* CLV_EIO: it cannot be read, or is no regular file, or became shorter; CLV_ENOMEM. O(bytes). */
clv_status clr_file_bytes_open(const char *path, clr_file_bytes *ret, clv_error *err);
void clr_file_bytes_close(clr_file_bytes *file); /* zeroed is fine */

#endif
