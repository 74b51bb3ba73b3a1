#include "proto/onnx.pb-c.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "proto/everything.h"
#include "proto/fingerprint.h"
#include "proto/memory_sink.h"
#include "proto/onnx_annotate.h"

typedef struct {
    uint8_t *bytes;
    size_t n;
    clv_onnx_file *file;
    clv_arena *arena;
    clv_model *model;
    clv_plan *plan;
} opened;

static opened open_model(const void *bytes, size_t n)
{
    opened o = { .bytes = malloc(n), .n = n, .arena = clv_arena_new(NULL, 0) };
    clv_error err = { CLV_OK, "" };
    memcpy(o.bytes, bytes, n);
    cr_assert_eq(clv_onnx_open_bytes(o.bytes, n, NULL, NULL, &o.file, &err), CLV_OK);
    cr_assert_eq(clv_onnx_read(o.file, o.arena, &o.model, &err), CLV_OK, "said: %s", err.message);
    o.plan = plan_in_turn(o.model, 3, o.arena);
    return o;
}

static opened open_built(test_onnx *m)
{
    size_t n;
    uint8_t *bytes = onnx_pack(m, &n);
    opened o = open_model(bytes, n);
    free(bytes);
    onnx_free(m);
    return o;
}

static void close_model(opened *o)
{
    clv_onnx_close(o->file);
    clv_arena_free(o->arena);
    free(o->bytes);
}

static memory annotate_as(const opened *o, bool raise_ir)
{
    memory to = { 0 };
    clv_sink sink = memory_sink(&to);
    clv_error err = { CLV_OK, "" };
    clv_status s = clv_onnx_annotate(&(clv_onnx_model){ o->file, o->model }, o->plan, raise_ir,
                                     &sink, o->arena, &err);
    cr_assert_eq(s, CLV_OK, "said: %s", err.message);
    return to;
}

static memory annotate(const opened *o) { return annotate_as(o, true); }

static clv_status try_strip(const memory *from, bool all, memory *to, clv_error *err)
{
    clv_onnx_file *file = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_sink sink = memory_sink(to);
    cr_assert_eq(clv_onnx_open_bytes(from->bytes, from->n, NULL, NULL, &file, err), CLV_OK);
    clv_status s = clv_onnx_strip(file, all, &sink, arena, err);
    clv_onnx_close(file);
    clv_arena_free(arena);
    return s;
}

static memory strip(const memory *from, bool all)
{
    memory to = { 0 };
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(try_strip(from, all, &to, &err), CLV_OK, "said: %s", err.message);
    return to;
}

static void same(const memory *got, const uint8_t *want, size_t n)
{
    cr_assert_eq(got->n, n, "%zu bytes, expected %zu", got->n, n);
    cr_assert_eq(memcmp(got->bytes, want, n), 0);
}

/* Annotates and strips; the bytes must be the same, also after annotating twice. */
static void round_trip(const opened *o)
{
    memory once = annotate(o);
    memory back = strip(&once, false);
    same(&back, o->bytes, o->n);
    opened again = open_model(once.bytes, once.n);
    again.plan->devices[2].stage = 9;
    memory twice = annotate(&again);
    memory back2 = strip(&twice, false);
    same(&back2, o->bytes, o->n);
    close_model(&again);
    free(once.bytes), free(back.bytes), free(twice.bytes), free(back2.bytes);
}

/* What protobuf-c reads lies in an arena, as tests take entries out of it. */
static clv_arena *messages;

static void set_up(void) { messages = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(messages); }

TestSuite(annotate, .init = set_up, .fini = tear_down);

static void *take(void *arena, size_t n) { return clv_arena_take(arena, n); }
static void give(void *arena, void *p) { (void)arena, (void)p; }

static Onnx__ModelProto *parse(const memory *m)
{
    ProtobufCAllocator in_arena = { take, give, messages };
    Onnx__ModelProto *model = onnx__model_proto__unpack(&in_arena, m->n, m->bytes);
    cr_assert_not_null(model, "protobuf-c cannot read it");
    return model;
}

/* The entry of ours must be the last, name the tensors in `names` ("x,w,a") in that order, each on
 * the device alone and whole, and have the stage. device -1: the configuration's name alone. */
