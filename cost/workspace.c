/* workspace.c - convolutions unfold one image (im2col, Chellapilla et al. 2006); products copy a
 * panel of either operand into the order in which the units read it; attention keeps the scores of
 * one head; recurrences the gates of one step.
 */
#include "cost/workspace.h"

#include "cost/flops_attention.h"
#include "cost/flops_einsum.h"
#include "cost/flops_matrix.h"
#include "cost/shapes.h"

/* Rows or columns of a panel: two tiles of 128, the width of a matrix unit (TPU v2: Jouppi et al.
 * 2020) and of a thread block's tile (CUTLASS). */
#define PANEL       256
#define SCORE_BYTES 4 /* bytes of a score or gate: sums are kept in 32 bits */

static int64_t bytes_of(clv_sizing *s, clv_dtype dtype, int64_t elems)
{
    int64_t bytes = 0;
    if (!clv_dtype_bytes(dtype, elems, &bytes))
        s->overflow = true;
    return bytes;
}

static clv_dtype dtype_of_input(const clv_sizing *s) { return clv_rule_in(&s->rule, 0)->dtype; }

static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

/* Panels of A [rows, k] and B [k, columns]. */
static int64_t panels(clv_sizing *s, int64_t rows, int64_t columns, int64_t k)
{
    int64_t wide = at_most(rows, PANEL) + at_most(columns, PANEL);
    return bytes_of(s, dtype_of_input(s), clv_size_mul(s, wide, k));
}

static int64_t product(clv_sizing *s, int64_t k)
{
    int64_t elems = clv_size_out_elems(s, 0);
    int64_t columns = clv_size_of_dim(s, clv_type_dim(clv_size_out(s, 0), -1));
    if (clv_type_rank(clv_size_out(s, 0)) == 0)
        return panels(s, 1, 1, k);
    return panels(s, columns ? elems / columns : 0, columns, k);
}

/* -- convolutions: kernel elements * channels of a group for each place of one image -- */

/* Elements of one image of that type, without its channels. */
static int64_t places(clv_sizing *s, const clv_type *type, bool channels_last)
{
    int32_t rank = clv_type_rank(type), from = channels_last ? 1 : 2;
    int64_t n = 1;
    for (int32_t i = from; i < from + rank - 2; i++)
        n = clv_size_mul(s, n, clv_size_of_dim(s, clv_type_dim(type, i)));
    return n;
}

/* A kernel of one element that visits every place reads the input as it lies. */
static int64_t conv(clv_sizing *s)
{
    bool last =
        clv_str_is(s->rule.op->type, "NhwcConv") || clv_str_is(s->rule.op->type, "NhwcFusedConv");
    const clv_type *weights = clv_rule_in(&s->rule, clv_conv_weights(s));
    const int64_t *strides;
    int64_t kernel = 1;
    int32_t n_strides;
    bool visits_all = true; /* a stride of 1 along each axis */
    if (clv_rule_attr_ints(&s->rule, "strides", &strides, &n_strides))
        for (int32_t i = 0; i < n_strides; i++)
            visits_all &= strides[i] == 1;
    for (int32_t i = last ? 1 : 2; i < clv_type_rank(weights) - (last ? 1 : 0); i++)
        kernel = clv_size_mul(s, kernel, clv_size_of_dim(s, weights->dims[i]));
    if (kernel == 1 && visits_all)
        return 0;
    int64_t unfolded =
        clv_size_mul(s, clv_size_in_dim(s, clv_conv_weights(s), last ? -1 : 1), kernel);
    unfolded = clv_size_mul(s, unfolded, places(s, clv_size_out(s, 0), last));
    return bytes_of(s, dtype_of_input(s), unfolded);
}

/* What is folded back: all that the places of one input image give. */
static int64_t conv_transpose(clv_sizing *s)
{
    int64_t group = clv_size_of_dim(s, clv_rule_attr_int(&s->rule, "group", 1));
    int64_t each = clv_size_mul(s, clv_size_in_tail(s, 1, 1), group);
    int64_t n = clv_size_mul(s, each, places(s, clv_rule_in(&s->rule, 0), false));
    return bytes_of(s, dtype_of_input(s), n);
}

/* -- the others -- */

/* Gates of one step, of both directions. */
static int64_t rnn(clv_sizing *s)
{
    bool rows_first = clv_rule_attr_int(&s->rule, "layout", 0) == 1;
    int64_t rows = clv_size_in_dim(s, 0, rows_first ? 0 : 1);
    int64_t hidden = clv_rule_attr_int(&s->rule, "hidden_size", CLV_DIM_UNKNOWN);
    if (hidden == CLV_DIM_UNKNOWN)
        hidden = clv_size_in_dim(s, 2, 2);
    int64_t gates = clv_size_scale(s, clv_size_of_dim(s, hidden), s->def->k);
    gates = clv_size_mul(s, gates, clv_size_in_dim(s, 1, 0));
    return clv_size_mul(s, clv_size_mul(s, gates, rows), SCORE_BYTES);
}

int64_t clv_wanted_workspace(clv_sizing *s)
{
    clv_flops_kind kind = s->def->flops;
    if (!(s->def->flags & CLV_OPF_CONTRACTION))
        return 0;
    if (kind == CLV_FLOPS_CONV || kind == CLV_FLOPS_DEFORM_CONV)
        return conv(s);
    if (kind == CLV_FLOPS_CONV_TRANSPOSE)
        return conv_transpose(s);
    if (kind == CLV_FLOPS_RNN)
        return rnn(s);
    if (kind == CLV_FLOPS_ATTENTION) {
        clv_attention a = clv_attention_shape(s);
        return clv_size_mul(s, clv_size_mul(s, a.queries, a.keys), SCORE_BYTES);
    }
    if (kind == CLV_FLOPS_MOE) {
        const clv_kernel_shape shape = clv_experts_sizes(s);
        return shape.kind == CLV_SHAPE_EXPERTS
                   ? bytes_of(s, dtype_of_input(s), clv_experts_scratch_elems(&shape))
                   : 0;
    }
    if (kind == CLV_FLOPS_EINSUM) { /* its sums run over what both operands are larger by */
        int64_t flops = clv_flops_einsum(s).matrix, elems = clv_size_out_elems(s, 0);
        return product(s, elems > 0 ? flops / 2 / elems : 0);
    }
    return product(s, clv_size_contracted(s));
}
