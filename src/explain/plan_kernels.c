#include "explain/plan_kernels.h"

#include "cost/op_time.h"
#include "graph/ops.h"

#define WHAT "the kernels of a plan"
#define NONE (-1)

typedef struct {
    const clv_costs *costs;
    const clv_cluster *cluster;
    double proportion;
    clv_plan_kernel *made;
    int32_t *last_of; /* by kernel of the model: the last one made of it */
    int32_t *before;  /* by one that is made: the one before it of the same kernel */
    int32_t n;
    clv_arena *arena;
} builder;

static const char *kind_of_operator(const clv_costs *costs, clv_op op)
{
    const clv_op_info *info = clv_op_at(costs->graph, op);
    clv_flops_kind flops = info->kind >= 0 ? clv_op_def_at(info->kind)->flops : CLV_FLOPS_NONE;
    if (flops == CLV_FLOPS_CONV || flops == CLV_FLOPS_CONV_TRANSPOSE ||
        flops == CLV_FLOPS_DEFORM_CONV)
        return "convolution";
    if (flops == CLV_FLOPS_ATTENTION)
        return clv_kernel_kind_name(CLV_KERNEL_ATTENTION);
    if (flops == CLV_FLOPS_MOE)
        return clv_kernel_kind_name(CLV_KERNEL_EXPERTS);
    return clv_kernel_kind_name(costs->of[op.i].matmul_flops > 0 ? CLV_KERNEL_PRODUCT
                                                                 : CLV_KERNEL_MEMORY);
}

/* Of the model; NULL: an operator by itself. */
static const clv_kernel *kernel_of(const builder *b, clv_op op)
{
    int32_t k = b->costs->kernels ? b->costs->kernels->of[op.i] : NONE;
    return k < 0 ? NULL : &b->costs->kernels->at[k];
}

static const char *kind_of(const builder *b, const clv_running *run)
{
    if (run->op.i < 0)
        return run->collective;
    const clv_kernel *k = kernel_of(b, run->op);
    if (k && (k->kind == CLV_KERNEL_ATTENTION || k->kind == CLV_KERNEL_EXPERTS))
        return clv_kernel_kind_name(k->kind);
    return kind_of_operator(b->costs, k ? k->anchor : run->op);
}

static clv_str name_of(const builder *b, const clv_running *run)
{
    if (run->op.i < 0)
        return run->tensor;
    const clv_kernel *k = kernel_of(b, run->op);
    return clv_op_at(b->costs->graph, k ? k->anchor : run->op)->label;
}

/* The one that is made of the operator's kernel on its device; a new one. */
static clv_status place_of(builder *b, const clv_running *run, clv_plan_kernel **ret,
                           clv_error *err)
{
    int32_t k = run->op.i < 0 || !b->costs->kernels ? NONE : b->costs->kernels->of[run->op.i];
    for (int32_t i = k < 0 ? NONE : b->last_of[k]; i >= 0; i = b->before[i])
        if (b->made[i].device == run->device) {
            *ret = &b->made[i];
            return CLV_OK;
        }
    const char *name = clv_arena_str(b->arena, name_of(b, run));
    if (!name)
        return clv_fail_nomem(err, WHAT);
    b->before[b->n] = k < 0 ? NONE : b->last_of[k];
    if (k >= 0)
        b->last_of[k] = b->n;
    *ret = &b->made[b->n++];
    **ret = (clv_plan_kernel){ .name = name, .kind = kind_of(b, run), .device = run->device };
    return CLV_OK;
}

static clv_status add_running(builder *b, const clv_running *run, clv_error *err)
{
    const clv_device_kind *kind = clv_device_kind_of(b->cluster, run->device);
    clv_time_parts parts = clv_op_time_parts(
        run->cost, kind, clv_op_workspace(run->cost->workspace_bytes, kind, b->proportion));
    clv_plan_kernel *kernel = NULL;
    int64_t alone = 0;
    for (int32_t c = 0; c < CLV_N_TIME_CAUSES; c++)
        alone += c == CLV_TIME_COMMUNICATION ? 0 : parts.ns[c];
    if (alone + parts.ns[CLV_TIME_COMMUNICATION] == 0)
        return CLV_OK;
    CLV_TRY(place_of(b, run, &kernel, err));
    kernel->n_ops += run->op.i >= 0;
    for (int32_t c = 0; c < CLV_N_TIME_CAUSES; c++)
        kernel->ns[c] += parts.ns[c];
    kernel->basis_ns[parts.basis] += alone;
    kernel->basis_ns[parts.communication_basis] += parts.ns[CLV_TIME_COMMUNICATION];
    return CLV_OK;
}

/* Room for so many that run. */
static clv_status open_builder(builder *b, int32_t n, clv_error *err)
{
    int32_t n_kernels = b->costs->kernels ? b->costs->kernels->n : 0;
    b->made = CLV_NEW_ROOM(b->arena, clv_plan_kernel, n);
    b->last_of = clv_arena_take_large(b->arena, (size_t)n_kernels * sizeof *b->last_of);
    b->before = clv_arena_take_large(b->arena, (size_t)n * sizeof *b->before);
    if (!b->made || !b->last_of || !b->before)
        return clv_fail_nomem(err, WHAT);
    for (int32_t k = 0; k < n_kernels; k++)
        b->last_of[k] = NONE;
    return CLV_OK;
}

static void close_builder(builder *b, clv_plan *plan)
{
    clv_arena_drop_large(b->arena, b->last_of);
    clv_arena_drop_large(b->arena, b->before);
    plan->kernels = b->made;
    plan->n_kernels = b->n;
}

clv_status clv_plan_add_kernels(const clv_run_order *order, clv_arena *arena, clv_plan *plan,
                                clv_error *err)
{
    builder b = { .costs = order->costs,
                  .cluster = order->cluster,
                  .proportion = order->proportion,
                  .arena = arena };
    CLV_TRY(open_builder(&b, order->n, err));
    for (int32_t i = 0; i < order->n; i++)
        if (order->at[i].device >= 0)
            CLV_TRY(add_running(&b, &order->at[i], err));
    close_builder(&b, plan);
    return CLV_OK;
}

clv_status clv_plan_add_whole_kernels(const clv_costs *costs, const clv_cluster *cluster,
                                      clv_arena *arena, clv_plan *plan, clv_error *err)
{
    const clv_graph *g = costs->graph;
    builder b = {
        .costs = costs, .cluster = cluster, .proportion = plan->proportion, .arena = arena
    };
    CLV_TRY(open_builder(&b, g->n_ops, err));
    for (int32_t i = 0; i < g->n_ops; i++) {
        clv_running run = { .op = { i },
                            .device = plan->device_of_op[g->ops[i].file_index],
                            .cost = &costs->of[i] };
        CLV_TRY(add_running(&b, &run, err));
    }
    close_builder(&b, plan);
    return CLV_OK;
}