static void check_node(const Onnx__NodeProto *node, const char *names, int device)
{
    cr_assert_geq(node->n_device_configurations, 1);
    const Onnx__NodeDeviceConfigurationProto *c =
        node->device_configurations[node->n_device_configurations - 1];
    cr_assert_str_eq(c->configuration_id, "cleave");
    cr_assert_eq(!!c->has_pipeline_stage, device >= 0);
    if (device >= 0)
        cr_assert_eq(c->pipeline_stage, device);
    char got[256] = "";
    for (size_t i = 0; i < c->n_sharding_spec; i++) {
        const Onnx__ShardingSpecProto *s = c->sharding_spec[i];
        cr_assert(s->n_device == 1 && s->device[0] == device);
        cr_assert(s->n_sharded_dim == 0 && s->n_index_to_device_group_map == 0);
        strcat(strcat(got, i ? "," : ""), s->tensor_name);
    }
    cr_assert_str_eq(got, device < 0 ? "" : names);
}

/* covers: A.001 A.003 A.029 A.030 A.031 A.038 A.040 A.041 */
Test(annotate, writes_device_and_stage_into_every_node)
{
    opened o = open_built(everything());
    memory out = annotate(&o);
    Onnx__ModelProto *m = parse(&out);
    cr_assert_eq(m->ir_version, 11);

    const Onnx__DeviceConfigurationProto *c = m->configuration[m->n_configuration - 1];
    cr_assert_str_eq(c->name, "cleave");
    cr_assert(c->has_num_devices && c->num_devices == 3 && c->n_device == 3);
    cr_assert_str_eq(c->device[0], "d0");
    cr_assert_str_eq(c->device[2], "d2");

    /* nodes in turn on devices 0 1 2 0; an empty or repeated name makes no spec */
    const Onnx__GraphProto *g = m->graph;
    cr_assert_eq(g->n_node, 4);
    check_node(g->node[0], "x,w,a", 0);
    check_node(g->node[1], "c,b", 1);
    check_node(g->node[2], "b,t", 2);
    check_node(g->node[3], "t,s,y", 0);

    /* bodies follow the If on device 1 */
    check_node(g->node[1]->attribute[0]->g->node[0], "a,w,m", 1);
    const Onnx__NodeProto *loop = g->node[1]->attribute[1]->g->node[0];
    check_node(loop, "c,many", 1);
    check_node(loop->attribute[0]->g->node[0], "go,go2", 1);
    check_node(loop->attribute[0]->g->node[1], "a,w,each", 1);
    const Onnx__NodeProto *last = g->node[3];
    const Onnx__AttributeProto *bodies = last->attribute[last->n_attribute - 1];
    cr_assert_eq(bodies->n_graphs, 2);
    check_node(bodies->graphs[0]->node[0], "a,n", 0);
    check_node(bodies->graphs[1]->node[0], "a,n", 0);

    /* Twice is called on device 2, and calls Once */
    check_node(m->functions[0]->node[0], "p,r", 2);
    check_node(m->functions[0]->node[1], "r,q", 2);
    check_node(m->functions[0]->node[1]->attribute[1]->g->node[0], "p,n", 2);
    check_node(m->functions[1]->node[0], "p,q", 2);
    free(out.bytes);
    close_model(&o);
}

/* covers: A.040 */
Test(annotate, names_no_device_in_a_function_whose_calls_disagree)
{
    for (int in_body = 0; in_body < 2; in_body++) {
        test_onnx *b = everything();
        test_graph *g = onnx_main(b), *body = in_body ? onnx_body(b, "body") : g;
        test_node *call = onnx_node(body, "Once", "call2", "y", "z");
        onnx_node_domain(body, call, "f", NULL);
        if (in_body) {
            onnx_output(body, "z", 1, NULL);
            onnx_attr_graph(g, onnx_node(g, "If", "if2", "c", "z2"), "then_branch", body);
        }
        opened o = open_built(b); /* the call is, or is in, node 4: device 1 */
        memory out = annotate(&o);
        Onnx__ModelProto *m = parse(&out);
        check_node(m->functions[0]->node[0], "p,r", 2);
        check_node(m->functions[1]->node[0], "", -1);
        free(out.bytes);
        round_trip(&o);
        close_model(&o);
    }
}

