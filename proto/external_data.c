#include "proto/external_data.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

clv_status clv_external_init(clv_external *ext, const char *model, const char *folder,
                             clv_arena *arena, clv_error *err)
{
    *ext = (clv_external){ .model = model, .folder = folder, .arena = arena };
    return clv_map_init(&ext->by_location, arena, 0, err);
}

bool clv_external_number(clv_str text, int64_t *ret)
{
    int64_t value = 0;
    for (int32_t i = 0; i < text.n; i++) {
        char c = text.at[i];
        if (c < '0' || c > '9' || value > (INT64_MAX - (c - '0')) / 10)
            return false;
        value = value * 10 + (c - '0');
    }
    if (text.n > 0)
        *ret = value;
    return text.n > 0;
}

/* Does any part between slashes say ".."? */
static bool has_parent_part(clv_str path)
{
    for (int32_t i = 0, start = 0; i <= path.n; i++)
        if (i == path.n || path.at[i] == '/') {
            if (i - start == 2 && memcmp(path.at + start, "..", 2) == 0)
                return true;
            start = i + 1;
        }
    return false;
}

/* What is wrong with a location by its name alone; NULL when nothing is. */
static const char *bad_name(clv_str location)
{
    if (location.n == 0)
        return "is empty";
    if (memchr(location.at, '\0', (size_t)location.n))
        return "has a zero byte in it";
    if (location.at[0] == '/')
        return "is absolute";
    if (has_parent_part(location))
        return "has '..' in it";
    return NULL;
}

static clv_status refuse(const clv_external *ext, const clv_const *t, const char *what,
                         clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT,
                    "%s: tensor '%.*s': external location '%.*s' %s; expected a file in the "
                    "model's folder",
                    ext->model, CLV_STR_ARG(t->name), CLV_STR_ARG(t->location), what);
}

static bool is_inside(const char *real, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(real, folder, n) == 0 && (real[n] == '/' || (n && folder[n - 1] == '/'));
}

/* Size and path of the file at a location that has a fair name. */
static clv_status find_file(clv_external *ext, const clv_const *t, clv_external_file *ret,
                            clv_error *err)
{
    char path[PATH_MAX], real[PATH_MAX];
    struct stat st;
    if (!ext->real) {
        if (!realpath(ext->folder, real))
            return clv_fail(err, CLV_EIO, "cannot look at the folder %s of external data: %s",
                            ext->folder, strerror(errno));
        ext->real = clv_arena_printf(ext->arena, "%s", real);
        if (!ext->real)
            return clv_fail_nomem(err, "a path");
    }
    int n = snprintf(path, sizeof path, "%s/%.*s", ext->real, CLV_STR_ARG(t->location));
    if (n < 0 || (size_t)n >= sizeof path)
        return refuse(ext, t, "is too long", err);
    if (!realpath(path, real)) {
        if (errno != ENOENT && errno != ENOTDIR)
            return clv_fail(err, CLV_EIO, "%s: cannot look at external data %s: %s", ext->model,
                            path, strerror(errno));
        return CLV_OK;
    }
    if (!is_inside(real, ext->real))
        return refuse(ext, t, "is a link that leads out of the folder", err);
    if (stat(real, &st) != 0)
        return clv_fail(err, CLV_EIO, "%s: cannot look at external data %s: %s", ext->model, path,
                        strerror(errno));
    if (!S_ISREG(st.st_mode))
        return refuse(ext, t, "is not a regular file", err);
    ret->path = clv_arena_printf(ext->arena, "%s", real);
    ret->size = st.st_size;
    return ret->path ? CLV_OK : clv_fail_nomem(err, "a path");
}

clv_status clv_external_find(clv_external *ext, const clv_const *t, const clv_external_file **ret,
                             clv_error *err)
{
    int32_t id = clv_map_get(&ext->by_location, t->location);
    if (id < 0) {
        clv_external_file file = { t->location, -1, NULL };
        const char *bad = bad_name(t->location);
        if (bad)
            return refuse(ext, t, bad, err);
        if (ext->folder)
            CLV_TRY(find_file(ext, t, &file, err));
        if (!CLV_PUSH_ROOM(ext->arena, ext->files, ext->n_files, ext->cap_files))
            return clv_fail_nomem(err, "the list of external files");
        id = ext->n_files;
        CLV_TRY(clv_map_put(&ext->by_location, t->location, id, NULL, err));
        ext->files[ext->n_files++] = file;
    }
    *ret = &ext->files[id];
    return CLV_OK;
}

clv_status clv_external_check(clv_external *ext, const clv_const *t, clv_error *err)
{
    const clv_external_file *file = NULL;
    CLV_TRY(clv_external_find(ext, t, &file, err));
    int64_t size = file->size;
    if (t->length >= 0 && t->length != t->bytes)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: tensor '%.*s': external length is %lld bytes, its dimensions and type "
                        "need %lld",
                        ext->model, CLV_STR_ARG(t->name), (long long)t->length,
                        (long long)t->bytes);
    if (size >= 0 && (t->offset > size || t->bytes > size - t->offset))
        return clv_fail(err, CLV_EFORMAT,
                        "%s: tensor '%.*s': needs %lld bytes at offset %lld of '%.*s', which has "
                        "%lld bytes",
                        ext->model, CLV_STR_ARG(t->name), (long long)t->bytes, (long long)t->offset,
                        CLV_STR_ARG(t->location), (long long)size);
    return CLV_OK;
}
