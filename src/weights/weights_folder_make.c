#include "weights/weights_folder_make.h"

#include "base/map.h"
#include "base/out_folder.h"
#include "proto/out_file.h"
#include "weights/part_write.h"
#include "weights/weights_folder_json.h"

typedef struct {
    const clv_weights_folder_input *m;
    const clv_shard_options *options;
    clv_out_folder *out; /* where it is written */
    clv_arena *arena;
    clv_weight_layout layout; /* shards by weight */
    clv_part_files *parts;
    int32_t *set_of, *id_of; /* by device, by shard */
    const clv_payload *payloads;
} making;

/* "rank:0/cuda:0" is no name for a file: "rank_0_cuda_0", and a number where two become the same.
 */
static clv_status file_name(making *k, clv_map *taken, int32_t device, const char **ret,
                            clv_error *err)
{
    int32_t id = device;
    char *base = clv_arena_printf(k->arena, "%.100s", k->layout.devices[device]);
    const char *name = base;
    if (!base)
        return clv_fail_nomem(err, "the name of a file");
    for (char *c = base; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              *c == '-' || (*c == '.' && c > base)))
            *c = '_';
    CLV_TRY(clv_map_put(taken, clv_str_of(name), device, &id, err));
    for (int32_t again = 2; id != device; again++) {
        name = clv_arena_printf(k->arena, "%s-%d", base, again);
        if (!name)
            return clv_fail_nomem(err, "the name of a file");
        CLV_TRY(clv_map_put(taken, clv_str_of(name), device, &id, err));
    }
    *ret = name;
    return CLV_OK;
}

static clv_status open_sets(making *k, clv_error *err)
{
    clv_map taken;
    CLV_TRY(clv_map_init(&taken, k->arena, k->layout.n_devices, err));
    for (int32_t d = 0; d < k->layout.n_devices; d++) {
        const char *name = NULL, *path = NULL;
        CLV_TRY(file_name(k, &taken, d, &name, err));
        switch (k->options->kind) {
        case CLV_PARTS_EXTERNAL:
            path = clv_arena_printf(k->arena, "%s.data", name);
            break;
        case CLV_PARTS_SAFETENSORS:
            path = clv_arena_printf(k->arena, "%s/model", name);
            break;
        case CLV_PARTS_RANGES:
            path = name;
            break;
        }
        if (!path)
            return clv_fail_nomem(err, "the name of a file");
        CLV_TRY(clv_part_files_open(k->parts, path, &k->set_of[d], err));
    }
    return CLV_OK;
}

/* Where the originals are asked for by ranges. */
static clv_status find_payloads(making *k, clv_error *err)
{
    const clv_weights_folder *like = k->m->like;
    clv_payload *payloads = CLV_NEW_ARRAY(k->arena, clv_payload, like->weights.n);
    if (!payloads)
        return clv_fail_nomem(err, "the places of weights");
    for (int32_t i = 0; i < like->weights.n; i++)
        if (like->payloads[i].file >= 0)
            payloads[i] = (clv_payload){ like->originals[like->payloads[i].file].name,
                                         like->payloads[i].offset, like->weights.at[i].bytes };
    k->payloads = payloads;
    return CLV_OK;
}

static clv_status lay_out(making *k, clv_error *err)
{
    const clv_weights_folder *like = k->m->like;
    CLV_TRY(find_payloads(k, err));
    clv_parts_options options = { .kind = k->options->kind,
                                  .payloads = k->payloads,
                                  .max_bytes = k->options->max_bytes,
                                  .threads = k->options->threads,
                                  .disk = k->options->disk,
                                  .stop = k->options->stop,
                                  .stop_ctx = k->options->stop_ctx };
    k->set_of = CLV_NEW_ARRAY(k->arena, int32_t, k->layout.n_devices);
    k->id_of = CLV_NEW_ARRAY(k->arena, int32_t, k->layout.n_shards);
    if (!k->set_of || !k->id_of)
        return clv_fail_nomem(err, "the shards of a model");
    CLV_TRY(clv_part_files_new(k->out, &like->weights, &options, k->arena, &k->parts, err));
    CLV_TRY(open_sets(k, err));
    for (int32_t i = 0; i < k->layout.n_shards; i++) {
        const clv_weight_shard *s = &k->layout.shards[i];
        CLV_TRY(clv_part_files_add(k->parts, k->set_of[s->device], s->weight, &s->box, &k->id_of[i],
                                   err));
    }
    return clv_part_files_seal(k->parts, err);
}