/* covers: A.008 */
Test(annotate, leaves_the_stage_out_where_there_is_none)
{
    opened o = open_built(everything());
    o.plan->devices[0].stage = -1;
    memory out = annotate(&o);
    Onnx__ModelProto *m = parse(&out);
    cr_assert_not(m->graph->node[0]->device_configurations[1]->has_pipeline_stage);
    cr_assert(m->graph->node[1]->device_configurations[0]->has_pipeline_stage);
    free(out.bytes);
    close_model(&o);
}

static void drop_entries(Onnx__NodeProto *node);

static void drop_graph(Onnx__GraphProto *g)
{
    for (size_t i = 0; i < g->n_node; i++)
        drop_entries(g->node[i]);
}

static void drop_entries(Onnx__NodeProto *node)
{
    node->n_device_configurations--;
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (node->attribute[i]->g)
            drop_graph(node->attribute[i]->g);
        for (size_t k = 0; k < node->attribute[i]->n_graphs; k++)
            drop_graph(node->attribute[i]->graphs[k]);
    }
}

/* With our entries taken out by protobuf-c, what is left is the model that went in. */
/* covers: A.005 A.006 A.007 */
Test(annotate, changes_nothing_else)
{
    opened o = open_built(everything());
    memory out = annotate(&o), want = { .bytes = o.bytes, .n = o.n };
    Onnx__ModelProto *m = parse(&out), *original = parse(&want);
    m->ir_version = original->ir_version;
    m->n_configuration--;
    m->n_metadata_props--;
    drop_graph(m->graph);
    for (size_t f = 0; f < m->n_functions; f++)
        for (size_t i = 0; i < m->functions[f]->n_node; i++)
            drop_entries(m->functions[f]->node[i]);
    size_t n = onnx__model_proto__get_packed_size(m);
    uint8_t *bytes = malloc(n);
    onnx__model_proto__pack(m, bytes);
    cr_assert_eq(n, o.n);
    cr_assert_eq(memcmp(bytes, o.bytes, n), 0);
    free(bytes);
    free(out.bytes);
    close_model(&o);
}

/* covers: A.007 */
Test(annotate, and_strip_give_back_the_same_bytes)
{
    opened o = open_built(everything());
    round_trip(&o);
    close_model(&o);
}

/* covers: A.038 */
Test(annotate, keeps_unknown_fields_wherever_they_are)
{
    test_onnx *b = everything();
    Onnx__ModelProto *m = onnx_message(b);
    Onnx__NodeProto *node = m->graph->node[1]; /* the If */
    Onnx__GraphProto *body = node->attribute[0]->g;
    Onnx__FunctionProto *function = m->functions[0];
    test_message *at[] = {
        &m->base,        &m->configuration[0]->base,
        &m->graph->base, &m->graph->node[0]->device_configurations[0]->base,
        &node->base,     &node->attribute[0]->base,
        &body->base,     &body->node[0]->base,
        &function->base, &function->node[0]->base,
    };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        onnx_unknown(b, at[i]);
    opened o = open_built(b);
    round_trip(&o);
    close_model(&o);
}

/* covers: A.007 */
Test(annotate, and_its_original_have_one_fingerprint)
{
    opened o = open_built(everything());
    memory out = annotate(&o);
    opened again = open_model(out.bytes, out.n);
    cr_assert_eq(clv_onnx_fingerprint(o.model), clv_onnx_fingerprint(again.model));
    close_model(&again);
    close_model(&o);
    free(out.bytes);
}

/* covers: A.037 */
Test(annotate, keeps_the_annotations_of_others)
{
    opened o = open_built(everything());
    memory out = annotate(&o);
    Onnx__ModelProto *m = parse(&out);
    cr_assert_eq(m->n_configuration, 2);
    cr_assert_str_eq(m->configuration[0]->name, "other");
    cr_assert_eq(m->graph->node[0]->n_device_configurations, 2);
    cr_assert_str_eq(m->graph->node[0]->device_configurations[0]->configuration_id, "other");
    free(out.bytes);
    close_model(&o);
}

/* covers: A.029 A.030 */
Test(annotate, names_the_configuration_as_the_plan_does)
{
    static const char *const names[][2] = { { "tp", "tp" }, { "", "cleave" }, { NULL, "cleave" } };
    for (size_t i = 0; i < 3; i++) {
        opened o = open_built(everything());
        o.plan->configuration = names[i][0];
        memory out = annotate(&o);
        Onnx__ModelProto *m = parse(&out);
        cr_assert_str_eq(m->configuration[1]->name, names[i][1]);
        cr_assert_str_eq(m->graph->node[1]->device_configurations[0]->configuration_id,
                         names[i][1]);
        free(out.bytes);
        round_trip(&o);
        close_model(&o);
    }
}

