#include "proto/onnx_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open_inside.h"
#include "base/rename_unit.h"
#include "proto/onnx_image.h"

static clv_onnx_file *new_file(const clv_alloc *alloc)
{
    clv_arena *arena = clv_arena_new(alloc, 0);
    clv_onnx_file *file = arena ? CLV_NEW(arena, clv_onnx_file) : NULL;
    if (!file) {
        clv_arena_free(arena);
        return NULL;
    }
    file->arena = arena;
    file->fd = file->folder_fd = -1;
    return file;
}

static clv_status check_not_empty(const clv_onnx_file *file, clv_error *err)
{
    if (file->n == 0)
        return clv_fail(err, CLV_EFORMAT, "%s is empty: expected an ONNX model", file->name);
    return CLV_OK;
}

static clv_status look_at(clv_onnx_file *file, clv_error *err)
{
    struct stat st;
    if (fstat(file->fd, &st) != 0)
        return clv_fail(err, CLV_EIO, "cannot look at %s: %s", file->name, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return clv_fail(err, CLV_EIO, "%s is %s: expected an ONNX model file", file->name,
                        S_ISDIR(st.st_mode) ? "a folder" : "not a regular file");
    file->n = (size_t)st.st_size;
    return check_not_empty(file, err);
}

/* The folder first: the file is then opened in the very folder in which its external data is looked
 * for. The file may be a link; its folder is where the link is. */
static clv_status read_file(clv_onnx_file *file, bool is_model, clv_error *err)
{
    const char *base;
    file->folder_fd = clv_open_folder_of(file->name, &base);
    if (file->folder_fd >= 0)
        clv_finish_unit_of(file->folder_fd, base);
    /* O_NONBLOCK: a pipe is to be refused, not waited for. */
    if (file->folder_fd >= 0)
        file->fd = openat(file->folder_fd, *base ? base : ".", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0)
        return clv_fail(err, CLV_EIO, "cannot open %s: %s", file->name, strerror(errno));
    CLV_TRY(look_at(file, err));
    return clv_image_read(&(clv_image_file){ file->fd, file->name, file->n }, is_model,
                          &file->bytes, err);
}

static clv_status open_file(const char *path, bool is_model, const clv_alloc *alloc,
                            clv_onnx_file **ret, clv_error *err)
{
    assert(path && ret);
    clv_onnx_file *file = new_file(alloc);
    if (!file)
        return clv_fail_nomem(err, "a model file");
    const char *slash = strrchr(path, '/');
    int n = slash == path ? 1 : (int)(slash ? slash - path : 0);
    file->name = clv_arena_printf(file->arena, "%s", path);
    file->folder = slash ? clv_arena_printf(file->arena, "%.*s", n, path) : ".";
    clv_status status = file->name && file->folder ? read_file(file, is_model, err)
                                                   : clv_fail_nomem(err, "a model file");
    if (status != CLV_OK)
        clv_onnx_close(file);
    else
        *ret = file;
    return status;
}

clv_status clv_onnx_open(const char *path, const clv_alloc *alloc, clv_onnx_file **ret,
                         clv_error *err)
{
    return open_file(path, true, alloc, ret, err);
}

clv_status clv_onnx_open_whole(const char *path, const clv_alloc *alloc, clv_onnx_file **ret,
                               clv_error *err)
{
    return open_file(path, false, alloc, ret, err);
}

clv_status clv_onnx_read_bytes(const clv_onnx_file *file, uint64_t offset, void *to, size_t n,
                               clv_error *err)
{
    if (file->fd >= 0)
        return clv_image_bytes(&(clv_image_file){ file->fd, file->name, file->n }, offset, to, n,
                               err);
    if (n > 0)
        memcpy(to, file->bytes + offset, n);
    return CLV_OK;
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
        file->folder_fd =
            clv_open_folder(folder); /* that it is not there is said when it matters */
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
    if (file->folder_fd >= 0)
        close(file->folder_fd);
    clv_arena_free(file->arena);
}
