/* spmd_make.c - phase by phase: what an operator reads is brought to the layout that it needs, then
 * the operator, then what it wrote to the layout in which it lies.
 */
#include "lower/spmd_make.h"

#include "cost/shard_tables.h"
#include "lower/derived_layouts.h"
#include "lower/spmd_ops.h"
#include "lower/spmd_steps.h"
#include "plan/plan_mesh.h"

#define WHAT "lowering a plan"

typedef struct {
    clv_spmd *s;
    const clv_graph *g;
    clv_arena *arena;
    clv_plan_decisions d;
    const int32_t *phase_of_op;
    int32_t *home;    /* by tensor: the value where it lies, in the phase that makes it; -1 */
    int32_t *here;    /* by tensor: the value of it in this phase; -1 */
    int32_t *parts;   /* by tensor: the newest part of a weight in this phase; -1 */
    int32_t *earlier; /* by value: another part of the same weight; -1 */
    int32_t *touched; /* tensors whose here or parts is set */
    int32_t n_touched, cap_touched;
    int32_t cap_instrs, cap_values, cap_operands, cap_earlier;
    int32_t phase;
} builder;

/* -- layouts -- */

/* In which an operator needs input k. */
static clv_layout needed_layout(const builder *b, clv_op op, int32_t k)
{
    return b->d.layouts.need[clv_op_at(b->g, op)->first_in + k];
}

/* Where a result comes to lie. What is known beforehand is on every device, and each operator takes
 * its part of it. */
static clv_layout home_of_result(const builder *b, clv_tensor t, const clv_layout *made)
{
    return clv_shard_is_known(b->s->types, t) ? *made : b->d.layouts.kept[t.i];
}

/* A partial result may be brought on for each reader by itself; what leaves the phase may not. */
static bool leaves_phase(const builder *b, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(b->g, t);
    bool out = info->is_output;
    for (int32_t r = 0; r < info->n_readers && !out; r++)
        out = b->phase_of_op[b->g->readers_of[info->first_reader + r].i] != b->phase;
    return out;
}

/* -- values -- */

/* Appends a value of this phase. */
static clv_status add_value(builder *b, const clv_spmd_value *value, int32_t *ret, clv_error *err)
{
    clv_spmd *s = b->s;
    if (!clv_layout_equal(&value->layout, &CLV_LAYOUT_COPIES))
        CLV_TRY(clv_spmd_check_sizes(s, value->tensor, err));
    if (!CLV_PUSH_ROOM(b->arena, s->values, s->n_values, b->cap_values) ||
        !CLV_PUSH_ROOM(b->arena, b->earlier, s->n_values, b->cap_earlier))
        return clv_fail_nomem(err, WHAT);
    s->values[s->n_values] = *value;
    s->values[s->n_values].phase = b->phase;
    b->earlier[s->n_values] = -1;
    *ret = s->n_values++;
    return CLV_OK;
}

/* A name for a tensor in another layout than that in which it lies. */
static clv_status name_layout(builder *b, clv_tensor t, const char *what, clv_str *ret,
                              clv_error *err)
{
    char *text = clv_arena_printf(b->arena, "%.*s//%s.%d", CLV_STR_ARG(b->g->tensors[t.i].name),
                                  what, (int)b->s->n_values);
    if (!text)
        return clv_fail_nomem(err, WHAT);
    *ret = clv_str_of(text);
    return CLV_OK;
}

static clv_status list_touched(builder *b, clv_tensor t, clv_error *err)
{
    if (b->here[t.i] >= 0 || b->parts[t.i] >= 0)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(b->arena, b->touched, b->n_touched, b->cap_touched))
        return clv_fail_nomem(err, WHAT);
    b->touched[b->n_touched++] = t.i;
    return CLV_OK;
}

/* Does every device have its part of the tensor when a phase begins? */
static bool is_there_from_the_start(const builder *b, clv_tensor t)
{
    return clv_tensor_at(b->g, t)->role == CLV_TENSOR_WEIGHT || clv_spmd_known(b->s->types, t);
}