Test(annotate, takes_another_name_where_its_own_is_taken)
{
    test_onnx *b = everything();
    onnx_configuration(b, "cleave", 1, "");
    onnx_node_device(onnx_main(b), onnx_message(b)->graph->node[1], "cleave_2", -1, NULL, 0);
    opened o = open_built(b);
    memory out = annotate(&o);
    Onnx__ModelProto *m = parse(&out);
    cr_assert_str_eq(m->configuration[2]->name, "cleave_3");
    cr_assert_str_eq(m->graph->node[1]->device_configurations[1]->configuration_id, "cleave_3");
    free(out.bytes);
    round_trip(&o);
    close_model(&o);
}

Test(annotate, replaces_its_own_annotation)
{
    opened o = open_built(everything());
    memory once = annotate(&o);
    opened again = open_model(once.bytes, once.n);
    memory twice = annotate(&again);
    same(&twice, once.bytes, once.n);
    free(once.bytes), free(twice.bytes);
    close_model(&again);
    close_model(&o);
}

static int64_t ir_after(int ir, bool raise_ir)
{
    test_onnx *b = everything();
    onnx_message(b)->has_ir_version = ir != 0;
    onnx_message(b)->ir_version = ir;
    opened o = open_built(b);
    memory out = annotate_as(&o, raise_ir);
    Onnx__ModelProto *m = parse(&out);
    int64_t version = m->has_ir_version ? m->ir_version : 0;
    memory back = strip(&out, false);
    same(&back, o.bytes, o.n);
    round_trip(&o);
    free(out.bytes), free(back.bytes);
    close_model(&o);
    return version;
}

/* covers: A.038 */
Test(annotate, raises_the_ir_version_only_where_it_is_lower)
{
    cr_assert_eq(ir_after(0, true), 11);
    cr_assert_eq(ir_after(0, false), 0);
    cr_assert_eq(ir_after(3, true), 11);
    cr_assert_eq(ir_after(10, true), 11);
    cr_assert_eq(ir_after(10, false), 10);
    cr_assert_eq(ir_after(11, true), 11);
    cr_assert_eq(ir_after(14, true), 14);
    cr_assert_eq(ir_after(200, true), 200);
}

/* -- files that are legal and odd -- */

/* By hand: ir_version twice and once in two bytes (88 00 is 8 padded), an unknown field 100 in
 * front, between and behind, lengths padded to two bytes around the graph and a node.
 * covers: A.038 */
Test(annotate, gives_back_odd_encodings)
{
    static const uint8_t odd[] = {
        0xa2, 0x06, 1,    'u',  /* unknown field 100 */
        0x08, 0x07,             /* ir_version 7, to be overruled */
        0x3a, 0x9b, 0x00,       /* graph, 27 bytes, length padded */
        0x0a, 0x8c, 0x80, 0x00, /* node, 12 bytes, length padded to three */
        0x0a, 0x01, 'x',  0x12, 0x01, 'y',  0x22, 0x04,
        'R',  'e',  'l',  'u',  0xa2, 0x06, 1,    'v', /* unknown in the graph */
        0x5a, 0x05, 0x0a, 0x01, 'x',  0x12, 0x00,      /* input x of no type */
        0x88, 0x00, 0x88, 0x00, /* ir_version again: its key padded, 8 padded */
        0x42, 0x02, 0x10, 0x11, /* operator set 17 */
        0xa2, 0x06, 0,          /* unknown and empty */
    };
    opened o = open_model(odd, sizeof odd);
    cr_assert(o.model->ir_version == 8 && o.model->main->n_ops == 1);
    round_trip(&o);
    memory out = annotate(&o);
    Onnx__ModelProto *m = parse(&out);
    cr_assert_eq(m->ir_version, 11);
    check_node(m->graph->node[0], "x,y", 0);
    free(out.bytes);
    close_model(&o);
}

