/* place_make.c - random problems for place_oracle.h. */
#include <string.h>

#include "support/place_oracle.h"

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int oracle_below(uint64_t *state, int n) { return (int)(next(state) % (uint64_t)n); }

static bool one_in(uint64_t *state, int n) { return oracle_below(state, n) == 0; }

enum { SMALL, EIGHTHS, EQUAL, ROUGH };

typedef struct {
    uint64_t random;
    oracle_problem *p;
    int node_at[ORACLE_NODES]; /* by place: edges go from lower places to higher ones */
    int n_forward;             /* places behind these are of backward nodes */
    int numbers;
    int equal;
} maker;

static int below(maker *m, int n) { return oracle_below(&m->random, n); }

static double number(maker *m, int most)
{
    if (m->numbers == EQUAL)
        return m->equal;
    if (one_in(&m->random, 7))
        return 0;
    double x = below(m, most + 1);
    if (m->numbers == EIGHTHS)
        x += below(m, 8) / 8.0;
    if (m->numbers == ROUGH)
        x += below(m, 100000) / 100003.0;
    return x;
}

/* -- edges -- */

static void join(maker *m, int low, int high)
{
    oracle_problem *p = m->p;
    int u = m->node_at[low], v = m->node_at[high];
    for (int e = 0; e < p->m; e++)
        if (p->from[e] == u && p->to[e] == v)
            return;
    if (low == high || p->m == ORACLE_EDGES)
        return;
    p->from[p->m] = u;
    p->to[p->m++] = v;
}

/* Places first .. end - 1. */
static void join_any(maker *m, int first, int end)
{
    int odds = 1 + below(m, 6);
    for (int high = first + 1; high < end; high++)
        for (int low = first; low < high; low++)
            if (one_in(&m->random, odds))
                join(m, low, high);
}

static void join_chain(maker *m, int first, int end)
{
    for (int i = first + 1; i < end; i++)
        join(m, i - 1, i);
}

/* To: one reader each; otherwise one source each. */
static void join_tree(maker *m, int first, int end, bool to)
{
    for (int i = first; i < end; i++)
        if (to && i + 1 < end)
            join(m, i, i + 1 + below(m, end - i - 1));
        else if (!to && i > first)
            join(m, first + below(m, i - first), i);
}

static void join_layers(maker *m, int first, int end)
{
    int width = 1 + below(m, 3);
    for (int high = first + width; high < end; high++)
        for (int low = high - width - (high - first) % width; low < high - (high - first) % width;
             low++)
            if (low >= first && !one_in(&m->random, 4))
                join(m, low, high);
}

static void join_shape(maker *m, int first, int end)
{
    int middle = first + (end - first) / 2;
    switch (below(m, 8)) {
    case 0:
        join_chain(m, first, end);
        break;
    case 1:
        join_tree(m, first, end, false);
        break;
    case 2:
        join_tree(m, first, end, true);
        break;
    case 3: /* two parts */
        join_any(m, first, middle);
        join_any(m, middle, end);
        break;
    case 4:
        join_chain(m, first, end);
        join_any(m, first, end);
        break;
    case 5:
    case 6:
        join_layers(m, first, end);
        break;
    default:
        join_any(m, first, end);
    }
}

/* -- classes -- */

/* A training graph: the backward half mirrors the forward half, and stays where that is. */
static void mirror(maker *m)
{
    oracle_problem *p = m->p;
    int place_of[ORACLE_NODES], last = p->n - 1, n_edges = p->m;
    for (int i = 0; i < p->n; i++)
        place_of[m->node_at[i]] = i;
    for (int e = 0; e < n_edges; e++)
        join(m, last - place_of[p->to[e]], last - place_of[p->from[e]]);
    for (int i = 0; i < m->n_forward; i++) {
        if (!one_in(&m->random, 3))
            join(m, i, last - i);
        if (one_in(&m->random, 6))
            join(m, i, m->n_forward + below(m, p->n - m->n_forward));
        if (!one_in(&m->random, 4)) /* otherwise an orphan */
            p->class_of[m->node_at[last - i]] = p->class_of[m->node_at[i]];
    }
}

