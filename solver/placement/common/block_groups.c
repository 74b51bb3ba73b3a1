#include "solver/placement/common/block_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "the blocks of a placement"); }

/* -- sums of groups -- */

void clv_block_groups_sum(clv_block_groups *j, double tick)
{
    const clv_place_problem *p = j->p;
    memset(j->time, 0, (size_t)p->n_kinds * (size_t)p->n_classes * sizeof *j->time);
    memset(j->bytes, 0, (size_t)p->n_classes * sizeof *j->bytes);
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t g = j->group_of[v];
        j->bytes[g] += p->bytes[v];
        for (int32_t k = 0; k < p->n_kinds; k++) {
            double t = p->time[(size_t)k * (size_t)p->n_nodes + (size_t)v];
            int64_t *sum = &j->time[(size_t)k * (size_t)p->n_classes + (size_t)g];
            if (t < 0 || *sum == CLV_BLOCK_NEVER)
                *sum = CLV_BLOCK_NEVER;
            else
                *sum += (int64_t)floor(t / tick);
        }
    }
}

static int compare_arcs(const void *a, const void *b)
{
    const clv_block_arc *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* Arcs between groups, sorted, each once. */
void clv_block_groups_sort_arcs(clv_block_groups *j)
{
    int32_t n = 0;
    qsort(j->arcs, (size_t)j->n_arcs, sizeof *j->arcs, compare_arcs);
    for (int32_t i = 0; i < j->n_arcs; i++) {
        clv_block_arc a = j->arcs[i];
        if (a.from != a.to && (n == 0 || compare_arcs(&j->arcs[n - 1], &a) != 0))
            j->arcs[n++] = a;
    }
    j->n_arcs = n;
}

clv_status clv_block_groups_list_arcs(clv_block_groups *j, clv_error *err)
{
    const clv_place_problem *p = j->p;
    bool *has_forward = CLV_NEW_ARRAY(j->arena, bool, p->n_classes);
    j->arcs = CLV_NEW_ARRAY(j->arena, clv_block_arc, p->n_edges);
    if (!has_forward || !j->arcs)
        return nomem(err);
    for (int32_t v = 0; v < p->n_nodes; v++)
        has_forward[p->class_of[v]] |= !p->backward[v];
    for (int32_t u = 0; u < p->n_nodes && j->contiguous; u++) {
        for (int32_t i = p->out_first[u]; i < p->out_first[u + 1]; i++) {
            int32_t v = p->out[i], a = p->class_of[u], b = p->class_of[v];
            if (!p->backward[u] && !p->backward[v])
                j->arcs[j->n_arcs++] = (clv_block_arc){ a, b };
            else if (p->backward[u] && p->backward[v] && (!has_forward[a] || !has_forward[b]))
                j->arcs[j->n_arcs++] = (clv_block_arc){ b, a };
        }
    }
    clv_block_groups_sort_arcs(j);
    return CLV_OK;
}

/* -- nets -- */

typedef struct {
    int32_t n;
    const int32_t *pins;
    int64_t cost;
} net;

/* By pins, so that equal nets are neighbours. */
static int compare_nets(const void *a, const void *b)
{
    const net *x = a, *y = b;
    for (int32_t i = 0; i < x->n && i < y->n; i++)
        if (x->pins[i] != y->pins[i])
            return x->pins[i] < y->pins[i] ? -1 : 1;
    return x->n < y->n ? -1 : x->n > y->n;
}

/* The groups that a node's transfers join. */
static int32_t pins_of(const clv_block_groups *j, int32_t u, int32_t *pins)
{
    const clv_place_problem *p = j->p;
    int32_t n = 0, unique = 0;
    pins[n++] = j->group_of[u];
    for (int32_t i = p->out_first[u]; i < p->out_first[u + 1]; i++)
        pins[n++] = j->group_of[p->out[i]];
    qsort(pins, (size_t)n, sizeof *pins, clv_compare_int32);
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || pins[i] != pins[i - 1])
            pins[unique++] = pins[i];
    return unique;
}

static clv_status list_nets_of_groups(clv_block_groups *j, clv_error *err)
{
    j->at_first = CLV_NEW_ARRAY(j->arena, int32_t, j->n + 1);
    j->at = CLV_NEW_ARRAY(j->arena, int32_t, j->net_first[j->n_nets]);
    int32_t *fill = CLV_NEW_ARRAY(j->arena, int32_t, j->n);
    if (!j->at_first || !j->at || !fill)
        return nomem(err);
    for (int32_t i = 0; i < j->net_first[j->n_nets]; i++)
        j->at_first[j->pins[i] + 1]++;
    for (int32_t g = 0; g < j->n; g++)
        j->at_first[g + 1] += j->at_first[g];
    for (int32_t e = 0; e < j->n_nets; e++)
        for (int32_t i = j->net_first[e]; i < j->net_first[e + 1]; i++)
            j->at[j->at_first[j->pins[i]] + fill[j->pins[i]]++] = e;
    return CLV_OK;
}

