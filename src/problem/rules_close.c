/* rules_close.c - a group is one node of the graph of units. Where the graph then has a cycle, all
 * of the cycle must be on one device, or its devices would wait for each other. So the closed
 * groups are the strongly connected components, found by Tarjan's algorithm (1972) with explicit
 * stacks.
 */
#include "problem/rules_close.h"

#define NOT_SEEN (-1)

typedef struct {
    const clv_partition_problem *p;
    int32_t n;           /* nodes */
    int32_t *node_of;    /* by unit */
    int32_t *first, *to; /* readers of each node, by node */
    int32_t *next;       /* scratch, n + 1: into to */
    int32_t *seen, *low; /* when a node was met; the earliest it leads back to */
    int32_t *open, *way; /* stacks: nodes without a component, and the way here */
    int32_t *component, n_components;
} closer;

static bool allocate(closer *c, clv_arena *arena)
{
    const clv_partition_problem *p = c->p;
    size_t n = (size_t)p->n_units + 1;
    c->node_of = CLV_NEW_ARRAY(arena, int32_t, n);
    c->first = CLV_NEW_ARRAY(arena, int32_t, n + 1);
    c->to = CLV_NEW_ARRAY(arena, int32_t, p->n_nets > 0 ? p->net_first[p->n_nets] : 0);
    c->next = CLV_NEW_ARRAY(arena, int32_t, n + 1);
    c->seen = CLV_NEW_ARRAY(arena, int32_t, n);
    c->low = CLV_NEW_ARRAY(arena, int32_t, n);
    c->open = CLV_NEW_ARRAY(arena, int32_t, n);
    c->way = CLV_NEW_ARRAY(arena, int32_t, n);
    c->component = CLV_NEW_ARRAY(arena, int32_t, n);
    return c->node_of && c->first && c->to && c->next && c->seen && c->low && c->open && c->way &&
           c->component;
}

/* component is free until the end, and serves to number the groups. */
static void number_nodes(closer *c, const int32_t *group_of)
{
    for (int32_t u = 0; u < c->p->n_units; u++)
        c->component[u] = NOT_SEEN;
    for (int32_t u = 0; u < c->p->n_units; u++) {
        int32_t group = group_of[u];
        if (group >= 0 && c->component[group] != NOT_SEEN) {
            c->node_of[u] = c->component[group];
            continue;
        }
        if (group >= 0)
            c->component[group] = c->n;
        c->node_of[u] = c->n++;
    }
}

static void list_readers(closer *c)
{
    const clv_partition_problem *p = c->p;
    for (int32_t net = 0; net < p->n_nets; net++)
        c->first[c->node_of[p->net_from[net]] + 1] += p->net_first[net + 1] - p->net_first[net];
    for (int32_t i = 0; i < c->n; i++)
        c->next[i + 1] = c->first[i + 1] += c->first[i];
    for (int32_t net = 0; net < p->n_nets; net++)
        for (int32_t i = p->net_first[net]; i < p->net_first[net + 1]; i++)
            c->to[c->next[c->node_of[p->net_from[net]]]++] = c->node_of[p->net_to[i]];
    for (int32_t i = 0; i < c->n; i++)
        c->next[i] = c->first[i];
}

static void visit(closer *c, int32_t root, int32_t *n_seen)
{
    int32_t n_way = 0, n_open = 0;
    c->way[n_way++] = c->open[n_open++] = root;
    c->seen[root] = c->low[root] = (*n_seen)++;
    while (n_way > 0) {
        int32_t node = c->way[n_way - 1];
        if (c->next[node] < c->first[node + 1]) {
            int32_t to = c->to[c->next[node]++];
            if (c->seen[to] == NOT_SEEN) {
                c->way[n_way++] = c->open[n_open++] = to;
                c->seen[to] = c->low[to] = (*n_seen)++;
            } else if (c->component[to] == NOT_SEEN && c->seen[to] < c->low[node]) {
                c->low[node] = c->seen[to];
            }
            continue;
        }
        n_way--;
        if (n_way > 0 && c->low[node] < c->low[c->way[n_way - 1]])
            c->low[c->way[n_way - 1]] = c->low[node];
        if (c->low[node] != c->seen[node])
            continue;
        do /* node and all behind it on the stack are a component */
            c->component[c->open[--n_open]] = c->n_components;
        while (c->open[n_open] != node);
        c->n_components++;
    }
}

/* Components of two units or more, by their first unit. seen: units; low: the number given. */
static int32_t number_groups(closer *c, int32_t *group_of)
{
    int32_t n = 0;
    for (int32_t i = 0; i < c->n_components; i++) {
        c->seen[i] = 0;
        c->low[i] = NOT_SEEN;
    }
    for (int32_t u = 0; u < c->p->n_units; u++)
        c->seen[c->component[c->node_of[u]]]++;
    for (int32_t u = 0; u < c->p->n_units; u++) {
        int32_t i = c->component[c->node_of[u]];
        if (c->seen[i] > 1 && c->low[i] == NOT_SEEN)
            c->low[i] = n++;
        group_of[u] = c->low[i];
    }
    return n;
}

clv_status clv_rules_close(const clv_partition_problem *p, clv_arena *arena, int32_t *group_of,
                           clv_rule_groups *ret, clv_error *err)
{
    closer c = { .p = p };
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    /* first[g + 2] counts, and moves to where group g ends: so it is first[g] in the end */
    int32_t *first = NULL, *units = CLV_NEW_ARRAY(arena, int32_t, p->n_units), n = 0, n_seen = 0;
    if (scratch && units && allocate(&c, scratch)) {
        number_nodes(&c, group_of);
        list_readers(&c);
        for (int32_t i = 0; i < c.n; i++)
            c.seen[i] = c.component[i] = NOT_SEEN;
        for (int32_t i = 0; i < c.n; i++)
            if (c.seen[i] == NOT_SEEN)
                visit(&c, i, &n_seen);
        n = number_groups(&c, group_of);
        first = CLV_NEW_ARRAY(arena, int32_t, (size_t)n + 2);
    }
    clv_arena_free(scratch);
    if (!first)
        return clv_fail_nomem(err, "the groups of rules");
    for (int32_t u = 0; u < p->n_units; u++)
        if (group_of[u] >= 0)
            first[group_of[u] + 2]++;
    for (int32_t g = 0; g < n; g++)
        first[g + 2] += first[g + 1];
    for (int32_t u = 0; u < p->n_units; u++)
        if (group_of[u] >= 0)
            units[first[group_of[u] + 1]++] = u;
    *ret = (clv_rule_groups){ n, first, units };
    return CLV_OK;
}
