#include "weights/collect.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/out_folder.h"
#include "base/rename_unit.h"
#include "weights/shards_source.h"
#include "weights/weights_folder_read.h"

typedef struct {
    clv_weights_folder f;
    const clv_shard_options *options;
    clv_out_folder *scratch; /* where files are written first, beside the model */
    const char **place;      /* by original: where it is to be */
    const char **draft;      /* and its name in the scratch folder */
    int32_t *ids;
    clv_files *files;
    clv_arena *arena;
    int32_t weight; /* the present one */
} collecting;

/* -- places -- */

static clv_status check_place(const collecting *c, const char *place, bool is_model, clv_error *err)
{
    struct stat st;
    for (int32_t i = -1; i < c->f.n_files; i++) {
        const char *name = i < 0 ? c->f.rest.name : c->f.files[i].name;
        clv_mark mark = clv_arena_mark(c->arena);
        const char *path = clv_arena_printf(c->arena, "%s/%s", c->f.path, name);
        if (!path)
            return clv_fail_nomem(err, "a path");
        bool same = clv_same_place(place, path);
        clv_arena_rewind(c->arena, mark);
        if (same)
            return clv_fail(err, CLV_EUSAGE, "%s is a file of the shards, which are never written",
                            place);
    }
    if (lstat(place, &st) != 0)
        return CLV_OK;
    if (!is_model)
        return clv_fail(err, CLV_EUSAGE,
                        "%s exists, and the model has a file of that name beside it: expected a "
                        "folder without it",
                        place);
    if (S_ISDIR(st.st_mode))
        return clv_fail(err, CLV_EUSAGE, "%s is a folder, expected a file name", place);
    if (!S_ISREG(st.st_mode)) /* a name that leads to a pipe or a device is the system's */
        return clv_fail(err, CLV_EUSAGE, "%s is no regular file: expected one, or a new name",
                        place);
    return CLV_OK;
}

static clv_status find_places(collecting *c, const char *path, clv_error *err)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    int32_t n = c->f.n_originals;
    c->place = CLV_NEW_ARRAY(c->arena, const char *, n);
    c->draft = CLV_NEW_ARRAY(c->arena, const char *, n);
    c->ids = CLV_NEW_ARRAY(c->arena, int32_t, n);
    if (!c->place || !c->draft || !c->ids)
        return clv_fail_nomem(err, "the files of a model");
    for (int32_t i = 0; i < n; i++) {
        c->place[i] =
            i == 0 ? path
                   : clv_arena_printf(c->arena, "%.*s%s", folder, path, c->f.originals[i].name);
        if (!c->place[i])
            return clv_fail_nomem(err, "a path");
        if (i > 0 && clv_same_place(path, c->place[i]))
            return clv_fail(err, CLV_EUSAGE,
                            "%s is the name of a file that the model has beside it, expected "
                            "another name",
                            path);
        CLV_TRY(check_place(c, c->place[i], i == 0, err));
    }
    return CLV_OK;
}

/* -- bytes -- */

static clv_status write_rest(collecting *c, clv_error *err)
{
    int64_t at = 0;
    int32_t from;
    clv_checksum_state *sum = clv_checksum_new(c->arena);
    clv_file_inside file = clv_weights_file_inside(&c->f, &c->f.rest, c->arena);
    if (!sum || !file.path)
        return clv_fail_nomem(err, "the rest of a model");
    CLV_TRY(clv_files_add(c->files, &file, false, &c->f.rest.id, &from, err));
    for (int32_t i = 0; i < c->f.n_originals; i++) {
        const clv_rest_range *rest;
        int32_t n;
        CLV_TRY(clv_rest_ranges(&c->f, i, c->arena, &rest, &n, err));
        for (int32_t k = 0; k < n; at += rest[k++].length)
            CLV_TRY(clv_files_copy(c->files, (clv_file_pos){ from, at },
                                   (clv_file_pos){ c->ids[i], rest[k].offset }, rest[k].length, sum,
                                   err));
    }
    if (!clv_checksum_eq(clv_checksum_end(sum), c->f.rest_checksum))
        return clv_fail(err, CLV_EFORMAT,
                        "%s is damaged: its bytes are not those that were "
                        "written",
                        file.path);
    return CLV_OK;
}

static clv_status write_weight(void *ctx, int32_t i, const uint8_t *bytes, size_t n, int64_t at,
                               clv_error *err)
{
    const collecting *c = ctx;
    const clv_original_place *p = &c->f.payloads[c->weight];
    (void)i;
    if ((int64_t)n > p->length - at) /* a byte that elements do not fill is of the rest */
        n = (size_t)(p->length - at);
    return clv_files_write(c->files, c->ids[p->file], bytes, n, p->offset + at, err);
}

