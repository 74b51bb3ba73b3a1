/* grow.c - growth of one kernel. Every operator that joins looks at its neighbours once: at writers
 * of what it reads, and at readers of what it writes. One that may not join yet is looked at again
 * when the next of its neighbours joins, so one walk is enough.
 *
 * Kernels must not wait for each other in a circle. A writer is taken in only if the kernel alone
 * reads it, so no path leaves by it. A reader is taken in only if nothing else that it reads
 * depends on the kernel.
 */
#include "kernels/grow.h"

#include "graph/ops.h"
#include "kernels/conditions.h"

/* Operators that a search for a path looks at; further away it is taken for granted that there is
 * one. Branches of a layer that meet again do so within a few dozens. */
#define SEARCH_MAX 256

/* Where an operator stands in its kernel. */
#define AT_START      0
#define AT_AFTER(i)   (1 + (i))
#define AT_BEFORE(i)  (-1 - (i))
#define AT_OPERAND(i) (100 + (i)) /* before other operands of an operator after the start */

static bool has_operator(clv_op_set set, const clv_op_info *op)
{
    return set && op->kind >= 0 && set[op->kind];
}

static bool is_view(const clv_forming *f, const clv_op_info *op)
{
    return clv_op_passed(f->types, op).i >= 0;
}

static int64_t elems_of(const clv_forming *f, clv_tensor t)
{
    return t.i < 0 ? 0 : clv_known_elems(&f->types->of[t.i]);
}

static int64_t out_elems(const clv_forming *f, const clv_op_info *op)
{
    return op->n_out > 0 ? elems_of(f, clv_op_output(f->g, op, 0)) : 0;
}

/* Of the largest tensor that it reads or writes, weights aside. */
static int64_t most_elems(const clv_forming *f, const clv_op_info *op)
{
    int64_t most = out_elems(f, op);
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(f->g, op, k);
        if (t.i < 0 || clv_tensor_at(f->g, t)->role == CLV_TENSOR_WEIGHT)
            continue;
        int64_t n = elems_of(f, t);
        most = n > most ? n : most;
    }
    return most;
}

/* How long the rows are on which an operator works: what it sums up, or the last dimension. */
static int64_t row_of(const clv_forming *f, const clv_op_info *op)
{
    clv_tensor t = clv_op_input(f->g, op, 0);
    int64_t in = elems_of(f, t), out = out_elems(f, op);
    if (out > 0 && out < in)
        return in / out;
    const clv_type *type = t.i < 0 ? NULL : &f->types->of[t.i];
    int32_t rank = type && type->kind == CLV_TYPE_TENSOR ? type->rank : 0;
    return rank > 0 && clv_dim_is_number(type->dims[rank - 1]) ? type->dims[rank - 1] : 1;
}

clv_status clv_forming_init(clv_forming *f, const clv_types *types, clv_arena *scratch,
                            clv_error *err)
{
    const clv_graph *g = types->graph;
    *f = (clv_forming){ .types = types,
                        .g = g,
                        .scratch = scratch,
                        .is_free = CLV_NEW_ROOM(scratch, bool, g->n_ops),
                        .of = CLV_NEW_ROOM(scratch, int32_t, g->n_ops),
                        .stage = CLV_NEW_ROOM(scratch, int32_t, g->n_ops),
                        .members = CLV_NEW_ROOM(scratch, clv_op, g->n_ops),
                        .found = CLV_NEW_ROOM(scratch, clv_found, g->n_ops),
                        .seen = CLV_NEW_ARRAY(scratch, int32_t, g->n_ops),
                        .stack = CLV_NEW_ROOM(scratch, int32_t, g->n_ops) };
    if (!f->is_free || !f->of || !f->stage || !f->members || !f->found || !f->seen || !f->stack)
        return clv_fail_nomem(err, "kernels");
    for (int32_t i = 0; i < g->n_ops; i++) {
        f->is_free[i] = clv_op_is_free(types, (clv_op){ i });
        f->of[i] = -1;
    }
    return CLV_OK;
}

/* -- paths -- */

static clv_op writer_of(const clv_forming *f, clv_op op, int32_t k)
{
    clv_tensor t = clv_op_input(f->g, clv_op_at(f->g, op), k);
    return t.i < 0 || f->types->value[t.i] ? CLV_NO_OP : clv_tensor_at(f->g, t)->producer;
}

/* Puts on the stack what has to run before an operator, all of its kernel with it. True where that
 * is the kernel at hand. */
static bool push_before(clv_forming *f, clv_op op, int32_t *n)
{
    int32_t kernel = f->n_found, of = op.i < 0 ? -1 : f->of[op.i];
    const clv_found *mine = &f->found[kernel];
    if (op.i < 0 || f->seen[op.i] == f->stamp)
        return false;
    if (of == kernel)
        return true;
    const clv_found *its = of >= 0 ? &f->found[of] : NULL;
    if ((its ? its->highest : op.i) < mine->lowest)
        return false; /* operators are in topological order */
    for (int32_t i = 0; i < (its ? its->n : 1); i++) {
        int32_t one = its ? f->members[its->first + i].i : op.i;
        f->seen[one] = f->stamp;
        f->stack[(*n)++] = one;
    }
    return false;
}

