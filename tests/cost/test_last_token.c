/* test_last_token.c - what logits of the last token cost, and how their product may be split. */
#include "graph/last_token.h"

#include "cost/made_shards.h"
#include "cost/shard_cost.h"

#define SEQUENCES 2
#define TOKENS    16
#define HIDDEN    64
#define WORDS     256

/* Ids to logits, beside attention that leaves keys; tokens of all sequences in one dimension, as
 * GPT-2 exports have them, where it is flat. */
static made *prefill(clv_arena *arena, const char *product, bool flat)
{
    made *m = made_new(arena);
    made_input(m, "ids", CLV_DT_INT64, "2,16");
    made_input(m, "q", CLV_DT_FLOAT, "2,4,16,8");
    made_input(m, "past", CLV_DT_FLOAT, "2,4,3,8");
    made_input(m, "k", CLV_DT_FLOAT, "2,4,16,8");
    made_weight(m, "table", CLV_DT_FLOAT, "256,64");
    made_weight(m, "head", CLV_DT_FLOAT, "64,256");
    made_op(m, "Concat", "past,k", "keys");
    made_attr_int(m, "axis", 2);
    made_op(m, "Gather", "table,ids", "hidden");
    if (flat) {
        made_ints(m, "rows", "-1,64");
        made_op(m, "Reshape", "hidden,rows", "flat");
    }
    made_op(m, product, flat ? "flat,head" : "hidden,head", "a");
    made_weight(m, "cap", CLV_DT_FLOAT, "1");
    made_op(m, "Mul", "a,cap", "b");
    if (flat) {
        made_ints(m, "shape", "2,16,256");
        made_op(m, "Reshape", "b,shape", "logits");
    } else {
        made_op(m, "Identity", "b", "logits");
    }
    made_output(m, "keys");
    made_output(m, "logits");
    made_build(m);
    return m;
}

static void take_last(made *m)
{
    clv_prompt prompt;
    const clv_types *last;
    cr_assert_eq(clv_prompt_find(m->types, m->arena, &prompt, &m->err), CLV_OK);
    cr_assert_eq(clv_types_last_token(m->types, &prompt, m->arena, &last, &m->err), CLV_OK);
    cr_assert_neq(last, m->types);
    m->types = CLV_NEW(m->arena, clv_types);
    *m->types = *last;
    cr_assert_eq(clv_costs_build(m->model, m->types, m->arena, &m->costs, &m->err), CLV_OK);
}

static void expect_costs(const char *product, bool flat)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    made *m = prefill(arena, product, flat);
    cr_expect_eq(made_cost(m, "a")->flops, 2 * SEQUENCES * TOKENS * HIDDEN * WORDS);
    take_last(m);
    const clv_op_cost *a = made_cost(m, "a");
    cr_expect_eq(a->flops, 2 * SEQUENCES * HIDDEN * WORDS, "%s", product);
    cr_expect_eq(a->read_bytes, 4 * (SEQUENCES * HIDDEN + HIDDEN * WORDS));
    cr_expect_eq(a->write_bytes, 4 * SEQUENCES * WORDS);
    cr_expect_eq(a->shape.n, WORDS);
    cr_expect_eq(a->shape.k, HIDDEN);
    cr_expect_eq(a->shape.m * a->shape.batch, SEQUENCES);
    cr_expect_eq(made_cost(m, "b")->flops, SEQUENCES * WORDS);
    cr_expect_eq(made_cost(m, "hidden")->write_bytes, 4 * SEQUENCES * TOKENS * HIDDEN);
    clv_arena_free(arena);
}

Test(last_token_cost, a_row_for_each_sequence_is_read_computed_and_written)
{
    expect_costs("MatMul", false);
    expect_costs("MatMul", true);
    expect_costs("Gemm", true);
}

/* No device knows from its part of the tokens which one is the last: they are one, or not split.
 * Words and hidden are. */
