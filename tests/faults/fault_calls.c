/* fault_calls.c - loaded before libc (LD_PRELOAD): something happens right before a given call on
 * files of a program, counted from 1. What it is, is in CLEAVE_FAULT:
 *
 *     kill:K            the program is killed
 *     swap:K:FROM:TO    FROM is renamed to TO, which replaces it
 *     blink:K:FROM:TO:BACK   the same, and before the next call BACK comes in its place
 *     shrink:K:N:PATH   the file gets N bytes
 *     full:N            after N bytes in all, writing fails with ENOSPC
 *     count:FD          nothing; at the end the number of calls is written to the descriptor
 *
 * So a campaign can put a fault between any two calls, and needs no luck with times.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_long calls, room;
static long at = -1, size = -1;
static char kind, from[4096], to[4096], back[4096];

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("CLEAVE_FAULT");
    if (!text)
        return;
    if (sscanf(text, "kill:%ld", &at) == 1)
        kind = 'k';
    else if (sscanf(text, "swap:%ld:%4095[^:]:%4095[^:]", &at, from, to) == 3)
        kind = 's';
    else if (sscanf(text, "blink:%ld:%4095[^:]:%4095[^:]:%4095[^:]", &at, from, to, back) == 4)
        kind = 'b';
    else if (sscanf(text, "shrink:%ld:%ld:%4095[^:]", &at, &size, from) == 3)
        kind = 't';
    else if (sscanf(text, "full:%ld", &size) == 1)
        kind = 'f';
    else if (sscanf(text, "count:%ld", &size) == 1)
        kind = 'c';
    atomic_store(&room, size);
    unsetenv("LD_PRELOAD"); /* not of what the program starts */
    unsetenv("CLEAVE_FAULT");
}

__attribute__((destructor)) static void end(void)
{
    if (kind == 'c')
        dprintf((int)size, "%ld", atomic_load(&calls));
}

static void before(void)
{
    long now = atomic_fetch_add(&calls, 1) + 1;
    int error = errno;
    if (now == at && kind == 'k')
        kill(getpid(), SIGKILL);
    if (now == at && (kind == 's' || kind == 'b'))
        REAL(rename)(from, to);
    if (now == at + 1 && kind == 'b')
        REAL(rename)(back, to);
    if (now == at && kind == 't')
        truncate(from, size);
    errno = error;
}

/* Of n bytes those that still have room; -1: none. */
static ssize_t fitting(size_t n)
{
    if (kind != 'f' || n == 0)
        return (ssize_t)n;
    long left = atomic_fetch_sub(&room, (long)n);
    if (left <= 0) {
        errno = ENOSPC;
        return -1;
    }
    return left < (long)n ? left : (ssize_t)n;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = va_arg(args, mode_t);                                                        \
        va_end(args);                                                                              \
        before();                                                                                  \
        return REAL(name)(path, flags, mode);                                                      \
    }
#define OPENAT(name)                                                                               \
    int name(int folder, const char *path, int flags, ...)                                         \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = va_arg(args, mode_t);                                                        \
        va_end(args);                                                                              \
        before();                                                                                  \
        return REAL(name)(folder, path, flags, mode);                                              \
    }
#define CALL(result, name, declared, given)                                                        \
    result name declared                                                                           \
    {                                                                                              \
        before();                                                                                  \
        return REAL(name) given;                                                                   \
    }
#define WRITE(name, declared, given)                                                               \
    ssize_t name declared                                                                          \
    {                                                                                              \
        before();                                                                                  \
        ssize_t part = fd > 2 ? fitting(n) : (ssize_t)n;                                           \
        if (part < 0)                                                                              \
            return -1;                                                                             \
        n = (size_t)part;                                                                          \
        return REAL(name) given;                                                                   \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
CALL(int, stat, (const char *path, struct stat *st), (path, st))
CALL(int, lstat, (const char *path, struct stat *st), (path, st))
CALL(int, fstat, (int fd, struct stat *st), (fd, st))
CALL(int, fstatat, (int fd, const char *path, struct stat *st, int flags), (fd, path, st, flags))
CALL(char *, realpath, (const char *path, char *ret), (path, ret))
CALL(ssize_t, readlinkat, (int fd, const char *path, char *ret, size_t n), (fd, path, ret, n))
CALL(ssize_t, pread, (int fd, void *ret, size_t n, off_t offset), (fd, ret, n, offset))
CALL(ssize_t, pread64, (int fd, void *ret, size_t n, off_t offset), (fd, ret, n, offset))
CALL(int, rename, (const char *a, const char *b), (a, b))
CALL(int, renameat, (int x, const char *a, int y, const char *b), (x, a, y, b))
CALL(int, renameat2, (int x, const char *a, int y, const char *b, unsigned f), (x, a, y, b, f))
CALL(int, unlink, (const char *path), (path))
CALL(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode))
CALL(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
CALL(int, ftruncate, (int fd, off_t n), (fd, n))
CALL(int, flock, (int fd, int what), (fd, what))
CALL(int, close, (int fd), (fd))
WRITE(write, (int fd, const void *bytes, size_t n), (fd, bytes, n))
WRITE(pwrite, (int fd, const void *bytes, size_t n, off_t offset), (fd, bytes, n, offset))
WRITE(pwrite64, (int fd, const void *bytes, size_t n, off_t offset), (fd, bytes, n, offset))
WRITE(copy_file_range, (int fd_in, off_t *at_in, int fd, off_t *at_out, size_t n, unsigned flags),
      (fd_in, at_in, fd, at_out, n, flags))

/* What has no function in every C library: renameat2(). */
long syscall(long number, ...)
{
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    before();
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Takes the room at once, as the system's does. */
int fallocate(int fd, int mode, off_t offset, off_t n)
{
    before();
    if (kind == 'f' && atomic_load(&room) < (long)n) {
        errno = ENOSPC;
        return -1;
    }
    return REAL(fallocate)(fd, mode, offset, n);
}