/* A part of such a tensor, made once a phase. */
static clv_status value_of_part(builder *b, clv_tensor t, const clv_layout *layout, int32_t *ret,
                                clv_error *err)
{
    const clv_tensor_info *info = clv_tensor_at(b->g, t);
    clv_spmd_value value = {
        .tensor = t,
        .layout = *layout,
        .role = info->role == CLV_TENSOR_WEIGHT ? CLV_SPMD_WEIGHT : CLV_SPMD_KNOWN,
        .from = -1,
        .name = info->name,
    };
    for (int32_t v = b->parts[t.i]; v >= 0; v = b->earlier[v])
        if (clv_layout_equal(&b->s->values[v].layout, layout)) {
            *ret = v;
            return CLV_OK;
        }
    CLV_TRY(list_touched(b, t, err));
    if (b->parts[t.i] >= 0)
        CLV_TRY(name_layout(b, t, "part", &value.name, err));
    CLV_TRY(add_value(b, &value, ret, err));
    b->earlier[*ret] = b->parts[t.i];
    b->parts[t.i] = *ret;
    return CLV_OK;
}

/* Where a tensor that is no weight lies, in this phase. */
static clv_status value_at_home(builder *b, clv_tensor t, int32_t *ret, clv_error *err)
{
    const clv_tensor_info *info = clv_tensor_at(b->g, t);
    clv_spmd_value value = { .tensor = t, .from = -1, .name = info->name };
    if ((*ret = b->here[t.i]) >= 0)
        return CLV_OK;
    CLV_TRY(list_touched(b, t, err));
    if (info->role == CLV_TENSOR_RESULT) {
        value.role = CLV_SPMD_RECEIVED;
        value.from = b->home[t.i];
        value.layout = b->s->values[value.from].layout;
        b->s->values[value.from].sent = true;
    } else {
        value.role = CLV_SPMD_INPUT;
        value.layout = b->d.layouts.kept[t.i];
    }
    CLV_TRY(add_value(b, &value, ret, err));
    b->here[t.i] = *ret;
    return CLV_OK;
}

/* -- instructions -- */

static clv_status add_operand(builder *b, int32_t value, clv_error *err)
{
    if (!CLV_PUSH_ROOM(b->arena, b->s->operands, b->s->n_operands, b->cap_operands))
        return clv_fail_nomem(err, WHAT);
    b->s->operands[b->s->n_operands++] = value;
    return CLV_OK;
}

static clv_status add_instr(builder *b, const clv_spmd_instr *instr, clv_error *err)
{
    if (!CLV_PUSH_ROOM(b->arena, b->s->instrs, b->s->n_instrs, b->cap_instrs))
        return clv_fail_nomem(err, WHAT);
    b->s->instrs[b->s->n_instrs] = *instr;
    b->s->instrs[b->s->n_instrs++].phase = b->phase;
    return CLV_OK;
}

/* A step to another layout, of which kind, axes and to count; *io: the value that it reads, and
 * then the one that it makes. name: of that one; empty: any. */
static clv_status add_step(builder *b, const clv_plan_step *step, clv_str name, int32_t *io,
                           clv_error *err)
{
    clv_spmd_instr instr = { .op = CLV_NO_OP,
                             .factor = { -1, -1, -1 },
                             .kind = step->kind,
                             .axes = step->axes,
                             .first_in = b->s->n_operands,
                             .n_in = 1,
                             .first_out = b->s->n_operands + 1,
                             .n_out = 1 };
    clv_tensor t = b->s->values[*io].tensor;
    const clv_layout from = b->s->values[*io].layout;
    uint32_t sums =
        clv_layout_partial_axes(&from) & step->axes & ~clv_layout_partial_axes(&step->to);
    clv_layout summed = clv_layout_without(&from, sums);
    clv_spmd_reshard whole = { t, &from, &step->to, step->axes };
    clv_spmd_reshard rest = { t, &summed, &step->to, step->axes };
    clv_spmd_value made = {
        .tensor = t, .layout = step->to, .role = CLV_SPMD_RESULT, .from = -1, .name = name
    };
    CLV_TRY(clv_spmd_is_local(b->s, &rest, b->arena, &instr.is_local, err));
    instr.is_exchange = clv_spmd_is_exchange(b->s, &whole, instr.is_local);
    CLV_TRY(add_operand(b, *io, err));
    if (name.n == 0)
        CLV_TRY(name_layout(b, t, clv_step_name(step->kind), &made.name, err));
    CLV_TRY(add_value(b, &made, io, err));
    CLV_TRY(add_operand(b, *io, err));
    return add_instr(b, &instr, err);
}

