#include "weights/file_set.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BUFFER ((size_t)1 << 20)
/* The longer and the more even a write is, the larger the pieces of memory that the kernel looks
 * for to keep it; a virtual machine may have to get those from its host, which takes several times
 * as long as the copy. From here on longer ones are not faster. */
#define WRITE_MAX ((size_t)64 << 10)
#define PAGE      4096

typedef struct {
    clv_file_inside file;
    int fd;               /* -1: not open */
    bool writes, created; /* created: it is ours already, and is opened again */
    bool known;
    clv_file_id is; /* known: which file it was when it was opened first, or looked at */
} entry;

struct clv_files {
    clv_disk disk;
    clv_arena *arena;
    entry *at;
    int32_t n, cap;
    int32_t open[CLV_DISK_OPEN]; /* ids, in a ring: the one opened first is closed first */
    int32_t n_open, next;
    uint8_t *buffer;
};

static ssize_t system_read(void *ctx, int fd, void *to, size_t n, off_t offset)
{
    (void)ctx;
    return pread(fd, to, n, offset);
}

static ssize_t system_write(void *ctx, int fd, const void *from, size_t n, off_t offset)
{
    (void)ctx;
    return pwrite(fd, from, n, offset);
}

clv_status clv_files_new(const clv_disk *disk, clv_arena *arena, clv_files **ret, clv_error *err)
{
    clv_files *files = CLV_NEW(arena, clv_files);
    if (!files)
        return clv_fail_nomem(err, "a set of files");
    files->arena = arena;
    files->disk = disk ? *disk : (clv_disk){ system_read, system_write, NULL };
    *ret = files;
    return CLV_OK;
}

clv_status clv_files_twin(const clv_files *files, clv_arena *arena, clv_files **ret, clv_error *err)
{
    CLV_TRY(clv_files_new(&files->disk, arena, ret, err));
    for (int32_t i = 0; i < files->n; i++) {
        int32_t id = i;
        const entry *e = &files->at[i];
        CLV_TRY(clv_files_add(*ret, &e->file, e->writes, e->known ? &e->is : NULL, &id, err));
        (*ret)->at[id].created = e->created;
    }
    return CLV_OK;
}

static clv_status fail_errno(const entry *e, const char *what, clv_error *err)
{
    return clv_fail(err, CLV_EIO, "cannot %s %s: %s", what, e->file.path, strerror(errno));
}

static clv_status close_one(entry *e, clv_error *err)
{
    int fd = e->fd;
    e->fd = -1;
    return fd >= 0 && close(fd) != 0 && e->writes ? fail_errno(e, "write", err) : CLV_OK;
}

clv_status clv_files_flush(clv_files *files, clv_error *err)
{
    clv_status status = CLV_OK;
    for (int32_t i = 0; i < files->n_open; i++) {
        clv_status closed = close_one(&files->at[files->open[i]], status == CLV_OK ? err : NULL);
        if (status == CLV_OK)
            status = closed;
    }
    files->n_open = files->next = 0;
    return status;
}

void clv_files_close(clv_files *files)
{
    if (files)
        (void)clv_files_flush(files, NULL);
}

clv_status clv_files_add(clv_files *files, const clv_file_inside *file, bool create,
                         const clv_file_id *known, int32_t *ret_id, clv_error *err)
{
    entry e = { .file = *file, .fd = -1, .writes = create, .known = known != NULL };
    e.file.path = clv_arena_printf(files->arena, "%s", file->path);
    e.file.name = clv_arena_printf(files->arena, "%s", file->name);
    if (known)
        e.is = *known;
    if (!e.file.path || !e.file.name ||
        !CLV_PUSH_ROOM(files->arena, files->at, files->n, files->cap))
        return clv_fail_nomem(err, "a set of files");
    *ret_id = files->n;
    files->at[files->n++] = e;
    return CLV_OK;
}

clv_status clv_files_lend(clv_files *files, int fd, const char *path, int32_t *ret_id,
                          clv_error *err)
{
    clv_file_inside file = { -1, path, path };
    CLV_TRY(clv_files_add(files, &file, false, NULL, ret_id, err));
    files->at[*ret_id].fd = fd;
    return CLV_OK; /* not in the ring of open ones, so it is never closed */
}

const char *clv_files_path(const clv_files *files, int32_t id) { return files->at[id].file.path; }

static clv_status open_new(entry *e, clv_error *err)
{
    switch (clv_open_inside(e->file.folder, e->file.name, O_RDWR | (e->created ? 0 : O_CREAT),
                            &e->fd, &e->is)) {
    case CLV_INSIDE_OPENED:
        e->created = true;
        return CLV_OK;
    case CLV_INSIDE_ABSENT:
        errno = ENOENT;
        break;
    case CLV_INSIDE_LEAVES:
    case CLV_INSIDE_NOT_REGULAR:
        return clv_fail(err, CLV_EIO, "%s was replaced while it was written", e->file.path);
    case CLV_INSIDE_FAILED:
        break;
    }
    return fail_errno(e, "write", err);
}

/* What was opened before, or looked at, has to be the same file again. Of one that is written only
 * the size changes. */
