#include "cost/shard_cost.h"

#include "base/int128.h"
#include "cost/bytes.h"
#include "cost/kernel_costs.h"
#include "cost/shapes.h"
#include "graph/ops.h"

/* n * part / whole, rounded up; part is at most whole, so it fits. */
static int64_t share(int64_t n, int64_t part, int64_t whole)
{
    clv_int128 product = (clv_int128)n * part;
    return whole > 0 ? (int64_t)((product + whole - 1) / whole) : n;
}

/* Of a part that takes so many bytes without what is stored beside the elements, as scales of
 * blocks are: with its share of that. */
static int64_t stored_bytes(int64_t part_bytes, const clv_type *type, int64_t whole_bytes)
{
    int64_t dense_bytes, elems = clv_type_elems(type);
    if (elems > 0 && clv_dtype_bytes(type->dtype, elems, &dense_bytes) && dense_bytes > 0 &&
        dense_bytes < whole_bytes && part_bytes <= dense_bytes)
        return share(whole_bytes, part_bytes, dense_bytes);
    return part_bytes < whole_bytes ? part_bytes : whole_bytes;
}

int64_t clv_part_bytes(const clv_mesh *mesh, const clv_layout *layout, const clv_type *type,
                       int64_t whole_bytes)
{
    clv_tensor_split split;
    if (whole_bytes <= 0)
        return 0;
    if (!clv_split_of_type(type, &split))
        return whole_bytes;
    return stored_bytes(clv_layout_bytes(layout, mesh, &split), type, whole_bytes);
}

int64_t clv_factor_part(const clv_factor *f, int64_t n)
{
    int64_t granule = f->granule > 1 ? f->granule : 1;
    int64_t units = f->size / granule + (f->size % granule != 0);
    int64_t part = (units / n + (units % n != 0)) * granule;
    return part < f->size ? part : f->size;
}

void clv_factor_parts(const clv_factors *f, const clv_mesh *mesh, const int16_t *factor_of_axis,
                      int64_t *n_parts)
{
    for (int32_t i = 0; i < f->n_factors; i++)
        n_parts[i] = 1;
    for (int32_t a = 0; a < mesh->n_axes; a++)
        if (factor_of_axis[a] >= 0 &&
            f->factors[factor_of_axis[a]].kind != CLV_FACTOR_SUMMANDS) /* each does all the work */
            n_parts[factor_of_axis[a]] *= mesh->size[a];
}

/* Of dimension i of an operand, the largest part. */
static int64_t part_dim(const clv_factors *f, const clv_operand_factors *operand,
                        const int64_t *n_parts, const clv_type *type, int32_t i)
{
    const clv_dim_factors *dim = &operand->dims[i];
    int64_t part = dim->n > 0 ? 1 : type->dims[i];
    for (int32_t k = 0; k < dim->n; k++)
        part *= clv_factor_part(&f->factors[dim->at[k]], n_parts[dim->at[k]]);
    return part < type->dims[i] ? part : type->dims[i];
}

/* Is it clear which part of it a device has? */
static bool has_parts(const clv_operand_factors *operand, const clv_type *type)
{
    return operand && type->kind == CLV_TYPE_TENSOR && operand->rank == type->rank &&
           clv_type_is_static(type);
}

static int64_t part_elems(const clv_factors *f, const clv_operand_factors *operand,
                          const int64_t *n_parts, const clv_type *type)
{
    int64_t elems = 1;
    if (!has_parts(operand, type))
        return clv_type_elems(type);
    for (int32_t i = 0; i < type->rank; i++)
        elems *= part_dim(f, operand, n_parts, type, i); /* at most the whole, which fits */
    return elems;
}

