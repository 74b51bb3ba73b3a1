/* test_proof_mutants.c - right programs, each changed in one place in every way that there is: an
 * axis, a number, a reduction, an operand, a role, a step. What changes the meaning has to be
 * refused.
 *
 * What is let through is looked at one by one: it has to be one of the kinds below of which it is
 * known that the meaning stays.
 */
#include "verify/programs.h"

static clv_arena *arena;
static made *m;

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    m = made_new(arena);
}

static void tear_down(void) { clv_arena_free(arena); }

TestSuite(mutants, .init = set_up, .fini = tear_down, .timeout = 300);

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

/* A program under test: the right one, a copy to change, and what came of it. */
typedef struct {
    const clv_spmd *right;
    clv_spmd wrong;
    clv_arena *scratch;
    int n, n_refused, n_same, n_kept;
} bench;

static void restore(bench *b)
{
    const clv_spmd *s = b->right;
    memcpy(b->wrong.values, s->values, (size_t)s->n_values * sizeof *s->values);
    memcpy(b->wrong.instrs, s->instrs, (size_t)s->n_instrs * sizeof *s->instrs);
    memcpy(b->wrong.operands, s->operands, (size_t)s->n_operands * sizeof *s->operands);
    memcpy(b->wrong.result, s->result, (size_t)s->model->main->n_outputs * sizeof *s->result);
    memcpy(b->wrong.phases, s->phases, (size_t)s->n_phases * sizeof *s->phases);
}

static bench bench_of(const clv_spmd *s)
{
    bench b = { .right = s, .wrong = *s, .scratch = clv_arena_new(NULL, 0) };
    b.wrong.values = CLV_NEW_ARRAY(arena, clv_spmd_value, s->n_values);
    b.wrong.instrs = CLV_NEW_ARRAY(arena, clv_spmd_instr, s->n_instrs);
    b.wrong.operands = CLV_NEW_ARRAY(arena, int32_t, s->n_operands);
    b.wrong.result = CLV_NEW_ARRAY(arena, int32_t, s->model->main->n_outputs);
    b.wrong.phases = CLV_NEW_ARRAY(arena, clv_spmd_phase, s->n_phases);
    restore(&b);
    return b;
}

/* Judges what `wrong` is now, and makes it right again. may: why the meaning may have stayed; NULL:
 * it has not. */
static void judge(bench *b, const char *may, const char *what, int32_t at, int64_t value)
{
    clv_mark mark = clv_arena_mark(b->scratch);
    clv_proof proof;
    clv_status status = clv_prove(&b->wrong, b->scratch, &proof, &m->err);
    cr_assert_eq(status, CLV_OK, "%s", m->err.message);
    b->n++;
    b->n_refused += !proof.holds;
    b->n_kept += proof.holds && may;
    if (proof.holds && !may)
        cr_expect_fail("%s %d made %lld: the proof still holds", what, (int)at, (long long)value);
    clv_arena_rewind(b->scratch, mark);
    restore(b);
}

/* -- where the meaning may stay -- */

/* The step that makes a value; NULL: no step does. */
static const clv_spmd_instr *step_of(const clv_spmd *s, int32_t v)
{
    for (int32_t i = 0; i < s->n_instrs; i++)
        if (s->instrs[i].op.i < 0 && s->operands[s->instrs[i].first_out] == v)
            return &s->instrs[i];
    return NULL;
}

/* What a step brings into the layout in which the model returns it may lie otherwise, if the step
 * can do that too. */
static const char *may_lie_otherwise(const bench *b, int32_t v)
{
    return b->right->values[v].returned && step_of(b->right, v) ? "returned in another layout"
                                                                : NULL;
}

/* x, and nothing from all others: reduced it is x again, whatever the reduction. */
static const char *may_reduce_otherwise(const bench *b, int32_t v, clv_reduce reduce)
{
    const clv_spmd_instr *step = step_of(b->right, v);
    return step && step->kind == CLV_STEP_NEUTRAL && reduce != CLV_REDUCE_NONE &&
                   reduce != CLV_REDUCE_L2
               ? "a neutral element of another reduction"
               : NULL;
}

