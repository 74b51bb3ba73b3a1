/* mesh_candidate.h - one form of plan tried: how operators are split over it, and the stages that
 * the model is cut into then.
 *
 * Bounds come first: a candidate that cannot beat the best plan so far is not searched. What it
 * needs is in an arena of its own, for there are many, and several are tried at once.
 */
#ifndef CLV_JOINT_MESH_CANDIDATE_H
#define CLV_JOINT_MESH_CANDIDATE_H

#include "cost/shard_pipeline_bound.h"
#include "joint/mesh_open.h"
#include "lower/local_model.h"
#include "solver/intra_op/solve.h"

typedef struct clv_mesh_candidate {
    const clv_joint *j; /* as it was before any of those at once */
    clv_arena *arena;   /* NULL: clv_mesh_candidate_bound() and _search() make one */
    int32_t jobs;
    int32_t times; /* the work of so many brief searches; 0: of one */
    clv_joint_form form;
    struct clv_mesh_candidate *next; /* with the same mesh: it follows this one; NULL: none does */
    clv_mesh_opened on;
    clv_op_classes classes; /* by the factors of that */
    /* Times of a candidate are of one copy of the plan; those of j are of all (clv_joint_of_all).
     */
    clv_int128 floor;  /* ns: no plan of it has less; 0: not found yet */
    clv_int128 path;   /* ns: no run takes less; by latency, and where a pipeline is not filled */
    int32_t in_flight; /* runs in the pipeline at once, at most */
    bool shares;       /* plans are those of strategies that stages share, alone */
    bool shows;        /* where not even its weights fit, what is missing is of interest */
    bool remade;       /* a plan that was found is made again: it is of use in any case */
    bool compares;     /* its plan is wanted, be it no better than the best, with little work */
    bool thorough;     /* its best plan is wanted, be it no better than that of another form */
    clv_shard_tables *tables;
    clv_shard_problem *problem; /* NULL: not yet built */
    clv_intra_op_result strategy;
    clv_int128 forest;           /* ns: no choices cost less, as a forest says; 0: not known */
    clv_parted_stretches parted; /* of a pipeline: where the floor says that stages change */
    clv_int128 saved;            /* ns: by a pipeline at most (shard_parted.h); -1: not known */
    int64_t solved_bytes; /* the limit of memory that strategy and known are of; 0: none yet */
    clv_int128 known;     /* ns: no choices cost less within it */
    clv_local_model *local;
    const int32_t *local_of; /* the solution that it was made of */
    /* of clv_mesh_candidate_bound(), in parallel: forms with its mesh, and their floors */
    const clv_joint_form *bounded_forms;
    int32_t n_bounded;
    clv_int128 *floors;
    int64_t *work_left; /* of clv_mesh_candidate_exhaust(), in words of memory: counted down */

    /* of the thread that tries it */
    clv_status status;
    clv_error error;

    /* what came of it */
    bool any, bounded, wide; /* wide: its strategies are not proven to be near the best */
    clv_score best;
    clv_plan_facts facts;
    clv_axis_role roles[CLV_MESH_AXES_MAX];
    bool is_near; /* its strategies were not bettered, as the best of another form was not beaten */
    int64_t limit_bytes, bound_ns;
    int64_t shared_ns; /* about what a plan takes whose strategies stages share; 0: not known */
    int32_t *solution;
    int32_t n_solution;
    /* of the best plan */
    clv_shard_problem *best_problem;
    clv_local_model *best_local;
    clv_plan *best_cut;
} clv_mesh_candidate;

/* The floors of n forms, at least one, that have its mesh in common; CLV_EXCLUDED: not to be
 * searched. O(operators), and the work on distinct ones, then a part of it for each form. */
#define CLV_EXCLUDED (-1)
clv_status clv_mesh_candidate_bound(clv_mesh_candidate *c, const clv_joint_form *forms, int32_t n,
                                    clv_int128 *ret, clv_error *err);

/* All of it: c->any and what follows. */
clv_status clv_mesh_candidate_search(clv_mesh_candidate *c, clv_error *err);

/* What one with the same mesh has found is true of this one, which is new, as well: mesh, problem,
 * strategies and what a device runs. It lives in the arena of that one, which frees it. */
void clv_mesh_candidate_follow(clv_mesh_candidate *c, const clv_mesh_candidate *before);

/* Once more, of a small model in several stages: all strategies that may be part of a better plan
 * than the best of j, where they are few (strategy_enumeration.h). c->bound_ns is what was found
 * first, and is raised. It ends with the work that is left. */
clv_status clv_mesh_candidate_exhaust(clv_mesh_candidate *c, clv_error *err);

/* The problem, local model and cut again of a plan that was found, which is of this form. */
clv_status clv_mesh_candidate_remake(clv_mesh_candidate *c, const clv_joint_found *found,
                                     clv_error *err);

#endif
