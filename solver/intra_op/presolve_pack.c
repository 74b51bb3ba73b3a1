/* presolve_pack.c - the next problem, from what a pass decided about this one. */
#include "solver/intra_op/presolve_pack.h"

#include <string.h>

#include "solver/intra_op/presolve_pack_edges.h"
#include "solver/intra_op/presolve_pack_spans.h"

static clv_status number_nodes(clv_packing *k, clv_error *err)
{
    const clv_intra_op_problem *p = &k->old->p;
    clv_intra_op_problem *q = &k->w->p;
    int32_t *first = CLV_NEW_ARRAY(k->out, int32_t, p->n_nodes + 1);

    k->number = CLV_NEW_ARRAY(k->out, int32_t, p->n_nodes);
    if (!k->number || !first)
        return clv_fail_nomem(err, "a smaller strategy problem");
    for (int32_t v = 0; v < p->n_nodes; v++) {
        k->number[v] = k->fold->n_new[v] ? CLV_PRE_FIXED : CLV_PRE_GONE;
        if (k->fold->into[v] != v || k->fold->n_new[v] <= 1)
            continue;
        first[q->n_nodes + 1] = first[q->n_nodes] + k->fold->n_new[v];
        k->number[v] = q->n_nodes++;
    }
    q->first_choice = first;
    k->cost = CLV_NEW_ARRAY(k->out, int64_t, first[q->n_nodes]);
    q->cost = k->cost;
    k->w->fresh = k->fresh = CLV_NEW_ARRAY(k->out, bool, q->n_nodes);
    if (!k->cost || !k->fresh)
        return clv_fail_nomem(err, "a smaller strategy problem");
    for (int32_t v = 0; v < p->n_nodes; v++)
        if (k->fold->into[v] != v || !k->old->fresh || k->old->fresh[v])
            clv_packing_mark_fresh(k, k->number[k->fold->into[v]]);
    return CLV_OK;
}

static void add_costs(clv_packing *k)
{
    const clv_intra_op_problem *p = &k->old->p;

    /* First what the nodes that stay have themselves, which comes to nothing more. */
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int64_t *to = k->number[v] < 0 ? NULL : k->cost + k->w->p.first_choice[k->number[v]];
        const int64_t *from = p->cost + p->first_choice[v];

        for (int32_t c = 0; to && c < k->fold->n_new[v]; c++) {
            int64_t cost = from[k->fold->map[v][c]];

            to[c] = cost < CLV_INTRA_OP_NEVER ? cost : CLV_INTRA_OP_NEVER;
        }
    }
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t r = k->fold->into[v];

        for (int32_t c = 0; (r != v || k->number[v] < 0) && c < k->fold->n_new[r]; c++)
            clv_packing_add_cost(k, k->number[r], c,
                                 p->cost[p->first_choice[v] + k->fold->map[v][c]]);
    }
}

/* The least cost of each node goes to the base. */
static void move_least_to_base(clv_packing *k)
{
    const clv_intra_op_problem *q = &k->w->p;

    for (int32_t v = 0; v < q->n_nodes; v++)
        k->w->base +=
            clv_pre_take_least(k->cost + q->first_choice[v], clv_intra_op_n_choices(q, v));
}

/* v keeps its first choices: those left are in order. */
static bool keeps_first(const clv_pre_fold *fold, int32_t v)
{
    int32_t n = fold->n_new[v];

    return fold->into[v] == v && n > 0 && fold->map[v][n - 1] == n - 1;
}

/* The maps of all nodes, one after the other; those of nodes that keep their first choices are all
 * the start of the first. */
static int32_t *make_maps(const clv_packing *k, clv_arena *keep, int64_t *at)
{
    const clv_pre_fold *fold = k->fold;
    int32_t n = k->old->p.n_nodes, same = 0, *map;
    int64_t total = 0;

    for (int32_t v = 0; v < n; v++) {
        int32_t more = fold->n_new[fold->into[v]];

        if (keeps_first(fold, v))
            same = more > same ? more : same;
        else
            total += more;
    }
    map = CLV_NEW_ARRAY(keep, int32_t, same + total);
    for (int32_t i = 0; map && i < same; i++)
        map[i] = i;
    total = same;
    for (int32_t v = 0; map && v < n; v++) {
        int32_t more = fold->n_new[fold->into[v]];

        if (keeps_first(fold, v))
            continue;
        at[v] = total;
        if (more)
            memcpy(map + total, fold->map[v], (size_t)more * sizeof *map);
        total += more;
    }
    return map;
}

static clv_status make_layer(const clv_packing *k, clv_arena *keep, clv_pre_layer **ret,
                             clv_error *err)
{
    int32_t n = k->old->p.n_nodes;
    clv_pre_layer *l = CLV_NEW(keep, clv_pre_layer);
    int32_t *into = CLV_NEW_ARRAY(keep, int32_t, n), *map;
    int64_t *at = CLV_NEW_ARRAY(keep, int64_t, n);
    clv_pre_eliminated *gone = CLV_NEW_ARRAY(keep, clv_pre_eliminated, k->fold->n_gone);

    map = at ? make_maps(k, keep, at) : NULL;
    if (!l || !into || !at || !gone || !map)
        return clv_fail_nomem(err, "a smaller strategy problem");
    for (int32_t v = 0; v < n; v++)
        into[v] = k->number[k->fold->into[v]];
    if (k->fold->n_gone)
        memcpy(gone, k->fold->gone, (size_t)k->fold->n_gone * sizeof *gone);
    *l = (clv_pre_layer){
        .n_old = n, .into = into, .at = at, .map = map, .n_gone = k->fold->n_gone, .gone = gone
    };
    *ret = l;
    return CLV_OK;
}

clv_status clv_pre_pack(const clv_pre_problem *w, const clv_pre_fold *fold, clv_arena *out,
                        clv_arena *keep, clv_pre_problem *ret, clv_error *err)
{
    clv_pre_problem made = { .base = w->base, .set = w->set };
    clv_packing k = { .old = w, .fold = fold, .out = out, .w = &made };

    made.p.name = w->p.name;
    made.p.usage_limit = w->p.usage_limit;
    CLV_TRY(number_nodes(&k, err));
    add_costs(&k);
    CLV_TRY(clv_pack_edges(&k, err));
    move_least_to_base(&k);
    CLV_TRY(clv_pack_spans(&k, err));
    CLV_TRY(make_layer(&k, keep, &made.layer, err));
    made.trouble = k.never ? CLV_PRE_NEVER : k.big ? CLV_PRE_BIG : CLV_PRE_FINE;
    *ret = made;
    return CLV_OK;
}
