/* cleave_mesh.c - the public API on plans that split operators over devices. */
#include "api/objects.h"
#include "plan/plan_mesh.h"

const char *cleave_plan_mesh(const cleave_plan *plan) { return plan->mesh; }

int cleave_plan_mesh_devices(const cleave_plan *plan)
{
    return clv_plan_has_mesh(plan->plan) ? plan->plan->mesh_devices : 1;
}

int cleave_plan_collectives(const cleave_plan *plan) { return clv_plan_count_sending(plan->plan); }

int64_t cleave_plan_collective_bytes(const cleave_plan *plan)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < plan->plan->n_collectives; i++) {
        int64_t bytes = plan->plan->collectives[i].bytes;
        if (bytes < 0)
            return -1;
        sum = bytes > INT64_MAX - sum ? INT64_MAX : sum + bytes;
    }
    return sum;
}

double cleave_plan_collective_s(const cleave_plan *plan)
{
    double sum = 0;
    for (int32_t i = 0; i < plan->plan->n_collectives; i++) {
        if (plan->plan->collectives[i].ns < 0)
            return -1;
        sum += (double)plan->plan->collectives[i].ns * 1e-9;
    }
    return sum;
}

const char *cleave_plan_strategy(const cleave_plan *plan, int i, const char **ret_axis,
                                 int *ret_count)
{
    if (i < 0 || i >= plan->plan->n_found)
        return NULL;
    const clv_plan_finding *found = &plan->plan->found[i];
    if (ret_axis)
        *ret_axis = found->axes;
    if (ret_count)
        *ret_count = found->n;
    return found->name;
}

const char *cleave_plan_split_of(const cleave_plan *plan, int64_t node)
{
    if (node < 0 || node >= plan->plan->n_ops)
        return NULL;
    const char *split = plan->plan->split_of_op ? plan->plan->split_of_op[node] : NULL;
    return split ? split : "";
}