/* covers: A.041 */
Test(annotate, works_on_a_node_with_very_many_names)
{
    test_onnx *b = onnx_new(8, 17);
    test_graph *g = onnx_main(b);
    char *names = calloc(20000, 8);
    for (int i = 0; i < 20000; i++)
        sprintf(names + strlen(names), "%sx%d", i ? "," : "", i % 9999);
    for (int i = 0; i < 9999; i++) {
        char name[16];
        sprintf(name, "x%d", i);
        onnx_input(g, name, 1, "1");
    }
    onnx_node(g, "Concat", "", names, "y");
    onnx_output(g, "y", 1, "?");
    free(names);
    opened o = open_built(b);
    memory out = annotate(&o);
    Onnx__ModelProto *m = parse(&out);
    cr_assert_eq(m->graph->node[0]->device_configurations[0]->n_sharding_spec, 10000);
    free(out.bytes);
    round_trip(&o);
    close_model(&o);
}

Test(annotate, works_on_a_graph_without_nodes)
{
    test_onnx *b = onnx_new(8, 17);
    onnx_input(onnx_main(b), "x", 1, "1");
    onnx_output(onnx_main(b), "x", 1, "1");
    opened o = open_built(b);
    round_trip(&o);
    close_model(&o);
}

/* -- strip -- */

static void strip_fails(const memory *from, bool all, const char *says)
{
    memory to = { 0 };
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(try_strip(from, all, &to, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, says), "said: %s", err.message);
    cr_assert_eq(to.n, 0, "nothing is written");
}

Test(annotate, strip_refuses_a_file_without_our_annotation)
{
    opened o = open_built(everything());
    strip_fails(&(memory){ .bytes = o.bytes, .n = o.n }, false, "has no annotation of cleave");
    close_model(&o);
}

Test(annotate, strip_refuses_a_file_that_has_nothing_to_remove)
{
    opened o = open_built(everything());
    memory bare = strip(&(memory){ .bytes = o.bytes, .n = o.n }, true);
    strip_fails(&bare, false, "has no annotation of cleave");
    strip_fails(&bare, true, "has no multi-device annotation");
    free(bare.bytes);
    close_model(&o);
}

/* covers: A.039 */
Test(annotate, strip_refuses_a_file_that_was_changed_but_strips_all_of_it)
{
    opened o = open_built(everything());
    memory out = annotate(&o);
    Onnx__ModelProto *m = parse(&out);
    m->graph->node[0]->n_device_configurations = 0; /* another tool was here */
    memory changed = { .n = onnx__model_proto__get_packed_size(m) };
    changed.bytes = malloc(changed.n);
    onnx__model_proto__pack(m, changed.bytes);
    strip_fails(&changed, false, "was changed after cleave annotated it");
    clv_error err;
    memory to = { 0 };
    clv_sink sink = memory_sink(&to);
    opened c = open_model(changed.bytes, changed.n);
    cr_assert_eq(
        clv_onnx_annotate(&(clv_onnx_model){ c.file, c.model }, c.plan, true, &sink, c.arena, &err),
        CLV_EFORMAT);
    memory bare = strip(&changed, true);
    Onnx__ModelProto *b = parse(&bare);
    cr_assert(b->n_configuration == 0 && b->n_metadata_props == 1 && b->ir_version == 11);
    cr_assert_eq(b->graph->node[1]->n_device_configurations, 0);
    free(out.bytes), free(changed.bytes), free(bare.bytes), free(to.bytes);
    close_model(&c);
    close_model(&o);
}

static size_t entries_of(const Onnx__GraphProto *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_node; i++) {
        n += g->node[i]->n_device_configurations;
        for (size_t a = 0; a < g->node[i]->n_attribute; a++) {
            const Onnx__AttributeProto *attr = g->node[i]->attribute[a];
            n += attr->g ? entries_of(attr->g) : 0;
            for (size_t k = 0; k < attr->n_graphs; k++)
                n += entries_of(attr->graphs[k]);
        }
    }
    return n;
}

Test(annotate, strip_all_takes_out_the_annotations_of_everyone)
{
    opened o = open_built(everything());
    memory out = annotate(&o), given[] = { { .bytes = o.bytes, .n = o.n }, out };
    memory bare[2];
    for (int k = 0; k < 2; k++) {
        bare[k] = strip(&given[k], true);
        Onnx__ModelProto *m = parse(&bare[k]);
        cr_assert(m->n_configuration == 0 && entries_of(m->graph) == 0 && m->ir_version == 8);
        cr_assert_eq(m->n_metadata_props, 1, "the author stays");
    }
    same(&bare[1], bare[0].bytes, bare[0].n);
    free(out.bytes), free(bare[0].bytes), free(bare[1].bytes);
    close_model(&o);
}

