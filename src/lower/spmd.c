/* spmd.c - phase by phase: what an operator reads is brought to where it is needed, then the
 * operator, then what it wrote to where it lies.
 */
#include "lower/spmd.h"

#include "lower/spmd_exchange.h"
#include "lower/spmd_ops.h"
#include "lower/spmd_plan.h"

#define WHAT "lowering a plan"

typedef struct {
    clv_spmd *s;
    const clv_graph *g;
    clv_arena *arena;
    clv_error *err;
    clv_plan_steps steps;
    const int16_t *factor; /* n_ops * axes */
    const int32_t *phase_of_op;
    bool *needed;     /* n_ops */
    int32_t *home;    /* by tensor: the value where it lies, in the phase that makes it; -1 */
    int32_t *here;    /* by tensor: the value of it in this phase; -1 */
    int32_t *parts;   /* by tensor: the newest part of a weight in this phase; -1 */
    int32_t *earlier; /* by value: another part of the same weight; -1 */
    int32_t *touched; /* tensors whose here or parts is set */
    int32_t n_touched, cap_touched;
    int32_t cap_instrs, cap_values, cap_operands, cap_earlier;
    int32_t phase;
} maker;

static clv_status no_memory(const maker *m) { return clv_fail_nomem(m->err, WHAT); }

/* -- layouts -- */

static clv_layout need_of(const maker *m, clv_op op, int32_t k)
{
    clv_layout layout = CLV_LAYOUT_COPIES;
    const clv_factors *f = &m->s->factors[op.i];
    if (k < f->n_in)
        clv_factors_in(f, &m->s->mesh, m->factor + (int64_t)op.i * CLV_MESH_AXES_MAX, k, &layout);
    return clv_layout_plain(&layout, &m->s->mesh);
}

static clv_layout made_of(const maker *m, clv_op op, int32_t k)
{
    clv_layout layout = CLV_LAYOUT_COPIES;
    const clv_factors *f = &m->s->factors[op.i];
    if (k < f->n_out)
        clv_factors_out(f, &m->s->mesh, m->factor + (int64_t)op.i * CLV_MESH_AXES_MAX, k, &layout);
    return clv_layout_plain(&layout, &m->s->mesh);
}

/* How an input of the model is given: as the plan brings it on from, else as it is read first. */
static clv_layout home_of_input(const maker *m, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(m->g, t);
    if (m->steps.first[t.i] < m->steps.first[t.i + 1])
        return m->steps.step[m->steps.first[t.i]].from;
    for (int32_t r = 0; r < info->n_readers; r++) {
        clv_op op = m->g->readers_of[info->first_reader + r];
        for (int32_t k = 0; m->needed[op.i] && k < m->g->ops[op.i].n_in; k++)
            if (clv_op_input(m->g, &m->g->ops[op.i], k).i == t.i)
                return need_of(m, op, k);
    }
    return CLV_LAYOUT_COPIES;
}

/* -- values -- */

static clv_status add_value(maker *m, clv_tensor t, const clv_layout *layout, clv_spmd_role role,
                            clv_str name, int32_t *ret)
{
    clv_spmd *s = m->s;
    if (!clv_layout_equal(layout, &CLV_LAYOUT_COPIES))
        CLV_TRY(clv_spmd_check_sizes(s, t, m->err));
    if (!CLV_PUSH_ROOM(m->arena, s->values, s->n_values, m->cap_values) ||
        !CLV_PUSH_ROOM(m->arena, m->earlier, s->n_values, m->cap_earlier))
        return no_memory(m);
    s->values[s->n_values] = (clv_spmd_value){
        .tensor = t, .layout = *layout, .phase = m->phase, .role = role, .from = -1, .name = name
    };
    m->earlier[s->n_values] = -1;
    *ret = s->n_values++;
    return CLV_OK;
}

/* A name for a tensor in another layout than that in which it lies. */
static clv_status step_name(maker *m, clv_tensor t, const char *what, clv_str *ret)
{
    char *text = clv_arena_printf(m->arena, "%.*s//%s.%d", CLV_STR_ARG(m->g->tensors[t.i].name),
                                  what, (int)m->s->n_values);
    if (!text)
        return no_memory(m);
    *ret = clv_str_of(text);
    return CLV_OK;
}

static clv_status touch(maker *m, clv_tensor t)
{
    if (m->here[t.i] >= 0 || m->parts[t.i] >= 0)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(m->arena, m->touched, m->n_touched, m->cap_touched))
        return no_memory(m);
    m->touched[m->n_touched++] = t.i;
    return CLV_OK;
}

