/* sharded.h - a model with weights of every kind in files, and random layouts of it, for tests. */
#ifndef CLV_TESTS_WEIGHTS_SHARDED_H
#define CLV_TESTS_WEIGHTS_SHARDED_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/onnx.pb-c.h"
#include "proto/onnx_read.h"
#include "support/onnx_builder.h"
#include "support/run.h"
#include "weights/collect.h"
#include "weights/reshard.h"
#include "weights/reshard_plan.h"
#include "weights/shard.h"
#include "weights/weights_folder_read.h"

enum { W_RAW, W_OUT, W_NIBBLES, W_TYPED, W_KEPT, W_SCALAR, W_NOTHING, W_TWIN, N_WEIGHTS };

typedef struct {
    char *folder;
    clv_arena *arena;
    clv_onnx_file *file;
    clv_model *model;
    clv_weight_list weights;
    const uint8_t *bytes[N_WEIGHTS]; /* packed */
    uint64_t seed;
} sharded;

static inline int64_t below(sharded *s, int64_t n)
{
    s->seed = s->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((s->seed >> 33) % (uint64_t)n);
}

static inline char *at_path(const sharded *s, const char *name)
{
    return clv_arena_printf(s->arena, "%s/%s", s->folder, name);
}

static inline void fill_raw(sharded *s, test_tensor *t)
{
    for (size_t i = 0; i < t->raw_data.len; i++)
        t->raw_data.data[i] = (uint8_t)below(s, 256);
}

/* "m.onnx" and "data/w.bin" with bytes before, between and behind the weights in it; the last
 * nibble of "nibbles" is no element, and not 0. */
static inline void write_files(sharded *s)
{
    static const float floats[] = { 1, 2, 3, 4, 5, 6 };
    uint8_t *data = clv_arena_take(s->arena, 70000);
    char *line = clv_arena_printf(s->arena, "mkdir '%s/data'", s->folder);
    test_onnx *m = onnx_new(8, 21);
    test_graph *g = onnx_main(m);

    cr_assert_eq(system(line), 0);
    for (int i = 0; i < 70000; i++)
        data[i] = (uint8_t)below(s, 256);
    file_write(s->folder, "data/w.bin", data, 70000);
    fill_raw(s, onnx_weight(g, "raw", 1, "6,8,5"));
    onnx_weight_external(g, "out", 10, "64,257", "data/w.bin", 4096, 64 * 257 * 2);
    fill_raw(s, onnx_weight(g, "nibbles", 22, "7,9,5"));
    onnx_weight_floats(g, "typed", "6", floats);
    fill_raw(s, onnx_weight(g, "kept", 1, "3"));
    fill_raw(s, onnx_weight(g, "scalar", 11, ""));
    onnx_weight(g, "nothing", 1, "0,4");
    onnx_weight_external(g, "twin", 2, "100,3", "data/w.bin", 60000, 300);
    onnx_input(g, "x", 1, "2");
    onnx_node(g, "Neg", "neg", "x", "y");
    onnx_output(g, "y", 1, "2");
    onnx_write(m, at_path(s, "m.onnx"));
    onnx_free(m);
}

static inline void open_it(sharded *s)
{
    clv_error err;
    size_t n_data;
    cr_assert_eq(clv_onnx_open(at_path(s, "m.onnx"), NULL, &s->file, &err), CLV_OK);
    cr_assert_eq(clv_onnx_read(s->file, s->arena, &s->model, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_weight_list_of(s->model, s->arena, &s->weights, NULL), CLV_OK);
    cr_assert_eq(s->weights.n, N_WEIGHTS);
    /* By protobuf-c and by offset: not by what is tested. */
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, s->file->n, s->file->bytes);
    char *data = file_text(s->folder, "data/w.bin", &n_data);
    for (int i = 0; i < N_WEIGHTS; i++) {
        const Onnx__TensorProto *t = m->graph->initializer[i];
        size_t bytes = (size_t)s->weights.at[i].bytes;
        uint8_t *copy = clv_arena_take(s->arena, bytes + 1);
        s->bytes[i] = copy;
        if (i == W_OUT || i == W_TWIN)
            memcpy(copy, data + (i == W_OUT ? 4096 : 60000), bytes);
        else if (i == W_TYPED)
            memcpy(copy, t->float_data, bytes);
        else if (bytes > 0)
            memcpy(copy, t->raw_data.data, bytes);
    }
    free(data);
    onnx__model_proto__free_unpacked(m, NULL);
}

static inline sharded sharded_new(void)
{
    sharded s = { .folder = folder_new(), .arena = clv_arena_new(NULL, 0), .seed = 7 };
    write_files(&s);
    open_it(&s);
    return s;
}

static inline void sharded_free(sharded *s)
{
    clv_onnx_close(s->file);
    folder_free(s->folder);
    clv_arena_free(s->arena);
}

