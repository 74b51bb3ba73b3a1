#include "cost/runs_as.h"

#include "cost/weights.h"
#include "graph/ops.h"

static int64_t result_elems(const clv_costs *costs, clv_op op)
{
    clv_tensor t = clv_op_output(costs->graph, clv_op_at(costs->graph, op), 0);
    int64_t n = t.i < 0 ? 0 : clv_type_elems(&costs->types->of[t.i]);
    return n > 0 ? n : 0;
}

/* Bytes of what a kernel reads from outside, each tensor once, and of what it writes to be read
 * outside. O(its edges and their readers). */
static void find_traffic(const clv_kernels *kernels, int32_t kernel, const clv_costs *costs,
                         int64_t *ret_read, int64_t *ret_write)
{
    const clv_graph *g = costs->graph;
    const clv_kernel *k = &kernels->at[kernel];
    *ret_read = *ret_write = 0;
    for (int32_t i = 0; i < k->n; i++) {
        clv_op op = kernels->members[k->first + i];
        const clv_op_info *info = clv_op_at(g, op);
        for (int32_t n = 0; n < info->n_in; n++) {
            clv_tensor t = clv_op_input(g, info, n);
            const clv_tensor_info *at = t.i < 0 ? NULL : clv_tensor_at(g, t);
            int32_t r = 0;
            while (at && r < at->n_readers &&
                   kernels->of[g->readers_of[at->first_reader + r].i] != kernel)
                r++;
            bool within = at && at->producer.i >= 0 && kernels->of[at->producer.i] == kernel;
            if (at && !within && r < at->n_readers &&
                g->readers_of[at->first_reader + r].i == op.i && !costs->types->value[t.i])
                *ret_read = clv_weight_add(*ret_read, costs->types->bytes[t.i]);
        }
        for (int32_t n = 0; n < info->n_out; n++) {
            clv_tensor t = clv_op_output(g, info, n);
            if (t.i >= 0 && clv_op_viewed(g, info).i < 0)
                *ret_write = clv_weight_add(*ret_write, costs->types->bytes[t.i]);
        }
    }
}

/* All of it is with the operator that it began at. */
static void run_memory_as(const clv_kernels *kernels, int32_t kernel, clv_costs *costs)
{
    const clv_kernel *k = &kernels->at[kernel];
    clv_op_cost *anchor = &costs->of[k->anchor.i];
    int64_t read, write, elems = 0;
    find_traffic(kernels, kernel, costs, &read, &write);
    for (int32_t i = 0; i < k->n; i++) {
        clv_op op = kernels->members[k->first + i];
        clv_op_cost *one = &costs->of[op.i];
        int64_t n = result_elems(costs, op);
        elems = n > elems ? n : elems;
        one->flops = one->read_bytes = one->write_bytes = one->workspace_bytes = 0;
        one->starts = 0;
    }
    anchor->flops = (int64_t)(clv_op_def_at(k->pattern->runs_as)->k * (double)elems);
    anchor->read_bytes = read;
    anchor->write_bytes = write;
    anchor->speed = 1 + k->pattern->runs_as;
    anchor->starts = 1;
}

/* Operands come to the product as they are stored, and its result is what is written in the end;
 * what else is read, as a residual is, is read behind it. */
static void run_product_as(const clv_kernels *kernels, const clv_kernel *k, clv_costs *costs)
{
    const clv_op_info *info = clv_op_at(costs->graph, k->anchor);
    clv_op_cost *anchor = &costs->of[k->anchor.i];
    if (info->kind != k->pattern->runs_as) /* else in groups or not, as it is */
        anchor->speed = 1 + k->pattern->runs_as;
    for (int32_t i = 0; i < k->n; i++) {
        clv_op op = kernels->members[k->first + i];
        clv_op_cost *one = &costs->of[op.i];
        if (one == anchor)
            continue;
        one->flops = one->workspace_bytes = 0;
        anchor->write_bytes = clv_weight_add(anchor->write_bytes, one->write_bytes);
        one->write_bytes = 0;
        if (op.i > k->anchor.i)
            continue;
        anchor->read_bytes = clv_weight_add(anchor->read_bytes, one->read_bytes);
        one->read_bytes = 0;
    }
}

void clv_kernel_runs_as(const clv_kernels *kernels, int32_t kernel, clv_costs *costs)
{
    if (kernels->at[kernel].kind == CLV_KERNEL_PRODUCT)
        run_product_as(kernels, &kernels->at[kernel], costs);
    else
        run_memory_as(kernels, kernel, costs);
}
