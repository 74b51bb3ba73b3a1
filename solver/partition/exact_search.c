#include "solver/partition/exact_search.h"

#include <string.h>

#include "base/int128.h"
#include "problem/micro.h"
#include "problem/rules.h"
#include "problem/sums.h"
#include "solver/partition/alike_devices.h"
#include "solver/partition/verdict_order.h"

/* What a search may cost, in words of memory touched; a judgement counts as so many. Together some
 * tenths of a second. */
#define WORK_MAX   INT64_C(150000000)
#define JUDGE_WORK 600
#define LOOK_EVERY 1024 /* units placed between two looks at the clock */
#define TABLE_MAX  (INT64_C(1) << 22)
/* For plans that are as good in the objective, once the best value is proven. */
#define TIES_WORK   INT64_C(30000000)
#define DEVICES_MAX 32 /* sets of them are words */
#define PORTS_MAX   1024
#define METHOD      "branch and bound"

/* Workspace as it is, and less where that does not fit: as clv_candidates_retry() does. */
#define STEPS 3
static const double proportion_of[STEPS] = { 0, 0.3, CLV_PROPORTION_MIN };

/* What the units placed so far leave behind. The arrays of one depth lie in one block. */
typedef struct {
    int64_t *ready_ns, *busy_ns;       /* by device */
    int64_t *known_bytes, *most_bytes; /* by device: of all its units; the most of one beside */
    uint64_t *after, *units; /* by device: devices that wait for it, however long the way; units */
    /* by port: its transfers together; when the first of them is ready; how long the model runs at
     * least after any of them */
    int64_t *port_ns, *port_head_ns, *port_tail_ns;
    int64_t path_ns; /* some way through the model takes so long */
    int32_t n_used;
} prefix;

/* A plan that sums leave open. */
typedef struct {
    int32_t *device_of;
    int64_t first, second; /* as of floor_of() */
    int32_t step;
} leaf;

typedef struct {
    clv_search_state *s;
    const clv_partition_problem *p;
    const clv_partition_options *options;
    clv_arena *arena;
    int32_t *device_of;
    int32_t *alike;                 /* by device: the first that is alike */
    prefix *at;                     /* by depth: n_units + 1 */
    size_t block;                   /* words of a prefix */
    int64_t *done_ns;               /* by net: when it is written */
    int64_t *rest_ns;               /* by unit: it and later ones on their fastest devices */
    int64_t *tail_ns, *net_tail_ns; /* no way on from a unit's start, a net's arrival, takes less */
    bool *too_much; /* [(step * devices + device) << units | set of units]: known to be out of
                       memory; NULL: not kept */
    leaf *leaves;   /* they wait for the judge */
    clv_assignment *ask;
    clv_verdict *verdicts;
    int32_t n_leaves, cap_leaves;
    int64_t work, work_max, placed;
    bool ties;         /* equal in the objective and better in the other measure counts too */
    bool use_all;      /* devices without units are not allowed */
    int64_t enough_ns; /* plans that take so long are left out; 0: none are, and */
    bool cut_off;      /* some were */
    bool any_will_do;  /* the first plan that fits ends it */
    bool is_over;
} exact;

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* -- bounds of a prefix -- */

