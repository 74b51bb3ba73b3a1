/* file.h - a small text file as a whole, and whether two paths are one place. Models are not read
 * this way (proto/onnx_image.h). */
#ifndef CLV_BASE_FILE_H
#define CLV_BASE_FILE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/open_inside.h"

/* The file's bytes, with a NUL behind them that *ret_n does not count. Not a regular file, missing,
 * unreadable: CLV_EIO; longer than max bytes: CLV_ELIMIT. The sentence names the path. */
clv_status clv_read_file(const char *path, size_t max, clv_arena *arena, const char **ret_text,
                         size_t *ret_n, clv_error *err);

/* The same of a file below a folder: CLV_EFORMAT where it is a link that leads out. */
clv_status clv_read_inside(const clv_file_inside *file, size_t max, clv_arena *arena,
                           const char **ret_text, size_t *ret_n, clv_error *err);
/* And of a folder that is not open yet. */
typedef struct {
    const char *folder, *name; /* a path; below it */
    size_t max;
} clv_folder_file;
clv_status clv_read_folder_file(const clv_folder_file *file, clv_arena *arena,
                                const char **ret_text, size_t *ret_n, clv_error *err);

/* The same of a file that is open to be read, and that is closed in any case. */
typedef struct {
    int fd;
    const char *path; /* for messages */
    size_t max;
} clv_opened_file;
clv_status clv_read_opened(const clv_opened_file *file, clv_arena *arena, const char **ret_text,
                           size_t *ret_n, clv_error *err);

/* Would a file written at a take the place of b? The same file by any name, or the same name in the
 * same folder, whether or not there is a file yet. */
bool clv_same_place(const char *a, const char *b);

#endif
