#include "graph/graph_build.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Drafts of one-letter tensors: { "name", "Type", "inputs", "outputs" }, '-' for one left out. */
typedef struct {
    const char *name, *type, *in, *out;
} toy_op;

static clv_arena *arena;
static clv_error error;

static void setup(void) { arena = clv_arena_new(NULL, 0); }
static void teardown(void) { clv_arena_free(arena); }
TestSuite(graph_build, .init = setup, .fini = teardown);

static clv_str *letters(const char *text, int32_t *ret_n)
{
    *ret_n = (int32_t)strlen(text);
    clv_str *s = CLV_NEW_ARRAY(arena, clv_str, *ret_n);
    for (int32_t i = 0; i < *ret_n; i++)
        s[i] = (clv_str){ text + i, text[i] == '-' ? 0 : 1 };
    return s;
}

static clv_draft_value *values(const char *text, int32_t *ret_n)
{
    clv_str *names = letters(text, ret_n);
    clv_draft_value *v = CLV_NEW_ARRAY(arena, clv_draft_value, *ret_n);
    for (int32_t i = 0; i < *ret_n; i++)
        v[i].name = names[i];
    return v;
}

static clv_draft *draft_of(const char *in, const char *weights, const char *out, int32_t n,
                           const toy_op *ops)
{
    clv_draft *d = CLV_NEW(arena, clv_draft);
    d->name = clv_str_of("toy");
    d->inputs = values(in, &d->n_inputs);
    d->outputs = values(out, &d->n_outputs);
    clv_str *w = letters(weights, &d->n_weights);
    d->weights = CLV_NEW_ARRAY(arena, clv_const, d->n_weights);
    for (int32_t i = 0; i < d->n_weights; i++)
        d->weights[i].name = w[i];
    d->n_ops = n;
    d->ops = CLV_NEW_ARRAY(arena, clv_draft_op, n);
    for (int32_t i = 0; i < n; i++) {
        d->ops[i].name = clv_str_of(ops[i].name);
        d->ops[i].type = clv_str_of(ops[i].type);
        d->ops[i].inputs = letters(ops[i].in, &d->ops[i].n_inputs);
        d->ops[i].outputs = letters(ops[i].out, &d->ops[i].n_outputs);
    }
    return d;
}

static clv_status build(clv_draft *d, clv_model **ret)
{
    return clv_model_build(&(clv_draft_model){ .ir_version = 8, .main = d }, arena, ret, &error);
}

static void refuse(clv_draft *d, const char *words)
{
    clv_model *m = NULL;
    cr_assert_eq(build(d, &m), CLV_EFORMAT);
    cr_assert_null(m);
    cr_assert(strstr(error.message, words), "said: %s", error.message);
}

Test(graph_build, resolves_names_and_finds_the_readers_of_each_tensor)
{
    toy_op ops[] = { { "f", "Relu", "x", "a" },
                     { "g", "Add", "aw", "b" },
                     { "h", "Add", "aa", "c" } };
    clv_model *m;
    cr_assert_eq(build(draft_of("x", "w", "bc", 3, ops), &m), CLV_OK);
    const clv_graph *g = m->main;
    cr_assert_eq(g->n_ops, 3);
    cr_assert_eq(g->n_tensors, 5); /* w x a b c */
    cr_assert_eq(g->n_inputs, 1);
    clv_tensor a = clv_op_output(g, &g->ops[0], 0);
    cr_assert(clv_str_is(clv_tensor_at(g, a)->name, "a"));
    cr_assert_eq(clv_tensor_at(g, a)->producer.i, 0);
    cr_assert_eq(clv_tensor_at(g, a)->n_readers, 2, "h reads it twice but is one reader");
    cr_assert_eq(g->readers_of[clv_tensor_at(g, a)->first_reader].i, 1);
    cr_assert_eq(g->readers_of[clv_tensor_at(g, a)->first_reader + 1].i, 2);
    cr_assert_eq(clv_tensor_at(g, clv_op_input(g, &g->ops[1], 1))->role, CLV_TENSOR_WEIGHT);
    cr_assert(clv_tensor_at(g, clv_op_output(g, &g->ops[2], 0))->is_output);
}

Test(graph_build, sorts_a_file_that_is_out_of_order_and_keeps_the_file_positions)
{
    toy_op ops[] = { { "last", "Relu", "a", "b" }, { "first", "Relu", "x", "a" } };
    clv_model *m;
    cr_assert_eq(build(draft_of("x", "", "b", 2, ops), &m), CLV_OK);
    cr_assert(clv_str_is(m->main->ops[0].name, "first"));
    cr_assert_eq(m->main->ops[0].file_index, 1);
    clv_tensor b = clv_op_output(m->main, &m->main->ops[1], 0);
    cr_assert_eq(clv_tensor_at(m->main, b)->producer.i, 1);
}

