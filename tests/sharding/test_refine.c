/* Factors taken apart: one rule, along a chain of operators, and where an input's dimension begins
 * in their midst. */
#include "graph/rule_case.h"
#include "sharding/factors.h"
#include "sharding/factors_layout.h"
#include "sharding/refine_uneven.h"
#include "sharding/whole_graph.h"

/* "n'=3 n=4" of a dimension */
static void expect_dim(const whole_graph *g, int32_t op, const clv_operand_factors *o, int32_t dim,
                       const char *want)
{
    char got[200] = "";
    size_t n = 0;
    for (int32_t i = 0; i < o->dims[dim].n; i++) {
        const clv_factor *f = &g->all[op].factors[o->dims[dim].at[i]];
        n += (size_t)snprintf(got + n, sizeof got - n, "%s%s=%d", i ? " " : "",
                              f->name[0] == '_' ? "_" : f->name, (int)f->size);
    }
    cr_expect_str_eq(got, want, "operator %d: got %s, expected %s", op, got, want);
}

/* The choices of operators a and b that split one factor each, by name, over 2 devices: what a
 * writes lies as b reads it. */
static int16_t factor_named(const clv_factors *f, const char *name)
{
    for (int16_t i = 0; i < f->n_factors; i++)
        if (strcmp(f->factors[i].name, name) == 0)
            return i;
    cr_assert_fail("there is no factor %s", name);
    return -1;
}

static bool agree(const whole_graph *g, int32_t a, const char *split_a, int32_t b,
                  const char *split_b)
{
    const clv_mesh mesh = { .n_axes = 1, .size = { 2, 1, 1 }, .n_devices = 2 };
    const int16_t of_a[] = { factor_named(&g->all[a], split_a) };
    const int16_t of_b[] = { factor_named(&g->all[b], split_b) };
    clv_layout written, read;
    cr_assert(clv_factors_allow(&g->all[a], &mesh, of_a), "operator %d, %s", a, split_a);
    cr_assert(clv_factors_allow(&g->all[b], &mesh, of_b), "operator %d, %s", b, split_b);
    clv_factors_out(&g->all[a], &mesh, of_a, 0, &written);
    clv_factors_in(&g->all[b], &mesh, of_b, 0, &read);
    written = clv_layout_plain(&written, &mesh);
    read = clv_layout_plain(&read, &mesh);
    return clv_layout_equal(&written, &read);
}

#define WEIGHTS "w W float{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}; w s int64{4,6};"

/* Queries, keys and values of one product: its columns can be split within each of the three, and
 * so can what lies between. */
Test(refine, fused_product)
{
    whole_graph g = read_graph("in x float[2,5,4]; in b float[6];" WEIGHTS
                               "V = Reshape(W, s); m = MatMul(x, V); y = Add(m, b);"
                               "q, k, v = Split(y) axis=2; r = Relu(q); out r k v");
    expect_dim(&g, 1, &g.all[1].in[1], 1, "n'=3 n=2");
    expect_dim(&g, 1, &g.all[1].out[0], 2, "n'=3 n=2");
    expect_dim(&g, 1, &g.all[1].in[0], 2, "k=4");
    expect_dim(&g, 2, &g.all[2].in[1], 0, "d2'=3 d2=2");
    expect_dim(&g, 3, &g.all[3].in[0], 2, "_=3 part=2");
    expect_dim(&g, 4, &g.all[4].out[0], 2, "d2=2"); /* behind the split there is one piece */
    clv_arena_free(g.arena);
}

/* Where no product with weights is found, everything stays as it is. */
Test(refine, nothing_to_lay_out)
{
    whole_graph g = read_graph("in x float[2,5,4]; in V float[4,6]; m = MatMul(x, V);"
                               "q, k, v = Split(m) axis=2; out q k v");
    expect_dim(&g, 0, &g.all[0].out[0], 2, "n=6");
    whole_graph h = read_graph("in x float[2,5,6]; y = Relu(x); q, k, v = Split(y) axis=2");
    expect_dim(&h, 0, &h.all[0].out[0], 2, "d2=6");
    clv_arena_free(g.arena);
    clv_arena_free(h.arena);
}

