#include "proto/onnx.pb-c.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/onnx_write.h"

#include "proto/everything.h"
#include "proto/opened.h"
#include "proto/wire.h"
#include "support/copied.h"

/* What is written is read back by protobuf-c, which is not ours, and looked at message by message.
 */
typedef struct {
    opened o;
    clv_new_model *m; /* all of it, under its own names or with a suffix */
    clv_new_node *nodes;
} source;

static source source_of(test_onnx *built, const char *suffix)
{
    source s = { .o = open_built(built) };
    s.m = test_copied(s.o.file, s.o.model, suffix, s.o.arena);
    s.nodes = (clv_new_node *)(uintptr_t)s.m->nodes;
    return s;
}

static memory written(const source *s)
{
    memory to = { 0 };
    clv_sink sink = memory_sink(&to);
    clv_error err = { CLV_OK, "" };
    clv_status status = clv_onnx_write(s->m, &sink, s->o.arena, &err);
    cr_assert_eq(status, CLV_OK, "said: %s", err.message);
    return to;
}

static Onnx__ModelProto *unpacked(const source *s)
{
    memory to = written(s);
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, to.n, to.bytes);
    cr_assert_not_null(model);
    free(to.bytes);
    return model;
}

static void done(source *s, Onnx__ModelProto *model)
{
    if (model)
        onnx__model_proto__free_unpacked(model, NULL);
    close_opened(&s->o);
}

static void refused(source *s, clv_status want, const char *word)
{
    memory to = { 0 };
    clv_sink sink = memory_sink(&to);
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(clv_onnx_write(s->m, &sink, s->o.arena, &err), want, "said: %s", err.message);
    cr_assert(strstr(err.message, word), "said: %s", err.message);
    cr_assert_eq(to.calls, 0, "nothing goes out before");
    free(to.bytes);
}

static clv_str text(const char *z) { return clv_str_of(z); }

static void is_list(char **names, size_t n, const char *want)
{
    char all[256] = "";
    for (size_t i = 0; i < n; i++) {
        strncat(all, i ? "," : "", sizeof all - strlen(all) - 1);
        strncat(all, names[i], sizeof all - strlen(all) - 1);
    }
    cr_assert_str_eq(all, want);
}

static const Onnx__AttributeProto *attr(const Onnx__NodeProto *node, const char *name)
{
    const Onnx__AttributeProto *found = NULL;
    for (size_t i = 0; i < node->n_attribute; i++)
        if (!strcmp(node->attribute[i]->name, name)) {
            cr_assert_null(found, "attribute %s is there twice", name);
            found = node->attribute[i];
        }
    cr_assert_not_null(found, "no attribute %s", name);
    return found;
}

/*  x -> Gemm(w) = h -> Relu = y  */
static test_onnx *small_model(void)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "batch,4");
    onnx_output(g, "y", 1, "batch,3");
    onnx_value(g, "h", 1, "batch,3");
    onnx_weight(g, "w", 1, "4,3");
    onnx_weight_ints(g, "ints", "2", (const int64_t[]){ -1, 300 });
    test_node *gemm = onnx_node(g, "Gemm", "gemm", "x,w", "h");
    onnx_attr_int(g, gemm, "transB", 0);
    onnx_attr_float(g, gemm, "alpha", 0.5f);
    onnx_node(g, "Relu", "relu", "h", "y");
    return m;
}

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

Test(onnx_write, a_node_keeps_what_it_was_not_told_to_change)
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

/* -- bodies -- */

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
    source s = source_of(nested_model(true), "");
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

/* "own" is made by the Loop's body: a, used inside, cannot be called that. */
Test(onnx_write, a_captured_tensor_cannot_take_the_name_of_one_of_the_body)
{
    source s = source_of(nested_model(false), "");
    const clv_rename given[] = { { text("a"), text("own") } };
    s.nodes[0].captured = given;
    s.nodes[0].n_captured = 1;
    refused(&s, CLV_EUSAGE, "'own'");
    const clv_rename unused[] = { { text("nobody"), text("own") } };
    s.nodes[0].captured = unused;
    done(&s, unpacked(&s));
}

