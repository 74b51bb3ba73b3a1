/* breakout.c - see breakout.h. */
#include "solver/intra_op/breakout.h"

#include <math.h>
#include <string.h>

enum { SWEEPS_AFTER = 3 }; /* without a never, to get cheaper */

typedef struct {
    const clv_intra_op_problem *p;
    int32_t n_rows;
    clv_int128 *room;    /* by row */
    int32_t *first_edge; /* by node, into edge */
    int32_t *edge;
    double *weight; /* by edge: how much a never of it costs, in `never` */
    double never;   /* more than all else together */
    double *sum;    /* by choice of one node */
    int32_t *choice;
} breakout;

static void add_usage(breakout *f, int32_t v, int sign)
{
    const clv_intra_op_problem *p = f->p;

    for (int32_t i = p->first_span[v]; f->n_rows && i < p->first_span[v + 1]; i++) {
        clv_int128 u = p->usage[p->span_usage[i] + f->choice[v]];

        for (int64_t r = p->span_lo[i]; r < p->span_hi[i]; r++)
            f->room[r] -= sign * u;
    }
}

static bool fits(const breakout *f, int32_t v, int32_t c)
{
    const clv_intra_op_problem *p = f->p;

    for (int32_t i = p->first_span[v]; f->n_rows && i < p->first_span[v + 1]; i++) {
        int64_t u = p->usage[p->span_usage[i] + c];

        for (int64_t r = p->span_lo[i]; u && r < p->span_hi[i]; r++)
            if (f->room[r] < u)
                return false;
    }
    return true;
}

/* Adds what edge e costs by choice of v, the others as they are. */
static void add_edge(breakout *f, int32_t e, int32_t v)
{
    const clv_intra_op_problem *p = f->p;
    int64_t at = 0, stride = 0;

    for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++) {
        int32_t w = p->end[i], n = clv_intra_op_n_choices(p, w);

        stride = w == v ? 1 : stride * n;
        at = at * n + (w == v ? 0 : f->choice[w]);
    }
    at += p->first_entry[p->matrix_of[e]];
    for (int32_t c = 0; c < clv_intra_op_n_choices(p, v); c++) {
        int64_t x = p->entry[at + c * stride];

        f->sum[c] += x >= CLV_INTRA_OP_NEVER ? f->never * f->weight[e] : (double)x;
    }
}

static void choose_cheapest(breakout *f, int32_t v)
{
    const clv_intra_op_problem *p = f->p;
    int32_t n = clv_intra_op_n_choices(p, v), best = -1;

    if (n == 1)
        return;
    add_usage(f, v, -1);
    for (int32_t c = 0; c < n; c++) {
        int64_t x = p->cost[p->first_choice[v] + c];

        f->sum[c] = x >= CLV_INTRA_OP_NEVER ? f->never : (double)x;
    }
    for (int32_t i = f->first_edge[v]; i < f->first_edge[v + 1]; i++)
        add_edge(f, f->edge[i], v);
    for (int32_t c = 0; c < n; c++)
        if ((best < 0 || f->sum[c] < f->sum[best]) && fits(f, v, c))
            best = c;
    f->choice[v] = best < 0 ? f->choice[v] : best;
    add_usage(f, v, 1);
}

/* The nevers of the solution; their edges get dearer. */
static int32_t raise_weights(breakout *f, clv_int128 *cost)
{
    const clv_intra_op_problem *p = f->p;
    int32_t n = 0;

    *cost = 0;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        *cost += p->cost[p->first_choice[v] + f->choice[v]];
        n += p->cost[p->first_choice[v] + f->choice[v]] >= CLV_INTRA_OP_NEVER;
    }
    for (int32_t e = 0; e < p->n_edges; e++) {
        int64_t at = 0;

        for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++)
            at = at * clv_intra_op_n_choices(p, p->end[i]) + f->choice[p->end[i]];
        at = p->entry[p->first_entry[p->matrix_of[e]] + at];
        *cost += at;
        if (at >= CLV_INTRA_OP_NEVER) {
            f->weight[e]++;
            n++;
        }
    }
    return n;
}

