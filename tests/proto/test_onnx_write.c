/* test_onnx_write.c - nodes, old and new, and what of the source is kept. */
#include "proto/everything.h"
#include "proto/written.h"

/* -- copies -- */

Test(onnx_write, a_model_that_is_copied_whole_has_the_same_bytes)
{
    source s = source_of(small_model(), "");
    memory to = written(&s);
    cr_assert_eq(to.n, s.o.n);
    cr_assert_arr_eq(to.bytes, s.o.bytes, to.n);
    free(to.bytes);
    done(&s, NULL);
}

/* The copy of a copy is the copy, whatever is in it. */
Test(onnx_write, a_copy_copied_whole_has_the_same_bytes)
{
    source s = source_of(everything(), "_z");
    memory once = written(&s);
    source t = { .o = open_bytes(once.bytes, once.n) };
    t.m = test_copied(t.o.file, t.o.model, "", t.o.arena);
    memory twice = written(&t);
    cr_assert_eq(once.n, twice.n);
    cr_assert_arr_eq(once.bytes, twice.bytes, once.n);
    free(twice.bytes);
    done(&t, NULL);
    done(&s, NULL);
}

static void has_no_devices(const Onnx__NodeProto *const *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cr_assert_eq(nodes[i]->n_device_configurations, 0);
        for (size_t a = 0; a < nodes[i]->n_attribute; a++) {
            const Onnx__AttributeProto *at = nodes[i]->attribute[a];
            if (at->g)
                has_no_devices((const Onnx__NodeProto *const *)at->g->node, at->g->n_node);
            for (size_t b = 0; b < at->n_graphs; b++)
                has_no_devices((const Onnx__NodeProto *const *)at->graphs[b]->node,
                               at->graphs[b]->n_node);
        }
    }
}

Test(onnx_write, annotations_and_metadata_go_at_every_depth)
{
    opened plain = open_built(everything());
    source s = { .o = annotated(&plain) };
    s.m = test_copied(s.o.file, s.o.model, "", s.o.arena);
    Onnx__ModelProto *model = unpacked(&s);
    cr_assert_eq(model->n_configuration, 0);
    cr_assert_eq(model->n_metadata_props, 0);
    has_no_devices((const Onnx__NodeProto *const *)model->graph->node, model->graph->n_node);
    cr_assert_eq(model->n_functions, 2);
    for (size_t i = 0; i < model->n_functions; i++)
        has_no_devices((const Onnx__NodeProto *const *)model->functions[i]->node,
                       model->functions[i]->n_node);
    done(&s, model);
    close_opened(&plain);
}

Test(onnx_write, a_node_keeps_what_it_was_not_asked_to_change)
{
    test_onnx *built = small_model();
    test_graph *g = onnx_main(built);
    test_node *last = onnx_node(g, "Custom", "last", "y,,w", ",z");
    onnx_node_domain(g, last, "com.acme", "fast");
    last->doc_string = (char[]){ "words" };
    onnx_unknown(built, &last->base);
    onnx_attr_strings(g, last, "names", "a,b");
    onnx_opset(built, "com.acme", 3);
    source s = source_of(built, "_0");
    Onnx__ModelProto *model = unpacked(&s);
    const Onnx__NodeProto *node = model->graph->node[2];
    is_list(node->input, node->n_input, "y_0,,w_0");
    is_list(node->output, node->n_output, ",z_0");
    cr_assert_str_eq(node->name, "last_0");
    cr_assert_str_eq(node->op_type, "Custom");
    cr_assert_str_eq(node->domain, "com.acme");
    cr_assert_str_eq(node->overload, "fast");
    cr_assert_str_eq(node->doc_string, "words");
    cr_assert_eq(node->base.n_unknown_fields, 1);
    cr_assert_eq(attr(node, "names")->n_strings, 2);
    cr_assert_eq(model->n_opset_import, 2);
    done(&s, model);
}