/* O(edges log edges). */
clv_status clv_block_groups_list_nets(clv_block_groups *j, double tick, clv_error *err)
{
    const clv_place_problem *p = j->p;
    int32_t n = 0, n_pins = 0;
    net *nets = CLV_NEW_ARRAY(j->arena, net, p->n_nodes);
    int32_t *pins = CLV_NEW_ARRAY(j->arena, int32_t, (size_t)p->n_nodes + (size_t)p->n_edges);
    j->net_first = CLV_NEW_ARRAY(j->arena, int32_t, p->n_nodes + 1);
    j->pins = CLV_NEW_ARRAY(j->arena, int32_t, (size_t)p->n_nodes + (size_t)p->n_edges);
    j->net_cost = CLV_NEW_ARRAY(j->arena, int64_t, p->n_nodes);
    if (!nets || !pins || !j->net_first || !j->pins || !j->net_cost)
        return nomem(err);
    for (int32_t u = 0; u < p->n_nodes; u++) {
        int64_t cost = (int64_t)floor(p->send_cost[u] / tick);
        int32_t room = cost > 0 ? pins_of(j, u, pins + n_pins) : 0;
        if (room < 2)
            continue;
        nets[n++] = (net){ room, pins + n_pins, cost };
        n_pins += room;
    }
    qsort(nets, (size_t)n, sizeof *nets, compare_nets);
    j->n_nets = 0;
    for (int32_t i = 0; i < n; i++) {
        if (i > 0 && compare_nets(&nets[i - 1], &nets[i]) == 0) {
            j->net_cost[j->n_nets - 1] += nets[i].cost;
            continue;
        }
        int32_t first = j->net_first[j->n_nets];
        memcpy(j->pins + first, nets[i].pins, (size_t)nets[i].n * sizeof *j->pins);
        j->net_cost[j->n_nets++] = nets[i].cost;
        j->net_first[j->n_nets] = first + nets[i].n;
    }
    return list_nets_of_groups(j, err);
}

/* -- joining -- */

/* Groups become what to[] says, numbered in the order of their first member. */
clv_status clv_block_groups_join(clv_block_groups *j, const int32_t *to, clv_error *err)
{
    int32_t *number = CLV_NEW_ARRAY(j->arena, int32_t, j->n), n = 0;
    if (!number)
        return nomem(err);
    for (int32_t g = 0; g < j->n; g++)
        number[g] = -1;
    for (int32_t g = 0; g < j->n; g++)
        if (number[to[g]] < 0)
            number[to[g]] = n++;
    for (int32_t v = 0; v < j->p->n_nodes; v++)
        j->group_of[v] = number[to[j->group_of[v]]];
    for (int32_t i = 0; i < j->n_arcs; i++)
        j->arcs[i] = (clv_block_arc){ number[to[j->arcs[i].from]], number[to[j->arcs[i].to]] };
    j->n = n;
    clv_block_groups_sort_arcs(j);
    return CLV_OK;
}

/* Where the arcs of each group begin. */
clv_status clv_block_groups_index_arcs(const clv_block_groups *j, int32_t **ret, clv_error *err)
{
    int32_t *first = CLV_NEW_ARRAY(j->arena, int32_t, j->n + 1);
    if (!first)
        return nomem(err);
    for (int32_t i = 0; i < j->n_arcs; i++)
        first[j->arcs[i].from + 1]++;
    for (int32_t g = 0; g < j->n; g++)
        first[g + 1] += first[g];
    *ret = first;
    return CLV_OK;
}

/* Tarjan's walk, with a stack of its own. O(groups + arcs). */
typedef struct {
    int32_t *first, *index, *low, *next, *path, *open, *to;
    int32_t n_index, n_path, n_open;
} walk;

static void open_group(walk *w, int32_t g)
{
    w->index[g] = w->low[g] = ++w->n_index;
    w->next[g] = w->first[g];
    w->path[w->n_path++] = g;
    w->open[w->n_open++] = g;
    w->to[g] = -1;
}

static void close_group(walk *w, int32_t g)
{
    w->n_path--;
    if (w->n_path > 0 && w->low[g] < w->low[w->path[w->n_path - 1]])
        w->low[w->path[w->n_path - 1]] = w->low[g];
    if (w->low[g] != w->index[g])
        return;
    int32_t h;
    do {
        h = w->open[--w->n_open];
        w->to[h] = g;
    } while (h != g);
}

clv_status clv_block_groups_join_cycles(clv_block_groups *j, clv_error *err)
{
    walk w = { 0 };
    size_t n = (size_t)j->n;
    CLV_TRY(clv_block_groups_index_arcs(j, &w.first, err));
    w.index = CLV_NEW_ARRAY(j->arena, int32_t, n);
    w.low = CLV_NEW_ARRAY(j->arena, int32_t, n);
    w.next = CLV_NEW_ARRAY(j->arena, int32_t, n);
    w.path = CLV_NEW_ARRAY(j->arena, int32_t, n);
    w.open = CLV_NEW_ARRAY(j->arena, int32_t, n);
    w.to = CLV_NEW_ARRAY(j->arena, int32_t, n);
    if (!w.index || !w.low || !w.next || !w.path || !w.open || !w.to)
        return nomem(err);
    for (int32_t root = 0; root < j->n; root++) {
        if (w.index[root] == 0)
            open_group(&w, root);
        while (w.n_path > 0) {
            int32_t g = w.path[w.n_path - 1];
            if (w.next[g] == w.first[g + 1]) {
                close_group(&w, g);
                continue;
            }
            int32_t h = j->arcs[w.next[g]++].to;
            if (w.index[h] == 0)
                open_group(&w, h);
            else if (w.to[h] < 0 && w.index[h] < w.low[g])
                w.low[g] = w.index[h];
        }
    }
    return clv_block_groups_join(j, w.to, err);
}