/* A part of what every device has from the start, a weight or a known value: made once a phase. */
static clv_status take_part(maker *m, clv_tensor t, const clv_layout *layout, clv_spmd_role role,
                            int32_t *ret)
{
    clv_str name = m->g->tensors[t.i].name;
    for (int32_t v = m->parts[t.i]; v >= 0; v = m->earlier[v])
        if (clv_layout_equal(&m->s->values[v].layout, layout)) {
            *ret = v;
            return CLV_OK;
        }
    CLV_TRY(touch(m, t));
    if (m->parts[t.i] >= 0)
        CLV_TRY(step_name(m, t, "part", &name));
    CLV_TRY(add_value(m, t, layout, role, name, ret));
    m->earlier[*ret] = m->parts[t.i];
    m->parts[t.i] = *ret;
    return CLV_OK;
}

/* Where a tensor that is no weight lies, in this phase. */
static clv_status take_home(maker *m, clv_tensor t, int32_t *ret)
{
    const clv_tensor_info *info = clv_tensor_at(m->g, t);
    int32_t from = m->home[t.i];
    clv_layout layout;
    if ((*ret = m->here[t.i]) >= 0)
        return CLV_OK;
    CLV_TRY(touch(m, t));
    if (info->role == CLV_TENSOR_RESULT) {
        layout = m->s->values[from].layout;
        CLV_TRY(add_value(m, t, &layout, CLV_SPMD_RECEIVED, info->name, ret));
        m->s->values[*ret].from = from;
        m->s->values[from].sent = true;
    } else {
        layout = home_of_input(m, t);
        CLV_TRY(add_value(m, t, &layout, CLV_SPMD_INPUT, info->name, ret));
    }
    m->here[t.i] = *ret;
    return CLV_OK;
}

/* -- instructions -- */

static clv_status add_operand(maker *m, int32_t value)
{
    if (!CLV_PUSH_ROOM(m->arena, m->s->operands, m->s->n_operands, m->cap_operands))
        return no_memory(m);
    m->s->operands[m->s->n_operands++] = value;
    return CLV_OK;
}

static clv_status add_instr(maker *m, const clv_spmd_instr *instr)
{
    if (!CLV_PUSH_ROOM(m->arena, m->s->instrs, m->s->n_instrs, m->cap_instrs))
        return no_memory(m);
    m->s->instrs[m->s->n_instrs] = *instr;
    m->s->instrs[m->s->n_instrs++].phase = m->phase;
    return CLV_OK;
}

static clv_status add_step(maker *m, clv_step_kind kind, uint32_t axes, const clv_layout *to,
                           clv_str name, int32_t *io)
{
    clv_spmd_instr instr = { .op = CLV_NO_OP,
                             .factor = { -1, -1, -1 },
                             .kind = kind,
                             .axes = axes,
                             .first_in = m->s->n_operands,
                             .n_in = 1,
                             .first_out = m->s->n_operands + 1,
                             .n_out = 1 };
    clv_tensor t = m->s->values[*io].tensor;
    const clv_layout *from = &m->s->values[*io].layout;
    uint32_t sums = clv_layout_partial_axes(from) & axes & ~clv_layout_partial_axes(to);
    clv_layout summed = clv_layout_without(from, sums);
    CLV_TRY(clv_spmd_is_local(m->s, t, &summed, to, m->arena, &instr.local, m->err));
    instr.exchange = clv_spmd_is_exchange(m->s, &instr, t, from, to);
    CLV_TRY(add_operand(m, *io));
    if (name.n == 0)
        CLV_TRY(step_name(m, t, clv_step_name(kind), &name));
    CLV_TRY(add_value(m, t, to, CLV_SPMD_RESULT, name, io));
    CLV_TRY(add_operand(m, *io));
    return add_instr(m, &instr);
}

/* Where the plan's own steps from one layout to another begin in its list; *ret_n of them, 0: it
 * has none that lead there. */
