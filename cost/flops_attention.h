/* flops_attention.h - FLOPs of fused attention: every query meets every key, then every value.
 *
 *   2 * batch * heads * queries * keys * (width + value width), and the projections inside
 *
 * The operators differ only in where they keep these numbers. Masks, causal ones too, do not lower
 * the count: most kernels compute what is masked, and published figures count it.
 */
#ifndef CLV_COST_FLOPS_ATTENTION_H
#define CLV_COST_FLOPS_ATTENTION_H

#include "cost/sizing.h"

/* Queries see keys, for each batch and head. */
typedef struct {
    int64_t batch, heads, queries, keys;
    int64_t width, value_width; /* of one head */
    int64_t projection;         /* FLOPs of the projections inside the operator */
} clv_attention;

/* Where each operator of the family keeps these numbers. */
clv_attention clv_attention_shape(clv_sizing *s);

/* The formula above, and what each score takes on the vector units. */
clv_work clv_flops_attention(clv_sizing *s);
/* A state of width * value width for each head instead of scores, updated by every token. */
clv_work clv_flops_linear_attention(clv_sizing *s);

#endif
