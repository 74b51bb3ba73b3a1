/* decision_diagram.h - all ways to put an order of blocks on two sides, as a layered graph.
 *
 * An exact or relaxed decision diagram (Bergman, Cire, van Hoeve and Hooker 2016, Decision Diagrams
 * for Optimization, Springer) built layer by layer over a frontier (Sekine, Imai and Tani 1995,
 * Computing the Tutte polynomial of a graph of moderate size, ISAAC). Blocks go to side 0 or side 1
 * one after the other, in an order with few open nets (cutwidth_order.h). Earlier decisions matter
 * to later blocks by the open nets alone: whether each has been touched by side 0, side 1 or both.
 * That is a state. An arc from each state to one behind the next block carries what the two sides
 * then pay for transfers, so the ways to share the blocks are the paths.
 *
 * Ours: of nets of two blocks only the side of the block that opened them is kept, so a hub of many
 * such nets is one thing to remember. Where states would be too many, the cheapest nets are left
 * out at no cost: that relaxes the diagram.
 *
 * It wins where at most some 10 nets are open at a place: 10 to 500 states each.
 * O(n * states * nets of a block, and a sort of the states of each layer).
 */
#ifndef CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_DECISION_DIAGRAM_H
#define CLV_SOLVER_PLACEMENT_NONCONTIGUOUS_DECISION_DIAGRAM_H

#include "solver/placement/common/contraction.h"

typedef struct clv_diagram_builder clv_diagram_builder;

typedef struct {
    int32_t to;     /* state */
    int64_t pay[2]; /* what each side pays for it, where it pays */
} clv_diagram_arc;

typedef struct {
    int32_t n;
    const int32_t *blocks;
    bool exact;                  /* no net was forgotten */
    int32_t n_states;            /* layer by layer; the first and the last layer have one each */
    const int32_t *layer;        /* n + 2: first state before each place, and behind the last */
    const clv_diagram_arc *step; /* [2 * state + side]; of all layers but the last */
    const int32_t *in_first;     /* n_states + 1, into in */
    const int32_t *in;           /* steps that lead to a state, as 2 * state + side, ascending */
} clv_diagram;

clv_status clv_diagram_builder_new(const clv_contraction *b, clv_arena *arena,
                                   clv_diagram_builder **ret, clv_error *err);

/* nets: false leaves all transfers out. The list of blocks is not copied; the line is there until
 * the next is made. */
clv_status clv_diagram_build(clv_diagram_builder *m, const int32_t *blocks, int32_t n, bool nets,
                             const clv_diagram **ret, clv_error *err);

#endif
