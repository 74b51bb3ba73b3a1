/* moves.h - the neighbourhood of local search: which units at the edge of a group can move where,
 * as in acyclic graph partitioning (Herrmann, Ozkaya, Ucar, Kaya, Catalyurek 2019).
 *
 * As PopRT has them: a starting unit may join a parent group (one that it reads from), an ending
 * unit a child group (one that reads it), both a parallel group: one that the unit's group neither
 * leads to nor comes from, however far. Only moves whose result is legal are listed.
 */
#ifndef CLV_SOLVER_PARTITION_MOVES_H
#define CLV_SOLVER_PARTITION_MOVES_H

#include "solver/partition/groups.h"

typedef enum {
    CLV_TO_PARENT,
    CLV_TO_CHILD,
    CLV_TO_PARALLEL,
    CLV_TO_OTHER /* legal, but none of the three: only the default search tries it */
} clv_move_kind;

typedef struct {
    int32_t unit, from, to;
    clv_move_kind kind;
} clv_move;

const char *clv_move_name(clv_move_kind kind); /* "parent", "child", "parallel", "other" */

/* Finds moves in one set of groups; at[0 .. n) are those of the last call. */
typedef struct {
    clv_groups *g;
    clv_arena *arena;
    bool keep_groups;                  /* never empty a group */
    uint64_t *ancestors, *descendants; /* of the group at hand: rows of bits */
    uint64_t *linked, *barred; /* of one unit: devices it has nets with; that it cannot move to */
    clv_move *at;
    int32_t *units; /* scratch: those at an edge */
    int32_t n, cap, cap_units;
} clv_moves;

/* g must outlive it; rows and moves come from the arena. CLV_ENOMEM. O(devices). */
/* g must outlive it; rows and moves come from the arena. CLV_ENOMEM. O(devices). */
clv_status clv_moves_new(clv_groups *g, bool keep_groups, clv_arena *arena, clv_moves *ret,
                         clv_error *err);

typedef enum {
    CLV_BY_BYTES, /* out of memory: the target with least bytes */
    CLV_BY_FLOPS  /* balance: least FLOPs, fewer than here, and the gap shrinks */
} clv_move_goal;

/* The documented moves of a group: for each starting unit one parent and one parallel group, for
 * each ending unit one child and one parallel group. Groups end as they were. Ties go to the lower
 * device. O(units at the group's edge * devices * (pins + devices^2 / 64)). */
clv_status clv_moves_poprt(clv_moves *m, int32_t device, clv_move_goal goal, clv_error *err);

/* Every legal move of the group's starting and ending units to any device, at most max looked at.
 * O(units looked at * (pins + devices^2 / 64)), with rules times devices. */
clv_status clv_moves_all(clv_moves *m, int32_t device, int32_t max, clv_error *err);

#endif
