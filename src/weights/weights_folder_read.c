#include "weights/weights_folder_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text_digest.h"
#include "weights/box_cover.h"
#include "weights/weights_folder_json.h"

#define TEXT_MAX ((size_t)1 << 30) /* of weights.json: ten million shards */

static clv_status check_place(const clv_weights_folder *f, int32_t shard, clv_error *err)
{
    const clv_weight_shard *s = &f->layout.shards[shard];
    const clv_weight *w = &f->weights.at[s->weight];
    const clv_shard_place *p = &f->places[shard];
    const clv_weights_file *file = &f->files[p->file];
    int64_t bytes = 0;
    (void)clv_dtype_bytes(w->dtype, clv_box_elems(&s->box), &bytes); /* less than the weight's */
    if (p->length != bytes)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: a shard of weight '%.*s' has %lld bytes, its dims need %lld", f->path,
                        CLV_STR_ARG(w->name), (long long)p->length, (long long)bytes);
    if (p->offset > file->bytes || p->length > file->bytes - p->offset)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: a shard of weight '%.*s' is bytes %lld to %lld of %s, which has %lld",
                        f->path, CLV_STR_ARG(w->name), (long long)p->offset,
                        (long long)(p->offset + p->length), file->name, (long long)file->bytes);
    return CLV_OK;
}

typedef struct {
    int32_t file, shard;
    int64_t offset, length;
} file_range;

static int by_place(const void *a, const void *b)
{
    const file_range *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->shard > y->shard) - (x->shard < y->shard);
}

static clv_status check_apart(const clv_weights_folder *f, clv_arena *arena, clv_error *err)
{
    int32_t n = 0;
    file_range *at = CLV_NEW_ARRAY(arena, file_range, f->layout.n_shards);
    if (!at)
        return clv_fail_nomem(err, "a check of shards");
    for (int32_t i = 0; i < f->layout.n_shards; i++)
        if (f->places[i].length > 0)
            at[n++] =
                (file_range){ f->places[i].file, i, f->places[i].offset, f->places[i].length };
    qsort(at, (size_t)n, sizeof *at, by_place);
    for (int32_t i = 1; i < n; i++)
        if (at[i].file == at[i - 1].file && at[i].offset < at[i - 1].offset + at[i - 1].length)
            return clv_fail(
                err, CLV_EFORMAT, "%s: shards of weights '%.*s' and '%.*s' overlap in %s", f->path,
                CLV_STR_ARG(f->weights.at[f->layout.shards[at[i - 1].shard].weight].name),
                CLV_STR_ARG(f->weights.at[f->layout.shards[at[i].shard].weight].name),
                f->files[at[i].file].name);
    return CLV_OK;
}

/* shards [first, first + n) of one weight */
static clv_status check_copies(const clv_weights_folder *f, int32_t first, int32_t n,
                               clv_arena *arena, clv_error *err)
{
    const clv_box **boxes = CLV_NEW_ARRAY(arena, const clv_box *, n);
    int32_t *group_of = CLV_NEW_ARRAY(arena, int32_t, n);
    int32_t *leader = CLV_NEW_ARRAY(arena, int32_t, n);
    int32_t groups = 0, seen = 0;
    if (!boxes || !group_of || !leader)
        return clv_fail_nomem(err, "a check of shards");
    for (int32_t i = 0; i < n; i++)
        boxes[i] = &f->layout.shards[first + i].box;
    CLV_TRY(clv_boxes_group(boxes, n, arena, group_of, &groups, err));
    for (int32_t i = 0; i < n; i++) {
        if (group_of[i] == seen)
            leader[seen++] = first + i;
        const clv_shard_place *a = &f->places[leader[group_of[i]]], *b = &f->places[first + i];
        if (a->length > 0 && !clv_checksum_eq(a->checksum, b->checksum))
            return clv_fail(err, CLV_EFORMAT,
                            "%s: weight '%.*s': the copies of a part in %s and %s differ", f->path,
                            CLV_STR_ARG(f->weights.at[f->layout.shards[first].weight].name),
                            f->files[a->file].name, f->files[b->file].name);
    }
    return CLV_OK;
}

static clv_status check_shards(const clv_weights_folder *f, clv_arena *arena, clv_error *err)
{
    const clv_weight_shard *s = f->layout.shards;
    for (int32_t i = 0; i < f->layout.n_shards; i++)
        CLV_TRY(check_place(f, i, err));
    CLV_TRY(check_apart(f, arena, err));
    for (int32_t from = 0, to = 0; from < f->layout.n_shards; from = to) {
        clv_mark mark = clv_arena_mark(arena);
        while (to < f->layout.n_shards && s[to].weight == s[from].weight)
            to++;
        CLV_TRY(check_copies(f, from, to - from, arena, err));
        clv_arena_rewind(arena, mark);
    }
    return CLV_OK;
}

