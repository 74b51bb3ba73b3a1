#include "proto/out_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/streams.h"

/* Written beside its place under a name that nobody else has, then renamed, so that there is never
 * half a model under the name that was asked for. What exists and is no regular file (a pipe,
 * /dev/null) is written to as it is.
 *
 * There is no fsync before the rename: it would wait until the disk has a whole model, and the
 * model can be made again, as the input is never written to. The end of the program, however
 * sudden, leaves the old file or the new one, and at worst a temporary beside it. A crash of the
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
#define NAME_TRIES  100

struct clv_out_file {
    clv_arena *arena;  /* holds this */
    const char *path;  /* as given, for messages */
    const char *place; /* of the file: where the links of path lead */
    char *temporary;   /* NULL: place itself is written to */
    int fd;
    uint64_t at; /* bytes written */
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
        ssize_t done = write(out->fd, at, n);
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
            return clv_fail(err, CLV_EIO, "%s became shorter while it was copied", file->name);
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
        ssize_t done = copy_file_range(file->fd, &at, out->fd, NULL, part, 0);
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

/* ".name.PID.K.tmp" in the folder of the place, which then has the mode of any new file. */
static clv_status open_beside(clv_out_file *out, clv_error *err)
{
    const char *slash = strrchr(out->place, '/');
    const char *base = slash ? slash + 1 : out->place;
    for (int k = 0; k < NAME_TRIES; k++) {
        clv_mark mark = clv_arena_mark(out->arena);
        out->temporary =
            clv_arena_printf(out->arena, "%.*s.%.200s.%ld.%d.tmp", (int)(base - out->place),
                             out->place, base, (long)getpid(), k);
        if (!out->temporary)
            return clv_fail_nomem(err, "an output file");
        out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (out->fd >= 0)
            return CLV_OK;
        int error = errno;
        clv_arena_rewind(out->arena, mark);
        out->temporary = NULL;
        errno = error;
        if (error != EEXIST)
            break;
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
        out->fd = open(out->place, O_WRONLY | O_CLOEXEC);
        out->no_kernel_copy = true;
        return out->fd < 0 ? fail_write(out, err) : CLV_OK;
    }
    CLV_TRY(follow_links(out, exists, err));
    return open_beside(out, err);
}

clv_status clv_out_open(const char *path, const clv_alloc *alloc, clv_out_file **ret,
                        clv_error *err)
{
    assert(path && ret);
    clv_arena *arena = clv_arena_new(alloc, 0);
    clv_out_file *out = arena ? CLV_NEW(arena, clv_out_file) : NULL;
    if (out) {
        out->arena = arena;
        out->fd = -1;
        out->place = out->path = clv_arena_printf(arena, "%s", path);
    }
    clv_status status =
        out && out->path ? open_path(out, err) : clv_fail_nomem(err, "an output file");
    if (status == CLV_OK)
        *ret = out;
    else
        clv_arena_free(arena);
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

clv_status clv_out_commit(clv_out_file *out, clv_error *err)
{
    clv_status status = CLV_OK;
    int fd = out->fd;
    out->fd = -1;
    if (close(fd) != 0 || (out->temporary && rename(out->temporary, out->place) != 0))
        status = fail_write(out, err);
    else
        out->temporary = NULL;
    clv_out_abort(out);
    return status;
}

void clv_out_abort(clv_out_file *out)
{
    if (!out)
        return;
    if (out->fd >= 0)
        close(out->fd);
    if (out->temporary)
        unlink(out->temporary);
    clv_arena_free(out->arena);
}