static int32_t planned(const maker *m, clv_tensor t, clv_op reader, const clv_layout *from,
                       const clv_layout *to, int32_t *ret_n)
{
    *ret_n = 0;
    for (int32_t i = m->steps.first[t.i]; i < m->steps.first[t.i + 1]; i++) {
        const clv_plan_step *step = &m->steps.step[i];
        int32_t n = 0;
        if (step->reader.i != reader.i || !clv_layout_equal(&step->from, from))
            continue;
        while (i + n + 1 < m->steps.first[t.i + 1] && !clv_layout_equal(&step[n].to, to) &&
               step[n + 1].reader.i == reader.i && clv_layout_equal(&step[n].to, &step[n + 1].from))
            n++;
        if (clv_layout_equal(&step[n].to, to)) {
            *ret_n = n + 1;
            return i;
        }
    }
    return -1;
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

/* A way of our own, for a plan that tells none: sums are made at once, then parts are exchanged
 * among all devices that differ in what changes, and what is to be partial comes last. */
static clv_status bring_anyhow(maker *m, const clv_layout *to, clv_str name, int32_t *io)
{
    const clv_layout *from = &m->s->values[*io].layout;
    uint32_t done = clv_layout_partial_axes(from) & ~clv_layout_partial_axes(to);
    uint32_t made = clv_layout_partial_axes(to) & ~clv_layout_partial_axes(from);
    clv_layout now = clv_layout_without(from, done), full = clv_layout_without(to, made);
    if (done)
        CLV_TRY(add_step(m, CLV_STEP_ALL_REDUCE, done, &now,
                         clv_layout_equal(&now, to) ? name : (clv_str){ 0 }, io));
    if (!clv_layout_equal(&now, &full))
        CLV_TRY(add_step(m, CLV_STEP_ALL_TO_ALL, axes_between(&now, &full), &full,
                         made ? (clv_str){ 0 } : name, io));
    return made ? add_step(m, CLV_STEP_NEUTRAL, made, to, name, io) : CLV_OK;
}

/* Parts of sums that go to other devices as they are: an all-reduce and a slice say the same, and
 * need no device that stands for another. */
static bool moves_sums(const clv_plan_step *step)
{
    return step->kind == CLV_STEP_PERMUTE &&
           clv_layout_partial_axes(&step->from) != clv_layout_partial_axes(&step->to);
}

/* name: of the last value; empty: any. */
static clv_status bring(maker *m, const clv_layout *to, clv_op reader, clv_str name, int32_t *io)
{
    const clv_spmd_value *v = &m->s->values[*io];
    int32_t n;
    if (clv_layout_equal(&v->layout, to))
        return CLV_OK;
    int32_t first = planned(m, v->tensor, reader, &v->layout, to, &n);
    for (int32_t i = n - 1; i >= 0; i--)
        if (moves_sums(&m->steps.step[first + i]))
            n = 0;
    for (int32_t i = 0; i < n; i++) {
        const clv_plan_step *step = &m->steps.step[first + i];
        CLV_TRY(
            add_step(m, step->kind, step->axes, &step->to, i == n - 1 ? name : (clv_str){ 0 }, io));
    }
    return n > 0 ? CLV_OK : bring_anyhow(m, to, name, io);
}

static clv_status bring_input(maker *m, clv_op op, int32_t k, int32_t *ret)
{
    const clv_op_info *info = clv_op_at(m->g, op);
    clv_tensor t = clv_op_input(m->g, info, k);
    clv_layout layout = need_of(m, op, k);
    *ret = -1;
    if (t.i < 0)
        return CLV_OK;
    if (clv_tensor_at(m->g, t)->role == CLV_TENSOR_WEIGHT)
        return take_part(m, t, &layout, CLV_SPMD_WEIGHT, ret);
    if (clv_spmd_known(m->s->types, t))
        return take_part(m, t, &layout, CLV_SPMD_KNOWN, ret);
    CLV_TRY(take_home(m, t, ret));
    return bring(m, &layout, op, (clv_str){ 0 }, ret);
}

/* Where a result comes to lie, as the plan brings it there for all readers; where the plan does not
 * say, what is partial is reduced. */
static clv_layout home_of_result(const maker *m, clv_tensor t, const clv_layout *made)
{
    clv_layout home = *made;
    for (int32_t i = m->steps.first[t.i]; i < m->steps.first[t.i + 1]; i++)
        if (m->steps.step[i].reader.i < 0 && clv_layout_equal(&m->steps.step[i].from, &home))
            home = m->steps.step[i].to;
    return home;
}

/* A partial result may be brought on for each reader by itself; what leaves the phase may not. */
static bool leaves(const maker *m, clv_tensor t)
{
    const clv_tensor_info *info = clv_tensor_at(m->g, t);
    bool out = info->is_output;
    for (int32_t r = 0; r < info->n_readers && !out; r++)
        out = m->phase_of_op[m->g->readers_of[info->first_reader + r].i] != m->phase;
    return out;
}

static clv_status add_output(maker *m, clv_op op, int32_t k)
{
    clv_tensor t = clv_op_output(m->g, clv_op_at(m->g, op), k);
    int32_t v = -1;
    if (t.i < 0)
        return add_operand(m, -1);
    clv_layout made = made_of(m, op, k), home = home_of_result(m, t, &made);
    clv_str name = m->g->tensors[t.i].name;
    bool moves =
        !clv_layout_equal(&made, &home) || (clv_layout_partial_axes(&home) && leaves(m, t));
    if (moves)
        CLV_TRY(step_name(m, t, "made", &name));
    CLV_TRY(add_value(m, t, &made, CLV_SPMD_RESULT, name, &v));
    CLV_TRY(touch(m, t));
    m->here[t.i] = m->home[t.i] = v;
    return add_operand(m, v);
}

static clv_status bring_home(maker *m, clv_op op)
{
    const clv_op_info *info = clv_op_at(m->g, op);
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(m->g, info, k);
        if (t.i < 0)
            continue;
        clv_layout home = home_of_result(m, t, &m->s->values[m->here[t.i]].layout);
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
            if (home.dim[a] == CLV_AXIS_PARTIAL && leaves(m, t))
                clv_layout_unsplit(&home, a);
        CLV_TRY(bring(m, &home, CLV_NO_OP, m->g->tensors[t.i].name, &m->here[t.i]));
        m->home[t.i] = m->here[t.i];
    }
    return CLV_OK;
}