Test(annotate, believes_no_forged_note)
{
    static const char *const notes[] = {
        "",
        "1;size=10;ir=08;wide=;name=cleave",
        "1;size=99999999999999999999;ir=08;wide=;name=cleave",
        "1;size=0;ir=none;wide=0+9223372036854775807:5;name=cleave",
        "1;size=0;ir=ffff;wide=;name=cleave",
        "1;size=0;ir=none;wide=5+1:3,2+1:3;name=cleave",
        "1;size=0;ir=none;wide=0+1:11;name=cleave",
        "2;size=0;ir=keep;wide=;name=cleave",
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        opened o = open_built(everything());
        memory out = annotate(&o);
        Onnx__ModelProto *m = parse(&out);
        char *old = m->metadata_props[1]->value;
        m->metadata_props[1]->value = (char *)(uintptr_t)notes[i];
        m->functions = NULL; /* so that the fields we append stay the last two */
        m->n_functions = 0;
        memory forged = { .n = onnx__model_proto__get_packed_size(m) };
        forged.bytes = malloc(forged.n);
        onnx__model_proto__pack(m, forged.bytes);
        m->metadata_props[1]->value = old;
        strip_fails(&forged, false, "cleave");
        free(forged.bytes), free(out.bytes);
        close_model(&o);
    }
}

/* -- refusals and failures -- */

static void annotate_fails(const opened *o, clv_status want, const char *says)
{
    memory to = { 0 };
    clv_sink sink = memory_sink(&to);
    clv_error err = { CLV_OK, "" };
    clv_status s = clv_onnx_annotate(&(clv_onnx_model){ o->file, o->model }, o->plan, true, &sink,
                                     o->arena, &err);
    cr_assert_eq(s, want);
    cr_assert(strstr(err.message, says), "said: %s", err.message);
    cr_assert_eq(to.n, 0, "nothing is written");
}

Test(annotate, refuses_a_plan_for_another_model)
{
    opened o = open_built(everything());
    o.plan->n_ops = 3;
    annotate_fails(&o, CLV_EUSAGE, "the plan is for 3 nodes");
    o.plan->n_ops = 4;
    ((int32_t *)(uintptr_t)o.plan->device_of_op)[2] = 3;
    annotate_fails(&o, CLV_EUSAGE, "puts node 2 on device 3, it has 3 devices");
    close_model(&o);
    opened one = open_built(everything()), two;
    test_onnx *b = everything();
    onnx_node(onnx_main(b), "Relu", "", "y", "z");
    two = open_built(b);
    opened mixed = two;
    mixed.model = one.model;
    mixed.plan = one.plan;
    annotate_fails(&mixed, CLV_EUSAGE, "has 5 nodes");
    close_model(&one);
    close_model(&two);
}

Test(annotate, passes_on_the_failure_of_its_sink)
{
    opened o = open_built(everything());
    for (size_t at = 1; at < 200; at += 50) {
        memory to = { .fail_at = at };
        clv_sink sink = memory_sink(&to);
        clv_error err;
        cr_assert_eq(clv_onnx_annotate(&(clv_onnx_model){ o.file, o.model }, o.plan, true, &sink,
                                       o.arena, &err),
                     CLV_EIO);
        cr_assert_str_eq(err.message, "the sink is full");
        free(to.bytes);
    }
    close_model(&o);
}

Test(annotate, survives_running_out_of_memory_anywhere)
{
    opened o = open_built(everything());
    clv_status s = CLV_ENOMEM;
    for (size_t limit = 1024; s != CLV_OK; limit += limit < (256u << 10) ? 1024 : 64) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        memory to = { 0 };
        clv_sink sink = memory_sink(&to);
        s = clv_onnx_annotate(&(clv_onnx_model){ o.file, o.model }, o.plan, true, &sink, arena,
                              NULL);
        cr_assert(s == CLV_OK || s == CLV_ENOMEM);
        free(to.bytes);
        clv_arena_free(arena);
    }
    close_model(&o);
}
