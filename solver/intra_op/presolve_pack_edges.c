/* presolve_pack_edges.c - see presolve_pack_edges.h. */
#include "solver/intra_op/presolve_pack_edges.h"

#include <string.h>

#include "solver/intra_op/presolve_pack_sums.h"

/* An old edge that still joins three or more. */
typedef struct {
    int32_t n;
    const int32_t *end;
    int32_t matrix;
} knot;

typedef struct {
    clv_packing *k;
    clv_pack_sums sums;
    clv_pack_part *part;
    int32_t n_parts, cap_parts;
    knot *knot;
    int32_t n_knots, cap_knots;
    int32_t *map; /* by old node: number of its map, if it is not gone */
    int32_t *first_end, *end, *matrix_of;
    int32_t n_edges, cap_end, cap_matrix;
} edges;

static int32_t n_choices(const edges *s, int32_t v)
{
    return clv_intra_op_n_choices(&s->k->w->p, v);
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
    const clv_intra_op_problem *p = &s->k->old->p;
    int64_t at = 0;

    for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++) {
        int32_t v = p->end[i], to = s->k->number[s->k->fold->into[v]];
        int32_t d = to < 0 ? 0 : digit[place_of(all, n, to)];

        at = at * clv_intra_op_n_choices(p, v) + s->k->fold->map[v][d];
    }
    return s->k->old->set->of[p->matrix_of[e]].entry[at];
}

