#include "joint/axis_roles.h"

#include <string.h>

#include "cost/shard_choices.h"
#include "explain/experts.h"
#include "explain/weighted_ops.h"
#include "graph/constant.h"

typedef struct clv_role_op {
    clv_op op;
    int32_t weight, data; /* inputs */
    int32_t data_rank;
    bool stacked;      /* slice k of the weight is expert k's */
    bool is_recurrent; /* the batch is dimension 1, behind the sequence */
} clv_role_op;

/* -- the operators -- */

/* False: it has no weight, or reads nothing else. */
static bool find_operands(const clv_types *types, const bool *constant, const clv_op_info *op,
                          clv_role_op *ret)
{
    ret->weight = clv_weight_input(types, constant, op);
    ret->data = clv_data_input(types->graph, constant, op);
    if (ret->weight < 0 || ret->data < 0)
        return false;
    ret->data_rank = clv_tensor_rank(types, clv_op_input(types->graph, op, ret->data));
    return true;
}

clv_status clv_role_ops_find(const clv_costs *costs, const clv_types *types, clv_arena *arena,
                             clv_role_ops *ret, clv_error *err)
{
    const clv_graph *g = types->graph;
    clv_role_op *all = CLV_NEW_ARRAY(arena, clv_role_op, g->n_ops);
    clv_experts experts;
    bool *constant;
    if (!all)
        return clv_fail_nomem(err, "roles of mesh axes");
    CLV_TRY(clv_constant_ops(g, arena, &constant, err));
    CLV_TRY(clv_experts_find(g, types, constant, arena, &experts, err));
    *ret = (clv_role_ops){ .at = all, .flat_is_sequence = clv_has_batch_of_one(types) };
    for (int32_t i = 0; i < g->n_ops; i++) {
        clv_role_op *one = &all[ret->n];
        if (constant[i] || costs->of[i].matmul_flops <= 0 ||
            !find_operands(types, constant, &g->ops[i], one))
            continue;
        one->op = (clv_op){ i };
        one->is_recurrent = clv_op_is_recurrent(&g->ops[i]);
        one->stacked = clv_has_stacked_experts(&experts, g, one->op);
        ret->n++;
    }
    return CLV_OK;
}

/* -- their roles -- */

/* The batch is dimension 0, its outer part where a reshape fused more into it. */
static clv_axis_role role_of_data(const clv_role_ops *ops, const clv_role_op *one,
                                  const clv_layout *data, int32_t axis)
{
    if (data->dim[axis] < 0)
        return CLV_ROLE_NONE;
    bool is_batch = one->is_recurrent ? data->dim[axis] == 1
                                      : data->dim[axis] == 0 && data->outer[axis] <= 1 &&
                                            !(one->data_rank == 2 && ops->flat_is_sequence);
    return is_batch ? CLV_ROLE_DATA : CLV_ROLE_CONTEXT;
}

static clv_axis_role role_of(const int32_t count[static CLV_N_ROLES], int32_t n)
{
    clv_axis_role split =
        count[CLV_ROLE_EXPERT] >= count[CLV_ROLE_TENSOR] ? CLV_ROLE_EXPERT : CLV_ROLE_TENSOR;
    for (int32_t r = CLV_ROLE_DATA; r <= CLV_ROLE_CONTEXT; r++)
        if (n > 0 && 2 * count[r] >= n)
            return (clv_axis_role)r;
    if (count[split] > 0)
        return split;
    return count[CLV_ROLE_DATA] >= count[CLV_ROLE_CONTEXT] && count[CLV_ROLE_DATA] > 0
               ? CLV_ROLE_DATA
           : count[CLV_ROLE_CONTEXT] > 0 ? CLV_ROLE_CONTEXT
                                         : CLV_ROLE_NONE;
}

void clv_axis_roles_of(const clv_shard_problem *problem, const int32_t *solution,
                       const clv_role_ops *ops, clv_axis_role ret[static CLV_MESH_AXES_MAX])
{
    const clv_mesh *mesh = problem->mesh;
    int32_t count[CLV_MESH_AXES_MAX][CLV_N_ROLES] = { { 0 } };
    for (int32_t i = 0; i < ops->n; i++) {
        const clv_role_op *one = &ops->at[i];
        const clv_op_choice *choice = clv_shard_choice(problem, solution, one->op);
        if (!choice)
            continue;
        const clv_factors *f = &problem->factors[one->op.i];
        clv_layout weight = clv_choice_in(f, mesh, choice, one->weight);
        clv_layout data = clv_choice_in(f, mesh, choice, one->data);
        for (int32_t a = 0; a < mesh->n_axes; a++) {
            clv_axis_role role = weight.dim[a] < 0 ? role_of_data(ops, one, &data, a)
                                 : one->stacked && weight.dim[a] == 0 ? CLV_ROLE_EXPERT
                                                                      : CLV_ROLE_TENSOR;
            count[a][role]++;
        }
    }
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        ret[a] = role_of(count[a], ops->n);
}

/* -- names -- */

static const struct {
    const char *form, *axis, *outer_axis;
} names[CLV_N_ROLES] = { { "REP", "rep", "rep-outer" },
                         { "DP", "dp", "dp-outer" },
                         { "CP", "cp", "cp-outer" },
                         { "TP", "tp", "tp-outer" },
                         { "EP", "ep", "ep-outer" } };

const char *clv_axis_role_form(clv_axis_role role) { return names[role].form; }

/* Does an inner axis have the same role? */
static bool is_outer(const clv_axis_role *roles, int32_t n_axes, int32_t axis)
{
    for (int32_t b = axis + 1; b < n_axes; b++)
        if (roles[b] == roles[axis])
            return true;
    return false;
}

void clv_axis_roles_name(const clv_axis_role roles[static CLV_MESH_AXES_MAX], clv_mesh *io)
{
    for (int32_t a = 0; a < io->n_axes; a++) {
        bool same_outside = false;
        for (int32_t b = 0; b < a; b++)
            same_outside |= roles[b] == roles[a];
        if (same_outside && is_outer(roles, io->n_axes, a))
            continue; /* the middle one of three */
        io->name[a] =
            is_outer(roles, io->n_axes, a) ? names[roles[a]].outer_axis : names[roles[a]].axis;
    }
}
