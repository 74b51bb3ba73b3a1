#include "solver/partition/bound_contraction.h"

#include <math.h>
#include <string.h>

#include "base/union_find.h"
#include "problem/rules_close.h"
#include "problem/sums.h"
#include "solver/partition/bound_load.h"

/* Units and pins looked at in all: about a tenth of a second. */
#define STEPS_MAX INT64_C(20000000)
/* Looks at a unit for a bound of even work, about. */
#define WORK_LOOKS 200

typedef struct {
    const clv_partition_problem *p;
    int64_t latency_ns; /* the least of all links, and the most of the next */
    double bytes_per_s;
    int64_t *sent_ns; /* by read: what its writer sends the unit in all, on the fastest link; in the
                         first read of that writer's nets, 0 in others */
    int64_t *from_ns; /* by unit, scratch: all 0 */
    int32_t *group_of; /* by unit: a unit of contracted */
    int64_t *time_ns;  /* of contracted */
    clv_partition_problem contracted;
} contraction;

/* The least latency and the most bandwidth of all links. False: some link has no port, so it can
 * carry anything. */
static bool find_fastest_link(contraction *c)
{
    const clv_partition_problem *p = c->p;
    int32_t n = p->n_devices;
    c->latency_ns = INT64_MAX;
    c->bytes_per_s = 0;
    for (int32_t link = 0; link < n * n; link++) {
        if (link % (n + 1) == 0)
            continue;
        if (p->link_first_port && p->link_first_port[link] == p->link_first_port[link + 1])
            return false;
        if (p->link_latency_ns[link] < c->latency_ns)
            c->latency_ns = p->link_latency_ns[link];
        c->bytes_per_s = fmax(c->bytes_per_s, p->link_bytes_per_s[link]);
    }
    return n > 1;
}

static int64_t least_wire_ns(const contraction *c, int64_t bytes)
{
    double ns = ceil((double)bytes / c->bytes_per_s * 1e9);
    if (bytes == 0)
        return 0;
    return ns >= (double)CLV_SUM_MAX ? CLV_SUM_MAX : clv_add_sat(c->latency_ns, (int64_t)ns);
}

/* The most that any unit sends another. O(pins). */
static int64_t find_sent(contraction *c)
{
    const clv_partition_problem *p = c->p;
    int64_t most = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++) {
            int64_t *sum = &c->from_ns[p->net_from[p->reads[i]]];
            *sum = clv_add_sat(*sum, least_wire_ns(c, p->net_bytes[p->reads[i]]));
        }
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++) {
            int64_t *sum = &c->from_ns[p->net_from[p->reads[i]]];
            c->sent_ns[i] = *sum;
            most = *sum > most ? *sum : most;
            *sum = 0;
        }
    }
    return most;
}

/* Contracts the units that every plan of this period has on one device to one unit. O(units +
 * pins). */
static clv_status contract(contraction *c, int64_t period_ns, clv_arena *arena, clv_error *err)
{
    const clv_partition_problem *p = c->p;
    clv_rule_groups groups;
    for (int32_t u = 0; u < p->n_units; u++)
        c->group_of[u] = u;
    for (int32_t u = 0; u < p->n_units; u++)
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++)
            if (c->sent_ns[i] > period_ns)
                c->group_of[clv_find_root(c->group_of, u)] =
                    clv_find_root(c->group_of, p->net_from[p->reads[i]]);
    for (int32_t u = 0; u < p->n_units; u++)
        c->group_of[u] = clv_find_root(c->group_of, u);
    CLV_TRY(clv_rules_close(p, arena, c->group_of, &groups, err));
    int32_t n = groups.n;
    for (int32_t u = 0; u < p->n_units; u++)
        if (c->group_of[u] < 0)
            c->group_of[u] = n++;
    memset(c->time_ns, 0, (size_t)n * (size_t)p->n_kinds * sizeof *c->time_ns);
    for (int32_t k = 0; k < p->n_kinds; k++)
        for (int32_t u = 0; u < p->n_units; u++) {
            int64_t *sum = &c->time_ns[(size_t)k * (size_t)n + (size_t)c->group_of[u]];
            *sum = clv_add_sat(*sum, p->time_ns[(size_t)k * (size_t)p->n_units + (size_t)u]);
        }
    c->contracted = (clv_partition_problem){ .n_units = n,
                                             .n_devices = p->n_devices,
                                             .n_kinds = p->n_kinds,
                                             .kind_of = p->kind_of,
                                             .time_ns = c->time_ns };
    return CLV_OK;
}

/* No plan has this period. */
static clv_status is_too_short(contraction *c, int64_t period_ns, clv_arena *arena, bool *ret,
                               clv_error *err)
{
    int64_t work_ns, sharing_ns;
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(contract(c, period_ns, arena, err));
    CLV_TRY(clv_bound_sharing(&c->contracted, arena, &sharing_ns, err));
    *ret = sharing_ns > period_ns;
    if (!*ret) {
        CLV_TRY(clv_bound_work(&c->contracted, arena, &work_ns, err));
        *ret = work_ns > period_ns;
    }
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}

clv_status clv_bound_contraction(const clv_partition_problem *p, int64_t low_ns, int64_t best_ns,
                                 clv_arena *arena, int64_t *ret_ns, clv_error *err)
{
    contraction c = { .p = p };
    *ret_ns = low_ns;
    if (!find_fastest_link(&c))
        return CLV_OK;
    c.sent_ns = CLV_NEW_ARRAY(arena, int64_t, (size_t)p->reads_first[p->n_units]);
    c.from_ns = CLV_NEW_ARRAY(arena, int64_t, p->n_units);
    c.group_of = CLV_NEW_ARRAY(arena, int32_t, p->n_units);
    c.time_ns = CLV_NEW_ARRAY(arena, int64_t, (size_t)p->n_units * (size_t)p->n_kinds);
    if (!c.sent_ns || !c.from_ns || !c.group_of || !c.time_ns)
        return clv_fail_nomem(err, "a bound");
    int64_t most = find_sent(&c), high = best_ns;
    int64_t look = (int64_t)p->n_units * p->n_kinds * WORK_LOOKS + p->reads_first[p->n_units];
    high = most < high ? most : high; /* nothing is together in longer periods */
    for (int64_t steps = STEPS_MAX; *ret_ns < high && steps >= 0; steps -= look) {
        /* at first the longest one: mostly the answer */
        int64_t period = steps == STEPS_MAX ? high - 1 : *ret_ns + (high - *ret_ns) / 2;
        bool is_short;
        CLV_TRY(is_too_short(&c, period, arena, &is_short, err));
        if (is_short)
            *ret_ns = period + 1;
        else
            high = period;
    }
    return CLV_OK;
}
