#include "lower/derived_layouts.h"

#include "cost/shard_tables.h"
#include "lower/spmd_ops.h"
#include "notation/layout_text.h"
#include "sharding/factors_layout.h"
#include "sharding/graph_factors.h"
#include "sharding/refine_uneven.h"

#define WHAT "the layouts of a plan"

typedef struct {
    const clv_spmd *s;
    const clv_graph *g;
    const clv_plan_decisions *d;
    clv_layout *need, *made, *kept;
    int32_t *stage_of_op;
} derivation;

/* -- layouts -- */

static void lay_operator(derivation *v, clv_op op)
{
    const clv_op_info *info = clv_op_at(v->g, op);
    const clv_factors *f = &v->s->factors[op.i];
    const int16_t *factor = v->d->factor + (int64_t)op.i * CLV_MESH_AXES_MAX;
    for (int32_t k = 0; k < info->n_in; k++) {
        clv_layout layout = CLV_LAYOUT_COPIES;
        if (k < f->n_in)
            clv_factors_in(f, &v->s->mesh, factor, k, &layout);
        v->need[info->first_in + k] = clv_layout_plain(&layout, &v->s->mesh);
    }
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_layout layout = CLV_LAYOUT_COPIES;
        if (k < f->n_out)
            clv_factors_out(f, &v->s->mesh, factor, k, &layout);
        v->made[info->first_out + k] = clv_layout_plain(&layout, &v->s->mesh);
    }
}

/* How the first operator that counts in a plan reads the tensor; false: none does. */
static bool need_of_reader(const derivation *v, clv_tensor t, clv_layout *ret)
{
    const clv_tensor_info *info = clv_tensor_at(v->g, t);
    for (int32_t r = 0; r < info->n_readers; r++) {
        clv_op op = v->g->readers_of[info->first_reader + r];
        const clv_op_info *reader = clv_op_at(v->g, op);
        for (int32_t k = 0; clv_shard_takes_part(v->s->types, op) && k < reader->n_in; k++)
            if (clv_op_input(v->g, reader, k).i == t.i) {
                *ret = v->need[reader->first_in + k];
                return true;
            }
    }
    return false;
}

/* A result lies where the plan brings it for all readers; else it stays as it is made. What is
 * known beforehand, an input or a weight lies as the plan brings it on from, else as it is read
 * first. */
static clv_layout kept_of(const derivation *v, clv_tensor t, const clv_layout *made)
{
    const clv_plan_steps *steps = &v->d->steps;
    int32_t first = steps->first[t.i], end = steps->first[t.i + 1];
    bool is_result = clv_tensor_at(v->g, t)->role == CLV_TENSOR_RESULT;
    clv_layout kept = *made;
    if (!is_result && first < end)
        return steps->step[first].from;
    if (!is_result || clv_shard_is_known(v->s->types, t))
        (void)need_of_reader(v, t, &kept);
    for (int32_t i = first; i < end && is_result; i++)
        if (steps->step[i].reader.i < 0 && clv_layout_equal(&steps->step[i].from, &kept))
            kept = steps->step[i].to;
    return kept;
}

static void lay_tensors(derivation *v)
{
    for (int32_t i = 0; i < v->g->n_tensors; i++)
        if (v->g->tensors[i].role != CLV_TENSOR_RESULT)
            v->kept[i] = kept_of(v, (clv_tensor){ i }, &CLV_LAYOUT_COPIES);
    for (int32_t i = 0; i < v->g->n_ops; i++)
        for (int32_t k = 0; k < v->g->ops[i].n_out; k++) {
            clv_tensor t = clv_op_output(v->g, &v->g->ops[i], k);
            if (t.i >= 0)
                v->kept[t.i] = kept_of(v, t, &v->made[v->g->ops[i].first_out + k]);
        }
}

/* -- are the plan's collectives those of its splits? -- */

/* how: it `is` so where the step begins, or "is needed as" where it ends. */
static clv_status fail_step(const derivation *v, clv_tensor t, const clv_plan_step *step,
                            const char *how, const clv_layout *is, clv_error *err)
{
    char from[CLV_LAYOUT_TEXT], to[CLV_LAYOUT_TEXT], have[CLV_LAYOUT_TEXT];
    int32_t rank = v->s->types->of[t.i].rank;
    clv_str name = v->g->tensors[t.i].name;
    clv_str reader = step->reader.i < 0 ? clv_str_of("") : v->g->ops[step->reader.i].label;
    return clv_fail(
        err, CLV_EFORMAT,
        "collectives: '%.*s'%s%.*s is brought from %s to %s, but by operators.split_runs "
        "it %s %s: change the entry, or take it out, for what is not listed follows",
        CLV_STR_ARG(name), step->reader.i < 0 ? "" : " for ", CLV_STR_ARG(reader),
        clv_layout_show(from, &step->from, &v->s->mesh, rank),
        clv_layout_show(to, &step->to, &v->s->mesh, rank), how,
        clv_layout_show(have, is, &v->s->mesh, rank));
}

