/* lower_layouts.c - each way in which a rule lets an operator be split, lowered to a file.
 *
 *   lower_layouts MODEL --mesh 2x3 --out PREFIX [--collectives ort|tensorrt] [SYMBOL=VALUE ...]
 *   lower_layouts MODEL --mesh 2x3 --random SEED --out PLAN [SYMBOL=VALUE ...]
 *
 * --mesh 2:1,2 is an axis of two whose parts are as 1 to 2.
 *
 * One operator of the main graph is split at a time, all others are whole on every device; in the
 * first file none is split, and in the last, of several operators, each in one of its ways, at
 * random. The files are PREFIX.0.onnx, PREFIX.1.onnx, ...: all devices side by side; with
 * --collectives folders, PREFIX.0 and so on, of a model a device in that dialect. One JSON object a
 * line: the operator and its split, and the file or, for an operator with no split at all, why.
 * tests/lower/conform.py runs them.
 *
 * With a seed, a plan is written in which every operator is split in one of its ways, at random,
 * and nothing is said of collectives: tests/lower/models.py lowers it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_out.h"
#include "cost/shard_choices.h"
#include "lower/lower.h"
#include "lower/model_file.h"
#include "lower/spmd_make.h"
#include "plan/plan_json_write.h"
#include "plan/plan_mesh.h"
#include "proto/fingerprint.h"
#include "proto/out_file.h"
#include "sharding/graph_factors.h"
#include "sharding/mesh.h"
#include "sharding/moved_as.h"
#include "sharding/refine_uneven.h"
#include "weights/model_source.h"

#define BINDINGS_MAX 64
#define SEED         0x9e3779b97f4a7c15u

typedef struct {
    const char *path, *mesh, *prefix;
    clv_binding bindings[BINDINGS_MAX];
    int32_t n_bindings;
    clv_onnx_file *file;
    clv_model *model;
    clv_inference *types;
    clv_tensor_data *data;
    clv_model_source *source;
    clv_mesh_form form;
    clv_arena *arena;
    clv_error *err;
    const char **split_of_op;
    clv_plan plan;
    int32_t n_files;
    uint64_t random;         /* state; 0: each way by itself */
    const char *shares;      /* of the first axis; NULL: equal */
    const char *collectives; /* NULL: all devices side by side */
} tool;

static void print_case(tool *t, const clv_op_info *op, const char *split, const char *key,
                       const char *value)
{
    clv_json_out out;
    clv_json_begin(&out, t->arena, false);
    clv_json_open_object(&out, NULL);
    clv_json_put_str(&out, "op", op->label);
    clv_json_put_str(&out, "type", op->type);
    clv_json_put_string(&out, "split", split);
    clv_json_put_string(&out, key, value);
    clv_json_close_object(&out);
    if (clv_json_end(&out, t->err) == CLV_OK)
        fputs(out.text, stdout);
}

/* A plan of one stage on one mesh in which nothing is split yet. */
static clv_status make_plan(tool *t)
{
    int32_t n = t->model->main->n_ops, d = 1;
    clv_plan_axis *axes = CLV_NEW_ARRAY(t->arena, clv_plan_axis, t->form.n_axes);
    for (int32_t a = 0; axes && a < t->form.n_axes; a++) {
        axes[a] = (clv_plan_axis){ .name = clv_mesh_default_name(t->form.n_axes, a),
                                   .size = t->form.size[a] };
        d *= t->form.size[a];
    }
    int64_t *shares = CLV_NEW_ARRAY(t->arena, int64_t, d);
    for (int32_t i = 0; shares && axes && t->shares && i < axes[0].size; i++) {
        char *end;
        shares[i] = strtoll(t->shares, &end, 10);
        t->shares = *end ? end + 1 : end;
        axes[0].shares = shares;
    }
    clv_plan_device *devices = CLV_NEW_ARRAY(t->arena, clv_plan_device, d);
    int32_t *mesh = CLV_NEW_ARRAY(t->arena, int32_t, d);
    int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, n);
    t->split_of_op = CLV_NEW_ARRAY(t->arena, const char *, n);
    if (!axes || !devices || !mesh || !device_of || !t->split_of_op)
        return clv_fail_nomem(t->err, "a plan");
    for (int32_t i = 0; i < d; i++) {
        devices[i].name = clv_arena_printf(t->arena, "d%d", (int)i);
        mesh[i] = i;
    }
    for (int32_t i = 0; i < n; i++)
        t->split_of_op[i] = "";
    t->plan = (clv_plan){ .n_devices = d,
                          .n_stages = 1,
                          .n_ops = n,
                          .devices = devices,
                          .device_of_op = device_of,
                          .axes = axes,
                          .n_axes = t->form.n_axes,
                          .mesh_devices = d,
                          .n_meshes = 1,
                          .mesh_device = mesh,
                          .split_of_op = t->split_of_op };
    return CLV_OK;
}