static const char *may_read(const bench *b, int32_t was, int32_t v)
{
    if (was < 0 || v < 0 || v >= b->right->n_values)
        return NULL;
    const clv_spmd_value *x = &b->right->values[was], *y = &b->right->values[v];
    return x->tensor.i == y->tensor.i && x->phase == y->phase && v < was &&
                   clv_layout_equal(&x->layout, &y->layout)
               ? "the same parts, before a step and its reverse"
               : NULL;
}

/* -- values -- */

static bool long_axis(const bench *b, int32_t a)
{
    return a < b->right->mesh.n_axes && b->right->mesh.size[a] > 1;
}

static void mutate_layout(bench *b, int32_t v)
{
    clv_layout *l = &b->wrong.values[v].layout;
    const clv_layout was = *l;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        for (int8_t d = CLV_AXIS_PARTIAL; d < 4; d++) {
            if (d == was.dim[a])
                continue;
            l->dim[a] = d;
            judge(b, NULL, "dim of value", v, d);
            l->dim[a] = d; /* with all that goes with it */
            l->reduce[a] = d == CLV_AXIS_PARTIAL ? CLV_REDUCE_SUM : CLV_REDUCE_NONE;
            l->nest[a] = 0;
            for (int32_t x = 0; x < CLV_MESH_AXES_MAX; x++)
                l->nest[a] = (int8_t)(l->nest[a] + (d >= 0 && x != a && l->dim[x] == d));
            l->outer[a] = l->unit[a] = 1;
            judge(b, d >= 0 ? may_lie_otherwise(b, v) : NULL, "axis of value", v, d);
        }
        for (int8_t r = 0; r < CLV_N_REDUCES; r++)
            if (r != was.reduce[a]) {
                l->reduce[a] = r;
                judge(b, may_reduce_otherwise(b, v, (clv_reduce)r), "reduction of value", v, r);
            }
        for (int32_t k = 1; k < 4; k++) {
            if (k != was.outer[a]) {
                l->outer[a] = k;
                judge(b, was.dim[a] >= 0 ? may_lie_otherwise(b, v) : NULL, "outer of value", v, k);
            }
            if (k != was.unit[a]) {
                l->unit[a] = k; /* of 2 for 4 elements in 2 parts: the same parts */
                judge(b, long_axis(b, a) && was.dim[a] >= 0 ? "a unit that parts have whole" : NULL,
                      "unit of value", v, k);
            }
        }
        l->nest[a] = (int8_t)(was.nest[a] + 1);
        judge(b, NULL, "nest of value", v, l->nest[a]);
    }
}

static void mutate_value(bench *b, int32_t v)
{
    clv_spmd_value *value = &b->wrong.values[v];
    const clv_spmd_value was = *value;
    mutate_layout(b, v);
    for (int32_t role = CLV_SPMD_INPUT; role <= CLV_SPMD_RESULT; role++)
        if (role != (int32_t)was.role) {
            value->role = (clv_spmd_role)role;
            judge(b, NULL, "role of value", v, role);
        }
    for (int32_t t = -1; t < b->right->model->main->n_tensors; t++)
        if (t != was.tensor.i) {
            value->tensor.i = t;
            judge(b, NULL, "tensor of value", v, t);
        }
    for (int32_t p = -1; p <= b->right->n_phases; p++)
        if (p != was.phase) {
            value->phase = p;
            judge(b, NULL, "phase of value", v, p);
        }
    for (int32_t from = -1; from <= b->right->n_values; from++)
        if (was.role == CLV_SPMD_RECEIVED && from != was.from) {
            value->from = from;
            judge(b, NULL, "sender of value", v, from);
        }
    value->sent = !was.sent;
    judge(b, NULL, "sending of value", v, !was.sent);
    value->returned = !was.returned;
    judge(b, NULL, "returning of value", v, !was.returned);
}

/* -- instructions -- */

