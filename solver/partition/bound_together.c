/* bound_together.c - a bound of the period from what is too dear to send.
 *
 * Within a period no port is busy for longer than it. So where all that one unit sends to another
 * takes longer than that over any link, both are on one device; and so is all that lies on a way
 * from one of them to the other, or devices would wait for each other (clv_rules_close). Taken as
 * one unit each, such groups cannot be shared out as evenly as their units could. The longer the
 * period, the fewer must be together and the less these bounds are: the least period that is no
 * less than its own bound is found by halving.
 */
#include "solver/partition/bound.h"

#include <math.h>
#include <string.h>

#include "base/union_find.h"
#include "problem/rules_close.h"
#include "problem/sums.h"

/* Units and pins looked at in all: about a tenth of a second. */
#define STEPS INT64_C(20000000)
/* Looks at a unit for a bound of even work, about. */
#define WORK_LOOKS 200

typedef struct {
    const clv_partition_problem *p;
    int64_t latency_ns; /* the least of all links, and the most of the next */
    double bytes_per_s;
    int64_t *sent_ns; /* by read: what its writer sends the unit in all, on the fastest link; in the
                         first read of that writer's nets, 0 in others */
    int64_t *from_ns; /* by unit, scratch: all 0 */
    int32_t *group_of; /* by unit: a unit of joined */
    int64_t *time_ns;  /* of joined */
    clv_partition_problem joined;
} joiner;

/* False: some device sends for nothing. */
static bool find_link(joiner *j)
{
    const clv_partition_problem *p = j->p;
    int32_t n = p->n_devices;
    j->latency_ns = INT64_MAX;
    j->bytes_per_s = 0;
    for (int32_t link = 0; link < n * n; link++) {
        if (link % (n + 1) == 0)
            continue;
        if (p->link_first_port && p->link_first_port[link] == p->link_first_port[link + 1])
            return false;
        if (p->link_latency_ns[link] < j->latency_ns)
            j->latency_ns = p->link_latency_ns[link];
        j->bytes_per_s = fmax(j->bytes_per_s, p->link_bytes_per_s[link]);
    }
    return n > 1;
}

static int64_t least_wire_ns(const joiner *j, int64_t bytes)
{
    double ns = ceil((double)bytes / j->bytes_per_s * 1e9);
    if (bytes == 0)
        return 0;
    return ns >= (double)CLV_SUM_MAX ? CLV_SUM_MAX : clv_add_sat(j->latency_ns, (int64_t)ns);
}

/* The most that any unit sends another. O(pins). */
static int64_t find_sent(joiner *j)
{
    const clv_partition_problem *p = j->p;
    int64_t most = 0;
    for (int32_t u = 0; u < p->n_units; u++) {
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++) {
            int64_t *sum = &j->from_ns[p->net_from[p->reads[i]]];
            *sum = clv_add_sat(*sum, least_wire_ns(j, p->net_bytes[p->reads[i]]));
        }
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++) {
            int64_t *sum = &j->from_ns[p->net_from[p->reads[i]]];
            j->sent_ns[i] = *sum;
            most = *sum > most ? *sum : most;
            *sum = 0;
        }
    }
    return most;
}

/* Units that a plan of this period has together become one each. O(units + pins). */
static clv_status join(joiner *j, int64_t period_ns, clv_arena *arena, clv_error *err)
{
    const clv_partition_problem *p = j->p;
    clv_rule_groups groups;
    for (int32_t u = 0; u < p->n_units; u++)
        j->group_of[u] = u;
    for (int32_t u = 0; u < p->n_units; u++)
        for (int32_t i = p->reads_first[u]; i < p->reads_first[u + 1]; i++)
            if (j->sent_ns[i] > period_ns)
                j->group_of[clv_find_root(j->group_of, u)] =
                    clv_find_root(j->group_of, p->net_from[p->reads[i]]);
    for (int32_t u = 0; u < p->n_units; u++)
        j->group_of[u] = clv_find_root(j->group_of, u);
    CLV_TRY(clv_rules_close(p, arena, j->group_of, &groups, err));
    int32_t n = groups.n;
    for (int32_t u = 0; u < p->n_units; u++)
        if (j->group_of[u] < 0)
            j->group_of[u] = n++;
    memset(j->time_ns, 0, (size_t)n * (size_t)p->n_kinds * sizeof *j->time_ns);
    for (int32_t k = 0; k < p->n_kinds; k++)
        for (int32_t u = 0; u < p->n_units; u++) {
            int64_t *sum = &j->time_ns[(size_t)k * (size_t)n + (size_t)j->group_of[u]];
            *sum = clv_add_sat(*sum, p->time_ns[(size_t)k * (size_t)p->n_units + (size_t)u]);
        }
    j->joined = (clv_partition_problem){ .n_units = n,
                                         .n_devices = p->n_devices,
                                         .n_kinds = p->n_kinds,
                                         .kind_of = p->kind_of,
                                         .time_ns = j->time_ns };
    return CLV_OK;
}

/* No plan has this period. */
static clv_status is_too_short(joiner *j, int64_t period_ns, clv_arena *arena, bool *ret,
                               clv_error *err)
{
    int64_t work_ns, sharing_ns;
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(join(j, period_ns, arena, err));
    CLV_TRY(clv_bound_sharing(&j->joined, arena, &sharing_ns, err));
    *ret = sharing_ns > period_ns;
    if (!*ret) {
        CLV_TRY(clv_bound_work(&j->joined, arena, &work_ns, err));
        *ret = work_ns > period_ns;
    }
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}

static bool take(joiner *j, clv_arena *arena)
{
    const clv_partition_problem *p = j->p;
    size_t n = (size_t)p->n_units;
    j->sent_ns = CLV_NEW_ARRAY(arena, int64_t, (size_t)p->reads_first[n]);
    j->from_ns = CLV_NEW_ARRAY(arena, int64_t, n);
    j->group_of = CLV_NEW_ARRAY(arena, int32_t, n);
    j->time_ns = CLV_NEW_ARRAY(arena, int64_t, n * (size_t)p->n_kinds);
    return j->sent_ns && j->from_ns && j->group_of && j->time_ns;
}

clv_status clv_bound_together(const clv_partition_problem *p, int64_t low_ns, int64_t best_ns,
                              clv_arena *arena, int64_t *ret_ns, clv_error *err)
{
    joiner j = { .p = p };
    *ret_ns = low_ns;
    if (!find_link(&j))
        return CLV_OK;
    if (!take(&j, arena))
        return clv_fail_nomem(err, "a bound");
    int64_t most = find_sent(&j), high = best_ns;
    int64_t look = (int64_t)p->n_units * p->n_kinds * WORK_LOOKS + p->reads_first[p->n_units];
    high = most < high ? most : high; /* nothing is together in longer periods */
    for (int64_t steps = STEPS; *ret_ns < high && steps >= 0; steps -= look) {
        /* at first the longest one: mostly the answer */
        int64_t period = steps == STEPS ? high - 1 : *ret_ns + (high - *ret_ns) / 2;
        bool is_short;
        CLV_TRY(is_too_short(&j, period, arena, &is_short, err));
        if (is_short)
            *ret_ns = period + 1;
        else
            high = period;
    }
    return CLV_OK;
}