Test(graph_build, keeps_optional_inputs_and_outputs_that_are_left_out)
{
    toy_op ops[] = { { "c", "Clip", "x-y", "a" }, { "d", "Dropout", "a", "-b" } };
    clv_model *m;
    cr_assert_eq(build(draft_of("xy", "", "b", 2, ops), &m), CLV_OK);
    cr_assert_eq(clv_op_input(m->main, &m->main->ops[0], 1).i, -1);
    cr_assert_eq(m->main->ops[0].n_in, 3);
    cr_assert_eq(clv_op_output(m->main, &m->main->ops[1], 0).i, -1);
}

Test(graph_build, reads_an_initializer_that_is_also_listed_as_an_input_as_a_weight)
{
    toy_op ops[] = { { "f", "Add", "xw", "a" } };
    clv_model *m;
    cr_assert_eq(build(draft_of("xw", "w", "a", 1, ops), &m), CLV_OK);
    cr_assert_eq(m->main->n_inputs, 1);
    cr_assert_eq(clv_tensor_at(m->main, clv_op_input(m->main, &m->main->ops[0], 1))->role,
                 CLV_TENSOR_WEIGHT);
}

/* covers: B.035 */
Test(graph_build, gives_unnamed_and_repeated_operators_a_unique_label_of_ours)
{
    toy_op ops[] = { { "", "Relu", "x", "a" },
                     { "n", "Relu", "a", "b" },
                     { "n", "Relu", "b", "c" },
                     { "Relu_0", "Relu", "c", "d" } };
    clv_model *m;
    cr_assert_eq(build(draft_of("x", "", "d", 4, ops), &m), CLV_OK);
    const clv_op_info *o = m->main->ops;
    cr_assert(clv_str_is(o[0].label, "Relu_4"), "Relu_0 is taken: %.*s", CLV_STR_ARG(o[0].label));
    cr_assert(clv_str_is(o[1].label, "n"));
    cr_assert(clv_str_is(o[2].label, "n#2"));
    cr_assert_eq(o[0].name.n, 0, "the file's own name stays empty");
    cr_assert_eq(m->n_warnings, 1);
    cr_assert(memmem(m->warnings[0].at, (size_t)m->warnings[0].n, "'n'", 3));
}

Test(graph_build, refuses_a_cycle_and_names_an_operator_on_it)
{
    toy_op ops[] = { { "tail", "Relu", "a", "t" },
                     { "f", "Relu", "b", "a" },
                     { "g", "Relu", "a", "b" } };
    refuse(draft_of("", "", "t", 3, ops), "depends on its own output");
    cr_assert_null(strstr(error.message, "tail"));
}

Test(graph_build, refuses_what_is_written_twice_or_by_nobody)
{
    toy_op twice[] = { { "f", "Relu", "x", "a" }, { "g", "Relu", "x", "a" } };
    refuse(draft_of("x", "", "a", 2, twice), "operator 'g' (Relu) writes 'a'");
    toy_op input[] = { { "f", "Relu", "x", "x" } };
    refuse(draft_of("x", "", "x", 1, input), "which is a graph input already");
    toy_op dangling[] = { { "f", "Relu", "q", "a" } };
    refuse(draft_of("x", "", "a", 1, dangling), "reads 'q', which nothing writes");
    refuse(draft_of("x", "", "z", 0, NULL), "output 'z'");
    refuse(draft_of("xx", "", "x", 0, NULL), "graph input 'x' is listed twice");
    refuse(draft_of("x", "ww", "x", 0, NULL), "initializer 'w' is given twice");
}

static clv_draft_op *add_body(clv_draft *d, int32_t op, clv_draft *body)
{
    clv_draft_op *o = &d->ops[op];
    o->attrs = CLV_NEW(arena, clv_attr);
    o->attrs[0] = (clv_attr){ .name = clv_str_of("body"), .kind = CLV_ATTR_GRAPH, .n = 1 };
    o->n_attrs = 1;
    o->bodies = CLV_NEW(arena, clv_draft *);
    o->bodies[0] = body;
    o->n_bodies = 1;
    return o;
}

