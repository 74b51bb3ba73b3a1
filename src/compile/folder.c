#include "compile/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPEN_AT_ONCE 16 /* folders that nftw() keeps open */

clv_status clv_folder_make(const char *parent, clv_arena *arena, const char **ret, clv_error *err)
{
    char *real = realpath(parent, NULL);
    char *path = clv_arena_printf(arena, "%s/cleave-XXXXXX", real ? real : parent);
    bool found = real != NULL;
    free(real);
    if (!path)
        return clv_fail_nomem(err, "a folder's name");
    if (!found || !mkdtemp(path))
        return clv_fail(err, CLV_EIO, "cannot make a folder in '%s': %s", parent, strerror(errno));
    *ret = path;
    return CLV_OK;
}

static bool write_all(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, text, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        text += done;
        n -= (size_t)done;
    }
    return true;
}

clv_status clv_folder_write(const char *folder, const char *name, const char *text, size_t n,
                            clv_arena *arena, clv_error *err)
{
    const char *path = clv_arena_printf(arena, "%s/%s", folder, name);
    if (!path)
        return clv_fail_nomem(err, "a file's name");
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool done = fd >= 0 && write_all(fd, text, n);
    int fault = errno;
    if (fd >= 0 && close(fd) != 0 && done) {
        done = false;
        fault = errno;
    }
    return done ? CLV_OK : clv_fail(err, CLV_EIO, "cannot write '%s': %s", path, strerror(fault));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

void clv_folder_remove(const char *folder)
{
    nftw(folder, remove_one, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}
