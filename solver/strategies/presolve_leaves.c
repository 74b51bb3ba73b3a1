/* presolve_leaves.c - nodes without memory and with at most two neighbours, eliminated exactly.
 *
 * Whatever the neighbours choose, such a node takes what is best then: that is a table, which
 * answers are lifted by, and its costs are a cost of the one neighbour, or an edge between the two.
 * Nodes that go at once have no edge to each other.
 */
#include <string.h>

#include "solver/strategies/presolve_work.h"

/* Additions for one node, and entries of the edge it leaves behind over those of the edges it
 * takes with it: what is eliminated should not make the problem larger. */
enum { MOST_WORK = 1 << 22, MOST_GROWTH = 4 };

typedef struct {
    const clv_strategies *p;
    clv_arena *arena, *keep;
    int32_t *degree, *edge; /* by node; its first two edges at [2 * v] */
    bool *hyper, *gone, *stays;
    bool big;
    clv_wide base;
    clv_pre_fold *fold;
    clv_pre_leaf *leaf;
    int64_t *cost;
    int32_t n_new, *new_end; /* new edges: two nodes each, a matrix each */
    int64_t **new_matrix;
} leaves;

static int32_t other_end(const leaves *s, int32_t e, int32_t v)
{
    const int32_t *end = s->p->end + s->p->first_end[e];

    return end[0] == v ? end[1] : end[0];
}

/* Entry of edge e where v takes i and the other node j. */
static int64_t entry(const leaves *s, int32_t e, int32_t v, int32_t i, int32_t j)
{
    const clv_strategies *p = s->p;
    const int32_t *end = p->end + p->first_end[e];
    const int64_t *m = p->entry + p->first_entry[p->matrix_of[e]];

    return end[0] == v ? m[(int64_t)i * clv_strategy_n_choices(p, end[1]) + j]
                       : m[(int64_t)j * clv_strategy_n_choices(p, v) + i];
}

static bool can_go(const leaves *s, int32_t v)
{
    const clv_strategies *p = s->p;
    int64_t n = clv_strategy_n_choices(p, v), a, b;

    if (p->first_span[v] != p->first_span[v + 1] || s->hyper[v] || s->degree[v] > 2 || s->stays[v])
        return false;
    for (int32_t i = 0; i < s->degree[v]; i++)
        if (s->gone[other_end(s, s->edge[2 * v + i], v)])
            return false;
    if (s->degree[v] < 2)
        return true;
    a = clv_strategy_n_choices(p, other_end(s, s->edge[2 * v], v));
    b = clv_strategy_n_choices(p, other_end(s, s->edge[2 * v + 1], v));
    return a * b <= MOST_GROWTH * n * (a + b) && a * b * n <= MOST_WORK;
}

/* The best choice of v where its neighbours take ja and jb; its cost. */
static int64_t best_of(leaves *s, int32_t v, int32_t ja, int32_t jb, int32_t *ret)
{
    const clv_strategies *p = s->p;
    int64_t least = INT64_MAX;

    for (int32_t i = 0, n = clv_strategy_n_choices(p, v); i < n; i++) {
        int64_t c = s->p->cost[p->first_choice[v] + i];

        if (s->degree[v] > 0)
            c = clv_pre_add(c, entry(s, s->edge[2 * v], v, i, ja), &s->big);
        if (s->degree[v] > 1)
            c = clv_pre_add(c, entry(s, s->edge[2 * v + 1], v, i, jb), &s->big);
        if (c < least) {
            least = c;
            *ret = i;
        }
    }
    return least;
}

