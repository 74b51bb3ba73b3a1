/* subgraph.h - candidate split nodes, and the subgraphs that the search moves.
 *
 * A candidate is an operator with more than one input that is not a constant: neither initialiser,
 * nor Constant node, nor folded value; inputs of the model count. Where there is none, every
 * operator is one. The subgraph of a candidate is what a walk from it towards the inputs reaches
 * and no earlier candidate took. Small candidates are released, so that their operators flow to a
 * later one; what no candidate takes is the last subgraph, without a candidate. What goes with
 * another operator (clv_costs.goes_with) is never a candidate, and in that one's subgraph.
 *
 * Subgraphs are in topological order: all that a subgraph reads comes from itself or earlier ones.
 * So the order "subgraph by subgraph, operators ascending inside each" is a topological order of
 * all operators; order[] is that order, and everything after this stage uses it.
 */
#ifndef CLV_COST_SUBGRAPH_H
#define CLV_COST_SUBGRAPH_H

#include "cost/op_cost.h"

typedef struct {
    clv_op candidate;   /* CLV_NO_OP: the left-over operators */
    int32_t first, n;   /* operators order[first .. first + n) */
    int64_t bytes_cost; /* initialisers read: weight_sums.h */
    int64_t flops_cost;
} clv_subgraph;

typedef struct {
    const clv_graph *graph;
    int32_t n;
    clv_subgraph *at;
    clv_op *order;      /* n_ops */
    int32_t *of;        /* n_ops: the subgraph of each operator */
    int64_t all_bytes;  /* of the initialisers that all of them read, each once */
    clv_op *candidates; /* all of them, before merging, topologically sorted */
    int32_t n_candidates;
} clv_subgraphs;

/* merge false keeps every candidate. O(ops + edges). */
clv_status clv_subgraphs_build(const clv_costs *costs, bool merge, clv_arena *arena,
                               clv_subgraphs **ret, clv_error *err);

/* The same units where they are fine enough for so many devices, else with more candidates: heavy
 * operators of coarse units (subgraph.c). O(ops + edges). */
clv_status clv_subgraphs_refine(const clv_costs *costs, clv_subgraphs *units, int32_t devices,
                                clv_arena *arena, clv_subgraphs **ret, clv_error *err);

/* The subgraphs of these operators instead, in this order, each taking what no earlier one took; an
 * operator that is taken already gets an empty subgraph. Nothing is merged. candidates is the list.
 */
clv_status clv_subgraphs_of_nodes(const clv_costs *costs, const clv_op *nodes, int32_t n_nodes,
                                  clv_arena *arena, clv_subgraphs **ret, clv_error *err);

/* Each group is a unit, and its last operator the candidate. group: n_ops, 0 to n - 1; none has an
 * operator that reads what one of a later group writes, and what goes with another operator is in
 * its group. candidates is empty. O(ops + edges). */
clv_status clv_subgraphs_of_groups(const clv_costs *costs, const int32_t *group, int32_t n,
                                   clv_arena *arena, clv_subgraphs **ret, clv_error *err);

/* Each operator is a unit, but for those whose results are constant or known, which go with a
 * reader. NULL where they are more than most. O(ops + edges). */
clv_status clv_subgraphs_of_ops(const clv_costs *costs, int32_t most, clv_arena *arena,
                                clv_subgraphs **ret, clv_error *err);

/* The same units, cut further where operators of one unit have different marks (n_ops), so that all
 * of a unit have the same. Constant nodes with mark 0 go with whoever reads them. O(ops + edges)
 * times a few rounds. */
clv_status clv_subgraphs_split(const clv_costs *costs, const clv_subgraphs *units,
                               const int32_t *mark, clv_arena *arena, clv_subgraphs **ret,
                               clv_error *err);

#endif
