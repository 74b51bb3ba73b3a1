/* contraction.c - classes, cycles and idle neighbours are joined, then everything is numbered anew.
 */
#include "solver/placement/common/contraction.h"

#include "base/compare.h"
#include "base/union_find.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of who comes behind whom are made up to this size: 32 MiB of bits while blocks are made. */
#define REACH_MAX 16384

typedef struct {
    int32_t from, to;
} arc;

/* A partition of the classes that gets coarser; all arrays by group. */
typedef struct {
    const clv_place_problem *p;
    clv_arena *arena;
    bool contiguous,
        roomy; /* roomy: all bytes together fit every device, so memory never matters */
    int32_t n;
    int32_t *group_of; /* by node */
    int64_t *time;     /* [kind * n_classes + group] */
    int64_t *bytes;
    arc *arcs; /* sorted, each once */
    int32_t n_arcs;
    int32_t n_nets, *net_first, *pins; /* pins of a net ascending, two at least */
    int64_t *net_cost;
    int32_t *at_first, *at;
} joining;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "the blocks of a placement"); }

/* -- ticks -- */

static double all_of(const clv_place_problem *p)
{
    double sum = 0;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        double most = 0;
        for (int32_t k = 0; k < p->n_kinds; k++) {
            double t = p->time[(size_t)k * (size_t)p->n_nodes + (size_t)v];
            most = t > most ? t : most;
        }
        sum += most + p->send_cost[v];
    }
    return sum;
}

/* So that all times and costs together stay below CLV_TICKS_MAX. */
static double choose_tick(const clv_place_problem *p)
{
    int exponent;
    double sum = all_of(p);
    if (sum <= 0)
        return 1;
    frexp(sum, &exponent); /* sum < 2^exponent */
    return ldexp(1, exponent - 55);
}

double clv_contraction_from_ticks(const clv_contraction *b, int64_t ticks)
{
    double x = (double)ticks;
    if (ticks > INT64_C(1) << 53) /* may have been rounded up */
        x = nextafter(x, 0);
    return x * b->tick;
}

int64_t clv_contraction_to_ticks(const clv_contraction *b, double x)
{
    double ticks = ceil(x / b->tick);
    return ticks >= (double)CLV_TICKS_MAX ? CLV_TICKS_MAX : (int64_t)ticks;
}

void clv_contraction_project(const clv_contraction *b, const int32_t *of_block, int32_t *of_node)
{
    for (int32_t v = 0; v < b->p->n_nodes; v++)
        of_node[v] = of_block[b->block_of[v]];
}

/* -- sums of groups -- */

static void add_times(joining *j, double tick)
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
    const arc *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* Arcs between groups, sorted, each once. */
static void tidy_arcs(joining *j)
{
    int32_t n = 0;
    qsort(j->arcs, (size_t)j->n_arcs, sizeof *j->arcs, compare_arcs);
    for (int32_t i = 0; i < j->n_arcs; i++) {
        arc a = j->arcs[i];
        if (a.from != a.to && (n == 0 || compare_arcs(&j->arcs[n - 1], &a) != 0))
            j->arcs[n++] = a;
    }
    j->n_arcs = n;
}

static clv_status note_arcs(joining *j, clv_error *err)
{
    const clv_place_problem *p = j->p;
    bool *has_forward = CLV_NEW_ARRAY(j->arena, bool, p->n_classes);
    j->arcs = CLV_NEW_ARRAY(j->arena, arc, p->n_edges);
    if (!has_forward || !j->arcs)
        return nomem(err);
    for (int32_t v = 0; v < p->n_nodes; v++)
        has_forward[p->class_of[v]] |= !p->backward[v];
    for (int32_t u = 0; u < p->n_nodes && j->contiguous; u++) {
        for (int32_t i = p->out_first[u]; i < p->out_first[u + 1]; i++) {
            int32_t v = p->out[i], a = p->class_of[u], b = p->class_of[v];
            if (!p->backward[u] && !p->backward[v])
                j->arcs[j->n_arcs++] = (arc){ a, b };
            else if (p->backward[u] && p->backward[v] && (!has_forward[a] || !has_forward[b]))
                j->arcs[j->n_arcs++] = (arc){ b, a };
        }
    }
    tidy_arcs(j);
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
static int32_t pins_of(const joining *j, int32_t u, int32_t *pins)
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

static clv_status list_nets_of_groups(joining *j, clv_error *err)
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
static clv_status note_nets(joining *j, double tick, clv_error *err)
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
static clv_status join(joining *j, const int32_t *to, clv_error *err)
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
        j->arcs[i] = (arc){ number[to[j->arcs[i].from]], number[to[j->arcs[i].to]] };
    j->n = n;
    tidy_arcs(j);
    return CLV_OK;
}