int64_t clv_operand_part_bytes(const clv_factors *f, const clv_operand_factors *operand,
                               const int64_t *n_parts, const clv_type *type, int64_t whole_bytes)
{
    int64_t bytes = 0;
    if (whole_bytes <= 0)
        return 0;
    if (!has_parts(operand, type))
        return whole_bytes;
    int64_t elems = part_elems(f, operand, n_parts, type);
    return clv_dtype_bytes(type->dtype, elems, &bytes) ? stored_bytes(bytes, type, whole_bytes)
                                                       : whole_bytes;
}

static void scale_work(const clv_op_cost *whole, const clv_factors *f, const int64_t *n_parts,
                       clv_op_cost *ret)
{
    ret->flops = whole->flops;
    ret->matmul_flops = whole->matmul_flops;
    ret->workspace_bytes = whole->workspace_bytes;
    ret->math = whole->math;
    ret->speed = whole->speed;
    ret->share = whole->share;
    ret->starts = whole->starts;
    ret->captured = whole->captured;
    ret->quantised = whole->quantised;
    ret->result = whole->result;
    for (int32_t i = 0; i < f->n_factors; i++) {
        int64_t part = clv_factor_part(&f->factors[i], n_parts[i]);
        ret->flops = share(ret->flops, part, f->factors[i].size);
        ret->matmul_flops = share(ret->matmul_flops, part, f->factors[i].size);
        ret->workspace_bytes = share(ret->workspace_bytes, part, f->factors[i].size);
    }
}

/* -- sizes for measured times -- */

static const clv_operand_factors *in_factors(const clv_factors *f, int32_t k)
{
    return k < f->n_in ? &f->in[k] : NULL;
}

static clv_kernel_shape product_part(const clv_shard_op *o, const int64_t *n_parts, int64_t flops)
{
    const clv_graph *g = o->types->graph;
    const clv_op_info *info = clv_op_at(g, o->op);
    const clv_factors *f = o->factors;
    int32_t in[] = { 0, clv_second_operand(info) };
    const clv_rule rule = { .graph = g, .op = info, .types = (clv_types *)o->types };
    clv_product_elems e = { .out = part_elems(f, f->n_out > 0 ? &f->out[0] : NULL, n_parts,
                                              &o->types->of[clv_op_output(g, info, 0).i]) };
    for (int32_t i = 0; i < 2; i++)
        e.in[i] =
            part_elems(f, in_factors(f, in[i]), n_parts, clv_type_read(o->types, info, in[i]));
    e.in[1] = clv_product_operand_elems(&rule, e.in[1]);
    const clv_kernel_shape *whole = &o->costs->of[o->op.i].shape;
    if (whole->taps > 0) /* no kernel is cut */
        return clv_convolution_shape(flops, &e, whole->weights, whole->taps);
    return clv_product_shape(flops, &e, whole->weights);
}

/* Of attention that is written out: from its scores. */
static clv_kernel_shape scores_part(const clv_shard_op *o, const int64_t *n_parts,
                                    const clv_kernel_shape *whole)
{
    const clv_graph *g = o->types->graph;
    const clv_op_info *info = clv_op_at(g, o->op);
    const clv_factors *f = o->factors;
    const clv_type *type = &o->types->of[clv_op_output(g, info, 0).i];
    const clv_type *query = &o->types->of[clv_op_input(g, info, 0).i];
    int64_t dims[CLV_RANK_MAX], width = whole->width;
    if (f->n_out < 1 || !has_parts(&f->out[0], type))
        return *whole;
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = part_dim(f, &f->out[0], n_parts, type, i);
    if (has_parts(in_factors(f, 0), query) && query->rank > 0)
        width = part_dim(f, in_factors(f, 0), n_parts, query, query->rank - 1);
    return clv_scores_shape(dims, type->rank, width, whole->heads / whole->kv_heads);
}

/* Of one operator: the batch and the queries as they are cut; what else of the work is cut are
 * heads. */