/* Kinds that say less of what they do: an exchange may be any of these. */
static bool is_exchange(clv_step_kind kind)
{
    return kind == CLV_STEP_SLICE || kind == CLV_STEP_ALL_GATHER || kind == CLV_STEP_ALL_TO_ALL ||
           kind == CLV_STEP_PERMUTE;
}

static void mutate_step(bench *b, int32_t i)
{
    clv_spmd_instr *instr = &b->wrong.instrs[i];
    const clv_spmd_instr was = *instr;
    for (int32_t k = 0; k <= CLV_N_STEPS; k++)
        if (k != (int32_t)was.kind) {
            bool same = (k == CLV_STEP_ALL_TO_ALL && is_exchange(was.kind)) ||
                        (was.kind == CLV_STEP_ALL_TO_ALL && is_exchange((clv_step_kind)k));
            instr->kind = (clv_step_kind)k;
            judge(b, same ? "an exchange under another name" : NULL, "kind of step", i, k);
        }
    for (uint32_t axes = 0; axes < 1u << (CLV_MESH_AXES_MAX + 1); axes++)
        if (axes != was.axes) {
            bool same = (axes & was.axes) == was.axes && was.kind == CLV_STEP_ALL_TO_ALL;
            instr->axes = axes;
            judge(b, same ? "an exchange in larger groups" : NULL, "axes of step", i, axes);
        }
}

static void mutate_operator(bench *b, int32_t i)
{
    clv_spmd_instr *instr = &b->wrong.instrs[i];
    const clv_spmd_instr was = *instr;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        for (int16_t f = -2; f <= b->right->factors[was.op.i].n_factors; f++)
            if (f != was.factor[a]) {
                instr->factor[a] = f;
                judge(b, NULL, "factor of instruction", i, f);
            }
    for (int32_t op = -1; op <= b->right->model->main->n_ops; op++)
        if (op != was.op.i) {
            instr->op.i = op;
            judge(b, NULL, "operator of instruction", i, op);
        }
}

/* Has the second anything of the first? */
static bool depends(const clv_spmd *s, const clv_spmd_instr *first, const clv_spmd_instr *second)
{
    for (int32_t k = 0; k < first->n_out; k++)
        for (int32_t j = 0; j < second->n_in; j++)
            if (s->operands[first->first_out + k] == s->operands[second->first_in + j])
                return true;
    return false;
}

static void mutate_instr(bench *b, int32_t i)
{
    const clv_spmd_instr *was = &b->right->instrs[i];
    if (was->op.i < 0)
        mutate_step(b, i);
    else
        mutate_operator(b, i);
    b->wrong.instrs[i].phase++;
    judge(b, NULL, "phase of instruction", i, was->phase + 1);
    b->wrong.instrs[i].n_in--;
    judge(b, NULL, "inputs of instruction", i, was->n_in - 1);
    b->wrong.instrs[i].n_out--;
    judge(b, NULL, "outputs of instruction", i, was->n_out - 1);
    for (int32_t j = 0; j < b->right->n_instrs; j++) {
        if (j == i)
            continue;
        b->wrong.instrs[i] = b->right->instrs[j];
        judge(b, NULL, "instruction replaced by another:", i, j);
    }
    if (i + 1 < b->right->n_instrs) {
        bool same = !depends(b->right, was, was + 1) && was->phase == was[1].phase;
        b->wrong.instrs[i] = was[1];
        b->wrong.instrs[i + 1] = *was;
        judge(b, same ? "neither needs the other" : NULL, "order of instruction", i, i + 1);
    }
}

/* Left out with its phase's count. */
static void mutate_phase(bench *b, int32_t p)
{
    b->wrong.phases[p].n_instrs--;
    judge(b, NULL, "instructions of phase", p, b->right->phases[p].n_instrs - 1);
    b->wrong.phases[p].first_value++;
    judge(b, NULL, "first value of phase", p, b->right->phases[p].first_value + 1);
    for (int32_t i = 0; i < b->right->mesh.n_devices && b->right->mesh.n_devices > 1; i++) {
        int32_t device[64];
        memcpy(device, b->right->phases[p].device,
               (size_t)b->right->mesh.n_devices * sizeof *device);
        device[i] = device[(i + 1) % b->right->mesh.n_devices];
        b->wrong.phases[p].device = device;
        judge(b, NULL, "device of phase", p, i);
    }
}

