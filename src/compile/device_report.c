#include "compile/device_report.h"

#include <stdlib.h>

#include "compile/offset_allocator.h"

int64_t clv_group_capacity(const clv_cluster *cluster, int32_t device)
{
    return clv_device_capacity(clv_device_kind_of(cluster, device));
}

/* Largest first; the one written first on a tie. */
static int by_size(const void *a, const void *b)
{
    const clv_placed_buffer *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* How many of the group's operators run before a position. */
static int32_t operators_before(const clv_program *p, const clv_group *group, int32_t position)
{
    int32_t n = 0;
    for (int32_t r = 0; r < group->n_ranges; r++) {
        int32_t start = clv_program_start(p, group->ranges[r].first);
        int32_t end = clv_program_start(p, group->ranges[r].end);
        if (start >= position)
            break;
        n += (end < position ? end : position) - start;
    }
    return n;
}

static int64_t flops_of(const clv_program *p, const clv_group *group)
{
    int64_t flops = 0;
    for (int32_t r = 0; r < group->n_ranges; r++) {
        int32_t end = clv_program_start(p, group->ranges[r].end);
        for (int32_t i = clv_program_start(p, group->ranges[r].first); i < end; i++)
            flops = clv_add_saturated(flops, clv_program_cost(p, i)->flops);
    }
    return flops;
}

/* The tensors alive at the fullest moment. */
static clv_status list_live(clv_memory_planner *planner, const clv_group *group,
                            const clv_group_result *result, clv_arena *arena, clv_device_report *to,
                            clv_error *err)
{
    const clv_program *p = planner->program;
    int32_t peak = operators_before(p, group, result->peak_position), n = 0;
    clv_placed_buffers all = { 0 };
    clv_group_result again;
    clv_live *live = CLV_NEW_ARRAY(arena, clv_live, CLV_LIVE_SHOWN);
    if (!live)
        return clv_fail_nomem(err, "a device's report");
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(clv_plan_memory(planner, group, arena, &again, &all, err));
    for (int32_t k = 0; k < all.n; k++)
        if (all.at[k].slot != CLV_SLOT_WORKSPACE && all.at[k].first <= peak &&
            peak <= all.at[k].last)
            all.at[n++] = all.at[k];
    for (int32_t k = 0; k < n; k++)
        if (p->flags[all.at[k].slot] & CLV_SLOT_STATE)
            to->state_bytes += clv_align_bytes(all.at[k].bytes);
    if (n > 1)
        qsort(all.at, (size_t)n, sizeof *all.at, by_size);
    to->live = live;
    to->n_live = n < CLV_LIVE_SHOWN ? n : CLV_LIVE_SHOWN;
    for (int32_t k = 0; k < to->n_live; k++)
        live[k] =
            (clv_live){ p->tensor_of[all.at[k].slot],
                        clv_align_bytes(result->weight_bytes) + all.at[k].offset, all.at[k].bytes };
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}

clv_status clv_device_report_make(clv_memory_planner *planner, const clv_group *group,
                                  const clv_group_result *result, clv_arena *arena,
                                  clv_device_report *ret, clv_error *err)
{
    const clv_workload *workload = &planner->program->workload;
    clv_device_report made = { .weight_bytes = result->weight_bytes,
                               .activation_bytes = result->activation_bytes,
                               .workspace_bytes = result->workspace_bytes,
                               .peak_bytes = clv_group_peak(result),
                               .capacity_bytes =
                                   clv_group_capacity(workload->cluster, group->device),
                               .busy_ns = result->busy_ns,
                               .flops = flops_of(planner->program, group),
                               .n_ops = result->n_ops,
                               .peak_op = CLV_NO_OP };
    if (result->n_ops > 0) {
        made.peak_op = workload->units->order[result->peak_position];
        CLV_TRY(list_live(planner, group, result, arena, &made, err));
    }
    *ret = made;
    return CLV_OK;
}
