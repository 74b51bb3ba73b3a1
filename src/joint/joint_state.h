/* joint_state.h - the state of a search for stages and shards together, shared by its files. */
#ifndef CLV_JOINT_JOINT_STATE_H
#define CLV_JOINT_JOINT_STATE_H

#include "cost/shard_path.h"
#include "cost/shard_problem.h"
#include "joint/axis_roles.h"
#include "plan/plan.h"
#include "request/analysis.h"
#include "request/request.h"
#include "rules/backend_limits.h"
#include "rules/constraints.h"
#include "sharding/mesh_levels.h"

/* The devices are dealt out to groups that are alike, and those of the first group to stages, each
 * a mesh of this form. The others have copies of the plan, or nothing to do (clv_joint_copies). */
typedef struct {
    clv_mesh_form mesh; /* without axes: stages of whole operators */
    int32_t groups;
    bool lean; /* strategies that take little more memory than all weights split would */
} clv_joint_form;

/* How a plan did. */
typedef struct {
    clv_outcome outcome;
    int64_t ns;          /* by the objective, of all copies together */
    int64_t latency_ns;  /* CLV_LATE */
    int64_t short_bytes; /* CLV_OOM */
} clv_score;

struct clv_mesh_candidate;

/* What plans of the same objective differ by. */
typedef struct {
    int64_t latency_ns;      /* of a copy, without the host, as the next */
    int64_t period_ns;       /* by throughput what it comes to with as much in flight as fits */
    int64_t peak_bytes;      /* of the fullest device */
    int32_t devices, stages; /* in use, of all copies; of each */
    int32_t collectives;     /* that send something */
} clv_plan_facts;

/* The best plan of a form, and what it is made from again. */
typedef struct {
    clv_joint_form form;
    clv_score score;
    clv_plan_facts facts;
    clv_axis_role roles[CLV_MESH_AXES_MAX];
    int64_t bound_ns; /* no plan of the form has less, of all copies; 0: not known */
    bool is_near;     /* to the best of another form, so that it was not bettered */
    clv_plan
        *whole; /* made already, and judged by the request's compiler; NULL: it is to be made */
    clv_plan *plain; /* of whole operators, on the devices of a group; NULL: it is of the next */
    struct clv_mesh_candidate *kept; /* all that came of it; NULL: to be made again of these */
    int64_t limit_bytes;
    int32_t *solution; /* choice of each node of the intra-operator problem */
} clv_joint_found;

typedef struct {
    const clv_request *req;
    bool asked;       /* for shards; else they are one way of several, */
    bool splits;      /* or none: operators stay whole */
    bool any_will_do; /* that fits */
    const clv_analysis *analysis;
    clv_arena *arena;
    int64_t kept_bytes; /* between runs, each where it is: weights, and states that stay in place */
    int64_t held_bytes; /* during a run at least: those and all inputs */
    clv_cluster *cluster; /* what is asked for */
    clv_link_levels levels;
    clv_backend_limits limits; /* of who is to run the plan */
    clv_factors *factors;      /* by operator; NULL: they stay whole */
    const char *backward;      /* as in clv_request; "none" as well where that was found */
    const clv_op_info *random; /* draws other numbers on each device of a mesh; NULL: none does */
    clv_op_classes classes;
    clv_role_ops role_ops;
    const clv_measured_groups *measured; /* NULL: times of collectives do not count */
    const clv_shard_path *path;          /* the longest way through the model */
    clv_joint_form *forms;               /* with meshes: those to be tried, in order */
    int32_t n_forms, cap_forms;
    int32_t *order;    /* of those that can be searched, the most promising first, */
    int64_t *floor_ns; /* and what no plan of each is below, of all copies */
    int32_t n_order;
    const int32_t *groups; /* numbers of them to be tried, the smallest first */
    int32_t n_groups;
    bool whole; /* one device a mesh, stages of whole operators, is to be tried too */

    /* the best plan of each form so far, in the order in which they were found first */
    clv_joint_found *found;
    int32_t n_found, cap_found;
    int32_t best_at; /* of all; -1: there is none yet */

    int64_t bound_ns; /* no plan of the forms seen so far has less; INT64_MAX: none seen */
    bool unbounded;   /* of a form nothing is known */
    clv_constraints rules;
    bool without_tensor_rules; /* they are left out, as no plan meets them */
    const char *conflict; /* why no plan of some form meets them, in a sentence; NULL: not known */
    bool unlike;          /* some form's stages would not be alike */
    clv_error refused;    /* of the first form that rules on tensors do not go with */
    int32_t n_judged, n_fitting; /* by the request's compiler; 0: it has none */
    const bool *idle;            /* by rule, of the best plan: it binds nothing; NULL: none is so */
} clv_joint;

