/* presolve_pack_edges.c - edges between the new nodes.
 *
 * All edges between the same two nodes are added up into one matrix. From it goes to the costs of
 * the nodes what it says of one node alone: the least of each row, then of each column. If nothing
 * is left, the edge goes. Matrices that are left are kept once.
 */
#include <string.h>

#include "solver/strategies/presolve_pack.h"

/* An old edge as seen by two new nodes a < b: entry m[row * map_a[i] + column * map_b[j]]. */
typedef struct {
    int32_t a, b;
    const int64_t *m;
    int64_t row, column;
    const int32_t *map_a, *map_b;
    int32_t plain; /* matrix of the old problem that would stay as it is; -1 */
} piece;

/* An old edge that still joins three or more. */
typedef struct {
    int32_t n;
    const int32_t *end;
    int32_t matrix;
} knot;

enum { NOT_YET = -1, NOTHING_LEFT = -2 };

typedef struct {
    clv_packing *k;
    piece *piece;
    int32_t n_pieces, cap_pieces;
    knot *knot;
    int32_t n_knots, cap_knots;
    clv_pre_matrices set;
    int32_t *known; /* by old matrix: new one, or NOT_YET */
    int32_t *first_end, *end, *matrix_of;
    int32_t n_edges, cap_end, cap_matrix;
    int64_t *scratch;
} edges;

static int32_t n_choices(const edges *s, int32_t v)
{
    return clv_strategy_n_choices(&s->k->w->p, v);
}

static bool is_same(const edges *s, int32_t v)
{
    const int32_t *map = s->k->fold->map[v];
    int32_t n = clv_strategy_n_choices(&s->k->old->p, v);

    if (s->k->fold->into[v] != v || s->k->fold->n_new[v] != n)
        return false;
    return n == 0 || map[n - 1] == n - 1; /* the choices left are in order */
}

/* An edge of any number of nodes, seen by the different new nodes among them: to[0 .. n). Entries
 * are found choice by choice, like an odometer. */
typedef struct {
    int32_t n, to[3];
    int64_t n_entries;
    int64_t *entry;
    int32_t *all; /* to, where more than three fit */
} reduced;

static int32_t place_of(const int32_t *list, int32_t n, int32_t v)
{
    for (int32_t i = 0; i < n; i++)
        if (list[i] == v)
            return i;
    return -1;
}

/* The entry of old edge e when its new nodes all[] choose digit[]. */
static int64_t entry_at(const edges *s, int32_t e, const int32_t *all, int32_t n,
                        const int32_t *digit)
{
    const clv_strategies *p = &s->k->old->p;
    int64_t at = 0;

    for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++) {
        int32_t v = p->end[i], to = s->k->number[s->k->fold->into[v]];
        int32_t d = to < 0 ? 0 : digit[place_of(all, n, to)];

        at = at * clv_strategy_n_choices(p, v) + s->k->fold->map[v][d];
    }
    return p->entry[p->first_entry[p->matrix_of[e]] + at];
}

static clv_status reduce(edges *s, int32_t e, reduced *ret, clv_error *err)
{
    const clv_strategies *p = &s->k->old->p;
    int32_t k = p->first_end[e + 1] - p->first_end[e];
    int32_t *digit = CLV_NEW_ARRAY(s->k->out, int32_t, k);

    *ret = (reduced){ .n_entries = 1, .all = CLV_NEW_ARRAY(s->k->out, int32_t, k) };
    if (!digit || !ret->all)
        return clv_fail_nomem(err, "an edge of a strategy problem");
    for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++) {
        int32_t to = s->k->number[s->k->fold->into[p->end[i]]];

        if (to < 0 || place_of(ret->all, ret->n, to) >= 0)
            continue;
        ret->all[ret->n++] = to;
        ret->n_entries *= n_choices(s, to);
    }
    ret->entry = CLV_NEW_ARRAY(s->k->out, int64_t, ret->n_entries);
    if (!ret->entry)
        return clv_fail_nomem(err, "an edge of a strategy problem");
    for (int64_t i = 0; i < ret->n_entries; i++) {
        ret->entry[i] = entry_at(s, e, ret->all, ret->n, digit);
        for (int32_t d = ret->n - 1; d >= 0 && ++digit[d] == n_choices(s, ret->all[d]); d--)
            digit[d] = 0;
    }
    return CLV_OK;
}