/* The plan's own steps from where a value lies to another layout; *ret_n of them, 0: it has none
 * that lead there. */
static const clv_plan_step *find_planned(const builder *b, const clv_spmd_value *v, clv_op reader,
                                         const clv_layout *to, int32_t *ret_n)
{
    int32_t end = b->d.steps.first[v->tensor.i + 1];
    for (int32_t i = b->d.steps.first[v->tensor.i]; i < end; i++) {
        const clv_plan_step *step = &b->d.steps.step[i];
        int32_t n = 0;
        if (step->reader.i != reader.i || !clv_layout_equal(&step->from, &v->layout))
            continue;
        while (i + n + 1 < end && !clv_layout_equal(&step[n].to, to) &&
               step[n + 1].reader.i == reader.i && clv_layout_equal(&step[n].to, &step[n + 1].from))
            n++;
        if (clv_layout_equal(&step[n].to, to)) {
            *ret_n = n + 1;
            return step;
        }
    }
    *ret_n = 0;
    return NULL;
}

/* Axes on which two layouts differ, and those that split further inside one of these. */
static uint32_t axes_between(const clv_layout *a, const clv_layout *b)
{
    uint32_t axes = 0;
    for (int32_t x = 0; x < CLV_MESH_AXES_MAX; x++)
        if (a->dim[x] != b->dim[x] || a->nest[x] != b->nest[x] || a->outer[x] != b->outer[x] ||
            a->unit[x] != b->unit[x])
            axes |= 1u << x;
    for (int32_t x = 0; x < CLV_MESH_AXES_MAX; x++)
        for (int32_t y = 0; axes >> x & 1 && y < CLV_MESH_AXES_MAX; y++)
            if (a->dim[x] >= 0 && a->dim[y] == a->dim[x] && a->nest[y] > a->nest[x])
                axes |= 1u << y;
    return axes;
}

/* Axes over which both are partial by the same, so that parts may stay: a mean's parts are no
 * summands of a sum. */
static uint32_t axes_that_stay_partial(const clv_layout *a, const clv_layout *b)
{
    uint32_t axes = clv_layout_partial_axes(a) & clv_layout_partial_axes(b);
    for (int32_t x = 0; x < CLV_MESH_AXES_MAX; x++)
        if (axes >> x & 1 && a->reduce[x] != b->reduce[x])
            return 0;
    return axes;
}

/* A way of our own, for a plan that has none: sums are made at once, then parts are exchanged among
 * all devices that differ in what changes, and what is to be partial comes last. */
static clv_status reshard_unplanned(builder *b, const clv_layout *to, clv_str name, int32_t *io,
                                    clv_error *err)
{
    const clv_layout *from = &b->s->values[*io].layout;
    uint32_t stay = axes_that_stay_partial(from, to);
    uint32_t done = clv_layout_partial_axes(from) & ~stay;
    uint32_t made = clv_layout_partial_axes(to) & ~stay;
    clv_plan_step sum = { .kind = CLV_STEP_ALL_REDUCE, .axes = done };
    clv_plan_step move = { .kind = CLV_STEP_ALL_TO_ALL };
    clv_plan_step neutral = { .kind = CLV_STEP_NEUTRAL, .axes = made, .to = *to };
    sum.to = clv_layout_without(from, done);
    move.to = clv_layout_without(to, made);
    move.axes = axes_between(&sum.to, &move.to);
    if (done)
        CLV_TRY(add_step(b, &sum, clv_layout_equal(&sum.to, to) ? name : (clv_str){ 0 }, io, err));
    if (!clv_layout_equal(&sum.to, &move.to))
        CLV_TRY(add_step(b, &move, made ? (clv_str){ 0 } : name, io, err));
    return made ? add_step(b, &neutral, name, io, err) : CLV_OK;
}

