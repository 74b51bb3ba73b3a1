/* presolve_arc_consistency.c - see presolve_arc_consistency.h. */
#include "solver/intra_op/presolve_arc_consistency.h"

typedef struct {
    const clv_intra_op_problem *p;
    const clv_pre_matrices *set;
    bool *alive;
    int32_t *first_edge, *edge; /* by node: its edges of two nodes that can say never */
    int32_t *queue;             /* a ring of all nodes */
    int32_t head, n_queue;
    bool *queued;
} arcs;

static void enqueue(arcs *a, int32_t v)
{
    if (a->queued[v])
        return;
    a->queued[v] = true;
    a->queue[(a->head + a->n_queue++) % a->p->n_nodes] = v;
}

static bool has_partner(const arcs *a, const int64_t *row, int64_t stride, int32_t other)
{
    const bool *alive = a->alive + a->p->first_choice[other];

    for (int32_t j = 0, n = clv_intra_op_n_choices(a->p, other); j < n; j++)
        if (alive[j] && row[stride * j] < CLV_INTRA_OP_NEVER)
            return true;
    return false;
}

/* Drops the choices of v that have no partner in `other` over edge e. */
static void revise(arcs *a, int32_t e, int32_t v, int32_t other)
{
    const clv_intra_op_problem *p = a->p;
    bool v_first = p->end[p->first_end[e]] == v;
    int64_t row = v_first ? clv_intra_op_n_choices(p, other) : 1;
    int64_t column = v_first ? 1 : clv_intra_op_n_choices(p, v);
    const int64_t *m = a->set->of[p->matrix_of[e]].entry;
    bool *alive = a->alive + p->first_choice[v];

    for (int32_t c = 0, n = clv_intra_op_n_choices(p, v); c < n; c++)
        if (alive[c] && !has_partner(a, m + row * c, column, other)) {
            alive[c] = false;
            enqueue(a, v);
        }
}

static void propagate(arcs *a)
{
    const clv_intra_op_problem *p = a->p;

    while (a->n_queue) {
        int32_t v = a->queue[a->head];

        a->head = (a->head + 1) % p->n_nodes;
        a->n_queue--;
        a->queued[v] = false;
        for (int32_t i = a->first_edge[v]; i < a->first_edge[v + 1]; i++) {
            const int32_t *end = p->end + p->first_end[a->edge[i]];

            revise(a, a->edge[i], end[0] == v ? end[1] : end[0], v);
        }
    }
}

static bool says_never(const arcs *a, int32_t e)
{
    return a->p->first_end[e + 1] - a->p->first_end[e] == 2 && a->set->of[a->p->matrix_of[e]].never;
}

static clv_status find_edges(arcs *a, clv_arena *arena, clv_error *err)
{
    const clv_intra_op_problem *p = a->p;

    a->first_edge = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes + 2);
    a->edge = CLV_NEW_ARRAY(arena, int32_t, p->first_end[p->n_edges]);
    if (!a->first_edge || !a->edge)
        return clv_fail_nomem(err, "the choices of a strategy problem");
    for (int32_t e = 0; e < p->n_edges; e++)
        for (int32_t i = 0; says_never(a, e) && i < 2; i++)
            a->first_edge[p->end[p->first_end[e] + i] + 2]++;
    for (int32_t v = 0; v < p->n_nodes; v++)
        a->first_edge[v + 2] += a->first_edge[v + 1];
    for (int32_t e = 0; e < p->n_edges; e++)
        for (int32_t i = 0; says_never(a, e) && i < 2; i++)
            a->edge[a->first_edge[p->end[p->first_end[e] + i] + 1]++] = e;
    return CLV_OK;
}

/* least[level][r]: the least room of rows r .. r + 2^level - 1. */
typedef struct {
    int64_t **least;
} rooms;

static clv_status new_rooms(const clv_pre_problem *w, clv_arena *arena, rooms *ret, clv_error *err)
{
    int32_t levels = 1, n = w->n_rows;

    while (1 << levels <= n)
        levels++;
    ret->least = CLV_NEW_ARRAY(arena, int64_t *, levels);
    for (int32_t k = 0; ret->least && k < levels; k++) {
        int64_t *at = ret->least[k] = CLV_NEW_ARRAY(arena, int64_t, n);

        if (!at)
            return clv_fail_nomem(err, "the rows of a strategy problem");
        for (int32_t r = 0; r < n; r++) {
            int32_t half = k ? r + (1 << (k - 1)) : 0;

            if (k == 0)
                at[r] = w->p.usage_limit - w->held[r];
            else
                at[r] = ret->least[k - 1][r];
            if (k && half < n && ret->least[k - 1][half] < at[r])
                at[r] = ret->least[k - 1][half];
        }
    }
    return ret->least ? CLV_OK : clv_fail_nomem(err, "the rows of a strategy problem");
}

static int64_t room_of(const rooms *s, int32_t lo, int32_t hi)
{
    int32_t k = 0;
    int64_t a, b;

    while (2 << k <= hi - lo)
        k++;
    a = s->least[k][lo];
    b = s->least[k][hi - (1 << k)];
    return a < b ? a : b;
}

/* Choices with too much memory go; their nodes are queued. */
static clv_status drop_too_large(arcs *a, const clv_pre_problem *w, clv_arena *arena,
                                 clv_error *err)
{
    const clv_intra_op_problem *p = a->p;
    rooms left;

    if (!w->n_rows)
        return CLV_OK;
    CLV_TRY(new_rooms(w, arena, &left, err));
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++) {
            int64_t room = room_of(&left, (int32_t)p->span_lo[i], (int32_t)p->span_hi[i]);

            for (int32_t c = 0, n = clv_intra_op_n_choices(p, v); c < n; c++)
                if (p->usage[p->span_usage[i] + c] > room && a->alive[p->first_choice[v] + c]) {
                    a->alive[p->first_choice[v] + c] = false;
                    enqueue(a, v);
                }
        }
    return CLV_OK;
}

clv_status clv_pre_arc_consistency(const clv_pre_problem *w, clv_arena *arena, clv_pre_fold *fold,
                                   clv_error *err)
{
    const clv_intra_op_problem *p = &w->p;
    arcs a = { .p = p, .set = w->set };

    a.alive = CLV_NEW_ARRAY(arena, bool, p->first_choice[p->n_nodes]);
    a.queue = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    a.queued = CLV_NEW_ARRAY(arena, bool, p->n_nodes);
    if (!a.alive || !a.queue || !a.queued)
        return clv_fail_nomem(err, "the choices of a strategy problem");
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t c = p->first_choice[v]; c < p->first_choice[v + 1]; c++) {
            a.alive[c] = p->cost[c] < CLV_INTRA_OP_NEVER;
            if (!a.alive[c])
                enqueue(&a, v);
        }
    CLV_TRY(drop_too_large(&a, w, arena, err));
    if (a.n_queue) {
        CLV_TRY(find_edges(&a, arena, err));
        propagate(&a);
    }
    return clv_pre_fold_alive(w, a.alive, arena, fold, err);
}
