#include "proto/onnx.pb-c.h"

#include "proto/everything.h"
#include "proto/opened.h"

/* x -> A -> a -> B -> b, with configurations "pair" (left, right) and "four" (4 devices). */
typedef struct {
    test_onnx *m;
    test_graph *g;
    test_node *a, *b;
} model;

static model new_model(void)
{
    model t = { .m = onnx_new(11, 17) };
    t.g = onnx_main(t.m);
    onnx_configuration(t.m, "pair", 2, "left,right");
    onnx_configuration(t.m, "four", 4, "");
    onnx_input(t.g, "x", 1, "4,4");
    t.a = onnx_node(t.g, "Relu", "A", "x", "a");
    t.b = onnx_node(t.g, "Relu", "B", "a", "b");
    onnx_output(t.g, "b", 1, "4,4");
    return t;
}

/* covers: A.029 */
Test(annotations, of_a_model_without_any_are_none)
{
    model t = new_model();
    onnx_message(t.m)->n_configuration = 0;
    opened o = open_built(t.m);
    clv_annotation_set set = annotations_of(&o);
    cr_assert(set.n_configurations == 0 && set.n_nodes == 0 && set.n_faults == 0);
    cr_assert(set.n_in_bodies == 0 && set.n_in_functions == 0);
    close_opened(&o);
}

/* covers: A.029 */
Test(annotations, list_configurations_with_their_devices)
{
    model t = new_model();
    opened o = open_built(t.m);
    clv_annotation_set set = annotations_of(&o);
    cr_assert_eq(set.n_configurations, 2);
    const clv_configuration *pair = &set.configurations[0], *four = &set.configurations[1];
    cr_assert_str_eq(pair->name, "pair");
    cr_assert(pair->num_devices == 2 && pair->n_device == 2);
    cr_assert_str_eq(pair->device[0], "left");
    cr_assert_str_eq(pair->device[1], "right");
    cr_assert_str_eq(four->name, "four");
    cr_assert(four->num_devices == 4 && four->n_device == 0);
    cr_assert_eq(set.n_faults, 0);
    close_opened(&o);
}

/* covers: A.037 */
Test(annotations, of_a_node_may_differ_in_each_configuration)
{
    model t = new_model();
    onnx_node_device(t.g, t.a, "pair", 0, "x", 1);
    onnx_node_device(t.g, t.a, "four", -1, "a", 3);
    onnx_node_device(t.g, t.b, "four", 2, "a", 2);
    opened o = open_built(t.m);
    opened ours = annotated(&o); /* a third configuration beside them */
    clv_annotation_set set = annotations_of(&ours);
    static const struct {
        int node;
        const char *configuration, *tensor;
        int device, stage;
    } want[] = { { 0, "pair", "x", 1, 0 },
                 { 0, "four", "a", 3, -1 },
                 { 0, "cleave", "x", 0, 0 },
                 { 1, "four", "a", 2, 2 },
                 { 1, "cleave", "a", 1, 1 } };
    cr_assert_eq(set.n_nodes, 5);
    for (int i = 0; i < 5; i++) {
        const clv_node_annotation *n = &set.nodes[i].note;
        cr_assert_eq(set.nodes[i].file_index, want[i].node);
        cr_assert_str_eq(n->configuration, want[i].configuration);
        cr_assert_str_eq(n->specs[0].tensor, want[i].tensor);
        cr_assert(n->specs[0].n_device == 1 && n->specs[0].device[0] == want[i].device);
        cr_assert_eq(n->has_stage, want[i].stage >= 0);
        cr_assert(want[i].stage < 0 || n->stage == want[i].stage);
    }
    cr_assert_eq(set.n_configurations, 3);
    cr_assert_eq(set.n_faults, 0);
    close_opened(&ours);
    close_opened(&o);
}

/* covers: A.040 */
Test(annotations, in_bodies_and_functions_are_counted)
{
    opened o = open_built(everything());
    opened ours = annotated(&o);
    clv_annotation_set set = annotations_of(&ours);
    cr_assert_eq(set.n_nodes, 5, "four of ours and one of another");
    cr_assert_eq(set.n_in_bodies, 6);
    cr_assert_eq(set.n_in_functions, 4);
    close_opened(&ours);
    close_opened(&o);
}

/* x -> If(c) -> y with a node in its branch, and f(y) -> z, which is one node too; four devices. */
typedef struct {
    test_onnx *m;
    test_graph *g, *branch, *function;
    test_node *outer, *inner, *call, *called;
} nested;

