#include "plan/plan_check.h"

#include <inttypes.h>

#include "graph/constant.h"
#include "plan/plan_annotations.h"
#include "plan/plan_copies.h"
#include "plan/plan_mesh.h"

/* Operators of a graph are in topological order, plans speak of positions in the file:
 * file_index joins the two.
 */

static int32_t device_of(const clv_plan *plan, const clv_op_info *op)
{
    return plan->device_of_op[op->file_index];
}

static clv_status check_range(const clv_plan *plan, const clv_graph *g, const int32_t *original,
                              int32_t *count, clv_error *err)
{
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        int32_t d = device_of(plan, op);
        if (d < 0 || d >= plan->n_devices)
            return clv_fail(err, CLV_EFORMAT,
                            "operator '%.*s' is on device %" PRId32 ", there are %" PRId32,
                            CLV_STR_ARG(op->label), d, plan->n_devices);
        if (original[d] != d)
            return clv_fail(err, CLV_EFORMAT,
                            "operator '%.*s' is on device '%s' of a further copy, expected '%s', "
                            "which stands for it",
                            CLV_STR_ARG(op->label), plan->devices[d].name,
                            plan->devices[original[d]].name);
        count[d]++;
    }
    return CLV_OK;
}

static clv_status check_device(const clv_plan *plan, int32_t device, int32_t n_ops, clv_error *err)
{
    const clv_plan_device *d = &plan->devices[device];

    if (d->n_ops != n_ops)
        return clv_fail(err, CLV_EFORMAT,
                        "device '%s' says it has %" PRId32 " operators, the plan gives it %" PRId32,
                        d->name, d->n_ops, n_ops);
    if (n_ops == 0 && d->stage != -1)
        return clv_fail(err, CLV_EFORMAT,
                        "device '%s' has no operators but stage %" PRId32 ", expected -1", d->name,
                        d->stage);
    if (n_ops > 0 && (d->stage < 0 || d->stage >= plan->n_stages))
        return clv_fail(err, CLV_EFORMAT,
                        "device '%s' has stage %" PRId32 ", expected 0 to %" PRId32, d->name,
                        d->stage, plan->n_stages - 1);
    if (plan->outcome == CLV_FITS && d->capacity_bytes > 0 && d->peak_bytes > d->capacity_bytes)
        return clv_fail(err, CLV_EFORMAT,
                        "device '%s' needs %" PRId64 " bytes but has %" PRId64
                        ", in a plan that says it fits",
                        d->name, d->peak_bytes, d->capacity_bytes);
    return CLV_OK;
}

/* Stages 0 .. n_stages-1 are all in use; marks them in seen. */
static clv_status check_stages(const clv_plan *plan, int32_t *seen, clv_error *err)
{
    for (int32_t d = 0; d < plan->n_devices; d++)
        if (plan->devices[d].stage >= 0)
            seen[plan->devices[d].stage] = 1;
    for (int32_t s = 0; s < plan->n_stages; s++)
        if (!seen[s])
            return clv_fail(err, CLV_EFORMAT,
                            "the plan has %" PRId32 " stages but no device has stage %" PRId32,
                            plan->n_stages, s);
    return CLV_OK;
}

/* When an operator's stage has its turn: the backward pass goes from the last stage to the first.
 */
static int32_t turn_of(const clv_plan *plan, const clv_op_info *op)
{
    int32_t stage = plan->devices[device_of(plan, op)].stage;
    bool backward = plan->backward_op && plan->backward_op[op->file_index];
    return backward ? 2 * plan->n_stages - 1 - stage : stage;
}

static clv_status check_edge(const clv_plan *plan, const clv_graph *g, clv_tensor tensor,
                             const clv_op_info *reader, clv_error *err)
{
    const clv_tensor_info *t = clv_tensor_at(g, tensor);

    const clv_op_info *writer = clv_op_at(g, t->producer);
    int32_t from = device_of(plan, writer), to = device_of(plan, reader);
    int32_t a = plan->devices[from].stage, b = plan->devices[to].stage;
    if (turn_of(plan, writer) < turn_of(plan, reader) ||
        (from == to && turn_of(plan, writer) == turn_of(plan, reader)))
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT,
                    "tensor '%.*s' goes from '%.*s' on device '%s' (stage %" PRId32
                    ") to '%.*s' on device '%s' (stage %" PRId32 "), which is not a later stage",
                    CLV_STR_ARG(t->name), CLV_STR_ARG(writer->label), plan->devices[from].name, a,
                    CLV_STR_ARG(reader->label), plan->devices[to].name, b);
}

/* What is made of constants alone is wherever it is read. */
static clv_status check_edges(const clv_plan *plan, const clv_graph *g, const bool *constant,
                              clv_error *err)
{
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        for (int32_t k = 0; k < op->n_in; k++) {
            clv_tensor t = clv_op_input(g, op, k);
            clv_op writer = t.i >= 0 ? clv_tensor_at(g, t)->producer : CLV_NO_OP;
            if (writer.i >= 0 && !constant[writer.i])
                CLV_TRY(check_edge(plan, g, t, op, err));
        }
    }
    return CLV_OK;
}

static clv_status check_all(const clv_plan *plan, const clv_graph *g, clv_arena *arena,
                            int32_t *count, int32_t *seen, clv_error *err)
{
    CLV_TRY(clv_plan_check_mesh(plan, arena, err));
    CLV_TRY(clv_plan_check_copies(plan, arena, err));
    int32_t *original;
    CLV_TRY(clv_plan_originals(plan, arena, &original, err));
    CLV_TRY(check_range(plan, g, original, count, err));
    for (int32_t d = 0; d < plan->n_devices; d++) {
        int32_t lead = clv_plan_lead(plan, original[d]); /* what it runs, all of its mesh run */
        CLV_TRY(check_device(plan, d, lead < 0 ? 0 : count[lead], err));
    }
    CLV_TRY(check_stages(plan, seen, err));
    bool *constant;
    CLV_TRY(clv_constant_ops(g, arena, &constant, err));
    CLV_TRY(check_edges(plan, g, constant, err));
    return clv_plan_check_annotations(plan, g, arena, err);
}

clv_status clv_plan_check(const clv_plan *plan, const clv_graph *graph, clv_arena *arena,
                          clv_error *err)
{
    if (plan->n_ops != graph->n_ops)
        return clv_fail(err, CLV_EFORMAT,
                        "the plan is for %" PRId32 " operators, the model has %" PRId32,
                        plan->n_ops, graph->n_ops);
    if (plan->n_stages < 0 || plan->n_stages > plan->n_devices)
        return clv_fail(err, CLV_EFORMAT, "the plan has %" PRId32 " stages on %" PRId32 " devices",
                        plan->n_stages, plan->n_devices);
    clv_mark mark = clv_arena_mark(arena);
    int32_t *count = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    int32_t *seen = CLV_NEW_ARRAY(arena, int32_t, plan->n_stages);
    clv_status status = count && seen ? check_all(plan, graph, arena, count, seen, err)
                                      : clv_fail_nomem(err, "checking a plan");
    clv_arena_rewind(arena, mark);
    return status;
}
