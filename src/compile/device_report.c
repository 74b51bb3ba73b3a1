#include "compile/device_report.h"

#include <stdlib.h>

#include "compile/addresses.h"

int64_t clv_group_capacity(const clv_cluster *cluster, int32_t device)
{
    const clv_device_kind *kind = clv_device_kind_of(cluster, device);
    int64_t capacity = kind->memory_bytes - kind->reserved_bytes;
    return capacity > 0 ? capacity : 0;
}

/* Largest first; the one written first on a tie. */
static int by_size(const void *a, const void *b)
{
    const clv_place_problem *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* How many of the group's operators run before a position. */
static int32_t operators_before(const clv_program *p, const clv_group *group, int32_t position)
{
    int32_t n = 0;
    for (int32_t r = 0; r < group->n_ranges; r++) {
        int32_t start = p->segment_first[p->unit_segment[group->ranges[r].first]];
        int32_t end = p->segment_first[p->unit_segment[group->ranges[r].end]];
        if (start >= position)
            break;
        n += (end < position ? end : position) - start;
    }
    return n;
}

/* Keeps the tensors alive at the group's i-th operator, largest first. */
static void keep_live(clv_placements *all, int32_t i)
{
    int32_t n = 0;
    for (int32_t k = 0; k < all->n; k++)
        if (all->at[k].slot != CLV_SLOT_WORKSPACE && all->at[k].first <= i && i <= all->at[k].last)
            all->at[n++] = all->at[k];
    all->n = n;
    if (n > 1)
        qsort(all->at, (size_t)n, sizeof *all->at, by_size);
}

static clv_status fill_live(const clv_program *p, const clv_group *group,
                            const clv_group_result *result, clv_layout_marks *marks,
                            clv_arena *arena, clv_device_report *to, clv_error *err)
{
    clv_placements all = { 0 };
    clv_group_result again;
    clv_live *live = CLV_NEW_ARRAY(arena, clv_live, CLV_LIVE_SHOWN);
    if (!live)
        return clv_fail_nomem(err, "a device's report");
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(clv_layout(p, group, marks, arena, &again, &all, err));
    keep_live(&all, operators_before(p, group, result->peak_position));
    to->live = live;
    to->n_live = all.n < CLV_LIVE_SHOWN ? all.n : CLV_LIVE_SHOWN;
    for (int32_t k = 0; k < to->n_live; k++)
        live[k] =
            (clv_live){ p->tensor_of[all.at[k].slot],
                        clv_align_bytes(result->weight_bytes) + all.at[k].offset, all.at[k].bytes };
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}

clv_status clv_device_report_fill(const clv_program *p, const clv_group *group,
                                  const clv_group_result *result, clv_layout_marks *marks,
                                  clv_arena *arena, clv_device_report *ret, clv_error *err)
{
    clv_device_report made = { .weight_bytes = result->weight_bytes,
                               .activation_bytes = result->activation_bytes,
                               .workspace_bytes = result->workspace_bytes,
                               .peak_bytes = clv_group_peak(result),
                               .capacity_bytes =
                                   clv_group_capacity(p->workload.cluster, group->device),
                               .busy_ns = result->busy_ns,
                               .flops = result->flops,
                               .n_ops = result->n_ops,
                               .peak_op = CLV_NO_OP };
    if (result->n_ops > 0) {
        made.peak_op = p->workload.units->order[result->peak_position];
        CLV_TRY(fill_live(p, group, result, marks, arena, &made, err));
    }
    *ret = made;
    return CLV_OK;
}
