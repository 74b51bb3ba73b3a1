#include "lower/spmd_plan.h"

#include "base/map.h"
#include "cost/shard_choices.h"
#include "notation/layout_text.h"
#include "sharding/moved_as.h"
#include "sharding/rule_text.h"

#define WHAT "lowering a plan"

/* -- phases -- */

/* Where operators run: a mesh of the plan, or a device of one that has no meshes. */
typedef struct {
    int32_t n;
    int32_t *of_device; /* by device of the plan; -1 */
    int32_t *first;     /* its first device */
    int32_t *rank;      /* in the order of stages */
} runners;

static clv_status list_runners(const clv_plan *plan, clv_arena *arena, runners *ret, clv_error *err)
{
    int32_t at = 0;
    ret->n = plan->n_meshes > 0 ? plan->n_meshes : plan->n_devices;
    ret->of_device = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    ret->first = CLV_NEW_ARRAY(arena, int32_t, ret->n);
    ret->rank = CLV_NEW_ARRAY(arena, int32_t, ret->n);
    if (!ret->of_device || !ret->first || !ret->rank)
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
                ret->rank[i] = at++;
    return CLV_OK;
}

/* Forward through the stages, then backward. */
static int32_t phase_of_op(const clv_plan *plan, const runners *r, const clv_op_info *op)
{
    int32_t rank = r->rank[r->of_device[plan->device_of_op[op->file_index]]];
    bool backward = plan->backward_op && plan->backward_op[op->file_index];
    return backward ? 2 * r->n - 1 - rank : rank;
}

clv_status clv_spmd_read_phases(clv_spmd *s, clv_arena *arena, int32_t **ret_of, clv_error *err)
{
    const clv_plan *plan = s->plan;
    const clv_graph *g = s->model->main;
    runners all;
    CLV_TRY(list_runners(plan, arena, &all, err));
    int32_t *of = CLV_NEW_ARRAY(arena, int32_t, g->n_ops);
    int32_t *number = CLV_NEW_ARRAY(arena, int32_t, 2 * all.n);
    int32_t *at_rank = CLV_NEW_ARRAY(arena, int32_t, all.n);
    s->phases = CLV_NEW_ARRAY(arena, clv_spmd_phase, 2 * all.n);
    if (!of || !number || !at_rank || !s->phases)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < all.n; i++)
        at_rank[all.rank[i]] = i;
    for (int32_t i = 0; i < g->n_ops; i++)
        number[phase_of_op(plan, &all, &g->ops[i])] = 1;
    s->n_phases = 0;
    for (int32_t p = 0; p < 2 * all.n; p++) {
        bool backward = p >= all.n;
        int32_t i = at_rank[backward ? 2 * all.n - 1 - p : p];
        if (!number[p])
            continue;
        number[p] = s->n_phases;
        s->phases[s->n_phases++] = (clv_spmd_phase){
            .stage = plan->devices[all.first[i]].stage,
            .backward = backward,
            .device = plan->n_meshes > 0 ? plan->mesh_device + (int64_t)i * plan->mesh_devices
                                         : &all.first[i],
        };
    }
    for (int32_t i = 0; i < g->n_ops; i++)
        of[i] = number[phase_of_op(plan, &all, &g->ops[i])];
    *ret_of = of;
    return CLV_OK;
}

/* -- how operators are split -- */

const char *clv_plan_split_text(const clv_factors *f, const clv_mesh *mesh,
                                const clv_op_choice *choice, clv_arena *arena)
{
    const char *text = "";
    for (int32_t a = 0; text && a < mesh->n_axes; a++)
        if (choice->factor[a] >= 0)
            text = clv_arena_printf(arena, "%s%s%s=%s", text, *text ? " " : "", mesh->name[a],
                                    f->factors[choice->factor[a]].name);
    return text;
}

const char *clv_plan_axes_text(const clv_mesh *mesh, uint32_t axes, clv_arena *arena)
{
    const char *text = "";
    for (int32_t a = 0; text && a < mesh->n_axes; a++)
        if (axes >> a & 1)
            text = clv_arena_printf(arena, "%s%s%s", text, *text ? "," : "", mesh->name[a]);
    return text;
}

/* Is the text, of n bytes, the word? */
static bool is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(word, text, n) == 0;
}

/* "dp=b tp=n", which clv_plan_check() has looked at: axes in their order. */
static clv_status read_split(const clv_spmd *s, clv_op op, const char *text, int16_t *ret,
                             clv_arena *arena, clv_error *err)
{
    const clv_factors *f = &s->factors[op.i];
    for (const char *at = text; *at;) {
        const char *equals = strchr(at, '='), *end = strchr(at, ' ');
        size_t n = end ? (size_t)(end - equals - 1) : strlen(equals + 1);
        int32_t axis = 0, factor = 0;
        while (!is_word(at, (size_t)(equals - at), s->mesh.name[axis]))
            axis++;
        while (factor < f->n_factors && !is_word(equals + 1, n, f->factors[factor].name))
            factor++;
        if (factor == f->n_factors) {
            const char *rule = f->why_whole ? f->why_whole : clv_factors_show(f, arena);
            return clv_fail(
                err, CLV_EFORMAT, "the plan splits operator '%.*s' by '%.*s', %s %.300s",
                CLV_STR_ARG(clv_op_at(s->model->main, op)->label), (int)n, equals + 1,
                f->why_whole ? "but" : "expected a factor of its sharding rule", rule ? rule : "");
        }
        ret[axis] = (int16_t)factor;
        at = end ? end + 1 : equals + 1 + n;
    }
    return CLV_OK;
}