/* covers: A.040 */
Test(graph_build, turns_what_a_body_takes_from_around_it_into_implicit_inputs)
{
    /* main: f writes a; the Loop's body has an If whose body reads a and x: two graphs further in
     */
    toy_op inner_ops[] = { { "s", "Add", "ax", "s" } };
    toy_op middle_ops[] = { { "if", "If", "c", "r" } };
    toy_op main_ops[] = { { "f", "Relu", "x", "a" }, { "loop", "Loop", "n", "y" } };
    clv_draft *main_draft = draft_of("xn", "", "y", 2, main_ops);
    clv_draft *middle = draft_of("c", "", "r", 1, middle_ops);
    add_body(middle, 0, draft_of("", "", "s", 1, inner_ops));
    add_body(main_draft, 1, middle);
    clv_model *m;
    cr_assert_eq(build(main_draft, &m), CLV_OK, "%s", error.message);
    const clv_op_info *loop = &m->main->ops[1];
    cr_assert_eq(loop->n_implicit, 2);
    cr_assert_eq(clv_op_n_explicit(loop), 1);
    cr_assert(clv_str_is(clv_tensor_at(m->main, clv_op_input(m->main, loop, 1))->name, "a"));
    const clv_graph *body = clv_op_attr(m->main, loop, "body")->graph[0];
    cr_assert_eq(body->parent, m->main);
    cr_assert_eq(body->ops[0].n_implicit, 2);
    clv_tensor a = clv_op_input(body, &body->ops[0], 1);
    cr_assert_eq(clv_tensor_at(body, a)->role, CLV_TENSOR_OUTER);
    cr_assert(clv_str_is(m->main->tensors[clv_tensor_at(body, a)->outer.i].name, "a"));
}

Test(graph_build, refuses_bodies_nested_deeper_than_its_limit)
{
    toy_op op[] = { { "if", "If", "c", "r" } };
    clv_draft *d = draft_of("", "", "c", 1, (toy_op[]){ { "k", "Constant", "", "c" } });
    for (int k = 0; k < 70; k++) {
        clv_draft *around = draft_of("c", "", "r", 1, op);
        add_body(around, 0, d);
        d = around;
    }
    clv_model *m;
    cr_assert_eq(build(d, &m), CLV_ELIMIT);
    cr_assert(strstr(error.message, "at most 64"), "said: %s", error.message);
}

static clv_draft *function_of(const char *name, const char *calls)
{
    clv_draft *f = draft_of("x", "", "y", 1, (toy_op[]){ { "c", calls, "x", "y" } });
    f->name = clv_str_of(name);
    f->function_domain = f->ops[0].domain = clv_str_of("local");
    return f;
}

Test(graph_build, links_calls_to_functions_and_refuses_recursion)
{
    clv_draft *d = draft_of("x", "", "a", 1, (toy_op[]){ { "call", "F", "x", "a" } });
    d->ops[0].domain = clv_str_of("local");
    clv_draft *functions[] = { function_of("F", "G"), function_of("G", "H") };
    clv_draft_model dm = { .main = d, .functions = functions, .n_functions = 2 };
    clv_model *m = NULL;
    cr_assert_eq(clv_model_build(&dm, arena, &m, &error), CLV_OK, "%s", error.message);
    cr_assert_eq(m->main->ops[0].kind, CLV_OPKIND_FUNCTION);
    cr_assert_eq(m->main->ops[0].function, m->functions[0]);
    cr_assert_eq(m->functions[1]->ops[0].kind, CLV_OPKIND_UNKNOWN, "H is nobody's");

    functions[1] = function_of("G", "F");
    cr_assert_eq(clv_model_build(&dm, arena, &m, &error), CLV_EFORMAT);
    cr_assert(strstr(error.message, "calls itself"), "said: %s", error.message);
}

Test(graph_build, refuses_a_chain_of_a_thousand_functions_without_overflowing_the_stack)
{
    enum { N = 1000 };
    static char names[N + 1][16];
    clv_draft **f = CLV_NEW_ARRAY(arena, clv_draft *, N);
    for (int i = 0; i <= N; i++)
        snprintf(names[i], sizeof names[i], "F%d", i);
    for (int i = 0; i < N; i++)
        f[i] = function_of(names[i], names[i + 1]);
    clv_draft_model dm = { .main = draft_of("x", "", "x", 0, NULL),
                           .functions = f,
                           .n_functions = N };
    clv_model *m;
    cr_assert_eq(clv_model_build(&dm, arena, &m, &error), CLV_ELIMIT);
}

Test(graph_build, takes_an_empty_graph)
{
    clv_model *m;
    cr_assert_eq(build(draft_of("", "", "", 0, NULL), &m), CLV_OK);
    cr_assert_eq(m->main->n_ops, 0);
}

Test(graph_build, survives_running_out_of_memory_anywhere)
{
    toy_op ops[] = { { "last", "Relu", "a", "b" }, { "", "Relu", "x", "a" } };
    clv_draft *d = draft_of("x", "w", "b", 2, ops);
    clv_status s = CLV_ENOMEM;
    for (size_t limit = 1; s != CLV_OK; limit += 16) {
        clv_arena *small = clv_arena_new(NULL, limit);
        clv_model *m = NULL;
        s = clv_model_build(&(clv_draft_model){ .main = d }, small, &m, &error);
        cr_assert(s == CLV_OK || (s == CLV_ENOMEM && m == NULL));
        clv_arena_free(small);
    }
}
