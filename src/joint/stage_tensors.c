#include "joint/stage_tensors.h"

#include "graph/ops.h"

static const clv_graph *graph_of(const clv_stage_space *of) { return of->problem->types->graph; }

static bool flows(const clv_stage_space *of, clv_tensor t)
{
    return clv_tensor_at(graph_of(of), t)->role != CLV_TENSOR_WEIGHT &&
           !clv_shard_is_known(of->problem->types, t);
}

bool clv_stage_tensor_counts(const clv_stage_space *of, clv_tensor t)
{
    return t.i >= 0 && flows(of, t) && flows(of, clv_tensor_root(graph_of(of), t));
}

int64_t clv_stage_tensor_bytes(const clv_stage_space *of, clv_tensor t, const clv_layout *layout)
{
    const clv_types *types = of->problem->types;
    return clv_part_bytes(of->problem->mesh, layout, &types->of[t.i], types->bytes[t.i]);
}

clv_layout clv_stage_need(const clv_stage_space *of, clv_op op, int32_t k, int32_t choice)
{
    const clv_shard_problem *p = of->problem;
    return clv_choice_in(&p->factors[op.i], p->mesh, &p->op_choice[p->node_of_op[op.i]][choice], k);
}

int32_t clv_stage_input_number(const clv_stage_space *of, clv_op op, clv_tensor t)
{
    const clv_graph *g = graph_of(of);
    const clv_op_info *info = clv_op_at(g, op);
    for (int32_t k = 0; k < clv_op_n_explicit(info); k++)
        if (clv_op_input(g, info, k).i == t.i)
            return k;
    return -1;
}

int32_t clv_stage_input_sharing(const clv_stage_space *of, clv_op op, clv_tensor t)
{
    const clv_graph *g = graph_of(of);
    const clv_op_info *info = clv_op_at(g, op);
    int32_t root = clv_tensor_root(g, t).i;
    for (int32_t k = 0; k < clv_op_n_explicit(info); k++) {
        clv_tensor in = clv_op_input(g, info, k);
        if (in.i >= 0 && clv_tensor_root(g, in).i == root)
            return k;
    }
    return -1;
}
