/* joint_form.h - one form of mesh tried: strategies for it, and the stages that they are cut into.
 */
#ifndef CLV_JOINT_FORM_H
#define CLV_JOINT_FORM_H

#include "cost/shard_path.h"
#include "lower/local_model.h"
#include "rules/split_pins.h"
#include "solver/intra_op/strategies.h"
#include "stages/run.h"

/* How a candidate did. */
typedef struct {
    clv_outcome outcome;
    int64_t ns;          /* by the objective */
    int64_t short_bytes; /* CLV_OOM */
} clv_score;

typedef struct clv_form clv_form;

typedef struct {
    const clv_request *req;
    bool asked;       /* for shards; else they are one way of several */
    bool any_will_do; /* that fits */
    const clv_analysis *analysis;
    clv_arena *arena;
    clv_error *err;
    clv_cluster *cluster; /* what is asked for */
    clv_link_levels levels;
    clv_factors *factors; /* by operator */
    clv_op_classes classes;
    const clv_shard_path *path; /* the longest way through the model; NULL: not asked for */
    clv_mesh_form *shapes;      /* those to be tried, in order */
    int32_t n_shapes, cap_shapes;
    bool whole; /* one device a mesh, the pipeline alone, is to be tried too */
    bool any;
    clv_score best;
    clv_plan *plain; /* the best is this plan of whole operators; NULL: it is of the next ones */
    clv_form *kept;  /* all that came of it is there; NULL: it is to be made again of these */
    clv_mesh_form shape;
    int64_t limit_bytes;
    int32_t *answer;
    int64_t bound_ns; /* no plan of the forms seen so far has less; INT64_MAX: none seen */
    bool unbounded;   /* of a form nothing is known */
    clv_constraints rules;
    bool without;         /* rules on tensors are left out, as no plan obeys them */
    const char *conflict; /* why no plan of some form does, in a sentence; NULL: not known */
    clv_error refused;    /* of the first form that rules on tensors do not go with */
    const bool *idle;     /* by rule, of the best plan: it binds nothing; NULL: none is so */
} clv_joint;

/* One form of mesh; what it needs to be tried is in an arena of its own, for there are many, and
 * several are tried at once. */
struct clv_form {
    const clv_joint *j; /* as it was before any of those at once */
    clv_arena *arena;
    clv_error *err, own_error;
    clv_status status;
    int32_t jobs;
    clv_mesh_form shape;
    const clv_mesh *mesh; /* of the first stage: all are alike */
    int32_t n_stages;
    clv_resharder *resharder;
    clv_factors *factors;   /* by operator, for the mesh */
    clv_op_classes classes; /* by those */
    clv_split_pins *pins;   /* NULL: no rule speaks of tensors */
    bool refused;           /* its rules do not go with it: own_error says why */
    bool out;               /* it is not to be searched, for that or another reason */
    clv_int128 floor;       /* no plan of it has less; 0: not found yet */
    bool shows;             /* where not even its weights fit, what is missing is of interest */
    clv_shard_tables *tables;
    clv_shard_problem *problem; /* NULL: not yet built */
    clv_strategy_result strategy;
    clv_int128 known; /* no strategies cost less, with as much memory as was asked for last */
    clv_local_model *local;
    clv_cluster *stages;
    /* what came of it */
    bool any, bounded;
    clv_score best;
    int64_t limit_bytes, bound_ns;
    int32_t *answer;
    int32_t n_answer;
    /* of the best plan */
    clv_shard_problem *best_problem;
    clv_local_model *best_local;
    clv_plan *best_cut;
};

/* How a plan did. */
clv_score clv_joint_score(const clv_joint *j, const clv_plan *p);
/* A plan that fits before one that does not, then the faster, then the one that lacks less. any:
 * there is a best one yet. */
bool clv_score_is_better(const clv_score *s, bool any, const clv_score *best);

/* Mesh, its communication, and the cluster of meshes, for f->shape. */
clv_status clv_form_open(clv_form *f);
/* What rules on tensors mean for a mesh, with the factors for it; NULL where none asks anything. */
clv_status clv_form_pins(const clv_joint *j, const clv_factors *factors, const clv_mesh *mesh,
                         clv_arena *arena, clv_split_pins **ret, clv_error *err);
/* The strategy problem, with that limit on memory. */
clv_status clv_form_build(clv_form *f, int64_t limit_bytes);
/* What a device of a mesh runs, for an answer of the problem, cut into stages. */
clv_status clv_form_cut(clv_form *f, const int32_t *answer, clv_plan **ret);
/* Its floor, or that it is out, in an arena of its own, which the caller frees. O(operators), and
 * the work on distinct ones. */
clv_status clv_form_bound(clv_form *f);
/* All of it, in an arena of its own if it has none, which the caller frees: bounds first, and a
 * form that cannot beat the best so far is not searched. */
clv_status clv_form_run(clv_form *f);

#endif