/* Tails of ways through the model, each unit on its fastest device and nothing sent. */
static void find_tails(exact *x)
{
    const clv_partition_problem *p = x->p;
    for (int32_t u = p->n_units - 1; u >= 0; u--) {
        int64_t least_ns = INT64_MAX;
        for (int32_t k = 0; k < p->n_kinds; k++) {
            int64_t ns = p->time_ns[(size_t)k * (size_t)p->n_units + (size_t)u];
            least_ns = ns < least_ns ? ns : least_ns;
        }
        x->rest_ns[u] = clv_add_sat(x->rest_ns[u + 1], least_ns);
        int64_t tail_ns = least_ns;
        for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++) {
            int64_t ready_ns = INT64_MAX;
            for (int32_t k = 0; k < p->n_kinds; k++) {
                int64_t ns = clv_net_ready_ns(p, net, k);
                ready_ns = ns < ready_ns ? ns : ready_ns;
            }
            tail_ns = larger(tail_ns, clv_add_sat(ready_ns, x->net_tail_ns[net]));
        }
        x->tail_ns[u] = tail_ns;
        for (int32_t r = p->reads_first[u]; r < p->reads_first[u + 1]; r++) {
            int64_t after_ns = p->net_known && p->net_known[p->reads[r]] ? CLV_SUM_MAX : 0;
            for (int32_t k = 0; k < p->n_kinds; k++)
                after_ns = larger(after_ns, clv_read_after_ns(p, r, k));
            int64_t *net_tail_ns = &x->net_tail_ns[p->reads[r]];
            *net_tail_ns = larger(*net_tail_ns, tail_ns - after_ns);
        }
    }
}

/* No plan with these latency and period at least has less in the objective, and with just that
 * nothing less in the other measure. */
static void floor_of(const exact *x, int64_t latency_ns, int64_t period_ns, leaf *ret)
{
    int32_t n = x->options->microbatches;
    if (x->options->only_period_is_bounded)
        latency_ns = 0;
    ret->first = latency_ns;
    ret->second = period_ns;
    if (x->options->objective == CLV_LATENCY)
        return;
    ret->first =
        n > 0 && latency_ns > period_ns ? clv_micro_share_ns(latency_ns, period_ns, n) : period_ns;
    ret->second = latency_ns;
}

/* A plan that fits, and uses all devices while such are looked for. */
static bool has_incumbent(const exact *x)
{
    const clv_candidate_queue *queue = &x->s->queue;
    return clv_candidates_has_fit(queue) && !(x->use_all && queue->tried[queue->best].leaves_out);
}

static bool is_beaten(exact *x, const leaf *l)
{
    const clv_candidate_queue *queue = &x->s->queue;
    if (x->enough_ns > 0 && l->first >= x->enough_ns)
        return x->cut_off = true;
    if (!has_incumbent(x))
        return false;
    const clv_verdict *best = &queue->tried[queue->best].verdict;
    int64_t first = clv_verdict_ns(best, x->options->objective);
    int64_t second = x->options->objective == CLV_LATENCY ? best->period_ns : best->latency_ns;
    if (l->first != first)
        return l->first > first;
    return !x->ties || l->second >= second;
}

/* Its transfers run one after another, none before the first is ready, and the model goes on after
 * the last: the bound of one machine with heads and tails (Carlier 1982). */
static int64_t of_port(const prefix *b, int32_t port)
{
    int64_t ns = clv_add_sat(b->port_ns[port], b->port_tail_ns[port]);
    return b->port_ns[port] > 0 ? clv_add_sat(ns, b->port_head_ns[port]) : 0;
}

/* With units from u on still to be placed. */
static bool is_hopeless(exact *x, const prefix *b, int32_t u)
{
    const clv_partition_problem *p = x->p;
    int64_t latency_ns = b->path_ns, period_ns = 0;
    clv_int128 ready_ns = x->rest_ns[u], busy_ns = x->rest_ns[u];
    leaf l;
    for (int32_t d = 0; d < p->n_devices; d++) {
        ready_ns += b->ready_ns[d];
        busy_ns += b->busy_ns[d];
        latency_ns = larger(latency_ns, b->ready_ns[d]);
        period_ns = larger(period_ns, b->busy_ns[d]);
    }
    for (int32_t k = 0; k < clv_n_ports(p); k++) {
        period_ns = larger(period_ns, b->port_ns[k]);
        latency_ns = larger(latency_ns, of_port(b, k));
    }
    /* what is left is shared evenly at best */
    latency_ns = larger(latency_ns, (int64_t)((ready_ns + p->n_devices - 1) / p->n_devices));
    period_ns = larger(period_ns, (int64_t)((busy_ns + p->n_devices - 1) / p->n_devices));
    floor_of(x, latency_ns, period_ns, &l);
    return is_beaten(x, &l);
}