static void mutate_all(const clv_spmd *s, int at_least)
{
    bench b = bench_of(s);
    clv_proof proof = proof_of(m, s);
    cr_assert(proof.holds, "%s", proof.fault);
    for (int32_t v = 0; v < s->n_values; v++)
        mutate_value(&b, v);
    for (int32_t i = 0; i < s->n_instrs; i++)
        mutate_instr(&b, i);
    for (int32_t p = 0; p < s->n_phases; p++)
        mutate_phase(&b, p);
    for (int32_t k = 0; k < s->n_operands; k++)
        for (int32_t v = -1; v <= s->n_values; v++)
            if (v != s->operands[k]) {
                b.wrong.operands[k] = v;
                judge(&b, may_read(&b, s->operands[k], v), "operand", k, v);
            }
    for (int32_t i = 0; i < s->model->main->n_outputs; i++)
        for (int32_t v = -1; v <= s->n_values; v++)
            if (v != s->result[i]) {
                b.wrong.result[i] = v;
                judge(&b, NULL, "result", i, v);
            }
    cr_log_info("%d mutants: %d refused, %d with the same meaning", b.n, b.n_refused, b.n_kept);
    cr_expect_geq(b.n_refused, at_least);
    clv_arena_free(b.scratch);
}

Test(mutants, columns_then_rows_with_a_bias)
{
    made_input(m, "x", CLV_DT_FLOAT, "4,6");
    made_weight(m, "w", CLV_DT_FLOAT, "6,8");
    made_weight(m, "v", CLV_DT_FLOAT, "8,6");
    made_weight(m, "c", CLV_DT_FLOAT, "6");
    made_op(m, "MatMul", "x,w", "h");
    made_op(m, "Relu", "h", "r");
    made_op(m, "Gemm", "r,v,c", "y");
    made_op(m, "Add", "x,y", "z");
    made_output(m, "z");
    made_build(m);
    clv_plan *plan = program_plan(m, "2", 1);
    static const program_split splits[] = { { "h", "tp=n" }, { "r", "tp=d1" }, { "y", "tp=k" } };
    program_split_ops(m, plan, splits, N(splits));
    mutate_all(program_of(m, plan), 500);
}

Test(mutants, parts_of_sums_through_operators)
{
    made_input(m, "x", CLV_DT_FLOAT, "4,6");
    made_input(m, "r", CLV_DT_FLOAT, "4,1");
    made_weight(m, "v", CLV_DT_FLOAT, "6,6");
    made_weight(m, "w", CLV_DT_FLOAT, "6,6");
    made_weight(m, "c", CLV_DT_FLOAT, "6");
    made_op(m, "MatMul", "x,v", "a");
    made_op(m, "MatMul", "x,w", "b");
    made_op(m, "Mul", "r,b", "s");
    made_op(m, "Sum", "a,s,c", "y");
    made_op(m, "Relu", "y", "z");
    made_output(m, "z");
    made_build(m);
    clv_plan *plan = program_plan(m, "2", 1);
    static const program_split splits[] = {
        { "a", "tp=k" }, { "b", "tp=k" }, { "s", "tp=sum1" }, { "y", "tp=sum" }
    };
    program_split_ops(m, plan, splits, N(splits));
    mutate_all(program_of(m, plan), 500);
}

