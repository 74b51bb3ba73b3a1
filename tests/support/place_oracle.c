#include "support/place_oracle.h"

#include <math.h>
#include <string.h>

int oracle_devices(const oracle_problem *p)
{
    int n = 0;
    for (int k = 0; k < p->n_kinds; k++)
        n += p->kind[k].count;
    return n;
}

int oracle_kind_of(const oracle_problem *p, int device)
{
    if (device < 0)
        return -1;
    for (int k = 0; k < p->n_kinds; k++) {
        if (device < p->kind[k].count)
            return k;
        device -= p->kind[k].count;
    }
    return -1;
}

/* -- what must hold -- */

static const char *misplaced(const oracle_problem *p, const int *device_of)
{
    for (int v = 0; v < p->n; v++) {
        int k = oracle_kind_of(p, device_of[v]);
        if (k < 0)
            return "a device that there is not";
        if (p->time[k][v] < 0)
            return "a node on a kind that does not support it";
    }
    return NULL;
}

static const char *split_class(const oracle_problem *p, const int *device_of)
{
    for (int v = 0; v < p->n; v++)
        for (int w = 0; w < v; w++)
            if (p->class_of[v] == p->class_of[w] && device_of[v] != device_of[w])
                return "a class on two devices";
    return NULL;
}

static const char *too_large(const oracle_problem *p, const int *device_of)
{
    for (int d = 0; d < oracle_devices(p); d++) {
        long long capacity = p->kind[oracle_kind_of(p, d)].capacity, bytes = 0;
        for (int v = 0; v < p->n; v++)
            bytes += device_of[v] == d ? p->bytes[v] : 0;
        if (capacity >= 0 && bytes > capacity)
            return "more bytes than a device has";
    }
    return NULL;
}

static bool is_orphan(const oracle_problem *p, int class)
{
    for (int v = 0; v < p->n; v++)
        if (p->class_of[v] == class && !p->backward[v])
            return false;
    return true;
}

/* behind[a]: the devices, as bits, that must stand behind device a in the line. */
static void lines(const oracle_problem *p, const int *device_of, unsigned behind[ORACLE_DEVICES])
{
    bool orphan[ORACLE_NODES];
    for (int c = 0; c < p->n_classes; c++)
        orphan[c] = is_orphan(p, c);
    for (int e = 0; e < p->m; e++) {
        int u = p->from[e], v = p->to[e], a = device_of[u], b = device_of[v];
        if (!p->backward[u] && !p->backward[v] && a != b)
            behind[a] |= 1u << b;
        bool mirrored =
            p->backward[u] && p->backward[v] && (orphan[p->class_of[u]] || orphan[p->class_of[v]]);
        if (mirrored && a != b)
            behind[b] |= 1u << a;
    }
}

/* Takes away devices with nothing behind them until none is left, or none can be taken. */
static const char *no_line(const oracle_problem *p, const int *device_of)
{
    unsigned behind[ORACLE_DEVICES] = { 0 }, left = (1u << oracle_devices(p)) - 1, before = 0;
    lines(p, device_of, behind);
    while (left != before) {
        before = left;
        for (int d = 0; d < oracle_devices(p); d++)
            if (!(behind[d] & left))
                left &= ~(1u << d);
    }
    return left ? "devices that are not in a line" : NULL;
}

/* -- loads -- */

static double load(const oracle_problem *p, const int *device_of, int d)
{
    int k = oracle_kind_of(p, d);
    bool charged[ORACLE_NODES] = { false };
    long double sum = 0;
    for (int v = 0; v < p->n; v++)
        sum += device_of[v] == d ? (long double)p->time[k][v] : 0;
    for (int e = 0; e < p->m && p->kind[k].pays; e++) {
        int u = p->from[e];
        if ((device_of[u] == d) == (device_of[p->to[e]] == d) || charged[u])
            continue;
        charged[u] = true;
        sum += (long double)p->cost[u];
    }
    return (double)sum;
}

/* -- latency -- */

