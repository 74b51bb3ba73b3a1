#include "base/out_folder.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open_inside.h"
#include "base/rename_unit.h"
#include "base/temporary.h"

struct clv_out_folder {
    clv_arena *arena;    /* holds this */
    const char *place;   /* as given */
    const char *base;    /* its last name */
    int parent;          /* the folder that it is in */
    clv_temporary is;    /* what is written */
    const char *is_path; /* for messages */
};

static bool is_empty(int parent, const char *base)
{
    int fd = openat(parent, base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    bool empty = dir != NULL;
    for (struct dirent *e; dir && empty && (e = readdir(dir));)
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return empty;
}

static clv_status fail(const clv_out_folder *out, clv_error *err)
{
    return clv_fail(err, CLV_EIO, "cannot make the folder %s: %s", out->place, strerror(errno));
}

static clv_status check_place(const clv_out_folder *out, clv_error *err)
{
    struct stat st;
    if (fstatat(out->parent, out->base, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? CLV_OK : fail(out, err);
    if (!S_ISDIR(st.st_mode))
        return clv_fail(err, CLV_EUSAGE, "%s exists and is no folder, expected a new folder",
                        out->place);
    if (!is_empty(out->parent, out->base))
        return clv_fail(err, CLV_EUSAGE, "%s exists and is not empty, expected a new folder",
                        out->place);
    return CLV_OK;
}

static clv_status make_temporary(clv_out_folder *out, clv_error *err)
{
    clv_tidy_folder(out->parent);
    if (!clv_temporary_folder(out->parent, out->base, &out->is))
        return fail(out, err);
    out->is_path = clv_arena_printf(out->arena, "%.*s%s", (int)(out->base - out->place), out->place,
                                    out->is.name);
    return out->is_path ? CLV_OK : clv_fail_nomem(err, "an output folder");
}

static clv_status open_place(clv_out_folder *out, clv_error *err)
{
    if (*out->place == '\0')
        return clv_fail(err, CLV_EUSAGE, "the name of the output folder is empty");
    out->parent = clv_open_folder_of(out->place, &out->base);
    if (out->parent < 0 && errno == ENOENT)
        return clv_fail(err, CLV_EIO,
                        "cannot make the folder %s: the folder that it is to be in "
                        "does not exist",
                        out->place);
    if (out->parent < 0)
        return fail(out, err);
    if (*out->base == '\0')
        out->base = "."; /* "/" */
    CLV_TRY(check_place(out, err));
    return make_temporary(out, err);
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
    if (!out) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "an output folder");
    }
    out->arena = arena;
    out->parent = out->is.fd = -1;
    out->place = clv_arena_printf(arena, "%.*s", (int)n, path);
    clv_status status = out->place ? open_place(out, err) : clv_fail_nomem(err, "an output folder");
    if (status == CLV_OK)
        *ret = out;
    else
        clv_out_folder_abort(out);
    return status;
}

const char *clv_out_folder_path(const clv_out_folder *out) { return out->is_path; }
int clv_out_folder_fd(const clv_out_folder *out) { return out->is.fd; }
const char *clv_out_folder_name(const clv_out_folder *out) { return out->is.name; }
int clv_out_folder_parent(const clv_out_folder *out) { return out->parent; }

clv_status clv_out_folder_commit(clv_out_folder *out, clv_error *err)
{
    clv_status status = CLV_OK;
    if (renameat(out->parent, out->is.name, out->parent, out->base) == 0)
        out->is.name[0] = '\0';
    else
        status = fail(out, err);
    clv_out_folder_abort(out);
    return status;
}

void clv_out_folder_abort(clv_out_folder *out)
{
    if (!out)
        return;
    clv_temporary_remove(out->parent, &out->is);
    if (out->parent >= 0)
        close(out->parent);
    clv_arena_free(out->arena);
}