static nested new_nested(void)
{
    nested n = { .m = onnx_new(11, 17) };
    n.g = onnx_main(n.m);
    onnx_opset(n.m, "my", 1);
    onnx_configuration(n.m, "four", 4, "");
    onnx_configuration(n.m, "pair", 2, "");
    onnx_input(n.g, "x", 1, "4");
    onnx_input(n.g, "c", 9, "");
    n.branch = onnx_body(n.m, "branch");
    n.inner = onnx_node(n.branch, "Relu", "inner", "x", "b");
    onnx_output(n.branch, "b", 1, "4");
    n.outer = onnx_node(n.g, "If", "outer", "c", "y");
    onnx_attr_graph(n.g, n.outer, "then_branch", n.branch);
    n.function = onnx_function(n.m, "my", "f", "");
    onnx_input(n.function, "p", 0, NULL);
    n.called = onnx_node(n.function, "Relu", "called", "p", "q");
    onnx_output(n.function, "q", 0, NULL);
    n.call = onnx_node(n.g, "f", "call", "y", "z");
    onnx_node_domain(n.g, n.call, "my", "");
    onnx_output(n.g, "z", 1, "4");
    return n;
}

/* Adds nothing but the fault; NULL: no fault. */
static void expect_nested(const nested *n, const char *fault)
{
    opened o = open_built(n->m);
    clv_annotation_set set = annotations_of(&o);
    cr_expect_eq(set.n_faults, fault != NULL);
    if (fault && set.n_faults == 1)
        cr_expect_not_null(strstr(set.faults[0], fault), "%s", set.faults[0]);
    close_opened(&o);
}

/* covers: A.040 */
Test(annotations, in_bodies_do_not_contradict_the_node_that_has_them)
{
    nested n = new_nested();
    onnx_node_device(n.branch, n.inner, "four", 1, "x", 2);
    onnx_node_device(n.g, n.outer, "four", 1, "c", 2);
    onnx_node_device(n.g, n.outer, "pair", 0, "c", 0);
    expect_nested(&n, NULL);
    n = new_nested();
    onnx_node_device(n.branch, n.inner, "four", 3, "x", 2);
    onnx_node_device(n.g, n.outer, "four", 1, "c", 2);
    expect_nested(&n, "node 0: in a body, the node at byte ");
    n = new_nested();
    onnx_node_device(n.branch, n.inner, "four", 3, NULL, 0);
    onnx_node_device(n.g, n.outer, "four", 1, NULL, 0);
    expect_nested(&n, "its pipeline_stage is 3, but it runs in node 0, which has 1");
    n = new_nested();
    onnx_node_device(n.branch, n.inner, "four", -1, "x", 3);
    onnx_node_device(n.g, n.outer, "four", 1, "c", 2);
    expect_nested(&n, "its specs name device 3, but it runs in node 0, whose specs do not");
}

/* covers: A.040 */
Test(annotations, in_functions_do_not_contradict_any_call)
{
    nested n = new_nested();
    onnx_node_device(n.function, n.called, "four", 1, "p", 2);
    onnx_node_device(n.g, n.call, "four", 1, "y", 2);
    onnx_node_device(n.g, n.outer, "four", 3, "c", 3);
    expect_nested(&n, NULL);
    n = new_nested();
    onnx_node_device(n.function, n.called, "four", 1, NULL, 0);
    onnx_node_device(n.g, n.call, "four", 1, NULL, 0);
    test_node *again = onnx_node(n.g, "f", "again", "y", "w");
    onnx_node_domain(n.g, again, "my", "");
    onnx_node_device(n.g, again, "four", 2, NULL, 0);
    expect_nested(&n, "its pipeline_stage is 1, but it runs in node 2, which has 2");
    n = new_nested();
    onnx_node_device(n.function, n.called, "four", -1, "p", 0);
    onnx_node_device(n.g, n.call, "four", -1, "y", 1);
    expect_nested(&n, "in a function, the node at byte ");
}

/* -- entries by hand -- */

/* A field that protobuf-c does not know of at this place, so that it can be anything. */
static void set_raw(Onnx__NodeProto *node, const uint8_t *bytes, size_t n, uint32_t field,
                    ProtobufCWireType type)
{
    ProtobufCMessageUnknownField *f = calloc(1, sizeof *f);
    f->tag = field;
    f->wire_type = type;
    f->len = n;
    f->data = malloc(n);
    memcpy(f->data, bytes, n);
    node->base.n_unknown_fields = 1;
    node->base.unknown_fields = f;
}

static void drop_raw(Onnx__NodeProto *node)
{
    free(node->base.unknown_fields->data);
    free(node->base.unknown_fields);
    node->base.n_unknown_fields = 0;
    node->base.unknown_fields = NULL;
}

