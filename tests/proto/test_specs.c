#include "proto/onnx.pb-c.h"

#include <stdarg.h>
#include <stdio.h>

#include "proto/everything.h"
#include "proto/given_specs.h"
#include "proto/opened.h"

/* x, w -> MatMul -> y -> Relu -> z */
static opened two_nodes(void)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "2,2");
    onnx_weight(g, "w", 1, "2,2");
    onnx_node(g, "MatMul", "mm", "x,w", "y");
    onnx_node(g, "Relu", "relu", "y", "z");
    onnx_output(g, "z", 1, "2,2");
    return open_built(m);
}

/* What protobuf-c reads lies in an arena, which goes with the file. */
static void *take(void *arena, size_t n) { return clv_arena_take(arena, n); }
static void give(void *arena, void *p) { (void)arena, (void)p; }

static const Onnx__NodeDeviceConfigurationProto *decoded(const opened *a, size_t node)
{
    ProtobufCAllocator in_arena = { take, give, a->arena };
    Onnx__ModelProto *m = onnx__model_proto__unpack(&in_arena, a->n, a->bytes);
    cr_assert_not_null(m, "protobuf-c cannot read it");
    const Onnx__NodeProto *n = m->graph->node[node];
    return n->device_configurations[n->n_device_configurations - 1];
}

/* -- a spec as a line: tensor [devices] {key:devices ...} axis:dim/shards*dim/shards ... -- */

typedef struct {
    char text[512];
} line;

static void add(line *l, const char *fmt, ...) CLV_PRINTF(2, 3);
static void add(line *l, const char *fmt, ...)
{
    va_list args;
    size_t n = strlen(l->text);
    va_start(args, fmt);
    vsnprintf(l->text + n, sizeof l->text - n, fmt, args);
    va_end(args);
}

static void add_numbers(line *l, const int64_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(l, "%s%lld", i ? "," : "", (long long)at[i]);
}

static void add_factor(line *l, const Onnx__SimpleShardedDimProto *f)
{
    cr_assert(f->has_num_shards);
    if (f->dim_case == ONNX__SIMPLE_SHARDED_DIM_PROTO__DIM_DIM_VALUE)
        add(l, "%lld", (long long)f->dim_value);
    if (f->dim_case == ONNX__SIMPLE_SHARDED_DIM_PROTO__DIM_DIM_PARAM)
        add(l, "%s", f->dim_param);
    add(l, "/%lld", (long long)f->num_shards);
}

static line line_of(const Onnx__ShardingSpecProto *s)
{
    line l = { "" };
    add(&l, "%s [", s->tensor_name);
    add_numbers(&l, s->device, s->n_device);
    add(&l, "] {");
    for (size_t i = 0; i < s->n_index_to_device_group_map; i++) {
        const Onnx__IntIntListEntryProto *g = s->index_to_device_group_map[i];
        cr_assert(g->has_key);
        add(&l, "%s%lld:", i ? " " : "", (long long)g->key);
        add_numbers(&l, g->value, g->n_value);
    }
    add(&l, "}");
    for (size_t i = 0; i < s->n_sharded_dim; i++) {
        const Onnx__ShardedDimProto *d = s->sharded_dim[i];
        cr_assert(d->has_axis);
        add(&l, " %lld:", (long long)d->axis);
        for (size_t k = 0; k < d->n_simple_sharding; k++) {
            add(&l, "%s", k ? "*" : "");
            add_factor(&l, d->simple_sharding[k]);
        }
    }
    return l;
}

/* Gives node 0 this one spec: it is written as `want` beside the stage, reads back as it was, and
 * the other tensors of the node are whole on its device. */