static clv_status add_operator(maker *m, clv_op op)
{
    const clv_op_info *info = clv_op_at(m->g, op);
    clv_spmd_instr instr = { .op = op, .n_in = info->n_in, .n_out = info->n_out };
    int32_t *in = CLV_NEW_ARRAY(m->arena, int32_t, info->n_in);
    if (!in)
        return no_memory(m);
    CLV_TRY(clv_spmd_check_random(m->s, info, m->err));
    memcpy(instr.factor, m->factor + (int64_t)op.i * CLV_MESH_AXES_MAX, sizeof instr.factor);
    for (int32_t k = 0; k < info->n_in; k++)
        CLV_TRY(bring_input(m, op, k, &in[k]));
    instr.first_in = m->s->n_operands;
    for (int32_t k = 0; k < info->n_in; k++)
        CLV_TRY(add_operand(m, in[k]));
    instr.first_out = m->s->n_operands;
    for (int32_t k = 0; k < info->n_out; k++)
        CLV_TRY(add_output(m, op, k));
    CLV_TRY(add_instr(m, &instr));
    return bring_home(m, op);
}

/* -- the whole -- */

static void next_phase(maker *m)
{
    for (int32_t i = 0; i < m->n_touched; i++)
        m->here[m->touched[i]] = m->parts[m->touched[i]] = -1;
    m->n_touched = 0;
}

/* An output that no operator makes: a weight, a known value or an input, returned as it is by the
 * last phase. */
static clv_status add_result(maker *m, int32_t i)
{
    clv_tensor t = m->g->outputs[i];
    const clv_tensor_info *info = clv_tensor_at(m->g, t);
    clv_layout copies = CLV_LAYOUT_COPIES;
    int32_t *v = &m->s->result[i];
    if (info->role == CLV_TENSOR_WEIGHT || clv_spmd_known(m->s->types, t))
        CLV_TRY(take_part(m, t, &copies,
                          info->role == CLV_TENSOR_WEIGHT ? CLV_SPMD_WEIGHT : CLV_SPMD_KNOWN, v));
    else if (info->role == CLV_TENSOR_INPUT)
        CLV_TRY(take_home(m, t, v));
    else
        *v = m->home[t.i];
    m->s->values[*v].returned = true;
    return CLV_OK;
}

/* Operators by phase, in their order. */
static clv_status order_ops(const maker *m, int32_t **ret)
{
    int32_t n = m->s->n_phases;
    int32_t *first = CLV_NEW_ARRAY(m->arena, int32_t, n + 1);
    int32_t *order = CLV_NEW_ARRAY(m->arena, int32_t, m->g->n_ops);
    if (!first || !order)
        return no_memory(m);
    for (int32_t i = 0; i < m->g->n_ops; i++)
        first[m->phase_of_op[i] + 1]++;
    for (int32_t p = 0; p < n; p++)
        first[p + 1] += first[p];
    for (int32_t i = 0; i < m->g->n_ops; i++)
        order[first[m->phase_of_op[i]]++] = i;
    *ret = order;
    return CLV_OK;
}