static clv_status write_folder(tool *t, const char *path, clv_arena *arena)
{
    bool ort = strcmp(t->collectives, "ort") == 0;
    clv_lowering l = { .file = t->file,
                       .model = t->model,
                       .types = t->types->main,
                       .plan = &t->plan,
                       .form = CLV_FORM_DEVICES,
                       .dialect = ort ? CLV_DIALECT_ORT : CLV_DIALECT_TENSORRT,
                       .model_name = "model.onnx" };
    clv_lower_summary summary;
    return clv_lower(&l, path, arena, &summary, t->err);
}

static clv_status write_one(tool *t, const char *path, clv_arena *arena)
{
    clv_spmd *s;
    clv_model_file f;
    clv_out_file *out;
    CLV_TRY(clv_spmd_make(t->model, t->types->main, &t->plan, arena, &s, t->err));
    CLV_TRY(clv_model_file_make(s, CLV_DIALECT_PLAIN, CLV_ALL_DEVICES, arena, &f, t->err));
    clv_model_weights weights = { t->data, clv_model_source_of(t->source) };
    clv_new_tensor *initialisers = CLV_NEW_ARRAY(arena, clv_new_tensor, f.e.n_weights);
    if (!initialisers)
        return clv_fail_nomem(t->err, "weights");
    for (int32_t i = 0; i < f.e.n_weights; i++)
        CLV_TRY(
            clv_model_file_inline(s, &f.e.weights[i], &weights, arena, &initialisers[i], t->err));
    CLV_TRY(clv_out_open(path, NULL, &out, t->err));
    clv_sink sink = clv_out_sink(out);
    clv_status status = clv_model_file_write(&f, t->file, initialisers, &sink, arena, t->err);
    if (status != CLV_OK) {
        clv_out_abort(out);
        return status;
    }
    return clv_out_commit(out, t->err);
}

/* "dp=b tp=n" */
static const char *split_text(const tool *t, const clv_factors *f, const clv_op_choice *c)
{
    const char *text = "";
    for (int32_t a = 0; text && a < t->form.n_axes; a++)
        if (c->factor[a] >= 0)
            text = clv_arena_printf(t->arena, "%s%s%s=%s", text, *text ? " " : "",
                                    t->plan.axes[a].name, f->factors[c->factor[a]].name);
    return text;
}

/* The next choice of all, those that the rule refuses too. */
static bool next_choice(const clv_factors *f, const clv_mesh *mesh, clv_op_choice *c)
{
    for (int32_t a = mesh->n_axes - 1; a >= 0; a--) {
        if (++c->factor[a] < f->n_factors)
            return true;
        c->factor[a] = -1;
    }
    return false;
}

/* Writes the plan as it stands; op and split say what it is about. */
static void lower_one(tool *t, const clv_op_info *op, const char *split)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    char *path = clv_arena_printf(t->arena, "%s.%d%s", t->prefix, (int)t->n_files++,
                                  t->collectives ? "" : ".onnx");
    clv_status status = !arena || !path  ? clv_fail_nomem(t->err, "a model")
                        : t->collectives ? write_folder(t, path, arena)
                                         : write_one(t, path, arena);
    print_case(t, op, split, status == CLV_OK ? "model" : "fault",
               status == CLV_OK ? path : t->err->message);
    clv_arena_free(arena);
}

static clv_status lower_choices(tool *t, const clv_mesh *mesh, const clv_factors *all, int32_t op)
{
    const clv_op_info *info = &t->model->main->ops[op];
    clv_op_choice c = { { -1, -1, -1 } };
    int32_t n = 0;
    while (next_choice(&all[op], mesh, &c)) {
        if (!clv_choice_may(t->types->main, (clv_op){ op }, &all[op], mesh, &c))
            continue;
        const char *split = split_text(t, &all[op], &c);
        t->split_of_op[info->file_index] = split;
        lower_one(t, info, split);
        t->split_of_op[info->file_index] = "";
        n++;
    }
    char text[CLV_IMMOVABLE_TEXT];
    const char *why = clv_why_immovable(t->types->main, (clv_op){ op }, text);
    if (n == 0)
        print_case(t, info, "", "whole",
                   all[op].why_whole ? all[op].why_whole
                   : why             ? why
                   : all[op].n_factors == 0
                       ? "has nothing that could be split"
                       : "none of its dimensions may be cut into so many parts");
    return CLV_OK;
}

/* One of the ways in which an operator may be split, each as likely. */
static void choose(tool *t, const clv_mesh *mesh, const clv_factors *f, int32_t op)
{
    clv_op_choice c = { { -1, -1, -1 } };
    uint64_t n = 0;
    while (next_choice(f, mesh, &c)) {
        if (!clv_choice_may(t->types->main, (clv_op){ op }, f, mesh, &c))
            continue;
        t->random ^= t->random << 13; /* xorshift */
        t->random ^= t->random >> 7;
        t->random ^= t->random << 17;
        if (t->random % ++n == 0)
            t->split_of_op[t->model->main->ops[op].file_index] = split_text(t, f, &c);
    }
}

