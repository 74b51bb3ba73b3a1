#include "cost/shapes.h"

#include "cost/flops_attention.h"

int32_t clv_second_operand(const clv_op_info *op)
{
    bool scaled = clv_str_is(op->type, "QLinearMatMul") || clv_str_is(op->type, "QLinearConv");
    return scaled ? 3 : 1; /* behind scale and zero point of the first */
}

clv_dtype clv_second_dtype(const clv_rule *r, clv_dtype stored)
{
    if (!clv_str_is(r->op->type, "MatMulNBits"))
        return stored;
    return clv_rule_attr_int(r, "bits", 8) <= 4 ? CLV_DT_INT4 : CLV_DT_INT8;
}

int64_t clv_product_operand_elems(const clv_rule *r, int64_t elems)
{
    int64_t bits = clv_rule_attr_int(r, "bits", 8);
    bool packed = clv_str_is(r->op->type, "MatMulNBits") && bits > 0 && bits < 8;
    return packed && elems < INT64_MAX / 8 ? elems * 8 / bits : elems;
}

clv_kernel_shape clv_product_shape(int64_t flops, const clv_product_elems *e, clv_dtype weights)
{
    int64_t adds = flops / 2;
    clv_kernel_shape w = { .kind = CLV_SHAPE_PRODUCT, .weights = weights };
    if (adds <= 0 || e->in[0] <= 0 || e->in[1] <= 0 || e->out <= 0)
        return (clv_kernel_shape){ .kind = CLV_SHAPE_NONE };
    w.k = adds / e->out > 0 ? adds / e->out : 1;
    w.m = adds / e->in[1] > 0 ? adds / e->in[1] : 1;
    w.n = adds / e->in[0] > 0 ? adds / e->in[0] : 1;
    /* of an image an element is in several products, or in none */
    if (w.n > e->out / w.m || w.n * w.m > adds / w.k)
        w.n = e->out / w.m > 0 ? e->out / w.m : 1;
    w.batch = e->out / (w.m * w.n) > 0 ? e->out / (w.m * w.n) : 1;
    return w;
}

clv_kernel_shape clv_attention_sizes(clv_sizing *s)
{
    clv_attention a = clv_attention_shape(s);
    int64_t kv = clv_rule_attr_int(&s->rule, "kv_num_heads", 0);
    bool unpacked = clv_type_rank(clv_rule_in(&s->rule, 1)) == 4 && s->rule.op->domain.n == 0;
    if (a.batch <= 0 || a.heads <= 0 || a.queries <= 0 || a.keys <= 0 || a.width <= 0)
        return (clv_kernel_shape){ .kind = CLV_SHAPE_NONE };
    if (unpacked)
        kv = clv_size_in_dim(s, 1, 1);
    return (clv_kernel_shape){ .kind = CLV_SHAPE_ATTENTION,
                               .weights = clv_rule_in(&s->rule, 0)->dtype,
                               .batch = a.batch,
                               .heads = a.heads,
                               .kv_heads = kv > 0 && kv < a.heads ? kv : a.heads,
                               .queries = a.queries,
                               .keys = a.keys,
                               .width = a.width,
                               .causal = clv_rule_attr_int(&s->rule, "is_causal", 0) != 0 ||
                                         clv_rule_attr_int(&s->rule, "unidirectional", 0) != 0 ||
                                         clv_str_is(s->rule.op->type, "GroupQueryAttention") };
}

clv_kernel_shape clv_scores_shape(const int64_t *dims, int32_t rank, int64_t width, int64_t group)
{
    clv_kernel_shape w = { .kind = CLV_SHAPE_ATTENTION, .batch = 1, .heads = 1, .width = width };
    if (rank < 2 || width <= 0)
        return (clv_kernel_shape){ .kind = CLV_SHAPE_NONE };
    w.keys = dims[rank - 1];
    w.queries = dims[rank - 2];
    if (rank > 2)
        w.heads = dims[rank - 3];
    for (int32_t i = 0; i < rank - 3; i++)
        w.batch *= dims[i];
    w.kv_heads = w.heads / group > 0 ? w.heads / group : 1;
    return w.keys > 0 && w.queries > 0 && w.heads > 0 && w.batch > 0
               ? w
               : (clv_kernel_shape){ .kind = CLV_SHAPE_NONE };
}

/* elements of that type, as bytes; what does not fit is as much as there can be */
static int64_t bytes_of(clv_dtype dtype, double elems)
{
    double bytes = elems * (double)clv_dtype_bits(dtype) / 8;
    return bytes < (double)(INT64_MAX / 8) ? (int64_t)bytes : INT64_MAX / 8;
}

int64_t clv_attention_read_bytes(const clv_kernel_shape *w, clv_dtype dtype)
{
    double rows = (double)w->batch * (double)w->width;
    return bytes_of(dtype, rows * (double)w->heads * (double)w->queries) +
           bytes_of(w->weights, 2 * rows * (double)w->kv_heads * (double)w->keys);
}

int64_t clv_attention_write_bytes(const clv_kernel_shape *w, clv_dtype dtype)
{
    return bytes_of(dtype,
                    (double)w->batch * (double)w->width * (double)w->heads * (double)w->queries);
}