/* Does the reader of a chain of steps need the tensor so? *ret: how it needs it, else. */
static bool is_needed_so(const derivation *v, clv_tensor t, const clv_plan_step *last,
                         clv_layout *ret)
{
    const clv_op_info *reader = clv_op_at(v->g, last->reader);
    for (int32_t k = 0; k < reader->n_in; k++) {
        if (clv_op_input(v->g, reader, k).i != t.i)
            continue;
        *ret = v->need[reader->first_in + k];
        if (clv_layout_equal(ret, &last->to))
            return true;
    }
    return false;
}

/* Those for all readers lead on from how the tensor is made, one after another; those for one
 * reader from where it then lies to what that one needs. */
static clv_status check_steps(const derivation *v, clv_tensor t, clv_error *err)
{
    const clv_plan_step *step = v->d->steps.step;
    int32_t first = v->d->steps.first[t.i], end = v->d->steps.first[t.i + 1];
    const clv_tensor_info *info = clv_tensor_at(v->g, t);
    clv_layout at = v->kept[t.i];
    for (int32_t k = 0; info->producer.i >= 0 && k < v->g->ops[info->producer.i].n_out; k++)
        if (clv_op_output(v->g, &v->g->ops[info->producer.i], k).i == t.i)
            at = v->made[v->g->ops[info->producer.i].first_out + k];
    for (int32_t i = first; i < end; i++) {
        if (step[i].reader.i >= 0)
            continue;
        if (!clv_layout_equal(&step[i].from, &at))
            return fail_step(v, t, &step[i], "is", &at, err);
        at = step[i].to;
    }
    const clv_layout kept = at;
    for (int32_t i = first; i < end; i++) {
        bool goes_on = i > first && step[i - 1].reader.i == step[i].reader.i &&
                       clv_layout_equal(&step[i - 1].to, &step[i].from);
        bool is_last = i + 1 == end || step[i + 1].reader.i != step[i].reader.i ||
                       !clv_layout_equal(&step[i].to, &step[i + 1].from);
        if (step[i].reader.i < 0)
            continue;
        if (!goes_on && !clv_layout_equal(&step[i].from, &kept))
            return fail_step(v, t, &step[i], "is", &kept, err);
        at = kept;
        if (is_last && !is_needed_so(v, t, &step[i], &at))
            return fail_step(v, t, &step[i], "is needed as", &at, err);
    }
    return CLV_OK;
}

clv_status clv_derive_layouts(clv_spmd *s, clv_arena *arena, clv_plan_decisions *ret,
                              clv_error *err)
{
    const clv_graph *g = s->model->main;
    int32_t n_in = 0, n_out = 0;
    clv_factors *all, *cut;
    int16_t *factor;
    for (int32_t i = 0; i < g->n_ops; i++) {
        n_in += g->ops[i].n_in;
        n_out += g->ops[i].n_out;
    }
    *ret = (clv_plan_decisions){ .needed = CLV_NEW_ARRAY(arena, bool, g->n_ops) };
    derivation v = { .s = s,
                     .g = g,
                     .d = ret,
                     .need = CLV_NEW_ARRAY(arena, clv_layout, n_in),
                     .made = CLV_NEW_ARRAY(arena, clv_layout, n_out),
                     .kept = CLV_NEW_ARRAY(arena, clv_layout, g->n_tensors),
                     .stage_of_op = CLV_NEW_ARRAY(arena, int32_t, g->n_ops) };
    if (!ret->needed || !v.need || !v.made || !v.kept || !v.stage_of_op)
        return clv_fail_nomem(err, WHAT);
    if (!s->factors) {
        CLV_TRY(clv_factors_all(s->model, s->types, arena, &all, err));
        CLV_TRY(clv_factors_for_mesh(s->types, all, &s->mesh, arena, &cut, err));
        s->factors = cut;
    }
    ret->factors = s->factors;
    CLV_TRY(clv_spmd_read_choices(s, arena, &factor, err));
    ret->factor = factor;
    CLV_TRY(clv_spmd_read_steps(s, arena, &ret->steps, err));
    clv_spmd_mark_needed(s, ret->needed);
    for (int32_t i = 0; i < g->n_ops; i++) {
        lay_operator(&v, (clv_op){ i });
        v.stage_of_op[i] = s->plan->devices[s->plan->device_of_op[g->ops[i].file_index]].stage;
    }
    lay_tensors(&v);
    for (int32_t t = 0; t < g->n_tensors; t++)
        CLV_TRY(check_steps(&v, (clv_tensor){ t }, err));
    ret->layouts = (clv_plan_layouts){ .graph = g,
                                       .types = s->types,
                                       .mesh = s->mesh,
                                       .n_stages = s->plan->n_stages,
                                       .stage_of_op = v.stage_of_op,
                                       .need = v.need,
                                       .made = v.made,
                                       .kept = v.kept };
    return CLV_OK;
}

clv_mesh clv_plan_mesh_form(const clv_plan *plan)
{
    clv_mesh mesh = { .n_axes = 1, .size = { 1, 1, 1 }, .name = { "tp" }, .n_devices = 1 };
    if (plan->n_axes > 0) {
        mesh.n_axes = plan->n_axes;
        mesh.n_devices = plan->mesh_devices;
    }
    for (int32_t a = 0; a < plan->n_axes; a++) {
        mesh.size[a] = plan->axes[a].size;
        mesh.name[a] = plan->axes[a].name;
        mesh.share[a] = plan->axes[a].shares;
    }
    return mesh;
}