static void expect_factors(bool flat)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    made *m = prefill(arena, "MatMul", flat);
    take_last(m);
    clv_factors *all;
    cr_assert_eq(clv_factors_all(m->model, m->types, arena, &all, &m->err), CLV_OK);
    const clv_op op = made_writer(m, "a");
    const clv_factors *f = &all[op.i];
    cr_assert_null(f->why_whole, "%s", f->why_whole);
    for (int32_t i = 0; i < f->n_factors; i++)
        cr_expect(f->factors[i].size == SEQUENCES || f->factors[i].size == HIDDEN ||
                      f->factors[i].size == WORDS || f->factors[i].size == 1 ||
                      f->factors[i].kind == CLV_FACTOR_WHOLE,
                  "%s of %d", f->factors[i].name, (int)f->factors[i].size);
    /* words over 4 devices */
    int64_t parts[8];
    clv_op_cost part;
    clv_shard_op one = { .types = m->types, .costs = m->costs, .factors = f, .op = op };
    for (int32_t i = 0; i < f->n_factors; i++)
        parts[i] = f->factors[i].size == WORDS ? 4 : 1;
    cr_assert_eq(clv_shard_cost(&one, parts, arena, &part, &m->err), CLV_OK);
    cr_expect_eq(part.flops, 2 * SEQUENCES * HIDDEN * WORDS / 4);
    cr_expect_eq(part.read_bytes, 4 * (SEQUENCES * HIDDEN + HIDDEN * WORDS / 4));
    cr_expect_eq(part.write_bytes, 4 * SEQUENCES * WORDS / 4);
    cr_expect_eq(part.shape.n, WORDS / 4);
    clv_arena_free(arena);
}

Test(last_token_cost, tokens_are_not_split_where_one_is_read)
{
    expect_factors(false);
    expect_factors(true);
}

/* The same, where attention makes the hidden states: so the sequences are a factor of the rows. */
static made *attending(clv_arena *arena)
{
    made *m = made_new(arena);
    made_input(m, "ids", CLV_DT_INT64, "2,16");
    made_weight(m, "table", CLV_DT_FLOAT, "256,64");
    made_weight(m, "head", CLV_DT_FLOAT, "64,256");
    made_weight(m, "bias", CLV_DT_FLOAT, "256");
    made_op(m, "Gather", "table,ids", "q");
    made_op(m, "Relu", "q", "v");
    made_op(m, "Transpose", "v", "k");
    made_attr_ints(m, "perm", "0,2,1");
    made_op(m, "MatMul", "q,k", "s");
    made_op(m, "Softmax", "s", "p");
    made_op(m, "MatMul", "p,v", "hidden");
    made_ints(m, "rows", "-1,64");
    made_op(m, "Reshape", "hidden,rows", "flat");
    made_op(m, "MatMul", "flat,head", "a");
    made_op(m, "Add", "a,bias", "b");
    made_output(m, "k");
    made_output(m, "v");
    made_output(m, "b");
    made_build(m);
    return m;
}

/* Whoever reads a plan has the rules of the file, where rows (sequences * tokens) are taken apart:
 * a split of the sequences has to be called as there. */
Test(last_token_cost, a_split_means_the_same_in_the_file)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    made *m = attending(arena);
    clv_factors *file, *last;
    cr_assert_eq(clv_factors_all(m->model, m->types, arena, &file, &m->err), CLV_OK);
    take_last(m);
    cr_assert_eq(clv_factors_all(m->model, m->types, arena, &last, &m->err), CLV_OK);
    for (int32_t i = 0; i < m->types->graph->n_ops; i++)
        for (int32_t k = 0; k < last[i].n_factors; k++) {
            cr_assert_str_eq(last[i].factors[k].name, file[i].factors[k].name);
            cr_expect(last[i].factors[k].size == file[i].factors[k].size ||
                          last[i].factors[k].size == 1,
                      "operator %d, factor %s", (int)i, last[i].factors[k].name);
        }
    const clv_factors *of_b = &last[made_writer(m, "b").i];
    const clv_dim_factors *rows = &of_b->out[0].dims[0];
    cr_assert_eq(rows->n, 2, "sequences and tokens");
    cr_expect_eq(of_b->factors[rows->at[0]].size, SEQUENCES);
    cr_expect_eq(of_b->factors[rows->at[0]].kind, CLV_FACTOR_PARALLEL);
    cr_expect_eq(of_b->factors[rows->at[1]].size, 1);
    clv_arena_free(arena);
}
