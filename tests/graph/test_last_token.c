/* test_last_token.c - which outputs of a model are logits, and the shapes that they have where only
 * those of the last token are computed. */
#include "graph/last_token.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "graph/infer.h"
#include "support/line_model.h"

typedef struct {
    clv_arena *arena;
    const clv_types *file, *last; /* the same where all tokens are computed */
    clv_prompt prompt;
} served;

static served of_lines(const char *const *lines)
{
    served s = { .arena = clv_arena_new(NULL, 0) };
    clv_error err = { .status = CLV_OK };
    clv_inference *found = NULL;
    cr_assert_eq(clv_infer(line_model(s.arena, lines), NULL, 0, s.arena, &found, &err), CLV_OK,
                 "%s", err.message);
    s.file = found->main;
    cr_assert_eq(clv_prompt_find(s.file, s.arena, &s.prompt, &err), CLV_OK);
    cr_assert_eq(clv_types_last_token(s.file, &s.prompt, s.arena, &s.last, &err), CLV_OK);
    return s;
}

static clv_tensor tensor_of(const served *s, const char *name)
{
    for (int32_t t = 0; t < s->file->graph->n_tensors; t++)
        if (clv_str_is(s->file->graph->tensors[t].name, name))
            return (clv_tensor){ t };
    cr_assert_fail("no tensor '%s'", name);
    return CLV_NO_TENSOR;
}

static void expect_type(const served *s, const char *name, const char *expected, int64_t bytes)
{
    char got[100];
    clv_tensor t = tensor_of(s, name);
    clv_type_show(NULL, &s->last->of[t.i], got, sizeof got);
    cr_expect_str_eq(got, expected, "%s is %s, expected %s", name, got, expected);
    cr_expect_eq(s->last->bytes[t.i], bytes, "%s", name);
}

static void expect_all(const char *const *lines)
{
    served s = of_lines(lines);
    cr_expect_eq(s.last, s.file, "with %s", lines[0]);
    clv_arena_free(s.arena);
}

#define LINES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Attention that leaves keys, beside the line from ids to hidden states h; 2 sequences. */
#define CACHES                                                                                     \
    "in q 2 3 5 8", "in k0 2 3 8 5", "in v0 2 3 5 8", "Relu k0 k", "Relu v0 v", "MatMul q k s",    \
        "Softmax s p", "MatMul p v y", "out k", "out v"
#define HIDDEN "in ids 2 5 int", CACHES, "w table 50 8", "Gather table ids h", "w head 8 50"

Test(last_token, logits_have_one_token_of_each_sequence)
{
    served s = of_lines(LINES(HIDDEN, "MatMul h head logits", "out logits"));
    cr_expect_eq(s.prompt.vocabulary, 50);
    cr_expect_eq(clv_prompt_tokens(&s.prompt), 5);
    expect_type(&s, "logits", "float[2,1,50]", 2 * 50 * 4);
    expect_type(&s, "h", "float[2,5,8]", 2 * 5 * 8 * 4);
    const clv_graph *g = s.file->graph;
    const clv_op_info *op = clv_op_at(g, g->tensors[tensor_of(&s, "logits").i].producer);
    cr_expect_eq(clv_bytes_read(s.last, op, 0), 2 * 8 * 4);
    cr_expect_eq(clv_bytes_read(s.last, op, 1), 8 * 50 * 4);
    cr_expect_eq(clv_bytes_read(s.file, op, 0), 2 * 5 * 8 * 4);
    cr_expect_eq(clv_type_elems(clv_type_read(s.last, op, 0)), 2 * 8);
    clv_arena_free(s.arena);
}

/* As Gemma caps them, and Cohere scales them. */
Test(last_token, what_follows_element_by_element_has_one_too)
{
    served s =
        of_lines(LINES(HIDDEN, "MatMul h head a", "w cap 1", "w bias 50", "Div a cap b", "Tanh b c",
                       "Mul cap c d", "Add d bias e", "Identity e logits", "out logits"));
    const char *all[] = { "a", "b", "c", "d", "e", "logits" };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        expect_type(&s, all[i], "float[2,1,50]", 2 * 50 * 4);
    clv_arena_free(s.arena);
}

