/* sizing.h - an operator as the cost formulas see it: sizes as whole numbers, and arithmetic on
 * them that never overflows unseen.
 *
 * Formulas read like the ones on paper: what is missing counts 0 and sets `open`, what does not fit
 * 64 bits counts 0 and sets `overflow`. Whoever asked looks at both flags once, at the end.
 */
#ifndef CLV_COST_SIZING_H
#define CLV_COST_SIZING_H

#include "graph/ops.h"
#include "graph/shape_tools.h"

typedef struct {
    clv_rule rule; /* for its readers of types, values and attributes; nothing is set through it */
    const clv_op_def *def;
    const int64_t *in_bytes, *out_bytes; /* of a device's parts; NULL: of the whole tensors */
    bool open, overflow;
} clv_sizing;

/* FLOPs on the matrix units and on the vector units. */
typedef struct {
    int64_t matrix, vector;
} clv_work;

/* Checked: 0 and overflow where 64 bits do not hold the result. */
int64_t clv_size_add(clv_sizing *s, int64_t a, int64_t b);
int64_t clv_size_mul(clv_sizing *s, int64_t a, int64_t b);
/* n * factor, rounded up. */
int64_t clv_size_scale(clv_sizing *s, int64_t n, double factor);
/* A dimension that must be a number, not negative. */
int64_t clv_size_of_dim(clv_sizing *s, clv_dim dim);
/* Elements of a type; of output k its type; and for inputs and outputs by number. */
int64_t clv_size_elems(clv_sizing *s, const clv_type *type);

const clv_type *clv_size_out(const clv_sizing *s, int32_t k);

static inline int64_t clv_size_in_dim(clv_sizing *s, int32_t k, int32_t axis)
{
    return clv_size_of_dim(s, clv_type_dim(clv_rule_in(&s->rule, k), axis));
}
static inline int64_t clv_size_in_elems(clv_sizing *s, int32_t k)
{
    return clv_size_elems(s, clv_rule_in(&s->rule, k));
}
static inline int64_t clv_size_out_elems(clv_sizing *s, int32_t k)
{
    return clv_size_elems(s, clv_size_out(s, k));
}
/* Product of the dimensions of input k from axis `from` on: of a convolution's weights, what one
 * output element sums over. */
int64_t clv_size_in_tail(clv_sizing *s, int32_t k, int32_t from);

/* Smallest p with 2^p >= n; 0 for n below 2. */
int64_t clv_size_log2(int64_t n);

#endif
