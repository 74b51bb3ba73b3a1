#include "cost/shapes.h"

#include "cluster/expert_load.h"
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
    w.batch = e->out / (w.m * w.n) > 0 ? e->out / (w.m * w.n) : 1;
    return w;
}

clv_kernel_shape clv_convolution_shape(int64_t flops, const clv_product_elems *e, clv_dtype weights,
                                       int64_t taps)
{
    int64_t adds = flops / 2;
    clv_kernel_shape w = {
        .kind = CLV_SHAPE_PRODUCT, .weights = weights, .batch = 1, .taps = taps
    };
    if (adds <= 0 || e->in[1] <= 0 || e->out <= 0 || taps <= 0)
        return (clv_kernel_shape){ .kind = CLV_SHAPE_NONE };
    w.k = adds / e->out > 0 ? adds / e->out : 1;
    if (w.k == taps && taps > 1)
        return (clv_kernel_shape){ .kind = CLV_SHAPE_NONE };
    w.n = e->in[1] / w.k > 0 ? e->in[1] / w.k : 1;
    w.m = e->out / w.n > 0 ? e->out / w.n : 1;
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

int64_t clv_shape_bytes(clv_dtype dtype, double elems)
{
    double bytes = elems * (double)clv_dtype_bits(dtype) / 8;
    return bytes < (double)(INT64_MAX / 8) ? (int64_t)bytes : INT64_MAX / 8;
}

int64_t clv_attention_read_bytes(const clv_kernel_shape *w, clv_dtype dtype)
{
    double rows = (double)w->batch * (double)w->width;
    return clv_shape_bytes(dtype, rows * (double)w->heads * (double)w->queries) +
           clv_shape_bytes(w->weights, 2 * rows * (double)w->kv_heads * (double)w->keys);
}

int64_t clv_attention_write_bytes(const clv_kernel_shape *w, clv_dtype dtype)
{
    return clv_shape_bytes(dtype, (double)w->batch * (double)w->width * (double)w->heads *
                                      (double)w->queries);
}

/* -- experts -- */

/* MoE: weights and bias alternate from input 2, of the products up, back, and of the gate. QMoE has
 * scales between them. Where the gate is not by itself, the first weights have twice the rows. */
clv_kernel_shape clv_experts_sizes(clv_sizing *s)
{
    bool quantized = clv_str_is(s->rule.op->type, "QMoE");
    int32_t step = quantized ? 3 : 2;
    int64_t bits = quantized ? clv_rule_attr_int(&s->rule, "expert_weight_bits", 4) : 0;
    int64_t packed = bits > 0 && bits < 8 ? 8 / bits : 1;
    int64_t hidden = clv_size_in_dim(s, 0, -1), elems = clv_size_in_elems(s, 0);
    int64_t up = clv_size_mul(s, clv_size_in_tail(s, 2, 1), packed);
    int64_t down = clv_size_mul(s, clv_size_in_tail(s, 2 + step, 1), packed);
    int64_t experts = clv_size_in_dim(s, 1, -1), k = clv_rule_attr_int(&s->rule, "k", 1);
    if (s->open || s->overflow || elems < 1 || hidden < 1 || down < hidden || experts < 1 || k < 1)
        return (clv_kernel_shape){ .kind = CLV_SHAPE_NONE };
    return (clv_kernel_shape){ .kind = CLV_SHAPE_EXPERTS,
                               .weights = !quantized  ? clv_rule_in(&s->rule, 2)->dtype
                                          : bits <= 4 ? CLV_DT_INT4
                                                      : CLV_DT_INT8,
                               .tokens = elems / hidden,
                               .hidden = hidden,
                               .intermediate = down / hidden,
                               .experts = experts,
                               .top_k = k < experts ? k : experts,
                               .parts = 1,
                               .skew = CLV_EXPERTS_SKEW,
                               .gated = clv_rule_has_in(&s->rule, 2 + 2 * step) || up / 2 >= down };
}

clv_kernel_shape clv_experts_shape(const clv_experts_parts *of, clv_dtype weights)
{
    if (of->tokens < 1 || of->hidden < 1 || of->intermediate < 1)
        return (clv_kernel_shape){ .kind = CLV_SHAPE_NONE };
    return (clv_kernel_shape){ .kind = CLV_SHAPE_EXPERTS,
                               .weights = weights,
                               .tokens = of->tokens,
                               .hidden = of->hidden,
                               .intermediate = of->intermediate,
                               .experts = of->experts,
                               .top_k = of->top_k,
                               .parts = 1,
                               .skew = CLV_EXPERTS_SKEW,
                               .gated = of->gated };
}

double clv_experts_hit(const clv_kernel_shape *w)
{
    clv_expert_load load;
    if (w->kind != CLV_SHAPE_EXPERTS || !clv_expert_load_of(w, &load))
        return 1;
    double hit = load.hit * (double)w->parts / (double)w->experts;
    return hit < 1 ? hit : 1;
}

int64_t clv_experts_scratch_elems(const clv_kernel_shape *w)
{
    int64_t first = w->intermediate * (w->gated ? 2 : 1), rows, elems; /* both are of a weight */
    int64_t widest = first > w->hidden ? first : w->hidden;
    if (__builtin_mul_overflow(w->tokens, w->top_k, &rows) ||
        __builtin_mul_overflow(rows, widest + w->intermediate, &elems))
        return INT64_MAX / 64;
    return elems;
}
