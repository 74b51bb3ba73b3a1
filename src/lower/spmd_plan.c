#include "lower/spmd_plan.h"

#include "base/map.h"
#include "cost/shard_choices.h"

#define WHAT "lowering a plan"

/* -- phases -- */

/* Where operators run: a mesh of the plan, or a device of one that has no meshes. */
typedef struct {
    int32_t n;
    int32_t *of_device; /* by device of the plan; -1 */
    int32_t *first;     /* its first device */
    int32_t *place;     /* in the order of stages */
} seats;

static clv_status list_seats(const clv_plan *plan, clv_arena *arena, seats *ret, clv_error *err)
{
    int32_t at = 0;
    ret->n = plan->n_meshes > 0 ? plan->n_meshes : plan->n_devices;
    ret->of_device = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    ret->first = CLV_NEW_ARRAY(arena, int32_t, ret->n);
    ret->place = CLV_NEW_ARRAY(arena, int32_t, ret->n);
    if (!ret->of_device || !ret->first || !ret->place)
        return clv_fail_nomem(err, WHAT);
    for (int32_t d = 0; d < plan->n_devices; d++)
        ret->of_device[d] = -1;
    for (int32_t i = 0; i < ret->n; i++) {
        ret->first[i] = plan->n_meshes > 0 ? plan->mesh_device[(int64_t)i * plan->mesh_devices] : i;
        ret->of_device[ret->first[i]] = i;
    }
    for (int32_t stage = -1; stage < plan->n_stages; stage++)
        for (int32_t i = 0; i < ret->n; i++)
            if (plan->devices[ret->first[i]].stage == stage)
                ret->place[i] = at++;
    return CLV_OK;
}

/* Forward through the stages, then backward. */
static int32_t phase_of_op(const clv_plan *plan, const seats *s, const clv_op_info *op)
{
    int32_t place = s->place[s->of_device[plan->device_of_op[op->file_index]]];
    bool backward = plan->backward_op && plan->backward_op[op->file_index];
    return backward ? 2 * s->n - 1 - place : place;
}

static void make_phase(const clv_plan *plan, const seats *s, int32_t seat, bool backward,
                       clv_spmd_phase *ret)
{
    *ret = (clv_spmd_phase){ .stage = plan->devices[s->first[seat]].stage,
                             .backward = backward,
                             .device = plan->n_meshes > 0
                                           ? plan->mesh_device + (int64_t)seat * plan->mesh_devices
                                           : &s->first[seat] };
}

clv_status clv_plan_phases_read(clv_spmd *s, clv_arena *arena, int32_t **ret_of, clv_error *err)
{
    const clv_plan *plan = s->plan;
    const clv_graph *g = s->model->main;
    seats all;
    int32_t n_used = 0;
    CLV_TRY(list_seats(plan, arena, &all, err));
    int32_t *of = CLV_NEW_ARRAY(arena, int32_t, g->n_ops);
    int32_t *number = CLV_NEW_ARRAY(arena, int32_t, 2 * all.n);
    s->phases = CLV_NEW_ARRAY(arena, clv_spmd_phase, 2 * all.n);
    int32_t *seat_at = CLV_NEW_ARRAY(arena, int32_t, all.n);
    if (!of || !number || !seat_at || !s->phases)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < all.n; i++)
        seat_at[all.place[i]] = i;
    for (int32_t i = 0; i < g->n_ops; i++)
        number[phase_of_op(plan, &all, &g->ops[i])] = 1;
    for (int32_t p = 0; p < 2 * all.n; p++) {
        bool backward = p >= all.n;
        if (!number[p])
            continue;
        number[p] = n_used;
        make_phase(plan, &all, seat_at[backward ? 2 * all.n - 1 - p : p], backward,
                   &s->phases[n_used++]);
    }
    for (int32_t i = 0; i < g->n_ops; i++)
        of[i] = number[phase_of_op(plan, &all, &g->ops[i])];
    s->n_phases = n_used;
    *ret_of = of;
    return CLV_OK;
}