/* Brings *io to a layout. name: of the last value; empty: any. */
static clv_status reshard(builder *b, const clv_layout *to, clv_op reader, clv_str name,
                          int32_t *io, clv_error *err)
{
    const clv_spmd_value *v = &b->s->values[*io];
    int32_t n;
    if (clv_layout_equal(&v->layout, to))
        return CLV_OK;
    const clv_plan_step *step = find_planned(b, v, reader, to, &n);
    /* parts of sums that go to other devices as they are: an all-reduce and a slice say the same,
     * and need no device that stands for another */
    for (int32_t i = n - 1; i >= 0; i--)
        if (step[i].kind == CLV_STEP_PERMUTE &&
            clv_layout_partial_axes(&step[i].from) != clv_layout_partial_axes(&step[i].to))
            n = 0;
    if (n == 0)
        return reshard_unplanned(b, to, name, io, err);
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(add_step(b, &step[i], i == n - 1 ? name : (clv_str){ 0 }, io, err));
    return CLV_OK;
}

/* -- operators -- */

/* The value that an operator reads as input k; -1: none. */
static clv_status reshard_input(builder *b, clv_op op, int32_t k, int32_t *ret, clv_error *err)
{
    const clv_op_info *info = clv_op_at(b->g, op);
    clv_tensor t = clv_op_input(b->g, info, k);
    clv_layout layout = needed_layout(b, op, k);
    *ret = -1;
    if (t.i < 0)
        return CLV_OK;
    if (is_there_from_the_start(b, t))
        return value_of_part(b, t, &layout, ret, err);
    CLV_TRY(value_at_home(b, t, ret, err));
    return reshard(b, &layout, op, (clv_str){ 0 }, ret, err);
}

static clv_status add_output(builder *b, clv_op op, int32_t k, clv_error *err)
{
    clv_tensor t = clv_op_output(b->g, clv_op_at(b->g, op), k);
    int32_t v = -1;
    if (t.i < 0)
        return add_operand(b, -1, err);
    clv_layout made = b->d.layouts.made[clv_op_at(b->g, op)->first_out + k];
    clv_layout home = home_of_result(b, t, &made);
    clv_spmd_value value = { .tensor = t,
                             .layout = made,
                             .role = CLV_SPMD_RESULT,
                             .from = -1,
                             .name = b->g->tensors[t.i].name };
    if (!clv_layout_equal(&made, &home) ||
        (clv_layout_partial_axes(&home) && leaves_phase(b, t))) /* it does not lie as it is made */
        CLV_TRY(name_layout(b, t, "made", &value.name, err));
    CLV_TRY(add_value(b, &value, &v, err));
    CLV_TRY(list_touched(b, t, err));
    b->here[t.i] = b->home[t.i] = v;
    return add_operand(b, v, err);
}

/* What an operator wrote is brought to where it lies, and what leaves the phase is reduced. */
static clv_status reshard_outputs(builder *b, clv_op op, clv_error *err)
{
    const clv_op_info *info = clv_op_at(b->g, op);
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(b->g, info, k);
        if (t.i < 0)
            continue;
        clv_layout home = home_of_result(b, t, &b->s->values[b->here[t.i]].layout);
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            if (home.dim[a] == CLV_AXIS_PARTIAL && leaves_phase(b, t))
                clv_layout_unsplit(&home, a);
        CLV_TRY(reshard(b, &home, CLV_NO_OP, b->g->tensors[t.i].name, &b->here[t.i], err));
        b->home[t.i] = b->here[t.i];
    }
    return CLV_OK;
}

static clv_status add_operator(builder *b, clv_op op, clv_error *err)
{
    const clv_op_info *info = clv_op_at(b->g, op);
    clv_spmd_instr instr = { .op = op, .n_in = info->n_in, .n_out = info->n_out };
    int32_t *in = CLV_NEW_ARRAY(b->arena, int32_t, info->n_in);
    if (!in)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_spmd_check_random(b->s, info, err));
    memcpy(instr.factor, b->d.factor + (int64_t)op.i * CLV_MESH_AXES_MAX, sizeof instr.factor);
    for (int32_t k = 0; k < info->n_in; k++)
        CLV_TRY(reshard_input(b, op, k, &in[k], err));
    instr.first_in = b->s->n_operands;
    for (int32_t k = 0; k < info->n_in; k++)
        CLV_TRY(add_operand(b, in[k], err));
    instr.first_out = b->s->n_operands;
    for (int32_t k = 0; k < info->n_out; k++)
        CLV_TRY(add_output(b, op, k, err));
    CLV_TRY(add_instr(b, &instr, err));
    return reshard_outputs(b, op, err);
}