/* -- placing a unit -- */

static bool is_sent_before(const exact *x, int32_t net, int32_t u, int32_t d)
{
    const clv_partition_problem *p = x->p;
    for (int32_t i = p->net_first[net]; i < p->net_first[net + 1] && p->net_to[i] < u; i++)
        if (x->device_of[p->net_to[i]] == d)
            return true;
    return false;
}

static void use_port(prefix *b, int32_t port, int64_t head_ns, int64_t tail_ns)
{
    if (b->port_ns[port] == 0 || head_ns < b->port_head_ns[port])
        b->port_head_ns[port] = head_ns;
    if (b->port_ns[port] == 0 || tail_ns < b->port_tail_ns[port])
        b->port_tail_ns[port] = tail_ns;
}

/* What unit u reads goes to its device. */
static void send(const exact *x, prefix *b, int32_t read, int32_t u, int64_t wire_ns)
{
    const clv_partition_problem *p = x->p;
    int32_t net = p->reads[read], from = x->device_of[p->net_from[net]], to = x->device_of[u];
    int32_t link = from * p->n_devices + to;
    int64_t tail_ns = larger(x->tail_ns[u] - clv_read_after_ns(p, read, p->kind_of[to]), 0);
    if (!p->link_first_port)
        use_port(b, link, x->done_ns[net], tail_ns);
    else
        for (int32_t i = p->link_first_port[link]; i < p->link_first_port[link + 1]; i++)
            use_port(b, p->link_ports[i], x->done_ns[net], tail_ns);
    clv_add_to_ports(p, from, to, wire_ns, b->port_ns);
}

/* Unit u on device d reads: the earliest start of the unit for that; -1: the device would wait for
 * itself. */
static int64_t start_for(exact *x, prefix *b, int32_t u, int32_t d, int32_t read)
{
    const clv_partition_problem *p = x->p;
    int32_t net = p->reads[read], from = x->device_of[p->net_from[net]];
    int64_t arrival_ns = x->done_ns[net];
    if (from != d) {
        uint64_t bit = UINT64_C(1) << d, more = b->after[d] | bit;
        if (b->after[d] >> from & 1)
            return -1;
        if (!(b->after[from] & bit))
            for (int32_t a = 0; a < p->n_devices; a++)
                if (a == from || b->after[a] >> from & 1)
                    b->after[a] |= more;
        int64_t wire_ns = clv_wire_ns(p, from, d, p->net_bytes[net]);
        arrival_ns = clv_add_sat(arrival_ns, wire_ns);
        if (wire_ns > 0 && !is_sent_before(x, net, u, d))
            send(x, b, read, u, wire_ns);
    }
    if (p->net_known && p->net_known[net])
        return 0;
    return larger(arrival_ns - clv_read_after_ns(p, read, p->kind_of[d]), 0);
}

/* As clv_partition_estimate() runs a unit. False: its device would wait for itself. */
static bool run_unit(exact *x, prefix *b, int32_t u, int32_t d)
{
    const clv_partition_problem *p = x->p;
    int32_t read = p->reads_first[u], end = p->reads_first[u + 1];
    int64_t start_ns = b->ready_ns[d], at_ns;
    for (int32_t net = p->unit_first_net[u]; net < p->unit_first_net[u + 1]; net++) {
        int32_t before = p->net_reads ? p->reads_first[u] + p->net_reads[net] : end;
        for (; read < before; read++) {
            if ((at_ns = start_for(x, b, u, d, read)) < 0)
                return false;
            start_ns = larger(start_ns, at_ns);
        }
        x->done_ns[net] = clv_add_sat(start_ns, clv_net_ready_ns(p, net, p->kind_of[d]));
        b->path_ns = larger(b->path_ns, clv_add_sat(x->done_ns[net], x->net_tail_ns[net]));
    }
    for (; read < end; read++) {
        if ((at_ns = start_for(x, b, u, d, read)) < 0)
            return false;
        start_ns = larger(start_ns, at_ns);
    }
    b->ready_ns[d] = clv_add_sat(start_ns, clv_unit_ns(p, u, d));
    b->busy_ns[d] = clv_add_sat(b->busy_ns[d], clv_unit_ns(p, u, d));
    return true;
}

