/* shape_tools.h - small helpers that many shape rules share. All treat what is open as open. */
#ifndef CLV_GRAPH_SHAPE_TOOLS_H
#define CLV_GRAPH_SHAPE_TOOLS_H

#include "graph/rule.h"

/* A tensor whose rank is known: its dims may be read. */
static inline bool clv_type_ranked(const clv_type *t)
{
    return (t->kind == CLV_TYPE_TENSOR || t->kind == CLV_TYPE_SPARSE) && t->rank >= 0;
}
static inline int32_t clv_type_rank(const clv_type *t)
{
    return clv_type_ranked(t) ? t->rank : CLV_RANK_UNKNOWN;
}
/* Dimension `axis`, negative counts from the end; unknown where the type does not tell. */
static inline clv_dim clv_type_dim(const clv_type *t, int32_t axis)
{
    if (!clv_type_ranked(t) || axis >= t->rank || axis < -t->rank)
        return CLV_DIM_UNKNOWN;
    return t->dims[axis < 0 ? axis + t->rank : axis];
}

/* -- dims -- */
/* a - b; open unless both are numbers, or b is 0, or both are the same symbol. */
clv_dim clv_dim_sub(clv_dim a, clv_dim b);
/* a / b rounded down; open unless both are numbers, or b is 1. */
clv_dim clv_dim_div(clv_dim a, int64_t b);
/* Product of n dims from at; 1 for none. */
clv_dim clv_dim_product(const clv_dim *at, int32_t n);
/* Makes n dims unknown. */
void clv_dims_open(clv_dim *dims, int32_t n);
/* memcpy, but from may be NULL when n is 0: a scalar has no dims. */
void clv_dims_copy(clv_dim *to, const clv_dim *from, int32_t n);

/* -- inputs -- */
/* Fails if the rank of input k is known and is not `rank`. */
clv_status clv_rule_want_rank(clv_rule *r, int32_t k, int32_t rank);
/* The value of a one-element input: a number, an open dim, or unknown. Floats are unknown. */
clv_dim clv_rule_scalar(const clv_rule *r, int32_t k);
/* The one element of input k as a float; false when not known. */
bool clv_rule_scalar_float(const clv_rule *r, int32_t k, double *ret);
/* Length of the 1-D input k, such as a list of axes; -1 if not known. */
int32_t clv_rule_length(const clv_rule *r, int32_t k);
/* Integers of input k as dims: known, symbolic or unknown each; false when not even their number is
 * known. When only the number is known all are unknown. */
bool clv_rule_dims(clv_rule *r, int32_t k, const clv_dim **ret, int32_t *ret_n);

/* -- outputs -- */
/* Output `out` is a tensor of dtype with the shape of `like`, which may be open. */
clv_status clv_rule_set_like(clv_rule *r, int32_t out, clv_dtype dtype, const clv_type *like);
/* Output `out` has the type of input `in`. */
clv_status clv_rule_set_same(clv_rule *r, int32_t out, int32_t in);
/* Rank known, dims open; rank may be CLV_RANK_UNKNOWN. */
clv_status clv_rule_set_rank(clv_rule *r, int32_t out, clv_dtype dtype, int32_t rank);
static inline clv_status clv_rule_set_scalar(clv_rule *r, int32_t out, clv_dtype dtype)
{
    return clv_rule_set(r, out, dtype, 0, NULL);
}
/* A sequence or optional of a copy of elem. */
clv_status clv_rule_set_wrapped(clv_rule *r, int32_t out, clv_type_kind kind, const clv_type *elem);

/* The attribute as a dtype, or otherwise. Fails on a number that is no dtype. */
clv_status clv_rule_attr_dtype(clv_rule *r, const char *name, clv_dtype otherwise, clv_dtype *ret);

/* numpy's matrix product of two shapes that are ranked; dims for CLV_RANK_MAX. */
clv_status clv_rule_matmul_dims(clv_rule *r, int32_t rank_a, const clv_dim *a, int32_t rank_b,
                                const clv_dim *b, int32_t *ret_rank, clv_dim *ret);

/* The body of that attribute and its number among the operator's bodies; NULL if there is none. */
const clv_graph *clv_rule_body_graph(const clv_rule *r, const char *name, int32_t *ret_index);
/* Type of output k of a body that was inferred. */
static inline const clv_type *clv_body_output(const clv_types *body, int32_t k)
{
    return &body->of[body->graph->outputs[k].i];
}

#endif