/* Where the arcs of each group begin. */
static clv_status index_arcs(const joining *j, int32_t **ret, clv_error *err)
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

static void enter(walk *w, int32_t g)
{
    w->index[g] = w->low[g] = ++w->n_index;
    w->next[g] = w->first[g];
    w->path[w->n_path++] = g;
    w->open[w->n_open++] = g;
    w->to[g] = -1;
}

static void leave(walk *w, int32_t g)
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

static clv_status join_cycles(joining *j, clv_error *err)
{
    walk w = { 0 };
    size_t n = (size_t)j->n;
    CLV_TRY(index_arcs(j, &w.first, err));
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
            enter(&w, root);
        while (w.n_path > 0) {
            int32_t g = w.path[w.n_path - 1];
            if (w.next[g] == w.first[g + 1]) {
                leave(&w, g);
                continue;
            }
            int32_t h = j->arcs[w.next[g]++].to;
            if (w.index[h] == 0)
                enter(&w, h);
            else if (w.to[h] < 0 && w.index[h] < w.low[g])
                w.low[g] = w.index[h];
        }
    }
    return join(j, w.to, err);
}

/* -- idle groups -- */

/* Rows of bits: [g] has all that must not come before g. Groups need an order for it. */
typedef struct {
    uint64_t *rows; /* NULL where there are too many groups */
    size_t words;
    int32_t *first;           /* arcs of each group */
    int32_t *rev_first, *rev; /* and those that lead to it */
} reach;

/* Groups in an order of the arcs: every group behind those before it. O(groups + arcs). */
static clv_status order_groups(const joining *j, const int32_t *first, int32_t *order,
                               clv_error *err)
{
    int32_t n = 0, *waits = CLV_NEW_ARRAY(j->arena, int32_t, j->n);
    if (!waits)
        return nomem(err);
    for (int32_t i = 0; i < j->n_arcs; i++)
        waits[j->arcs[i].to]++;
    for (int32_t g = 0; g < j->n; g++)
        if (waits[g] == 0)
            order[n++] = g;
    for (int32_t done = 0; done < n; done++)
        for (int32_t i = first[order[done]]; i < first[order[done] + 1]; i++)
            if (--waits[j->arcs[i].to] == 0)
                order[n++] = j->arcs[i].to;
    assert(n == j->n);
    return CLV_OK;
}

static clv_status find_reach(const joining *j, reach *r, clv_error *err)
{
    int32_t *order = CLV_NEW_ARRAY(j->arena, int32_t, j->n);
    r->words = ((size_t)j->n + 63) / 64;
    CLV_TRY(index_arcs(j, &r->first, err));
    r->rev_first = CLV_NEW_ARRAY(j->arena, int32_t, j->n + 2);
    r->rev = CLV_NEW_ARRAY(j->arena, int32_t, j->n_arcs);
    if (!order || !r->rev_first || !r->rev)
        return nomem(err);
    for (int32_t i = 0; i < j->n_arcs; i++)
        r->rev_first[j->arcs[i].to + 2]++;
    for (int32_t g = 0; g < j->n; g++)
        r->rev_first[g + 2] += r->rev_first[g + 1];
    for (int32_t i = 0; i < j->n_arcs; i++)
        r->rev[r->rev_first[j->arcs[i].to + 1]++] = j->arcs[i].from;
    if (j->n > REACH_MAX)
        return CLV_OK;
    r->rows = clv_arena_take_array(j->arena, (size_t)j->n * r->words, sizeof *r->rows);
    if (!r->rows)
        return nomem(err);
    CLV_TRY(order_groups(j, r->first, order, err));
    for (int32_t i = j->n - 1; i >= 0; i--) {
        int32_t g = order[i];
        uint64_t *row = r->rows + (size_t)g * r->words;
        for (int32_t e = r->first[g]; e < r->first[g + 1]; e++) {
            int32_t h = j->arcs[e].to;
            row[h / 64] |= UINT64_C(1) << (h % 64);
            for (size_t w = 0; w < r->words; w++)
                row[w] |= r->rows[(size_t)h * r->words + w];
        }
    }
    return CLV_OK;
}

