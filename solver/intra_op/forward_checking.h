/* forward_checking.h - small problems to the end: partial forward checking (Freuder, Wallace 1992),
 * the depth-first branch and bound of constraint optimisation.
 *
 * Each choice of a node that is not set is kept with what it costs against all that is set; a
 * choice is tried while these, the least of every other node and the least entry of every edge
 * between two that are not set stay below the best solution, and while memory has room for it and
 * for the least of all others. The node with the fewest such choices is next. All sums are whole
 * numbers of 128 bits, and work is counted: what comes out depends on the problem alone.
 */
#ifndef CLV_SOLVER_INTRA_OP_FORWARD_CHECKING_H
#define CLV_SOLVER_INTRA_OP_FORWARD_CHECKING_H

#include "problem/intra_op_problem.h"
#include "solver/common/limits.h"

/* No cost is this much. */
#define CLV_FORWARD_CHECKING_ANY ((clv_int128)1 << 120)

typedef struct {
    clv_int128 ceiling; /* only solutions that cost less are looked for */
    int64_t most_work; /* choices and entries looked at, where there are more than 2^24 solutions */
    const clv_limits *limits;
} clv_forward_checking_options;

typedef struct {
    bool complete; /* found is best, or there is none below the ceiling */
    bool found;
    clv_int128 cost;
} clv_forward_checking_result;

/* Spans of p count in rows, 0 on (presolve.h). A problem of more than 64 nodes with several choices
 * or 4096 choices is left alone, and one whose work or time is over is not complete. choice: by
 * node, the best solution found. O(legal partial solutions * (choices * rows + entries at a node)).
 */
clv_status clv_forward_checking(const clv_intra_op_problem *p,
                                const clv_forward_checking_options *options, clv_arena *arena,
                                int32_t *choice, clv_forward_checking_result *ret, clv_error *err);

#endif
