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

#include "graph/relations.h"
#include "graph/types.h"

typedef struct clv_rule clv_rule;

/* What is known of the inputs of a body when it is inferred: of the first n. */
typedef struct {
    int32_t n;
    const clv_type *types;
    const clv_value *const *values; /* NULL entries: not known; may itself be NULL */
} clv_body_inputs;

struct clv_rule {
    const clv_model *model;
    const clv_graph *graph;
    const clv_op_info *op;
    int64_t version;  /* of the operator set of the operator's domain; the newest known if absent */
    clv_types *types; /* of the graph, filled for all earlier operators */
    clv_arena *arena;
    const clv_rule *caller; /* in a function body: the call, for attribute references */
    /* Infers a body of the operator, or the function it calls: inference itself, one level down.
     * NULL where the rule is only read. */
    clv_status (*infer_body)(clv_rule *r, const clv_graph *body, const clv_body_inputs *in,
                             clv_types **ret, clv_error *err);
    void *inference;          /* of infer_body */
    clv_relations *relations; /* of the model's symbols, as they are found; NULL: not looked for */
    bool always;              /* does every run of the model run the operator? */
};

/* The types of the rules that ops.def names; a family's header declares its rules by them:
 * `clv_shape_rule clv_shape_gather;` is `clv_status clv_shape_gather(clv_rule *r, clv_error *err);`
 * A rule that has no comment there follows the definition of the operator of its name. */
typedef clv_status clv_shape_rule(clv_rule *r, clv_error *err);
typedef clv_status clv_fold_rule(clv_rule *r, clv_error *err);

/* -- inputs; k counts explicit inputs. A missing one has kind CLV_TYPE_UNKNOWN. O(1). -- */
int32_t clv_rule_n_in(const clv_rule *r);
bool clv_rule_has_in(const clv_rule *r, int32_t k);
const clv_type *clv_rule_in(const clv_rule *r, int32_t k);
/* NULL when the value is not known (some elements of a known value may still be open dims). */
const clv_value *clv_rule_value(const clv_rule *r, int32_t k);
/* The value as whole numbers, all known; false otherwise. */
bool clv_rule_ints(const clv_rule *r, int32_t k, const int64_t **ret, int32_t *ret_n);

/* -- attributes, references to a caller's attributes resolved; otherwise: where there is none of
 * that name and kind. O(attributes of the operator). -- */
const clv_attr *clv_rule_attr(const clv_rule *r, const char *name);
int64_t clv_rule_attr_int(const clv_rule *r, const char *name, int64_t otherwise);
float clv_rule_attr_float(const clv_rule *r, const char *name, float otherwise);
clv_str clv_rule_attr_str(const clv_rule *r, const char *name, const char *otherwise);
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
clv_status clv_rule_set(clv_rule *r, int32_t k, clv_dtype dtype, int32_t rank, const clv_dim *dims,
                        clv_error *err);
/* The same of any type, which is copied. */
clv_status clv_rule_set_type(clv_rule *r, int32_t k, const clv_type *type, clv_error *err);
/* The value of output k; ints or floats, copied; ignored over CLV_VALUE_MAX elements. */
clv_status clv_rule_set_ints(clv_rule *r, int32_t k, int32_t n, const clv_dim *ints,
                             clv_error *err);
clv_status clv_rule_set_floats(clv_rule *r, int32_t k, int32_t n, const double *floats,
                               clv_error *err);

/* -- dimensions that are open -- */
/* As clv_dim_add() and clv_dim_sub(), with sums of symbols. */
clv_dim clv_rule_add(const clv_rule *r, clv_dim a, clv_dim b);
clv_dim clv_rule_sub(const clv_rule *r, clv_dim a, clv_dim b);
/* The operator takes only dimensions that are equal: known from here on as a relation of their
 * symbols. Numbers that differ are not refused, but noted (clv_relations.disagree). */
void clv_rule_relate(const clv_rule *r, clv_dim a, clv_dim b);

/* CLV_EFORMAT with "operator 'label' (Type): " before the words. */
clv_status clv_rule_fail(const clv_rule *r, clv_error *err, const char *fmt, ...) CLV_PRINTF(3, 4);

/* -- bodies -- */
/* The body of that attribute and its number among the operator's bodies; NULL if there is none. */
const clv_graph *clv_rule_body_graph(const clv_rule *r, const char *name, int32_t *ret_index);
/* Infers body number b of the operator; the result is also kept in clv_types.body. */
clv_status clv_rule_body(clv_rule *r, int32_t b, const clv_body_inputs *in, const clv_types **ret,
                         clv_error *err);
/* Type of output k of a body that was inferred. */
static inline const clv_type *clv_body_output(const clv_types *body, int32_t k)
{
    return &body->of[body->graph->outputs[k].i];
}
/* Records how often the body runs. */
void clv_rule_trips(clv_rule *r, int64_t trips);

#endif