clv_status clv_spmd_read_choices(const clv_spmd *s, clv_arena *arena, int16_t **ret, clv_error *err)
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
            !clv_choice_may(s->types, (clv_op){ i }, &s->factors[i], &s->mesh, &choice)) {
            char text[CLV_IMMOVABLE_TEXT];
            const char *why = clv_why_immovable(s->types, (clv_op){ i }, text);
            return clv_fail(err, CLV_EFORMAT, "the plan splits operator '%.*s' as '%.100s', %s%s",
                            CLV_STR_ARG(g->ops[i].label), split, why ? "but " : "",
                            why ? why : "which its sharding rule does not admit for its shapes");
        }
        memcpy(all + (int64_t)i * CLV_MESH_AXES_MAX, choice.factor, sizeof choice.factor);
    }
    *ret = all;
    return CLV_OK;
}

/* -- collectives -- */

/* One collective of the plan, of tensor t; ops: operators by label. */
static clv_status read_step(const clv_spmd *s, const clv_map *ops, const clv_plan_collective *c,
                            clv_tensor t, clv_plan_step *ret, clv_error *err)
{
    const clv_mesh *mesh = &s->mesh;
    clv_tensor_split split;
    int32_t kind = 0;
    CLV_TRY(clv_spmd_check_sizes(s, t, err));
    (void)clv_spmd_split(s, t, &split);
    while (kind < CLV_N_STEPS && strcmp(c->kind, clv_step_name((clv_step_kind)kind)) != 0)
        kind++;
    if (kind == CLV_N_STEPS)
        return clv_fail(err, CLV_EFORMAT,
                        "the plan has a collective '%.40s' of tensor '%.200s', "
                        "expected all-reduce, all-gather or another known one",
                        c->kind, c->tensor);
    *ret = (clv_plan_step){ .kind = (clv_step_kind)kind, .reader = CLV_NO_OP };
    /* axes are "dp,tp", which clv_plan_check() has looked at */
    for (const char *at = c->axes; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        for (int32_t a = 0; a < mesh->n_axes; a++)
            if (is_word(at, strcspn(at, ","), mesh->name[a]))
                ret->axes |= 1u << a;
    if (c->reader && (ret->reader.i = clv_map_get(ops, clv_str_of(c->reader))) < 0)
        return clv_fail(err, CLV_EFORMAT,
                        "the plan has a collective for '%.200s', which is no operator of the model",
                        c->reader);
    if (!c->from || !c->to)
        return clv_fail(err, CLV_EFORMAT,
                        "collectives: that of '%.200s' has no '%s', expected the layouts from "
                        "which and to which it leads",
                        c->tensor, c->from ? "to" : "from");
    CLV_TRY(clv_layout_parse(c->from, mesh, split.rank, &ret->from, err));
    CLV_TRY(clv_layout_parse(c->to, mesh, split.rank, &ret->to, err));
    CLV_TRY(clv_layout_check(&ret->from, mesh, split.rank, &split, err));
    CLV_TRY(clv_layout_check(&ret->to, mesh, split.rank, &split, err));
    return clv_step_fits(ret->kind, ret->axes, &ret->from, &ret->to, mesh)
               ? CLV_OK
               : clv_fail(err, CLV_EFORMAT,
                          "collectives: '%.200s' is to be brought from %.60s to %.60s by %s over "
                          "%.40s, expected a kind and axes that lead there",
                          c->tensor, c->from, c->to, c->kind, c->axes);
}

clv_status clv_spmd_read_steps(const clv_spmd *s, clv_arena *arena, clv_plan_steps *ret,
                               clv_error *err)
{
    const clv_graph *g = s->model->main;
    int32_t n = s->mesh.n_devices > 1 ? s->plan->n_collectives : 0, id;
    int32_t *tensor = CLV_NEW_ARRAY(arena, int32_t, n);
    clv_plan_step *step = CLV_NEW_ARRAY(arena, clv_plan_step, n);
    clv_map tensors, ops; /* by name, by label */
    ret->first = CLV_NEW_ARRAY(arena, int32_t, g->n_tensors + 2);
    ret->step = step;
    if (!tensor || !step || !ret->first)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_map_init(&tensors, arena, g->n_tensors, err));
    CLV_TRY(clv_map_init(&ops, arena, g->n_ops, err));
    for (int32_t t = 0; t < g->n_tensors; t++)
        CLV_TRY(clv_map_put(&tensors, g->tensors[t].name, t, &id, err));
    for (int32_t i = 0; i < g->n_ops; i++)
        CLV_TRY(clv_map_put(&ops, g->ops[i].label, i, &id, err));
    for (int32_t i = 0; i < n; i++) {
        const char *name = s->plan->collectives[i].tensor;
        if ((tensor[i] = clv_map_get(&tensors, clv_str_of(name))) < 0)
            return clv_fail(
                err, CLV_EFORMAT,
                "the plan has a collective of '%.200s', which is no tensor of the model", name);
        ret->first[tensor[i] + 2]++;
    }
    for (int32_t t = 0; t < g->n_tensors; t++)
        ret->first[t + 2] += ret->first[t + 1];
    for (int32_t i = 0; i < n; i++) /* first[t + 1] moves from the start to the end of t */
        CLV_TRY(read_step(s, &ops, &s->plan->collectives[i], (clv_tensor){ tensor[i] },
                          &step[ret->first[tensor[i] + 1]++], err));
    return CLV_OK;
}
