#include "proto/onnx_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* One page touched brings its neighbours with it, so a walk that hops from tensor to tensor can
 * fill memory with weights it never looked at. Every TRAIL bytes what lies behind is let go.
 */
#define TRAIL ((size_t)4 << 20)

void clv_onnx_passed(const clv_onnx_file *file, clv_onnx_trail *trail, const uint8_t *at)
{
    size_t now = (size_t)(at - file->bytes);
    if (now < trail->kept_from)
        trail->kept_from = now / TRAIL * TRAIL; /* a new walk over the same bytes */
    if (file->fd < 0 || now - trail->kept_from < 2 * TRAIL)
        return;
    size_t end = now / TRAIL * TRAIL; /* a multiple of any page size */
    /* Only advice: were it refused, the walk would still be right. */
    (void)madvise((void *)(uintptr_t)(file->bytes + trail->kept_from), end - trail->kept_from,
                  MADV_DONTNEED);
    trail->kept_from = end;
}

static clv_onnx_file *new_file(const clv_alloc *alloc)
{
    clv_arena *arena = clv_arena_new(alloc, 0);
    clv_onnx_file *file = arena ? CLV_NEW(arena, clv_onnx_file) : NULL;
    if (!file) {
        clv_arena_free(arena);
        return NULL;
    }
    file->arena = arena;
    file->fd = -1;
    return file;
}

static clv_status check_not_empty(const clv_onnx_file *file, clv_error *err)
{
    if (file->n == 0)
        return clv_fail(err, CLV_EFORMAT, "%s is empty: expected an ONNX model", file->name);
    return CLV_OK;
}

static clv_status map_file(clv_onnx_file *file, const char *path, clv_error *err)
{
    struct stat st;
    /* O_NONBLOCK: a pipe is to be refused, not waited for. */
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0)
        return clv_fail(err, CLV_EIO, "cannot open %s: %s", path, strerror(errno));
    if (fstat(file->fd, &st) != 0)
        return clv_fail(err, CLV_EIO, "cannot look at %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return clv_fail(err, CLV_EIO, "%s is %s: expected an ONNX model file", path,
                        S_ISDIR(st.st_mode) ? "a folder" : "not a regular file");
    file->n = (size_t)st.st_size;
    CLV_TRY(check_not_empty(file, err));
    void *p = mmap(NULL, file->n, PROT_READ, MAP_PRIVATE, file->fd, 0);
    if (p == MAP_FAILED) {
        file->n = 0;
        return clv_fail(err, errno == ENOMEM ? CLV_ENOMEM : CLV_EIO, "cannot map %s: %s", path,
                        strerror(errno));
    }
    file->bytes = p;
    (void)madvise(p, file->n, MADV_RANDOM); /* no reading ahead into weights */
    return CLV_OK;
}

clv_status clv_onnx_open(const char *path, const clv_alloc *alloc, clv_onnx_file **ret,
                         clv_error *err)
{
    assert(path && ret);
    clv_onnx_file *file = new_file(alloc);
    if (!file)
        return clv_fail_nomem(err, "a model file");
    const char *slash = strrchr(path, '/');
    int n = slash == path ? 1 : (int)(slash ? slash - path : 0);
    file->name = clv_arena_printf(file->arena, "%s", path);
    file->folder = slash ? clv_arena_printf(file->arena, "%.*s", n, path) : ".";
    clv_status status = file->name && file->folder ? map_file(file, path, err)
                                                   : clv_fail_nomem(err, "a model file");
    if (status != CLV_OK)
        clv_onnx_close(file);
    else
        *ret = file;
    return status;
}

clv_status clv_onnx_open_bytes(const void *bytes, size_t n, const char *folder,
                               const clv_alloc *alloc, clv_onnx_file **ret, clv_error *err)
{
    assert((bytes || n == 0) && ret);
    clv_onnx_file *file = new_file(alloc);
    if (!file)
        return clv_fail_nomem(err, "a model");
    file->bytes = bytes;
    file->n = n;
    file->name = "model";
    clv_status status = check_not_empty(file, err);
    if (folder) {
        file->folder = clv_arena_printf(file->arena, "%s", folder);
        if (!file->folder && status == CLV_OK)
            status = clv_fail_nomem(err, "a model");
    }
    if (status != CLV_OK)
        clv_onnx_close(file);
    else
        *ret = file;
    return status;
}

void clv_onnx_close(clv_onnx_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0) {
        if (file->bytes)
            munmap((void *)(uintptr_t)file->bytes, file->n);
        close(file->fd);
    }
    clv_arena_free(file->arena);
}