static void writes(clv_sharding_spec spec, const char *want)
{
    opened o = two_nodes();
    const clv_plan_annotation note = { .file_index = 0, .note = { .specs = &spec, .n_specs = 1 } };
    spec.tensor = "x";
    give_notes(&o, &note, 1);
    opened a = annotated(&o);
    const Onnx__NodeDeviceConfigurationProto *c = decoded(&a, 0);
    cr_assert_str_eq(c->configuration_id, "cleave");
    cr_assert(c->has_pipeline_stage && c->pipeline_stage == 0);
    cr_assert_eq(c->n_sharding_spec, 3);
    cr_assert_str_eq(line_of(c->sharding_spec[0]).text, want);
    cr_assert_str_eq(line_of(c->sharding_spec[1]).text, "w [0] {}");
    cr_assert_str_eq(line_of(c->sharding_spec[2]).text, "y [0] {}");
    cr_assert_str_eq(line_of(decoded(&a, 1)->sharding_spec[0]).text, "y [1] {}");
    clv_annotation_set set = annotations_of(&a);
    cr_assert(same_spec(&set.nodes[0].note.specs[0], &spec));
    cr_assert_eq(set.n_faults, 0);
    close_opened(&a);
    close_opened(&o);
}

#define LIST(...) (const int64_t[]){ __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / 8
#define GROUP(k, ...)                                                                              \
    {                                                                                              \
        k, LIST(__VA_ARGS__)                                                                       \
    }
#define OWN(shards)                                                                                \
    {                                                                                              \
        CLV_DIM_UNKNOWN, NULL, shards                                                              \
    }
#define FACTORS(...)                                                                               \
    (const clv_simple_sharding[]){ __VA_ARGS__ },                                                  \
        sizeof((clv_simple_sharding[]){ __VA_ARGS__ }) / sizeof(clv_simple_sharding)

static clv_sharding_spec spec(const int64_t *device, size_t n)
{
    return (clv_sharding_spec){ .device = device, .n_device = (int32_t)n };
}

static clv_sharding_spec split(clv_sharding_spec s, const clv_sharded_dim *dims, int32_t n)
{
    s.dims = dims;
    s.n_dims = n;
    return s;
}

static clv_sharding_spec grouped(clv_sharding_spec s, const clv_device_group *groups, int32_t n)
{
    s.groups = groups;
    s.n_groups = n;
    return s;
}

/* covers: A.002 A.004 A.013 A.014 A.036 */
Test(specs, write_one_split_axis)
{
    const clv_sharded_dim rows = { 0, FACTORS(OWN(2)) }, columns = { 1, FACTORS(OWN(2)) };
    writes(split(spec(LIST(0, 1)), &rows, 1), "x [0,1] {} 0:/2");
    writes(split(spec(LIST(0, 1)), &columns, 1), "x [0,1] {} 1:/2");
}

/* covers: A.015 A.016 A.017 A.018 */
Test(specs, write_axes_and_devices_in_their_order)
{
    const clv_sharded_dim both[] = { { 0, FACTORS(OWN(2)) }, { 1, FACTORS(OWN(2)) } };
    const clv_sharded_dim swapped[] = { both[1], both[0] };
    const clv_sharded_dim three[] = { { 2, FACTORS(OWN(2)) },
                                      { 0, FACTORS(OWN(1)) },
                                      { 1, FACTORS(OWN(3)) } };
    writes(split(spec(LIST(0, 1, 2, 3)), both, 2), "x [0,1,2,3] {} 0:/2 1:/2");
    writes(split(spec(LIST(3, 1, 2, 0)), swapped, 2), "x [3,1,2,0] {} 1:/2 0:/2");
    writes(split(spec(LIST(0, 1, 2, 3, 4, 5)), three, 3), "x [0,1,2,3,4,5] {} 2:/2 0:/1 1:/3");
}

/* covers: A.012 A.023 A.024 A.027 A.031 */
Test(specs, write_replication)
{
    const clv_device_group all = GROUP(-1, 0, 1);
    writes(grouped(spec(LIST(-1)), &all, 1), "x [-1] {-1:0,1}");
    writes(spec(LIST(0, 1)), "x [0,1] {}");
}

/* covers: A.025 A.028 A.031 A.032 */
Test(specs, write_groups_beside_plain_devices)
{
    const clv_device_group pairs[] = { GROUP(-1, 0, 1), GROUP(-2, 2, 3) };
    const clv_device_group uneven[] = { GROUP(-1, 0, 1, 4), GROUP(7, 5) };
    const clv_sharded_dim halves = { 0, FACTORS(OWN(2)) }, thirds = { 0, FACTORS(OWN(3)) };
    writes(split(grouped(spec(LIST(-1, -2)), pairs, 2), &halves, 1),
           "x [-1,-2] {-1:0,1 -2:2,3} 0:/2");
    writes(split(grouped(spec(LIST(-1, 2, 7)), uneven, 2), &thirds, 1),
           "x [-1,2,7] {-1:0,1,4 7:5} 0:/3");
}