/* Any two classes become one. */
static void merge_classes(maker *m)
{
    oracle_problem *p = m->p;
    int to = below(m, p->n_classes), from = below(m, p->n_classes);
    for (int v = 0; v < p->n; v++)
        if (p->class_of[v] == from)
            p->class_of[v] = to;
}

/* No number is left out. */
static void number_classes(oracle_problem *p)
{
    int number_of[ORACLE_NODES], n = 0;
    memset(number_of, -1, sizeof number_of);
    for (int v = 0; v < p->n; v++) {
        if (number_of[p->class_of[v]] < 0)
            number_of[p->class_of[v]] = n++;
        p->class_of[v] = number_of[p->class_of[v]];
    }
    p->n_classes = n;
}

static void make_classes(maker *m, double most_assignments)
{
    oracle_problem *p = m->p;
    int merges = one_in(&m->random, 3) ? below(m, (p->n + 1) / 2) : 0;
    number_classes(p);
    while (merges-- > 0)
        merge_classes(m);
    number_classes(p);
    for (;;) {
        double assignments = 1;
        for (int c = 0; c < p->n_classes; c++)
            assignments *= oracle_devices(p);
        if (assignments <= most_assignments)
            return;
        merge_classes(m);
        number_classes(p);
    }
}

/* -- graph, kinds, numbers -- */

static void make_graph(maker *m)
{
    oracle_problem *p = m->p;
    bool mirrored = p->n >= 2 && one_in(&m->random, 3);
    p->n -= mirrored ? p->n % 2 : 0;
    m->n_forward = mirrored ? p->n / 2 : p->n - (one_in(&m->random, 4) ? below(m, p->n + 1) : 0);
    for (int i = 0; i < p->n; i++) { /* shuffled as it grows */
        int j = below(m, i + 1);
        m->node_at[i] = m->node_at[j];
        m->node_at[j] = i;
        p->class_of[i] = i;
    }
    p->n_classes = p->n;
    for (int i = 0; i < p->n; i++)
        p->backward[m->node_at[i]] = i >= m->n_forward;
    join_shape(m, 0, mirrored ? m->n_forward : p->n);
    if (mirrored)
        mirror(m);
}

static void make_kinds(maker *m)
{
    oracle_problem *p = m->p;
    static const int counts[] = { 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3 };
    p->n_kinds = 1 + below(m, 3);
    for (int k = 0; k < p->n_kinds; k++) {
        p->kind[k].count = counts[below(m, sizeof counts / sizeof *counts)];
        p->kind[k].pays = k == 0 ? !one_in(&m->random, 8) : one_in(&m->random, 3);
        p->kind[k].capacity = -1;
    }
}

static void make_numbers(maker *m)
{
    oracle_problem *p = m->p;
    int speed[ORACLE_KINDS], unsupported = one_in(&m->random, 4) ? 8 : 1000000;
    int cost = one_in(&m->random, 4) ? 0 : 1 + below(m, 8);
    bool weights = one_in(&m->random, 3);
    for (int k = 0; k < p->n_kinds; k++)
        speed[k] = 1 + below(m, 3);
    for (int v = 0; v < p->n; v++) {
        double time = number(m, 8);
        bool same = !one_in(&m->random, 3);
        for (int k = 0; k < p->n_kinds; k++) {
            p->time[k][v] = (same ? time : number(m, 8)) * speed[k];
            if (one_in(&m->random, unsupported))
                p->time[k][v] = -1;
        }
        p->bytes[v] = one_in(&m->random, 4) ? 0 : below(m, 9);
    }
    for (int e = 0; e < p->m; e++)
        p->cost[p->from[e]] = cost ? number(m, cost) : 0;
    for (int v = 0; v < p->n && weights; v++) /* bytes that take no time, as parameters do */
        for (int k = 0; k < p->n_kinds && p->bytes[v] % 2 == 1; k++)
            p->time[k][v] = p->time[k][v] > 0 ? 0 : p->time[k][v];
    if (one_in(&m->random, 60)) /* a class that fits nowhere */
        p->bytes[below(m, p->n)] = 1000;
}