static bool has_room(const exact *x, prefix *b, int32_t u, int32_t d)
{
    const clv_partition_judge *judge = x->s->queue.judge;
    int64_t held = judge->held_bytes ? judge->held_bytes[u] : 0;
    int64_t live = judge->live_bytes ? judge->live_bytes[u] - held : 0;
    b->known_bytes[d] = clv_add_sat(b->known_bytes[d], x->p->weight_bytes[u] + held);
    b->most_bytes[d] = larger(b->most_bytes[d], live);
    return b->known_bytes[d] + b->most_bytes[d] <= x->p->capacity_bytes[d];
}

/* Do rules and symmetry leave the device to the unit? */
static bool may_be_on(const exact *x, const prefix *b, int32_t u, int32_t d)
{
    const clv_rules *r = x->p->rules;
    if (r && !clv_rules_allow(r, u, d))
        return false;
    if (r && r->group_of && r->group_of[u] >= 0) {
        int32_t first = r->group_units[r->group_first[r->group_of[u]]];
        if (first < u && x->device_of[first] != d)
            return false;
    }
    for (int32_t e = x->alike[d]; e < d && b->units[d] == 0; e++)
        if (x->alike[e] == x->alike[d] && b->units[e] == 0)
            return false;
    return true;
}

/* Device d for unit u, behind prefix u into prefix u + 1. False: that leads nowhere. */
static bool place(exact *x, int32_t u, int32_t d)
{
    const prefix *from = &x->at[u];
    prefix *b = &x->at[u + 1];
    int32_t n = x->p->n_units, most = x->p->n_devices < n ? x->p->n_devices : n;
    if (!may_be_on(x, from, u, d))
        return false;
    memcpy(b->ready_ns, from->ready_ns, x->block * sizeof *b->ready_ns);
    b->path_ns = from->path_ns;
    b->n_used = from->n_used + (from->units[d] == 0);
    if (x->use_all && b->n_used + n - u - 1 < most)
        return false;
    b->units[d] |= UINT64_C(1) << u;
    x->device_of[u] = d;
    return has_room(x, b, u, d) && run_unit(x, b, u, d) && !is_hopeless(x, b, u + 1);
}

/* -- plans for the judge -- */

static bool *table_entry(const exact *x, int32_t step, int32_t device, const int32_t *device_of)
{
    const clv_partition_problem *p = x->p;
    size_t set = 0;
    for (int32_t u = 0; u < p->n_units; u++)
        set |= (size_t)(device_of[u] == device) << u;
    return &x->too_much[((size_t)(step * p->n_devices + device) << p->n_units) | set];
}

static bool is_too_much(const exact *x, const leaf *l)
{
    if (!x->too_much)
        return false;
    for (int32_t d = 0; d < x->p->n_devices; d++)
        if (*table_entry(x, l->step, d, l->device_of))
            return true;
    return false;
}

/* A smaller workspace than any device's default, or the default. */
static bool may_step(const exact *x, int32_t step)
{
    return proportion_of[step] <= x->s->queue.judge->bounded_at;
}

/* To the first workspace from this one on that is not known to be too much. */
static void find_step(const exact *x, leaf *l)
{
    while (l->step < STEPS && (!may_step(x, l->step) || is_too_much(x, l)))
        l->step++;
}

/* A plan that fits goes to the queue if it is better than all there. */
static clv_status offer(exact *x, const leaf *l, clv_verdict v, clv_error *err)
{
    clv_candidate_queue *queue = &x->s->queue;
    int32_t micro = x->options->microbatches;
    v.share_ns = micro > 0 ? clv_micro_share_ns(v.latency_ns, v.period_ns, micro) : 0;
    if (has_incumbent(x) &&
        !clv_verdict_better(&v, &queue->tried[queue->best].verdict, x->options->objective))
        return CLV_OK;
    queue->max_judged++;
    CLV_TRY(clv_candidates_add(queue, l->device_of, proportion_of[l->step], METHOD, NULL, err));
    return clv_candidates_judge(queue, err);
}