/* Gate and value in one product, taken apart by slices. */
Test(refine, slices)
{
    whole_graph g = read_graph(
        "in x float[5,4];" WEIGHTS "w b int64{0}; w m int64{3}; w e int64{6}; w a int64{1};"
        "V = Reshape(W, s); y = MatMul(x, V); q = Slice(y, b, m, a); r = Slice(y, m, e, a);"
        "z = Mul(q, r)");
    expect_dim(&g, 1, &g.all[1].out[0], 1, "n'=2 n=3");
    expect_dim(&g, 3, &g.all[3].in[0], 1, "_=2 a1=3");
    clv_arena_free(g.arena);
}

#define SQUARE                                                                                     \
    "w W float{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}; w w int64{4,4}; V = Reshape(W, w);"

/* An encoder with the sequence first: softmax needs all of it, and the batch is the inner part of
 * the rows. It can be split from one end to the other, and nothing has to be moved. */
Test(refine, batch_within_rows)
{
    whole_graph g =
        read_graph("in x float[5,6,4];" SQUARE "w r int64{30,4}; w t int64{5,6,4};"
                   "p = Softmax(x) axis=0; m = Reshape(p, r); a = Relu(m);"
                   "y = Gemm(a, V); z = Tanh(y); q = Reshape(z, t); e = Softmax(q) axis=0");
    expect_dim(&g, 2, &g.all[2].out[0], 0, "f0=5 f1=6");
    expect_dim(&g, 3, &g.all[3].out[0], 0, "d0'=5 d0=6");
    expect_dim(&g, 4, &g.all[4].in[0], 0, "m'=5 m=6");
    expect_dim(&g, 4, &g.all[4].in[1], 0, "k=4");
    expect_dim(&g, 5, &g.all[5].out[0], 0, "d0'=5 d0=6");
    cr_expect(agree(&g, 1, "c0", 2, "f1"));
    cr_expect(agree(&g, 2, "f1", 3, "d0"));
    cr_expect(agree(&g, 3, "d0", 4, "m"));
    cr_expect(agree(&g, 4, "m", 5, "d0"));
    cr_expect(agree(&g, 5, "d0", 6, "f1"));
    cr_expect(agree(&g, 6, "f1", 7, "c0"));
    clv_arena_free(g.arena);
}

/* The batch stands before the sequence: each is the first of its kind. */
Test(refine, sequence_within_rows)
{
    whole_graph g = read_graph("in x float[5,6,4];" SQUARE "w r int64{30,4}; p = Softmax(x) axis=1;"
                               "m = Reshape(p, r); y = Gemm(m, V)");
    expect_dim(&g, 3, &g.all[3].out[0], 0, "m'=5 m=6");
    clv_arena_free(g.arena);
}

/* A second dimension of a kind has nothing that the first has not: two that are parallel all
 * through, and the rows and columns of an image. */
Test(refine, two_of_a_kind)
{
    whole_graph g = read_graph("in x float[5,6,4];" SQUARE "w r int64{30,4}; p = Relu(x);"
                               "m = Reshape(p, r); y = Gemm(m, V)");
    expect_dim(&g, 3, &g.all[3].out[0], 0, "m=30");
    whole_graph h = read_graph("in x float[2,4,6,8]; w r int64{2,4,48}; p = MaxPool(x) "
                               "kernel_shape=[3,3] pads=[1,1,1,1]; m = Reshape(p, r); y = Relu(m)");
    expect_dim(&h, 2, &h.all[2].out[0], 2, "d2=48");
    clv_arena_free(g.arena);
    clv_arena_free(h.arena);
}

/* Heads within the batch: their dimension is no input's, but begins behind the weights. The width
 * of a head within it begins nothing that the heads do not. */
Test(refine, heads_within_batch)
{
    whole_graph g =
        read_graph("in x float[5,6,4];" SQUARE "w s int64{5,12,2}; w t int64{5,6,4};"
                   "y = MatMul(x, V); h = Reshape(y, s); a = Softmax(h) axis=0; u = Reshape(a, t);"
                   "z = MatMul(u, V)");
    expect_dim(&g, 2, &g.all[2].out[0], 1, "f1=6 f2=2");
    expect_dim(&g, 3, &g.all[3].out[0], 1, "c0'=6 c0=2");
    expect_dim(&g, 5, &g.all[5].in[0], 2, "k=4");
    clv_arena_free(g.arena);
}

