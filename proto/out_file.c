#include "proto/out_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/open_inside.h"
#include "base/rename_unit.h"
#include "base/streams.h"
#include "base/temporary.h"

/* Written beside its place as a temporary (base/temporary.h), then renamed, so that there is never
 * half a model under the name that was asked for. The folder is opened once: wherever links lead
 * later, the file comes to be where it was looked for. What exists and is no regular file (a pipe,
 * /dev/null) is written to as it is.
 *
 * There is no fsync before the rename: it would wait until the disk has a whole model, and the
 * model can be made again, as the input is never written to. The end of the program, however
 * sudden, leaves the old file or the new one, and at worst a temporary beside it, which the next
 * that writes there removes. A crash of the
 * machine in the seconds after may leave, on some file systems, an empty or short file under the
 * name; reading it says that it is cut short.
 *
 * Weights go from file to file inside the kernel where they keep their place in a page. Annotations
 * before them shift them, and a kernel that copies shifted pages fills each in two steps; then they
 * go through a buffer, written in whole pages. Each write begins on an odd page: begun on a
 * multiple of the buffer's size, the kernel looks for one huge page to hold it, which took half as
 * long again. Never through the map, whose pages would count as our memory.
 */
#define COPY_BUFFER ((size_t)1 << 20)
#define PAGE        4096

struct clv_out_file {
    clv_arena *arena;  /* holds this */
    const char *path;  /* as given, for messages */
    const char *place; /* of the file: where the links of path lead */
    int folder;        /* that it is in; -1: a stream */
    bool lent;         /* the folder is a clv_out_folder's, and the file has its name already */
    const char *base;  /* its name there */
    clv_temporary is;  /* what is written; of a stream the descriptor alone */
    uint64_t at;       /* bytes written */
    uint8_t *buffer;
    bool no_kernel_copy;
};

static clv_status fail_write(const clv_out_file *out, clv_error *err)
{
    return clv_fail(err, CLV_EIO, "cannot write %s: %s", out->path, strerror(errno));
}