/* -- the whole -- */

/* Output i of the model. What no operator makes, a weight, a known value or an input, is returned
 * as it is by the last phase. */
static clv_status add_result(builder *b, int32_t i, clv_error *err)
{
    clv_tensor t = b->g->outputs[i];
    clv_layout copies = CLV_LAYOUT_COPIES;
    int32_t *v = &b->s->result[i];
    if (is_there_from_the_start(b, t))
        CLV_TRY(value_of_part(b, t, &copies, v, err));
    else if (clv_tensor_at(b->g, t)->role == CLV_TENSOR_INPUT)
        CLV_TRY(value_at_home(b, t, v, err));
    else
        *v = b->home[t.i];
    b->s->values[*v].returned = true;
    return CLV_OK;
}

/* Operators by phase, in their order. */
static clv_status order_ops(const builder *b, int32_t **ret, clv_error *err)
{
    int32_t n = b->s->n_phases;
    int32_t *first = CLV_NEW_ARRAY(b->arena, int32_t, n + 1);
    int32_t *order = CLV_NEW_ARRAY(b->arena, int32_t, b->g->n_ops);
    if (!first || !order)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < b->g->n_ops; i++)
        first[b->phase_of_op[i] + 1]++;
    for (int32_t p = 0; p < n; p++)
        first[p + 1] += first[p];
    for (int32_t i = 0; i < b->g->n_ops; i++)
        order[first[b->phase_of_op[i]]++] = i;
    *ret = order;
    return CLV_OK;
}

static bool has_empty(const clv_spmd *s, const clv_spmd_phase *p)
{
    for (int32_t v = p->first_value; v < p->first_value + p->n_values; v++)
        for (int32_t i = 0; i < s->mesh.n_devices; i++)
            if (clv_spmd_is_empty(s, &s->values[v], i))
                return true;
    return false;
}

/* Is a result added by the first device alone? In place of weights and inputs the others have zeros
 * as constants, which are no nodes. */
static bool adds_result_once(const clv_spmd *s, const clv_spmd_instr *instr)
{
    const clv_factors *f = &s->factors[instr->op.i];
    bool once = false, sums = false;
    for (int32_t k = 0; k < f->n_in && !once; k++) {
        int32_t v = s->operands[instr->first_in + k];
        once = f->in[k].once && v >= 0 && s->values[v].role == CLV_SPMD_RESULT;
    }
    for (int32_t i = 0; once && i < f->n_factors && !sums; i++)
        sums = clv_factor_leaves_parts(&f->factors[i]) && clv_spmd_splits(s, instr, i);
    return sums;
}

/* Do devices have zeros where another one has what was computed? */
static bool has_zeros(const clv_spmd *s, const clv_spmd_phase *p)
{
    for (int32_t i = p->first_instr; i < p->first_instr + p->n_instrs; i++) {
        const clv_spmd_instr *instr = &s->instrs[i];
        if (instr->op.i < 0 ? instr->kind == CLV_STEP_NEUTRAL : adds_result_once(s, instr))
            return true;
    }
    return false;
}

static clv_status add_phases(builder *b, clv_error *err)
{
    clv_spmd *s = b->s;
    int32_t *order = NULL, at = 0;
    CLV_TRY(order_ops(b, &order, err));
    for (b->phase = 0; b->phase < s->n_phases; b->phase++) {
        clv_spmd_phase *p = &s->phases[b->phase];
        p->first_instr = s->n_instrs;
        p->first_value = s->n_values;
        for (; at < b->g->n_ops && b->phase_of_op[order[at]] == b->phase; at++)
            if (b->d.needed[order[at]])
                CLV_TRY(add_operator(b, (clv_op){ order[at] }, err));
        for (int32_t i = 0; b->phase == s->n_phases - 1 && i < b->g->n_outputs; i++)
            CLV_TRY(add_result(b, i, err));
        p->n_instrs = s->n_instrs - p->first_instr;
        p->n_values = s->n_values - p->first_value;
        p->nodes_differ = has_empty(s, p) || has_zeros(s, p);
        for (int32_t i = 0; i < b->n_touched; i++)
            b->here[b->touched[i]] = b->parts[b->touched[i]] = -1;
        b->n_touched = 0;
    }
    return CLV_OK;
}

