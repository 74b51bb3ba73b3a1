#include "kernels/attention.h"

#include "graph/ops.h"
#include "kernels/conditions.h"

static bool is(const clv_op_info *op, const char *type)
{
    return op->domain.n == 0 && clv_str_is(op->type, type);
}

static bool is_product(const clv_op_info *op)
{
    return op->kind >= 0 && (clv_op_def_at(op->kind)->flags & CLV_OPF_CONTRACTION) != 0;
}

/* -- masks -- */

/* Not one row or one column: both queries and keys count. Open dimensions may be anything. */
static bool is_square(const clv_type *type)
{
    int32_t n = type->kind == CLV_TYPE_TENSOR ? type->rank : 0;
    return n >= 2 && type->dims[n - 1] != 1 && type->dims[n - 2] != 1;
}

/* A row or a column, not one element. */
static bool is_line(const clv_type *type)
{
    bool one = true;
    for (int32_t i = 0; type->kind == CLV_TYPE_TENSOR && i < type->rank; i++)
        one = one && type->dims[i] == 1;
    return !one && !is_square(type);
}

static bool compares(const clv_op_info *op)
{
    return is(op, "Less") || is(op, "LessOrEqual") || is(op, "Greater") || is(op, "GreaterOrEqual");
}

/* A constant square, the same for all sequences and heads, as exporters fold masks of fixed sizes.
 */
static bool is_folded_mask(const clv_types *types, clv_tensor t)
{
    clv_tensor root = t.i < 0 ? t : clv_tensor_root(types->graph, t);
    const clv_type *type = t.i < 0 ? NULL : &types->of[t.i];
    if (root.i < 0 || !is_square(type) ||
        !(clv_dtype_is_float(type->dtype) || type->dtype == CLV_DT_BOOL))
        return false;
    const clv_tensor_info *at = clv_tensor_at(types->graph, root);
    int32_t writer = at->producer.i < 0 ? -1 : clv_op_at(types->graph, at->producer)->kind;
    bool constant = at->role == CLV_TENSOR_WEIGHT ||
                    (writer >= 0 && clv_op_def_at(writer)->bytes == CLV_BYTES_CONST);
    for (int32_t i = 0; i < type->rank - 2; i++)
        constant = constant && type->dims[i] == 1;
    return constant && type->dims[type->rank - 1] == type->dims[type->rank - 2];
}

static bool begins_mask(const clv_types *types, const clv_op_info *op)
{
    const clv_graph *g = types->graph;
    if (is(op, "Trilu"))
        return true;
    if (compares(op)) /* a row with a column, of which one may be repeated already */
        return is_square(&types->of[clv_op_output(g, op, 0).i]) &&
               (is_line(&types->of[clv_op_input(g, op, 0).i]) ||
                is_line(&types->of[clv_op_input(g, op, 1).i]));
    if (is(op, "Add") || is(op, "Expand") || is(op, "Where"))
        for (int32_t k = 0; k < op->n_in; k++)
            if (is_folded_mask(types, clv_op_input(g, op, k)))
                return true;
    if (!is(op, "Where"))
        return false;
    clv_tensor root = clv_tensor_root(g, clv_op_input(g, op, 0));
    clv_op writer = root.i < 0 ? CLV_NO_OP : clv_tensor_at(g, root)->producer;
    for (int32_t step = 0; writer.i >= 0 && step < 4 && is(clv_op_at(g, writer), "Slice"); step++) {
        root = clv_tensor_root(g, clv_op_input(g, clv_op_at(g, writer), 0));
        writer = clv_tensor_at(g, root)->producer;
    }
    return root.i >= 0 && clv_tensor_at(g, root)->role == CLV_TENSOR_WEIGHT &&
           is_square(&types->of[root.i]);
}

/* What masks pass on their way: never a product or a sum over something, nor as indices. */
static bool passes_mask(const clv_op_info *op, int32_t input)
{
    if (op->kind < 0)
        return false;
    const clv_op_def *def = clv_op_def_at(op->kind);
    return (def->flops == CLV_FLOPS_NONE || def->flops == CLV_FLOPS_OUT) &&
           (def->bytes != CLV_BYTES_GATHER || input == 0);
}

bool *clv_causal_masks(const clv_types *types, clv_arena *arena)
{
    const clv_graph *g = types->graph;
    bool *mask = CLV_NEW_ARRAY(arena, bool, g->n_tensors);
    for (int32_t i = 0; mask && i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        bool is_mask = op->n_out > 0 && clv_op_output(g, op, 0).i >= 0 && begins_mask(types, op);
        for (int32_t k = 0; k < op->n_in && !is_mask; k++) {
            clv_tensor t = clv_op_input(g, op, k);
            is_mask = t.i >= 0 && mask[t.i] && passes_mask(op, k);
        }
        for (int32_t k = 0; is_mask && k < op->n_out; k++)
            if (clv_op_output(g, op, k).i >= 0)
                mask[clv_op_output(g, op, k).i] = true;
    }
    return mask;
}

