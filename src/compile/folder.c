#include "compile/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open_inside.h"
#include "base/rename_unit.h"

#define OPEN_AT_ONCE 16 /* folders that nftw() keeps open */

void clv_folder_tidy(const char *parent)
{
    int fd = clv_open_folder(parent);
    if (fd < 0)
        return;
    clv_tidy_folder(fd);
    close(fd);
}

static clv_status make_in(clv_folder *folder, const char *parent, const char *real,
                          clv_arena *arena, clv_error *err)
{
    if (!real || (folder->parent = clv_open_folder(real)) < 0 ||
        !clv_temporary_private(folder->parent, "cleave", &folder->is))
        return clv_fail(err, CLV_EIO, "cannot make a folder in '%s': %s", parent, strerror(errno));
    folder->path = clv_arena_printf(arena, "%s/%s", real, folder->is.name);
    return folder->path ? CLV_OK : clv_fail_nomem(err, "a folder's name");
}

static void let_go(clv_folder *folder)
{
    clv_temporary_remove(folder->parent, &folder->is);
    if (folder->parent >= 0)
        close(folder->parent);
}

clv_status clv_folder_make(const char *parent, clv_arena *arena, clv_folder *ret, clv_error *err)
{
    clv_folder made = { .parent = -1, .is = { .fd = -1 } };
    char *real = realpath(parent, NULL);
    clv_status status = make_in(&made, parent, real, arena, err);
    free(real);
    if (status == CLV_OK)
        *ret = made;
    else
        let_go(&made);
    return status;
}

void clv_folder_remove(clv_folder *folder)
{
    clv_folder_clear(folder->path);
    let_go(folder);
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

void clv_folder_clear(const char *path)
{
    nftw(path, remove_one, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}
