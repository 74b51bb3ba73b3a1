/* shape_tools.h - what many shape rules share. All treat what is open as open.
 *
 * A number is known more exactly than a symbol, and a symbol more exactly than nothing. Where two
 * must agree, the more exact one is kept; only two different numbers contradict each other.
 */
#ifndef CLV_GRAPH_SHAPE_TOOLS_H
#define CLV_GRAPH_SHAPE_TOOLS_H

#include "graph/dims.h"
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
/* Dimension `axis`, negative counts from the end; unknown where the type does not say. */
static inline clv_dim clv_type_dim(const clv_type *t, int32_t axis)
{
    if (!clv_type_ranked(t) || axis >= t->rank || axis < -t->rank)
        return CLV_DIM_UNKNOWN;
    return t->dims[axis < 0 ? axis + t->rank : axis];
}

/* -- inputs -- */
/* Fails if the rank of input k is known and is not `rank`. */
clv_status clv_rule_want_rank(clv_rule *r, int32_t k, int32_t rank, clv_error *err);
/* The value of a one-element input: a number, an open dim, or unknown. Floats are unknown. */
clv_dim clv_rule_scalar(const clv_rule *r, int32_t k);
/* The one element of input k as a float; false when not known. */
bool clv_rule_scalar_float(const clv_rule *r, int32_t k, double *ret);
/* Length of the 1-D input k, such as a list of axes; -1 if not known. */
int32_t clv_rule_length(const clv_rule *r, int32_t k);
/* Integers of input k as dims: known, symbolic or unknown each; false when not even their number is
 * known. When only the number is known all are unknown. */
bool clv_rule_dims(clv_rule *r, int32_t k, const clv_dim **ret, int32_t *ret_n);
/* The attribute as a dtype, or otherwise. Fails on a number that is no dtype. */
clv_status clv_rule_attr_dtype(clv_rule *r, const char *name, clv_dtype otherwise, clv_dtype *ret,
                               clv_error *err);
/* Axis in [-rank, rank-1] to [0, rank-1]; fails with both numbers otherwise. */
clv_status clv_rule_axis(clv_rule *r, int64_t axis, int32_t rank, int32_t *ret, clv_error *err);
/* The same of an attribute. */
clv_status clv_rule_attr_axis(clv_rule *r, const char *name, int64_t otherwise, int32_t rank,
                              int32_t *ret, clv_error *err);

/* -- shapes that meet -- */
/* A shape that a rule works out. */
typedef struct {
    int32_t rank;
    clv_dim dims[CLV_RANK_MAX];
} clv_shape;
/* The shape of a type whose rank is known. */
static inline void clv_shape_copy(clv_shape *to, const clv_type *from)
{
    to->rank = from->rank;
    clv_dims_copy(to->dims, from->dims, from->rank);
}

/* Of two dims that must agree: the one that is known; fails when both are numbers and differ. */
clv_status clv_rule_same_dim(clv_rule *r, clv_dim a, clv_dim b, const char *what, clv_dim *ret,
                             clv_error *err);
/* numpy broadcasting of one pair of dims. */
clv_status clv_rule_broadcast_dim(clv_rule *r, clv_dim a, clv_dim b, clv_dim *ret, clv_error *err);
/* numpy broadcasting: shape becomes what it and the shape of `by`, whose rank is known, give. */
clv_status clv_rule_broadcast(clv_rule *r, clv_shape *shape, const clv_type *by, clv_error *err);
/* numpy's matrix product of two shapes whose ranks are known. */
clv_status clv_rule_matmul(clv_rule *r, const clv_type *a, const clv_type *b, clv_shape *ret,
                           clv_error *err);
/* Of two types that may both flow to one place (branches, loop-carried): what is true of both. */
clv_status clv_rule_merge(clv_rule *r, const clv_type *a, const clv_type *b, clv_type *ret,
                          clv_error *err);

/* -- outputs -- */
/* Output `out` is a tensor of dtype with the shape of `like`, which may be open. */
clv_status clv_rule_set_like(clv_rule *r, int32_t out, clv_dtype dtype, const clv_type *like,
                             clv_error *err);
/* Output `out` has the type of input `in`. */
clv_status clv_rule_set_same(clv_rule *r, int32_t out, int32_t in, clv_error *err);
/* Rank known, dims open; rank may be CLV_RANK_UNKNOWN. */
clv_status clv_rule_set_rank(clv_rule *r, int32_t out, clv_dtype dtype, int32_t rank,
                             clv_error *err);
/* Not even the rank is known. */
static inline clv_status clv_rule_set_unranked(clv_rule *r, int32_t out, clv_dtype dtype,
                                               clv_error *err)
{
    return clv_rule_set(r, out, dtype, CLV_RANK_UNKNOWN, NULL, err);
}
static inline clv_status clv_rule_set_scalar(clv_rule *r, int32_t out, clv_dtype dtype,
                                             clv_error *err)
{
    return clv_rule_set(r, out, dtype, 0, NULL, err);
}
/* A sequence or optional of a copy of elem. */
clv_status clv_rule_set_wrapped(clv_rule *r, int32_t out, clv_type_kind kind, const clv_type *elem,
                                clv_error *err);

#endif