/* At the start, the first of the other kind, and one more of that. Where they come to begin in no
 * one place, they are no better than what is needed whole. */
Test(refine, three_in_one)
{
    const char *rows = "in x float[5,6,7,4];" SQUARE "w r int64{210,4}; w u int64{14,15,4};"
                       "p = Softmax(x) axis=0; m = Reshape(p, r); y = Gemm(m, V);";
    char lost[400];
    whole_graph g = read_graph(rows);
    expect_dim(&g, 3, &g.all[3].out[0], 0, "m'=5 m=42");
    snprintf(lost, sizeof lost, "%s n = Reshape(y, u); z = Relu(n)", rows);
    whole_graph h = read_graph(lost);
    expect_dim(&h, 3, &h.all[3].out[0], 0, "m=210");
    clv_arena_free(g.arena);
    clv_arena_free(h.arena);
}

/* -- whole units -- */

static const clv_mesh two = { .n_axes = 1, .size = { 2, 1, 1 }, .n_devices = 2 };

static void for_mesh(whole_graph *g, const clv_mesh *mesh)
{
    clv_error err = { 0 };
    cr_assert_eq(clv_factors_for_mesh(g->types, g->all, mesh, g->arena, &g->all, &err), CLV_OK);
}

/* 3 heads of 2, for two devices: from the product that makes them to the one that takes them.
 * covers: A.021 */
Test(units, heads_from_product_to_product)
{
    whole_graph g = read_graph(
        "in x float[2,5,4]; in b float[6]; w v int64{4,6}; w z int64{6,4};"
        "w t int64{2,5,3,2}; w u int64{2,5,6}; V = ConstantOfShape(v); Z = ConstantOfShape(z);"
        "m = MatMul(x, V); y = Add(m, b); h = Reshape(y, t); a = Relu(h); q = Reshape(a, u);"
        "o = MatMul(q, Z)");
    const clv_factors *before = g.all;
    for_mesh(&g, &(clv_mesh){ .n_axes = 1, .size = { 3, 1, 1 }, .n_devices = 3 });
    cr_assert_eq(g.all, before, "3 heads are divided by 3");
    for_mesh(&g, &(clv_mesh){ .n_axes = 1, .size = { 8, 1, 1 }, .n_devices = 8 });
    cr_assert_eq(g.all, before, "3 heads are no 8 parts");
    expect_dim(&g, 2, &g.all[2].out[0], 2, "n=6");
    for_mesh(&g, &two);
    expect_dim(&g, 2, &g.all[2].in[0], 2, "k=4");
    expect_dim(&g, 2, &g.all[2].in[1], 1, "n=3 n'=2");
    expect_dim(&g, 3, &g.all[3].in[1], 0, "d2=3 d2'=2");
    expect_dim(&g, 7, &g.all[7].in[1], 0, "k=3 k'=2");
    expect_dim(&g, 7, &g.all[7].in[1], 1, "n=4");
    cr_expect(agree(&g, 2, "n", 3, "d2"));
    cr_expect(agree(&g, 3, "d2", 4, "f2"));
    cr_expect(agree(&g, 4, "f2", 5, "d2"));
    cr_expect(agree(&g, 5, "d2", 6, "f2"));
    cr_expect(agree(&g, 6, "f2", 7, "k"));
    clv_arena_free(g.arena);
}

/* Queries, keys and values of one product: heads within each of the three. */
Test(units, heads_within_a_fused_product)
{
    whole_graph g =
        read_graph("in x float[2,5,4]; w v int64{4,18}; w t int64{2,5,3,2};"
                   "V = ConstantOfShape(v); m = MatMul(x, V); q, k, v1 = Split(m) axis=2;"
                   "h = Reshape(q, t); i = Reshape(k, t); out h i v1");
    for_mesh(&g, &two);
    expect_dim(&g, 1, &g.all[1].out[0], 2, "n'=3 n=3 n''=2");
    expect_dim(&g, 2, &g.all[2].in[0], 2, "_=3 part=3 part'=2");
    cr_expect(agree(&g, 1, "n", 2, "part"));
    cr_expect(agree(&g, 2, "part", 3, "f2"));
    clv_arena_free(g.arena);
}