/* Opens the model with these bytes as node A's entry: the length first. */
static opened with_entry(const uint8_t *bytes, size_t n)
{
    model t = new_model();
    set_raw(t.a, bytes, n, 10, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED);
    size_t packed_n;
    uint8_t *packed = onnx_pack(t.m, &packed_n);
    drop_raw(t.a);
    onnx_free(t.m);
    return open_bytes(packed, packed_n);
}

#define ENTRY(...) with_entry((const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))
#define PAIR       0x0a, 4, 'p', 'a', 'i', 'r'

/* As writers of proto3 have them. */
/* covers: A.031 */
Test(annotations, may_have_packed_numbers_and_unknown_fields)
{
    opened o = ENTRY(26, PAIR, 0x12, 12, 0x0a, 1, 'x', 0x12, 2, 0, 1, 0x10, 0x81, 0x00, 0x7a, 0,
                     0x18, 0x05, 0x7a, 1, '?', 0x7a);
    clv_annotation_set set = annotations_of(&o);
    cr_assert_eq(set.n_nodes, 0, "the last field is cut short");
    close_opened(&o);
    o = ENTRY(25, PAIR, 0x12, 12, 0x0a, 1, 'x', 0x12, 2, 0, 1, 0x10, 0x81, 0x00, 0x7a, 0, 0x18,
              0x05, 0x7a, 1, '?');
    set = annotations_of(&o);
    cr_assert_eq(set.n_faults, 0, "said: %s", set.n_faults ? set.faults[0] : "");
    const clv_sharding_spec *s = &set.nodes[0].note.specs[0];
    cr_assert(s->n_device == 3 && s->device[0] == 0 && s->device[1] == 1 && s->device[2] == 1);
    cr_assert_eq(set.nodes[0].note.stage, 5);
    close_opened(&o);
}

/* -- faults: the model is read, the fault is listed, the rest is there -- */

static void check_fault(opened o, int32_t n_nodes, int32_t n_specs, const char *says)
{
    clv_annotation_set set = annotations_of(&o);
    cr_assert_eq(set.n_faults, 1, "%d faults", set.n_faults);
    cr_assert(strstr(set.faults[0], says), "said: %s", set.faults[0]);
    cr_assert_eq(set.n_nodes, n_nodes);
    if (n_nodes)
        cr_assert_eq(set.nodes[0].note.n_specs, n_specs);
    cr_assert_eq(set.n_configurations, 2);
    opened ours = annotated(&o); /* and does not keep it from being annotated */
    set = annotations_of(&ours);
    cr_assert(set.n_faults == 1 && set.n_nodes == n_nodes + 2);
    close_opened(&ours);
    close_opened(&o);
}

/* covers: A.030 A.039 */
Test(annotations, without_a_known_configuration_are_faults)
{
    check_fault(ENTRY(0), 0, 0, "node 0: model: NodeDeviceConfigurationProto at byte");
    check_fault(ENTRY(2, 0x0a, 0), 0, 0, "has no configuration_id");
    check_fault(ENTRY(3, 0x0a, 1, 'q'), 1, 0,
                "has no configuration 'q', which an annotation names");
    check_fault(ENTRY(4, 0x0a, 2, 'q', 0), 0, 0, "has a zero byte in it");
}

/* covers: A.031 A.033 A.035 A.039 */
Test(annotations, with_faulty_specs_keep_the_others)
{
    check_fault(ENTRY(15, PAIR, 0x12, 2, 0x10, 1, 0x12, 3, 0x0a, 1, 'x'), 1, 1,
                "ShardingSpecProto at byte");
    check_fault(ENTRY(13, PAIR, 0x12, 5, 0x0a, 1, 'x', 0x1a, 0), 1, 0, "has no key");
    check_fault(ENTRY(13, PAIR, 0x12, 5, 0x0a, 1, 'x', 0x22, 0), 1, 0, "has no axis");
    check_fault(ENTRY(17, PAIR, 0x12, 9, 0x0a, 1, 'x', 0x22, 4, 0x08, 0, 0x12, 0), 1, 0,
                "has no num_shards");
    check_fault(ENTRY(30, PAIR, 0x12, 22, 0x0a, 1, 'x', 0x22, 17, 0x08, 0, 0x12, 13, 0x08, 0xff,
                      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x18, 2),
                1, 0, "dim_value -1, expected >= 0");
}

/* covers: A.039 */
Test(annotations, of_wrong_wire_types_are_faults)
{
    check_fault(ENTRY(5, 0x0d, 1, 2, 3, 4), 0, 0, "field 'configuration_id'");
    check_fault(ENTRY(8, PAIR, 0x10, 1), 0, 0, "field 'sharding_spec'");
    check_fault(ENTRY(8, PAIR, 0x1a, 0), 0, 0, "field 'pipeline_stage'");
    check_fault(ENTRY(12, PAIR, 0x12, 4, 0x0a, 1, 'x', 0x11), 1, 0, "byte");
    check_fault(ENTRY(7, PAIR, 0x12), 0, 0, "byte");
}