static clv_status check_original(const clv_weights_folder *f, clv_arena *arena, clv_error *err)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < f->weights.n; i++) {
        const clv_original_place *p = &f->payloads[i];
        if (p->file < 0)
            continue;
        if (p->length != clv_whole_bytes(&f->weights.at[i]) ||
            p->offset > f->originals[p->file].bytes ||
            p->length > f->originals[p->file].bytes - p->offset)
            return clv_fail(err, CLV_EFORMAT,
                            "%s: weight '%.*s': its bytes in the original are not as many as it "
                            "has, or not in %s",
                            f->path, CLV_STR_ARG(f->weights.at[i].name),
                            f->originals[p->file].name);
    }
    for (int32_t i = 0; i < f->n_originals; i++) {
        const clv_rest_range *rest;
        int32_t n = 0;
        clv_mark mark = clv_arena_mark(arena);
        CLV_TRY(clv_rest_ranges(f, i, arena, &rest, &n, err));
        for (int32_t k = 0; k < n; k++)
            bytes += rest[k].length; /* at most 2^53 a file: no overflow before memory ends */
        clv_arena_rewind(arena, mark);
    }
    if (bytes != f->rest.bytes)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: the rest of the original has %lld bytes, but %s has %lld", f->path,
                        (long long)bytes, f->rest.name, (long long)f->rest.bytes);
    return CLV_OK;
}

/* Finds out which file it is, and that it has as many bytes as it should. */
static clv_status check_file(const clv_weights_folder *f, clv_weights_file *file, clv_arena *arena,
                             clv_error *err)
{
    int fd = -1;
    clv_mark mark = clv_arena_mark(arena);
    clv_file_inside at = clv_weights_file_inside(f, file, arena);
    clv_status status =
        at.path ? clv_open_inside_or_fail(&at, &fd, &file->id, err) : clv_fail_nomem(err, "a path");
    if (status == CLV_OK)
        close(fd);
    if (status == CLV_OK && file->id.bytes != file->bytes)
        status = clv_fail(err, CLV_EFORMAT, "%s has %lld bytes, but " CLV_WEIGHTS_JSON " says %lld",
                          at.path, (long long)file->id.bytes, (long long)file->bytes);
    clv_arena_rewind(arena, mark);
    return status;
}

static clv_status check_files(clv_weights_folder *f, clv_arena *arena, clv_error *err)
{
    clv_weights_file *files = CLV_NEW_ARRAY(arena, clv_weights_file, f->n_files);
    if (!files)
        return clv_fail_nomem(err, "the files of a folder");
    for (int32_t i = 0; i < f->n_files; i++) {
        files[i] = f->files[i];
        CLV_TRY(check_file(f, &files[i], arena, err));
    }
    f->files = files;
    return check_file(f, &f->rest, arena, err);
}

clv_status clv_weights_folder_parse(const char *text, size_t n, const char *path, clv_arena *arena,
                                    clv_weights_folder *ret, clv_error *err)
{
    clv_weights_folder f = { .path = clv_arena_printf(arena, "%s", path), .fd = -1 };
    const char *name = clv_arena_printf(arena, "%s/" CLV_WEIGHTS_JSON, path);
    if (!f.path || !name)
        return clv_fail_nomem(err, "a path");
    CLV_TRY(clv_folder_json_read(text, n, name, arena, &f, err));
    CLV_TRY(clv_weight_layout_check(&f.layout, &f.weights, arena, err));
    CLV_TRY(check_shards(&f, arena, err));
    CLV_TRY(check_original(&f, arena, err));
    *ret = f;
    return CLV_OK;
}

static clv_status read_text(int folder, const char *path, clv_arena *arena, const char **ret,
                            size_t *ret_n, clv_error *err)
{
    int fd = -1;
    clv_file_id id;
    const char *name = clv_arena_printf(arena, "%s/" CLV_WEIGHTS_JSON, path);
    if (!name)
        return clv_fail_nomem(err, "a path");
    if (clv_open_inside(folder, CLV_WEIGHTS_JSON, O_RDONLY, &fd, &id) == CLV_INSIDE_ABSENT)
        return clv_fail(
            err, CLV_EIO,
            "%s has no " CLV_WEIGHTS_JSON ", expected a folder that 'cleave shard' wrote", path);
    if (fd < 0)
        CLV_TRY(clv_open_inside_or_fail(&(clv_file_inside){ folder, CLV_WEIGHTS_JSON, name }, &fd,
                                        &id, err));
    clv_opened_file file = { fd, name, TEXT_MAX };
    return clv_read_opened(&file, arena, ret, ret_n, err);
}

/* Where shards lie, and which part of a weight each is, stands nowhere else. */
static clv_status check_digest(const clv_weights_folder *f, const char *text, size_t n,
                               clv_arena *arena, clv_error *err)
{
    const char *name = clv_arena_printf(arena, "%s/" CLV_WEIGHTS_JSON, f->path);
    return name ? clv_text_digest_check(text, n, name, "shard the model again", arena, err)
                : clv_fail_nomem(err, "a path");
}

clv_status clv_weights_folder_read(const char *path, clv_arena *arena, clv_weights_folder *ret,
                                   clv_error *err)
{
    clv_weights_folder f;
    const char *text;
    size_t n;
    int fd = clv_open_folder(path);
    if (fd < 0)
        return clv_fail(err, CLV_EIO, "could not open %s/" CLV_WEIGHTS_JSON ": %s", path,
                        strerror(errno));
    clv_status status = read_text(fd, path, arena, &text, &n, err);
    if (status == CLV_OK)
        status = clv_weights_folder_parse(text, n, path, arena, &f, err);
    if (status == CLV_OK && f.version >= 2)
        status = check_digest(&f, text, n, arena, err);
    if (status == CLV_OK) {
        f.fd = fd;
        status = check_files(&f, arena, err);
    }
    if (status == CLV_OK)
        *ret = f;
    else
        close(fd);
    return status;
}

void clv_weights_folder_close(clv_weights_folder *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}