static bool depends(clv_forming *f, clv_op from)
{
    int32_t n = 0, looked_at = 0;
    f->stamp++;
    if (push_before(f, from, &n))
        return true;
    while (n > 0) {
        clv_op op = { f->stack[--n] };
        if (++looked_at > SEARCH_MAX)
            return true;
        for (int32_t k = 0; k < clv_op_at(f->g, op)->n_in; k++)
            if (push_before(f, writer_of(f, op, k), &n))
                return true;
    }
    return false;
}

/* Does nothing that it reads from outside depend on the kernel? */
static bool is_independent(clv_forming *f, clv_op op)
{
    for (int32_t k = 0; k < clv_op_at(f->g, op)->n_in; k++) {
        clv_op writer = writer_of(f, op, k);
        if (writer.i >= 0 && f->of[writer.i] != f->n_found && depends(f, writer))
            return false;
    }
    return true;
}

bool clv_is_idle(const clv_forming *f, clv_op op)
{
    return f->is_free[op.i] && !is_view(f, clv_op_at(f->g, op));
}

bool clv_stays_in_kernel(const clv_forming *f, clv_op op, int32_t kernel)
{
    const clv_op_info *info = clv_op_at(f->g, op);
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(f->g, info, k);
        const clv_tensor_info *at = t.i < 0 ? NULL : clv_tensor_at(f->g, t);
        for (int32_t r = 0; at && r < at->n_readers; r++) {
            clv_op reader = f->g->readers_of[at->first_reader + r];
            if (f->of[reader.i] != kernel && !clv_is_idle(f, reader))
                return false;
        }
    }
    return true;
}

/* Nothing that the kernel reads from elsewhere comes after op, so what op writes may be read
 * outside too. */
static bool reads_nothing_later(clv_forming *f, clv_op op)
{
    const clv_found *mine = &f->found[f->n_found];
    for (int32_t i = mine->first; i < f->n_members; i++)
        for (int32_t k = 0; k < clv_op_at(f->g, f->members[i])->n_in; k++) {
            clv_op writer = writer_of(f, f->members[i], k);
            if (writer.i > op.i && f->of[writer.i] != f->n_found && !f->is_free[writer.i])
                return false;
        }
    return true;
}

/* -- joining -- */

static void join(clv_forming *f, clv_op op, int32_t stage)
{
    clv_found *mine = &f->found[f->n_found];
    f->of[op.i] = f->n_found;
    f->stage[op.i] = stage;
    f->members[f->n_members++] = op;
    mine->lowest = op.i < mine->lowest ? op.i : mine->lowest;
    mine->highest = op.i > mine->highest ? op.i : mine->highest;
    if (f->row == 0 && has_operator(mine->pattern->rows, clv_op_at(f->g, op)))
        f->row = row_of(f, clv_op_at(f->g, op));
}

static bool meets(const clv_forming *f, const clv_pattern_stage *stage, clv_op op)
{
    const clv_partial_kernel k = { f->of, f->n_found, f->found[f->n_found].anchor };
    return clv_meets(f->types, &k, stage, op);
}

/* Does an operator read nothing but what the kernel writes, constants, and what the stage may take
 * in as another operand? */
static bool reads_kernel_alone(const clv_forming *f, const clv_op_info *op, clv_op_set operands)
{
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(f->g, op, k);
        if (t.i < 0 || f->types->value[t.i] || clv_tensor_at(f->g, t)->role == CLV_TENSOR_WEIGHT)
            continue;
        clv_op writer = clv_tensor_at(f->g, t)->producer;
        if (writer.i < 0 || (f->of[writer.i] != f->n_found && !clv_is_idle(f, writer) &&
                             !has_operator(operands, clv_op_at(f->g, writer))))
            return false;
    }
    return true;
}

/* The first stage from `from` on that takes an operator, over stages that have what they want; -1:
 * none. */
static int32_t stage_for(const clv_forming *f, const clv_pattern_stage *stages, int32_t n,
                         const int32_t *have, int32_t from, clv_op op)
{
    for (int32_t i = from; i < n; i++) {
        const clv_op_info *info = clv_op_at(f->g, op);
        if (have[i] < stages[i].max && has_operator(stages[i].operators, info) &&
            meets(f, &stages[i], op) &&
            (!stages[i].alone || reads_kernel_alone(f, info, stages[i].operands)))
            return i;
        if (have[i] < stages[i].min)
            return -1;
    }
    return -1;
}