static clv_status put_piece(edges *s, piece x, clv_error *err)
{
    if (x.a > x.b)
        x = (piece){ .a = x.b,
                     .b = x.a,
                     .m = x.m,
                     .row = x.column,
                     .column = x.row,
                     .map_a = x.map_b,
                     .map_b = x.map_a,
                     .plain = -1 };
    if (!CLV_PUSH_ROOM(s->k->out, s->piece, s->n_pieces, s->cap_pieces))
        return clv_fail_nomem(err, "the edges of a strategy problem");
    s->piece[s->n_pieces++] = x;
    return CLV_OK;
}

/* Edges of one node and of three or more; rare. */
static clv_status take_odd(edges *s, int32_t e, const int32_t *same, clv_error *err)
{
    reduced r;

    CLV_TRY(reduce(s, e, &r, err));
    if (r.n <= 1) {
        for (int64_t i = 0; i < r.n_entries; i++)
            clv_packing_charge(s->k, r.n ? r.all[0] : -1, (int32_t)i, r.entry[i]);
        return CLV_OK;
    }
    if (r.n == 2)
        return put_piece(s,
                         (piece){ .a = r.all[0],
                                  .b = r.all[1],
                                  .m = r.entry,
                                  .row = n_choices(s, r.all[1]),
                                  .column = 1,
                                  .map_a = same,
                                  .map_b = same,
                                  .plain = -1 },
                         err);
    if (!CLV_PUSH_ROOM(s->k->out, s->knot, s->n_knots, s->cap_knots))
        return clv_fail_nomem(err, "the edges of a strategy problem");
    s->knot[s->n_knots] = (knot){ .n = r.n, .end = r.all };
    if (!clv_pre_matrices_put(&s->set, r.n_entries, n_choices(s, r.all[0]), r.entry,
                              &s->knot[s->n_knots].matrix))
        return clv_fail_nomem(err, "the edges of a strategy problem");
    s->n_knots++;
    return CLV_OK;
}

/* Edges of two nodes. */
static clv_status take_pair(edges *s, int32_t e, clv_error *err)
{
    const clv_strategies *p = &s->k->old->p;
    const clv_pre_fold *fold = s->k->fold;
    int32_t u = p->end[p->first_end[e]], v = p->end[p->first_end[e] + 1];
    int32_t a = s->k->number[fold->into[u]], b = s->k->number[fold->into[v]];
    int64_t row = clv_strategy_n_choices(p, v);
    const int64_t *m = p->entry + p->first_entry[p->matrix_of[e]];
    const int32_t *map_u = fold->map[u], *map_v = fold->map[v];

    if (a >= 0 && b >= 0 && a != b)
        return put_piece(s,
                         (piece){ .a = a,
                                  .b = b,
                                  .m = m,
                                  .row = row,
                                  .column = 1,
                                  .map_a = map_u,
                                  .map_b = map_v,
                                  .plain = s->k->old->rows_of &&
                                                   s->k->old->rows_of[p->matrix_of[e]] &&
                                                   is_same(s, u) && is_same(s, v)
                                               ? p->matrix_of[e]
                                               : -1 },
                         err);
    if (a < 0 && b < 0) {
        clv_packing_charge(s->k, -1, 0, m[row * map_u[0] + map_v[0]]);
        return CLV_OK;
    }
    for (int32_t i = 0, n = n_choices(s, a < 0 ? b : a); i < n; i++)
        clv_packing_charge(s->k, a < 0 ? b : a, i,
                           m[row * map_u[a < 0 ? 0 : i] + map_v[b < 0 ? 0 : i]]);
    return CLV_OK;
}

