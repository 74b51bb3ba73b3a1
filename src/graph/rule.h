/* rule.h - what a shape rule or fold rule sees: one operator, its inputs' types and values.
 *
 * A shape rule sets what it knows of the outputs and returns CLV_OK; what it does not set stays
 * unknown. It fails only where the model contradicts itself, through clv_rule_fail(). A rule must
 * accept unknown input types, unknown ranks, unknown and symbolic dims, missing optional inputs,
 * missing attributes and every version of its operator: an open input gives an open output, never
 * a guess and never a crash.
 */
#ifndef CLV_GRAPH_RULE_H
#define CLV_GRAPH_RULE_H

#include "graph/infer.h"

typedef struct clv_rule clv_rule;

struct clv_rule {
    const clv_model *model;
    const clv_graph *graph;
    const clv_op_info *op;
    int64_t version; /* of the operator set of the operator's domain; the newest known if absent */
    clv_types *types; /* of the graph, filled for all earlier operators */
    clv_arena *arena;
    clv_error *err;
    struct clv_infer_state *state; /* for rules with bodies */
    const clv_rule *caller;        /* in a function body: the call, for attribute references */
};

typedef clv_status (*clv_shape_rule)(clv_rule *r);
typedef clv_status (*clv_fold_rule)(clv_rule *r);

/* -- inputs; k counts explicit inputs. Never NULL: a missing one has kind CLV_TYPE_UNKNOWN. -- */
int32_t clv_rule_n_in(const clv_rule *r);
bool clv_rule_has_in(const clv_rule *r, int32_t k);
const clv_type *clv_rule_in(const clv_rule *r, int32_t k);
/* NULL when the value is not known (some elements of a known value may still be open dims). */
const clv_value *clv_rule_value(const clv_rule *r, int32_t k);
/* The value as whole numbers, all known; false otherwise. */
bool clv_rule_ints(const clv_rule *r, int32_t k, const int64_t **ret, int32_t *ret_n);

/* -- attributes, references to a caller's attributes resolved -- */
const clv_attr *clv_rule_attr(const clv_rule *r, const char *name);
int64_t clv_rule_attr_int(const clv_rule *r, const char *name, int64_t otherwise);
float clv_rule_attr_float(const clv_rule *r, const char *name, float otherwise);
clv_str clv_rule_attr_str(const clv_rule *r, const char *name, const char *otherwise);
/* False when absent. */
bool clv_rule_attr_ints(const clv_rule *r, const char *name, const int64_t **ret, int32_t *ret_n);
/* Axes from the attribute, or from input k (newer versions): false when given but not known;
 * *ret_n is -1 when not given at all. */
bool clv_rule_axes(const clv_rule *r, const char *attr, int32_t k, const int64_t **ret,
                   int32_t *ret_n);

/* -- outputs -- */
int32_t clv_rule_n_out(const clv_rule *r);
bool clv_rule_has_out(const clv_rule *r, int32_t k);
/* A tensor of that dtype; dims are copied. rank CLV_RANK_UNKNOWN: dims ignored. Setting an output
 * that the node leaves out does nothing. */
clv_status clv_rule_set(clv_rule *r, int32_t k, clv_dtype dtype, int32_t rank, const clv_dim *dims);
clv_status clv_rule_set_type(clv_rule *r, int32_t k, const clv_type *type); /* type is copied */
/* The value of output k; ints or floats, copied; ignored over CLV_VALUE_MAX elements. */
clv_status clv_rule_set_ints(clv_rule *r, int32_t k, int32_t n, const clv_dim *ints);
clv_status clv_rule_set_floats(clv_rule *r, int32_t k, int32_t n, const double *floats);

/* -- small arithmetic on dims that may be open -- */
/* Of two dims that must agree: the one that is known; fails when both are numbers and differ. */
clv_status clv_rule_same_dim(clv_rule *r, clv_dim a, clv_dim b, const char *what, clv_dim *ret);
/* numpy broadcasting of one pair of dims, and of two shapes (ret_dims: room for CLV_RANK_MAX). */
clv_status clv_rule_broadcast_dim(clv_rule *r, clv_dim a, clv_dim b, clv_dim *ret);
clv_status clv_rule_broadcast(clv_rule *r, int32_t rank_a, const clv_dim *a, int32_t rank_b,
                              const clv_dim *b, int32_t *ret_rank, clv_dim *ret_dims);
clv_dim clv_dim_add(clv_dim a, clv_dim b); /* open if either is, unless adding 0 */
clv_dim clv_dim_mul(clv_dim a, clv_dim b); /* open if either is, unless by 1 or 0; open on overflow */
/* Axis in [-rank, rank-1] to [0, rank-1]; fails with both numbers otherwise. */
clv_status clv_rule_axis(clv_rule *r, int64_t axis, int32_t rank, int32_t *ret);

/* CLV_EFORMAT with "operator 'label' (Type): " before the words. */
clv_status clv_rule_fail(clv_rule *r, const char *fmt, ...) CLV_PRINTF(2, 3);

/* -- bodies: infers body number b of the operator with these input types and values (n of each,
 * values may be NULL entries); the result is also kept in clv_types.body. -- */
clv_status clv_rule_body(clv_rule *r, int32_t b, int32_t n, const clv_type *types,
                         const clv_value *const *values, const clv_types **ret);
/* Records how often the body runs. */
void clv_rule_trips(clv_rule *r, int64_t trips);

/* Of two types that may both flow to one place (branches, loop-carried): what is true of both. */
clv_status clv_rule_merge(clv_rule *r, const clv_type *a, const clv_type *b, clv_type *ret);

#endif