Test(onnx_write, a_node_may_get_another_type_domain_and_attributes)
{
    static const int64_t perm[] = { 1, -2 };
    const clv_new_tensor t = {
        .dtype = CLV_DT_INT64, .n_bytes = 8, .bytes = "\1\0\0\0\0\0\0\0", .weight = -1
    };
    const clv_new_tensor same = { .name = text("copied"), .weight = 1 };
    const clv_new_attr attrs[] = {
        { .name = text("transB"), .kind = CLV_NEW_INT, .i = -7 },
        { .name = text("f"), .kind = CLV_NEW_FLOAT, .f = 1.5f },
        { .name = text("perm"), .kind = CLV_NEW_INTS, .ints = perm, .n = 2 },
        { .name = text("s"), .kind = CLV_NEW_STRING, .s = text("left") },
        { .name = text("t"), .kind = CLV_NEW_TENSOR, .tensor = &t },
        { .name = text("u"), .kind = CLV_NEW_TENSOR, .tensor = &same },
    };
    source s = source_of(small_model(), "");
    s.nodes[0].type = text("Other");
    s.nodes[0].domain = text("com.acme");
    s.nodes[0].attrs = attrs;
    s.nodes[0].n_attrs = sizeof attrs / sizeof *attrs;
    Onnx__ModelProto *model = unpacked(&s);
    const Onnx__NodeProto *node = model->graph->node[0];
    cr_assert_str_eq(node->op_type, "Other");
    cr_assert_str_eq(node->domain, "com.acme");
    cr_assert_eq(node->n_attribute, 7);
    cr_assert_eq(attr(node, "transB")->i, -7);
    cr_assert_eq(attr(node, "transB")->type, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    cr_assert_eq(attr(node, "alpha")->f, 0.5f);
    cr_assert_eq(attr(node, "f")->f, 1.5f);
    cr_assert_eq(attr(node, "f")->type, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    cr_assert_eq(attr(node, "perm")->n_ints, 2);
    cr_assert_eq(attr(node, "perm")->ints[1], -2);
    cr_assert_eq(attr(node, "s")->s.len, 4);
    cr_assert_eq(attr(node, "t")->t->raw_data.len, 8);
    cr_assert_eq(attr(node, "u")->t->n_int64_data, 2);
    cr_assert_str_eq(attr(node, "u")->t->name, "copied");
    done(&s, model);
}

Test(onnx_write, attributes_and_domains_can_be_taken_away)
{
    const clv_new_attr gone[] = { { .name = text("transB"), .kind = CLV_NEW_GONE },
                                  { .name = text("nobody"), .kind = CLV_NEW_GONE } };
    test_onnx *built = small_model();
    test_graph *g = onnx_main(built);
    onnx_node_domain(g, onnx_node(g, "Gelu", "", "y", "z"), "com.acme", "fast");
    source s = source_of(built, "");
    s.nodes[0].attrs = gone;
    s.nodes[0].n_attrs = 2;
    s.nodes[2].domain = text("ai.onnx");
    Onnx__ModelProto *model = unpacked(&s);
    cr_assert_eq(model->graph->node[0]->n_attribute, 1);
    cr_assert_str_eq(model->graph->node[0]->attribute[0]->name, "alpha");
    cr_assert_str_eq(model->graph->node[2]->op_type, "Gelu");
    cr_assert_null(model->graph->node[2]->domain);
    cr_assert_null(model->graph->node[2]->overload);
    done(&s, model);
}

Test(onnx_write, new_nodes_stand_between_copied_ones)
{
    static const clv_str in[] = { { "x", 1 }, { "", 0 } }, out[] = { { "x2", 2 } };
    const clv_new_attr axis = { .name = text("axis"), .kind = CLV_NEW_INT, .i = 1 };
    const clv_new_opset opsets[] = { { text("com.microsoft"), 1 },
                                     { text("ai.onnx"), 9 },
                                     { text("com.microsoft"), 2 } };
    const clv_new_property properties[] = { { text("layer"), text("3") } };
    source s = source_of(small_model(), "");
    clv_new_node nodes[3];
    nodes[0] = (clv_new_node){ .source = CLV_NO_OP,
                               .name = text("gather"),
                               .type = text("AllGather"),
                               .domain = text("com.microsoft"),
                               .in = in,
                               .n_in = 2,
                               .out = out,
                               .n_out = 1,
                               .attrs = &axis,
                               .n_attrs = 1 };
    nodes[1] = s.nodes[0];
    nodes[2] = s.nodes[1];
    s.m->nodes = nodes;
    s.m->n_nodes = 3;
    s.m->opsets = opsets;
    s.m->n_opsets = 3;
    s.m->properties = properties;
    s.m->n_properties = 1;
    s.m->ir_version = 10;
    s.m->graph_name = text("gpu0");
    Onnx__ModelProto *model = unpacked(&s);
    cr_assert_eq(model->ir_version, 10);
    cr_assert_str_eq(model->graph->name, "gpu0");
    cr_assert_eq(model->graph->n_node, 3);
    is_list(model->graph->node[0]->input, model->graph->node[0]->n_input, "x,");
    cr_assert_str_eq(model->graph->node[0]->name, "gather");
    cr_assert_eq(attr(model->graph->node[0], "axis")->i, 1);
    cr_assert_eq(model->n_opset_import, 2, "the higher version counts");
    cr_assert_eq(model->opset_import[0]->version, 17);
    cr_assert_str_eq(model->opset_import[1]->domain, "com.microsoft");
    cr_assert_eq(model->opset_import[1]->version, 1);
    cr_assert_str_eq(model->metadata_props[0]->key, "layer");
    cr_assert_str_eq(model->metadata_props[0]->value, "3");
    done(&s, model);
}

/* Before IR version 4 each initialiser was an input, before 3 there was one operator set. */
Test(onnx_write, an_old_file_becomes_one_that_may_have_free_initialisers)
{
    test_onnx *built = onnx_new(2, 0);
    onnx_input(onnx_main(built), "x", 1, "1");
    onnx_node(onnx_main(built), "Relu", "", "x", "y");
    onnx_output(onnx_main(built), "y", 1, "1");
    source s = source_of(built, "");
    Onnx__ModelProto *model = unpacked(&s);
    cr_assert_eq(model->ir_version, 4);
    cr_assert_eq(model->n_opset_import, 1);
    cr_assert_eq(model->opset_import[0]->version, 1);
    done(&s, model);
}

/* -- functions -- */

Test(onnx_write, functions_are_kept_where_something_calls_them)
{
    static const clv_str in[] = { { "x", 1 } }, out[] = { { "y", 1 } };
    source s = source_of(everything(), "");
    Onnx__ModelProto *model = unpacked(&s);
    cr_assert_eq(model->n_functions, 2, "Twice calls Once");
    onnx__model_proto__free_unpacked(model, NULL);

    clv_new_node node = { .source = CLV_NO_OP,
                          .type = text("Once"),
                          .domain = text("f"),
                          .in = in,
                          .out = out,
                          .n_in = 1,
                          .n_out = 1 };
    s.m->nodes = &node;
    s.m->n_nodes = 1;
    model = unpacked(&s);
    cr_assert_eq(model->n_functions, 1);
    cr_assert_str_eq(model->functions[0]->name, "Once");
    onnx__model_proto__free_unpacked(model, NULL);

    node.domain = text("g");
    model = unpacked(&s);
    cr_assert_eq(model->n_functions, 0, "a function of another domain");
    done(&s, model);
}