/* Their shape is not their content. */
Test(last_token, tokens_may_be_in_one_dimension_and_shapes_may_be_asked_for)
{
    served s = of_lines(LINES("in ids 1 5 int", CACHES, "w table 50 8", "Gather table ids h",
                              "w head 8 50", "Squeeze h flat", "MatMul flat head logits",
                              "Shape logits shape", "out logits", "out shape"));
    expect_type(&s, "logits", "float[1,50]", 50 * 4);
    clv_arena_free(s.arena);
}

Test(last_token, a_step_of_decoding_is_as_it_is)
{
    expect_all(LINES("in ids 2 1 int", CACHES, "w table 50 8", "Gather table ids h", "w head 8 50",
                     "MatMul h head logits", "out logits"));
    expect_all(LINES("in ids 2 tokens int", CACHES, "w table 50 8", "Gather table ids h",
                     "w head 8 50", "MatMul h head logits", "out logits"));
}

Test(last_token, hidden_states_and_what_else_may_want_all_tokens_keep_them)
{
    expect_all(LINES(HIDDEN, "w up 8 60", "MatMul h up z", "out z"));
    expect_all(LINES(HIDDEN, "MatMul h head logits", "Relu logits z", "out z"));
    expect_all(LINES(HIDDEN, "MatMul h head logits", "ReduceMax logits z", "out z", "out logits"));
    expect_all(LINES(HIDDEN, "MatMul h head a", "in other 2 5 50", "Add a other z", "out z"));
    expect_all(LINES(HIDDEN, "MatMul h head a", "Add a a z", "out z"));
    expect_all(LINES(HIDDEN, "in x 2 8 50", "MatMul h x z", "out z"));
}

/* As of BERT, whose words are all predicted. */
Test(last_token, a_model_without_caches_generates_no_text)
{
    const char *const lines[] = { "in ids 2 5 int",
                                  "w table 50 8",
                                  "Gather table ids h",
                                  "w head 8 50",
                                  "MatMul h head logits",
                                  "out logits",
                                  NULL };
    served s = of_lines(lines);
    cr_expect_eq(s.last, s.file);
    cr_expect_eq(clv_prompt_tokens(&s.prompt), 0);
    clv_arena_free(s.arena);
    expect_all(LINES("in h 2 5 8", CACHES, "w head 8 50", "MatMul h head logits", "out logits"));
}

/* It returns the mask that it is given, or the states that a softmax over the tokens pools. */
Test(last_token, a_text_encoder_generates_none_whatever_it_returns)
{
    expect_all(LINES("in ids 2 5 int", "in mask 2 5 int", "w table 50 8", "Gather table ids h",
                     "w head 8 50", "MatMul h head logits", "Identity mask m", "out logits",
                     "out m"));
    expect_all(LINES("in ids 2 5 int", "in q 2 1 5", "w table 50 8", "Gather table ids h",
                     "w head 8 50", "MatMul h head logits", "Softmax q p", "MatMul p h pooled",
                     "out logits", "out h", "out pooled"));
}

/* The positions' table is smaller, and as many columns are no logits. */
Test(last_token, the_vocabulary_is_the_largest_table)
{
    served s = of_lines(LINES(HIDDEN, "in at 2 5 int", "w positions 16 8", "Gather positions at p0",
                              "Add h p0 x", "MatMul x head logits", "w up 8 16",
                              "MatMul x up features", "out logits", "out features"));
    expect_type(&s, "logits", "float[2,1,50]", 2 * 50 * 4);
    expect_type(&s, "features", "float[2,5,16]", 2 * 5 * 16 * 4);
    clv_arena_free(s.arena);
}