typedef struct {
    const oracle_problem *p;
    const int *device_of;
    bool in_pieces[ORACLE_NODES]; /* the node's device pays */
    int level[ORACLE_NODES];      /* of its piece on its device */
    long double finish[ORACLE_NODES];
    bool known[ORACLE_NODES];
} latency_run;

/* level of every node as device d sees it, until nothing changes. */
static void find_levels(latency_run *r, int d)
{
    const oracle_problem *p = r->p;
    int level[ORACLE_NODES];
    for (int v = 0; v < p->n; v++)
        level[v] = r->device_of[v] == d;
    for (bool more = true; more;) {
        more = false;
        for (int e = 0; e < p->m; e++) {
            int u = p->from[e], v = p->to[e];
            int least = level[u] + (r->device_of[v] == d && r->device_of[u] != d);
            if (level[v] < least) {
                level[v] = least;
                more = true;
            }
        }
    }
    for (int v = 0; v < p->n; v++)
        if (r->device_of[v] == d)
            r->level[v] = level[v];
}

static bool together(const latency_run *r, int v, int w)
{
    return v == w || (r->in_pieces[v] && r->in_pieces[w] && r->device_of[v] == r->device_of[w] &&
                      r->level[v] == r->level[w]);
}

/* When what v's piece (or v alone) reads from outside is there; below 0: not known yet. */
static long double start_of(const latency_run *r, int v)
{
    long double start = 0;
    for (int e = 0; e < r->p->m; e++) {
        int u = r->p->from[e];
        if (!together(r, v, r->p->to[e]) || together(r, v, u))
            continue;
        if (!r->known[u])
            return -1;
        start = start > r->finish[u] ? start : r->finish[u];
    }
    return start;
}

/* What v's piece takes: what it receives, runs and sends. A node of no piece: its time. */
static long double span_of(const latency_run *r, int v)
{
    const oracle_problem *p = r->p;
    bool charged[ORACLE_NODES] = { false };
    int k = oracle_kind_of(p, r->device_of[v]);
    long double sum = 0;
    for (int w = 0; w < p->n; w++)
        sum += together(r, v, w) ? (long double)p->time[k][w] : 0;
    for (int e = 0; e < p->m && r->in_pieces[v]; e++) {
        int u = p->from[e];
        if (together(r, v, u) == together(r, v, p->to[e]) || charged[u])
            continue;
        charged[u] = true;
        sum += (long double)p->cost[u];
    }
    return sum;
}

static void finish_piece(latency_run *r, int v, long double start)
{
    long double finish = start + span_of(r, v);
    for (int w = 0; w < r->p->n; w++)
        if (together(r, v, w)) {
            r->finish[w] = finish;
            r->known[w] = true;
        }
}

static double latency(const oracle_problem *p, const int *device_of)
{
    latency_run r = { .p = p, .device_of = device_of };
    int left = p->n;
    long double last = 0;
    for (int v = 0; v < p->n; v++)
        r.in_pieces[v] = p->kind[oracle_kind_of(p, device_of[v])].pays;
    for (int d = 0; d < oracle_devices(p); d++)
        if (p->kind[oracle_kind_of(p, d)].pays)
            find_levels(&r, d);
    for (int before = left + 1; left < before;) {
        before = left;
        for (int v = 0; v < p->n; v++) {
            long double start = r.known[v] ? -1 : start_of(&r, v);
            if (start >= 0)
                finish_piece(&r, v, start);
        }
        left = 0;
        for (int v = 0; v < p->n; v++)
            left += !r.known[v];
    }
    for (int v = 0; v < p->n; v++)
        last = last > r.finish[v] ? last : r.finish[v];
    return left ? (double)INFINITY : (double)last;
}

/* -- all of it -- */

static const char *fault(const oracle_problem *p, const oracle_rules *rules, const int *device_of,
                         const oracle_value *value)
{
    const char *why = split_class(p, device_of);
    if (!why)
        why = too_large(p, device_of);
    if (!why && rules->contiguous)
        why = no_line(p, device_of);
    if (!why && rules->objective == ORACLE_FEWEST && rules->max_load > 0 &&
        value->max_load > rules->max_load)
        why = "a load above the largest allowed";
    if (!why && rules->objective == ORACLE_LATENCY && isinf(value->latency))
        why = "pieces that wait for each other";
    return why;
}

