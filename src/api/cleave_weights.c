/* cleave_weights.c - the public API on shards of weights in files. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/file.h"
#include "base/units.h"
#include "lower/plan_target.h"
#include "lower/plan_types.h"
#include "pipeline/plan_open.h"
#include "proto/onnx_read.h"
#include "weights/collect.h"
#include "weights/layout_file.h"
#include "weights/reshard.h"
#include "weights/reshard_plan.h"
#include "weights/shard.h"
#include "weights/skeleton.h"
#include "weights/weights_folder_read.h"

#define LAYOUT_MAX  ((size_t)1 << 30) /* bytes of a layout file */
#define PAIRS_SHOWN 20
#define NOTES_TOLD  20 /* a spec may be skipped for every bias of a model */

static clv_status take_options(const cleave_shard_options *o, clv_shard_options *ret,
                               clv_error *err)
{
    static const cleave_shard_options defaults = CLEAVE_SHARD_OPTIONS;
    static const clv_parts_kind kinds[] = { CLV_PARTS_EXTERNAL, CLV_PARTS_SAFETENSORS,
                                            CLV_PARTS_RANGES };
    if (!o)
        o = &defaults;
    if ((unsigned)o->kind >= sizeof kinds / sizeof *kinds)
        return clv_fail(err, CLV_EUSAGE, "%d is no kind of weight files", (int)o->kind);
    if (o->max_file_bytes < 0)
        return clv_fail(err, CLV_EUSAGE, "max_file_bytes is %lld: expected 0 (any) or more",
                        (long long)o->max_file_bytes);
    if ((unsigned)o->fill > CLEAVE_FILL_ONES)
        return clv_fail(err, CLV_EUSAGE, "%d is nothing to fill weights with", (int)o->fill);
    *ret = (clv_shard_options){ .kind = kinds[o->kind],
                                .fill = (clv_weight_fill)o->fill, /* the same numbers */
                                .max_bytes = o->max_file_bytes,
                                .threads = CLV_PART_THREADS,
                                .stop = o->stop,
                                .stop_ctx = o->stop_ctx };
    return CLV_OK;
}

static void tell_notes(const clv_placement_notes *notes, const cleave_shard_options *o)
{
    char more[64];

    if (!o || !o->note)
        return;
    for (int32_t i = 0; i < notes->n && i < NOTES_TOLD; i++)
        o->note(o->note_ctx, notes->at[i]);
    clv_add_words(more, sizeof more, 0, "and %d more of the like", (int)(notes->n - NOTES_TOLD));
    if (notes->n > NOTES_TOLD)
        o->note(o->note_ctx, more);
}

/* A plan has operators; no other layout has. */
static clv_status is_plan(const char *text, size_t n, const char *path, bool *ret, clv_error *err)
{
    clv_json *json;
    CLV_TRY(clv_json_parse(text, n, path, &json, err));
    clv_json_at root = clv_json_root(json, path), member = { 0 };
    clv_status status = clv_json_is_object(&root)
                            ? clv_json_member(&root, "operators", false, &member, err)
                            : CLV_OK;
    *ret = status == CLV_OK && member.json;
    clv_json_free(json);
    return status;
}

static clv_status target_of_plan(const char *text, size_t n, const char *path,
                                 const clv_model *model, const char *name, clv_arena *arena,
                                 clv_weight_layout *ret, clv_error *err)
{
    clv_plan *plan;
    const clv_types *types;
    CLV_TRY(clv_plan_open(&(clv_plan_file){ path, text, n }, model, name, arena, &plan, err));
    CLV_TRY(clv_plan_types(model, plan, arena, &types, err));
    return clv_plan_target(model, types, plan, arena, ret, err);
}

