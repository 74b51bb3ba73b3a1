#include "cost/shard_cost.h"

#include "base/int128.h"
#include "cost/bytes.h"

int64_t clv_part_bytes(const clv_mesh *mesh, const clv_layout *layout, const clv_type *type,
                       int64_t whole_bytes)
{
    clv_tensor_split split;
    if (whole_bytes <= 0)
        return 0;
    if (!clv_split_of_type(type, &split))
        return whole_bytes;
    int64_t bytes = clv_layout_bytes(layout, mesh, &split);
    return bytes < whole_bytes ? bytes : whole_bytes;
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
        if (factor_of_axis[a] >= 0)
            n_parts[factor_of_axis[a]] *= mesh->size[a];
}

int64_t clv_operand_part_bytes(const clv_factors *f, const clv_operand_factors *operand,
                               const int64_t *n_parts, const clv_type *type, int64_t whole_bytes)
{
    int64_t elems = 1, bytes = 0;
    if (whole_bytes <= 0)
        return 0;
    if (!operand || type->kind != CLV_TYPE_TENSOR || operand->rank != type->rank ||
        !clv_type_is_static(type))
        return whole_bytes;
    for (int32_t i = 0; i < type->rank; i++) {
        const clv_dim_factors *dim = &operand->dims[i];
        int64_t part = dim->n > 0 ? 1 : type->dims[i];
        for (int32_t k = 0; k < dim->n; k++)
            part *= clv_factor_part(&f->factors[dim->at[k]], n_parts[dim->at[k]]);
        elems *= part < type->dims[i] ? part : type->dims[i]; /* at most the whole, which fits */
    }
    return clv_dtype_bytes(type->dtype, elems, &bytes) && bytes < whole_bytes ? bytes : whole_bytes;
}

/* n * part / whole, rounded up; part is at most whole, so it fits. */
static int64_t share(int64_t n, int64_t part, int64_t whole)
{
    clv_int128 product = (clv_int128)n * part;
    return whole > 0 ? (int64_t)((product + whole - 1) / whole) : n;
}

static void scale_work(const clv_op_cost *whole, const clv_factors *f, const int64_t *n_parts,
                       clv_op_cost *ret)
{
    ret->flops = whole->flops;
    ret->matmul_flops = whole->matmul_flops;
    ret->workspace_bytes = whole->workspace_bytes;
    ret->math = whole->math;
    ret->speed = whole->speed;
    for (int32_t i = 0; i < f->n_factors; i++) {
        int64_t part = clv_factor_part(&f->factors[i], n_parts[i]);
        ret->flops = share(ret->flops, part, f->factors[i].size);
        ret->matmul_flops = share(ret->matmul_flops, part, f->factors[i].size);
        ret->workspace_bytes = share(ret->workspace_bytes, part, f->factors[i].size);
    }
}

clv_status clv_shard_cost(const clv_shard_op *o, const int64_t *n_parts, clv_arena *arena,
                          clv_op_cost *ret, clv_error *err)
{
    const clv_types *types = o->types;
    const clv_factors *f = o->factors;
    const clv_op_cost *whole = o->whole;
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
                                                 &types->of[t.i], types->bytes[t.i]);
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
    clv_arena_rewind(arena, mark);
    *ret = made;
    return CLV_OK;
}
