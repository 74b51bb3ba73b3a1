/* memory_moments.h - what the limit of an intra-operator problem leaves at each moment, while nodes
 * are given their choices one after another.
 *
 * A node without a choice counts with the least that any of its choices holds, so where nothing is
 * left no choice of the others helps; and when all nodes have one, their peak is within the limit.
 */
#ifndef CLV_PROBLEM_MEMORY_MOMENTS_H
#define CLV_PROBLEM_MEMORY_MOMENTS_H

#include "problem/intra_op_problem.h"

/* The moments at which a span lasts, by number; what it holds by choice, and the least of that. */
typedef struct {
    int32_t from, to;
    const int64_t *usage;
    int64_t least;
} clv_moment_span;

typedef struct {
    const clv_intra_op_problem *p;
    clv_moment_span *spans; /* as the problem numbers them; NULL: it has no limit */
    int64_t *time;          /* n, rising: begins of spans, when memory can be fullest */
    clv_int128 *left;       /* n, in the problem's unit */
    int32_t n;
} clv_memory_moments;

/* No node has a choice yet. It lives in the arena. O(s log s + s moments), s spans. */
clv_status clv_memory_moments_make(const clv_intra_op_problem *p, clv_arena *arena,
                                   clv_memory_moments *ret, clv_error *err);
/* Node v, which has none, takes a choice. False: some moment has less than nothing left; the choice
 * is taken all the same. O(moments of its spans). */
bool clv_memory_moments_take(clv_memory_moments *m, int32_t v, int32_t choice);
/* It has none again. */
void clv_memory_moments_give_back(clv_memory_moments *m, int32_t v, int32_t choice);

#endif