static clv_status reduce(edges *s, int32_t e, reduced *ret, clv_error *err)
{
    const clv_intra_op_problem *p = &s->k->old->p;
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

static clv_status add_part(edges *s, clv_pack_part x, clv_error *err)
{
    if (x.a > x.b)
        x = (clv_pack_part){ .a = x.b,
                             .b = x.a,
                             .matrix = x.matrix,
                             .turned = true,
                             .map_a = x.map_b,
                             .map_b = x.map_a };
    if (!CLV_PUSH_ROOM(s->k->out, s->part, s->n_parts, s->cap_parts))
        return clv_fail_nomem(err, "the edges of a strategy problem");
    s->part[s->n_parts++] = x;
    return CLV_OK;
}

/* Edges of one node and of three or more; rare. */
static clv_status add_other_edge(edges *s, int32_t e, clv_error *err)
{
    int32_t matrix;
    reduced r;

    CLV_TRY(reduce(s, e, &r, err));
    if (r.n <= 1) {
        for (int64_t i = 0; i < r.n_entries; i++)
            clv_packing_add_cost(s->k, r.n ? r.all[0] : -1, (int32_t)i, r.entry[i]);
        clv_packing_mark_fresh(s->k, r.n ? r.all[0] : -1);
        return CLV_OK;
    }
    if (!clv_pre_matrices_intern(s->k->old->set, r.n_entries, n_choices(s, r.all[0]), r.entry,
                                 &matrix))
        return clv_fail_nomem(err, "the edges of a strategy problem");
    if (r.n == 2) {
        clv_packing_mark_fresh(s->k, r.all[0]);
        clv_packing_mark_fresh(s->k, r.all[1]);
        return add_part(s,
                        (clv_pack_part){ .a = r.all[0],
                                         .b = r.all[1],
                                         .matrix = matrix,
                                         .map_a = CLV_PACK_SAME,
                                         .map_b = CLV_PACK_SAME },
                        err);
    }
    if (!CLV_PUSH_ROOM(s->k->out, s->knot, s->n_knots, s->cap_knots))
        return clv_fail_nomem(err, "the edges of a strategy problem");
    s->knot[s->n_knots++] = (knot){ .n = r.n, .end = r.all, .matrix = matrix };
    return CLV_OK;
}

/* Edges of two nodes. */
static clv_status add_pair(edges *s, int32_t e, clv_error *err)
{
    const clv_intra_op_problem *p = &s->k->old->p;
    const clv_pre_fold *fold = s->k->fold;
    int32_t u = p->end[p->first_end[e]], v = p->end[p->first_end[e] + 1];
    int32_t a = s->k->number[fold->into[u]], b = s->k->number[fold->into[v]];
    int64_t row = clv_intra_op_n_choices(p, v);
    const int64_t *m = s->k->old->set->of[p->matrix_of[e]].entry;
    const int32_t *map_u = fold->map[u], *map_v = fold->map[v];

    if (a >= 0 && b >= 0 && a != b)
        return add_part(
            s,
            (clv_pack_part){
                .a = a, .b = b, .matrix = p->matrix_of[e], .map_a = s->map[u], .map_b = s->map[v] },
            err);
    if (a < 0 && b < 0) {
        clv_packing_add_cost(s->k, -1, 0, m[row * map_u[0] + map_v[0]]);
        return CLV_OK;
    }
    for (int32_t i = 0, n = n_choices(s, a < 0 ? b : a); i < n; i++)
        clv_packing_add_cost(s->k, a < 0 ? b : a, i,
                             m[row * map_u[a < 0 ? 0 : i] + map_v[b < 0 ? 0 : i]]);
    clv_packing_mark_fresh(s->k, a < 0 ? b : a);
    return CLV_OK;
}

/* Pieces by a and b, those of the same nodes in the order of the edges. */
static clv_status sort_parts(edges *s, clv_error *err)
{
    int32_t n = s->k->w->p.n_nodes;
    clv_pack_part *other = CLV_NEW_ARRAY(s->k->out, clv_pack_part, s->n_parts);
    int32_t *first = CLV_NEW_ARRAY(s->k->out, int32_t, n + 1);

    if (!other || !first)
        return clv_fail_nomem(err, "the edges of a strategy problem");
    for (int pass = 0; pass < 2; pass++) {
        clv_pack_part *to = pass ? s->part : other, *from = pass ? other : s->part;

        memset(first, 0, (size_t)(n + 1) * sizeof *first);
        for (int32_t i = 0; i < s->n_parts; i++)
            first[(pass ? from[i].a : from[i].b) + 1]++;
        for (int32_t v = 0; v < n; v++)
            first[v + 1] += first[v];
        for (int32_t i = 0; i < s->n_parts; i++)
            to[first[pass ? from[i].a : from[i].b]++] = from[i];
    }
    return CLV_OK;
}

static bool add_edge(edges *s, int32_t n, const int32_t *end, int32_t matrix)
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

/* The parts of one pair of nodes become an edge, or none. */
static bool merge_parts(edges *s, const clv_pack_part *x, int32_t n)
{
    int32_t end[2] = { x->a, x->b }, n_a = n_choices(s, x->a), n_b = n_choices(s, x->b);
    const clv_pack_sum *sum;
    bool a_same = x->map_a == CLV_PACK_SAME, b_same = x->map_b == CLV_PACK_SAME, as_before;

    if (n == 1 && !x->turned && a_same && b_same && s->k->old->set->of[x->matrix].settled)
        return add_edge(s, 2, end, x->matrix);
    sum = clv_pack_sum_of(&s->sums, x, n, n_a, n_b);
    if (!sum)
        return false;
    /* An edge that only lost choices of one end says something new of the other end alone: what
     * choices of one node that are left cost more than each other is as before. Asked only now, as
     * the sum may have found the matrix settled. */
    as_before = n == 1 && !x->turned && s->k->old->set->of[x->matrix].settled;
    if (!as_before || !b_same)
        clv_packing_mark_fresh(s->k, x->a);
    if (!as_before || !a_same)
        clv_packing_mark_fresh(s->k, x->b);
    for (int32_t i = 0; i < n_a; i++)
        if (sum->rows[i])
            clv_packing_add_cost(s->k, x->a, i, sum->rows[i]);
    for (int32_t j = 0; j < n_b; j++)
        if (sum->columns[j])
            clv_packing_add_cost(s->k, x->b, j, sum->columns[j]);
    return sum->matrix < 0 || add_edge(s, 2, end, sum->matrix);
}

static clv_status merge_all(edges *s, clv_error *err)
{
    for (int32_t i = 0, j; i < s->n_parts; i = j) {
        for (j = i + 1;
             j < s->n_parts && s->part[j].a == s->part[i].a && s->part[j].b == s->part[i].b;)
            j++;
        if (!merge_parts(s, s->part + i, j - i))
            return clv_fail_nomem(err, "the edges of a strategy problem");
    }
    s->k->big = s->k->big || s->sums.big;
    for (int32_t i = 0; i < s->n_knots; i++)
        if (!add_edge(s, s->knot[i].n, s->knot[i].end, s->knot[i].matrix))
            return clv_fail_nomem(err, "the edges of a strategy problem");
    return CLV_OK;
}

static clv_status number_maps(edges *s, clv_error *err)
{
    const clv_intra_op_problem *p = &s->k->old->p;
    const clv_pre_fold *fold = s->k->fold;

    s->map = CLV_NEW_ARRAY(s->k->out, int32_t, p->n_nodes);
    s->first_end = CLV_NEW_ARRAY(s->k->out, int32_t, p->n_edges + 1);
    if (!s->map || !s->first_end || !clv_pack_sums_new(&s->sums, s->k->old->set, s->k->out))
        return clv_fail_nomem(err, "the edges of a strategy problem");
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t n = fold->n_new[fold->into[v]], n_old = clv_intra_op_n_choices(p, v);
        /* The choices left are in order. */
        bool same = fold->into[v] == v && n == n_old && (n == 0 || fold->map[v][n - 1] == n - 1);

        s->map[v] = CLV_PACK_SAME;
        if (n > 1 && !same && !clv_pack_map_intern(&s->sums, fold->map[v], n, &s->map[v]))
            return clv_fail_nomem(err, "the edges of a strategy problem");
    }
    return CLV_OK;
}

clv_status clv_pack_edges(clv_packing *k, clv_error *err)
{
    const clv_intra_op_problem *p = &k->old->p;
    clv_intra_op_problem *q = &k->w->p;
    edges s = { .k = k };

    CLV_TRY(number_maps(&s, err));
    for (int32_t e = 0; e < p->n_edges; e++)
        CLV_TRY(p->first_end[e + 1] - p->first_end[e] == 2 ? add_pair(&s, e, err)
                                                           : add_other_edge(&s, e, err));
    CLV_TRY(sort_parts(&s, err));
    CLV_TRY(merge_all(&s, err));
    CLV_TRY(clv_pre_matrices_tidy(k->old->set, s.n_edges, s.matrix_of, err));
    q->n_edges = s.n_edges;
    q->first_end = s.first_end;
    q->end = s.end;
    q->matrix_of = s.matrix_of;
    return CLV_OK;
}