static bool does_idle(const clv_spmd *s, const clv_spmd_phase *p)
{
    for (int32_t v = p->first_value; v < p->first_value + p->n_values; v++)
        for (int32_t i = 0; i < s->mesh.n_devices; i++)
            if (clv_spmd_is_empty(s, &s->values[v], i))
                return true;
    return false;
}

static clv_status add_phases(maker *m)
{
    clv_spmd *s = m->s;
    int32_t *order = NULL, at = 0;
    CLV_TRY(order_ops(m, &order));
    for (m->phase = 0; m->phase < s->n_phases; m->phase++) {
        clv_spmd_phase *p = &s->phases[m->phase];
        p->first_instr = s->n_instrs;
        p->first_value = s->n_values;
        for (; at < m->g->n_ops && m->phase_of_op[order[at]] == m->phase; at++)
            if (m->needed[order[at]])
                CLV_TRY(add_operator(m, (clv_op){ order[at] }));
        for (int32_t i = 0; m->phase == s->n_phases - 1 && i < m->g->n_outputs; i++)
            CLV_TRY(add_result(m, i));
        p->n_instrs = s->n_instrs - p->first_instr;
        p->n_values = s->n_values - p->first_value;
        p->idles = does_idle(s, p);
        next_phase(m);
    }
    return CLV_OK;
}

static clv_status make_mesh(clv_spmd *s, const clv_plan *plan, bool whole)
{
    s->mesh = (clv_mesh){ .n_axes = 1, .size = { 1, 1, 1 }, .name = { "tp" }, .n_devices = 1 };
    if (whole || plan->n_axes == 0)
        return CLV_OK;
    s->mesh.n_axes = plan->n_axes;
    s->mesh.n_devices = plan->mesh_devices;
    for (int32_t a = 0; a < plan->n_axes; a++) {
        s->mesh.size[a] = plan->axes[a].size;
        s->mesh.name[a] = plan->axes[a].name;
        s->mesh.share[a] = plan->axes[a].shares;
    }
    return CLV_OK;
}

static clv_status resolve_rules(clv_spmd *s, clv_arena *arena, clv_error *err)
{
    clv_factors *all, *cut;
    CLV_TRY(clv_factors_all(s->model, s->types, arena, &all, err));
    CLV_TRY(clv_factors_units(s->types, all, &s->mesh, arena, &cut, err));
    s->factors = cut;
    return CLV_OK;
}

static clv_status take_room(maker *m)
{
    int32_t n = m->g->n_tensors;
    m->needed = CLV_NEW_ARRAY(m->arena, bool, m->g->n_ops);
    m->home = CLV_NEW_ARRAY(m->arena, int32_t, n);
    m->here = CLV_NEW_ARRAY(m->arena, int32_t, n);
    m->parts = CLV_NEW_ARRAY(m->arena, int32_t, n);
    m->s->result = CLV_NEW_ARRAY(m->arena, int32_t, m->g->n_outputs);
    if (!m->needed || !m->home || !m->here || !m->parts || !m->s->result)
        return no_memory(m);
    for (int32_t t = 0; t < n; t++)
        m->home[t] = m->here[t] = m->parts[t] = -1;
    return CLV_OK;
}

clv_status clv_spmd_make(const clv_model *model, const clv_types *types, const clv_plan *plan,
                         bool whole, clv_arena *arena, clv_spmd **ret, clv_error *err)
{
    clv_spmd *s = CLV_NEW(arena, clv_spmd);
    maker m = { .s = s, .g = model->main, .arena = arena, .err = err };
    int16_t *factor;
    int32_t *phase_of_op;
    if (!s)
        return no_memory(&m);
    s->model = model;
    s->types = types;
    s->plan = plan;
    CLV_TRY(make_mesh(s, plan, whole));
    CLV_TRY(resolve_rules(s, arena, err));
    CLV_TRY(take_room(&m));
    CLV_TRY(clv_plan_phases_read(s, arena, &phase_of_op, err));
    CLV_TRY(clv_plan_choices_read(s, arena, &factor, err));
    CLV_TRY(clv_plan_steps_read(s, arena, &m.steps, err));
    m.factor = factor;
    m.phase_of_op = phase_of_op;
    clv_spmd_needed(s, m.needed);
    CLV_TRY(add_phases(&m));
    *ret = s;
    return CLV_OK;
}