/* -- how operators are split -- */

static int32_t factor_named(const clv_factors *f, const char *name, size_t n)
{
    for (int32_t i = 0; i < f->n_factors; i++)
        if (strlen(f->factors[i].name) == n && memcmp(f->factors[i].name, name, n) == 0)
            return i;
    return -1;
}

/* "dp=b tp=n", which clv_plan_check() has looked at: axes in their order. */
static clv_status read_split(const clv_spmd *s, clv_op op, const char *text, int16_t *ret,
                             clv_arena *arena, clv_error *err)
{
    const clv_factors *f = &s->factors[op.i];
    for (const char *at = text; *at;) {
        const char *equals = strchr(at, '='), *end = strchr(at, ' ');
        size_t n = end ? (size_t)(end - equals - 1) : strlen(equals + 1);
        int32_t axis = 0, factor = factor_named(f, equals + 1, n);
        while (strlen(s->mesh.name[axis]) != (size_t)(equals - at) ||
               memcmp(s->mesh.name[axis], at, (size_t)(equals - at)) != 0)
            axis++;
        if (factor < 0) {
            const char *rule = f->why_whole ? NULL : clv_factors_show(f, arena);
            return clv_fail(err, CLV_EFORMAT,
                            "the plan splits operator '%.*s' by '%.*s', expected a factor of its "
                            "sharding rule %.200s",
                            CLV_STR_ARG(clv_op_at(s->model->main, op)->label), (int)n, equals + 1,
                            rule ? rule : "(none: it stays whole)");
        }
        ret[axis] = (int16_t)factor;
        at = end ? end + 1 : equals + 1 + n;
    }
    return CLV_OK;
}

clv_status clv_plan_choices_read(const clv_spmd *s, clv_arena *arena, int16_t **ret, clv_error *err)
{
    const clv_graph *g = s->model->main;
    int16_t *all = CLV_NEW_ARRAY(arena, int16_t, (int64_t)g->n_ops * CLV_MESH_AXES_MAX);
    if (!all)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < g->n_ops; i++) {
        clv_op_choice choice = { { -1, -1, -1 } };
        const char *split = s->mesh.n_devices > 1 && s->plan->split_of_op
                                ? s->plan->split_of_op[g->ops[i].file_index]
                                : NULL;
        if (split)
            CLV_TRY(read_split(s, (clv_op){ i }, split, choice.factor, arena, err));
        if (split && *split &&
            !clv_choice_may(s->types, (clv_op){ i }, &s->factors[i], &s->mesh, &choice))
            return clv_fail(err, CLV_EFORMAT,
                            "the plan splits operator '%.*s' as '%.100s', which its sharding rule "
                            "does not admit for its shapes",
                            CLV_STR_ARG(g->ops[i].label), split);
        memcpy(all + (int64_t)i * CLV_MESH_AXES_MAX, choice.factor, sizeof choice.factor);
    }
    *ret = all;
    return CLV_OK;
}

/* -- collectives -- */

typedef struct {
    const clv_spmd *s;
    clv_map tensors, ops; /* by name, by label */
    clv_error *err;
} lookup;

static clv_status index_names(const clv_graph *g, clv_arena *arena, lookup *ret)
{
    int32_t id;
    CLV_TRY(clv_map_init(&ret->tensors, arena, g->n_tensors, ret->err));
    CLV_TRY(clv_map_init(&ret->ops, arena, g->n_ops, ret->err));
    for (int32_t t = 0; t < g->n_tensors; t++)
        CLV_TRY(clv_map_put(&ret->tensors, g->tensors[t].name, t, &id, ret->err));
    for (int32_t i = 0; i < g->n_ops; i++)
        CLV_TRY(clv_map_put(&ret->ops, g->ops[i].label, i, &id, ret->err));
    return CLV_OK;
}

