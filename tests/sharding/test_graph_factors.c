/* Rules of a whole graph, found once for operators that are alike: each is what it is alone. */
#include "sharding/graph_factors.h"

#include "graph/rule_case.h"
#include "support/resolve_one.h"

typedef struct {
    clv_arena *arena;
    clv_model *model;
    clv_types *types;
    clv_factors *all;
} resolved;

static resolved resolve(const char *text)
{
    resolved r = { .arena = clv_arena_new(NULL, 0) };
    clv_error err = { 0 };
    clv_inference *found = NULL;
    cr_assert_eq(case_model(text, r.arena, r.arena, &r.model, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_infer(r.model, NULL, 0, r.arena, &found, &err), CLV_OK, "%s", err.message);
    r.types = found->main;
    r.all = CLV_NEW_ARRAY(r.arena, clv_factors, r.model->main->n_ops);
    cr_assert_eq(clv_factors_resolve_all(r.model, r.types, r.arena, r.all, &err), CLV_OK);
    return r;
}

static void expect_operand(const clv_operand_factors *a, const clv_operand_factors *b, int32_t op)
{
    cr_assert_eq(a->rank, b->rank, "operator %d", op);
    for (int32_t d = 0; d < a->rank; d++) {
        cr_assert_eq(a->dims[d].n, b->dims[d].n, "operator %d", op);
        for (int32_t i = 0; i < a->dims[d].n; i++)
            cr_assert_eq(a->dims[d].at[i], b->dims[d].at[i], "operator %d", op);
    }
}

static void expect_as_alone(const resolved *r)
{
    for (int32_t i = 0; i < r->model->main->n_ops; i++) {
        clv_error err;
        clv_factors alone;
        const clv_factors *f = &r->all[i];
        cr_assert_eq(resolve_one(r->types, (clv_op){ i }, r->arena, &alone, &err), CLV_OK);
        cr_assert_eq(f->n_factors, alone.n_factors, "operator %d", i);
        cr_assert_eq(f->n_local, alone.n_local, "operator %d", i);
        cr_assert_eq(f->n_in, alone.n_in, "operator %d", i);
        cr_assert_eq(f->n_out, alone.n_out, "operator %d", i);
        cr_assert_str_eq(f->why_whole ? f->why_whole : "", alone.why_whole ? alone.why_whole : "");
        for (int32_t k = 0; k < f->n_factors; k++) {
            cr_assert_str_eq(f->factors[k].name, alone.factors[k].name, "operator %d", i);
            cr_assert_eq(f->factors[k].size, alone.factors[k].size, "operator %d", i);
            cr_assert_eq(f->factors[k].kind, alone.factors[k].kind, "operator %d", i);
        }
        for (int32_t k = 0; k < f->n_in; k++)
            expect_operand(&f->in[k], &alone.in[k], i);
        for (int32_t k = 0; k < f->n_out; k++)
            expect_operand(&f->out[k], &alone.out[k], i);
    }
}

/* Two layers, which share; and operators that differ from those in one thing each. */
Test(graph_factors, what_is_alike_is_shared_and_nothing_else)
{
    resolved r =
        resolve("in x float[4,6,8]; in V float[8,8]; w s int64{4,6,2,4}; w t int64{4,6,8};"
                "w u int64{4,6,4,2}; w f float{1,2};"
                "a = MatMul(x, V); b = Reshape(a, s); c = Transpose(b) perm=[0,2,1,3];"
                "d = Softmax(c) axis=3; e = Transpose(d) perm=[0,2,1,3]; g = Reshape(e, t);"
                "h = MatMul(g, V); i = Reshape(h, s); j = Transpose(i) perm=[0,2,1,3];"
                "k = Softmax(j) axis=3;"
                "l = Reshape(h, u); m = Transpose(i) perm=[0,2,3,1];"
                "n = Softmax(j) axis=2; o = MatMul(V, V); p = Relu(x); q = Relu(V);"
                "y = Add(x, x); z = Mul(x, x)");
    expect_as_alone(&r);
    for (int32_t i = 0; i < 4; i++)
        cr_expect_eq(r.all[i].factors, r.all[i + 6].factors, "operator %d", i);
    cr_expect_eq(r.all[2].factors, r.all[8].factors);
    for (int32_t i = 0; i < r.model->main->n_ops; i++)
        for (int32_t k = 10; k < i; k++)
            cr_expect(!r.all[i].factors || r.all[i].factors != r.all[k].factors,
                      "operators %d and %d", k, i);
    clv_arena_free(r.arena);
}

/* Operators with a body or of a kind that nobody knows are like no other. */
Test(graph_factors, what_cannot_be_compared_is_looked_at_alone)
{
    resolved r = resolve("graph one; y = Identity(x); end in x float[4]; in c bool[];"
                         "a = If(c) then_branch=@one else_branch=@one;"
                         "b = If(c) then_branch=@one else_branch=@one;"
                         "d = ms:Nobody(x); e = ms:Someone(x); f = Relu(x)");
    expect_as_alone(&r);
    clv_arena_free(r.arena);
}