static clv_kernel_shape attention_part(const clv_shard_op *o, const int64_t *n_parts,
                                       const clv_kernel_shape *whole)
{
    const clv_graph *g = o->types->graph;
    const clv_op_info *info = clv_op_at(g, o->op);
    const clv_factors *f = o->factors;
    const clv_type *type = &o->types->of[clv_op_input(g, info, 0).i];
    clv_kernel_shape part = *whole;
    if (!has_parts(in_factors(f, 0), type) || type->rank < 3)
        return part;
    int32_t sequence = type->rank == 4 && info->domain.n == 0 ? 2 : 1;
    part.batch =
        share(whole->batch, part_dim(f, in_factors(f, 0), n_parts, type, 0), type->dims[0]);
    part.queries = share(whole->queries, part_dim(f, in_factors(f, 0), n_parts, type, sequence),
                         type->dims[sequence]);
    for (int32_t i = 0; i < f->n_factors; i++)
        part.heads =
            share(part.heads, clv_factor_part(&f->factors[i], n_parts[i]), f->factors[i].size);
    part.heads = share(part.heads, whole->batch, part.batch);
    part.heads = share(part.heads, whole->queries, part.queries);
    part.heads = part.heads < whole->heads ? part.heads : whole->heads;
    part.kv_heads = share(part.heads, whole->kv_heads, whole->heads);
    return part;
}

/* Elements of the last dimension of an operand's part. */
static int64_t last_part(const clv_factors *f, const clv_operand_factors *operand,
                         const int64_t *n_parts, const clv_type *type)
{
    return part_dim(f, operand, n_parts, type, type->rank - 1);
}

/* Of one product of experts that are written out: as it is cut itself. */
static clv_kernel_shape expert_part(const clv_shard_op *o, const int64_t *n_parts,
                                    const clv_kernel_shape *whole)
{
    const clv_graph *g = o->types->graph;
    const clv_op_info *info = clv_op_at(g, o->op);
    const clv_operand_factors *in = in_factors(o->factors, 0);
    const clv_operand_factors *out = o->factors->n_out > 0 ? &o->factors->out[0] : NULL;
    const clv_type *from = &o->types->of[clv_op_input(g, info, 0).i];
    const clv_type *to = &o->types->of[clv_op_output(g, info, 0).i];
    clv_kernel_shape part = *whole;
    if (!has_parts(in, from) || !has_parts(out, to) || from->rank < 1 || to->rank < 1)
        return part;
    int64_t read = last_part(o->factors, in, n_parts, from);
    int64_t made = last_part(o->factors, out, n_parts, to);
    int64_t last = to->dims[to->rank - 1] > 0 ? to->dims[to->rank - 1] : 1;
    int64_t rows = clv_type_elems(to) / last;
    int64_t own = part_elems(o->factors, out, n_parts, to) / (made > 0 ? made : 1);
    part.tokens = share(whole->tokens, own, rows);
    part.hidden = whole->back ? made : read;
    part.intermediate = whole->back ? read : made;
    return part;
}

/* Of one operator: experts as they are shared out, each with its part of the columns. */
static clv_kernel_shape experts_part(const clv_shard_op *o, const int64_t *n_parts,
                                     const clv_kernel_shape *whole)
{
    const clv_graph *g = o->types->graph;
    const clv_factors *f = o->factors;
    const clv_op_info *info = clv_op_at(g, o->op);
    int32_t second = clv_str_is(info->type, "QMoE") ? 5 : 4;
    const clv_type *tokens = &o->types->of[clv_op_input(g, info, 0).i];
    const clv_type *back = &o->types->of[clv_op_input(g, info, second).i];
    clv_kernel_shape part = *whole;
    if (!has_parts(in_factors(f, 0), tokens) || !has_parts(in_factors(f, second), back))
        return part;
    int64_t experts = part_dim(f, in_factors(f, second), n_parts, back, 0);
    int64_t inner = share(whole->intermediate, part_elems(f, in_factors(f, second), n_parts, back),
                          clv_type_elems(back));
    part.tokens = part_elems(f, in_factors(f, 0), n_parts, tokens) / whole->hidden;
    part.parts = share(1, whole->experts, experts);
    inner = share(inner, whole->experts, experts);
    part.intermediate = inner < whole->intermediate ? inner : whole->intermediate;
    return part;
}

