#include "rule_case.h"

/* Branches, loops, sequences. Each expected type is followed through the bodies by hand. */

#define BRANCHES "graph a; y = Relu(x); end; graph b; w s int64{3,2}; y = Reshape(x, s); end;"

Test(shapes_body, if_gives_what_both_branches_give)
{
    static const rule_case cases[] = {
        { "in c bool[]; in x float[2,3]; graph a; y = Relu(x); end; graph b; y = Neg(x); end;"
          "z = If(c) then_branch=@a else_branch=@b",
          "float[2,3]" },
        { "in c bool[]; in x float[2,3];" BRANCHES "z = If(c) then_branch=@a else_branch=@b",
          "float[?,?]" },
        { "in c bool[]; in x float[2,3]; graph a; y = Relu(x); end; graph b; y = Flatten(x); end;"
          "z = If(c) else_branch=@b then_branch=@a",
          "float[2,3]" },
        { "in c bool[]; in x float[2,3]; graph a; y = Relu(x); end; graph b; y = Shape(x); end;"
          "z = If(c) then_branch=@a else_branch=@b",
          "?[...]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_body, if_with_a_known_condition_gives_that_branch)
{
    static const rule_case cases[] = {
        { "w c bool(1); in x float[2,3];" BRANCHES "z = If(c) then_branch=@a else_branch=@b",
          "float[2,3]" },
        { "w c bool(0); in x float[2,3];" BRANCHES "z = If(c) then_branch=@a else_branch=@b",
          "float[3,2]" },
        /* the value passes too: a shape made in the branch is used outside */
        { "w c bool(1); in x float[4,2]; graph a; y = Constant() value_ints=[2,4]; end;"
          "graph b; y = Constant() value_ints=[8]; end;"
          "s = If(c) then_branch=@a else_branch=@b; z = Reshape(x, s); out z",
          "float[2,4]" },
    };
    CASES_CHECK(cases);
}

/* Adds one to what it carries, and gives it out each round. */
#define COUNTING                                                                                   \
    "graph step; in i int64[]; in go bool[]; in v float[...]; on = Identity(go);"                  \
    "next = Relu(v); each = Neg(v); out on next each; end;"

Test(shapes_body, loop_carries_a_shape_and_stacks_what_each_round_gives)
{
    static const rule_case cases[] = {
        { "w m int64(5); in x float[2,n];" COUNTING "last, all = Loop(m, , x) body=@step",
          "float[2,n] | float[5,2,n]" },
        { "w m int64(5); w c bool(1); in x float[2];" COUNTING
          "last, all = Loop(m, c, x) body=@step",
          "float[2] | float[5,2]" },
        { "w m int64(5); in c bool[]; in x float[2];" COUNTING
          "last, all = Loop(m, c, x) body=@step",
          "float[2] | float[?,2]" },
        { "in m int64[]; in x float[2];" COUNTING "last, all = Loop(m, , x) body=@step",
          "float[2] | float[?,2]" },
        { "w m int64(5); w c bool(0); in x float[2];" COUNTING
          "last, all = Loop(m, c, x) body=@step",
          "float[2] | float[0,2]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_body, loop_forgets_a_dimension_that_changes_and_keeps_the_others)
{
    static const rule_case cases[] = {
        /* [1,3], [2,3], [3,3] ...: only the first dimension grows */
        { "in m int64[]; in x float[1,3]; in r float[1,3];"
          "graph grow; in i int64[]; in go bool[]; in v float[...];"
          "next = Concat(v, r) axis=0; out go next; end;"
          "last = Loop(m, , x) body=@grow",
          "float[?,3]" },
        /* the rank grows */
        { "in m int64[]; in x float[3];"
          "graph grow; in i int64[]; in go bool[]; in v float[...]; w a int64{0};"
          "next = Unsqueeze(v, a); out go next; end;"
          "last = Loop(m, , x) body=@grow",
          "float[...]" },
        /* no round at all: what went in */
        { "w m int64(0); in x float[1,3]; in r float[1,3];"
          "graph grow; in i int64[]; in go bool[]; in v float[...];"
          "next = Concat(v, r) axis=0; out go next; end;"
          "last = Loop(m, , x) body=@grow",
          "float[1,3]" },
        { "in m int64[]; in x float[3];"
          "graph bad; in i int64[]; out i; end; last = Loop(m, , x) body=@bad",
          "error: the body has 1 inputs, expected 3" },
    };
    CASES_CHECK(cases);
}

#define SUMMING                                                                                    \
    "graph sum; in s float[...]; in e float[...]; t = Add(s, e); u = Identity(t); out t u; end;"

Test(shapes_body, scan_walks_along_its_axis)
{
    static const rule_case cases[] = {
        { "in s float[2]; in x float[7,2];" SUMMING
          "last, all = Scan(s, x) body=@sum num_scan_inputs=1",
          "float[2] | float[7,2]" },
        { "in s float[2]; in x float[2,n];" SUMMING
          "last, all = Scan(s, x) body=@sum num_scan_inputs=1 scan_input_axes=[1]"
          "scan_output_axes=[-1]",
          "float[2] | float[2,n]" },
        /* version 8: a batch before all, and the lengths first */
        { "opset 8; in s float[4,2]; in x float[4,7,2];" SUMMING
          "last, all = Scan(, s, x) body=@sum num_scan_inputs=1",
          "float[4,2] | float[4,7,2]" },
        { "in s float[2]; in x float[...];" SUMMING
          "last, all = Scan(s, x) body=@sum num_scan_inputs=1",
          "float[...] | float[...]" },
        { "in s float[2]; in x float[7,2];" SUMMING
          "last, all = Scan(s, x) body=@sum num_scan_inputs=3",
          "error: num_scan_inputs is 3" },
    };
    CASES_CHECK(cases);
}

Test(shapes_body, sequences_know_what_is_true_of_all_their_elements)
{
    static const rule_case cases[] = {
        { "in a float[2,3]; in b float[2,4]; y = SequenceConstruct(a, b)",
          "sequence of float[2,?]" },
        { "in a float[2]; in b float[2,4]; y = SequenceConstruct(a, b)", "sequence of float[...]" },
        { "y = SequenceEmpty() dtype=7", "sequence of int64[...]" },
        { "in a float[2]; e = SequenceEmpty(); y = SequenceInsert(e, a); out y",
          "sequence of float[2]" },
        { "in s seq float[2]; in a float[3]; y = SequenceInsert(s, a)", "sequence of float[?]" },
        { "in s seq float[2]; in p int64[]; y = SequenceErase(s, p)", "sequence of float[2]" },
        { "in s seq float[2]; in p int64[]; y = SequenceAt(s, p)", "float[2]" },
        { "in s any; in p int64[]; y = SequenceAt(s, p)", "?" },
        { "in s seq float[2]; y = SequenceLength(s)", "int64[]" },
        { "in x float[6,2]; w p int64(3); y = SplitToSequence(x, p)", "sequence of float[3,2]" },
        { "in x float[7,2]; w p int64(3); y = SplitToSequence(x, p)", "sequence of float[?,2]" },
        { "in x float[6,2]; w p int64{2,4}; y = SplitToSequence(x, p)", "sequence of float[?,2]" },
        { "in x float[6,2]; y = SplitToSequence(x) keepdims=0", "sequence of float[2]" },
        { "in x float[6,2]; y = SplitToSequence(x) axis=1", "sequence of float[6,1]" },
        { "in s seq float[2,3]; y = ConcatFromSequence(s) axis=0", "float[?,3]" },
        { "in s seq float[2,3]; y = ConcatFromSequence(s) axis=-1 new_axis=1", "float[2,3,?]" },
        { "in a float[2,3]; in b float[2,4]; s = SequenceConstruct(a, b);"
          "y = ConcatFromSequence(s) axis=1; out y",
          "float[2,7]" },
        { "in s seq float[2]; in x float[2]; graph f; in e float[...]; in k float[...];"
          "y = Concat(e, k) axis=0; end; y = SequenceMap(s, x) body=@f",
          "sequence of float[4]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_body, optionals_wrap_a_type)
{
    static const rule_case cases[] = {
        { "in x float[2]; y = Optional(x)", "optional float[2]" },
        { "y = Optional() type=type seq float[3]", "optional sequence of float[3]" },
        { "in x opt float[2]; y = OptionalGetElement(x)", "float[2]" },
        { "in x float[2]; y = OptionalGetElement(x)", "float[2]" },
        { "in x opt float[2]; y = OptionalHasElement(x)", "bool[]" },
    };
    CASES_CHECK(cases);
}

/* 20 carried states of which each round forgets one: it must end, and soon. */
Test(shapes_body, a_loop_that_forgets_one_dimension_a_round_ends)
{
    char text[8192] = "in m int64[]; in r float[2];", got[4096];
    for (int i = 0; i < 20; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "in x%d float[1];", i);
    strcat(text, "graph chain; in i int64[]; in go bool[];");
    for (int i = 0; i < 20; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "in v%d float[...];", i);
    strcat(text, "y0 = Concat(v0, r) axis=0;");
    for (int i = 1; i < 20; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "y%d = Identity(v%d);", i, i - 1);
    strcat(text, "out go");
    for (int i = 0; i < 20; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " y%d", i);
    strcat(text, "; end; l0");
    for (int i = 1; i < 20; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", l%d", i);
    strcat(text, " = Loop(m, ");
    for (int i = 0; i < 20; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", x%d", i);
    strcat(text, ") body=@chain; out l0 l1");
    cr_assert_eq(case_run(text, 0, got, sizeof got), CLV_OK, "%s", got);
    cr_expect_null(strstr(got, "float[1]"), "%s", got);
}

Test(shapes_body, survives_running_out_of_memory_anywhere)
{
    const char *text =
        "w m int64(5); in x float[2];" COUNTING "last, all = Loop(m, , x) body=@step";
    char got[256] = "";
    clv_status status = CLV_ENOMEM;
    for (size_t limit = 1; status != CLV_OK; limit += 64) {
        status = case_run(text, limit, got, sizeof got);
        cr_assert(status == CLV_OK || status == CLV_ENOMEM, "%s", got);
    }
    cr_expect_str_eq(got, "float[2] | float[5,2]");
}