static clv_status write_plan(tool *t)
{
    const char **bindings = CLV_NEW_ARRAY(t->arena, const char *, t->n_bindings);
    const char *text;
    size_t n;
    if (!bindings)
        return clv_fail_nomem(t->err, "a plan");
    for (int32_t i = 0; i < t->n_bindings; i++)
        bindings[i] = clv_arena_printf(t->arena, "%.*s=%lld", CLV_STR_ARG(t->bindings[i].symbol),
                                       (long long)t->bindings[i].value);
    t->plan.bindings = bindings;
    t->plan.n_bindings = t->n_bindings;
    t->plan.model = "model.onnx";
    t->plan.configuration = "cleave";
    t->plan.cluster = "made";
    t->plan.compiler = "none";
    t->plan.search = "random";
    t->plan.fingerprint = clv_onnx_fingerprint(t->model);
    for (int32_t d = 0; d < t->plan.n_devices; d++)
        t->plan.devices[d].kind = "made", t->plan.devices[d].n_ops = t->plan.n_ops;
    CLV_TRY(clv_plan_set_leads(&t->plan, t->arena, t->err));
    CLV_TRY(clv_plan_write(&t->plan, t->arena, &text, &n, t->err));
    FILE *f = fopen(t->prefix, "w");
    if (!f || fwrite(text, 1, n, f) != n || fclose(f) != 0)
        return clv_fail(t->err, CLV_EIO, "%s cannot be written", t->prefix);
    return CLV_OK;
}

static clv_status work(tool *t)
{
    clv_factors *all, *cut;
    CLV_TRY(clv_onnx_open(t->path, NULL, &t->file, t->err));
    CLV_TRY(clv_onnx_read(t->file, t->arena, &t->model, t->err));
    CLV_TRY(clv_infer(t->model, t->bindings, t->n_bindings, t->arena, &t->types, t->err));
    CLV_TRY(clv_tensor_data_find(t->file, t->model, t->arena, &t->data, t->err));
    CLV_TRY(clv_model_source_new(&(clv_onnx_model){ t->file, t->model }, t->data, NULL, t->arena,
                                 &t->source, t->err));
    char *form = clv_arena_printf(t->arena, "%s", t->mesh),
         *colon = form ? strchr(form, ':') : NULL;
    if (!form)
        return clv_fail_nomem(t->err, "a mesh");
    if (colon) {
        *colon = 0;
        t->shares = colon + 1;
    }
    CLV_TRY(clv_mesh_form_parse(form, t->arena, &t->form, t->err));
    CLV_TRY(make_plan(t));
    clv_mesh mesh = { .n_axes = t->form.n_axes, .n_devices = t->plan.n_devices };
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        mesh.size[a] = a < mesh.n_axes ? t->form.size[a] : 1;
        mesh.name[a] = a < mesh.n_axes ? t->plan.axes[a].name : NULL;
        mesh.share[a] = a < mesh.n_axes ? t->plan.axes[a].shares : NULL;
    }
    CLV_TRY(clv_factors_all(t->model, t->types->main, t->arena, &all, t->err));
    CLV_TRY(clv_factors_for_mesh(t->types->main, all, &mesh, t->arena, &cut, t->err));
    if (!t->random && t->model->main->n_ops > 0)
        lower_one(t, &t->model->main->ops[0], "");
    for (int32_t i = 0; i < t->model->main->n_ops; i++)
        if (t->random)
            choose(t, &mesh, &cut[i], i);
        else
            CLV_TRY(lower_choices(t, &mesh, cut, i));
    if (t->random)
        return write_plan(t);
    t->random = SEED;
    for (int32_t i = 0; i < t->model->main->n_ops; i++)
        choose(t, &mesh, &cut[i], i);
    if (t->model->main->n_ops > 1)
        lower_one(t, &t->model->main->ops[0], "all at random");
    return CLV_OK;
}

int main(int argc, char **argv)
{
    clv_error err = { CLV_OK, "" };
    tool t = { .mesh = "2", .prefix = "lowered", .err = &err };
    t.arena = clv_arena_new(NULL, 0);
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (strcmp(argv[i], "--mesh") == 0 && i + 1 < argc)
            t.mesh = argv[++i];
        else if (strcmp(argv[i], "--random") == 0 && i + 1 < argc)
            t.random = (uint64_t)atoll(argv[++i]) * SEED + 1;
        else if (strcmp(argv[i], "--collectives") == 0 && i + 1 < argc)
            t.collectives = argv[++i];
        else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc)
            t.prefix = argv[++i];
        else if (equals && t.n_bindings < BINDINGS_MAX)
            t.bindings[t.n_bindings++] =
                (clv_binding){ { argv[i], (int32_t)(equals - argv[i]) }, atoll(equals + 1) };
        else
            t.path = argv[i];
    }
    if (!t.path || !t.arena) {
        fprintf(stderr, "usage: %s MODEL --mesh 2x3 --out PREFIX [SYMBOL=VALUE ...]\n", argv[0]);
        return 2;
    }
    clv_status s = work(&t);
    clv_model_source_free(t.source);
    if (s != CLV_OK)
        fprintf(stderr, "%s: %s\n", t.path, err.message);
    clv_onnx_close(t.file);
    clv_arena_free(t.arena);
    return s == CLV_OK ? 0 : 1;
}
