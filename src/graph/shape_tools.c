#include "graph/shape_tools.h"

clv_dim clv_dim_sub(clv_dim a, clv_dim b)
{
    int64_t d;

    if (b == 0)
        return a;
    if (a == b && a != CLV_DIM_UNKNOWN)
        return 0;
    if (!clv_dim_is_number(a) || !clv_dim_is_number(b) || __builtin_sub_overflow(a, b, &d))
        return CLV_DIM_UNKNOWN;
    return clv_dim_is_number(d) ? d : CLV_DIM_UNKNOWN;
}

clv_dim clv_dim_div(clv_dim a, int64_t b)
{
    if (b == 1)
        return a;
    if (!clv_dim_is_number(a) || b <= 0)
        return CLV_DIM_UNKNOWN;
    return a / b - (a % b < 0);
}

clv_dim clv_dim_product(const clv_dim *at, int32_t n)
{
    clv_dim product = 1;

    for (int32_t i = 0; i < n; i++)
        if (at[i] == 0)
            return 0;
    for (int32_t i = 0; i < n; i++)
        product = clv_dim_mul(product, at[i]);
    return product;
}

void clv_dims_open(clv_dim *dims, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        dims[i] = CLV_DIM_UNKNOWN;
}

void clv_dims_copy(clv_dim *to, const clv_dim *from, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        to[i] = from[i];
}

clv_status clv_rule_want_rank(clv_rule *r, int32_t k, int32_t rank)
{
    const clv_type *t = clv_rule_in(r, k);

    if (clv_type_ranked(t) && t->rank != rank)
        return clv_rule_fail(r, "input %d has rank %d, expected %d", k, t->rank, rank);
    return CLV_OK;
}

clv_dim clv_rule_scalar(const clv_rule *r, int32_t k)
{
    const clv_value *v = clv_rule_value(r, k);

    return v && v->i && v->n == 1 ? v->i[0] : CLV_DIM_UNKNOWN;
}

bool clv_rule_scalar_float(const clv_rule *r, int32_t k, double *ret)
{
    const clv_value *v = clv_rule_value(r, k);

    if (!v || v->n != 1)
        return false;
    if (v->i && !clv_dim_is_number(v->i[0]))
        return false;
    *ret = v->i ? (double)v->i[0] : v->f[0];
    return true;
}

int32_t clv_rule_length(const clv_rule *r, int32_t k)
{
    const clv_value *v = clv_rule_value(r, k);
    clv_dim d = clv_type_dim(clv_rule_in(r, k), 0);

    if (v)
        return v->n;
    return clv_dim_is_number(d) && d >= 0 && d <= CLV_VALUE_MAX ? (int32_t)d : -1;
}

bool clv_rule_dims(clv_rule *r, int32_t k, const clv_dim **ret, int32_t *ret_n)
{
    const clv_value *v = clv_rule_value(r, k);
    int32_t n = clv_rule_length(r, k);
    clv_dim *open;

    if (v && v->i) {
        *ret = v->i;
        *ret_n = v->n;
        return true;
    }
    if (n < 0 || !(open = CLV_NEW_ARRAY(r->arena, clv_dim, n)))
        return false;
    clv_dims_open(open, n);
    *ret = open;
    *ret_n = n;
    return true;
}

clv_status clv_rule_set_like(clv_rule *r, int32_t out, clv_dtype dtype, const clv_type *like)
{
    if (!clv_type_ranked(like))
        return clv_rule_set(r, out, dtype, CLV_RANK_UNKNOWN, NULL);
    return clv_rule_set(r, out, dtype, like->rank, like->dims);
}

clv_status clv_rule_set_same(clv_rule *r, int32_t out, int32_t in)
{
    const clv_type *t = clv_rule_in(r, in);

    return t->kind == CLV_TYPE_UNKNOWN ? CLV_OK : clv_rule_set_type(r, out, t);
}

clv_status clv_rule_set_rank(clv_rule *r, int32_t out, clv_dtype dtype, int32_t rank)
{
    clv_dim dims[CLV_RANK_MAX];

    clv_dims_open(dims, CLV_RANK_MAX);
    return clv_rule_set(r, out, dtype, rank, dims);
}

clv_status clv_rule_set_wrapped(clv_rule *r, int32_t out, clv_type_kind kind, const clv_type *elem)
{
    clv_type *copy = CLV_NEW(r->arena, clv_type);

    if (!copy)
        return clv_fail_nomem(r->err, "a sequence type");
    *copy = *elem;
    return clv_rule_set_type(r, out,
                             &(clv_type){ .kind = kind, .rank = CLV_RANK_UNKNOWN, .elem = copy });
}

clv_status clv_rule_attr_dtype(clv_rule *r, const char *name, clv_dtype otherwise, clv_dtype *ret)
{
    int64_t number = clv_rule_attr_int(r, name, (int64_t)otherwise);

    if (number < 0 || number >= CLV_N_DTYPES)
        return clv_rule_fail(r, "attribute '%s' is %lld, expected an element type from 1 to %d",
                             name, (long long)number, CLV_N_DTYPES - 1);
    *ret = number == 0 ? otherwise : (clv_dtype)number;
    return CLV_OK;
}

clv_status clv_rule_matmul_dims(clv_rule *r, int32_t rank_a, const clv_dim *a, int32_t rank_b,
                                const clv_dim *b, int32_t *ret_rank, clv_dim *ret)
{
    clv_dim one_a[2] = { 1, 0 }, one_b[2] = { 0, 1 }, inner;
    bool vector_a = rank_a == 1, vector_b = rank_b == 1;
    int32_t rank;

    if (rank_a < 1 || rank_b < 1)
        return clv_rule_fail(r, "a product of shapes of rank %d and %d, expected at least 1 each",
                             rank_a, rank_b);
    if (vector_a)
        one_a[1] = a[0], a = one_a, rank_a = 2;
    if (vector_b)
        one_b[0] = b[0], b = one_b, rank_b = 2;
    CLV_TRY(clv_rule_same_dim(r, a[rank_a - 1], b[rank_b - 2], "the summed dimension", &inner));
    CLV_TRY(clv_rule_broadcast(r, rank_a - 2, a, rank_b - 2, b, &rank, ret));
    if (!vector_a)
        ret[rank++] = a[rank_a - 2];
    if (!vector_b)
        ret[rank++] = b[rank_b - 1];
    *ret_rank = rank;
    return CLV_OK;
}

const clv_graph *clv_rule_body_graph(const clv_rule *r, const char *name, int32_t *ret_index)
{
    int32_t index = 0;

    for (int32_t i = 0; i < r->op->n_attr; i++) {
        const clv_attr *a = &r->graph->attrs[r->op->first_attr + i];
        bool graphs = a->kind == CLV_ATTR_GRAPH || a->kind == CLV_ATTR_GRAPHS;

        if (a->ref.n > 0)
            continue;
        if (graphs && a->n > 0 && clv_str_is(a->name, name)) {
            *ret_index = index;
            return a->graph[0];
        }
        index += graphs ? a->n : 0;
    }
    return NULL;
}
