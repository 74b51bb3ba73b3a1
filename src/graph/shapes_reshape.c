#include "graph/shapes_reshape.h"

#include "graph/shape_tools.h"

/* Dimensions are kept as a product of a number and of symbols, and symbols that both sides have are
 * struck out.
 */

/* A product of dims: number times symbols, times something unknown if `open`. */
typedef struct {
    int64_t number;
    int32_t n_symbols;
    clv_dim symbol[CLV_RANK_MAX];
    bool open;
} product;

static void multiply(product *p, clv_dim d)
{
    if (clv_dim_is_symbol(d))
        p->symbol[p->n_symbols++] = d;
    else if (!clv_dim_is_number(d) || __builtin_mul_overflow(p->number, d, &p->number))
        p->open = true;
}

/* Leaves in both only what the other has not. O(symbols squared), at most 64 of them. */
static void cancel(product *a, product *b)
{
    for (int32_t i = b->n_symbols - 1; i >= 0; i--)
        for (int32_t j = 0; j < a->n_symbols; j++)
            if (a->symbol[j] == b->symbol[i]) {
                a->symbol[j] = a->symbol[--a->n_symbols];
                b->symbol[i] = b->symbol[--b->n_symbols];
                break;
            }
}

typedef struct {
    int32_t rank;
    clv_dim dims[CLV_RANK_MAX];
    int32_t free_axis; /* the -1, or the only dimension that is not known; -1 if none */
    bool exact;        /* free_axis is a real -1 */
    bool copied[CLV_RANK_MAX];
} target;

/* One element of the wanted shape. */
static clv_status read_wanted(clv_rule *r, clv_dim want, int32_t axis, bool allow_zero, target *t,
                              clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    t->dims[axis] = want;
    if (want == 0 && !allow_zero) {
        if (clv_type_ranked(in) && axis >= in->rank)
            return clv_rule_fail(r, err,
                                 "the wanted shape copies dimension %d of an input of rank %d",
                                 axis, in->rank);
        t->dims[axis] = clv_type_dim(in, axis);
        t->copied[axis] = clv_type_ranked(in);
    } else if (want == -1) {
        if (t->exact)
            return clv_rule_fail(r, err, "the wanted shape has more than one -1");
        t->dims[axis] = CLV_DIM_UNKNOWN;
        t->free_axis = axis;
        t->exact = true;
    } else if (clv_dim_is_number(want) && want < 0) {
        return clv_rule_fail(r, err, "the wanted shape has %lld, expected -1, 0 or more",
                             (long long)want);
    }
    return CLV_OK;
}

/* Where there is no -1 but one open element, that element must be what is left over too. */
static bool find_free_axis(target *t)
{
    int32_t n_open = 0;
    for (int32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] != CLV_DIM_UNKNOWN || t->copied[i])
            continue;
        n_open++;
        if (!t->exact)
            t->free_axis = i;
    }
    return n_open == 1;
}

static clv_status infer_free(clv_rule *r, target *t, const product *have, const product *want,
                             clv_error *err)
{
    if (have->open || want->open || want->n_symbols > 0 || want->number <= 0)
        return CLV_OK;
    if (have->n_symbols == 0) {
        if (have->number % want->number == 0)
            t->dims[t->free_axis] = have->number / want->number;
        else if (t->exact)
            return clv_rule_fail(r, err, "%lld elements cannot be cut into rows of %lld",
                                 (long long)have->number, (long long)want->number);
    } else if (have->n_symbols == 1 && have->number == want->number) {
        t->dims[t->free_axis] = have->symbol[0];
    }
    return CLV_OK;
}

