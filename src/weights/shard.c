#include "weights/shard.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/map.h"
#include "proto/fingerprint.h"
#include "weights/model_source.h"

typedef struct {
    const clv_onnx_file *file;
    const clv_model *model;
    const clv_tensor_data *data;
    clv_weights_folder f;
    clv_file_inside *files; /* of the originals, and which they were */
    clv_file_id *are;
    clv_arena *arena;
} sharding;

static clv_status not_there(const sharding *s, const clv_tensor_data *d, clv_error *err)
{
    return clv_fail(err, CLV_EIO, "%s: weight '%.*s' lies in '%.*s', which is not there",
                    s->file->name, CLV_STR_ARG(d->name), CLV_STR_ARG(d->location));
}

static clv_status check_kinds(const sharding *s, const clv_weight_layout *layout, bool filled,
                              clv_error *err)
{
    for (int32_t i = 0; i < layout->n_shards; i++) {
        const clv_tensor_data *d = &s->data[layout->shards[i].weight];
        if (d->kind == CLV_DATA_ABSENT && !filled)
            return not_there(s, d, err);
        if (d->kind == CLV_DATA_NONE)
            return clv_fail(err, CLV_EUNSUPP,
                            "%s: weight '%.*s' is sparse or of strings, so it cannot be cut",
                            s->file->name, CLV_STR_ARG(d->name));
    }
    return CLV_OK;
}

/* The model's file first, then those beside it that are there. */
static clv_status find_originals(sharding *s, clv_map *ids, clv_error *err)
{
    int32_t n = 0;
    const char *slash = strrchr(s->file->name, '/');
    int32_t most = 1 + s->model->n_external;
    clv_original_file *at = CLV_NEW_ARRAY(s->arena, clv_original_file, most);
    s->files = CLV_NEW_ARRAY(s->arena, clv_file_inside, most);
    s->are = CLV_NEW_ARRAY(s->arena, clv_file_id, most);
    if (!at || !s->files || !s->are)
        return clv_fail_nomem(err, "the files of a model");
    at[n++] = (clv_original_file){ slash ? slash + 1 : s->file->name, (int64_t)s->file->n };
    for (int32_t i = 0; s->file->folder_fd >= 0 && i < s->model->n_external; i++) {
        int fd = -1;
        const char *name = s->model->external[i].at;
        const char *path = clv_arena_printf(s->arena, "%s/%s", s->file->folder, name);
        if (!path)
            return clv_fail_nomem(err, "the files of a model");
        s->files[n] = (clv_file_inside){ s->file->folder_fd, name, path };
        clv_inside found = clv_open_inside(s->file->folder_fd, name, O_RDONLY, &fd, &s->are[n]);
        if (found == CLV_INSIDE_ABSENT)
            continue; /* its weights are, too */
        if (found != CLV_INSIDE_OPENED)
            CLV_TRY(clv_open_inside_or_fail(&s->files[n], &fd, &s->are[n], err));
        close(fd);
        CLV_TRY(clv_map_put(ids, s->model->external[i], n, NULL, err));
        at[n] = (clv_original_file){ name, s->are[n].bytes };
        n++;
    }
    s->f.originals = at;
    s->f.n_originals = n;
    return CLV_OK;
}

static clv_status describe_original(sharding *s, clv_error *err)
{
    clv_map ids;
    clv_original_place *at = CLV_NEW_ARRAY(s->arena, clv_original_place, s->f.weights.n);
    if (!at)
        return clv_fail_nomem(err, "the places of weights");
    CLV_TRY(clv_map_init(&ids, s->arena, s->model->n_external, err));
    CLV_TRY(find_originals(s, &ids, err));
    for (int32_t i = 0; i < s->f.weights.n; i++) {
        const clv_tensor_data *d = &s->data[i];
        at[i] = (clv_original_place){ -1, d->offset, clv_whole_bytes(&s->f.weights.at[i]) };
        if (d->kind == CLV_DATA_RAW)
            at[i].file = 0;
        else if (d->kind == CLV_DATA_EXTERNAL)
            at[i].file = clv_map_get(&ids, d->location);
        if (d->kind == CLV_DATA_EXTERNAL && at[i].file < 0) /* it was a moment ago */
            return not_there(s, d, err);
    }
    s->f.payloads = at;
    s->f.fingerprint = clv_onnx_fingerprint(s->model);
    return CLV_OK;
}

static clv_status copy_rest(void *ctx, const clv_weights_folder *f, clv_files *files, int32_t to,
                            clv_checksum_state *sum, clv_error *err)
{
    const sharding *s = ctx;
    int64_t at = 0;
    for (int32_t i = 0; i < f->n_originals; i++) {
        const clv_rest_range *rest;
        int32_t n, from = -1;
        CLV_TRY(clv_rest_ranges(f, i, s->arena, &rest, &n, err));
        if (i > 0)
            CLV_TRY(clv_files_add(files, &s->files[i], false, &s->are[i], &from, err));
        else if (s->file->fd >= 0)
            CLV_TRY(clv_files_lend(files, s->file->fd, s->file->name, &from, err));
        for (int32_t k = 0; k < n; at += rest[k++].length) {
            const clv_rest_range *r = &rest[k];
            if (from >= 0) {
                clv_file_pos source = { from, r->offset }, target = { to, at };
                CLV_TRY(clv_files_copy(files, source, target, r->length, sum, err));
                continue;
            }
            const uint8_t *bytes = s->file->bytes + r->offset; /* the caller's */
            CLV_TRY(clv_files_write(files, to, bytes, (size_t)r->length, at, err));
            clv_checksum_add(sum, bytes, (size_t)r->length);
        }
    }
    return CLV_OK;
}

clv_status clv_weights_shard(const clv_onnx_model *m, const clv_weight_layout *layout,
                             const char *dir, const clv_shard_options *options, clv_arena *arena,
                             clv_error *err)
{
    sharding s = { .file = m->file, .model = m->model, .arena = arena };
    clv_model_source *source;
    clv_tensor_data *data;
    CLV_TRY(clv_weight_list_of(m->model, arena, &s.f.weights, err));
    CLV_TRY(clv_weight_layout_check(layout, &s.f.weights, arena, err));
    CLV_TRY(clv_tensor_data_find(m->file, m->model, arena, &data, err));
    s.data = data;
    CLV_TRY(check_kinds(&s, layout, options->fill != CLV_FILL_NOT, err));
    CLV_TRY(describe_original(&s, err));
    CLV_TRY(clv_model_source_new(m, data, options->disk, arena, &source, err));
    clv_fill_source fill = { &s.f.weights, options->fill };
    clv_weights_folder_input input = { .like = &s.f,
                                       .layout = layout,
                                       .source = options->fill == CLV_FILL_NOT
                                                     ? clv_model_source_of(source)
                                                     : clv_fill_source_of(&fill),
                                       .rest = copy_rest,
                                       .rest_ctx = &s };
    clv_status status = clv_weights_folder_make(&input, dir, options, arena, err);
    clv_model_source_free(source);
    return status;
}
