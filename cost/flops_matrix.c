#include "cost/flops_matrix.h"

/* FLOPs, counted as ops.def counts them. */
#define RNN_GATE_FLOPS                                                                             \
    6 /* an element of a gate, beside its products: two biases, an activation of 4 */
#define UNPACK_FLOPS   2 /* an element of a packed weight: a subtraction and a product */
#define ROUTER_FLOPS   5 /* a row and expert: softmax */
#define BILINEAR_FLOPS 8 /* a sample: four corners, a product and a sum each */

static bool is(const clv_sizing *s, const char *type) { return clv_str_is(s->rule.op->type, type); }

static bool flag(const clv_sizing *s, const char *name)
{
    return clv_rule_attr_int(&s->rule, name, 0) != 0;
}

/* 1 for each element of output 0 if there is a bias at that input. */
static int64_t bias(clv_sizing *s, int32_t k)
{
    return clv_rule_has_in(&s->rule, k) ? clv_size_out_elems(s, 0) : 0;
}

static int64_t twice(clv_sizing *s, int64_t a, int64_t b)
{
    return clv_size_mul(s, 2, clv_size_mul(s, a, b));
}

/* -- matrix products -- */

/* The fused product may read its first operand turned: transA swaps the last two axes, transBatchA
 * brings the first one to the end of the batch. */
int64_t clv_size_contracted(clv_sizing *s)
{
    bool vector = clv_type_rank(clv_rule_in(&s->rule, 0)) == 1;
    if (vector || !flag(s, "transA"))
        return clv_size_in_dim(s, 0, -1);
    return clv_size_in_dim(s, 0, flag(s, "transBatchA") ? 0 : -2);
}

clv_work clv_flops_matmul(clv_sizing *s)
{
    return (clv_work){ .matrix = twice(s, clv_size_out_elems(s, 0), clv_size_contracted(s)) };
}

clv_work clv_flops_gemm(clv_sizing *s)
{
    return (clv_work){ .matrix = twice(s, clv_size_out_elems(s, 0), clv_size_contracted(s)),
                       .vector = bias(s, is(s, "QGemm") ? 6 : 2) };
}

/* Rows of A times N columns; each packed weight is unpacked once. */
clv_work clv_flops_matmul_nbits(clv_sizing *s)
{
    int64_t n = clv_size_of_dim(s, clv_rule_attr_int(&s->rule, "N", CLV_DIM_UNKNOWN));
    int64_t k = clv_size_in_dim(s, 0, -1);
    int64_t unpack = clv_size_mul(s, UNPACK_FLOPS, clv_size_mul(s, k, n));
    return (clv_work){ .matrix = twice(s, clv_size_in_elems(s, 0), n),
                       .vector = clv_size_add(s, unpack, bias(s, 5)) };
}

/* -- convolutions -- */

int32_t clv_conv_weights(const clv_sizing *s) { return is(s, "QLinearConv") ? 3 : 1; }

clv_work clv_flops_conv(clv_sizing *s)
{
    int64_t each = clv_size_in_tail(s, clv_conv_weights(s), 1);
    int64_t added = 0; /* input 2 of ConvInteger is a zero point */
    if (!is(s, "ConvInteger"))
        added = bias(s, is(s, "QLinearConv") ? 8 : 2);
    return (clv_work){ .matrix = twice(s, clv_size_out_elems(s, 0), each), .vector = added };
}

/* weights [channels, output channels / group, kernel...] */
clv_work clv_flops_conv_transpose(clv_sizing *s)
{
    return (clv_work){ .matrix = twice(s, clv_size_in_elems(s, 0), clv_size_in_tail(s, 1, 1)),
                       .vector = bias(s, 2) };
}

/* The convolution of an input that is first sampled at every place of every kernel. */
clv_work clv_flops_deform_conv(clv_sizing *s)
{
    const clv_type *out = clv_size_out(s, 0);
    int64_t each = clv_size_in_tail(s, 1, 1);
    int64_t samples = clv_size_mul(s, clv_size_in_dim(s, 0, 1), clv_size_in_tail(s, 1, 2));
    samples = clv_size_mul(s, samples, clv_size_of_dim(s, clv_type_dim(out, 0)));
    for (int32_t i = 2; i < clv_type_rank(out); i++)
        samples = clv_size_mul(s, samples, clv_size_of_dim(s, clv_type_dim(out, i)));
    int64_t sampling = BILINEAR_FLOPS + clv_rule_has_in(&s->rule, 4); /* and the mask */
    return (clv_work){ .matrix = twice(s, clv_size_out_elems(s, 0), each),
                       .vector = clv_size_add(s, clv_size_mul(s, samples, sampling), bias(s, 3)) };
}

/* -- recurrences: X [steps, batch, input] in either order, W [directions, ...] -- */

clv_work clv_flops_rnn(clv_sizing *s)
{
    int64_t rows = clv_size_mul(s, clv_size_in_dim(s, 0, 0), clv_size_in_dim(s, 0, 1));
    int64_t hidden = clv_rule_attr_int(&s->rule, "hidden_size", CLV_DIM_UNKNOWN);
    bool both = clv_str_is(clv_rule_attr_str(&s->rule, "direction", "forward"), "bidirectional");
    if (hidden == CLV_DIM_UNKNOWN)
        hidden = clv_size_in_dim(s, 2, 2);
    hidden = clv_size_of_dim(s, hidden);
    int64_t gates = clv_size_scale(s, clv_size_mul(s, rows, hidden), s->def->k * (both ? 2 : 1));
    int64_t each = clv_size_add(s, clv_size_in_dim(s, 0, 2), hidden);
    return (clv_work){ .matrix = twice(s, gates, each),
                       .vector = clv_size_mul(s, gates, RNN_GATE_FLOPS) };
}

/* -- experts: only the k that a row is sent to compute -- */

/* MoE: weights and bias alternate from input 2; QMoE has scales between them, and weights that are
 * several to a byte. */
clv_work clv_flops_moe(clv_sizing *s)
{
    bool quantized = is(s, "QMoE");
    int64_t elems = 0, router = clv_size_in_elems(s, 1); /* elems: of one expert's weights */
    int64_t experts = clv_size_in_dim(s, 1, -1), width = clv_size_in_dim(s, 0, -1);
    int64_t rows = width ? clv_size_in_elems(s, 0) / width : 0;
    int64_t chosen = clv_rule_attr_int(&s->rule, "k", 1);
    int64_t bits = clv_rule_attr_int(&s->rule, "expert_weight_bits", 4);
    int64_t packed = quantized && bits > 0 && bits < 8 ? 8 / bits : 1;
    chosen = clv_size_of_dim(s, chosen < experts ? chosen : experts);
    for (int32_t k = 2, i = 0; i < 3; i++, k += quantized ? 3 : 2)
        if (clv_rule_has_in(&s->rule, k))
            elems = clv_size_add(s, elems, clv_size_mul(s, clv_size_in_tail(s, k, 1), packed));
    return (clv_work){ .matrix = twice(s, clv_size_mul(s, rows, chosen), elems),
                       .vector = clv_size_mul(s, router, ROUTER_FLOPS) };
}
