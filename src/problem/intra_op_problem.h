/* intra_op_problem.h - the intra-operator problem as numbers, and the only judge of its solutions.
 *
 * Each node takes one of its choices (the strategies of an operator). A choice costs by itself, and
 * every edge costs by what its nodes chose together. A node holds memory during its spans, how much
 * depends on its choice; at no moment may all nodes together hold more than the limit. The total
 * cost is to be as small as can be. This is the integer program of Alpa (Zheng et al. 2022) and of
 * XLA's automatic sharding, and the problem of the ASPLOS/EuroSys 2025 contest on intra-operator
 * parallelism (google/iopddl), where a node has one span at most; what presolve leaves of a problem
 * is such a problem again, with several spans a node. Knows no file and no model.
 */
#ifndef CLV_PROBLEM_INTRA_OP_PROBLEM_H
#define CLV_PROBLEM_INTRA_OP_PROBLEM_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/int128.h"

/* A cost from here on stands for "never": the judge adds it like any other, solvers avoid it. */
#define CLV_INTRA_OP_NEVER     INT64_C(1000000000000000000)

#define CLV_INTRA_OP_UNLIMITED (-1)

/* Read-only once built: any thread may read it. Costs and usages are not negative. */
typedef struct {
    const char *name;
    int32_t n_nodes, n_edges, n_matrices;
    int64_t usage_limit;         /* in the problem's unit; CLV_INTRA_OP_UNLIMITED */
    const int32_t *first_choice; /* n_nodes + 1: choices are numbered node by node; each has one */
    const int64_t *cost;         /* by choice */
    const int32_t *first_span;   /* n_nodes + 1 */
    const int64_t *span_lo;    /* by span: it lasts while span_lo <= time < span_hi; no span of a */
    const int64_t *span_hi;    /* node is empty, and no two of them meet */
    const int64_t *span_usage; /* by span: index into usage of the node's first choice */
    const int64_t *usage;      /* [span_usage[span] + choice within the node] */
    const int32_t *first_end;  /* n_edges + 1, into end */
    const int32_t *end;        /* nodes of an edge, all different; mostly two */
    const int32_t *matrix_of; /* by edge; equal matrices of one shape are kept once, so edges of one
                               * matrix have the same numbers of choices in the same order */
    const int64_t *first_entry; /* n_matrices + 1, into entry */
    const int64_t *entry;       /* row-major over the nodes of the edge, the last varies fastest */
} clv_intra_op_problem;

typedef struct {
    bool legal;
    char why[160];   /* not legal: the first rule broken, in words */
    clv_int128 cost; /* node and edge costs; nevers counted as they stand */
    int64_t nevers;  /* costs among them of CLV_INTRA_OP_NEVER or more */
    clv_int128 peak; /* the most memory held at a moment; 0 without spans */
    int64_t peak_at; /* the first such moment */
} clv_intra_op_value;

/* How many choices a node has. */
static inline int32_t clv_intra_op_n_choices(const clv_intra_op_problem *p, int32_t node)
{
    return p->first_choice[node + 1] - p->first_choice[node];
}

/* What a solution costs, nevers counted as they stand. Every choice must exist. O(nodes + edges).
 */
clv_int128 clv_intra_op_cost(const clv_intra_op_problem *p, const int32_t *choice_of);

/* Judges a solution: choice_of[node] counts from 0 within the node, any numbers. It is legal
 * when every choice exists and the peak is within the limit. O(nodes + edges + s log s), s spans.
 */
clv_status clv_intra_op_judge(const clv_intra_op_problem *p, const int32_t *choice_of,
                              clv_arena *arena, clv_intra_op_value *ret, clv_error *err);

#endif