/* Takes those out of the list that are beaten or fit with no workspace. */
static void drop_leaves(exact *x)
{
    int32_t n = 0;
    for (int32_t i = 0; i < x->n_leaves; i++) {
        leaf l = x->leaves[i];
        find_step(x, &l);
        if (l.step == STEPS || is_beaten(x, &l))
            continue;
        x->leaves[i] = x->leaves[n]; /* their arrays change places */
        x->leaves[n++] = l;
    }
    x->n_leaves = n;
}

/* What became of a plan. */
static clv_status take_verdict(exact *x, leaf *l, const clv_verdict *v, clv_error *err)
{
    if (v->outcome == CLV_FITS) {
        CLV_TRY(offer(x, l, *v, err));
        l->step = STEPS;
        return CLV_OK;
    }
    if (v->outcome == CLV_OOM && x->too_much)
        *table_entry(x, l->step, v->device, l->device_of) = true;
    l->step++;
    return CLV_OK;
}

/* All plans that wait, until each fits or no workspace is left. */
static clv_status judge_leaves(exact *x, clv_error *err)
{
    const clv_partition_judge *judge = x->s->queue.judge;
    for (drop_leaves(x); x->n_leaves > 0; drop_leaves(x)) {
        for (int32_t i = 0; i < x->n_leaves; i++)
            x->ask[i] = (clv_assignment){ .device_of = x->leaves[i].device_of,
                                          .proportion = proportion_of[x->leaves[i].step] };
        CLV_TRY(judge->judge(judge->ctx, x->ask, x->n_leaves, x->verdicts, err));
        x->work += (int64_t)x->n_leaves * JUDGE_WORK;
        for (int32_t i = 0; i < x->n_leaves; i++)
            CLV_TRY(take_verdict(x, &x->leaves[i], &x->verdicts[i], err));
    }
    return CLV_OK;
}

/* All units are placed. */
static clv_status add_leaf(exact *x, clv_error *err)
{
    const clv_partition_problem *p = x->p;
    const prefix *b = &x->at[p->n_units];
    leaf *l = &x->leaves[x->n_leaves];
    int64_t latency_ns = 0, period_ns = 0;
    for (int32_t d = 0; d < p->n_devices; d++) {
        latency_ns = larger(latency_ns, b->ready_ns[d]);
        period_ns = larger(period_ns, b->busy_ns[d]);
    }
    for (int32_t k = 0; k < clv_n_ports(p); k++) {
        period_ns = larger(period_ns, b->port_ns[k]);
        latency_ns = larger(latency_ns, of_port(b, k));
    }
    floor_of(x, latency_ns, period_ns, l);
    l->step = 0;
    memcpy(l->device_of, x->device_of, (size_t)p->n_units * sizeof *l->device_of);
    if (is_beaten(x, l) || !clv_partition_satisfies_rules(p, l->device_of, x->arena))
        return CLV_OK;
    find_step(x, l);
    x->n_leaves += l->step < STEPS;
    return x->n_leaves == x->cap_leaves ? judge_leaves(x, err) : CLV_OK;
}

/* -- the search -- */

static bool is_over(exact *x)
{
    if (++x->placed % LOOK_EVERY == 0 && clv_limits_over(&x->s->queue.incumbent.limits))
        x->is_over = true;
    if (x->any_will_do && has_incumbent(x))
        x->is_over = true;
    return x->is_over = x->is_over || x->work > x->work_max || x->s->queue.is_done;
}