/* The model of a folder of shards, as far as it is in there. */
static clv_status target_of_plan_there(const char *text, size_t n, const char *path,
                                       const clv_weights_folder *f, clv_arena *arena,
                                       clv_weight_layout *ret, clv_error *err)
{
    clv_onnx_file *file;
    clv_model *model;
    CLV_TRY(clv_weights_skeleton_open(f, arena, &file, err));
    clv_status status = clv_onnx_read(file, arena, &model, err);
    if (status == CLV_OK)
        status = target_of_plan(text, n, path, model, f->originals[0].name, arena, ret, err);
    clv_onnx_close(file);
    return status;
}

/* model and folder: of what the weights are, one of them NULL. */
static clv_status read_layout(const char *path, const clv_weight_list *weights,
                              const cleave_model *model, const clv_weights_folder *folder,
                              const cleave_shard_options *options, clv_arena *arena,
                              clv_weight_layout *ret, clv_error *err)
{
    const char *text;
    size_t n;
    bool plan;
    clv_placement_notes notes = { 0 };
    CLV_TRY(clv_read_file(path, LAYOUT_MAX, arena, &text, &n, err));
    CLV_TRY(is_plan(text, n, path, &plan, err));
    if (plan)
        return model ? target_of_plan(text, n, path, model->model, model->name, arena, ret, err)
                     : target_of_plan_there(text, n, path, folder, arena, ret, err);
    clv_layout_file file = { text, n, path };
    CLV_TRY(clv_layout_file_read(&file, weights, arena, ret, &notes, err));
    tell_notes(&notes, options);
    return CLV_OK;
}

static clv_status shard(cleave_model *m, const char *layout, const char *folder,
                        const cleave_shard_options *options, clv_arena *arena, clv_error *err)
{
    clv_shard_options o;
    clv_weight_list weights;
    clv_weight_layout target;
    CLV_TRY(take_options(options, &o, err));
    CLV_TRY(clv_weight_list_of(m->model, arena, &weights, err));
    CLV_TRY(read_layout(layout, &weights, m, NULL, options, arena, &target, err));
    clv_onnx_model source = { m->file, m->model };
    return clv_weights_shard(&source, &target, folder, &o, arena, err);
}

cleave_status cleave_shard(cleave_model *model, const char *layout, const char *folder,
                           const cleave_shard_options *options, cleave_error *error)
{
    clv_error err;
    if (!model || !layout || !folder)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_shard needs a model, a layout and a folder");
    clv_arena *arena = clv_arena_new(clv_api_alloc(model), 0);
    clv_status status =
        arena ? shard(model, layout, folder, options, arena, &err) : clv_fail_nomem(&err, "shards");
    clv_arena_free(arena);
    return clv_api_give(status, &err, error);
}

/* -- resharding -- */

typedef struct {
    int64_t bytes;
    int32_t from, to;
} pair;