static bool leads_to(const reach *r, int32_t a, int32_t b)
{
    return r->rows && (r->rows[(size_t)a * r->words + (size_t)b / 64] >> (b % 64) & 1);
}

/* No time wherever it may be, and it may be wherever x may. */
static bool is_idle_beside(const joining *j, int32_t g, int32_t x)
{
    if (!j->roomy && j->bytes[g] > 0)
        return false;
    for (int32_t k = 0; k < j->p->n_kinds; k++) {
        int64_t t = j->time[(size_t)k * (size_t)j->p->n_classes + (size_t)g];
        bool x_may = j->time[(size_t)k * (size_t)j->p->n_classes + (size_t)x] != CLV_BLOCK_NEVER;
        if (t > 0 || (t == CLV_BLOCK_NEVER && x_may))
            return false;
    }
    return true;
}

/* g may follow x wherever x goes and nobody pays more: x is in every net of g, and everything that
 * g must not come behind, or before, is so for x as well. */
static bool may_follow(const joining *j, const reach *r, int32_t g, int32_t x)
{
    for (int32_t i = r->first[g]; i < r->first[g + 1]; i++)
        if (j->arcs[i].to != x && !leads_to(r, x, j->arcs[i].to))
            return false;
    for (int32_t i = r->rev_first[g]; i < r->rev_first[g + 1]; i++)
        if (r->rev[i] != x && !leads_to(r, r->rev[i], x))
            return false;
    for (int32_t i = j->at_first[g]; i < j->at_first[g + 1]; i++) {
        const int32_t *pins = j->pins + j->net_first[j->at[i]];
        size_t n = (size_t)(j->net_first[j->at[i] + 1] - j->net_first[j->at[i]]);
        if (!bsearch(&x, pins, n, sizeof *pins, clv_compare_int32))
            return false;
    }
    return is_idle_beside(j, g, x);
}

/* Neighbours by arcs, then by the first net; with neither, any group will do. -1: none. */
static int32_t find_host(const joining *j, const reach *r, int32_t g)
{
    bool alone = true;
    for (int32_t i = r->first[g]; i < r->first[g + 1]; i++, alone = false)
        if (may_follow(j, r, g, j->arcs[i].to))
            return j->arcs[i].to;
    for (int32_t i = r->rev_first[g]; i < r->rev_first[g + 1]; i++, alone = false)
        if (may_follow(j, r, g, r->rev[i]))
            return r->rev[i];
    for (int32_t i = j->at_first[g]; i < j->at_first[g] + 1 && i < j->at_first[g + 1]; i++) {
        alone = false;
        for (int32_t n = j->net_first[j->at[i]]; n < j->net_first[j->at[i] + 1]; n++)
            if (j->pins[n] != g && may_follow(j, r, g, j->pins[n]))
                return j->pins[n];
    }
    int32_t other = g == 0 ? 1 : 0;
    return alone && other < j->n && may_follow(j, r, g, other) ? other : -1;
}

/* Any group that can be idle; looking for hosts is for these alone. */
static bool is_idle(const joining *j, int32_t g)
{
    for (int32_t k = 0; k < j->p->n_kinds; k++)
        if (j->time[(size_t)k * (size_t)j->p->n_classes + (size_t)g] > 0)
            return false;
    return j->roomy || j->bytes[g] == 0;
}

/* One round over all groups. What was true of two groups stays true when either has grown, so the
 * sets may be those from before the round. */