/* Every device for unit u: recursion as deep as there are units. */
static clv_status branch(exact *x, int32_t u, clv_error *err)
{
    if (u == x->p->n_units)
        return add_leaf(x, err);
    for (int32_t d = 0; d < x->p->n_devices && !is_over(x); d++) {
        x->work += (int64_t)x->block;
        if (place(x, u, d))
            CLV_TRY(branch(x, u + 1, err));
    }
    return CLV_OK;
}

/* *ret: all of the tree was seen. */
static clv_status search(exact *x, bool ties, bool use_all, bool *ret, clv_error *err)
{
    x->ties = ties;
    x->use_all = use_all;
    x->n_leaves = 0;
    CLV_TRY(branch(x, 0, err));
    if (!x->is_over)
        CLV_TRY(judge_leaves(x, err));
    *ret = !x->is_over;
    return CLV_OK;
}

/* Cuts a depth's block into its arrays. */
static prefix prefix_at(int64_t *block, size_t n, size_t n_ports)
{
    return (prefix){ .ready_ns = block,
                     .busy_ns = block + n,
                     .known_bytes = block + 2 * n,
                     .most_bytes = block + 3 * n,
                     .after = (uint64_t *)(block + 4 * n),
                     .units = (uint64_t *)(block + 5 * n),
                     .port_ns = block + 6 * n,
                     .port_head_ns = block + 6 * n + n_ports,
                     .port_tail_ns = block + 6 * n + 2 * n_ports };
}

static bool allocate_leaves(exact *x)
{
    const clv_partition_problem *p = x->p;
    const clv_partition_judge *judge = x->s->queue.judge;
    x->cap_leaves = judge->batch > 0 ? judge->batch : 1;
    x->leaves = CLV_NEW_ARRAY(x->arena, leaf, x->cap_leaves);
    x->ask = CLV_NEW_ARRAY(x->arena, clv_assignment, x->cap_leaves);
    x->verdicts = CLV_NEW_ARRAY(x->arena, clv_verdict, x->cap_leaves);
    for (int32_t i = 0; x->leaves && i < x->cap_leaves; i++)
        if (!(x->leaves[i].device_of = CLV_NEW_ARRAY(x->arena, int32_t, p->n_units)))
            return false;
    int64_t table = (int64_t)p->n_devices << p->n_units;
    if (x->options->microbatches != 1 || table > TABLE_MAX)
        return x->leaves && x->ask && x->verdicts;
    x->too_much = CLV_NEW_ARRAY(x->arena, bool, STEPS *table);
    return x->leaves && x->ask && x->verdicts && x->too_much;
}

static clv_status allocate(exact *x, clv_error *err)
{
    const clv_partition_problem *p = x->p;
    size_t n = (size_t)p->n_units, n_ports = (size_t)clv_n_ports(p);
    x->block = 6 * (size_t)p->n_devices + 3 * n_ports;
    int64_t *blocks = CLV_NEW_ARRAY(x->arena, int64_t, (n + 1) * x->block);
    x->at = CLV_NEW_ARRAY(x->arena, prefix, n + 1);
    x->device_of = CLV_NEW_ARRAY(x->arena, int32_t, n);
    x->alike = CLV_NEW_ARRAY(x->arena, int32_t, p->n_devices);
    x->done_ns = CLV_NEW_ARRAY(x->arena, int64_t, p->n_nets);
    x->net_tail_ns = CLV_NEW_ARRAY(x->arena, int64_t, p->n_nets);
    x->rest_ns = CLV_NEW_ARRAY(x->arena, int64_t, n + 1);
    x->tail_ns = CLV_NEW_ARRAY(x->arena, int64_t, n);
    if (!blocks || !x->at || !x->device_of || !x->alike || !x->done_ns || !x->net_tail_ns ||
        !x->rest_ns || !x->tail_ns || !allocate_leaves(x))
        return clv_fail_nomem(err, "an exact search");
    for (size_t u = 0; u <= n; u++)
        x->at[u] = prefix_at(blocks + u * x->block, (size_t)p->n_devices, n_ports);
    return CLV_OK;
}