/* Pieces by a and b, those of the same nodes in the order of the edges. */
static clv_status sort_pieces(edges *s, clv_error *err)
{
    int32_t n = s->k->w->p.n_nodes;
    piece *other = CLV_NEW_ARRAY(s->k->out, piece, s->n_pieces);
    int32_t *first = CLV_NEW_ARRAY(s->k->out, int32_t, n + 1);

    if (!other || !first)
        return clv_fail_nomem(err, "the edges of a strategy problem");
    for (int pass = 0; pass < 2; pass++) {
        piece *to = pass ? s->piece : other, *from = pass ? other : s->piece;

        memset(first, 0, (size_t)(n + 1) * sizeof *first);
        for (int32_t i = 0; i < s->n_pieces; i++)
            first[(pass ? from[i].a : from[i].b) + 1]++;
        for (int32_t v = 0; v < n; v++)
            first[v + 1] += first[v];
        for (int32_t i = 0; i < s->n_pieces; i++)
            to[first[pass ? from[i].a : from[i].b]++] = from[i];
    }
    return CLV_OK;
}

static void add_piece(edges *s, const piece *x, int32_t n_a, int32_t n_b, bool first)
{
    int64_t *to = s->scratch;

    for (int32_t i = 0; i < n_a; i++) {
        const int64_t *row = x->m + x->row * x->map_a[i];

        for (int32_t j = 0; j < n_b; j++, to++)
            *to = clv_pre_add(first ? 0 : *to, row[x->column * x->map_b[j]], &s->k->big);
    }
}

/* Takes the least finite cost of a row or column out of it; never where all are never. */
static void take_least(edges *s, int64_t *at, int32_t n, int64_t stride, int32_t node,
                       int32_t choice)
{
    int64_t least = CLV_STRATEGY_NEVER;

    for (int32_t i = 0; i < n; i++)
        if (at[i * stride] < least)
            least = at[i * stride];
    if (!least)
        return;
    clv_packing_charge(s->k, node, choice, least);
    for (int32_t i = 0; i < n; i++)
        if (least == CLV_STRATEGY_NEVER)
            at[i * stride] = 0; /* the node's cost is never: that says it all */
        else if (at[i * stride] < CLV_STRATEGY_NEVER)
            at[i * stride] -= least;
}

/* False: nothing is left of the matrix. */
static bool settle(edges *s, int32_t a, int32_t b)
{
    int32_t n_a = n_choices(s, a), n_b = n_choices(s, b);
    int64_t any = 0;

    for (int32_t i = 0; i < n_a; i++)
        take_least(s, s->scratch + (int64_t)i * n_b, n_b, 1, a, i);
    for (int32_t j = 0; j < n_b; j++)
        take_least(s, s->scratch + j, n_a, n_b, b, j);
    for (int64_t i = 0; i < (int64_t)n_a * n_b; i++)
        any |= s->scratch[i];
    return any != 0;
}

static bool put_edge(edges *s, int32_t n, const int32_t *end, int32_t matrix)
{
    int32_t *first = s->first_end;

    if (!CLV_PUSH_ROOM(s->k->out, s->matrix_of, s->n_edges, s->cap_matrix))
        return false;
    for (int32_t i = 0; i < n; i++) {
        if (!CLV_PUSH_ROOM(s->k->out, s->end, first[s->n_edges] + i, s->cap_end))
            return false;
        s->end[first[s->n_edges] + i] = end[i];
    }
    first[s->n_edges + 1] = first[s->n_edges] + n;
    s->matrix_of[s->n_edges++] = matrix;
    return true;
}