/* covers: A.033 A.034 A.035 A.036 */
Test(specs, write_fused_and_symbolic_factors)
{
    const clv_sharded_dim fused = { -1, FACTORS({ 4, NULL, 2 }, OWN(1),
                                                { CLV_DIM_UNKNOWN, "batch", 3 }) };
    const clv_sharded_dim zero = { 0, FACTORS({ 0, NULL, 1 }) }, none = { 1, NULL, 0 };
    writes(split(spec(LIST(0, 1, 2, 3, 4, 5)), &fused, 1), "x [0,1,2,3,4,5] {} -1:4/2*/1*batch/3");
    writes(split(spec(LIST(0)), &zero, 1), "x [0] {} 0:0/1");
    writes(split(spec(LIST(0)), &none, 1), "x [0] {} 1:");
}

Test(specs, write_numbers_of_any_size)
{
    const clv_device_group least = GROUP(INT64_MIN, INT64_MAX, 0, -1);
    const clv_sharded_dim far = { INT64_MIN, FACTORS({ INT64_MAX, NULL, INT64_MIN }) };
    writes(split(grouped(spec(LIST(INT64_MIN, 128)), &least, 1), &far, 1),
           "x [-9223372036854775808,128] {-9223372036854775808:9223372036854775807,0,-1} "
           "-9223372036854775808:9223372036854775807/-9223372036854775808");
}

Test(specs, may_be_empty) { writes((clv_sharding_spec){ .n_device = 0 }, "x [] {}"); }

/* -- stages -- */

/* covers: A.008 A.009 A.030 */
Test(specs, stages_are_as_given_and_may_start_at_one)
{
    static const int64_t stages[][2] = { { 1, 2 }, { 0, -1 }, { INT32_MIN, INT32_MAX } };
    for (size_t i = 0; i < 3; i++) {
        opened o = two_nodes();
        const clv_plan_annotation notes[] = {
            { .file_index = 0, .note = { .has_stage = true, .stage = stages[i][0] } },
            { .file_index = 1, .note = { .has_stage = true, .stage = stages[i][1] } },
        };
        give_notes(&o, notes, 2);
        if (i == 1) /* then a given 0 is the only stage that node 0 could have */
            o.plan->devices[0].stage = -1;
        opened a = annotated(&o);
        clv_annotation_set set = annotations_of(&a);
        for (int32_t k = 0; k < 2; k++) {
            const Onnx__NodeDeviceConfigurationProto *c = decoded(&a, (size_t)k);
            cr_assert(c->has_pipeline_stage && c->pipeline_stage == stages[i][k]);
            cr_assert(set.nodes[k].note.has_stage && set.nodes[k].note.stage == stages[i][k]);
            cr_assert_str_eq(line_of(c->sharding_spec[0]).text, k ? "y [1] {}" : "x [0] {}");
        }
        close_opened(&a);
        close_opened(&o);
    }
}

/* covers: A.008 */
Test(specs, an_absent_stage_is_not_stage_zero)
{
    opened o = two_nodes();
    o.plan->devices[1].stage = -1;
    opened a = annotated(&o);
    clv_annotation_set set = annotations_of(&a);
    cr_assert(set.nodes[0].note.has_stage && set.nodes[0].note.stage == 0);
    cr_assert_not(set.nodes[1].note.has_stage);
    close_opened(&a);
    close_opened(&o);
}

/* -- round trip -- */

Test(specs, random_ones_read_back_as_they_were_given)
{
    uint64_t state = 1;
    for (int round = 0; round < 300; round++) {
        uint8_t noise[512];
        for (size_t i = 0; i < sizeof noise; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            noise[i] = (uint8_t)(state >> 56);
        }
        opened o = round % 2 ? two_nodes() : open_built(everything());
        spec_source source = { noise, sizeof noise, 0, o.arena };
        plan_give_specs(o.plan, o.model, &source);
        opened a = annotated(&o);
        clv_annotation_set set = annotations_of(&a);
        cr_assert(reads_back_as_planned(&set, o.plan), "round %d", round);
        cr_assert_eq(set.n_faults, 0);
        close_opened(&a);
        close_opened(&o);
    }
}

