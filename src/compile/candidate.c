#include "compile/candidate.h"

#include <assert.h>

#include "cost/op_time.h"

/* Counts, then fills, the runs of units with one device. */
static bool split_units(clv_candidate *c, clv_arena *arena)
{
    const int32_t *device_of = c->device_of;
    int32_t n_units = c->program->n_units, n_ranges = 0;
    int32_t n_devices = c->program->workload.cluster->n_devices;
    c->first_range = CLV_NEW_ARRAY(arena, int32_t, n_devices + 1);
    int32_t *next = CLV_NEW_ARRAY(arena, int32_t, n_devices);
    if (!c->first_range || !next)
        return false;
    for (int32_t u = 0; u < n_units; u++) {
        assert(device_of[u] >= 0 && device_of[u] < n_devices);
        if (u == 0 || device_of[u] != device_of[u - 1]) {
            c->first_range[device_of[u] + 1]++;
            n_ranges++;
        }
    }
    for (int32_t d = 0; d < n_devices; d++) {
        c->first_range[d + 1] += c->first_range[d];
        next[d] = c->first_range[d];
    }
    c->ranges = CLV_NEW_ARRAY(arena, clv_unit_range, n_ranges);
    if (!c->ranges)
        return false;
    for (int32_t u = 0, end; u < n_units; u = end) {
        for (end = u + 1; end < n_units && device_of[end] == device_of[u]; end++)
            continue;
        c->ranges[next[device_of[u]]++] = (clv_unit_range){ u, end };
    }
    return true;
}

/* Those of the program where the proportion is the kind's default. */
static clv_status find_times(clv_candidate *c, clv_arena *arena, clv_error *err)
{
    const clv_program *p = c->program;
    const clv_cluster *cluster = p->workload.cluster;
    int64_t **of_kind = CLV_NEW_ARRAY(arena, int64_t *, cluster->n_kinds);
    c->prefix_ns = CLV_NEW_ARRAY(arena, const int64_t *, cluster->n_devices);
    if (!of_kind || !c->prefix_ns)
        return clv_fail_nomem(err, "operator times");
    for (int32_t d = 0; d < cluster->n_devices; d++) {
        int32_t kind = cluster->devices[d].kind;
        bool is_default =
            !(c->proportion > 0) || !(c->proportion < cluster->kinds[kind].workspace_proportion ||
                                      c->proportion > cluster->kinds[kind].workspace_proportion);
        if (is_default)
            of_kind[kind] = p->prefix_ns[kind];
        else if (!of_kind[kind] && clv_candidate_uses(c, d))
            CLV_TRY(clv_program_prefix_ns(p, kind, c->proportion, arena, &of_kind[kind], err));
        c->prefix_ns[d] = of_kind[kind];
    }
    return CLV_OK;
}

clv_status clv_candidate_init(clv_candidate *ret, const clv_program *p,
                              const clv_assignment *assignment, clv_arena *arena, clv_error *err)
{
    clv_candidate c = { .program = p,
                        .device_of = assignment->device_of,
                        .proportion = assignment->proportion };
    if (!split_units(&c, arena))
        return clv_fail_nomem(err, "the devices' units");
    CLV_TRY(find_times(&c, arena, err));
    *ret = c;
    return CLV_OK;
}

clv_group clv_candidate_group(const clv_candidate *c, int32_t device, bool is_packed)
{
    const clv_device_kind *kind = clv_device_kind_of(c->program->workload.cluster, device);
    int32_t first = c->first_range[device];
    return (clv_group){ .device = device,
                        .kind = c->program->workload.cluster->devices[device].kind,
                        .proportion = clv_proportion_of(c->proportion, kind),
                        .is_packed = is_packed,
                        .ranges = c->ranges + first,
                        .n_ranges = c->first_range[device + 1] - first,
                        .device_of = c->device_of,
                        .prefix_ns = c->prefix_ns[device] };
}
