/* prove_layouts.c - each way in which a rule lets an operator be split, lowered to a program and
 * proven.
 *
 *   prove_layouts [--mesh 2x3] MODEL ...
 *
 * One operator of the main graph is split at a time, all others are whole on every device. A line
 * for each program that does not hold; at the end how many do. The sets of the proof are worked out
 * from the words of rules and layouts, so that this holds the code that turns a choice into layouts
 * against arithmetic of other making. Symbolic dimensions count as 4.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/shard_choices.h"
#include "lower/spmd_make.h"
#include "proto/onnx_read.h"
#include "sharding/graph_factors.h"
#include "sharding/mesh.h"
#include "sharding/refine_uneven.h"
#include "verify/prove.h"

#define SYMBOLS_MAX 64
#define SYMBOL_SIZE 4

typedef struct {
    clv_model *model;
    const clv_types *types;
    clv_mesh_form form;
    clv_plan plan;
    const char **split_of_op;
    clv_arena *arena;
    clv_error *err;
    int64_t held, refuted, refused;
} tool;

static clv_status make_plan(tool *t)
{
    int32_t n = t->model->main->n_ops, d = 1;
    clv_plan_axis *axes = CLV_NEW_ARRAY(t->arena, clv_plan_axis, t->form.n_axes);
    for (int32_t a = 0; axes && a < t->form.n_axes; a++) {
        axes[a] = (clv_plan_axis){ .name = clv_mesh_default_name(t->form.n_axes, a),
                                   .size = t->form.size[a] };
        d *= t->form.size[a];
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

static void prove(tool *t, const char *path, const clv_op_info *op, const char *split)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_spmd *s;
    clv_proof proof;
    t->split_of_op[op->file_index] = split;
    clv_status status = clv_spmd_make(t->model, t->types, &t->plan, arena, &s, t->err);
    if (status == CLV_OK)
        status = clv_prove(s, arena, &proof, t->err);
    t->split_of_op[op->file_index] = "";
    if (status != CLV_OK) {
        t->refused++;
    } else if (proof.holds) {
        t->held++;
    } else {
        printf("%s: %.*s (%.*s) %s: %s\n", path, CLV_STR_ARG(op->label), CLV_STR_ARG(op->type),
               split, proof.fault);
        t->refuted++;
    }
    clv_arena_free(arena);
}

static bool next_choice(const clv_factors *f, const clv_mesh *mesh, clv_op_choice *c)
{
    for (int32_t a = mesh->n_axes - 1; a >= 0; a--) {
        if (++c->factor[a] < f->n_factors)
            return true;
        c->factor[a] = -1;
    }
    return false;
}

static const char *split_text(const tool *t, const clv_factors *f, const clv_op_choice *c)
{
    const char *text = "";
    for (int32_t a = 0; text && a < t->form.n_axes; a++)
        if (c->factor[a] >= 0)
            text = clv_arena_printf(t->arena, "%s%s%s=%s", text, *text ? " " : "",
                                    t->plan.axes[a].name, f->factors[c->factor[a]].name);
    return text;
}

static clv_status work(tool *t, const char *path, clv_onnx_file **file)
{
    clv_binding bindings[SYMBOLS_MAX];
    clv_inference *types;
    clv_factors *all, *cut;
    CLV_TRY(clv_onnx_open(path, NULL, file, t->err));
    CLV_TRY(clv_onnx_read(*file, t->arena, &t->model, t->err));
    int32_t n = t->model->n_symbols < SYMBOLS_MAX ? t->model->n_symbols : SYMBOLS_MAX;
    for (int32_t i = 0; i < n; i++)
        bindings[i] = (clv_binding){ t->model->symbols[i], SYMBOL_SIZE };
    CLV_TRY(clv_infer(t->model, bindings, n, t->arena, &types, t->err));
    t->types = types->main;
    CLV_TRY(make_plan(t));
    clv_mesh mesh = { .n_axes = t->form.n_axes, .n_devices = t->plan.n_devices };
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        mesh.size[a] = a < mesh.n_axes ? t->form.size[a] : 1;
        mesh.name[a] = a < mesh.n_axes ? t->plan.axes[a].name : NULL;
    }
    CLV_TRY(clv_factors_all(t->model, t->types, t->arena, &all, t->err));
    CLV_TRY(clv_factors_for_mesh(t->types, all, &mesh, t->arena, &cut, t->err));
    for (int32_t i = 0; i < t->model->main->n_ops; i++) {
        clv_op_choice c = { { -1, -1, -1 } };
        while (next_choice(&cut[i], &mesh, &c))
            if (clv_choice_may(t->types, (clv_op){ i }, &cut[i], &mesh, &c))
                prove(t, path, &t->model->main->ops[i], split_text(t, &cut[i], &c));
    }
    return CLV_OK;
}

int main(int argc, char **argv)
{
    clv_error err = { CLV_OK, "" };
    tool t = { .err = &err };
    const char *mesh = "2";
    int64_t n = 0, unread = 0;
    for (int i = 1; i < argc; i++) {
        clv_onnx_file *file = NULL;
        if (strcmp(argv[i], "--mesh") == 0 && i + 1 < argc) {
            mesh = argv[++i];
            continue;
        }
        t.arena = clv_arena_new(NULL, 0);
        clv_status status = clv_mesh_form_parse(mesh, t.arena, &t.form, &err);
        if (status == CLV_OK)
            status = work(&t, argv[i], &file);
        unread += status != CLV_OK;
        n++;
        clv_onnx_close(file);
        clv_arena_free(t.arena);
    }
    printf("mesh %s, %lld models (%lld of them not valid): %lld layouts proven, %lld refuted, %lld "
           "not "
           "made\n",
           mesh, (long long)n, (long long)unread, (long long)t.held, (long long)t.refuted,
           (long long)t.refused);
    return t.refuted > 0 || t.held == 0;
}
