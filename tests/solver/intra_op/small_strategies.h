/* small_strategies.h - random strategy problems small enough to try every solution, and the plain
 * sums that solutions are held against. */
#ifndef TEST_SOLVER_INTRA_OP_SMALL_STRATEGIES_H
#define TEST_SOLVER_INTRA_OP_SMALL_STRATEGIES_H

#include <string.h>

#include "problem/intra_op_problem.h"
#include "solver/common/random.h"

enum {
    SMALL_NODES = 7,
    SMALL_CHOICES = 4,
    SMALL_EDGES = 16,
    SMALL_SPANS = 2 * SMALL_NODES,
    SMALL_ENTRIES = SMALL_EDGES * SMALL_CHOICES * SMALL_CHOICES * SMALL_CHOICES,
    SMALL_TIMES = 12,
};

typedef struct {
    clv_intra_op_problem p;
    int32_t first_choice[SMALL_NODES + 1], first_span[SMALL_NODES + 1];
    int64_t cost[SMALL_NODES * SMALL_CHOICES];
    int64_t span_lo[SMALL_SPANS], span_hi[SMALL_SPANS], span_usage[SMALL_SPANS];
    int64_t usage[SMALL_SPANS * SMALL_CHOICES];
    int32_t first_end[SMALL_EDGES + 1], end[SMALL_EDGES * 3], matrix_of[SMALL_EDGES];
    int64_t first_entry[SMALL_EDGES + 1], entry[SMALL_ENTRIES];
} small_strategies;

typedef struct {
    bool tree;   /* edges of two nodes that close no circle */
    bool memory; /* spans and a limit */
    bool odd;    /* edges of one and of three nodes */
    bool never;  /* costs of never, most of them in edges that tie choices to each other */
} small_kind;

static inline int32_t small_n(const small_strategies *s, int32_t v)
{
    return s->first_choice[v + 1] - s->first_choice[v];
}

static inline void small_nodes(small_strategies *s, uint64_t *rng, small_kind kind)
{
    clv_intra_op_problem *p = &s->p;
    int64_t n_usage = 0;
    int32_t n_spans = 0;

    p->n_nodes = 1 + clv_random_below(rng, SMALL_NODES);
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int32_t n = 1 + clv_random_below(rng, SMALL_CHOICES), at = clv_random_below(rng, 4);

        s->first_choice[v + 1] = s->first_choice[v] + n;
        for (int32_t c = 0; c < n; c++)
            s->cost[s->first_choice[v] + c] = kind.never && clv_random_below(rng, 30) == 0
                                                  ? CLV_INTRA_OP_NEVER
                                                  : clv_random_below(rng, 20);
        for (int k = 0; kind.memory && k < 2 && clv_random_below(rng, 4) > 0; k++) {
            s->span_lo[n_spans] = at;
            s->span_hi[n_spans] = at += 1 + clv_random_below(rng, 4);
            at += clv_random_below(rng, 2);
            s->span_usage[n_spans++] = n_usage;
            for (int32_t c = 0; c < n; c++)
                s->usage[n_usage++] = clv_random_below(rng, 8);
        }
        s->first_span[v + 1] = n_spans;
    }
}

/* A matrix over k nodes: plain, tying one to the other, constant, or a sum of a row and a column.
 */
static inline void small_matrix(small_strategies *s, uint64_t *rng, small_kind kind, int32_t e,
                                int64_t n, int32_t columns)
{
    int32_t form = clv_random_below(rng, 5), row = 0, most = 1 + clv_random_below(rng, 12);
    int32_t ties[SMALL_CHOICES];

    for (int32_t i = 0; i < SMALL_CHOICES; i++)
        ties[i] = clv_random_below(rng, columns);
    s->first_entry[e + 1] = s->first_entry[e] + n;
    for (int64_t i = 0; i < n; i++) {
        int64_t *x = &s->entry[s->first_entry[e] + i];
        int32_t column = (int32_t)(i % columns);

        row = (int32_t)(i / columns) % SMALL_CHOICES;
        *x = clv_random_below(rng, most);
        if (form == 1 && kind.never && ties[row] != column)
            *x = CLV_INTRA_OP_NEVER;
        else if (form == 2)
            *x = 3;
        else if (form == 3)
            *x = ties[row] + 2 * column;
        else if (kind.never && clv_random_below(rng, 12) == 0)
            *x = CLV_INTRA_OP_NEVER + clv_random_below(rng, 2);
    }
}