/* latency is the dear part: only where it is asked for. */
static oracle_value judge(const oracle_problem *p, const oracle_rules *rules, const int *device_of,
                          bool with_latency)
{
    oracle_value value = { .why = misplaced(p, device_of) };
    bool used[ORACLE_DEVICES] = { false };
    if (value.why)
        return value;
    for (int v = 0; v < p->n; v++)
        used[device_of[v]] = true;
    for (int d = 0; d < oracle_devices(p); d++) {
        value.loads[d] = load(p, device_of, d);
        value.max_load = value.loads[d] > value.max_load ? value.loads[d] : value.max_load;
        value.n_used += used[d];
    }
    value.latency = with_latency ? latency(p, device_of) : 0;
    value.objective = rules->objective == ORACLE_THROUGHPUT ? value.max_load
                      : rules->objective == ORACLE_LATENCY  ? value.latency
                                                            : value.n_used;
    value.why = fault(p, rules, device_of, &value);
    value.legal = !value.why;
    return value;
}

oracle_value oracle_judge(const oracle_problem *p, const oracle_rules *rules, const int *device_of)
{
    return judge(p, rules, device_of, true);
}

/* -- every assignment -- */

typedef struct {
    const oracle_problem *p;
    const oracle_rules *rules;
    bool plain, found;
    double best;
    int device_of_class[ORACLE_NODES], device_of[ORACLE_NODES], *solution;
    int classes_on[ORACLE_DEVICES];
} search;

static void try_leaf(search *s)
{
    for (int v = 0; v < s->p->n; v++)
        s->device_of[v] = s->device_of_class[s->p->class_of[v]];
    oracle_value value = judge(s->p, s->rules, s->device_of, s->rules->objective == ORACLE_LATENCY);
    if (!value.legal || (s->found && value.objective >= s->best))
        return;
    s->found = true;
    s->best = value.objective;
    memcpy(s->solution, s->device_of, (size_t)s->p->n * sizeof *s->solution);
}

/* Classes up to and with last, on device d: neither their bytes, nor their support, nor their times
 * alone get better by what comes later. */
static bool hopeless(const search *s, int last, int d)
{
    const oracle_problem *p = s->p;
    int k = oracle_kind_of(p, d);
    long long bytes = 0;
    long double time = 0;
    for (int v = 0; v < p->n; v++) {
        if (p->class_of[v] > last || s->device_of_class[p->class_of[v]] != d)
            continue;
        if (p->time[k][v] < 0)
            return true;
        bytes += p->bytes[v];
        time += (long double)p->time[k][v];
    }
    if (p->kind[k].capacity >= 0 && bytes > p->kind[k].capacity)
        return true;
    return s->rules->objective == ORACLE_THROUGHPUT && s->found && time >= (long double)s->best;
}

static void try_class(search *s, int class)
{
    const oracle_problem *p = s->p;
    if (class == p->n_classes) {
        try_leaf(s);
        return;
    }
    for (int d = 0; d < oracle_devices(p); d++) {
        bool same_as_before = d > 0 && oracle_kind_of(p, d) == oracle_kind_of(p, d - 1) &&
                              !s->classes_on[d - 1] && !s->classes_on[d];
        s->device_of_class[class] = d;
        if (!s->plain && (same_as_before || hopeless(s, class, d)))
            continue;
        s->classes_on[d]++;
        try_class(s, class + 1);
        s->classes_on[d]--;
    }
}

bool oracle_best(const oracle_problem *p, const oracle_rules *rules, bool plain, double *objective,
                 int *device_of)
{
    search s = { .p = p, .rules = rules, .plain = plain, .solution = device_of };
    try_class(&s, 0);
    if (s.found)
        *objective = s.best;
    return s.found;
}