/* A program for a model, types, plan and mesh. */
static clv_status make_program(const clv_spmd *of, clv_arena *arena, clv_spmd **ret, clv_error *err)
{
    const clv_graph *g = of->model->main;
    clv_spmd *s = CLV_NEW(arena, clv_spmd);
    builder b = { .s = s,
                  .g = g,
                  .arena = arena,
                  .home = CLV_NEW_ARRAY(arena, int32_t, g->n_tensors),
                  .here = CLV_NEW_ARRAY(arena, int32_t, g->n_tensors),
                  .parts = CLV_NEW_ARRAY(arena, int32_t, g->n_tensors) };
    int32_t *phase_of_op;
    if (!s || !b.home || !b.here || !b.parts)
        return clv_fail_nomem(err, WHAT);
    *s = *of;
    s->result = CLV_NEW_ARRAY(arena, int32_t, g->n_outputs);
    if (!s->result)
        return clv_fail_nomem(err, WHAT);
    for (int32_t t = 0; t < g->n_tensors; t++)
        b.home[t] = b.here[t] = b.parts[t] = -1;
    CLV_TRY(clv_derive_layouts(s, arena, &b.d, err));
    CLV_TRY(clv_spmd_read_phases(s, arena, &phase_of_op, err));
    b.phase_of_op = phase_of_op;
    CLV_TRY(add_phases(&b, err));
    *ret = s;
    return CLV_OK;
}

clv_status clv_spmd_make_whole(const clv_model *model, const clv_types *types, const clv_plan *plan,
                               clv_arena *arena, clv_spmd **ret, clv_error *err)
{
    static const clv_plan whole = { .n_axes = 0 };
    const clv_spmd of = {
        .model = model, .types = types, .plan = plan, .mesh = clv_plan_mesh_form(&whole)
    };
    return make_program(&of, arena, ret, err);
}

/* Specs by hand of a plan without meshes stand beside what runs: whole operators on single devices.
 * Only those that say just that go with it. */
static clv_status refuse_specs_by_hand(const clv_model *model, const clv_plan *plan, clv_error *err)
{
    for (int32_t i = 0; i < plan->n_annotations && !clv_plan_has_mesh(plan); i++) {
        const clv_plan_annotation *a = &plan->annotations[i];
        int32_t device = plan->device_of_op[a->file_index];
        bool whole = !a->note.has_stage || a->note.stage == plan->devices[device].stage;
        for (int32_t k = 0; k < a->note.n_specs && whole; k++)
            whole = clv_spec_parts(&a->note.specs[k]) == 1 && a->note.specs[k].n_device == 1 &&
                    a->note.specs[k].device[0] == device;
        if (whole)
            continue;
        const clv_op_info *op = model->main->ops;
        while (op->file_index != a->file_index)
            op++;
        return clv_fail(
            err, CLV_EUNSUPP,
            "the plan annotates node '%.*s' by hand, other than whole on its device "
            "'%s': that can be written into the model, but is not what the plan's "
            "operators run; give the plan a mesh and splits, or take the annotation out",
            CLV_STR_ARG(op->label), plan->devices[device].name);
    }
    return CLV_OK;
}

clv_status clv_spmd_make(const clv_model *model, const clv_types *types, const clv_plan *plan,
                         clv_arena *arena, clv_spmd **ret, clv_error *err)
{
    const clv_spmd of = {
        .model = model, .types = types, .plan = plan, .mesh = clv_plan_mesh_form(plan)
    };
    CLV_TRY(refuse_specs_by_hand(model, plan, err));
    return make_program(&of, arena, ret, err);
}