/* What holds least, all spans together. */
static void choose_least_memory(breakout *f)
{
    const clv_intra_op_problem *p = f->p;

    for (int32_t v = 0; v < p->n_nodes; v++) {
        double least = INFINITY;

        f->choice[v] = 0;
        for (int32_t c = 0; c < clv_intra_op_n_choices(p, v); c++) {
            double sum = 0;

            for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++)
                sum += (double)p->usage[p->span_usage[i] + c] *
                       (double)(p->span_hi[i] - p->span_lo[i]);
            if (sum < least) {
                least = sum;
                f->choice[v] = c;
            }
        }
        add_usage(f, v, 1);
    }
}

static clv_status prepare(breakout *f, clv_arena *arena, clv_error *err)
{
    const clv_intra_op_problem *p = f->p;
    int32_t most = 1;

    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t n = clv_intra_op_n_choices(p, v);

        most = n > most ? n : most;
        for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++)
            if (p->usage_limit >= 0 && p->span_hi[i] > f->n_rows)
                f->n_rows = (int32_t)p->span_hi[i];
    }
    f->room = CLV_NEW_ARRAY(arena, clv_int128, f->n_rows);
    f->first_edge = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes + 2);
    f->edge = CLV_NEW_ARRAY(arena, int32_t, p->first_end[p->n_edges]);
    f->weight = CLV_NEW_ARRAY(arena, double, p->n_edges);
    f->sum = CLV_NEW_ARRAY(arena, double, most);
    f->choice = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    if (!f->room || !f->first_edge || !f->edge || !f->weight || !f->sum || !f->choice)
        return clv_fail_nomem(err, "a first solution");
    for (int32_t r = 0; r < f->n_rows; r++)
        f->room[r] = p->usage_limit;
    for (int32_t i = 0; i < p->first_end[p->n_edges]; i++)
        f->first_edge[p->end[i] + 2]++;
    for (int32_t v = 0; v < p->n_nodes; v++)
        f->first_edge[v + 2] += f->first_edge[v + 1];
    f->never = 1;
    for (int32_t e = 0; e < p->n_edges; e++) {
        f->weight[e] = 1;
        for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++)
            f->edge[f->first_edge[p->end[i] + 1]++] = e;
    }
    for (int64_t i = 0; i < p->first_entry[p->n_matrices]; i++)
        if (p->entry[i] < CLV_INTRA_OP_NEVER && (double)p->entry[i] > f->never)
            f->never = (double)p->entry[i];
    for (int32_t c = 0; c < p->first_choice[p->n_nodes]; c++)
        if (p->cost[c] < CLV_INTRA_OP_NEVER && (double)p->cost[c] > f->never)
            f->never = (double)p->cost[c];
    return CLV_OK;
}

static clv_status sweep_all(breakout *f, int32_t sweeps, const clv_limits *halt, clv_arena *arena,
                            int32_t *choice, clv_error *err)
{
    const clv_intra_op_problem *p = f->p;
    size_t size = (size_t)p->n_nodes * sizeof *choice;
    clv_int128 cost, best_cost;
    int32_t fewest, clean = 0;

    CLV_TRY(prepare(f, arena, err));
    if (!p->n_nodes)
        return CLV_OK;
    choose_least_memory(f);
    memcpy(choice, f->choice, size);
    fewest = raise_weights(f, &best_cost);
    for (int32_t i = 0; i < sweeps && clean < SWEEPS_AFTER && !(halt && clv_limits_over(halt));
         i++) {
        int32_t n;

        for (int32_t k = 0; k < p->n_nodes; k++)
            choose_cheapest(f, i % 2 ? p->n_nodes - 1 - k : k);
        n = raise_weights(f, &cost);
        clean += !n;
        if (n > fewest || (n == fewest && cost >= best_cost))
            continue;
        fewest = n;
        best_cost = cost;
        memcpy(choice, f->choice, size);
    }
    return CLV_OK;
}

clv_status clv_intra_op_breakout(const clv_intra_op_problem *p, int32_t sweeps,
                                 const clv_limits *halt, clv_arena *arena, int32_t *choice,
                                 clv_error *err)
{
    breakout f = { .p = p };
    clv_arena *own = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_status status = own ? sweep_all(&f, sweeps, halt, own, choice, err)
                            : clv_fail_nomem(err, "a first solution");

    clv_arena_free(own);
    return status;
}