/* Does nothing but causal attention and what makes its masks read an operator's results? */
static bool only_masks(const clv_forming *f, clv_attention_parts *const *attention,
                       const bool *causal_masks, const bool *makes, int32_t i)
{
    const clv_op_info *op = &f->g->ops[i];
    bool read = false;
    for (int32_t k = 0; k < op->n_out; k++) {
        clv_tensor t = clv_op_output(f->g, op, k);
        const clv_tensor_info *at = t.i < 0 ? NULL : clv_tensor_at(f->g, t);
        if (at && at->is_output)
            return false;
        for (int32_t r = 0; at && r < at->n_readers; r++) {
            clv_op reader = f->g->readers_of[at->first_reader + r];
            int32_t of = f->of[reader.i];
            bool as_mask = of >= 0 && attention[of] && attention[of]->causal && causal_masks[t.i] &&
                           is_square(&f->types->of[t.i]);
            if (!as_mask && !makes[reader.i] && !clv_is_idle(f, reader))
                return false;
            read |= as_mask || makes[reader.i];
        }
    }
    return read;
}

void clv_find_mask_makers(const clv_forming *f, clv_attention_parts *const *attention,
                          const bool *causal_masks, bool *ret)
{
    for (int32_t i = f->g->n_ops; i-- > 0;)
        ret[i] = f->of[i] < 0 && !clv_is_idle(f, (clv_op){ i }) &&
                 only_masks(f, attention, causal_masks, ret, i);
}

/* -- parts -- */

typedef struct {
    const clv_forming *f;
    int32_t kernel;
} inside;

static bool is_member(const inside *k, clv_op op)
{
    return op.i >= 0 && k->f->of[op.i] == k->kernel;
}

/* Heads that share keys: by how much they are repeated on their way from t's writer upwards. */
static int64_t repeated(const inside *k, clv_tensor t)
{
    const clv_graph *g = k->f->g;
    int64_t group = 1;
    for (clv_op op = clv_tensor_at(g, t)->producer; is_member(k, op);
         op = clv_tensor_at(g, t)->producer) {
        const clv_op_info *info = clv_op_at(g, op);
        t = clv_op_input(g, info, 0);
        if (t.i < 0 || is(info, "Concat"))
            break; /* before the cache they are not repeated */
        if (is(info, "Expand") || is(info, "Tile")) {
            int64_t from = clv_known_elems(&k->f->types->of[t.i]);
            int64_t to = clv_known_elems(&k->f->types->of[clv_op_output(g, info, 0).i]);
            group *= from > 0 && to % from == 0 ? to / from : 1;
        }
    }
    return group;
}

/* Reads a mask over queries and keys before the softmax. */
static bool reads_mask(const inside *k, const bool *causal_masks)
{
    const clv_found *of = &k->f->found[k->kernel];
    for (int32_t i = 0; i < of->n; i++) {
        const clv_op_info *op = clv_op_at(k->f->g, k->f->members[of->first + i]);
        for (int32_t n = 0; n < op->n_in; n++) {
            clv_tensor t = clv_op_input(k->f->g, op, n);
            if (t.i >= 0 && causal_masks[t.i] && is_square(&k->f->types->of[t.i]))
                return true;
        }
    }
    return false;
}

/* All that is between the products is theirs alone. */
static bool stays_inside(const inside *k, clv_op scores, clv_op values)
{
    const clv_graph *g = k->f->g;
    const clv_found *of = &k->f->found[k->kernel];
    int64_t size = clv_known_elems(&k->f->types->of[clv_op_output(g, clv_op_at(g, scores), 0).i]);
    for (int32_t i = 0; i < of->n; i++) {
        clv_op op = k->f->members[of->first + i];
        const clv_op_info *info = clv_op_at(g, op);
        clv_tensor out = clv_op_output(g, info, 0);
        if (op.i < scores.i || op.i >= values.i || out.i < 0 ||
            clv_known_elems(&k->f->types->of[out.i]) != size)
            continue;
        if (clv_tensor_at(g, out)->is_output || !clv_stays_in_kernel(k->f, op, k->kernel))
            return false;
    }
    return true;
}

clv_attention_parts *clv_attention_find(const clv_forming *f, const bool *causal_masks,
                                        clv_arena *arena)
{
    const inside k = { f, f->n_found - 1 };
    const clv_found *of = &f->found[k.kernel];
    clv_op products[2];
    int32_t n = 0;
    for (int32_t i = 0; i < of->n; i++) {
        clv_op op = f->members[of->first + i];
        if (!is_product(clv_op_at(f->g, op)))
            continue;
        if (n == 2)
            return NULL;
        products[n++] = op;
    }
    if (n != 2)
        return NULL;
    clv_op scores = products[products[1].i < products[0].i],
           values = products[products[1].i > products[0].i];
    if (!(scores.i < of->anchor.i && of->anchor.i < values.i) || !stays_inside(&k, scores, values))
        return NULL;
    clv_attention_parts *made = CLV_NEW(arena, clv_attention_parts);
    if (made)
        *made = (clv_attention_parts){ scores, values,
                                       repeated(&k, clv_op_input(f->g, clv_op_at(f->g, scores), 1)),
                                       reads_mask(&k, causal_masks) };
    return made;
}
