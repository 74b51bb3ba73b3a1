/* shard_tables.h - what the operators of a model may do on one mesh: choices, times and layouts,
 * and the costs from layout to layout. Each is found once for all operators that are alike.
 */
#ifndef CLV_COST_SHARD_TABLES_H
#define CLV_COST_SHARD_TABLES_H

#include "base/int128.h"
#include "cost/layout_lists.h"
#include "cost/shard_choices.h"
#include "sharding/known.h"

/* Of an operator, or of all that are alike. */
typedef struct {
    int32_t n;
    const clv_op_choice *choice; /* n */
    const clv_op_cost *cost;     /* n: of the largest part, */
    const int64_t *ns;           /* n: and that on the slowest device of the mesh */
    int64_t least_ns;
    /* By input and output: number of the list of its layouts, one a choice; -1 where it is left
     * out. */
    const int32_t *in_list, *out_list;
    int32_t id; /* equal for operators that share this */
} clv_op_table;

/* One thread at a time. */
typedef struct {
    clv_shard_space of;
    clv_arena *arena;
    clv_layout_lists lists;
    const clv_op_table **by_class; /* by class, or by operator; NULL: not looked at yet */
    clv_shard_choices *choices;    /* scratch */
    clv_layout *row;               /* scratch: CLV_CHOICES_MAX */
} clv_shard_tables;

/* Everything lives in the arena. O(operators); the work is done when it is first asked for. */
clv_status clv_shard_tables_new(const clv_shard_space *of, clv_arena *arena, clv_shard_tables **ret,
                                clv_error *err);

/* Does an operator have anything to choose? It writes a tensor that is not known before the run. */
bool clv_shard_takes_part(const clv_types *types, clv_op op);

/* O(1) but for the first of a class: O(choices * operands) and the lists of its layouts. */
clv_status clv_shard_table_of(clv_shard_tables *t, clv_op op, const clv_op_table **ret,
                              clv_error *err);

/* The cheapest choices of all operators together, without what is between them: no solution of the
 * intra-operator problem costs less. O(operators). */
clv_status clv_shard_least(clv_shard_tables *t, clv_int128 *ret, clv_error *err);

#endif