static clv_status open(exact *x, clv_error *err)
{
    const clv_partition_problem *p = x->p;
    CLV_TRY(allocate(x, err));
    find_tails(x);
    if (!p->rules || !p->rules->devices)
        return clv_alike_devices_find(p, x->arena, x->alike, err);
    for (int32_t d = 0; d < p->n_devices; d++)
        x->alike[d] = d;
    return CLV_OK;
}

static int64_t value_of_best(const exact *x)
{
    const clv_candidate_queue *queue = &x->s->queue;
    return clv_verdict_ns(&queue->tried[queue->best].verdict, x->options->objective);
}

/* No plan has less, whatever other bounds say, which are of plans that use all devices. */
static void prove(exact *x, int64_t bound_ns)
{
    clv_candidate_queue *queue = &x->s->queue;
    clv_candidates_raise_bound(queue, bound_ns, METHOD);
    queue->result.bound = clv_objval_whole(bound_ns);
    x->s->is_bounded = true;
}

/* With devices left out, which may only be where no plan that uses all fits, however slow. */
static clv_status search_with_fewer(exact *x, bool *ret_seen, clv_error *err)
{
    bool cut_off = x->cut_off;
    CLV_TRY(search(x, false, false, ret_seen, err));
    if (!*ret_seen || !cut_off || !has_incumbent(x) || value_of_best(x) >= x->enough_ns)
        return CLV_OK;
    x->enough_ns = 0;
    x->any_will_do = true;
    CLV_TRY(search(x, false, true, ret_seen, err));
    *ret_seen = *ret_seen || has_incumbent(x); /* the best now, as it uses all */
    x->use_all = false;
    return CLV_OK;
}

/* First what is better, then what is as good but for the other measure. */
static clv_status solve(exact *x, clv_exact_end *ret, clv_error *err)
{
    int64_t enough_ns = x->enough_ns;
    bool seen;
    CLV_TRY(search(x, false, x->options->use_all_devices, &seen, err));
    if (seen && x->use_all && !has_incumbent(x))
        CLV_TRY(search_with_fewer(x, &seen, err));
    if (!seen)
        return CLV_OK;
    *ret = CLV_EXACT_INFEASIBLE;
    if (!has_incumbent(x) && !x->cut_off)
        return CLV_OK;
    *ret = CLV_EXACT_SOLVED;
    if (!has_incumbent(x) || (enough_ns > 0 && value_of_best(x) >= enough_ns)) {
        prove(x, enough_ns);
        x->s->queue.is_done = true;
        x->s->queue.why = CLV_END_BOUND;
        return CLV_OK;
    }
    x->work_max = x->work + TIES_WORK;
    CLV_TRY(search(x, true, x->use_all, &seen, err));
    prove(x, value_of_best(x));
    return CLV_OK;
}

clv_status clv_exact_search(clv_search_state *s, clv_exact_end *ret, clv_error *err)
{
    const clv_candidate_queue *queue = &s->queue;
    const clv_partition_problem *p = queue->p;
    int64_t *work_left = queue->options->work_left;
    exact x = { .s = s,
                .p = p,
                .options = queue->options,
                .enough_ns = queue->options->enough_ns,
                .work_max = work_left && *work_left < WORK_MAX ? *work_left : WORK_MAX };
    *ret = CLV_EXACT_OPEN;
    if (p->n_units > CLV_EXACT_UNITS || p->n_devices > DEVICES_MAX || clv_n_ports(p) > PORTS_MAX ||
        !(queue->judge->bounded_at > 0) || queue->options->max_judged > 0 || queue->is_done ||
        queue->is_over)
        return CLV_OK;
    x.arena = clv_arena_new(clv_arena_alloc(queue->arena), 0);
    if (!x.arena)
        return clv_fail_nomem(err, "an exact search");
    clv_status status = open(&x, err);
    if (status == CLV_OK)
        status = solve(&x, ret, err);
    if (work_left)
        *work_left -= x.work;
    clv_arena_free(x.arena);
    return status;
}
