#include "proto/external_data.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

clv_status clv_external_init(clv_external *ext, const clv_onnx_file *file, clv_arena *arena,
                             clv_error *err)
{
    *ext = (clv_external){
        .model = file->name, .folder = file->folder, .folder_fd = file->folder_fd, .arena = arena
    };
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

/* Identity, size and path of the file at a location that has a fair name. */
static clv_status find_file(const clv_external *ext, const clv_const *t, clv_external_file *ret,
                            clv_error *err)
{
    int fd = -1;
    if (ext->folder_fd < 0)
        return clv_fail(err, CLV_EIO, "cannot look at the folder %s of external data: %s",
                        ext->folder, strerror(ENOENT));
    char *path = clv_arena_printf(ext->arena, "%s/%.*s", ext->folder, CLV_STR_ARG(t->location));
    if (!path)
        return clv_fail_nomem(err, "a path");
    const char *name = path + strlen(ext->folder) + 1;
    switch (clv_open_inside(ext->folder_fd, name, O_RDONLY, &fd, &ret->id)) {
    case CLV_INSIDE_OPENED:
        close(fd);
        ret->size = ret->id.bytes;
        ret->path = path;
        ret->name = name;
        return CLV_OK;
    case CLV_INSIDE_ABSENT:
        return CLV_OK;
    case CLV_INSIDE_LEAVES:
        return refuse(ext, t, "is a link that leads out of the folder", err);
    case CLV_INSIDE_NOT_REGULAR:
        return refuse(ext, t, "is not a regular file", err);
    case CLV_INSIDE_FAILED:
        break;
    }
    if (errno == ENAMETOOLONG)
        return refuse(ext, t, "is too long", err);
    return clv_fail(err, CLV_EIO, "%s: cannot look at external data %s: %s", ext->model, path,
                    strerror(errno));
}

clv_status clv_external_find(clv_external *ext, const clv_const *t, const clv_external_file **ret,
                             clv_error *err)
{
    int32_t id = clv_map_get(&ext->by_location, t->location);
    if (id < 0) {
        clv_external_file file = { .location = t->location, .size = -1 };
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
