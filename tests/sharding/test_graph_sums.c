/* Which operators of a graph get a factor of summands: those on a way from products that gains
 * something. */
#include "sharding/graph_sums.h"

#include "graph/rule_case.h"
#include "sharding/factors_layout.h"
#include "sharding/whole_graph.h"

#define PRODUCTS                                                                                   \
    "in x float[4,6]; in a float[6,6]; in b float[6,6]; p = MatMul(x, a); q = MatMul(x, b);"

/* "Mul sum1, Add sum": operators in their order, and their factors of summands. */
static void expect_sums(const char *text, const char *want)
{
    whole_graph g = read_graph(text);
    char got[300] = "";
    size_t n = 0;
    for (int32_t i = 0; i < g.graph->n_ops; i++)
        for (int32_t k = 0; k < g.all[i].n_factors; k++)
            if (g.all[i].factors[k].kind == CLV_FACTOR_SUMMANDS)
                n += (size_t)snprintf(got + n, sizeof got - n, "%s%.*s %s", n ? ", " : "",
                                      CLV_STR_ARG(g.graph->ops[i].type), g.all[i].factors[k].name);
    cr_expect_str_eq(got, want, "%s: got %s, expected %s", text, got, want);
    clv_arena_free(g.arena);
}

Test(graph_sums, go_from_two_products_to_where_they_are_added)
{
    expect_sums(PRODUCTS "y = Add(p, q)", "Add sum");
    expect_sums(PRODUCTS "y = Relu(p)", "");
    expect_sums(PRODUCTS "r = Relu(q); y = Add(p, r)", "");
    expect_sums(PRODUCTS "r = Neg(p); s = Transpose(q) perm=[0,1]; y = Sub(r, s)",
                "Neg sum, Transpose sum, Sub sum");
}

Test(graph_sums, experts_that_are_scaled_and_added)
{
    expect_sums(PRODUCTS "in v float[4,1]; in w float[4,1]; r = Mul(p, v); s = Mul(w, q);"
                         "in z float[4,6]; t = Add(z, r); y = Add(t, s)",
                "Mul sum0, Mul sum1, Add sum, Add sum");
}

/* It costs a choice for each axis, so a way that ends in one sum, of what is added up anyway, is
 * not offered. */
Test(graph_sums, are_not_carried_for_nothing)
{
    expect_sums(PRODUCTS "in r float[4,6]; y = Add(r, p)", "");
    expect_sums(PRODUCTS "in v float[6]; r = Mul(p, v); y = Exp(r)", "");
    expect_sums(PRODUCTS "r = Add(p, q); y = Mul(r, r); z = Exp(p); out y; out z", "");
}

Test(graph_sums, are_carried_to_where_there_is_less_of_them)
{
    expect_sums(PRODUCTS "w i int64{1}; r = Gather(p, i); y = Exp(r)", "Gather sum");
    expect_sums(PRODUCTS "w i int64{0,1,2,3,0}; r = Gather(p, i); y = Exp(r)", "");
    expect_sums(PRODUCTS "w i int64{1}; r = ReduceSum(p, i); y = Exp(r)", "ReduceSum sum");
}

/* What several read, or the model returns, is added up once for all. */
Test(graph_sums, have_one_reader)
{
    expect_sums(PRODUCTS "r = Add(p, q); s = Relu(p); y = Add(r, s)", "");
    expect_sums(PRODUCTS "y = Add(p, q); out y; out p", "");
    expect_sums(PRODUCTS "y = Add(p, p)", "");
}

Test(graph_sums, go_through_both_inputs_of_a_product)
{
    expect_sums(PRODUCTS "in c float[6,3]; in d float[3,4]; r = MatMul(p, c); s = MatMul(d, q);"
                         "in e float[4,3]; t = MatMul(e, s); in f float[6,3]; u = MatMul(t, f);"
                         "y = Add(r, u)",
                "MatMul sum0, MatMul sum1, MatMul sum1, MatMul sum0, Add sum");
}

Test(graph_sums, stop_at_other_types_and_at_what_is_not_linear)
{
    expect_sums(PRODUCTS "r = Cast(p) to=10; s = Cast(q) to=10; y = Add(r, s)", "");
    expect_sums(PRODUCTS "in v float[4,6]; r = Div(v, p); s = Div(q, v); y = Add(r, s)", "");
    expect_sums(PRODUCTS "in i int64[4,1]; w j int64{1,0,3,2}; r = Gather(q, j);"
                         "y = ScatterND(p, i, r) reduction='mul'",
                "");
    expect_sums(PRODUCTS "in i int64[4,1]; w j int64{1,0,3,2}; r = Gather(q, j);"
                         "y = ScatterND(p, i, r) reduction='add'",
                "Gather sum, ScatterND sum");
    expect_sums("in x int64[4,6]; in a int64[6,6]; p = MatMul(x, a); q = MatMul(x, a);"
                "y = Add(p, q)",
                "");
}

/* A weight is there before the run, as a whole: the first device adds it. */
Test(graph_sums, what_is_given_is_added_once)
{
    whole_graph g = read_graph(PRODUCTS "in c float[6]; y = Sum(p, c, q)");
    const clv_factors *f = &g.all[2];
    cr_assert_eq(f->n_in, 3);
    cr_expect_eq(f->in[0].sums, 1);
    cr_expect_eq(f->in[1].sums, 0);
    cr_expect(f->in[1].once);
    cr_expect_eq(f->in[2].sums, 1);
    clv_arena_free(g.arena);
}

Test(graph_sums, are_partial_layouts_of_inputs_and_outputs)
{
    whole_graph g = read_graph(PRODUCTS "in v float[4,1]; r = Mul(p, v); y = Add(r, q)");
    const clv_mesh mesh = { .n_axes = 2, .size = { 2, 3, 1 }, .n_devices = 6 };
    const clv_factors *f = &g.all[2];
    int16_t split[] = { 0, 0 };
    clv_layout layout;
    while (f->factors[split[1]].kind != CLV_FACTOR_SUMMANDS)
        split[1]++;
    cr_assert(clv_factors_allow(f, &mesh, split));
    clv_factors_in(f, &mesh, split, 0, &layout);
    cr_expect_eq(layout.dim[0], 0, "rows over the first axis");
    cr_expect_eq(layout.dim[1], CLV_AXIS_PARTIAL);
    cr_expect_eq(layout.reduce[1], CLV_REDUCE_SUM);
    clv_factors_in(f, &mesh, split, 1, &layout);
    cr_expect_eq(layout.dim[0], 0);
    cr_expect_eq(layout.dim[1], CLV_AXIS_COPY, "what scales a part is whole");
    clv_factors_out(f, &mesh, split, 0, &layout);
    cr_expect_eq(layout.dim[1], CLV_AXIS_PARTIAL);
    cr_expect_eq(layout.reduce[1], CLV_REDUCE_SUM);
    clv_arena_free(g.arena);
}
