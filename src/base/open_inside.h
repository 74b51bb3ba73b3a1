/* open_inside.h - a file below a folder, opened so that what was judged is what is read.
 *
 * A path that is judged and then opened by its name may lead elsewhere by then: whoever can write
 * to the folder puts a link there in between. So the way to the file is walked by descriptors, one
 * name after the other and no link followed by the kernel; links are read and walked too, and the
 * file has to lie below the folder in the end, whatever the way there. The descriptor that comes of
 * it is the answer: its size and kind are those of what will be read.
 *
 * The kernel's openat2() is not used: with RESOLVE_BENEATH it refuses links that are absolute and
 * stay inside, and a second way would have to be there for kernels without it.
 */
#ifndef CLV_BASE_OPEN_INSIDE_H
#define CLV_BASE_OPEN_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Which file it is, whatever its name; bytes is its size when it was looked at. Zeroed: none. */
typedef struct {
    uint64_t device, number;
    int64_t bytes;
} clv_file_id;

/* A file below a folder. */
typedef struct {
    int folder;       /* lent */
    const char *name; /* relative to it */
    const char *path; /* of both, for messages */
} clv_file_inside;

typedef enum {
    CLV_INSIDE_OPENED,
    CLV_INSIDE_ABSENT,      /* nothing of that name */
    CLV_INSIDE_LEAVES,      /* the way leads out of the folder */
    CLV_INSIDE_NOT_REGULAR, /* a folder, a pipe, a device */
    CLV_INSIDE_FAILED       /* errno says why */
} clv_inside;

/* A folder to be given below: by any path, links and all, for it is the caller's word what the
 * folder is. -1: errno. To be closed. */
int clv_open_folder(const char *path);
/* That which a path's last name lies in: of "a/b" the folder a, of "b" the present one. *ret_name:
 * that last name, within path. */
int clv_open_folder_of(const char *path, const char **ret_name);

/* flags: O_RDONLY, or O_RDWR, or O_RDWR | O_CREAT for a file that is not there yet. A file that is
 * written to may not be reached through a link, and with O_NOFOLLOW one that is read may not.
 * *ret_fd is to be closed. A pipe is not waited for. O(names on the way) calls. */
clv_inside clv_open_inside(int folder, const char *name, int flags, int *ret_fd,
                           clv_file_id *ret_id);
/* The same as a status, with a sentence: CLV_EIO where it cannot be opened,
 * CLV_EFORMAT where it leads out. */
clv_status clv_open_inside_or_fail(const clv_file_inside *file, int *ret_fd, clv_file_id *ret_id,
                                   clv_error *err);

/* The folder that a name's last part is in, with no link on the way; *ret_base: that part. It is
 * `folder` itself for a name without a slash, else to be closed. -1: errno; EXDEV: a name that has
 * ".." in it, or is absolute. */
int clv_open_parent_inside(int folder, const char *name, const char **ret_base);

/* The folders that a name goes through, made where they are not there. -1: errno. */
int clv_make_folders_inside(int folder, const char *name);

/* Is the descriptor that file, of the size that it had? */
bool clv_is_same_file(int fd, const clv_file_id *id);

/* A name relative to a folder that stays in it: not empty, not absolute, no "..". */
bool clv_name_stays_inside(const char *name);

#endif
