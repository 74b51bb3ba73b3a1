/* everything.h - one small model with every kind of thing in it. */
#ifndef CLV_TESTS_PROTO_EVERYTHING_H
#define CLV_TESTS_PROTO_EVERYTHING_H

#include "support/onnx_builder.h"

/*  x -+-> Add(w) = a --> If(c) = b --> f.Twice = t --> Concat(t,t,,s) = y
 *                        then: Mul(a,w) = m; else: Loop with a body
 *  and a function Twice, with a body, that calls a function Once, each attribute kind, and
 *  annotations of others.
 */
static inline test_onnx *everything(void)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_opset(m, "f", 1);
    onnx_metadata(m, "author", "somebody");
    onnx_configuration(m, "other", 2, "left,right");
    onnx_input(g, "x", 1, "batch,?,4");
    onnx_input(g, "c", 9, "");
    onnx_output(g, "y", 1, "batch,?,?");
    onnx_value(g, "a", 1, "batch,?,4");
    onnx_weight(g, "w", 1, "4");
    onnx_weight_ints(g, "ints", "3", (const int64_t[]){ -1, 0, 300 });
    onnx_weight_floats(g, "floats", "2", (const float[]){ 0.5f, -2 });
    onnx_sparse_weight(g, "s", "10,10", 3);

    test_node *add = onnx_node(g, "Add", "add", "x,w", "a");
    onnx_node_device(g, add, "other", 1, "x", 0);
    test_graph *then_body = onnx_body(m, "then"), *else_body = onnx_body(m, "else");
    onnx_node(then_body, "Mul", "mul", "a,w", "m");
    onnx_output(then_body, "m", 1, NULL);
    test_graph *loop = onnx_body(m, "loop");
    onnx_input(loop, "i", 7, "");
    onnx_input(loop, "go", 9, "");
    onnx_node(loop, "Identity", "", "go", "go2");
    onnx_node(loop, "Sub", "inner", "a,w", "each");
    onnx_output(loop, "go2", 9, "");
    onnx_output(loop, "each", 1, NULL);
    test_node *loop_node = onnx_node(else_body, "Loop", "loop", ",c", "many");
    onnx_attr_graph(else_body, loop_node, "body", loop);
    onnx_output(else_body, "many", 1, NULL);
    test_node *choose = onnx_node(g, "If", "if", "c", "b");
    onnx_attr_graph(g, choose, "then_branch", then_body);
    onnx_attr_graph(g, choose, "else_branch", else_body);

    test_node *call = onnx_node(g, "Twice", "call", "b", "t");
    onnx_node_domain(g, call, "f", NULL);
    test_node *last = onnx_node(g, "Concat", "last", "t,t,,s", "y");
    onnx_attr_int(g, last, "axis", -1);
    onnx_attr_float(g, last, "f", 1.5f);
    onnx_attr_string(g, last, "s", "text");
    onnx_attr_ints(g, last, "ints", 3, (const int64_t[]){ 1, -2, 1000000 });
    onnx_attr_floats(g, last, "floats", 2, (const float[]){ 0.25f, 8 });
    onnx_attr_strings(g, last, "strings", "one,two");
    onnx_attr_tensor(g, last, "t", onnx_tensor(m, "", 10, "2,2"));
    onnx_attr_type(g, last, "tp", 1, "n,2");
    test_graph *bodies[] = { onnx_body(m, "first"), onnx_body(m, "second") };
    for (int i = 0; i < 2; i++) {
        onnx_node(bodies[i], "Neg", "", "a", "n");
        onnx_output(bodies[i], "n", 1, NULL);
    }
    onnx_attr_graphs(g, last, "graphs", 2, bodies);

    test_graph *twice = onnx_function(m, "f", "Twice", NULL);
    onnx_input(twice, "p", 0, NULL);
    onnx_output(twice, "q", 0, NULL);
    onnx_default_float(twice, "alpha", 0.5f);
    onnx_node_domain(twice, onnx_node(twice, "Once", "o1", "p", "r"), "f", NULL);
    test_node *leaky = onnx_node(twice, "LeakyRelu", "", "r", "q");
    onnx_attr_ref(twice, leaky, "alpha", "alpha", 1);
    test_graph *body = onnx_body(m, "in_function");
    onnx_node(body, "Neg", "", "p", "n");
    onnx_output(body, "n", 1, NULL);
    onnx_attr_graph(twice, leaky, "body", body);
    test_graph *once = onnx_function(m, "f", "Once", NULL);
    onnx_input(once, "p", 0, NULL);
    onnx_output(once, "q", 0, NULL);
    onnx_node(once, "Relu", "", "p", "q");
    return m;
}

#endif
