#include "weights/model_source.h"

#include "base/map.h"

struct clv_model_source {
    clv_onnx_model model;
    const clv_tensor_data *data;
    clv_files *files;
    int32_t model_id;  /* of the model's file; -1: its bytes are in memory */
    int32_t *file_of;  /* by weight: EXTERNAL */
    clv_arena *decode; /* for a weight that has to be decoded */
    int32_t decoded;   /* the weight; -1: none */
    const uint8_t *bytes;
    const clv_disk *disk;
    clv_arena *arena;
    clv_model_source *forks; /* of the same model, in a chain */
};

static clv_status add_files(clv_model_source *s, clv_error *err)
{
    clv_map ids;
    CLV_TRY(clv_map_init(&ids, s->arena, 0, err));
    for (int32_t i = 0; i < s->model.model->main->n_weights; i++) {
        s->file_of[i] = -1;
        if (s->data[i].kind != CLV_DATA_EXTERNAL)
            continue;
        const clv_tensor_data *d = &s->data[i];
        clv_file_inside file = { s->model.file->folder_fd, d->file_name, d->path };
        s->file_of[i] = clv_map_get(&ids, d->location);
        if (s->file_of[i] >= 0)
            continue;
        CLV_TRY(clv_files_add(s->files, &file, false, &d->file, &s->file_of[i], err));
        CLV_TRY(clv_map_put(&ids, d->location, s->file_of[i], NULL, err));
    }
    return CLV_OK;
}

clv_status clv_model_source_new(const clv_onnx_model *model, const clv_tensor_data *data,
                                const clv_disk *disk, clv_arena *arena, clv_model_source **ret,
                                clv_error *err)
{
    const clv_onnx_file *file = model->file;
    clv_model_source *s = CLV_NEW(arena, clv_model_source);
    if (s)
        *s = (clv_model_source){ .model = *model,
                                 .data = data,
                                 .model_id = -1,
                                 .decoded = -1,
                                 .disk = disk,
                                 .arena = arena };
    if (!s || !(s->file_of = CLV_NEW_ARRAY(arena, int32_t, model->model->main->n_weights)))
        return clv_fail_nomem(err, "the weights of a model");
    CLV_TRY(clv_files_new(disk, arena, &s->files, err));
    if (file->fd >= 0)
        CLV_TRY(clv_files_lend(s->files, file->fd, file->name, &s->model_id, err));
    CLV_TRY(add_files(s, err));
    s->decode = clv_arena_new(clv_arena_alloc(arena), 0);
    if (!s->decode)
        return clv_fail_nomem(err, "the weights of a model");
    *ret = s;
    return CLV_OK;
}

void clv_model_source_free(clv_model_source *s)
{
    for (; s; s = s->forks) {
        clv_files_close(s->files);
        clv_arena_free(s->decode);
    }
}

static clv_status read_decoded(clv_model_source *s, int32_t weight, int64_t at, int64_t n,
                               uint8_t *to, clv_error *err)
{
    if (s->decoded != weight) {
        const void *bytes;
        clv_arena *fresh = clv_arena_new(clv_arena_alloc(s->decode), 0);
        if (!fresh)
            return clv_fail_nomem(err, "the elements of a weight");
        clv_arena_free(s->decode);
        s->decode = fresh;
        s->decoded = -1;
        CLV_TRY(clv_tensor_data_decode(s->model.file, &s->data[weight], s->decode, &bytes, err));
        s->bytes = bytes;
        s->decoded = weight;
    }
    memcpy(to, s->bytes + at, (size_t)n);
    return CLV_OK;
}

static clv_status read_weight(void *ctx, int32_t weight, int64_t first, int64_t n, uint8_t *to,
                              clv_error *err)
{
    clv_model_source *s = ctx;
    const clv_tensor_data *d = &s->data[weight];
    int64_t at = 0, bytes = 0;
    (void)clv_dtype_bytes(d->dtype, first, &at); /* not more than the weight has, which are known */
    (void)clv_dtype_bytes(d->dtype, n, &bytes);
    if (d->kind == CLV_DATA_EXTERNAL)
        return clv_files_read(s->files, s->file_of[weight], to, (size_t)bytes, d->offset + at, err);
    if (d->kind == CLV_DATA_TYPED)
        return read_decoded(s, weight, at, bytes, to, err);
    if (d->kind != CLV_DATA_RAW)
        return d->kind == CLV_DATA_ABSENT
                   ? clv_fail(err, CLV_EIO, "%s: weight '%.*s' lies in '%.*s', which is not there",
                              s->model.file->name, CLV_STR_ARG(d->name), CLV_STR_ARG(d->location))
                   : clv_fail(err, CLV_EUNSUPP,
                              "%s: weight '%.*s' is sparse or of strings, so it cannot be cut",
                              s->model.file->name, CLV_STR_ARG(d->name));
    if (s->model_id >= 0)
        return clv_files_read(s->files, s->model_id, to, (size_t)bytes, d->offset + at, err);
    memcpy(to, s->model.file->bytes + d->offset + at, (size_t)bytes);
    return CLV_OK;
}

static clv_status fork_source(void *ctx, clv_weight_source *ret, clv_error *err)
{
    clv_model_source *s = ctx, *made;
    CLV_TRY(clv_model_source_new(&s->model, s->data, s->disk, s->arena, &made, err));
    made->forks = s->forks;
    s->forks = made;
    *ret = clv_model_source_of(made);
    return CLV_OK;
}

clv_weight_source clv_model_source_of(clv_model_source *source)
{
    return (clv_weight_source){ .read = read_weight, .fork = fork_source, .ctx = source };
}