static clv_status write_all(void *ctx, const void *bytes, size_t n, clv_error *err)
{
    clv_out_file *out = ctx;
    const uint8_t *at = bytes;
    while (n) {
        ssize_t done = write(out->is.fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_write(out, err);
        at += done;
        n -= (size_t)done;
        out->at += (uint64_t)done;
    }
    return CLV_OK;
}

static clv_status copy_by_buffer(clv_out_file *out, const clv_onnx_file *file, uint64_t offset,
                                 uint64_t n, clv_error *err)
{
    if (!out->buffer) {
        uint8_t *raw = clv_arena_take(out->arena, COPY_BUFFER + PAGE);
        if (!raw)
            return clv_fail_nomem(err, "a copy buffer");
        out->buffer =
            raw + (PAGE - (uintptr_t)raw % PAGE); /* unaligned copies take thrice as long */
    }
    while (n) {
        uint64_t end = (out->at + COPY_BUFFER) / PAGE - 1;
        size_t part = (size_t)((end | 1) * PAGE - out->at);
        if (part > n)
            part = (size_t)n;
        ssize_t got = pread(file->fd, out->buffer, part, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return clv_fail(err, CLV_EIO, "cannot read %s: %s", file->name, strerror(errno));
        if (got == 0)
            return clv_fail(err, CLV_EIO,
                            "%s became shorter while it was read: it ends at byte %llu", file->name,
                            (unsigned long long)offset);
        CLV_TRY(write_all(out, out->buffer, (size_t)got, err));
        offset += (uint64_t)got;
        n -= (uint64_t)got;
    }
    return CLV_OK;
}

/* Errors by which a kernel says that it cannot copy between these two files, but we may. */
static bool is_refusal(int error)
{
    return error == EXDEV || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP ||
           error == EBADF || error == EPERM;
}

static clv_status copy_range(void *ctx, const clv_onnx_file *file, uint64_t offset, uint64_t n,
                             clv_error *err)
{
    clv_out_file *out = ctx;
    off_t at = (off_t)offset;
    if (file->fd < 0)
        return write_all(out, file->bytes + offset, (size_t)n, err);
    bool in_place = offset % PAGE == out->at % PAGE;
    while (n && in_place && !out->no_kernel_copy) {
        size_t part = n < (uint64_t)1 << 30 ? (size_t)n : (size_t)1 << 30;
        ssize_t done = copy_file_range(file->fd, &at, out->is.fd, NULL, part, 0);
        if (done > 0) {
            n -= (uint64_t)done;
            out->at += (uint64_t)done;
        } else if (done == 0 || is_refusal(errno)) {
            out->no_kernel_copy = true;
        } else if (errno != EINTR) {
            return fail_write(out, err);
        }
    }
    return n ? copy_by_buffer(out, file, (uint64_t)at, n, err) : CLV_OK;
}

/* -- opening -- */

/* A temporary in the folder of the place, which then has the mode of any new file. */
static clv_status open_beside(clv_out_file *out, clv_error *err)
{
    out->folder = clv_open_folder_of(out->place, &out->base);
    if (out->folder >= 0) {
        clv_tidy_folder(out->folder);
        if (clv_temporary_file(out->folder, out->base, &out->is))
            return CLV_OK;
    }
    if (errno == ENOENT)
        return clv_fail(err, CLV_EIO, "cannot write %s: its folder does not exist", out->path);
    return fail_write(out, err);
}

/* A link stays: what it leads to is replaced. The names by which /dev and /proc lead to open files
 * are no places for a file, though they may lead to one. */
static clv_status follow_links(clv_out_file *out, bool exists, clv_error *err)
{
    struct stat st;
    if (lstat(out->path, &st) != 0 || !S_ISLNK(st.st_mode))
        return CLV_OK;
    if (!exists)
        return clv_fail(err, CLV_EIO, "cannot write %s: it is a link that leads nowhere",
                        out->path);
    char *real = realpath(out->path, NULL);
    if (!real)
        return fail_write(out, err);
    out->place = clv_arena_printf(out->arena, "%s", real);
    free(real);
    if (!out->place)
        return clv_fail_nomem(err, "an output file");
    if (strncmp(out->path, "/dev/", 5) == 0 || strncmp(out->path, "/proc/", 6) == 0)
        return clv_fail(err, CLV_EIO, "cannot write %s: it leads to %s, expected that name",
                        out->path, out->place);
    return CLV_OK;
}

static clv_status open_path(clv_out_file *out, clv_error *err)
{
    struct stat st;
    size_t n = strlen(out->path);
    if (n == 0)
        return clv_fail(err, CLV_EUSAGE, "the name of the output file is empty");
    bool exists = stat(out->path, &st) == 0;
    if (!exists && errno == ENAMETOOLONG)
        return fail_write(out, err);
    if (out->path[n - 1] == '/' || (exists && S_ISDIR(st.st_mode)))
        return clv_fail(err, CLV_EIO, "cannot write %s: it is a folder, expected a file name",
                        out->path);
    if (clv_is_stream(out->path)) {
        out->is.fd = open(out->place, O_WRONLY | O_CLOEXEC);
        out->no_kernel_copy = true;
        return out->is.fd < 0 ? fail_write(out, err) : CLV_OK;
    }
    CLV_TRY(follow_links(out, exists, err));
    return open_beside(out, err);
}

static clv_out_file *new_out(const char *folder, const char *name, const clv_alloc *alloc)
{
    clv_arena *arena = clv_arena_new(alloc, 0);
    clv_out_file *out = arena ? CLV_NEW(arena, clv_out_file) : NULL;
    if (out) {
        out->arena = arena;
        out->folder = out->is.fd = -1;
        out->path = clv_arena_printf(arena, "%s%s%s", folder, *folder ? "/" : "", name);
        out->place = out->path;
    }
    if (out && out->path)
        return out;
    clv_arena_free(arena);
    return NULL;
}

clv_status clv_out_open(const char *path, const clv_alloc *alloc, clv_out_file **ret,
                        clv_error *err)
{
    assert(path && ret);
    clv_out_file *out = new_out("", path, alloc);
    clv_status status = out ? open_path(out, err) : clv_fail_nomem(err, "an output file");
    if (status == CLV_OK)
        *ret = out;
    else
        clv_out_abort(out);
    return status;
}

/* The folder is a temporary: nobody looks for the file yet, so it has its own name at once. */
clv_status clv_out_open_in(const clv_out_folder *folder, const char *name, const clv_alloc *alloc,
                           clv_out_file **ret, clv_error *err)
{
    clv_file_id id;
    clv_out_file *out = new_out(clv_out_folder_path(folder), name, alloc);
    if (!out)
        return clv_fail_nomem(err, "an output file");
    out->folder = clv_out_folder_fd(folder);
    out->lent = true;
    errno = EEXIST;
    if (clv_make_folders_inside(out->folder, name) == 0 &&
        clv_open_inside(out->folder, name, O_RDWR | O_CREAT, &out->is.fd, &id) ==
            CLV_INSIDE_OPENED) {
        *ret = out;
        return CLV_OK;
    }
    clv_status status = fail_write(out, err);
    clv_out_abort(out);
    return status;
}

clv_status clv_out_refuse(const char *path, const clv_onnx_file *file, const clv_model *model,
                          clv_arena *arena, clv_error *err)
{
    struct stat there, input;
    if (file->fd >= 0 && stat(path, &there) == 0 && fstat(file->fd, &input) == 0 &&
        there.st_dev == input.st_dev && there.st_ino == input.st_ino)
        return clv_fail(err, CLV_EUSAGE, "%s is the input itself, which is never written", path);
    for (int32_t i = 0; file->folder && i < model->n_external; i++) {
        clv_mark mark = clv_arena_mark(arena);
        char *data = clv_arena_printf(arena, "%s/%s", file->folder, model->external[i].at);
        if (!data)
            return clv_fail_nomem(err, "the name of an external file");
        bool same = clv_same_place(path, data);
        clv_arena_rewind(arena, mark);
        if (same)
            return clv_fail(err, CLV_EUSAGE,
                            "%s is where the input has external data, which is never written",
                            path);
    }
    return CLV_OK;
}

clv_status clv_out_refuse_opened(const clv_out_file *out, const clv_onnx_file *file,
                                 const clv_model *model, clv_error *err)
{
    struct stat there, input;
    if (out->folder < 0 || fstatat(out->folder, out->base, &there, AT_SYMLINK_NOFOLLOW) != 0)
        return CLV_OK;
    if (file->fd >= 0 && fstat(file->fd, &input) == 0 && there.st_dev == input.st_dev &&
        there.st_ino == input.st_ino)
        return clv_fail(err, CLV_EUSAGE, "%s is the input itself, which is never written",
                        out->path);
    for (int32_t i = 0; file->folder_fd >= 0 && i < model->n_external; i++) {
        clv_file_id id;
        int fd = -1;
        if (clv_open_inside(file->folder_fd, model->external[i].at, O_RDONLY, &fd, &id) !=
            CLV_INSIDE_OPENED)
            continue;
        close(fd);
        if (there.st_dev == id.device && there.st_ino == id.number)
            return clv_fail(err, CLV_EUSAGE,
                            "%s is where the input has external data, which is never written",
                            out->path);
    }
    return CLV_OK;
}

clv_status clv_out_try(const char *path, const clv_alloc *alloc, clv_error *err)
{
    clv_out_file *out;
    if (clv_is_stream(path)) /* opening a pipe may wait, or end its reader */
        return CLV_OK;
    CLV_TRY(clv_out_open(path, alloc, &out, err));
    clv_out_abort(out);
    return CLV_OK;
}

clv_sink clv_out_sink(clv_out_file *out)
{
    return (clv_sink){ .write = write_all, .from_file = copy_range, .ctx = out };
}

/* Closes it, for what closing says; a copy of the descriptor holds the temporary's lock on. */
static clv_status close_written(clv_out_file *out, clv_error *err)
{
    int fd = out->is.fd, copy = *out->is.name ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    out->is.fd = copy;
    return close(fd) != 0 || (*out->is.name && copy < 0) ? fail_write(out, err) : CLV_OK;
}

clv_status clv_out_commit(clv_out_file *out, clv_error *err)
{
    clv_status status = close_written(out, err);
    if (status == CLV_OK && *out->is.name &&
        renameat(out->folder, out->is.name, out->folder, out->base) != 0)
        status = fail_write(out, err);
    if (status == CLV_OK)
        out->is.name[0] = '\0';
    clv_out_abort(out);
    return status;
}

clv_status clv_out_commit_unit(clv_out_file *const *outs, int32_t n, clv_error *err)
{
    clv_status status = CLV_OK;
    clv_renaming *at = CLV_NEW_ARRAY(outs[0]->arena, clv_renaming, n);
    if (!at)
        status = clv_fail_nomem(err, "output files");
    for (int32_t i = 0; i < n && status == CLV_OK; i++) {
        assert(*outs[i]->is.name);
        at[i] = (clv_renaming){ outs[i]->folder, outs[i]->is.name, outs[i]->base, false };
        status = close_written(outs[i], err);
    }
    if (status == CLV_OK)
        status = clv_unit_commit(&(clv_unit){ at, n, outs[0]->path }, outs[0]->arena, err);
    for (int32_t i = n; i-- > 0;)
        clv_out_abort(outs[i]); /* the temporary names have what was there before */
    return status;
}

void clv_out_abort(clv_out_file *out)
{
    if (!out)
        return;
    clv_temporary_remove(out->folder, &out->is);
    if (out->folder >= 0 && !out->lent)
        close(out->folder);
    clv_arena_free(out->arena);
}