/* May what the kernel works on be what this operator works on? Operands of products may have any
 * size. */
static bool fits(clv_forming *f, const clv_op_info *op, bool after)
{
    const clv_pattern *p = f->found[f->n_found].pattern;
    if (p->kind == CLV_KERNEL_PRODUCT)
        return !after || out_elems(f, op) == f->elems;
    if (p->kind != CLV_KERNEL_MEMORY)
        return true;
    if (most_elems(f, op) > f->elems)
        return false;
    return !has_operator(p->rows, op) || f->row == 0 || row_of(f, op) == f->row;
}

static void try_before(clv_forming *f, clv_op reader, clv_op op)
{
    const clv_found *mine = &f->found[f->n_found];
    const clv_pattern *p = mine->pattern;
    const clv_op_info *info = clv_op_at(f->g, op);
    int32_t at = f->stage[reader.i];
    if (op.i < 0 || f->of[op.i] >= 0)
        return;
    bool view = f->is_free[op.i] && is_view(f, info),
         alone = clv_stays_in_kernel(f, op, f->n_found);
    if (view && alone)
        join(f, op, at);
    if (f->is_free[op.i])
        return;
    if (at > 0 && p->kind != CLV_KERNEL_MEMORY) { /* another operand of what came after the start */
        int32_t after = at >= AT_OPERAND(0) ? at - AT_OPERAND(0) : at - AT_AFTER(0);
        if (alone && has_operator(p->after[after].operands, info) && fits(f, info, false))
            join(f, op, AT_OPERAND(after));
        return;
    }
    int32_t stage =
        stage_for(f, p->before, p->n_before, f->n_before, at >= AT_START ? 0 : -1 - at, op);
    if (stage < 0 || (!alone && !(p->before[stage].shared && reads_nothing_later(f, op))) ||
        !fits(f, info, false))
        return;
    f->n_before[stage]++;
    join(f, op, AT_BEFORE(stage));
}

static void try_after(clv_forming *f, clv_op writer, clv_op op)
{
    const clv_op_info *info = clv_op_at(f->g, op);
    const clv_pattern *p = f->found[f->n_found].pattern;
    int32_t at = f->stage[writer.i];
    if (f->of[op.i] >= 0 || at < 0 || at >= AT_OPERAND(0))
        return;
    if (f->is_free[op.i]) {
        if (is_view(f, info) && clv_op_input(f->g, info, 0).i >= 0 &&
            writer_of(f, op, 0).i == writer.i && is_independent(f, op))
            join(f, op, at);
        return;
    }
    int32_t stage = stage_for(f, p->after, p->n_after, f->n_after, at == AT_START ? 0 : at - 1, op);
    if (stage < 0 || !fits(f, info, true) || !is_independent(f, op))
        return;
    f->n_after[stage]++;
    join(f, op, AT_AFTER(stage));
}

static void look_around(clv_forming *f, clv_op op)
{
    const clv_op_info *info = clv_op_at(f->g, op);
    for (int32_t k = 0; k < info->n_in; k++) {
        clv_op writer = writer_of(f, op, k);
        if (writer.i >= 0)
            try_before(f, op, writer);
    }
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(f->g, info, k);
        const clv_tensor_info *at = t.i < 0 ? NULL : clv_tensor_at(f->g, t);
        for (int32_t r = 0; at && r < at->n_readers; r++)
            try_after(f, op, f->g->readers_of[at->first_reader + r]);
    }
}

static bool holds(const clv_forming *f, const clv_pattern *p)
{
    for (int32_t i = 0; i < p->n_before; i++)
        if (f->n_before[i] < p->before[i].min)
            return false;
    for (int32_t i = 0; i < p->n_after; i++)
        if (f->n_after[i] < p->after[i].min)
            return false;
    return true;
}

bool clv_form_from(clv_forming *f, const clv_pattern *pattern, clv_op start)
{
    const clv_op_info *info = clv_op_at(f->g, start);
    clv_found *mine = &f->found[f->n_found];
    *mine = (clv_found){ pattern, start, f->n_members, 0, start.i, start.i };
    memset(f->n_before, 0, sizeof f->n_before);
    memset(f->n_after, 0, sizeof f->n_after);
    f->elems = pattern->kind == CLV_KERNEL_PRODUCT ? out_elems(f, info) : most_elems(f, info);
    f->row = 0;
    join(f, start, AT_START);
    for (int32_t i = mine->first; i < f->n_members; i++)
        look_around(f, f->members[i]);
    mine->n = f->n_members - mine->first;
    f->n_found++;
    if (holds(f, pattern))
        return true;
    clv_form_undo(f);
    return false;
}

void clv_form_undo(clv_forming *f)
{
    const clv_found *last = &f->found[--f->n_found];
    for (int32_t i = last->first; i < f->n_members; i++)
        f->of[f->members[i].i] = -1;
    f->n_members = last->first;
}