static clv_status join_idle(joining *j, bool *ret_joined, clv_error *err)
{
    reach r = { 0 };
    int32_t *to = CLV_NEW_ARRAY(j->arena, int32_t, j->n);
    if (!to)
        return nomem(err);
    CLV_TRY(find_reach(j, &r, err));
    for (int32_t g = 0; g < j->n; g++)
        to[g] = g;
    *ret_joined = false;
    for (int32_t g = 0; g < j->n; g++) {
        int32_t x = is_idle(j, g) ? find_host(j, &r, g) : -1;
        if (x < 0 || clv_find_root(to, x) == clv_find_root(to, g))
            continue;
        to[clv_find_root(to, g)] = clv_find_root(to, x);
        *ret_joined = true;
    }
    for (int32_t g = 0; g < j->n; g++)
        to[g] = clv_find_root(to, g);
    return *ret_joined ? join(j, to, err) : CLV_OK;
}

/* -- the blocks -- */

/* Order of the blocks: along the arcs, and else as the nodes come. */
static clv_status number_blocks(joining *j, clv_error *err)
{
    const clv_place_problem *p = j->p;
    int32_t n_heap = 0, n = 0, *first, *waits = CLV_NEW_ARRAY(j->arena, int32_t, j->n),
            *place = CLV_NEW_ARRAY(j->arena, int32_t, j->n),
            *heap = CLV_NEW_ARRAY(j->arena, int32_t, j->n),
            *number = CLV_NEW_ARRAY(j->arena, int32_t, j->n);
    if (!waits || !place || !heap || !number)
        return nomem(err);
    CLV_TRY(index_arcs(j, &first, err));
    for (int32_t i = p->n_nodes - 1; i >= 0; i--)
        place[j->group_of[p->order[i]]] = i;
    for (int32_t i = 0; i < j->n_arcs; i++)
        waits[j->arcs[i].to]++;
    /* groups by place are met in turn; one that has to wait is met again by who frees it */
    int32_t *group_at = CLV_NEW_ARRAY(j->arena, int32_t, p->n_nodes + 1);
    if (!group_at)
        return nomem(err);
    for (int32_t i = 0; i < p->n_nodes; i++)
        group_at[i] = -1;
    for (int32_t g = 0; g < j->n; g++)
        group_at[place[g]] = g;
    for (int32_t i = 0; i < p->n_nodes; i++) {
        if (group_at[i] < 0 || waits[group_at[i]] != 0)
            continue;
        heap[n_heap++] = group_at[i];
        while (n_heap > 0) {
            int32_t g = heap[--n_heap];
            number[g] = n++;
            for (int32_t e = first[g]; e < first[g + 1]; e++)
                if (--waits[j->arcs[e].to] == 0 && place[j->arcs[e].to] <= i)
                    heap[n_heap++] = j->arcs[e].to;
        }
    }
    assert(n == j->n);
    for (int32_t v = 0; v < p->n_nodes; v++)
        j->group_of[v] = number[j->group_of[v]];
    for (int32_t i = 0; i < j->n_arcs; i++)
        j->arcs[i] = (arc){ number[j->arcs[i].from], number[j->arcs[i].to] };
    tidy_arcs(j);
    return CLV_OK;
}

static clv_status copy_arcs(const joining *j, clv_contraction *b, clv_arena *arena, clv_error *err)
{
    int32_t *after_first = CLV_NEW_ARRAY(arena, int32_t, j->n + 1),
            *before_first = CLV_NEW_ARRAY(arena, int32_t, j->n + 1),
            *after = CLV_NEW_ARRAY(arena, int32_t, j->n_arcs),
            *before = CLV_NEW_ARRAY(arena, int32_t, j->n_arcs),
            *fill = CLV_NEW_ARRAY(j->arena, int32_t, j->n);
    if (!after_first || !before_first || !after || !before || !fill)
        return nomem(err);
    for (int32_t i = 0; i < j->n_arcs; i++) {
        after_first[j->arcs[i].from + 1]++;
        before_first[j->arcs[i].to + 1]++;
        after[i] = j->arcs[i].to;
    }
    for (int32_t g = 0; g < j->n; g++) {
        after_first[g + 1] += after_first[g];
        before_first[g + 1] += before_first[g];
    }
    for (int32_t i = 0; i < j->n_arcs; i++)
        before[before_first[j->arcs[i].to] + fill[j->arcs[i].to]++] = j->arcs[i].from;
    b->after_first = after_first;
    b->before_first = before_first;
    b->after = after;
    b->before = before;
    return CLV_OK;
}

static const void *keep(clv_arena *arena, const void *bytes, size_t n, size_t size)
{
    void *copy = clv_arena_take_array(arena, n, size);
    if (copy && n > 0)
        memcpy(copy, bytes, n * size);
    return copy;
}