static bool eliminate(leaves *s, int32_t v)
{
    const clv_strategies *p = s->p;
    int32_t d = s->degree[v], a = d > 0 ? other_end(s, s->edge[2 * v], v) : -1;
    int32_t b = d > 1 ? other_end(s, s->edge[2 * v + 1], v) : -1;
    int32_t n_a = a < 0 ? 1 : clv_strategy_n_choices(p, a);
    int32_t n_b = b < 0 ? 1 : clv_strategy_n_choices(p, b);
    int32_t *best = CLV_NEW_ARRAY(s->keep, int32_t, (int64_t)n_a * n_b);
    int64_t *cost = CLV_NEW_ARRAY(s->arena, int64_t, (int64_t)n_a * n_b);

    if (!best || !cost)
        return false;
    for (int32_t i = 0; i < n_a; i++)
        for (int32_t j = 0; j < n_b; j++)
            cost[(int64_t)i * n_b + j] = best_of(s, v, i, j, &best[(int64_t)i * n_b + j]);
    s->leaf[s->fold->n_gone++] =
        (clv_pre_leaf){ .node = v, .a = a, .b = b, .n_b = n_b, .best = best };
    s->gone[v] = true;
    if (d == 0)
        s->base += cost[0];
    for (int32_t i = 0; d == 1 && i < n_a; i++) {
        int64_t *at = &s->cost[p->first_choice[a] + i];

        *at = clv_pre_add(*at, cost[i], &s->big);
    }
    if (a >= 0)
        s->stays[a] = true;
    if (b < 0)
        return true;
    s->stays[b] = true;
    s->new_end[2 * s->n_new] = a;
    s->new_end[2 * s->n_new + 1] = b;
    s->new_matrix[s->n_new++] = cost;
    return true;
}

static clv_status start(leaves *s, const clv_pre_work *w, clv_error *err)
{
    const clv_strategies *p = &w->p;
    int32_t n = p->n_nodes;

    s->degree = CLV_NEW_ARRAY(s->arena, int32_t, n);
    s->edge = CLV_NEW_ARRAY(s->arena, int32_t, 2 * (size_t)n);
    s->hyper = CLV_NEW_ARRAY(s->arena, bool, n);
    s->gone = CLV_NEW_ARRAY(s->arena, bool, n);
    s->stays = CLV_NEW_ARRAY(s->arena, bool, n);
    s->leaf = CLV_NEW_ARRAY(s->arena, clv_pre_leaf, n);
    s->cost = CLV_NEW_ARRAY(s->arena, int64_t, p->first_choice[n]);
    s->new_end = CLV_NEW_ARRAY(s->arena, int32_t, 2 * (size_t)n);
    s->new_matrix = CLV_NEW_ARRAY(s->arena, int64_t *, n);
    if (!s->degree || !s->edge || !s->hyper || !s->gone || !s->stays || !s->leaf || !s->cost ||
        !s->new_end || !s->new_matrix)
        return clv_fail_nomem(err, "the leaves of a strategy problem");
    memcpy(s->cost, p->cost, (size_t)p->first_choice[n] * sizeof *s->cost);
    for (int32_t e = 0; e < p->n_edges; e++)
        for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++) {
            int32_t v = p->end[i];

            s->hyper[v] |= p->first_end[e + 1] - p->first_end[e] != 2;
            if (s->degree[v] < 2)
                s->edge[2 * v + s->degree[v]] = e;
            s->degree[v]++;
        }
    return CLV_OK;
}

static bool loses(const leaves *s, int32_t e)
{
    for (int32_t i = s->p->first_end[e]; i < s->p->first_end[e + 1]; i++)
        if (s->gone[s->p->end[i]])
            return true;
    return false;
}

/* Arrays of the problem with the new edges, the old matrices already in them. */
typedef struct {
    int32_t *first_end, *end, *matrix_of, *rows_of;
    int64_t *first, *entry;
    int32_t n;
} wires;