static clv_status write_rest(making *k, clv_weights_folder *f, clv_error *err)
{
    clv_files *files;
    int32_t id;
    clv_checksum_state *sum = clv_checksum_new(k->arena);
    const char *path =
        clv_arena_printf(k->arena, "%s/" CLV_WEIGHTS_REST, clv_out_folder_path(k->out));
    clv_file_inside file = { clv_out_folder_fd(k->out), CLV_WEIGHTS_REST, path };
    if (!sum || !path)
        return clv_fail_nomem(err, "the rest of a model");
    CLV_TRY(clv_files_new(k->options->disk, k->arena, &files, err));
    clv_status status = clv_files_add(files, &file, true, NULL, &id, err);
    if (status == CLV_OK)
        status = clv_files_resize(files, id, 0, err); /* it is there, though it may be empty */
    if (status == CLV_OK)
        status = k->m->rest(k->m->rest_ctx, f, files, id, sum, err);
    f->rest.name = CLV_WEIGHTS_REST;
    f->rest_checksum = clv_checksum_end(sum);
    if (status == CLV_OK)
        status = clv_files_size(files, id, &f->rest.bytes, err);
    if (status == CLV_OK)
        status = clv_files_flush(files, err);
    clv_files_close(files);
    return status;
}

static clv_status list_places(making *k, clv_weights_folder *f, clv_error *err)
{
    clv_shard_place *places = CLV_NEW_ARRAY(k->arena, clv_shard_place, k->layout.n_shards);
    int32_t n_files = clv_part_files_n_files(k->parts);
    clv_weights_file *files = CLV_NEW_ARRAY(k->arena, clv_weights_file, n_files);
    if (!places || !files)
        return clv_fail_nomem(err, "the places of shards");
    for (int32_t i = 0; i < n_files; i++) {
        const clv_part_file *file = clv_part_files_file(k->parts, i);
        files[i] = (clv_weights_file){ .name = file->name, .bytes = file->bytes };
    }
    for (int32_t i = 0; i < k->layout.n_shards; i++) {
        const clv_part_place *p = clv_part_files_at(k->parts, k->id_of[i]);
        places[i] = (clv_shard_place){ p->file, p->offset, p->length, p->checksum };
    }
    f->kind = k->options->kind;
    f->places = places;
    f->files = files;
    f->n_files = n_files;
    return CLV_OK;
}

static clv_status write_json(const making *k, const clv_weights_folder *f, clv_error *err)
{
    const char *text;
    size_t n;
    clv_out_file *out;
    CLV_TRY(clv_folder_json_text(f, k->arena, &text, &n, err));
    CLV_TRY(clv_out_open_in(k->out, CLV_WEIGHTS_JSON, clv_arena_alloc(k->arena), &out, err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = sink.write(sink.ctx, text, n, err);
    if (status != CLV_OK) {
        clv_out_abort(out);
        return status;
    }
    return clv_out_commit(out, err);
}

static clv_status write_files(making *k, clv_error *err)
{
    clv_weights_folder f = *k->m->like;
    f.path = clv_out_folder_path(k->out);
    CLV_TRY(lay_out(k, err));
    CLV_TRY(clv_part_files_write(k->parts, &k->m->source, err));
    if (k->options->kind == CLV_PARTS_RANGES)
        return CLV_OK;
    f.layout = k->layout;
    CLV_TRY(write_rest(k, &f, err));
    CLV_TRY(list_places(k, &f, err));
    return write_json(k, &f, err);
}

clv_status clv_weights_folder_make(const clv_weights_folder_input *m, const char *dir,
                                   const clv_shard_options *options, clv_arena *arena,
                                   clv_error *err)
{
    making k = { .m = m, .options = options, .arena = arena };
    clv_out_folder *out;
    CLV_TRY(clv_weight_layout_sort(m->layout, m->like->weights.n, arena, &k.layout, err));
    CLV_TRY(clv_out_folder_open(dir, clv_arena_alloc(arena), &out, err));
    k.out = out;
    clv_status status = write_files(&k, err);
    if (status == CLV_OK && options->stop && options->stop(options->stop_ctx))
        status = clv_fail(err, CLV_ECANCELED, "stopped while weights were written");
    if (status != CLV_OK) {
        clv_out_folder_abort(out);
        return status;
    }
    return clv_out_folder_commit(out, err);
}