static clv_status fit_to_input(clv_rule *r, target *t, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    product have = { .number = 1 }, want = { .number = 1 };
    bool one_open = find_free_axis(t);
    if (!one_open && t->free_axis >= 0 && !t->exact)
        t->free_axis = -1;
    if (!clv_type_ranked(in))
        return CLV_OK;
    for (int32_t i = 0; i < in->rank; i++)
        if (!(i < t->rank && t->copied[i]))
            multiply(&have, in->dims[i]);
    for (int32_t i = 0; i < t->rank; i++)
        if (!t->copied[i] && i != t->free_axis)
            multiply(&want, t->dims[i]);
    cancel(&have, &want);
    if (one_open)
        return infer_free(r, t, &have, &want, err);
    if (t->free_axis < 0 && !have.open && !want.open && have.n_symbols + want.n_symbols == 0 &&
        have.number != want.number)
        return clv_rule_fail(r, err, "%lld elements do not fit a shape of %lld elements",
                             (long long)have.number, (long long)want.number);
    return CLV_OK;
}

clv_status clv_shape_reshape(clv_rule *r, clv_error *err)
{
    target t = { .free_axis = -1 };
    bool allow_zero = clv_rule_attr_int(r, "allowzero", 0) != 0;
    const clv_dim *wanted;
    if (!clv_rule_attr_ints(r, "shape", &wanted, &t.rank) && !clv_rule_dims(r, 1, &wanted, &t.rank))
        return clv_rule_set_unranked(r, 0, clv_rule_in(r, 0)->dtype, err);
    if (t.rank > CLV_RANK_MAX)
        return clv_rule_fail(r, err, "the wanted shape has rank %d, at most %d is supported",
                             t.rank, CLV_RANK_MAX);
    for (int32_t i = 0; i < t.rank; i++)
        CLV_TRY(read_wanted(r, wanted[i], i, allow_zero, &t, err));
    CLV_TRY(fit_to_input(r, &t, err));
    return clv_rule_set(r, 0, clv_rule_in(r, 0)->dtype, t.rank, t.dims, err);
}

clv_status clv_shape_flatten(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    int64_t axis = clv_rule_attr_int(r, "axis", 1);
    clv_dim dims[2];
    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, 2, err);
    if (axis < -in->rank || axis > in->rank)
        return clv_rule_fail(r, err, "axis %lld of an input of rank %d", (long long)axis, in->rank);
    axis += axis < 0 ? in->rank : 0;
    dims[0] = clv_dim_product(in->dims, (int32_t)axis);
    dims[1] = axis < in->rank ? clv_dim_product(in->dims + axis, in->rank - (int32_t)axis) : 1;
    return clv_rule_set(r, 0, in->dtype, 2, dims, err);
}

/* Marks each of the axes of a shape of that rank; fails on one that is named twice. */
static clv_status mark_axes(clv_rule *r, const int64_t *axes, int32_t n, int32_t rank, bool *marked,
                            clv_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t axis;
        CLV_TRY(clv_rule_axis(r, axes[i], rank, &axis, err));
        if (marked[axis])
            return clv_rule_fail(r, err, "axis %d is named twice", axis);
        marked[axis] = true;
    }
    return CLV_OK;
}