static inline void add_shard(sharded *s, clv_weight_layout *t, int32_t weight, int32_t device,
                             const clv_box *box)
{
    clv_weight_shard *at = (clv_weight_shard *)t->shards;
    cr_assert_lt(t->n_shards, 4096);
    at[t->n_shards].weight = weight;
    at[t->n_shards].device = device;
    cr_assert_eq(clv_box_copy(box, s->arena, &at[t->n_shards++].box, NULL), CLV_OK);
}

/* A weight is cut at random places along random dims of its own or a finer view, and each part goes
 * to one device or to several. */
static inline void lay_weight(sharded *s, clv_weight_layout *t, int32_t weight)
{
    const clv_weight *w = &s->weights.at[weight];
    int64_t view[4] = { 0 }, at[64][2][4] = { 0 };
    int32_t rank = w->rank, n = 1, cuts = (int32_t)below(s, 6);
    memcpy(view, w->dims, (size_t)rank * sizeof *view);
    if (weight == W_OUT && below(s, 2)) { /* 64 seen as 4 x 16 */
        view[0] = 4, view[1] = 16, view[2] = 257;
        rank = 3;
    }
    memcpy(at[0][1], view, sizeof view);
    for (; rank > 0 && cuts > 0; cuts--, n++) {
        int32_t i = (int32_t)below(s, n), d = (int32_t)below(s, rank);
        int64_t first = below(s, at[i][1][d] + 1);
        memcpy(at[n], at[i], sizeof at[n]);
        at[n][0][d] += first;
        at[n][1][d] -= first;
        at[i][1][d] = first;
    }
    for (int32_t i = 0; i < n; i++) {
        clv_box box = { rank, view, at[i][0], at[i][1] };
        int32_t copies = 1 + (int32_t)below(s, 2) * (int32_t)below(s, t->n_devices);
        int32_t first = (int32_t)below(s, t->n_devices);
        for (int32_t k = 0; k < copies; k++)
            add_shard(s, t, weight, (first + k) % t->n_devices, &box);
    }
}

static inline clv_weight_layout random_layout(sharded *s, int32_t n_devices)
{
    const char **devices = CLV_NEW_ARRAY(s->arena, const char *, n_devices);
    clv_weight_layout t = { .devices = devices, .n_devices = n_devices };
    t.shards = CLV_NEW_ARRAY(s->arena, clv_weight_shard, 4096);
    for (int32_t i = 0; i < n_devices; i++)
        devices[i] = clv_arena_printf(s->arena, "rank:%d/cuda:%d", i, i % 2);
    for (int32_t w = 0; w < N_WEIGHTS; w++)
        if (w != W_KEPT)
            lay_weight(s, &t, w);
    return t;
}

static inline void shard_it(sharded *s, const clv_weight_layout *t, const char *dir,
                            clv_parts_kind kind)
{
    clv_error err = { 0 };
    clv_shard_options o = { .kind = kind, .max_bytes = 10000 };
    cr_assert_eq(clv_weights_shard(&(clv_onnx_model){ s->file, s->model }, t, at_path(s, dir), &o,
                                   s->arena, &err),
                 CLV_OK, "%s", err.message);
}

static inline clv_weights_folder read_it(sharded *s, const char *dir)
{
    clv_error err = { 0 };
    clv_weights_folder f = { 0 };
    cr_assert_eq(clv_weights_folder_read(at_path(s, dir), s->arena, &f, &err), CLV_OK, "%s",
                 err.message);
    return f;
}

static inline clv_status reshard_to(sharded *s, const char *dir, const clv_weight_layout *t,
                                    const char *to, clv_error *err)
{
    clv_shard_options o = { .kind = below(s, 2) ? CLV_PARTS_SAFETENSORS : CLV_PARTS_EXTERNAL };
    clv_weights_folder f;
    CLV_TRY(clv_weights_folder_read(at_path(s, dir), s->arena, &f, err));
    clv_status status = clv_weights_reshard(&f, t, at_path(s, to), &o, s->arena, err);
    clv_weights_folder_close(&f);
    return status;
}

static inline clv_status collect_to(sharded *s, const char *dir, const char *path, clv_error *err)
{
    clv_shard_options o = { 0 };
    return clv_weights_collect(at_path(s, dir), at_path(s, path), &o, s->arena, err);
}

/* collect gives the very bytes of both files. */
static inline void is_original(sharded *s, const char *dir)
{
    clv_error err = { 0 };
    char *line =
        clv_arena_printf(s->arena, "rm -rf '%s/new' && mkdir '%s/new'", s->folder, s->folder);
    cr_assert_eq(system(line), 0);
    cr_assert_eq(collect_to(s, dir, "new/again.onnx", &err), CLV_OK, "%s", err.message);
    cr_assert(file_same(s->folder, "m.onnx", "new/again.onnx"));
    cr_assert(file_same(s->folder, "data/w.bin", "new/data/w.bin"));
    cr_assert_eq(folder_count(at_path(s, "new")), 2, "something else stays");
}

#endif