static clv_status open_entry(entry *e, clv_error *err)
{
    clv_file_id was = e->is;
    CLV_TRY(e->writes ? open_new(e, err) : clv_open_inside_or_fail(&e->file, &e->fd, &e->is, err));
    bool same = e->is.device == was.device && e->is.number == was.number &&
                (e->writes || e->is.bytes == was.bytes);
    if (!e->known || same) {
        e->known = true;
        return CLV_OK;
    }
    int64_t bytes = e->is.bytes;
    bool is_short = e->is.device == was.device && e->is.number == was.number && bytes < was.bytes;
    e->is = was;
    (void)close(e->fd);
    e->fd = -1;
    if (is_short && !e->writes)
        return clv_fail(err, CLV_EIO,
                        "%s became shorter while it was read: it has %lld bytes, expected %lld",
                        e->file.path, (long long)bytes, (long long)was.bytes);
    return clv_fail(err, CLV_EIO, "%s was replaced while it was %s", e->file.path,
                    e->writes ? "written" : "read");
}

/* Opens the file if it is not; at the limit the one that was opened first is closed. */
static clv_status ensure_open(clv_files *files, int32_t id, clv_error *err)
{
    if (files->at[id].fd >= 0)
        return CLV_OK;
    CLV_TRY(open_entry(&files->at[id], err));
    if (files->n_open < CLV_DISK_OPEN) {
        files->open[files->n_open++] = id;
        return CLV_OK;
    }
    int32_t old = files->open[files->next];
    files->open[files->next] = id;
    files->next = (files->next + 1) % CLV_DISK_OPEN;
    return close_one(&files->at[old], err);
}

clv_status clv_files_size(clv_files *files, int32_t id, int64_t *ret_bytes, clv_error *err)
{
    struct stat st;
    CLV_TRY(ensure_open(files, id, err));
    if (fstat(files->at[id].fd, &st) != 0)
        return fail_errno(&files->at[id], "look at", err);
    if (ret_bytes)
        *ret_bytes = st.st_size;
    return CLV_OK;
}

clv_status clv_files_read(clv_files *files, int32_t id, void *to, size_t n, int64_t offset,
                          clv_error *err)
{
    uint8_t *at = to;
    CLV_TRY(ensure_open(files, id, err));
    while (n) {
        ssize_t got = files->disk.read(files->disk.ctx, files->at[id].fd, at, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno(&files->at[id], "read", err);
        if (got == 0)
            return clv_fail(err, CLV_EIO, "%s is cut short: it ends at byte %lld, expected more",
                            files->at[id].file.path, (long long)offset);
        at += got;
        n -= (size_t)got;
        offset += got;
    }
    return CLV_OK;
}

clv_status clv_files_write(clv_files *files, int32_t id, const void *from, size_t n, int64_t offset,
                           clv_error *err)
{
    const uint8_t *at = from;
    assert(files->at[id].writes);
    CLV_TRY(ensure_open(files, id, err));
    while (n) {
        size_t room = WRITE_MAX - (size_t)offset % WRITE_MAX, part = n < room ? n : room;
        ssize_t done =
            files->disk.write(files->disk.ctx, files->at[id].fd, at, part, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_errno(&files->at[id], "write", err);
        at += done;
        n -= (size_t)done;
        offset += done;
    }
    return CLV_OK;
}

clv_status clv_files_copy(clv_files *files, clv_file_pos from, clv_file_pos to, int64_t n,
                          clv_checksum_state *sum, clv_error *err)
{
    if (!files->buffer) { /* on a whole page: unaligned copies by the kernel take several times as
                             long */
        uint8_t *raw = clv_arena_take(files->arena, COPY_BUFFER + PAGE);
        if (!raw)
            return clv_fail_nomem(err, "a copy buffer");
        files->buffer = raw + (PAGE - (uintptr_t)raw % PAGE);
    }
    for (int64_t part; n > 0; from.offset += part, to.offset += part, n -= part) {
        part = n < (int64_t)COPY_BUFFER ? n : (int64_t)COPY_BUFFER;
        CLV_TRY(clv_files_read(files, from.id, files->buffer, (size_t)part, from.offset, err));
        if (sum)
            clv_checksum_add(sum, files->buffer, (size_t)part);
        CLV_TRY(clv_files_write(files, to.id, files->buffer, (size_t)part, to.offset, err));
    }
    return CLV_OK;
}

/* Takes the space at once, where the file system can: it is cheaper than page by page, and what is
 * not there is missed early. */
clv_status clv_files_resize(clv_files *files, int32_t id, int64_t bytes, clv_error *err)
{
    int failed = 0;
    CLV_TRY(ensure_open(files, id, err));
    int fd = files->at[id].fd;
    do
        failed = bytes > 0 ? fallocate(fd, 0, 0, (off_t)bytes) : 0;
    while (failed != 0 && errno == EINTR);
    bool is_full = failed != 0 && (errno == ENOSPC || errno == EDQUOT);
    if (is_full || ftruncate(fd, (off_t)bytes) != 0)
        return fail_errno(&files->at[id], "write", err);
    return CLV_OK;
}
