/* programs.h - lowered programs of small models, for the tests of verify/. */
#ifndef CLV_TESTS_VERIFY_PROGRAMS_H
#define CLV_TESTS_VERIFY_PROGRAMS_H

#include <stdio.h>
#include <string.h>

#include "cost/made.h"
#include "lower/spmd_make.h"
#include "sharding/mesh.h"
#include "verify/prove.h"

typedef struct {
    const char *op, *split; /* the tensor that an operator writes, and "dp=b tp=n" */
} program_split;

typedef struct {
    const char *kind, *axes, *tensor, *from, *to;
} program_step;

/* A plan of one stage for each of n_stages, operators in equal runs. */
static inline clv_plan *program_plan(made *m, const char *mesh, int32_t n_stages)
{
    int32_t n_ops = m->model->main->n_ops, d = 1;
    clv_mesh_form form;
    clv_plan *plan = CLV_NEW(m->arena, clv_plan);
    cr_assert_eq(clv_mesh_form_parse(mesh, m->arena, &form, &m->err), CLV_OK, "%s", m->err.message);
    clv_plan_axis *axes = CLV_NEW_ARRAY(m->arena, clv_plan_axis, form.n_axes);
    for (int32_t a = 0; a < form.n_axes; a++) {
        axes[a] =
            (clv_plan_axis){ .name = clv_mesh_default_name(form.n_axes, a), .size = form.size[a] };
        d *= form.size[a];
    }
    clv_plan_device *devices = CLV_NEW_ARRAY(m->arena, clv_plan_device, d * n_stages);
    int32_t *places = CLV_NEW_ARRAY(m->arena, int32_t, d * n_stages);
    int32_t *device_of = CLV_NEW_ARRAY(m->arena, int32_t, n_ops);
    const char **split = CLV_NEW_ARRAY(m->arena, const char *, n_ops);
    for (int32_t i = 0; i < d * n_stages; i++) {
        devices[i].name = clv_arena_printf(m->arena, "gpu%d", (int)i);
        devices[i].stage = i / d;
        places[i] = i;
    }
    for (int32_t i = 0; i < n_ops; i++) {
        device_of[m->model->main->ops[i].file_index] = i * n_stages / n_ops * d;
        split[i] = "";
    }
    *plan = (clv_plan){ .n_devices = d * n_stages,
                        .n_stages = n_stages,
                        .n_ops = n_ops,
                        .devices = devices,
                        .device_of_op = device_of,
                        .axes = axes,
                        .n_axes = form.n_axes,
                        .mesh_devices = d,
                        .n_meshes = n_stages,
                        .mesh_device = places,
                        .split_of_op = split };
    return plan;
}

static inline clv_spmd *program_of(made *m, const clv_plan *plan)
{
    clv_spmd *s = NULL;
    clv_status status = clv_spmd_make(m->model, m->types, plan, m->arena, &s, &m->err);
    cr_assert_eq(status, CLV_OK, "%s", m->err.message);
    return s;
}

static inline void program_split_ops(made *m, clv_plan *plan, const program_split *splits, int n)
{
    for (int i = 0; i < n; i++)
        plan->split_of_op[m->model->main->ops[made_writer(m, splits[i].op).i].file_index] =
            splits[i].split;
}

static inline void program_steps(made *m, clv_plan *plan, const program_step *steps, int n)
{
    plan->collectives = CLV_NEW_ARRAY(m->arena, clv_plan_collective, n);
    plan->n_collectives = n;
    for (int i = 0; i < n; i++)
        plan->collectives[i] = (clv_plan_collective){ .kind = steps[i].kind,
                                                      .axes = steps[i].axes,
                                                      .tensor = steps[i].tensor,
                                                      .from = steps[i].from,
                                                      .to = steps[i].to };
}

static inline clv_proof proof_of(made *m, const clv_spmd *s)
{
    clv_proof proof;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status status = clv_prove(s, arena, &proof, &m->err);
    cr_assert_eq(status, CLV_OK, "%s", m->err.message);
    cr_assert_eq(proof.holds, proof.fault == NULL);
    if (proof.fault)
        proof.fault = clv_arena_printf(m->arena, "%s", proof.fault);
    clv_arena_free(arena);
    return proof;
}

#endif