/* One node with 5000 inputs, each with a spec. */
Test(specs, may_be_very_many)
{
    enum { N = 5000 };
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    char *names = calloc(N, 8);
    size_t n = 0;
    for (int i = 0; i < N; i++) {
        char name[16];
        sprintf(name, "x%d", i);
        n += (size_t)sprintf(names + n, "%s%s", i ? "," : "", name);
        onnx_input(g, name, 1, "2");
    }
    onnx_node(g, "Concat", "", names, "y");
    onnx_output(g, "y", 1, "?");
    free(names);
    opened o = open_built(m);
    clv_sharding_spec *specs = CLV_NEW_ARRAY(o.arena, clv_sharding_spec, N);
    for (int32_t i = 0; i < N; i++)
        specs[i] = (clv_sharding_spec){ .tensor = clv_arena_printf(o.arena, "x%d", N - 1 - i) };
    const clv_plan_annotation note = { .note = { .specs = specs, .n_specs = N } };
    give_notes(&o, &note, 1);
    opened a = annotated(&o);
    clv_annotation_set set = annotations_of(&a);
    cr_assert_eq(set.nodes[0].note.n_specs, N + 1);
    cr_assert_str_eq(set.nodes[0].note.specs[7].tensor, "x7", "the order of the node");
    cr_assert_eq(set.nodes[0].note.specs[7].n_device, 0, "as given");
    close_opened(&a);
    close_opened(&o);
}

/* -- refusals -- */

static void refused(const clv_plan_annotation *notes, int32_t n, const char *says)
{
    opened o = two_nodes();
    memory to = { 0 };
    clv_sink sink = memory_sink(&to);
    clv_error err = { CLV_OK, "" };
    give_notes(&o, notes, n);
    clv_status s =
        clv_onnx_annotate(&(clv_onnx_model){ o.file, o.model }, o.plan, true, &sink, o.arena, &err);
    cr_assert_eq(s, CLV_EUSAGE);
    cr_assert(strstr(err.message, says), "said: %s", err.message);
    cr_assert_eq(to.n, 0, "nothing is written");
    close_opened(&o);
}

/* covers: A.031 A.041 */
Test(specs, of_a_tensor_that_the_node_does_not_have_are_refused)
{
    const clv_sharding_spec other = { .tensor = "z" }, empty = { .tensor = "" };
    const clv_plan_annotation a = { .note = { .specs = &other, .n_specs = 1 } };
    const clv_plan_annotation b = { .note = { .specs = &empty, .n_specs = 1 } };
    refused(&a, 1, "tensor 'z' of node 0, which has no input or output of that name");
    refused(&b, 1, "tensor '' of node 0");
}

/* covers: A.030 */
Test(specs, that_contradict_themselves_are_refused)
{
    const clv_sharding_spec twice[] = { { .tensor = "x" }, { .tensor = "x" } };
    const clv_plan_annotation a = { .note = { .specs = twice, .n_specs = 2 } };
    refused(&a, 1, "two specs for tensor 'x' of node 0");
    const clv_plan_annotation stage = { .note = { .has_stage = true, .stage = INT64_MAX } };
    refused(&stage, 1, "stage 9223372036854775807, expected 32 bits");
    const clv_plan_annotation order[] = { { .file_index = 1 }, { .file_index = 1 } };
    refused(order, 2, "annotation 1 of the plan is for node 1, expected a node from 2 to 1");
    const clv_plan_annotation beyond = { .file_index = 2 }, unknown = { .file_index = -1 };
    refused(&beyond, 1, "is for node 2, expected a node from 0 to 1");
    refused(&unknown, 1, "is for node -1");
    const clv_sharded_dim dim = { 0, FACTORS({ -3, NULL, 2 }) };
    const clv_sharding_spec minus = { .tensor = "x", .dims = &dim, .n_dims = 1 };
    const clv_plan_annotation size = { .note = { .specs = &minus, .n_specs = 1 } };
    refused(&size, 1, "splits 'x' by a factor of size -3");
}
