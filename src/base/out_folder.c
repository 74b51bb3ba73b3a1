#include "base/out_folder.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_TRIES   100
#define WALK_FOLDERS 16 /* open at a time while a folder is removed */

struct clv_out_folder {
    clv_arena *arena; /* holds this */
    const char *place, *temporary;
};

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st, (void)kind, (void)walk;
    return remove(path) != 0 && errno != ENOENT;
}

static bool is_empty(const char *path)
{
    DIR *dir = opendir(path);
    bool empty = dir != NULL;
    for (struct dirent *e; dir && empty && (e = readdir(dir));)
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    if (dir)
        closedir(dir);
    return empty;
}

static clv_status check_place(const char *place, clv_error *err)
{
    struct stat st;
    if (*place == '\0')
        return clv_fail(err, CLV_EUSAGE, "the name of the output folder is empty");
    if (lstat(place, &st) != 0)
        return errno == ENOENT ? CLV_OK
                               : clv_fail(err, CLV_EIO, "cannot make the folder %s: %s", place,
                                          strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return clv_fail(err, CLV_EUSAGE, "%s exists and is no folder, expected a new folder",
                        place);
    if (!is_empty(place))
        return clv_fail(err, CLV_EUSAGE, "%s exists and is not empty, expected a new folder",
                        place);
    return CLV_OK;
}

/* "NAME.tmp-PID-K" beside the place; of a long name the first bytes, as a name has 255 at most. */
static clv_status make_temporary(clv_out_folder *out, clv_error *err)
{
    const char *slash = strrchr(out->place, '/'), *base = slash ? slash + 1 : out->place;
    for (int k = 0; k < NAME_TRIES; k++) {
        clv_mark mark = clv_arena_mark(out->arena);
        char *name = clv_arena_printf(out->arena, "%.*s%.200s.tmp-%ld-%d", (int)(base - out->place),
                                      out->place, base, (long)getpid(), k);
        if (!name)
            return clv_fail_nomem(err, "an output folder");
        if (mkdir(name, 0777) == 0) {
            out->temporary = name;
            return CLV_OK;
        }
        int error = errno;
        clv_arena_rewind(out->arena, mark);
        errno = error;
        if (error != EEXIST)
            break;
    }
    if (errno == ENOENT)
        return clv_fail(err, CLV_EIO,
                        "cannot make the folder %s: the folder that it is to be in "
                        "does not exist",
                        out->place);
    return clv_fail(err, CLV_EIO, "cannot make the folder %s: %s", out->place, strerror(errno));
}

clv_status clv_out_folder_open(const char *path, const clv_alloc *alloc, clv_out_folder **ret,
                               clv_error *err)
{
    assert(path && ret);
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    clv_arena *arena = clv_arena_new(alloc, 0);
    clv_out_folder *out = arena ? CLV_NEW(arena, clv_out_folder) : NULL;
    if (out) {
        out->arena = arena;
        out->place = clv_arena_printf(arena, "%.*s", (int)n, path);
    }
    clv_status status =
        out && out->place ? check_place(out->place, err) : clv_fail_nomem(err, "an output folder");
    if (status == CLV_OK)
        status = make_temporary(out, err);
    if (status == CLV_OK)
        *ret = out;
    else
        clv_arena_free(arena);
    return status;
}

const char *clv_out_folder_path(const clv_out_folder *out) { return out->temporary; }

clv_status clv_out_folder_commit(clv_out_folder *out, clv_error *err)
{
    clv_status status = CLV_OK;
    if (rename(out->temporary, out->place) == 0)
        out->temporary = NULL;
    else
        status =
            clv_fail(err, CLV_EIO, "cannot make the folder %s: %s", out->place, strerror(errno));
    clv_out_folder_abort(out);
    return status;
}

void clv_out_folder_abort(clv_out_folder *out)
{
    if (!out)
        return;
    if (out->temporary)
        (void)nftw(out->temporary, remove_one, WALK_FOLDERS, FTW_DEPTH | FTW_PHYS);
    clv_arena_free(out->arena);
}