Test(mutants, two_axes_and_every_kind_of_step)
{
    made_input(m, "x", CLV_DT_FLOAT, "8,12");
    made_weight(m, "w", CLV_DT_FLOAT, "12,20");
    made_op(m, "MatMul", "x,w", "h");
    made_op(m, "Relu", "h", "r");
    made_output(m, "r");
    made_build(m);
    clv_plan *plan = program_plan(m, "2x2", 1);
    static const program_split splits[] = { { "h", "dp=m tp=k" }, { "r", "dp=d1" } };
    static const program_step steps[] = {
        { "reduce-scatter", "tp", "h", "{dp, -} sum(tp)", "{dp, tp}" },
        { "permute", "dp,tp", "h", "{dp, tp}", "{tp, dp}" },
        { "all-gather", "tp", "h", "{tp, dp}", "{-, dp}" },
        { "all-to-all", "dp", "r", "{-, dp}", "{dp, -}" },
        { "neutral", "tp", "r", "{dp, -}", "{dp, -} sum(tp)" },
        { "all-reduce", "tp", "r", "{dp, -} sum(tp)", "{dp, -}" },
        { "slice", "tp", "r", "{dp, -}", "{dp, tp}" },
    };
    program_split_ops(m, plan, splits, N(splits));
    program_steps(m, plan, steps, N(steps));
    mutate_all(program_of(m, plan), 500);
}

Test(mutants, stages_that_send)
{
    made_input(m, "x", CLV_DT_FLOAT, "4,6");
    made_input(m, "i", CLV_DT_INT64, "4");
    made_weight(m, "w", CLV_DT_FLOAT, "6,8");
    made_weight(m, "v", CLV_DT_FLOAT, "10,8");
    made_op(m, "MatMul", "x,w", "h");
    made_op(m, "Gather", "v,i", "g");
    made_op(m, "Add", "h,g", "a");
    made_op(m, "Softmax", "a", "s");
    made_output(m, "s");
    made_output(m, "h");
    made_build(m);
    clv_plan *plan = program_plan(m, "2", 2);
    static const program_split splits[] = { { "h", "tp=n" }, { "a", "tp=d0" }, { "s", "tp=a0" } };
    program_split_ops(m, plan, splits, N(splits));
    mutate_all(program_of(m, plan), 500);
}

Test(mutants, an_image_with_borders)
{
    made_input(m, "x", CLV_DT_FLOAT, "2,2,12,8");
    made_weight(m, "w", CLV_DT_FLOAT, "2,2,3,3");
    made_op(m, "Conv", "x,w", "y");
    made_attr_ints(m, "pads", "1,1,1,1");
    made_op(m, "Relu", "y", "r");
    made_output(m, "r");
    made_build(m);
    clv_plan *plan = program_plan(m, "2x2", 1);
    const clv_factors *f = program_of(m, plan)->factors;
    char split[32] = "";
    for (int32_t i = 0; i < f->n_factors && !*split; i++)
        if (f->factors[i].kind == CLV_FACTOR_HALO)
            snprintf(split, sizeof split, "dp=%s", f->factors[i].name);
    program_split_ops(m, plan, &(program_split){ "y", split }, 1);
    mutate_all(program_of(m, plan), 500);
}

Test(mutants, heads_in_uneven_parts)
{
    made_input(m, "x", CLV_DT_FLOAT, "2,6");
    made_weight(m, "w", CLV_DT_FLOAT, "6,12");
    made_ints(m, "s", "2,3,4");
    made_op(m, "MatMul", "x,w", "h");
    made_op(m, "Reshape", "h,s", "q");
    made_op(m, "Softmax", "q", "p");
    made_output(m, "p");
    made_build(m);
    clv_plan *plan = program_plan(m, "2", 1); /* 3 heads of 4: two and one */
    clv_spmd *s = program_of(m, plan);
    char split[3][32] = { "", "", "" };
    static const char *const made_by[] = { "h", "q", "p" };
    for (int k = 0; k < 3; k++) {
        const clv_factors *f = &s->factors[made_writer(m, made_by[k]).i];
        for (int32_t i = 0; i < f->n_factors && !split[k][0]; i++)
            if (f->factors[i].size == 3 && f->factors[i].kind == CLV_FACTOR_PARALLEL)
                snprintf(split[k], sizeof split[k], "tp=%s", f->factors[i].name);
        cr_assert(split[k][0], "the rule of '%s' has no heads", made_by[k]);
        program_split_ops(m, plan, &(program_split){ made_by[k], split[k] }, 1);
    }
    mutate_all(program_of(m, plan), 300);
}
