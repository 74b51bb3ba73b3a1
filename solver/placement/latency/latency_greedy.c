#include "solver/placement/latency/latency_greedy.h"

#include <math.h>

/* Devices that are filled first, in turn; fewer where nodes * devices are many. */
#define MOST_FIRST 64
#define FIRST_WORK 1e8

/* Classes in the order of their first nodes: a device is filled, then the next, never to come back
 * (contiguous), or to where there is room (free). False: some class found no place. */
static bool first_fit(const clv_latency_tables *f, int32_t first_device, int64_t *used,
                      int32_t *device_of)
{
    const clv_place_problem *p = f->p;
    int32_t n = f->n_devices, d = 0;
    for (int32_t c = 0; c < p->n_classes; c++)
        device_of[c] = -1;
    for (int32_t i = 0; i < n; i++)
        used[i] = 0;
    for (int32_t i = 0; i < p->n_nodes; i++) {
        int32_t c = p->class_of[p->order[i]];
        if (device_of[c] >= 0)
            continue;
        for (d = f->contiguous ? d : 0; d < n; d++) {
            int32_t at = (first_device + d) % n, kind = f->kind_of[at];
            int64_t room = p->kinds[kind].capacity_bytes;
            if (f->class_fits[(size_t)kind * (size_t)p->n_classes + (size_t)c] &&
                (room == CLV_PLACE_UNLIMITED || f->class_bytes[c] <= room - used[at])) {
                device_of[c] = at;
                used[at] += f->class_bytes[c];
                break;
            }
        }
        if (device_of[c] < 0)
            return false;
    }
    return true;
}

clv_status clv_latency_greedy(clv_place_search *search, const clv_latency_tables *tables,
                              clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = tables->p;
    clv_mark mark = clv_arena_mark(arena);
    int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_classes);
    int64_t *used = CLV_NEW_ARRAY(arena, int64_t, tables->n_devices);
    if (!device_of || !used)
        return clv_fail_nomem(err, "a first solution");
    double most = fmin(fmin(MOST_FIRST, tables->n_devices),
                       1 + FIRST_WORK / (1.0 + (double)p->n_nodes * tables->n_devices));
    for (int32_t d = 0; d + 1 <= most && !clv_place_over(search); d++)
        if (first_fit(tables, d, used, device_of))
            CLV_TRY(clv_place_offer_groups(search, "filling", p->class_of, device_of, err));
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