/* covers: A.039 */
Test(annotations, that_are_no_messages_at_all_are_faults)
{
    model t = new_model();
    static const uint8_t number[] = { 5 };
    set_raw(t.a, number, 1, 10, PROTOBUF_C_WIRE_TYPE_VARINT);
    size_t n;
    uint8_t *packed = onnx_pack(t.m, &n);
    packed = realloc(packed, n + 3);
    memcpy(packed + n, (const uint8_t[]){ 0xd0, 0x01, 7 }, 3); /* configuration: 7 */
    opened o = open_bytes(packed, n + 3);
    clv_annotation_set set = annotations_of(&o);
    cr_assert_eq(set.n_faults, 2);
    cr_assert(strstr(set.faults[0], "field 26 of ModelProto"), "said: %s", set.faults[0]);
    cr_assert(strstr(set.faults[1], "field 10 of NodeProto"), "said: %s", set.faults[1]);
    opened ours = annotated(&o);
    close_opened(&ours);
    close_opened(&o);
    drop_raw(t.a);
    onnx_free(t.m);
}

/* covers: A.029 */
Test(annotations, with_faulty_configurations_keep_what_can_be_used)
{
    model t = new_model();
    Onnx__ModelProto *m = onnx_message(t.m);
    onnx_configuration(t.m, "pair", 2, "");
    onnx_configuration(t.m, "short", 3, "one");
    onnx_configuration(t.m, "none", 0, "");
    onnx_configuration(t.m, "", 1, "");
    onnx_configuration(t.m, "long", 1, "one,two");
    cr_assert_eq(m->n_configuration, 7);
    m->configuration[4]->has_num_devices = false;
    opened o = open_built(t.m);
    clv_annotation_set set = annotations_of(&o);
    static const char *const says[] = { "two configurations 'pair'", "names 1 devices, expected 3",
                                        "'none' has num_devices 0", "has no name",
                                        "names 2 devices, expected 1" };
    cr_assert_eq(set.n_faults, 5);
    for (int i = 0; i < 5; i++)
        cr_assert(strstr(set.faults[i], says[i]), "said: %s", set.faults[i]);
    cr_assert_eq(set.n_configurations, 6);
    close_opened(&o);
}

Test(annotations, list_a_hundred_faults_and_count_the_rest)
{
    model t = new_model();
    for (int i = 0; i < 5000; i++)
        onnx_node_device(t.g, t.a, "nowhere", 0, NULL, 0);
    opened o = open_built(t.m);
    clv_annotation_set set = annotations_of(&o);
    cr_assert_eq(set.n_nodes, 5000);
    cr_assert_eq(set.n_faults, 101);
    cr_assert_str_eq(set.faults[100], "4900 more are not listed");
    close_opened(&o);
}

/* An attribute that says INTS and has a graph in it all the same: reading passes over that. */
Test(annotations, are_read_beside_a_body_that_cannot_be)
{
    static const uint8_t attr[] = { 11, 0x0a, 1, 'k', 0xa0, 1, 7, 0x32, 3, 0x0a, 1, 0x4d };
    model t = new_model();
    set_raw(t.a, attr, sizeof attr, 5, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED);
    onnx_node_device(t.g, t.b, "pair", 0, "a", 1);
    size_t n;
    uint8_t *packed = onnx_pack(t.m, &n);
    opened o = open_bytes(packed, n);
    clv_annotation_set set = annotations_of(&o);
    cr_assert_eq(set.n_nodes, 1);
    cr_assert_eq(set.n_faults, 1);
    close_opened(&o);
    drop_raw(t.a);
    onnx_free(t.m);
}

Test(annotations, of_a_file_cut_short_are_refused)
{
    model t = new_model();
    onnx_node_device(t.g, t.a, "pair", 0, "x", 1);
    opened o = open_built(t.m);
    for (size_t n = 1; n < o.n; n++) {
        clv_onnx_file *file = NULL;
        clv_annotation_set set;
        clv_error err = { CLV_OK, "" };
        uint8_t *cut = malloc(n);
        memcpy(cut, o.bytes, n);
        cr_assert_eq(clv_onnx_open_bytes(cut, n, NULL, NULL, &file, NULL), CLV_OK);
        clv_status s = clv_onnx_read_annotations(file, o.arena, &set, &err);
        cr_assert(s == CLV_OK || (s == CLV_EFORMAT && err.message[0]));
        clv_onnx_close(file);
        free(cut);
    }
    close_opened(&o);
}
