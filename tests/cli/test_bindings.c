#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/onnx_builder.h"
#include "support/run.h"

/* Sizes of symbols, as a user gives them: what follows from others, and what contradicts them, is
 * the same in each form in which exporters write a step of decoding. */

static char *folder;

/* -- one layer of attention with a cache of 2 sequences, 4 heads of 8 -- */

#define F        1
#define I32      6
#define I64      7
#define PAST     "batch,4,past_sequence_length,8"
#define PRESENT  "batch,4,total_sequence_length,8"
#define TOKENS   "batch,sequence_length,32"
#define MASK     "batch,total_sequence_length"
#define BIAS     "batch,1,sequence_length,total_sequence_length"
#define BY_HABIT "batch,4,past_sequence_length + 1,8"
#define SHARED   "or 1 to 100 where past and present share a buffer"
#define SUM      "past_sequence_length + sequence_length"

static test_graph *begin(test_onnx **m, int opset)
{
    *m = onnx_new(10, opset);
    test_graph *g = onnx_main(*m);
    onnx_opset(*m, "com.microsoft", 1);
    onnx_input(g, "q", F, TOKENS);
    onnx_input(g, "k", F, TOKENS);
    onnx_input(g, "v", F, TOKENS);
    onnx_input(g, "pk", F, PAST);
    onnx_input(g, "pv", F, PAST);
    return g;
}

static void end(test_onnx *m, test_graph *g, const char *name)
{
    bool by_habit = strcmp(name, "by_habit") == 0;
    char path[600];
    onnx_output(g, "y", F, NULL);
    onnx_output(g, "nk", F, by_habit ? BY_HABIT : PRESENT);
    onnx_output(g, "nv", F, by_habit ? BY_HABIT : PRESENT);
    snprintf(path, sizeof path, "%s/%s.onnx", folder, name);
    onnx_write(m, path);
    onnx_free(m);
}

/* As a trace of operators: keys are joined to those before, scores get a bias. */
static void write_traced(const char *name, const char *bias)
{
    static const int64_t heads[] = { 0, 0, 4, 8 }, order[] = { 0, 2, 1, 3 },
                         turned[] = { 0, 1, 3, 2 };
    test_onnx *m;
    test_graph *g = begin(&m, 17);
    onnx_input(g, "bias", F, bias);
    onnx_weight_ints(g, "heads", "4", heads);
    for (const char *c = "qkv"; *c; c++) {
        char in[16], cut[8], out[8];
        snprintf(in, sizeof in, "%c,heads", *c);
        snprintf(cut, sizeof cut, "%c4", *c);
        snprintf(out, sizeof out, "%ct", *c);
        onnx_node(g, "Reshape", "", in, cut);
        onnx_attr_ints(g, onnx_node(g, "Transpose", "", cut, out), "perm", 4, order);
    }
    onnx_attr_int(g, onnx_node(g, "Concat", "", "pk,kt", "nk"), "axis", 2);
    onnx_attr_int(g, onnx_node(g, "Concat", "", "pv,vt", "nv"), "axis", 2);
    onnx_attr_ints(g, onnx_node(g, "Transpose", "", "nk", "kk"), "perm", 4, turned);
    onnx_node(g, "MatMul", "", "qt,kk", "s");
    onnx_node(g, "Add", "", "s,bias", "b");
    onnx_node(g, "Softmax", "", "b", "p");
    onnx_node(g, "MatMul", "", "p,nv", "y");
    end(m, g, name);
}

static void write_standard(void)
{
    test_onnx *m;
    test_graph *g = begin(&m, 23);
    onnx_input(g, "bias", F, BIAS);
    test_node *a = onnx_node(g, "Attention", "", "q,k,v,bias,pk,pv", "y,nk,nv");
    onnx_attr_int(g, a, "q_num_heads", 4);
    onnx_attr_int(g, a, "kv_num_heads", 4);
    end(m, g, "standard");
}