static clv_status kind_of(const clv_plan_collective *c, clv_step_kind *ret, clv_error *err)
{
    for (int32_t k = 0; k < CLV_N_STEPS; k++)
        if (strcmp(c->kind, clv_step_name((clv_step_kind)k)) == 0) {
            *ret = (clv_step_kind)k;
            return CLV_OK;
        }
    return clv_fail(err, CLV_EFORMAT,
                    "the plan has a collective '%.40s' of tensor '%.200s', "
                    "expected all-reduce, all-gather or another known one",
                    c->kind, c->tensor);
}

/* "dp,tp", which clv_plan_check() has looked at. */
static uint32_t axes_of(const clv_mesh *mesh, const char *text)
{
    uint32_t axes = 0;
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        for (int32_t a = 0; a < mesh->n_axes; a++) {
            size_t n = strlen(mesh->name[a]);
            if (strncmp(at, mesh->name[a], n) == 0 && (at[n] == 0 || at[n] == ','))
                axes |= 1u << a;
        }
    return axes;
}

static clv_status read_step(const lookup *l, const clv_plan_collective *c, int32_t t,
                            clv_plan_step *ret)
{
    const clv_spmd *s = l->s;
    clv_tensor_split split;
    CLV_TRY(clv_spmd_check_sizes(s, (clv_tensor){ t }, l->err));
    (void)clv_spmd_split(s, (clv_tensor){ t }, &split);
    ret->reader = CLV_NO_OP;
    CLV_TRY(kind_of(c, &ret->kind, l->err));
    ret->axes = axes_of(&s->mesh, c->axes);
    if (c->reader && (ret->reader.i = clv_map_get(&l->ops, clv_str_of(c->reader))) < 0)
        return clv_fail(l->err, CLV_EFORMAT,
                        "the plan has a collective for '%.200s', which is no operator of the model",
                        c->reader);
    CLV_TRY(clv_layout_parse(c->from, &s->mesh, split.rank, &ret->from, l->err));
    CLV_TRY(clv_layout_parse(c->to, &s->mesh, split.rank, &ret->to, l->err));
    CLV_TRY(clv_layout_check(&ret->from, &s->mesh, split.rank, &split, l->err));
    return clv_layout_check(&ret->to, &s->mesh, split.rank, &split, l->err);
}

clv_status clv_plan_steps_read(const clv_spmd *s, clv_arena *arena, clv_plan_steps *ret,
                               clv_error *err)
{
    const clv_graph *g = s->model->main;
    int32_t n = s->mesh.n_devices > 1 ? s->plan->n_collectives : 0;
    int32_t *tensor = CLV_NEW_ARRAY(arena, int32_t, n);
    clv_plan_step *step = CLV_NEW_ARRAY(arena, clv_plan_step, n);
    lookup l = { .s = s, .err = err };
    ret->first = CLV_NEW_ARRAY(arena, int32_t, g->n_tensors + 2);
    ret->step = step;
    if (!tensor || !step || !ret->first)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(index_names(g, arena, &l));
    for (int32_t i = 0; i < n; i++) {
        const clv_plan_collective *c = &s->plan->collectives[i];
        if ((tensor[i] = clv_map_get(&l.tensors, clv_str_of(c->tensor))) < 0)
            return clv_fail(
                err, CLV_EFORMAT,
                "the plan has a collective of '%.200s', which is no tensor of the model",
                c->tensor);
        ret->first[tensor[i] + 2]++;
    }
    for (int32_t t = 0; t < g->n_tensors; t++)
        ret->first[t + 2] += ret->first[t + 1];
    for (int32_t i = 0; i < n; i++) /* first[t + 1] moves from the start to the end of t */
        CLV_TRY(
            read_step(&l, &s->plan->collectives[i], tensor[i], &step[ret->first[tensor[i] + 1]++]));
    return CLV_OK;
}