static clv_status copy_blocks(const joining *j, clv_contraction *b, clv_arena *arena,
                              clv_error *err)
{
    size_t n = (size_t)j->n, n_pins = (size_t)j->net_first[j->n_nets];
    b->p = j->p;
    b->n = j->n;
    b->roomy = j->roomy;
    b->n_kinds = j->p->n_kinds;
    b->n_nets = j->n_nets;
    b->block_of = keep(arena, j->group_of, (size_t)j->p->n_nodes, sizeof *b->block_of);
    b->bytes = keep(arena, j->bytes, n, sizeof *b->bytes);
    b->net_first = keep(arena, j->net_first, (size_t)j->n_nets + 1, sizeof *b->net_first);
    b->pins = keep(arena, j->pins, n_pins, sizeof *b->pins);
    b->net_cost = keep(arena, j->net_cost, (size_t)j->n_nets, sizeof *b->net_cost);
    b->at_first = keep(arena, j->at_first, n + 1, sizeof *b->at_first);
    b->at = keep(arena, j->at, n_pins, sizeof *b->at);
    int64_t *time = CLV_NEW_ARRAY(arena, int64_t, n * (size_t)b->n_kinds);
    if (!b->block_of || !b->bytes || !b->net_first || !b->pins || !b->net_cost || !b->at_first ||
        !b->at || !time)
        return nomem(err);
    for (int32_t k = 0; k < b->n_kinds && n > 0; k++)
        memcpy(time + (size_t)k * n, j->time + (size_t)k * (size_t)j->p->n_classes,
               n * sizeof *time);
    b->time = time;
    return copy_arcs(j, b, arena, err);
}

static bool is_roomy(const clv_place_problem *p)
{
    int64_t sum = 0;
    for (int32_t v = 0; v < p->n_nodes; v++)
        sum = sum > CLV_TICKS_MAX - p->bytes[v] ? CLV_TICKS_MAX : sum + p->bytes[v];
    for (int32_t k = 0; k < p->n_kinds; k++)
        if (p->kinds[k].capacity_bytes >= 0 && p->kinds[k].capacity_bytes < sum)
            return false;
    return true;
}

static clv_status build(joining *j, clv_contraction *b, clv_arena *arena, clv_error *err)
{
    bool joined = true;
    const clv_place_problem *p = j->p;
    j->n = p->n_classes;
    j->roomy = is_roomy(p);
    j->group_of = CLV_NEW_ARRAY(j->arena, int32_t, p->n_nodes);
    j->time = CLV_NEW_ARRAY(j->arena, int64_t, (size_t)p->n_kinds * (size_t)p->n_classes);
    j->bytes = CLV_NEW_ARRAY(j->arena, int64_t, p->n_classes);
    if (!j->group_of || !j->time || !j->bytes)
        return nomem(err);
    memcpy(j->group_of, p->class_of, (size_t)p->n_nodes * sizeof *j->group_of);
    b->tick = choose_tick(p);
    CLV_TRY(note_arcs(j, err));
    CLV_TRY(join_cycles(j, err));
    while (joined) {
        clv_mark mark = clv_arena_mark(j->arena);
        add_times(j, b->tick);
        CLV_TRY(note_nets(j, b->tick, err));
        CLV_TRY(join_idle(j, &joined, err));
        clv_arena_rewind(j->arena, mark);
    }
    CLV_TRY(number_blocks(j, err));
    add_times(j, b->tick);
    CLV_TRY(note_nets(j, b->tick, err));
    return copy_blocks(j, b, arena, err);
}

clv_status clv_contraction_new(const clv_place_problem *p, const clv_place_rules *rules,
                               clv_arena *arena, clv_contraction **ret, clv_error *err)
{
    assert(p && rules && arena && ret);
    clv_contraction *b = CLV_NEW(arena, clv_contraction);
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_status status = CLV_ENOMEM;
    if (b && scratch) {
        joining j = { .p = p, .arena = scratch, .contiguous = rules->contiguous };
        status = build(&j, b, arena, err);
    } else {
        status = nomem(err);
    }
    clv_arena_free(scratch);
    if (status == CLV_OK)
        *ret = b;
    return status;
}
