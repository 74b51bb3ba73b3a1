/* values.h - what the rules of constant folding share: small tensors whose elements are known, or
 * partly so.
 *
 * A fold rule runs after the shape rule of its operator. It sets the value of an output where it is
 * known and small, and never fails but for memory: where anything it needs is missing, it sets
 * nothing. Elements that are open dims pass through what moves elements; arithmetic keeps them
 * where the result is exact.
 */
#ifndef CLV_GRAPH_VALUES_H
#define CLV_GRAPH_VALUES_H

#include "graph/rule.h"

/* A small tensor with its shape, all numbers. */
typedef struct {
    int32_t n, rank;
    clv_dtype dtype;
    const clv_dim *i; /* exactly one of i and f */
    const double *f;
    clv_dim dims[CLV_RANK_MAX];
} clv_literal;

/* Room for the result of a fold; lives on the stack. whole: i is in use, else f. */
typedef struct {
    bool whole;
    int32_t n;
    union {
        clv_dim i[CLV_VALUE_MAX];
        double f[CLV_VALUE_MAX];
    };
} clv_literal_out;

/* Input k with its value; false when that is not known. */
bool clv_literal_in(const clv_rule *r, int32_t k, clv_literal *ret);
/* The same, but an integer input of which only the (small) shape is known gives unknown elements,
 * kept in room. */
bool clv_literal_in_or_open(const clv_rule *r, int32_t k, clv_literal_out *room, clv_literal *ret);
/* Type of output k with n elements, at most CLV_VALUE_MAX; false when its shape is open. */
bool clv_literal_out_shape(const clv_rule *r, int32_t k, clv_literal *ret);
/* Sets output k. */
clv_status clv_literal_set(clv_rule *r, int32_t k, const clv_literal_out *out, clv_error *err);
/* Output k is these elements of `in`; index -1 is an unknown one, which a float tensor cannot
 * hold: then nothing is set. */
clv_status clv_literal_pick(clv_rule *r, int32_t k, const clv_literal *in, int32_t n,
                            const int32_t *index, clv_error *err);

/* Element j of `in` becomes element `at` of out, which is of the same kind. */
static inline void clv_literal_copy(clv_literal_out *out, int64_t at, const clv_literal *in,
                                    int64_t j)
{
    if (in->i)
        out->i[at] = in->i[j];
    else
        out->f[at] = in->f[j];
}
/* All elements are numbers: none is open. O(elements). */
bool clv_literal_has_only_numbers(const clv_literal *e);

/* Row-major place of the element, from its index along each axis. */
static inline int32_t clv_literal_at(const clv_literal *e, const int64_t *index)
{
    int64_t at = 0;
    for (int32_t i = 0; i < e->rank; i++)
        at = at * e->dims[i] + index[i];
    return (int32_t)at;
}
/* Index along each axis of element number `at`. */
void clv_literal_index(const clv_literal *e, int32_t at, int64_t *ret);
/* Number of the element of `e` that stands at element `at` of a shape that `e` broadcasts to. */
int32_t clv_literal_broadcast(const clv_literal *e, const clv_literal *to, int32_t at);

/* The attribute axis as an index from 0; false when out of range, which the shape rule reports. */
bool clv_rule_try_axis(const clv_rule *r, int64_t otherwise, int32_t rank, int32_t *ret);
/* Inputs broadcast as in numpy: not by the attributes of the first versions, which are not folded.
 */
static inline bool clv_rule_broadcasts_plainly(const clv_rule *r)
{
    return r->version >= 7 || clv_rule_attr_int(r, "broadcast", 0) == 0;
}

/* Does a Dropout draw random numbers? mode, ratio: what is known of its inputs, NULL: nothing;
 * has_mode: it has an input that says whether it is trained. */
bool clv_dropout_draws(bool has_mode, const clv_value *mode, const clv_value *ratio);

/* Whole number as an element of dtype: unknown if the type cannot hold it. */
clv_dim clv_elem_fit(clv_dtype dtype, clv_dim x);
/* The smaller and the larger; open where both are not numbers or the same. */
clv_dim clv_elem_min(clv_dim a, clv_dim b);
clv_dim clv_elem_max(clv_dim a, clv_dim b);
/* Rounded to what dtype holds; types narrower than float are kept as float. */
double clv_elem_round(clv_dtype dtype, double x);

#endif