static void set_shape(const clv_shard_op *o, const int64_t *n_parts, clv_op_cost *ret)
{
    const clv_kernel_shape *whole = &o->costs->of[o->op.i].shape;
    const clv_op_info *info = clv_op_at(o->types->graph, o->op);
    if (whole->kind == CLV_SHAPE_PRODUCT)
        ret->shape = product_part(o, n_parts, ret->matmul_flops);
    if (whole->kind == CLV_SHAPE_EXPERTS) {
        bool one = info->kind >= 0 && clv_op_def_at(info->kind)->flops == CLV_FLOPS_MOE;
        ret->shape = one ? experts_part(o, n_parts, whole) : expert_part(o, n_parts, whole);
        if (!one)
            clv_expert_product_cost(ret);
    }
    if (whole->kind != CLV_SHAPE_ATTENTION)
        return;
    bool is_one = info->kind >= 0 && clv_op_def_at(info->kind)->flops == CLV_FLOPS_ATTENTION;
    ret->shape = is_one ? attention_part(o, n_parts, whole) : scores_part(o, n_parts, whole);
    ret->shape.weights = whole->weights;
    ret->shape.causal = whole->causal;
}

clv_status clv_shard_cost(const clv_shard_op *o, const int64_t *n_parts, clv_arena *arena,
                          clv_op_cost *ret, clv_error *err)
{
    const clv_types *types = o->types;
    const clv_factors *f = o->factors;
    const clv_op_cost *whole = &o->costs->of[o->op.i];
    const clv_graph *g = types->graph;
    const clv_op_info *info = clv_op_at(g, o->op);
    clv_op_cost made = { .read_bytes = whole->read_bytes, .write_bytes = whole->write_bytes };
    clv_mark mark = clv_arena_mark(arena);
    int64_t *in = CLV_NEW_ARRAY(arena, int64_t, info->n_in);
    int64_t *out = CLV_NEW_ARRAY(arena, int64_t, info->n_out);
    if (!in || !out)
        return clv_fail_nomem(err, "the cost of a shard");
    scale_work(whole, f, n_parts, &made);
    for (int32_t k = 0; k < info->n_in; k++) {
        clv_tensor t = clv_op_input(g, info, k);
        in[k] = t.i < 0 ? 0
                        : clv_operand_part_bytes(f, k < f->n_in ? &f->in[k] : NULL, n_parts,
                                                 clv_type_read(types, info, k),
                                                 clv_bytes_read(types, info, k));
    }
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(g, info, k);
        out[k] = t.i < 0 ? 0
                         : clv_operand_part_bytes(f, k < f->n_out ? &f->out[k] : NULL, n_parts,
                                                  &types->of[t.i], types->bytes[t.i]);
    }
    /* What is folded or a body's was not counted by its inputs and outputs: nor is it here. */
    if (f->n_factors > 0 && (whole->read_bytes > 0 || whole->write_bytes > 0)) {
        clv_sizing s = { .rule = { .graph = g, .op = info, .types = (clv_types *)types },
                         .def = info->kind >= 0 ? clv_op_def_at(info->kind) : NULL,
                         .in_bytes = in,
                         .out_bytes = out };
        clv_traffic traffic = clv_bytes(&s);
        made.read_bytes = traffic.read;
        made.write_bytes = traffic.write;
    }
    set_shape(o, n_parts, &made);
    if (o->costs->kernels && made.shape.kind == CLV_SHAPE_ATTENTION) { /* scores stay inside */
        made.read_bytes = clv_attention_read_bytes(&made.shape, made.math);
        made.write_bytes = clv_attention_write_bytes(&made.shape, made.math);
    }
    clv_arena_rewind(arena, mark);
    *ret = made;
    return CLV_OK;
}