/* The pieces of one pair of nodes become an edge, or none. */
static bool join(edges *s, const piece *x, int32_t n)
{
    int32_t end[2] = { x->a, x->b }, n_a = n_choices(s, x->a), n_b = n_choices(s, x->b);
    int32_t plain = n == 1 ? x->plain : -1, m;

    if (plain >= 0 && s->known[plain] != NOT_YET)
        return put_edge(s, 2, end, s->known[plain]);
    for (int32_t i = 0; i < n; i++)
        add_piece(s, x + i, n_a, n_b, i == 0);
    /* A plain matrix went through this before: nothing can be taken out of it. */
    if (plain < 0 && !settle(s, x->a, x->b))
        return true;
    if (!clv_pre_matrices_put(&s->set, (int64_t)n_a * n_b, n_a, s->scratch, &m))
        return false;
    if (plain >= 0)
        s->known[plain] = m;
    return put_edge(s, 2, end, m);
}

static clv_status join_all(edges *s, clv_error *err)
{
    int64_t most = 1;

    for (int32_t i = 0; i < s->n_pieces; i++) {
        int64_t size = (int64_t)n_choices(s, s->piece[i].a) * n_choices(s, s->piece[i].b);

        most = size > most ? size : most;
    }
    s->scratch = CLV_NEW_ARRAY(s->k->out, int64_t, most);
    if (!s->scratch)
        return clv_fail_nomem(err, "the edges of a strategy problem");
    for (int32_t i = 0, j; i < s->n_pieces; i = j) {
        for (j = i + 1;
             j < s->n_pieces && s->piece[j].a == s->piece[i].a && s->piece[j].b == s->piece[i].b;)
            j++;
        if (!join(s, s->piece + i, j - i))
            return clv_fail_nomem(err, "the edges of a strategy problem");
    }
    for (int32_t i = 0; i < s->n_knots; i++)
        if (!put_edge(s, s->knot[i].n, s->knot[i].end, s->knot[i].matrix))
            return clv_fail_nomem(err, "the edges of a strategy problem");
    return CLV_OK;
}

static clv_status start(edges *s, int32_t **same, clv_error *err)
{
    const clv_strategies *p = &s->k->old->p;
    int32_t most = 0;

    for (int32_t v = 0; v < s->k->w->p.n_nodes; v++)
        most = n_choices(s, v) > most ? n_choices(s, v) : most;
    *same = CLV_NEW_ARRAY(s->k->out, int32_t, most);
    s->known = CLV_NEW_ARRAY(s->k->out, int32_t, p->n_matrices);
    s->first_end = CLV_NEW_ARRAY(s->k->out, int32_t, p->n_edges + 1);
    if (!*same || !s->known || !s->first_end || !clv_pre_matrices_new(&s->set, s->k->out))
        return clv_fail_nomem(err, "the edges of a strategy problem");
    for (int32_t i = 0; i < most; i++)
        (*same)[i] = i;
    for (int32_t m = 0; m < p->n_matrices; m++)
        s->known[m] = NOT_YET;
    return CLV_OK;
}

clv_status clv_pack_edges(clv_packing *k, clv_error *err)
{
    const clv_strategies *p = &k->old->p;
    clv_strategies *q = &k->w->p;
    edges s = { .k = k };
    int32_t *same;

    CLV_TRY(start(&s, &same, err));
    for (int32_t e = 0; e < p->n_edges; e++)
        CLV_TRY(p->first_end[e + 1] - p->first_end[e] == 2 ? take_pair(&s, e, err)
                                                           : take_odd(&s, e, same, err));
    CLV_TRY(sort_pieces(&s, err));
    CLV_TRY(join_all(&s, err));
    q->n_edges = s.n_edges;
    q->n_matrices = s.set.n;
    q->first_end = s.first_end;
    q->end = s.end;
    q->matrix_of = s.matrix_of;
    q->first_entry = s.set.first;
    q->entry = s.set.entry;
    k->w->rows_of = s.set.rows_of;
    return CLV_OK;
}
