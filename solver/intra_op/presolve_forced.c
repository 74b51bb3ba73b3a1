/* presolve_forced.c - see presolve_forced.h. */
#include "solver/intra_op/presolve_forced.h"

typedef struct {
    const clv_intra_op_problem *p;
    clv_pre_fold *fold; /* into: parent; map: own choice by the parent's */
    bool *hyper;        /* by node: it has an edge of three or more */
    clv_pre_matrices *set;
    int32_t *path;
    clv_arena *arena;
} forcing;

/* The root of v; afterwards v and all on its way hang from the root. False: no memory. */
static bool find_root(forcing *f, int32_t v, int32_t *root)
{
    int32_t n = 0;

    while (f->fold->into[v] != v) {
        f->path[n++] = v;
        v = f->fold->into[v];
    }
    *root = v;
    /* The last of the path hangs from the root already. */
    for (int32_t i = n - 2; i >= 0; i--) {
        int32_t node = f->path[i], parent = f->path[i + 1];
        int32_t *map = CLV_NEW_ARRAY(f->arena, int32_t, clv_intra_op_n_choices(f->p, v));

        if (!map)
            return false;
        for (int32_t k = 0; k < clv_intra_op_n_choices(f->p, v); k++)
            map[k] = f->fold->map[node][f->fold->map[parent][k]];
        f->fold->map[node] = map;
        f->fold->into[node] = v;
    }
    return true;
}

/* An edge seen from one of its roots: entries by the roots' choices. */
typedef struct {
    const int64_t *m;
    int64_t row, column; /* strides of the one and of the other */
    const int32_t *map, *other_map;
    int32_t n, other_n;
} view;

/* Every choice of the one has a single partner in the other: ret[k] is it. */
static bool forces(const view *e, int32_t *ret)
{
    for (int32_t k = 0; k < e->n; k++) {
        const int64_t *row = e->m + e->row * e->map[k];
        int32_t found = 0;

        for (int32_t j = 0; j < e->other_n && found < 2; j++)
            if (row[e->column * e->other_map[j]] < CLV_INTRA_OP_NEVER) {
                found++;
                ret[k] = j;
            }
        if (found != 1)
            return false;
    }
    return true;
}

/* Hangs `child` from `root` where root's choice forces it. */
static bool make_child(forcing *f, int32_t root, int32_t child, const view *e, bool *ok)
{
    clv_mark mark = clv_arena_mark(f->arena);
    int32_t *map;

    if (f->hyper[child])
        return false;
    map = CLV_NEW_ARRAY(f->arena, int32_t, e->n);
    *ok = map != NULL;
    if (!map || !forces(e, map)) {
        clv_arena_rewind(f->arena, mark);
        return false;
    }
    f->fold->into[child] = root;
    f->fold->map[child] = map;
    f->fold->any = true;
    return true;
}

static bool force_edge(forcing *f, int32_t e)
{
    const clv_intra_op_problem *p = f->p;
    const int32_t *end = p->end + p->first_end[e];
    int32_t u = end[0], v = end[1], n_v = clv_intra_op_n_choices(p, v), a, b;
    int32_t m = p->matrix_of[e];
    bool ok = true;
    view there, back;

    if (!find_root(f, u, &a) || !find_root(f, v, &b))
        return false;
    if (a == b)
        return true;
    if (a == u && b == v && !clv_pre_matrix_forces(f->set, m, 0) &&
        !clv_pre_matrix_forces(f->set, m, 1))
        return true;
    there = (view){ .m = f->set->of[m].entry,
                    .row = n_v,
                    .column = 1,
                    .map = f->fold->map[u],
                    .other_map = f->fold->map[v],
                    .n = clv_intra_op_n_choices(p, a),
                    .other_n = clv_intra_op_n_choices(p, b) };
    back = (view){ .m = there.m,
                   .row = 1,
                   .column = n_v,
                   .map = there.other_map,
                   .other_map = there.map,
                   .n = there.other_n,
                   .other_n = there.n };
    if (!make_child(f, a, b, &there, &ok) && ok)
        make_child(f, b, a, &back, &ok);
    return ok;
}

clv_status clv_pre_forced(const clv_pre_problem *w, clv_arena *arena, clv_pre_fold *fold,
                          clv_error *err)
{
    const clv_intra_op_problem *p = &w->p;
    forcing f = { .p = p,
                  .fold = fold,
                  .hyper = CLV_NEW_ARRAY(arena, bool, p->n_nodes),
                  .set = w->set,
                  .path = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes),
                  .arena = arena };
    int32_t root;

    CLV_TRY(clv_pre_fold_new(w, arena, fold, err));
    if (!f.hyper || !f.path)
        return clv_fail_nomem(err, "merging nodes of a strategy problem");
    for (int32_t e = 0; e < p->n_edges; e++)
        for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++)
            f.hyper[p->end[i]] |= p->first_end[e + 1] - p->first_end[e] != 2;
    for (int32_t e = 0; e < p->n_edges; e++)
        if (p->first_end[e + 1] - p->first_end[e] == 2 && f.set->of[p->matrix_of[e]].never &&
            !force_edge(&f, e))
            return clv_fail_nomem(err, "merging nodes of a strategy problem");
    for (int32_t v = 0; v < p->n_nodes; v++)
        if (!find_root(&f, v, &root))
            return clv_fail_nomem(err, "merging nodes of a strategy problem");
    return CLV_OK;
}