clv_status clv_shape_squeeze(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool gone[CLV_RANK_MAX] = { false };
    clv_dim dims[CLV_RANK_MAX];
    const int64_t *axes;
    int32_t n, rank = 0;
    bool known = clv_rule_axes(r, "axes", 1, &axes, &n);
    if (!known && clv_type_ranked(in) && (n = clv_rule_length(r, 1)) >= 0 && n <= in->rank)
        return clv_rule_set_rank(r, 0, in->dtype, in->rank - n, err);
    if (!known || !clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    /* Without axes every 1 goes, so every dimension must be known. */
    for (int32_t i = 0; n < 0 && i < in->rank; i++) {
        if (!clv_dim_is_number(in->dims[i]))
            return clv_rule_set_unranked(r, 0, in->dtype, err);
        gone[i] = in->dims[i] == 1;
    }
    CLV_TRY(mark_axes(r, axes, n, in->rank, gone, err));
    for (int32_t i = 0; i < in->rank; i++) {
        if (gone[i] && clv_dim_is_number(in->dims[i]) && in->dims[i] != 1)
            return clv_rule_fail(r, err, "axis %d is taken away but has size %lld, expected 1", i,
                                 (long long)in->dims[i]);
        if (!gone[i])
            dims[rank++] = in->dims[i];
    }
    return clv_rule_set(r, 0, in->dtype, rank, dims, err);
}

static clv_status unsqueeze(clv_rule *r, const int64_t *axes, int32_t n, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool added[CLV_RANK_MAX] = { false };
    clv_dim dims[CLV_RANK_MAX];
    int32_t rank = in->rank + n, from = 0;
    if (n > CLV_RANK_MAX || rank > CLV_RANK_MAX)
        return clv_rule_fail(r, err, "the output would have rank %d, at most %d is supported", rank,
                             CLV_RANK_MAX);
    CLV_TRY(mark_axes(r, axes, n, rank, added, err));
    for (int32_t i = 0; i < rank; i++)
        dims[i] = added[i] ? 1 : in->dims[from++];
    return clv_rule_set(r, 0, in->dtype, rank, dims, err);
}

clv_status clv_shape_unsqueeze(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    const int64_t *axes;
    int32_t n;
    bool known = clv_rule_axes(r, "axes", 1, &axes, &n);
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (known && n >= 0)
        return unsqueeze(r, axes, n, err);
    n = clv_rule_length(r, 1);
    return clv_rule_set_rank(r, 0, in->dtype, n < 0 ? CLV_RANK_UNKNOWN : in->rank + n, err);
}

clv_status clv_shape_expand_dims(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim axis = clv_rule_scalar(r, 1);
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, in->dtype, err);
    if (!clv_dim_is_number(axis))
        return clv_rule_set_rank(r, 0, in->dtype, in->rank + 1, err);
    return unsqueeze(r, &axis, 1, err);
}

clv_status clv_shape_transpose(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    bool seen[CLV_RANK_MAX] = { false };
    clv_dim dims[CLV_RANK_MAX];
    const int64_t *perm;
    int32_t n;
    bool given = clv_rule_attr_ints(r, "perm", &perm, &n);
    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, given ? n : CLV_RANK_UNKNOWN, err);
    if (given && n != in->rank)
        return clv_rule_fail(r, err, "perm has %d axes, the input has rank %d", n, in->rank);
    if (given)
        CLV_TRY(mark_axes(r, perm, n, in->rank, seen, err));
    for (int32_t i = 0; i < in->rank; i++) {
        int64_t from = given ? perm[i] : in->rank - 1 - i;
        dims[i] = in->dims[from < 0 ? from + in->rank : from];
    }
    return clv_rule_set(r, 0, in->dtype, in->rank, dims, err);
}

static clv_status blocks(clv_rule *r, bool to_space, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    int64_t size = clv_rule_attr_int(r, "blocksize", 0), area;
    clv_dim dims[4];
    CLV_TRY(clv_rule_want_rank(r, 0, 4, err));
    if (size < 1 || __builtin_mul_overflow(size, size, &area))
        return clv_rule_fail(r, err, "blocksize is %lld, expected at least 1", (long long)size);
    if (!clv_type_ranked(in))
        return clv_rule_set_rank(r, 0, in->dtype, 4, err);
    for (int32_t i = 1; i < 4; i++) {
        int64_t by = i == 1 ? area : size;
        bool divides = (i == 1) == to_space;
        if (divides && clv_dim_is_number(in->dims[i]) && in->dims[i] % by != 0)
            return clv_rule_fail(r, err, "dimension %d is %lld, expected a multiple of %lld", i,
                                 (long long)in->dims[i], (long long)by);
        dims[i] = divides ? clv_dim_div(in->dims[i], by) : clv_dim_mul(in->dims[i], by);
    }
    dims[0] = in->dims[0];
    return clv_rule_set(r, 0, in->dtype, 4, dims, err);
}

clv_status clv_shape_depth_to_space(clv_rule *r, clv_error *err) { return blocks(r, true, err); }
clv_status clv_shape_space_to_depth(clv_rule *r, clv_error *err) { return blocks(r, false, err); }
