/* shard_choices.h - all ways to split one operator over a mesh, with their costs. */
#ifndef CLV_COST_SHARD_CHOICES_H
#define CLV_COST_SHARD_CHOICES_H

#include "cost/op_classes.h"
#include "cost/resharder.h"
#include "cost/shard_cost.h"

/* By mesh axis the factor that it splits, or -1. */
typedef struct {
    int16_t factor[CLV_MESH_AXES_MAX];
} clv_op_choice;

/* What choices may be, as a user's rules say; NULL: all that the rules of the operators allow. */
typedef struct {
    /* Of operators. At least one choice that the operator's rule allows must pass. */
    bool (*allow)(void *ctx, clv_op op, const clv_factors *f, const clv_op_choice *choice);
    /* A layout of a tensor that may lie in some ways only, no weight; NULL: it may lie in any. Such
     * a tensor is a node, however often it is read. Both may be NULL: so may all. */
    const clv_layout *(*like)(void *ctx, clv_tensor t);
    bool (*lies)(void *ctx, clv_tensor t, const clv_layout *layout); /* may it lie so? */
    void *ctx;
} clv_choice_filter;

/* The most ways that are considered for one operator: three axes over a dozen factors or none,
 * 13^3. */
#define CLV_CHOICES_MAX 2197

typedef struct {
    int32_t n;
    clv_op_choice at[CLV_CHOICES_MAX]; /* [0]: nothing is split, unless the filter says no */
    clv_op_cost cost[CLV_CHOICES_MAX]; /* of the largest part */
    int64_t ns[CLV_CHOICES_MAX];       /* that on the slowest device of the mesh */
} clv_shard_choices;

/* The layout that a choice needs of the explicit input k, or gives to output k; copies of those
 * that the rule does not speak of. */
clv_layout clv_choice_in(const clv_factors *f, const clv_mesh *mesh, const clv_op_choice *choice,
                         int32_t k);
clv_layout clv_choice_out(const clv_factors *f, const clv_mesh *mesh, const clv_op_choice *choice,
                          int32_t k);

/* The next choice in the order of a counter whose digits are the axes, from -1 on all of them, over
 * factors that axes may split, with those that have a halo or without; false after the last. */
bool clv_choice_next(const clv_factors *f, const clv_mesh *mesh, bool halos, clv_op_choice *c);
/* Does the operator's rule allow it, and may its tensors be cut so? To split nothing always is. */
bool clv_choice_may(const clv_types *types, clv_op op, const clv_factors *f, const clv_mesh *mesh,
                    const clv_op_choice *choice);

/* What is to be split over a mesh. All of it must stay. */
typedef struct {
    const clv_types *types;
    const clv_factors *factors; /* n_ops; of clv_factors_all() */
    const clv_costs *costs;
    const clv_op_classes *classes; /* NULL: no two operators are taken for alike */
    const clv_cluster *cluster;
    const clv_mesh *mesh;
    clv_resharder *resharder;
    const clv_choice_filter *filter; /* NULL: none; with one, operators are looked at one by one */
} clv_shard_space;

/* All choices of an operator that the filter lets pass. Factors with a halo are left whole.
 * O(choices * operands). */
clv_status clv_shard_choices_find(const clv_shard_space *of, clv_op op, clv_arena *arena,
                                  clv_shard_choices *ret, clv_error *err);

/* On the slowest device of a mesh, each at its default workspace. O(devices). */
int64_t clv_slowest_ns(const clv_op_cost *cost, const clv_mesh *mesh, const clv_cluster *cluster);

/* What it takes to come from one layout to another in ns, for a tensor that would stay inside a
 * kernel: then the kernel is two, and the tensor is stored and read. As the cost of an operator; ns
 * 0: it stays inside. */
typedef struct {
    clv_dtype dtype;
    int64_t stored_bytes, read_bytes; /* clv_inside_bytes() of the two layouts */
    bool captured;                    /* a graph starts kernels */
} clv_kernel_break;
clv_op_cost clv_kernel_break_cost(const clv_kernel_break *of, int64_t ns);
/* Of the largest part of such a tensor in a layout; 0 for others. O(dimensions). */
int64_t clv_inside_bytes(const clv_types *types, clv_tensor t, const clv_mesh *mesh,
                         const clv_layout *layout);

#endif
