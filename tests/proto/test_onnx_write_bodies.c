/* test_onnx_write_bodies.c - bodies of copied nodes, and the names of what they capture. */
#include "proto/written.h"

/*  a, b -> Loop: each turn Add(a,b) = own, and If: then Mul(a, own) = p, else returns b itself;
 *  the Loop's body makes "b" anew where hides is set, and everything below sees that one.
 */
static test_onnx *nested_model(bool hides)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "a", 1, "4");
    onnx_input(g, "b", 1, "4");
    onnx_input(g, "c", 9, "");
    onnx_output(g, "y", 1, NULL);
    test_graph *loop = onnx_body(m, "loop"), *yes = onnx_body(m, "yes"), *no = onnx_body(m, "no");
    onnx_node(yes, "Mul", "mul", "a,own", "p");
    onnx_output(yes, "p", 1, NULL);
    onnx_output(no, "b", 1, NULL);
    onnx_value(no, "b", 1, "4");
    onnx_quantization(no, "b", "SCALE_TENSOR", "a");
    onnx_quantization(no, "inner", "SCALE_TENSOR", "b");
    onnx_input(loop, "i", 7, "");
    onnx_input(loop, "go", 9, "");
    onnx_node(loop, "Add", "add", "a,b", "own");
    test_node *choose = onnx_node(loop, "If", "if", "c", "each");
    onnx_attr_graph(loop, choose, "then_branch", yes);
    onnx_attr_graph(loop, choose, "else_branch", no);
    if (hides)
        onnx_weight(loop, "b", 1, "4");
    onnx_output(loop, "go", 9, "");
    onnx_output(loop, "each", 1, NULL);
    test_node *node = onnx_node(g, "Loop", "loop", ",c", "y");
    onnx_attr_graph(g, node, "body", loop);
    return m;
}

/* Of the i-th quantization annotation of a body. */
static void is_annotated(const Onnx__GraphProto *body, size_t i, const char *tensor,
                         const char *scale)
{
    cr_assert_lt(i, body->n_quantization_annotation);
    const Onnx__TensorAnnotation *a = body->quantization_annotation[i];
    cr_assert_eq(a->n_quant_parameter_tensor_names, 1);
    cr_expect_str_eq(a->tensor_name, tensor);
    cr_expect_str_eq(a->quant_parameter_tensor_names[0]->key, "SCALE_TENSOR");
    cr_expect_str_eq(a->quant_parameter_tensor_names[0]->value, scale);
}

Test(onnx_write, bodies_see_the_new_names_of_what_they_capture)
{
    source s = source_of(nested_model(false), "_1");
    cr_assert_eq(s.nodes[0].n_captured, 3, "a, b, c");
    Onnx__ModelProto *model = unpacked(&s);
    const Onnx__GraphProto *loop = attr(model->graph->node[0], "body")->g;
    is_list(loop->node[0]->input, 2, "a_1,b_1");
    is_list(loop->node[0]->output, 1, "own");
    is_list(loop->node[1]->input, 1, "c_1");
    const Onnx__GraphProto *yes = attr(loop->node[1], "then_branch")->g;
    const Onnx__GraphProto *no = attr(loop->node[1], "else_branch")->g;
    is_list(yes->node[0]->input, 2, "a_1,own");
    cr_assert_str_eq(yes->output[0]->name, "p");
    cr_assert_str_eq(no->output[0]->name, "b_1");
    cr_assert_str_eq(no->value_info[0]->name, "b_1");
    is_annotated(no, 0, "b_1", "a_1");
    is_annotated(no, 1, "inner", "b_1");
    cr_assert_str_eq(loop->output[0]->name, "go");
    cr_assert_str_eq(loop->input[1]->name, "go");
    done(&s, model);
}

Test(onnx_write, a_name_that_a_body_makes_itself_stays_inside_it)
{
    source s = source_of(nested_model(true), "_1");
    const clv_rename given[] = { { text("a"), text("a_1") },
                                 { text("b"), text("b_1") }, /* hidden */
                                 { text("each"), text("no") },
                                 { text("go"), text("no") } };
    s.nodes[0].captured = given;
    s.nodes[0].n_captured = 4;
    Onnx__ModelProto *model = unpacked(&s);
    const Onnx__GraphProto *loop = attr(model->graph->node[0], "body")->g;
    is_list(loop->node[0]->input, 2, "a_1,b");
    is_list(loop->node[1]->input, 1, "c");
    is_list(loop->node[1]->output, 1, "each");
    const Onnx__GraphProto *no = attr(loop->node[1], "else_branch")->g;
    cr_assert_str_eq(no->output[0]->name, "b");
    is_annotated(no, 0, "b", "a_1");
    is_annotated(no, 1, "inner", "b");
    cr_assert_str_eq(loop->output[0]->name, "go");
    cr_assert_str_eq(loop->output[1]->name, "each");
    cr_assert_str_eq(loop->initializer[0]->name, "b");
    done(&s, model);
}