static bool new_wires(const leaves *s, const clv_pre_work *w, wires *ret)
{
    const clv_strategies *p = s->p;
    int64_t n_entries = p->first_entry[p->n_matrices], more = 0;

    for (int32_t i = 0; i < s->n_new; i++)
        more += (int64_t)clv_strategy_n_choices(p, s->new_end[2 * i]) *
                clv_strategy_n_choices(p, s->new_end[2 * i + 1]);
    *ret =
        (wires){ .first_end = CLV_NEW_ARRAY(s->arena, int32_t, p->n_edges + s->n_new + 1),
                 .end = CLV_NEW_ARRAY(s->arena, int32_t, p->first_end[p->n_edges] + 2 * s->n_new),
                 .matrix_of = CLV_NEW_ARRAY(s->arena, int32_t, p->n_edges + s->n_new),
                 .rows_of = CLV_NEW_ARRAY(s->arena, int32_t, p->n_matrices + s->n_new),
                 .first = CLV_NEW_ARRAY(s->arena, int64_t, p->n_matrices + s->n_new + 1),
                 .entry = CLV_NEW_ARRAY(s->arena, int64_t, n_entries + more) };
    if (!ret->first_end || !ret->end || !ret->matrix_of || !ret->rows_of || !ret->first ||
        !ret->entry)
        return false;
    if (n_entries)
        memcpy(ret->entry, p->entry, (size_t)n_entries * sizeof *ret->entry);
    memcpy(ret->first, p->first_entry, (size_t)(p->n_matrices + 1) * sizeof *ret->first);
    /* 0 for the new ones: they have not been packed. */
    for (int32_t m = 0; m < p->n_matrices; m++)
        ret->rows_of[m] = w->rows_of[m];
    return true;
}

static void put(wires *x, int32_t k, const int32_t *end, int32_t matrix)
{
    x->matrix_of[x->n] = matrix;
    memcpy(x->end + x->first_end[x->n], end, (size_t)k * sizeof *end);
    x->first_end[x->n + 1] = x->first_end[x->n] + k;
    x->n++;
}

/* The problem with the new edges in place of those of nodes that are gone. */
static clv_status rewire(leaves *s, const clv_pre_work *w, clv_pre_work *ret, clv_error *err)
{
    const clv_strategies *p = s->p;
    wires x;

    if (!new_wires(s, w, &x))
        return clv_fail_nomem(err, "the leaves of a strategy problem");
    for (int32_t e = 0; e < p->n_edges; e++)
        if (!loses(s, e))
            put(&x, p->first_end[e + 1] - p->first_end[e], p->end + p->first_end[e],
                p->matrix_of[e]);
    for (int32_t i = 0; i < s->n_new; i++) {
        int32_t m = p->n_matrices + i;
        int64_t n = (int64_t)clv_strategy_n_choices(p, s->new_end[2 * i]) *
                    clv_strategy_n_choices(p, s->new_end[2 * i + 1]);

        put(&x, 2, s->new_end + 2 * i, m);
        memcpy(x.entry + x.first[m], s->new_matrix[i], (size_t)n * sizeof *x.entry);
        x.first[m + 1] = x.first[m] + n;
    }
    *ret = *w;
    ret->base += s->base;
    ret->rows_of = x.rows_of;
    ret->p.cost = s->cost;
    ret->p.n_edges = x.n;
    ret->p.n_matrices = p->n_matrices + s->n_new;
    ret->p.first_end = x.first_end;
    ret->p.end = x.end;
    ret->p.matrix_of = x.matrix_of;
    ret->p.first_entry = x.first;
    ret->p.entry = x.entry;
    return CLV_OK;
}

clv_status clv_pre_leaves(const clv_pre_work *w, clv_arena *arena, clv_arena *keep,
                          clv_pre_work *ret, clv_pre_fold *fold, clv_pre_trouble *trouble,
                          clv_error *err)
{
    leaves s = { .p = &w->p, .arena = arena, .keep = keep, .fold = fold };

    CLV_TRY(clv_pre_fold_new(w, arena, fold, err));
    CLV_TRY(start(&s, w, err));
    for (int32_t v = 0; v < w->p.n_nodes; v++)
        if (can_go(&s, v)) {
            if (!eliminate(&s, v))
                return clv_fail_nomem(err, "the leaves of a strategy problem");
            fold->n_new[v] = 0;
        }
    fold->gone = s.leaf;
    fold->any = fold->n_gone > 0;
    if (s.big)
        *trouble = CLV_PRE_BIG;
    if (fold->any)
        return rewire(&s, w, ret, err);
    *ret = *w;
    return CLV_OK;
}