/* -- tensors and types -- */

static clv_type ranked(clv_dtype dtype, const clv_dim *dims, int32_t rank)
{
    return (clv_type){ .kind = CLV_TYPE_TENSOR, .dtype = dtype, .rank = rank, .dims = dims };
}

Test(onnx_write, values_say_what_is_known_of_their_types)
{
    source s = source_of(small_model(), "");
    const clv_dim dims[] = { clv_dim_symbol(0), 4, CLV_DIM_UNKNOWN, 0 };
    clv_type known = ranked(CLV_DT_FLOAT16, dims, 4), scalar = ranked(CLV_DT_BOOL, NULL, 0);
    clv_type unranked = ranked(CLV_DT_INT8, NULL, CLV_RANK_UNKNOWN), unknown = { .rank = -1 };
    clv_type list = { .kind = CLV_TYPE_SEQUENCE, .elem = &known };
    clv_type maybe = { .kind = CLV_TYPE_OPTIONAL, .elem = &list };
    clv_type keyed = { .kind = CLV_TYPE_MAP, .dtype = CLV_DT_INT64, .elem = &scalar };
    clv_type thin = { .kind = CLV_TYPE_SPARSE, .dtype = CLV_DT_FLOAT, .rank = 1, .dims = dims + 1 };
    const clv_new_value values[] = { { text("scalar"), &scalar }, { text("unranked"), &unranked },
                                     { text("none"), NULL },      { text("unknown"), &unknown },
                                     { text("maybe"), &maybe },   { text("keyed"), &keyed },
                                     { text("thin"), &thin } };
    s.m->values = values;
    s.m->n_values = 7;
    Onnx__ModelProto *model = unpacked(&s);
    Onnx__ValueInfoProto **v = model->graph->value_info;
    cr_assert_eq(model->graph->n_value_info, 5, "what is not known is not said");
    cr_assert_eq(v[0]->type->tensor_type->elem_type, CLV_DT_BOOL);
    cr_assert_eq(v[0]->type->tensor_type->shape->n_dim, 0);
    cr_assert_null(v[1]->type->tensor_type->shape);
    const Onnx__TypeProto__Tensor *t =
        v[2]->type->optional_type->elem_type->sequence_type->elem_type->tensor_type;
    cr_assert_eq(t->elem_type, CLV_DT_FLOAT16);
    cr_assert_str_eq(t->shape->dim[0]->dim_param, "batch");
    cr_assert_eq(t->shape->dim[1]->dim_value, 4);
    cr_assert_eq(t->shape->dim[2]->value_case, ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE__NOT_SET);
    cr_assert_eq(t->shape->dim[3]->value_case,
                 ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE);
    cr_assert_eq(v[3]->type->map_type->key_type, CLV_DT_INT64);
    cr_assert_eq(v[3]->type->map_type->value_type->tensor_type->elem_type, CLV_DT_BOOL);
    cr_assert_eq(v[4]->type->sparse_tensor_type->shape->dim[0]->dim_value, 4);
    done(&s, model);
}