/* One branch makes "a", the other takes it from around. */
Test(onnx_write, what_one_branch_makes_does_not_hide_it_from_the_next)
{
    test_onnx *built = onnx_new(8, 17);
    test_graph *g = onnx_main(built);
    onnx_input(g, "a", 1, "4");
    onnx_input(g, "c", 9, "");
    onnx_output(g, "y", 1, NULL);
    test_graph *yes = onnx_body(built, "yes"), *no = onnx_body(built, "no");
    onnx_weight(yes, "a", 1, "4");
    onnx_weight(yes, "a_1", 1, "4");
    onnx_node(yes, "Neg", "", "a", "p");
    onnx_output(yes, "p", 1, NULL);
    onnx_node(no, "Neg", "", "a", "q");
    onnx_output(no, "q", 1, NULL);
    test_node *choose = onnx_node(g, "If", "if", "c", "y");
    onnx_attr_graph(g, choose, "then_branch", yes);
    onnx_attr_graph(g, choose, "else_branch", no);
    source s = source_of(built, "_1");
    Onnx__ModelProto *model = unpacked(&s);
    const Onnx__NodeProto *node = model->graph->node[0];
    is_list(attr(node, "then_branch")->g->node[0]->input, 1, "a");
    is_list(attr(node, "else_branch")->g->node[0]->input, 1, "a_1");
    done(&s, model);
}

/* The Loop's body makes "own" and "b", which the new graph has too: a is called "own" there. */
Test(onnx_write, what_a_body_makes_gives_way_to_a_name_of_the_new_graph)
{
    source s = source_of(nested_model(true), "");
    const clv_rename given[] = { { text("a"), text("own") }, { text("c"), text("c") } };
    ((clv_new_value *)(uintptr_t)s.m->inputs)[0].name = text("own");
    s.nodes[0].captured = given;
    s.nodes[0].n_captured = 2;
    Onnx__ModelProto *model = unpacked(&s);
    const Onnx__GraphProto *loop = attr(model->graph->node[0], "body")->g;
    const char *b = loop->initializer[0]->name, *own = loop->node[0]->output[0];
    cr_assert(strncmp(b, "b//", 3) == 0, "%s", b);
    cr_assert(strncmp(own, "own//", 5) == 0, "%s", own);
    cr_assert_str_eq(loop->node[0]->input[0], "own");
    cr_assert_str_eq(loop->node[0]->input[1], b);
    cr_assert_str_eq(loop->input[1]->name, "go", "no tensor of the new graph has this name");
    const Onnx__GraphProto *yes = attr(loop->node[1], "then_branch")->g;
    const Onnx__GraphProto *no = attr(loop->node[1], "else_branch")->g;
    cr_assert_str_eq(yes->node[0]->input[0], "own");
    cr_assert_str_eq(yes->node[0]->input[1], own);
    cr_assert_str_eq(no->output[0]->name, b);
    cr_assert_str_eq(no->value_info[0]->name, b);
    is_annotated(no, 0, b, "own");
    is_annotated(no, 1, "inner", b);
    done(&s, model);
}

/* Nothing in a body keeps "x" or "y", whatever makes it, and the name instead is a new one. */
Test(onnx_write, a_body_gives_way_whatever_makes_the_name)
{
    test_onnx *built = onnx_new(8, 17);
    test_graph *g = onnx_main(built);
    onnx_input(g, "x", 1, "4");
    onnx_input(g, "n", 7, "");
    onnx_output(g, "y", 1, NULL);
    test_graph *body = onnx_body(built, "body");
    onnx_input(body, "n", 7, "");
    onnx_input(body, "go", 9, "");
    onnx_input(body, "y", 1, "4");
    onnx_sparse_weight(body, "x", "4", 2);
    onnx_node(body, "Add", "", "x,y", "x//5");
    onnx_output(body, "go", 9, "");
    onnx_output(body, "x//5", 1, NULL);
    test_node *loop = onnx_node(g, "Loop", "", "n,,x", "y");
    onnx_attr_graph(g, loop, "body", body);
    source s = source_of(built, "");
    Onnx__ModelProto *model = unpacked(&s);
    const Onnx__GraphProto *copy = attr(model->graph->node[0], "body")->g;
    cr_expect_str_eq(copy->input[0]->name, "n//6");
    cr_expect_str_eq(copy->input[2]->name, "y//7");
    cr_expect_str_eq(copy->sparse_initializer[0]->values->name, "x//6");
    is_list(copy->node[0]->input, 2, "x//6,y//7");
    is_list(copy->node[0]->output, 1, "x//5");
    cr_expect_str_eq(copy->output[1]->name, "x//5");
    done(&s, model);
}
