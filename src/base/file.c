#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static clv_status read_all(int fd, const char *path, size_t n, char *text, clv_error *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = read(fd, text + done, n - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return clv_fail(err, CLV_EIO, "could not read %s: %s", path, strerror(errno));
        if (got == 0)
            return clv_fail(err, CLV_EIO, "%s became shorter while it was read", path);
        done += (size_t)got;
    }
    return CLV_OK;
}

static clv_status check_size(int fd, const char *path, size_t max, size_t *ret, clv_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return clv_fail(err, CLV_EIO, "could not read %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return clv_fail(err, CLV_EIO, "%s is not a regular file", path);
    if ((size_t)st.st_size > max)
        return clv_fail(err, CLV_ELIMIT, "%s has %lld bytes: expected at most %zu", path,
                        (long long)st.st_size, max);
    *ret = (size_t)st.st_size;
    return CLV_OK;
}

clv_status clv_read_file(const char *path, size_t max, clv_arena *arena, const char **ret_text,
                         size_t *ret_n, clv_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang us */
    if (fd < 0)
        return clv_fail(err, CLV_EIO, "could not open %s: %s", path, strerror(errno));
    return clv_read_opened(&(clv_opened_file){ fd, path, max }, arena, ret_text, ret_n, err);
}

clv_status clv_read_inside(const clv_file_inside *file, size_t max, clv_arena *arena,
                           const char **ret_text, size_t *ret_n, clv_error *err)
{
    clv_opened_file opened = { -1, file->path, max };
    clv_file_id id;
    CLV_TRY(clv_open_inside_or_fail(file, &opened.fd, &id, err));
    return clv_read_opened(&opened, arena, ret_text, ret_n, err);
}

clv_status clv_read_folder_file(const clv_folder_file *file, clv_arena *arena,
                                const char **ret_text, size_t *ret_n, clv_error *err)
{
    clv_file_inside in = { -1, file->name,
                           clv_arena_printf(arena, "%s/%s", file->folder, file->name) };
    if (!in.path)
        return clv_fail_nomem(err, "a path");
    in.folder = clv_open_folder(file->folder);
    if (in.folder < 0)
        return clv_fail(err, CLV_EIO, "could not open %s: %s", file->folder, strerror(errno));
    clv_status status = clv_read_inside(&in, file->max, arena, ret_text, ret_n, err);
    close(in.folder);
    return status;
}

clv_status clv_read_opened(const clv_opened_file *file, clv_arena *arena, const char **ret_text,
                           size_t *ret_n, clv_error *err)
{
    char *text = NULL;
    size_t n = 0;
    clv_status status = check_size(file->fd, file->path, file->max, &n, err);
    if (status == CLV_OK && !(text = clv_arena_take(arena, n + 1)))
        status = clv_fail_nomem(err, file->path);
    if (status == CLV_OK)
        status = read_all(file->fd, file->path, n, text, err);
    close(file->fd);
    if (status == CLV_OK) {
        *ret_text = text;
        *ret_n = n;
    }
    return status;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool stat_folder(const char *path, struct stat *ret)
{
    char folder[PATH_MAX] = ".";
    size_t n = (size_t)(base_of(path) - path);
    if (n >= sizeof folder)
        return false;
    if (n > 0) {
        memcpy(folder, path, n);
        folder[n] = '\0';
    }
    return stat(folder, ret) == 0;
}

bool clv_same_place(const char *a, const char *b)
{
    struct stat x, y;
    if (stat(a, &x) == 0 && stat(b, &y) == 0)
        return same_inode(&x, &y);
    return strcmp(base_of(a), base_of(b)) == 0 && stat_folder(a, &x) && stat_folder(b, &y) &&
           same_inode(&x, &y);
}