Test(onnx_write, initialisers_are_bytes_or_elsewhere_or_weights_of_the_source)
{
    static const int64_t two_three[] = { 2, 3 }, none[] = { 0, 1000 };
    test_onnx *built = small_model();
    onnx_weight_external(onnx_main(built), "far", 1, "5", "w.bin", 64, 20);
    onnx_sparse_weight(onnx_main(built), "thin", "10,10", 3);
    source s = source_of(built, "");
    const clv_new_tensor tensors[] = {
        { .name = text("raw"),
          .dtype = CLV_DT_UINT8,
          .rank = 2,
          .dims = two_three,
          .bytes = "abcdef",
          .n_bytes = 6,
          .weight = -1 },
        { .name = text("away"),
          .dtype = CLV_DT_FLOAT,
          .rank = 2,
          .dims = two_three,
          .n_bytes = 24,
          .location = text("gpu0.bin"),
          .offset = INT64_C(1) << 40,
          .weight = -1 },
        { .name = text("thin2"), .weight = 3 },
        { .name = text("ints2"), .weight = 1 },
        { .name = text("far2"), .weight = 2 },
        { .name = text("empty"), .dtype = CLV_DT_INT64, .rank = 2, .dims = none, .weight = -1 },
    };
    s.m->tensors = tensors;
    s.m->n_tensors = 6;
    Onnx__ModelProto *model = unpacked(&s);
    Onnx__TensorProto **t = model->graph->initializer;
    cr_assert_eq(model->graph->n_initializer, 5);
    cr_assert_eq(t[0]->raw_data.len, 6);
    cr_assert_arr_eq(t[0]->raw_data.data, "abcdef", 6);
    cr_assert(t[0]->n_dims == 2 && t[0]->dims[1] == 3);
    cr_assert_eq(t[1]->data_location, ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL);
    cr_assert_str_eq(t[1]->external_data[0]->value, "gpu0.bin");
    cr_assert_str_eq(t[1]->external_data[1]->value, "1099511627776");
    cr_assert_str_eq(t[1]->external_data[2]->value, "24");
    cr_assert_str_eq(t[2]->name, "ints2");
    cr_assert(t[2]->n_int64_data == 2 && t[2]->int64_data[1] == 300);
    cr_assert_str_eq(t[3]->name, "far2");
    cr_assert_str_eq(t[3]->external_data[0]->value, "w.bin");
    cr_assert(!t[4]->has_raw_data && t[4]->dims[1] == 1000);
    cr_assert_eq(model->graph->n_sparse_initializer, 1);
    cr_assert_str_eq(model->graph->sparse_initializer[0]->values->name, "thin2");
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

/* -- what goes wrong -- */

Test(onnx_write, what_cannot_be_written_is_refused_in_words)
{
    source s = source_of(small_model(), "");
    clv_new_tensor t = { .name = text("t"), .weight = 9 };
    const clv_new_tensor *kept = s.m->tensors;
    s.m->tensors = &t;
    s.m->n_tensors = 1;
    refused(&s, CLV_EUSAGE, "weight 9");
    t = (clv_new_tensor){ .name = text("t"), .dtype = CLV_DT_FLOAT, .n_bytes = 3, .weight = -1 };
    refused(&s, CLV_EUSAGE, "3 bytes");
    t.n_bytes = 4;
    refused(&s, CLV_EUSAGE, "neither bytes");
    t.dtype = CLV_DT_STRING;
    refused(&s, CLV_EUSAGE, "STRING");
    s.m->tensors = kept;
    s.nodes[1].source.i = 2;
    refused(&s, CLV_EUSAGE, "node 2 of 2");
    s.nodes[1].source = CLV_NO_OP;
    refused(&s, CLV_EUSAGE, "no operator type");
    done(&s, NULL);
}

Test(onnx_write, a_model_of_another_file_is_refused)
{
    source s = source_of(small_model(), "");
    opened other = open_built(nested_model(false));
    s.m->source = other.file;
    refused(&s, CLV_EUSAGE, "as the model");
    close_opened(&other);
    done(&s, NULL);
}

Test(onnx_write, a_sink_that_fails_ends_the_writing)
{
    source s = source_of(everything(), "_z");
    for (size_t at = 1; at < 40; at += 13) {
        memory to = { .fail_at = at };
        clv_sink sink = memory_sink(&to);
        clv_error err = { CLV_OK, "" };
        cr_assert_eq(clv_onnx_write(s.m, &sink, s.o.arena, &err), CLV_EIO);
        cr_assert_str_eq(err.message, "the sink is full");
        cr_assert_eq(to.calls, 1);
        free(to.bytes);
    }
    done(&s, NULL);
}

static clv_status count_only(void *ctx, const void *bytes, size_t n, clv_error *err)
{
    (void)bytes;
    (void)err;
    *(uint64_t *)ctx += n;
    return CLV_OK;
}

static clv_status count_range(void *ctx, const clv_onnx_file *file, uint64_t offset, uint64_t n,
                              clv_error *err)
{
    (void)file;
    (void)offset;
    return count_only(ctx, NULL, (size_t)n, err);
}

/* A model with one weight "w" of 512 MiB, a hole of a sparse file. */
static uint8_t *model_with_hole(size_t *ret_n)
{
    static const uint8_t head[] = { 8,  128, 128, 128, 128, 2, /* dims: 2^29 */
                                    16, 3,                     /* INT8 */
                                    66, 1,   'w', 74,  128, 128, 128, 128, 2 /* name, raw_data */ };
    uint8_t outer[32] = { 8, 8, 66, 2, 16, 17 }; /* IR version, operator set */
    size_t inner = sizeof head + ((size_t)512 << 20), i = 6;
    outer[i++] = 58; /* graph */
    i += clv_varint_put(outer + i, inner + 1 + clv_varint_size(inner));
    outer[i++] = 42; /* initializer */
    i += clv_varint_put(outer + i, inner);
    *ret_n = i + inner;
    char path[] = "/tmp/clv_hole_XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0 && unlink(path) == 0 && ftruncate(fd, (off_t)*ret_n) == 0);
    uint8_t *map = mmap(NULL, *ret_n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert_neq(map, MAP_FAILED);
    close(fd);
    memcpy(map, outer, i);
    memcpy(map + i, head, sizeof head);
    return map;
}

Test(onnx_write, over_2_gib_nothing_is_written)
{
    clv_new_tensor copies[4] = {
        { .name = text("a") }, { .name = text("b") }, { .name = text("c") }, { .name = text("d") }
    };
    size_t n;
    uint8_t *map = model_with_hole(&n);
    source s = { .o = { .bytes = NULL, .arena = clv_arena_new(NULL, 0) } };
    cr_assert_eq(clv_onnx_open_bytes(map, n, NULL, NULL, &s.o.file, NULL), CLV_OK);
    cr_assert_eq(clv_onnx_read(s.o.file, s.o.arena, &s.o.model, NULL), CLV_OK);
    s.m = test_copied(s.o.file, s.o.model, "", s.o.arena);
    s.m->tensors = copies;
    s.m->n_tensors = 4;
    refused(&s, CLV_ELIMIT, "external data");
    s.m->n_tensors = 3;
    uint64_t counted = 0;
    clv_sink sink = { count_only, count_range, &counted };
    cr_assert_eq(clv_onnx_write(s.m, &sink, s.o.arena, NULL), CLV_OK);
    cr_assert_gt(counted, UINT64_C(3) << 29);
    cr_assert_lt(clv_arena_peak(s.o.arena), (size_t)1 << 20, "weights are not in memory");
    done(&s, NULL);
    munmap(map, n);
}

/* Each byte of a model changed: whatever can still be read is written again, or refused. */
Test(onnx_write, damaged_models_do_no_harm)
{
    size_t n, read = 0;
    test_onnx *m = everything();
    uint8_t *bytes = onnx_pack(m, &n);
    onnx_free(m);
    for (size_t i = 0; i < 3 * n; i++) {
        static const uint8_t changes[] = { 1, 0x08, 0xff };
        clv_onnx_file *file = NULL;
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_model *model;
        memory to = { 0 };
        clv_sink sink = memory_sink(&to);
        bytes[i / 3] ^= changes[i % 3];
        cr_assert_eq(clv_onnx_open_bytes(bytes, n, NULL, NULL, &file, NULL), CLV_OK);
        if (clv_onnx_read(file, arena, &model, NULL) == CLV_OK) {
            clv_error err = { CLV_OK, "" };
            clv_new_model *copy = test_copied(file, model, "_z", arena);
            clv_status s = clv_onnx_write(copy, &sink, arena, &err);
            cr_assert(s == CLV_OK || to.calls == 0);
            cr_assert(s == CLV_OK || err.message[0]);
            read++;
        }
        bytes[i / 3] ^= changes[i % 3];
        clv_onnx_close(file);
        clv_arena_free(arena);
        free(to.bytes);
    }
    cr_assert_gt(read, n / 2, "many changes are only in names and numbers");
    free(bytes);
}
