/* file_set.h - many open files, read and written by offset.
 *
 * A set of files that one pass reads or writes: each is opened when it is first needed, and no more
 * than CLV_DISK_OPEN at a time, whatever the number of devices. The two calls that move bytes can
 * be given, so that tests have disks that are full and files that end early. A set is for one
 * thread at a time.
 */
#ifndef CLV_WEIGHTS_FILE_SET_H
#define CLV_WEIGHTS_FILE_SET_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/checksum.h"
#include "base/open_inside.h"

#define CLV_DISK_OPEN 128 /* far below the usual limit of 1024 a process */

/* As pread and pwrite, with errno. */
typedef struct {
    ssize_t (*read)(void *ctx, int fd, void *to, size_t n, off_t offset);
    ssize_t (*write)(void *ctx, int fd, const void *from, size_t n, off_t offset);
    void *ctx;
} clv_disk;

typedef struct clv_files clv_files;

/* disk NULL: the system's. It lives in the arena, but its descriptors have to be closed. */
clv_status clv_files_new(const clv_disk *disk, clv_arena *arena, clv_files **ret, clv_error *err);
/* The same files, which this set has all made, with descriptors of its own: for another thread. Its
 * calls of `disk` come from that thread. */
clv_status clv_files_twin(const clv_files *files, clv_arena *arena, clv_files **ret,
                          clv_error *err);
void clv_files_close(clv_files *files); /* NULL is fine; clv_files_flush() reports errors */

/* Adds a file, not opened yet. create: a new one, CLV_EIO later if there is one already; else to be
 * read only, and CLV_EFORMAT later if the way to it leads out of the folder. known: the file that
 * it has to be, and NULL where any will do; one that is opened again has to be the same. Texts are
 * copied. */
clv_status clv_files_add(clv_files *files, const clv_file_inside *file, bool create,
                         const clv_file_id *known, int32_t *ret_id, clv_error *err);
/* A file that somebody else has open to be read, and will close. */
clv_status clv_files_lend(clv_files *files, int fd, const char *path, int32_t *ret_id,
                          clv_error *err);
/* As it was added, for messages. */
const char *clv_files_path(const clv_files *files, int32_t id);
/* Opens the file if it is not; CLV_EIO: not a regular file, not there. *ret_bytes may be NULL. */
clv_status clv_files_size(clv_files *files, int32_t id, int64_t *ret_bytes, clv_error *err);
/* All n bytes, or CLV_EIO: "... is cut short". Writing is for files that were created here. */
clv_status clv_files_read(clv_files *files, int32_t id, void *to, size_t n, int64_t offset,
                          clv_error *err);
clv_status clv_files_write(clv_files *files, int32_t id, const void *from, size_t n, int64_t offset,
                           clv_error *err);
/* A byte of a file. */
typedef struct {
    int32_t id;
    int64_t offset;
} clv_file_pos;
/* n bytes of one file from `from` on to another's `to`, through a buffer of the set. sum: gets
 * the bytes too; may be NULL. */
clv_status clv_files_copy(clv_files *files, clv_file_pos from, clv_file_pos to, int64_t n,
                          clv_checksum_state *sum, clv_error *err);
/* The file has exactly this size from now on. */
clv_status clv_files_resize(clv_files *files, int32_t id, int64_t bytes, clv_error *err);
/* Closes what is open, and reports what closing does. The set can be used on. */
clv_status clv_files_flush(clv_files *files, clv_error *err);

#endif