static clv_status write_weights(collecting *c, const clv_weight_source *source, clv_error *err)
{
    clv_stream *stream;
    clv_box_sink sink = { write_weight, c };
    int32_t last = -1;
    CLV_TRY(clv_stream_new(1, CLV_STREAM_BLOCK, c->arena, &stream, err));
    clv_stream_set_stop(stream, c->options->stop, c->options->stop_ctx);
    for (int32_t i = 0; i < c->f.layout.n_shards; i++) {
        clv_box box;
        const clv_box *boxes[1] = { &box };
        c->weight = c->f.layout.shards[i].weight;
        if (c->weight == last || c->f.payloads[c->weight].file < 0)
            continue;
        last = c->weight;
        const clv_weight *w = &c->f.weights.at[last];
        CLV_TRY(clv_box_whole(w->rank, w->dims, c->arena, &box, err));
        clv_weight_cut cut = { last, w, boxes, 1 };
        CLV_TRY(clv_stream_weight(stream, &cut, source, &sink, err));
    }
    return CLV_OK;
}

static clv_status write_all(collecting *c, clv_error *err)
{
    clv_shards_source *source;
    for (int32_t i = 0; i < c->f.n_originals; i++) {
        /* Files are numbered while they are written, so that no name of theirs matters. */
        c->draft[i] = clv_arena_printf(c->arena, "%d", i);
        clv_file_inside file = { clv_out_folder_fd(c->scratch), c->draft[i], c->place[i] };
        if (!c->draft[i])
            return clv_fail_nomem(err, "a path");
        CLV_TRY(clv_files_add(c->files, &file, true, NULL, &c->ids[i], err));
        CLV_TRY(clv_files_resize(c->files, c->ids[i], c->f.originals[i].bytes, err));
    }
    CLV_TRY(write_rest(c, err));
    CLV_TRY(clv_shards_source_new(&c->f, c->options->disk, c->arena, &source, err));
    clv_weight_source from = clv_shards_source_of(source);
    clv_status status = write_weights(c, &from, err);
    clv_shards_source_free(source);
    if (status == CLV_OK)
        status = clv_files_flush(c->files, err);
    if (status == CLV_OK && c->options->stop && c->options->stop(c->options->stop_ctx))
        status = clv_fail(err, CLV_ECANCELED, "stopped while a model was collected");
    return status;
}

/* -- names -- */

/* All together. Files beside the model are new ones. */
static clv_status rename_all(collecting *c, clv_error *err)
{
    int32_t n = c->f.n_originals;
    int parent = clv_out_folder_parent(c->scratch);
    const char *slash = strrchr(c->place[0], '/');
    size_t folder = slash ? (size_t)(slash - c->place[0]) + 1 : 0;
    clv_renaming *at = CLV_NEW_ARRAY(c->arena, clv_renaming, n);
    if (!at)
        return clv_fail_nomem(err, "the names of files");
    for (int32_t i = 0; i < n; i++) {
        const char *from =
            clv_arena_printf(c->arena, "%s/%s", clv_out_folder_name(c->scratch), c->draft[i]);
        if (!from)
            return clv_fail_nomem(err, "a path");
        at[i] = (clv_renaming){ parent, from, c->place[i] + folder, i > 0 };
        if (clv_make_folders_inside(parent, at[i].to) != 0)
            return clv_fail(err, CLV_EIO, "cannot make the folder of %s: %s", c->place[i],
                            strerror(errno));
    }
    return clv_unit_commit(&(clv_unit){ at, n, c->place[0] }, c->arena, err);
}

static clv_status collect_to(collecting *c, const char *path, clv_error *err)
{
    clv_finish_units_beside(path); /* what a run before left is there, or is not */
    CLV_TRY(find_places(c, path, err));
    CLV_TRY(clv_files_new(c->options->disk, c->arena, &c->files, err));
    const char *name = clv_arena_printf(c->arena, "%s.collect", path);
    if (!name)
        return clv_fail_nomem(err, "a path");
    CLV_TRY(clv_out_folder_open(name, clv_arena_alloc(c->arena), &c->scratch, err));
    clv_status status = write_all(c, err);
    clv_files_close(c->files);
    if (status == CLV_OK)
        status = rename_all(c, err);
    clv_out_folder_abort(c->scratch); /* what it still has */
    return status;
}

clv_status clv_weights_collect(const char *dir, const char *path, const clv_shard_options *options,
                               clv_arena *arena, clv_error *err)
{
    collecting c = { .options = options, .arena = arena };
    CLV_TRY(clv_weights_folder_read(dir, arena, &c.f, err));
    clv_status status = collect_to(&c, path, err);
    clv_weights_folder_close(&c.f);
    return status;
}
