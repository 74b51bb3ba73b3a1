/* test_states.c - which inputs come back as outputs, and how many bytes a token takes there. */
#include "graph/states.h"

#include "graph/first_caches.h"
#include "graph/op_case.h"
#include "support/line_model.h"

/* "1>o0@2:4096 2>o1@2:4096": by input, the output, the axis of positions, and bytes a token. */
static void show(const clv_types *types, const clv_states *states, char *buf, size_t size)
{
    const clv_graph *g = types->graph;
    clv_dim sequences = clv_sequences(types);
    size_t n = 0;
    buf[0] = '\0';
    for (int32_t i = 0; i < states->n; i++) {
        const clv_state *s = &states->at[i];
        int32_t input = s->in.i < 0 ? -1 : 0;
        while (input >= 0 && g->inputs[input].i != s->in.i)
            input++;
        n += (size_t)snprintf(buf + n, size - n, "%s%d>%.*s@%d:%lld", i ? " " : "", input,
                              CLV_STR_ARG(clv_tensor_at(g, s->out)->name), s->positions,
                              (long long)clv_state_token_bytes(types, s, sequences));
        cr_expect_eq(states->of_out[s->out.i], input < 0 ? -1 : i);
    }
}

static void expect_of(const clv_types *types, clv_arena *arena, const char *expected)
{
    char got[1024];
    clv_states states;
    clv_error err = { .status = CLV_OK };
    cr_assert_eq(clv_states_find(types, arena, &states, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_states_add_first(types, arena, &states, &err), CLV_OK, "%s", err.message);
    show(types, &states, got, sizeof got);
    cr_expect_str_eq(got, expected, "got \"%s\", expected \"%s\"", got, expected);
}

/* Of one operator, whose tensors are the model's ends. */
static void keeps(const char *domain, const char *type, const char *inputs, const char *attrs,
                  const char *outputs, const char *expected)
{
    op_case c;
    clv_error err = { .status = CLV_OK };
    clv_inference *found = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    cr_assert_eq(case_run(&c, arena, domain, 23, type, inputs, attrs, outputs, &found, &err),
                 CLV_OK, "%s: %s", type, err.message);
    expect_of(found->main, arena, expected);
    clv_arena_free(arena);
}

/* Of lines (support/line_model.h). */
static void line_keeps(const char *const *lines, const char *expected)
{
    clv_error err = { .status = CLV_OK };
    clv_inference *found = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    cr_assert_eq(clv_infer(line_model(arena, lines), NULL, 0, arena, &found, &err), CLV_OK, "%s",
                 err.message);
    expect_of(found->main, arena, expected);
    clv_arena_free(arena);
}

#define LINES(...) ((const char *const[]){ __VA_ARGS__, NULL })

Test(states, most_models_keep_nothing)
{
    line_keeps(LINES("in x 2 8", "Relu x y", "out y"), "");
    line_keeps(LINES("in x 2 8", "w a 2 8", "Add x a y", "out y"), "");
}

/* Keys that are appended: 4 heads x 16 elements of 4 bytes a token, in each of 2 sequences. */
Test(states, a_cache_grows_along_its_axis)
{
    keeps("", "Concat", "float[2,4,7,16] float[2,4,1,16]", "axis=2", "o0", "0>o0@2:256");
    keeps("", "Concat", "float[2,4,7,16] float[2,4,1,16]", "axis=-2", "o0", "0>o0@2:256");
    keeps("", "Concat", "float16[b,4,past,16] float16[b,4,new,16]", "axis=2", "o0", "0>o0@2:128");
    keeps("", "Concat", "float16[b,heads,past,16] float16[b,heads,1,16]", "axis=2", "o0",
          "0>o0@2:-1");
}

/* Two sequences and two heads: the first axis of as many is the batch. */
Test(states, only_one_axis_is_the_batch)
{
    keeps("", "Concat", "float[2,2,7,16] float[2,2,1,16]", "axis=2", "o0", "0>o0@2:128");
    keeps("", "Concat", "float[7,2,16] float[1,2,16]", "axis=0", "o0", "0>o0@0:128");
}

Test(states, attention_has_its_past_and_present)
{
    keeps("", "Attention",
          "float16[2,8,1,64] float16[2,2,1,64] float16[2,2,1,64] - float16[2,2,9,64] "
          "float16[2,2,9,64]",
          "", "o0 o1 o2", "3>o1@2:256 4>o2@2:256");
    keeps("com.microsoft", "GroupQueryAttention",
          "float16[2,1,512] float16[2,1,128] float16[2,1,128] float16[2,2,32,64] "
          "float16[2,2,32,64] int32[2] int32[1]{10}",
          "num_heads=8 kv_num_heads=2", "o0 o1 o2", "3>o1@2:256 4>o2@2:256");
}

static void holds(const char *inputs, int64_t tokens)
{
    op_case c;
    clv_states states;
    clv_error err = { .status = CLV_OK };
    clv_inference *found = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    cr_assert_eq(case_run(&c, arena, "", 23, "Concat", inputs, "axis=2", "o0", &found, &err),
                 CLV_OK, "%s", err.message);
    cr_assert_eq(clv_states_find(found->main, arena, &states, &err), CLV_OK);
    cr_expect_eq(clv_states_tokens(found->main, &states), tokens, "%s", inputs);
    clv_arena_free(arena);
}

Test(states, all_sequences_hold_their_tokens)
{
    holds("float[2,4,7,16] float[2,4,1,16]", 2 * 8);
    holds("float[b,4,7,16] float[b,4,1,16]", 0);
    holds("float[2,4,p,16] float[2,4,1,16]", 0);
    holds("float[2,4,7,16] float[2,4,7,16]", 2 * 14);
}

/* A file may declare what is not so. */
Test(states, a_cache_of_fewer_axes_has_no_positions)
{
    op_case c;
    clv_error err = { .status = CLV_OK };
    clv_inference *found = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    cr_assert_eq(case_run(&c, arena, "com.microsoft", 1, "GroupQueryAttention",
                          "? ? ? float16[2,8] ? ? ?", "num_heads=8 kv_num_heads=2", "o0 o1 o2",
                          &found, &err),
                 CLV_OK, "%s", err.message);
    const clv_graph *g = found->main->graph;
    found->main->of[g->outputs[1].i] = found->main->of[g->inputs[3].i];
    found->main->states = NULL; /* they are of other types */
    expect_of(found->main, arena, "3>o1@-1:0 -1>o2@2:-1");
    clv_arena_free(arena);
}

/* An LSTM's hidden states come back as large as they were. */
Test(states, recurrences_keep_their_size)
{
    keeps("", "LSTM", "float[5,2,8] float[1,64,8] float[1,64,16] - - float[1,2,16] float[1,2,16]",
          "hidden_size=16", "o0 o1 o2", "3>o1@-1:0 4>o2@-1:0");
    keeps("", "ScatterND", "float[2,32,8] int64[4,2] float[4,8]", "", "o0", "0>o0@-1:0");
}

Test(states, what_is_cut_comes_back_only_as_large_as_it_was)
{
    keeps("", "Slice", "float[2,9] int64[1]{1} int64[1]{9} int64[1]{1}", "", "o0", "");
    keeps("", "Slice", "float[2,9] int64[1]{0} int64[1]{9} int64[1]{1}", "", "o0", "0>o0@-1:0");
}

Test(states, other_types_shapes_and_copies_are_not_states)
{
    keeps("", "Concat", "float[8] float[8]", "axis=0", "o0", "");
    keeps("", "Cast", "float[2,8]", "to=10", "o0", "");
    keeps("", "Transpose", "float[2,8,9]", "perm=[0,2,1]", "o0", "");
    line_keeps(LINES("in x 2 8", "Identity x y", "Identity x z", "out y", "out z"), "0>y@-1:0");
}

/* Attention over 5 tokens of 2 sequences: 3 heads of 8 elements of 4 bytes in keys and in values.
 */
#define ATTENTION                                                                                  \
    "in ids 2 5", "in q 2 3 5 8", "in k0 2 3 8 5", "in v0 2 3 5 8", "Relu k0 k", "Relu v0 v",      \
        "MatMul q k scores", "w scale 1", "Mul scores scale scaled", "Softmax scaled p",           \
        "MatMul p v y", "out y"

Test(states, a_run_without_a_past_begins_caches)
{
    line_keeps(LINES(ATTENTION), "");
    line_keeps(LINES(ATTENTION, "out k", "out v"), "-1>k@3:96 -1>v@2:96");
    line_keeps(LINES(ATTENTION, "Identity v kept", "out kept"), "-1>kept@2:96");
    line_keeps(LINES(ATTENTION, "Relu v other", "out other", "out scores"), "");
}

Test(states, one_operator_of_attention_begins_caches_too)
{
    keeps("", "Attention", "float16[2,8,9,64] float16[2,2,9,64] float16[2,2,9,64]", "", "o0 o1 o2",
          "-1>o1@2:256 -1>o2@2:256");
    keeps("", "Attention", "float16[b,8,s,64] float16[b,2,s,64] float16[b,2,s,64]", "", "o0 o1 o2",
          "-1>o1@2:256 -1>o2@2:256");
}