static void make_capacities(maker *m)
{
    oracle_problem *p = m->p;
    long long bytes = 0;
    for (int v = 0; v < p->n; v++)
        bytes += p->bytes[v] < 1000 ? p->bytes[v] : 0;
    for (int k = 0; k < p->n_kinds; k++)
        if (!one_in(&m->random, 2))
            p->kind[k].capacity =
                bytes * (5 + below(m, 12)) / (10 * (p->kind[k].count ? p->kind[k].count : 1));
}

/* Largest load allowed where the fewest devices are asked for. */
static double make_load(maker *m)
{
    const oracle_problem *p = m->p;
    double sum = 0;
    for (int v = 0; v < p->n; v++)
        sum += p->time[0][v] > 0 ? p->time[0][v] : 0;
    return one_in(&m->random, 4) ? 0 : (double)(1 + (int)(sum * (4 + below(m, 14)) / 10));
}

void oracle_make(uint64_t seed, int most_nodes, double most_assignments, bool rough,
                 oracle_problem *p, oracle_rules *rules)
{
    maker m = { .random = seed, .p = p };
    memset(p, 0, sizeof *p);
    m.numbers =
        rough ? ROUGH : (int[]){ SMALL, SMALL, SMALL, EIGHTHS, EIGHTHS, EQUAL }[below(&m, 6)];
    m.equal = 1 + below(&m, 3);
    p->n = 1 + below(&m, most_nodes);
    p->n = p->n < 4 ? 1 + below(&m, most_nodes) : p->n; /* few tiny ones */
    make_kinds(&m);
    make_graph(&m);
    make_classes(&m, most_assignments);
    make_numbers(&m);
    make_capacities(&m);
    rules->objective = (oracle_objective[]){ ORACLE_THROUGHPUT, ORACLE_THROUGHPUT, ORACLE_LATENCY,
                                             ORACLE_FEWEST }[below(&m, 4)];
    rules->contiguous = one_in(&m.random, 2);
    rules->max_load = rules->objective == ORACLE_FEWEST ? make_load(&m) : 0;
}

/* -- assignments -- */

/* Devices in any order, later ones for nodes deeper in the graph. */
static void assign_along(uint64_t *random, const oracle_problem *p, int *device_of)
{
    int depth[ORACLE_NODES] = { 0 }, n = oracle_devices(p), line[ORACLE_DEVICES] = { 0 };
    for (bool more = true; more;) {
        more = false;
        for (int e = 0; e < p->m; e++)
            if (depth[p->to[e]] <= depth[p->from[e]]) {
                depth[p->to[e]] = depth[p->from[e]] + 1;
                more = true;
            }
    }
    for (int i = 0; i < n; i++) {
        int j = oracle_below(random, i + 1);
        line[i] = line[j];
        line[j] = i;
    }
    int width = 1 + oracle_below(random, 3);
    for (int v = 0; v < p->n; v++)
        device_of[v] = line[depth[v] / width < n ? depth[v] / width : n - 1];
}

void oracle_assign(uint64_t *random, const oracle_problem *p, int *device_of)
{
    bool along = one_in(random, 2);
    if (along)
        assign_along(random, p, device_of);
    for (int v = 0; v < p->n; v++)
        if (!along || one_in(random, 12))
            device_of[v] = oracle_below(random, oracle_devices(p));
    if (one_in(random, 12))
        return; /* classes are split */
    for (int v = 0; v < p->n; v++)
        for (int w = 0; w < v; w++)
            if (p->class_of[v] == p->class_of[w])
                device_of[v] = device_of[w];
}