/* The total is an element of the mask's shape. */
static void write_groups(void)
{
    static const int64_t one[] = { 1 };
    test_onnx *m;
    test_graph *g = begin(&m, 17);
    onnx_input(g, "mask", I64, MASK);
    onnx_weight_ints(g, "one", "1", one);
    onnx_node(g, "ReduceSum", "", "mask,one", "sum");
    onnx_attr_int(g, onnx_node(g, "Cast", "", "sum", "used"), "to", I32);
    onnx_node(g, "Shape", "", "mask", "shape");
    onnx_node(g, "Gather", "", "shape,one", "length");
    onnx_attr_int(g, onnx_node(g, "Cast", "", "length", "total"), "to", I32);
    test_node *a = onnx_node(g, "GroupQueryAttention", "", "q,k,v,pk,pv,used,total", "y,nk,nv");
    onnx_node_domain(g, a, "com.microsoft", NULL);
    onnx_attr_int(g, a, "num_heads", 4);
    onnx_attr_int(g, a, "kv_num_heads", 4);
    end(m, g, "groups");
}

static void write_multi_head(void)
{
    test_onnx *m;
    test_graph *g = begin(&m, 17);
    onnx_input(g, "bias", F, BIAS);
    test_node *a = onnx_node(g, "MultiHeadAttention", "", "q,k,v,,,bias,pk,pv", "y,nk,nv");
    onnx_node_domain(g, a, "com.microsoft", NULL);
    onnx_attr_int(g, a, "num_heads", 4);
    end(m, g, "multi_head");
}

static const struct {
    const char *name;
    bool buffer; /* may past and present share one? */
} forms[] = {
    { "traced", false },
    { "standard", false },
    { "groups", true },
    { "multi_head", false },
};
#define N_FORMS (sizeof forms / sizeof *forms)

static void set_up(void)
{
    folder = folder_new();
    write_traced("traced", BIAS);
    write_traced("by_habit", "batch,1,sequence_length,past_sequence_length + 1");
    write_standard();
    write_groups();
    write_multi_head();
}

static void tear_down(void) { folder_free(folder); }

TestSuite(bindings, .init = set_up, .fini = tear_down);

/* "cleave <command> <bindings> <form>.onnx" ends with that code, and says that. */
static void check(int code, const char *command, const char *form, const char *says)
{
    run_result r = run_in(folder, "%s %s %s.onnx", TEST_CLEAVE, command, form);
    cr_expect_eq(r.code, code, "'%s' of %s gave %d: %s%s", command, form, r.code, r.err, r.out);
    cr_expect(strstr(r.out, says) || strstr(r.err, says), "'%s' of %s printed: %s%s", command, form,
              r.err, r.out);
    run_free(&r);
}

Test(bindings, a_contradiction_is_refused_in_every_form_of_a_model)
{
    for (size_t i = 0; i < N_FORMS; i++) {
        char says[300];
        snprintf(says, sizeof says,
                 "cleave: total_sequence_length=9999 contradicts past_sequence_length=100 + "
                 "sequence_length=1: expected 101%s%s\n",
                 forms[i].buffer ? ", " : "", forms[i].buffer ? SHARED : "");
        check(65,
              "plan -o out.onnx --bind batch=2,past_sequence_length=100,sequence_length=1,"
              "total_sequence_length=9999",
              forms[i].name, says);
        check(65,
              "inspect --bind batch=2,past_sequence_length=100,sequence_length=1,"
              "total_sequence_length=9999",
              forms[i].name, says);
        char *written = file_text(folder, "out.onnx", NULL);
        cr_expect_null(written);
        free(written);
    }
}

Test(bindings, what_follows_need_not_be_given)
{
    for (size_t i = 0; i < N_FORMS; i++) {
        check(0,
              "plan --no-output --devices 1 --bind batch=2,past_sequence_length=4095,"
              "sequence_length=1",
              forms[i].name, "\nnote: total_sequence_length=4096 follows from " SUM "\n");
        check(0,
              "plan --no-output --devices 1 --bind batch=2,total_sequence_length=4096,"
              "sequence_length=1",
              forms[i].name,
              "\nnote: past_sequence_length=4095 follows from total_sequence_length = " SUM "\n");
        check(0, "inspect --bind batch=2,past_sequence_length=4095,sequence_length=1",
              forms[i].name, "  total_sequence_length  bound: 4096 follows from " SUM "\n");
    }
}