static inline void small_edges(small_strategies *s, uint64_t *rng, small_kind kind)
{
    clv_intra_op_problem *p = &s->p;
    int32_t want = kind.tree ? p->n_nodes - 1 : clv_random_below(rng, SMALL_EDGES);

    for (int32_t e = 0; e < want; e++) {
        int32_t k =
            kind.odd && clv_random_below(rng, 4) == 0 ? 1 + 2 * clv_random_below(rng, 2) : 2;
        int32_t first = kind.tree ? e + 1 : clv_random_below(rng, p->n_nodes);
        int32_t *end = s->end + s->first_end[p->n_edges];
        int64_t entries = 1;

        if (k > p->n_nodes)
            continue;
        for (int32_t i = 0; i < k; i++) {
            end[i] = (first + i) % p->n_nodes;
            if (kind.tree && i == 1)
                end[i] = clv_random_below(rng, first);
            entries *= small_n(s, end[i]);
        }
        if (!kind.tree && k == 2 && p->n_nodes > 2 && clv_random_below(rng, 2))
            end[1] = (first + 2) % p->n_nodes,
            entries = (int64_t)small_n(s, first) * small_n(s, end[1]);
        small_matrix(s, rng, kind, p->n_edges, entries, small_n(s, end[k - 1]));
        s->matrix_of[p->n_edges] = p->n_edges;
        s->first_end[p->n_edges + 1] = s->first_end[p->n_edges] + k;
        p->n_edges++;
    }
    p->n_matrices = p->n_edges;
}

static inline void small_strategies_make(small_strategies *s, uint64_t seed, small_kind kind)
{
    uint64_t rng = seed;

    memset(s, 0, sizeof *s);
    s->p = (clv_intra_op_problem){ .name = "small",
                                   .first_choice = s->first_choice,
                                   .cost = s->cost,
                                   .first_span = s->first_span,
                                   .span_lo = s->span_lo,
                                   .span_hi = s->span_hi,
                                   .span_usage = s->span_usage,
                                   .usage = s->usage,
                                   .first_end = s->first_end,
                                   .end = s->end,
                                   .matrix_of = s->matrix_of,
                                   .first_entry = s->first_entry,
                                   .entry = s->entry };
    small_nodes(s, &rng, kind);
    small_edges(s, &rng, kind);
    s->p.usage_limit = kind.memory && clv_random_below(&rng, 10)
                           ? 3 + clv_random_below(&rng, 4 * s->p.n_nodes)
                           : CLV_INTRA_OP_UNLIMITED;
}

/* The first matrix entry of edge e when its nodes choose so. */
static inline int64_t small_entry(const clv_intra_op_problem *p, int32_t e, const int32_t *choice)
{
    int64_t at = 0;

    for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++)
        at = at * clv_intra_op_n_choices(p, p->end[i]) + choice[p->end[i]];
    return p->entry[p->first_entry[p->matrix_of[e]] + at];
}

/* Within the limit at every beginning of a span. */
static inline bool small_fits(const clv_intra_op_problem *p, const int32_t *choice)
{
    int32_t n = p->first_span[p->n_nodes];

    for (int32_t t = 0; p->usage_limit != CLV_INTRA_OP_UNLIMITED && t < n; t++) {
        clv_int128 sum = 0;

        for (int32_t v = 0; v < p->n_nodes; v++)
            for (int32_t i = p->first_span[v]; i < p->first_span[v + 1]; i++)
                if (p->span_lo[i] <= p->span_lo[t] && p->span_lo[t] < p->span_hi[i])
                    sum += p->usage[p->span_usage[i] + choice[v]];
        if (sum > p->usage_limit)
            return false;
    }
    return true;
}

/* *nevers counts costs of never or more. */
static inline clv_int128 small_cost(const clv_intra_op_problem *p, const int32_t *choice,
                                    int32_t *nevers)
{
    clv_int128 sum = 0;

    *nevers = 0;
    for (int32_t v = 0; v < p->n_nodes; v++) {
        int64_t c = p->cost[p->first_choice[v] + choice[v]];

        sum += c;
        *nevers += c >= CLV_INTRA_OP_NEVER;
    }
    for (int32_t e = 0; e < p->n_edges; e++) {
        int64_t c = small_entry(p, e, choice);

        sum += c;
        *nevers += c >= CLV_INTRA_OP_NEVER;
    }
    return sum;
}

/* The next solution in order; false after the last. */
static inline bool small_next(const clv_intra_op_problem *p, int32_t *choice)
{
    for (int32_t v = p->n_nodes - 1; v >= 0; v--) {
        if (++choice[v] < clv_intra_op_n_choices(p, v))
            return true;
        choice[v] = 0;
    }
    return false;
}

/* The cheapest legal solution, those without nevers before all others; -1: none is legal. */
static inline clv_int128 small_best(const clv_intra_op_problem *p, int32_t *ret_nevers)
{
    int32_t choice[SMALL_NODES + 1] = { 0 }, nevers;
    clv_int128 best = -1;

    do {
        clv_int128 cost = small_cost(p, choice, &nevers);

        if (small_fits(p, choice) && (best < 0 || cost < best)) {
            best = cost;
            *ret_nevers = nevers;
        }
    } while (small_next(p, choice));
    return best;
}

#endif