/* The same axes, whatever their names. */
bool clv_joint_same_mesh(const clv_joint_form *a, const clv_joint_form *b);

/* -- groups of devices -- */

/* How many devices a group has, how many stages of a form, and how many copies of a plan for one
 * there are. */
int32_t clv_joint_group_devices(const clv_joint *j, int32_t groups);
int32_t clv_joint_stages(const clv_joint *j, const clv_joint_form *form);
int32_t clv_joint_copies(const clv_joint *j, int32_t groups);

/* What the objective is of all copies, with what the host does for each run, where one takes ns
 * without; 0 and INT64_MAX, which say that nothing is known, stay. And the least that one may take
 * so that it is ns of all. */
int64_t clv_joint_of_all(const clv_joint *j, int32_t groups, clv_int128 ns);
int64_t clv_joint_of_one(const clv_joint *j, int32_t groups, int64_t ns);

/* The latency that one may have without the host; 0: any, as by latency, where the fastest plan is
 * within the limit or none is, and the slower ones are left to clv_joint_choose(). */
int64_t clv_joint_max_latency_ns(const clv_joint *j);

/* -- plans and bounds -- */

/* How a plan for a group did by its objective. */
clv_score clv_joint_score(const clv_joint *j, int32_t groups, const clv_plan *p);
/* A plan that fits before one that does not, then the faster, of those that are too slow the one of
 * least latency, then the one that lacks less. any: there is a best one yet. */
bool clv_score_is_better(const clv_score *s, bool any, const clv_score *best);
/* What a plan for a group comes to, each of whose devices stands for so many. O(devices). */
clv_plan_facts clv_joint_facts(const clv_joint *j, int32_t groups, int32_t per_mesh,
                               const clv_plan *p);
/* Takes over a plan, as the best of its form and of all where it is that. Its arrays must live as
 * long as j. CLV_ENOMEM. O(forms). */
clv_status clv_joint_take(clv_joint *j, const clv_joint_found *plan, clv_error *err);
/* The best so far; NULL: there is none. And that, if it fits. */
const clv_joint_found *clv_joint_best(const clv_joint *j);
const clv_joint_found *clv_joint_best_fit(const clv_joint *j);
/* From when on a plan of a form, of all copies, is of no use: it is no better than the best one,
 * and neither within what a better one must be worth (clv_request.worth), of no more devices.
 * INT64_MAX: any is of use. O(1). */
int64_t clv_joint_no_use_ns(const clv_joint *j, const clv_joint_form *form);
/* The gap that is enough for a form once its bound says that no plan of it beats the best one: half
 * of what a better plan must be worth. O(1). */
double clv_joint_rival_gap(const clv_joint *j);
/* The deadline is over, or the caller has stopped the search. */
bool clv_joint_time_is_up(const clv_joint *j);
/* No plan for a group that a search could have found has less, of itself; INT64_MAX: it has shown
 * that none fits; 0: nothing is known. */
int64_t clv_joint_bound_of(const clv_plan *p);
/* No plan of some form has less, of all copies; as above. */
void clv_joint_lower_bound(clv_joint *j, int64_t bound_ns);

#endif