Test(bindings, the_hint_asks_for_what_does_not_follow)
{
    for (size_t i = 0; i < N_FORMS; i++) {
        check(65, "plan --no-output", forms[i].name,
              "3 symbols of the inputs' shapes have no size");
        check(65, "plan --no-output", forms[i].name,
              "--bind 'batch=1,sequence_length=1,past_sequence_length=1'\n");
        check(65, "plan --no-output --bind batch=2,total_sequence_length=64", forms[i].name,
              forms[i].buffer ? "--bind 'sequence_length=32,past_sequence_length=32'\n"
                              : "--bind 'sequence_length=1'\n");
    }
    /* 1 = past + sequence has no answer, so none is proposed */
    check(65, "plan --no-output --bind batch=2,total_sequence_length=1", "traced",
          "--bind 'sequence_length=N'\n");
    check(65, "plan --no-output --bind batch=2,total_sequence_length=40,past_sequence_length=100",
          "traced",
          "total_sequence_length=40 contradicts past_sequence_length=100 + sequence_length: "
          "sequence_length would be -60, expected a whole number of at least 1\n");
}

Test(bindings, a_buffer_with_room_for_the_new_keys_is_no_contradiction)
{
    check(0,
          "plan --no-output --devices 1 --bind batch=2,past_sequence_length=4096,"
          "sequence_length=1,total_sequence_length=101",
          "groups", "result      optimal");
}

Test(bindings, inspecting_shows_what_holds_between_symbols)
{
    for (size_t i = 0; i < N_FORMS; i++) {
        check(0, "inspect", forms[i].name, "  total_sequence_length  open: follows from " SUM "\n");
        check(0, "inspect", forms[i].name,
              "\nrelations of symbols: 1\n  total_sequence_length = " SUM);
        check(0, "inspect --json", forms[i].name,
              "\"relations\": [\n    {\n      \"left\": \"total_sequence_length\",\n"
              "      \"right\": \"" SUM "\"");
        check(0, "inspect --json", forms[i].name, "\"follows_from\": \"" SUM "\"");
    }
}

/* A plan file has the sizes that were given: what follows from them follows again. */
Test(bindings, a_plan_is_applied_with_the_sizes_that_followed)
{
    check(0,
          "plan -q -o planned.onnx --devices 2 --bind "
          "batch=2,past_sequence_length=15,sequence_length=1",
          "traced", "");
    run_result r = run_in(folder,
                          "%s lower --form devices -o lowered traced.onnx "
                          "planned.onnx.plan.json",
                          TEST_CLEAVE);
    cr_expect_eq(r.code, 0, "%s%s", r.err, r.out);
    run_free(&r);
    check(0, "annotate --plan planned.onnx.plan.json -o again.onnx", "traced", "");
}

/* An exporter's model, of another name for each of its symbols. */
Test(bindings, an_exported_model_is_known_by_its_declared_outputs)
{
    static const char llama[] = TEST_SOURCE_DIR "/tests/data/models/llama_gqa_decode.dyn";
    check(65,
          "plan --no-output --bind batch_size=1,sequence_length=1,past_sequence_length=16,"
          "total_sequence_length=16",
          llama,
          "total_sequence_length=16 contradicts past_sequence_length=16 + sequence_length=1: "
          "expected 17\n");
    check(65, "plan --no-output", llama,
          "--bind 'batch_size=1,sequence_length=1,past_sequence_length=1'\n");
}

/* Exporters write "past + 1" for the total, also where a run has more new tokens: what the graph
 * says counts more. */
Test(bindings, a_name_gives_a_size_only_where_no_relation_does)
{
    check(0, "plan --no-output --devices 1 --bind batch=2,past_sequence_length=100", "by_habit",
          "note: sequence_length=1 follows from 'past_sequence_length + 1' = " SUM "\n");
    check(0,
          "plan --no-output --devices 1 --bind batch=2,past_sequence_length=100,sequence_length=4",
          "by_habit", "note: past_sequence_length + 1=104 follows from " SUM "\n");
}