static int by_bytes(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int by_ends(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* What goes from one device to another, largest first. */
static clv_status sum_pairs(const clv_reshard_plan *plan, clv_arena *arena, pair **ret,
                            int32_t *ret_n, clv_error *err)
{
    int32_t n = 0, k = 0;
    pair *at = CLV_NEW_ARRAY(arena, pair, plan->n_transfers);
    if (!at)
        return clv_fail_nomem(err, "the list of transfers");
    for (int32_t i = 0; i < plan->n_transfers; i++) {
        const clv_weight_move *x = &plan->transfers[i];
        if (!x->stays)
            at[n++] = (pair){ x->bytes, x->from, x->to };
    }
    qsort(at, (size_t)n, sizeof *at, by_ends);
    for (int32_t i = 0; i < n; i++) {
        if (k > 0 && by_ends(&at[k - 1], &at[i]) == 0)
            at[k - 1].bytes += at[i].bytes;
        else
            at[k++] = at[i];
    }
    qsort(at, (size_t)k, sizeof *at, by_bytes);
    *ret = at;
    *ret_n = k;
    return CLV_OK;
}

static clv_status make_text(const clv_weights_folder *f, const clv_weight_layout *t,
                            const clv_reshard_plan *plan, clv_arena *arena, const char **ret,
                            clv_error *err)
{
    char a[32], b[32], c[32], d[32];
    pair *pairs = NULL;
    int32_t n = 0;
    CLV_TRY(sum_pairs(plan, arena, &pairs, &n, err));
    const char *text = clv_arena_printf(
        arena,
        "%s move between devices, %s stay where they are.\nA device that holds old and new shards "
        "at once needs up to %s; writing takes %s of memory.\n",
        clv_show_bytes(a, plan->moved_bytes), clv_show_bytes(b, plan->kept_bytes),
        clv_show_bytes(c, plan->peak_bytes), clv_show_bytes(d, plan->buffer_bytes));
    for (int32_t i = 0; i < n && i < PAIRS_SHOWN && text; i++)
        text = clv_arena_printf(arena, "%s  %s -> %s  %s\n", text, f->layout.devices[pairs[i].from],
                                t->devices[pairs[i].to], clv_show_bytes(a, pairs[i].bytes));
    if (text && n > PAIRS_SHOWN)
        text = clv_arena_printf(arena, "%s  and %d more\n", text, n - PAIRS_SHOWN);
    if (!text)
        return clv_fail_nomem(err, "the list of transfers");
    *ret = text;
    return CLV_OK;
}

typedef struct {
    const char *folder, *layout, *to;
    const cleave_shard_options *options;
    bool as_json;
    char **ret;
} resharding;

static clv_status tell(const resharding *r, const clv_weights_folder *f,
                       const clv_weight_layout *target, clv_arena *arena, char **ret,
                       clv_error *err)
{
    clv_reshard_plan plan;
    const char *text;
    CLV_TRY(clv_reshard_plan_make(f, target, arena, &plan, err));
    if (r->as_json)
        CLV_TRY(clv_reshard_plan_json(f, target, &plan, arena, &text, err));
    else
        CLV_TRY(make_text(f, target, &plan, arena, &text, err));
    *ret = strdup(text);
    return *ret ? CLV_OK : clv_fail_nomem(err, "the list of transfers");
}

static clv_status reshard(const resharding *r, clv_arena *arena, clv_error *err)
{
    clv_shard_options o;
    clv_weights_folder f;
    clv_weight_layout target;
    char *text = NULL;
    CLV_TRY(take_options(r->options, &o, err));
    CLV_TRY(clv_weights_folder_read(r->folder, arena, &f, err));
    CLV_TRY(read_layout(r->layout, &f.weights, NULL, &f, r->options, arena, &target, err));
    if (r->ret)
        CLV_TRY(tell(r, &f, &target, arena, &text, err));
    clv_status status = r->to ? clv_weights_reshard(&f, &target, r->to, &o, arena, err) : CLV_OK;
    if (status == CLV_OK && r->ret)
        *r->ret = text;
    else
        free(text);
    return status;
}

cleave_status cleave_reshard(const char *folder, const char *layout, const char *to,
                             const cleave_shard_options *options, int as_json, char **ret_text,
                             cleave_error *error)
{
    clv_error err;
    resharding r = { folder, layout, to, options, as_json != 0, ret_text };
    if (!folder || !layout)
        return clv_api_refuse(error, CLV_EUSAGE, "cleave_reshard needs a folder and a layout");
    if (options && options->kind == CLEAVE_WEIGHTS_RANGES)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "shards of shards cannot be told as ranges: expected external or "
                              "safetensors");
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status status = arena ? reshard(&r, arena, &err) : clv_fail_nomem(&err, "shards");
    clv_arena_free(arena);
    return clv_api_give(status, &err, error);
}

cleave_status cleave_collect(const char *folder, const char *path,
                             const cleave_shard_options *options, cleave_error *error)
{
    clv_error err;
    clv_shard_options o;
    if (!folder || !path)
        return clv_api_refuse(error, CLV_EUSAGE, "cleave_collect needs a folder and a path");
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status status = arena ? take_options(options, &o, &err) : clv_fail_nomem(&err, "shards");
    if (status == CLV_OK)
        status = clv_weights_collect(folder, path, &o, arena, &err);
    clv_arena_free(arena);
    return clv_api_give(status, &err, error);
}
