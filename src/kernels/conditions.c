#include "kernels/conditions.h"

#include "graph/ops.h"

static bool is(const clv_op_info *op, const char *type)
{
    return op->domain.n == 0 && clv_str_is(op->type, type);
}

int64_t clv_known_elems(const clv_type *type)
{
    int64_t n = 1;
    for (int32_t i = 0; type->kind == CLV_TYPE_TENSOR && i < type->rank; i++)
        if (clv_dim_is_number(type->dims[i]) && __builtin_mul_overflow(n, type->dims[i], &n))
            return INT64_MAX;
    return n;
}

/* -- what does nothing -- */

/* The permutation of a Transpose; false: the ranks are not known or do not fit. */
static bool perm_of(const clv_types *types, const clv_op_info *op, int64_t *perm, int32_t *ret_rank)
{
    clv_tensor in = clv_op_input(types->graph, op, 0);
    const clv_attr *given = clv_op_attr(types->graph, op, "perm");
    const clv_type *type = in.i < 0 ? NULL : &types->of[in.i];
    if (!type || type->kind != CLV_TYPE_TENSOR || type->rank < 0 ||
        (given && (given->kind != CLV_ATTR_INTS || given->n != type->rank)))
        return false;
    for (int32_t i = 0; i < type->rank; i++) {
        perm[i] = given ? given->ints[i] : type->rank - 1 - i;
        if (perm[i] < 0 || perm[i] >= type->rank)
            return false;
    }
    *ret_rank = type->rank;
    return true;
}

static bool keeps_order(const clv_types *types, const clv_op_info *op)
{
    int64_t perm[CLV_RANK_MAX], last = -1;
    int32_t rank;
    if (!perm_of(types, op, perm, &rank))
        return false;
    const clv_type *type = &types->of[clv_op_input(types->graph, op, 0).i];
    for (int32_t i = 0; i < rank; i++) {
        if (type->dims[perm[i]] == 1)
            continue;
        if (perm[i] < last)
            return false;
        last = perm[i];
    }
    return true;
}

static bool same_dims(const clv_type *a, const clv_type *b)
{
    if (a->kind != CLV_TYPE_TENSOR || b->kind != CLV_TYPE_TENSOR || a->rank != b->rank ||
        a->rank < 0)
        return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i] || a->dims[i] == CLV_DIM_UNKNOWN)
            return false;
    return true;
}

/* Steps of a Slice that are known, and forwards. */
static bool is_forward(const clv_types *types, const clv_op_info *op)
{
    clv_tensor steps = clv_op_input(types->graph, op, 4);
    const clv_value *value = steps.i < 0 ? NULL : types->value[steps.i];
    for (int32_t i = 0; value && value->i && i < value->n; i++)
        if (!clv_dim_is_number(value->i[i]) || value->i[i] < 1)
            return false;
    return steps.i < 0 || (value && value->i);
}

clv_tensor clv_op_passed(const clv_types *types, const clv_op_info *op)
{
    clv_tensor viewed = clv_op_viewed(types->graph, op);
    clv_tensor in = clv_op_input(types->graph, op, 0), out = clv_op_output(types->graph, op, 0);
    if (viewed.i >= 0 || in.i < 0 || out.i < 0)
        return viewed;
    const clv_type *from = &types->of[in.i], *to = &types->of[out.i];
    bool same = (is(op, "Cast") && from->kind == CLV_TYPE_TENSOR &&
                 from->dtype != CLV_DT_UNDEFINED && from->dtype == to->dtype) ||
                (is(op, "Expand") && same_dims(from, to)) ||
                (is(op, "Slice") && is_forward(types, op) && same_dims(from, to)) ||
                (is(op, "Transpose") && keeps_order(types, op));
    return same ? in : CLV_NO_TENSOR;
}

/* -- other operands -- */

static bool is_constant(const clv_types *types, clv_tensor t)
{
    const clv_graph *g = types->graph;
    clv_tensor root = clv_tensor_root(g, t);
    clv_op writer = clv_tensor_at(g, root)->producer;
    int32_t kind = writer.i < 0 ? CLV_OPKIND_UNKNOWN : clv_op_at(g, writer)->kind;
    return types->value[t.i] || clv_tensor_at(g, root)->role == CLV_TENSOR_WEIGHT ||
           (kind >= 0 && clv_op_def_at(kind)->bytes == CLV_BYTES_CONST);
}

/* One dimension above 1 at most, and that the last one. */
static bool is_row(const clv_type *type)
{
    bool row = type->kind == CLV_TYPE_TENSOR && type->rank >= 0;
    for (int32_t i = 0; row && i < type->rank - 1; i++)
        row = type->dims[i] == 1;
    return row;
}

static bool others_are_constant(const clv_types *types, const clv_op_info *op, bool rows)
{
    int32_t n = 0;
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(types->graph, op, k);
        n += t.i >= 0 && !(is_constant(types, t) && (!rows || is_row(&types->of[t.i])));
    }
    return n <= 1;
}

static bool are_alike(const clv_types *types, const clv_op_info *op)
{
    int64_t size = clv_known_elems(&types->of[clv_op_output(types->graph, op, 0).i]);
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(types->graph, op, k);
        if (t.i >= 0 && clv_known_elems(&types->of[t.i]) != size)
            return false;
    }
    return true;
}

/* What the kernel writes, or what its first operator reads. */
static bool reads_start(const clv_graph *g, const clv_partial_kernel *kernel, const clv_op_info *op)
{
    const clv_op_info *start = clv_op_at(g, kernel->start);
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(g, op, k);
        clv_op writer = t.i < 0 ? CLV_NO_OP : clv_tensor_at(g, t)->producer;
        bool known = writer.i >= 0 && kernel->of[writer.i] == kernel->number;
        for (int32_t s = 0; s < start->n_in; s++)
            known |= t.i >= 0 && clv_op_input(g, start, s).i == t.i;
        if (!known)
            return false;
    }
    return true;
}

/* -- transposes -- */

/* Rows and columns exchanged, or the first dimension brought before the last one, or both: what
 * products of matrices in batches take as flags. */
static bool is_of_matrices(const clv_types *types, const clv_op_info *op)
{
    int64_t perm[CLV_RANK_MAX];
    int32_t rank;
    if (!perm_of(types, op, perm, &rank) || rank < 2)
        return false;
    bool batch = rank > 2 && perm[0] == 1;
    for (int32_t i = 0; i < rank - 2; i++)
        if (perm[i] != i + batch)
            return false;
    int64_t first = batch ? 0 : rank - 2;
    return (perm[rank - 2] == first && perm[rank - 1] == rank - 1) ||
           (perm[rank - 2] == rank - 1 && perm[rank - 1] == first);
}

bool clv_meets(const clv_types *types, const clv_partial_kernel *kernel,
               const clv_pattern_stage *stage, clv_op op)
{
    const clv_op_info *info = clv_op_at(types->graph, op);
    if (stage->of_matrices && is(info, "Transpose") && !is_of_matrices(types, info))
        return false;
    switch (stage->with) {
    case CLV_WITH_CONSTANTS:
        return others_are_constant(types, info, false);
    case CLV_WITH_ROW:
        return others_are_constant(types, info, true);
    case CLV_WITH_LIKE:
        return are_alike(types, info);
    case CLV_WITH_START:
        return reads_start(types->graph, kernel, info);
    case CLV_WITH_ANY:
        break;
    }
    return true;
}
