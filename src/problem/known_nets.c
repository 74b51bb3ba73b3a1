#include "problem/known_nets.h"

typedef struct {
    const clv_partition_problem *from;
    clv_partition_problem *to;
    int32_t *net_from, *net_first, *net_to, *unit_first_net, *reads_first, *reads, *net_reads;
    int64_t *net_bytes, *net_ready_ns, *read_after_ns;
    int32_t *number; /* by net of from: its number in to, or -1 */
    int32_t *read;   /* by read of to: which it is of from */
} filter;

static bool allocate(filter *f, clv_arena *arena)
{
    const clv_partition_problem *p = f->from;
    size_t nets = (size_t)p->n_nets, units = (size_t)p->n_units, kinds = (size_t)p->n_kinds;
    size_t pins = (size_t)p->reads_first[p->n_units];
    f->to = CLV_NEW(arena, clv_partition_problem);
    f->number = CLV_NEW_ARRAY(arena, int32_t, nets);
    f->read = CLV_NEW_ARRAY(arena, int32_t, pins);
    f->net_from = CLV_NEW_ARRAY(arena, int32_t, nets);
    f->net_first = CLV_NEW_ARRAY(arena, int32_t, nets + 1);
    f->net_to = CLV_NEW_ARRAY(arena, int32_t, pins);
    f->unit_first_net = CLV_NEW_ARRAY(arena, int32_t, units + 1);
    f->reads_first = CLV_NEW_ARRAY(arena, int32_t, units + 1);
    f->reads = CLV_NEW_ARRAY(arena, int32_t, pins);
    f->net_reads = CLV_NEW_ARRAY(arena, int32_t, nets);
    f->net_bytes = CLV_NEW_ARRAY(arena, int64_t, nets);
    f->net_ready_ns = clv_arena_take_array(arena, nets * kinds, sizeof *f->net_ready_ns);
    f->read_after_ns = clv_arena_take_array(arena, pins * kinds, sizeof *f->read_after_ns);
    return f->to && f->number && f->read && f->net_from && f->net_first && f->net_to &&
           f->unit_first_net && f->reads_first && f->reads && f->net_reads && f->net_bytes &&
           f->net_ready_ns && f->read_after_ns;
}

/* Returns how many nets stay. */
static int32_t filter_nets(filter *f)
{
    const clv_partition_problem *p = f->from;
    int32_t n = 0, pins = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        f->unit_first_net[u] = n;
        for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++) {
            f->number[net] = p->net_known[net] ? -1 : n;
            if (p->net_known[net])
                continue;
            f->net_from[n] = u;
            f->net_bytes[n] = p->net_bytes[net];
            f->net_first[n++] = pins;
            for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++)
                f->net_to[pins++] = p->net_to[i];
        }
    }
    f->unit_first_net[p->n_units] = n;
    f->net_first[n] = pins;
    return n;
}

/* Returns how many reads stay. */
static int32_t filter_reads(filter *f)
{
    const clv_partition_problem *p = f->from;
    int32_t n = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        int32_t net = p->unit_first_net[u], end = p->unit_first_net[u + 1], r = p->reads_first[u];
        f->reads_first[u] = n;
        for (;; r++) {
            for (; net < end && p->net_reads && p->net_reads[net] <= r - p->reads_first[u]; net++)
                if (f->number[net] >= 0)
                    f->net_reads[f->number[net]] = n - f->reads_first[u];
            if (r == p->reads_first[u + 1])
                break;
            if (f->number[p->reads[r]] < 0)
                continue;
            f->read[n] = r;
            f->reads[n++] = f->number[p->reads[r]];
        }
    }
    f->reads_first[p->n_units] = n;
    return n;
}

static void filter_times(filter *f, int32_t n_nets, int32_t n_reads)
{
    const clv_partition_problem *p = f->from;
    size_t all_reads = (size_t)p->reads_first[p->n_units];
    for (size_t k = 0; k < (size_t)p->n_kinds; k++) {
        for (int32_t net = 0; p->net_ready_ns && net < p->n_nets; net++)
            if (f->number[net] >= 0)
                f->net_ready_ns[k * (size_t)n_nets + (size_t)f->number[net]] =
                    p->net_ready_ns[k * (size_t)p->n_nets + (size_t)net];
        for (int32_t i = 0; p->read_after_ns && i < n_reads; i++)
            f->read_after_ns[k * (size_t)n_reads + (size_t)i] =
                p->read_after_ns[k * all_reads + (size_t)f->read[i]];
    }
}

clv_status clv_problem_without_known_nets(const clv_partition_problem *p, clv_arena *arena,
                                          const clv_partition_problem **ret, clv_error *err)
{
    filter f = { .from = p };
    bool any = false;
    for (int32_t net = 0; p->net_known && net < p->n_nets; net++)
        any |= p->net_known[net];
    *ret = p;
    if (!any)
        return CLV_OK;
    if (!allocate(&f, arena))
        return clv_fail_nomem(err, "the problem");
    int32_t n_nets = filter_nets(&f), n_reads = filter_reads(&f);
    filter_times(&f, n_nets, n_reads);
    *f.to = *p;
    f.to->n_nets = n_nets;
    f.to->net_from = f.net_from;
    f.to->net_bytes = f.net_bytes;
    f.to->net_known = NULL;
    f.to->net_first = f.net_first;
    f.to->net_to = f.net_to;
    f.to->unit_first_net = f.unit_first_net;
    f.to->reads_first = f.reads_first;
    f.to->reads = f.reads;
    f.to->net_reads = p->net_reads ? f.net_reads : NULL;
    f.to->net_ready_ns = p->net_ready_ns ? f.net_ready_ns : NULL;
    f.to->read_after_ns = p->read_after_ns ? f.read_after_ns : NULL;
    *ret = f.to;
    return CLV_OK;
}