/* 3 groups of 3 heads that share a key: groups stay whole, so 6 heads and 3. */
Test(units, groups_of_heads)
{
    whole_graph g = read_graph(
        "in x float[2,5,4]; w v int64{4,18}; w z int64{4,6}; w t int64{2,5,9,2};"
        "w u int64{2,5,3,2}; w e int64{2,3,1,5,2}; w f int64{2,3,3,5,2}; w r int64{2,9,5,2};"
        "V = ConstantOfShape(v); Z = ConstantOfShape(z); q = MatMul(x, V); k = MatMul(x, Z);"
        "a = Reshape(q, t); b = Reshape(k, u); c = Transpose(a) perm=[0,2,1,3];"
        "d = Transpose(b) perm=[0,2,1,3]; h = Reshape(d, e); i = Expand(h, f);"
        "j = Reshape(i, r); s = Mul(c, j)");
    for_mesh(&g, &two);
    expect_dim(&g, 2, &g.all[2].out[0], 2, "n=3 n''=3 n'=2");
    expect_dim(&g, 3, &g.all[3].out[0], 2, "n=3 n'=2");
    expect_dim(&g, 11, &g.all[11].in[0], 1, "d1=3 d1'=3");
    cr_expect(agree(&g, 2, "n", 4, "f2"));
    cr_expect(agree(&g, 4, "f2", 6, "a2"));
    cr_expect(agree(&g, 6, "a2", 11, "d1"));
    cr_expect(agree(&g, 3, "n", 5, "f2"));
    cr_expect(agree(&g, 5, "f2", 7, "a2"));
    cr_expect(agree(&g, 10, "f1", 11, "d1")); /* read first, but both inputs lie alike */
    clv_arena_free(g.arena);
}

/* With a little more memory each time it fails cleanly until it is done. */
Test(units, survive_running_out_of_memory)
{
    whole_graph g = read_graph("in x float[2,5,4]; w v int64{4,6}; w t int64{2,5,3,2};"
                               "V = ConstantOfShape(v); m = MatMul(x, V); h = Reshape(m, t)");
    const size_t step = 64; /* bytes */
    clv_factors *made = NULL;
    clv_status status = CLV_ENOMEM;
    for (size_t limit = step; status != CLV_OK; limit += step) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        status =
            arena ? clv_factors_for_mesh(g.types, g.all, &two, arena, &made, NULL) : CLV_ENOMEM;
        cr_assert(status == CLV_OK || (status == CLV_ENOMEM && !made));
        clv_arena_free(arena);
    }
    expect_dim(&g, 1, &g.all[1].out[0], 2, "n=6"); /* those given are as they were */
    clv_arena_free(g.arena);
}

/* What begins in rows of all layers, or leads to no weights, is left as it is. */
Test(units, only_where_weights_can_be_laid_out)
{
    whole_graph g = read_graph("in x float[2,5,6]; w t int64{2,5,3,2}; y = Relu(x);"
                               "h = Reshape(y, t); a = Softmax(h) axis=1");
    for_mesh(&g, &two);
    expect_dim(&g, 0, &g.all[0].out[0], 2, "d2=6");
    clv_arena_free(g.arena);
}

Test(refine, one_rule)
{
    whole_graph g = read_graph("in x float[2,6]; in y float[6,12]; m = MatMul(x, y)");
    clv_factors f;
    clv_error err;
    cr_assert_eq(clv_factors_refine(&g.all[0], 2, 3, g.arena, &f, &err), CLV_OK);
    g.all[0] = f;
    cr_assert_eq(f.n_factors, 4);
    expect_dim(&g, 0, &f.in[1], 1, "n'=3 n=4");
    expect_dim(&g, 0, &f.out[0], 1, "n'=3 n=4");
    expect_dim(&g, 0, &f.in[0], 1, "k=6");
    const clv_mesh mesh = { .n_axes = 1, .size = { 2, 1, 1 }, .n_devices = 2 };
    const int16_t choice[] = { 2 };
    clv_layout l;
    cr_assert(clv_factors_allow(&f, &mesh, choice));
    clv_factors_out(&f, &mesh, choice, 0, &l);
    cr_assert_eq(l.dim[0], 1);
    cr_assert_eq(l.outer[0], 3);
    clv_arena_free(g.arena);
}
