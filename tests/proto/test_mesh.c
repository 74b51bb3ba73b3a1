/* test_mesh.c - plans that split operators, as annotations: specs of every tensor of every node,
 * stages beside them, what specs cannot say in the metadata, and the same bytes again after
 * stripping.
 */
#include <stdio.h>

#include "notation/spec_shards.h"
#include "plan/plan_check.h"
#include "proto/onnx.pb-c.h"
#include "proto/opened.h"

enum { FLOAT = 1, DEVICES = 4, PER_MESH = 2 };

/* x -> up -> relu -> down -> y: column, then row, over two devices; the last two nodes on the
 * second mesh. The Add has a missing input and a tensor twice. */
static opened two_matmuls(void)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_metadata(m, "author", "somebody");
    onnx_input(g, "x", FLOAT, "2,8");
    onnx_weight(g, "w1", FLOAT, "8,6");
    onnx_weight(g, "w2", FLOAT, "6,8");
    onnx_node(g, "MatMul", "up", "x,w1", "h");
    onnx_node(g, "Relu", "act", "h", "r");
    onnx_node(g, "MatMul", "down", "r,w2", "z");
    onnx_node(g, "Add", "twice", "z,z", "y");
    onnx_output(g, "y", FLOAT, "2,8");
    return open_built(m);
}

static clv_plan_device devices[DEVICES];
static int32_t device_of[8], lead[DEVICES], order[DEVICES];
static const clv_plan_axis axes[] = { { "tp", PER_MESH, NULL } };
static int64_t first_pair[] = { 0, 1 }, second_pair[] = { 2, 3 }, minus_one[] = { -1 };
static const clv_simple_sharding halves = { CLV_DIM_UNKNOWN, NULL, 2 };
static const clv_sharded_dim on_columns = { 1, &halves, 1 }, on_rows = { 0, &halves, 1 };

static clv_sharding_spec split(const char *tensor, const int64_t *pair, const clv_sharded_dim *dim)
{
    return (clv_sharding_spec){
        .tensor = tensor, .device = pair, .n_device = 2, .dims = dim, .n_dims = 1
    };
}

/* Nodes 0 to n_first - 1 on the mesh of devices 0 and 1, the others on that of 2 and 3. */
static void make_mesh(opened *o, int32_t n_first)
{
    static const char *const names[] = { "gpu0", "gpu1", "gpu2", "gpu3" };
    clv_plan *p = o->plan;
    for (int32_t i = 0; i < p->n_ops; i++)
        device_of[i] = i < n_first ? 0 : 2;
    for (int32_t d = 0; d < DEVICES; d++) {
        order[d] = d;
        lead[d] = d / PER_MESH * PER_MESH;
        devices[d] = (clv_plan_device){ .name = names[d],
                                        .stage = d / PER_MESH,
                                        .n_ops = d / PER_MESH ? p->n_ops - n_first : n_first };
    }
    p->devices = devices;
    p->device_of_op = device_of;
    p->n_devices = DEVICES;
    p->n_stages = 2;
    p->axes = axes;
    p->n_axes = 1;
    p->mesh_devices = PER_MESH;
    p->n_meshes = 2;
    p->mesh_device = order;
    p->lead_of_device = lead;
}

/* The specs of Megatron's plan. Copies are a group. */
static const clv_plan_annotation *megatron(void)
{
    static const clv_device_group both[2] = { { -1, first_pair, 2 }, { -1, second_pair, 2 } };
    static clv_sharding_spec specs[4][3];
    static clv_plan_annotation notes[3];
    clv_sharding_spec copies = { .device = minus_one, .n_device = 1, .n_groups = 1 };

    specs[0][0] = copies;
    specs[0][0].tensor = "x";
    specs[0][0].groups = &both[0];
    specs[0][1] = split("w1", first_pair, &on_columns);
    specs[0][2] = split("h", first_pair, &on_columns);
    specs[1][0] = split("h", first_pair, &on_columns);
    specs[1][1] = split("r", first_pair, &on_columns);
    specs[2][0] = split("r", second_pair, &on_columns);
    specs[2][1] = split("w2", second_pair, &on_rows);
    specs[2][2] = copies;
    specs[2][2].tensor = "z";
    specs[2][2].groups = &both[1];
    for (int32_t i = 0; i < 3; i++)
        notes[i] = (clv_plan_annotation){ .file_index = i,
                                          .note = { .specs = specs[i],
                                                    .n_specs = i == 1 ? 2 : 3,
                                                    .has_stage = true,
                                                    .stage = i / 2 } };
    return notes;
}

static opened megatron_model(void)
{
    opened o = two_matmuls();
    clv_error err = { CLV_OK, "" };
    make_mesh(&o, 2);
    give_notes(&o, megatron(), 3);
    cr_assert_eq(clv_plan_check(o.plan, o.model->main, o.arena, &err), CLV_OK, "%s", err.message);
    return o;
}

static const clv_sharding_spec *spec_of(const clv_annotation_set *set, int32_t node,
                                        const char *tensor)
{
    for (int32_t i = 0; i < set->nodes[node].note.n_specs; i++)
        if (strcmp(set->nodes[node].note.specs[i].tensor, tensor) == 0)
            return &set->nodes[node].note.specs[i];
    cr_assert_fail("node %d has no spec of %s", node, tensor);
    return NULL;
}

/* Parts as "device:offset+size ..." of one dimension. */
static const char *parts_of(const opened *a, const clv_sharding_spec *spec, const int64_t *dims,
                            int32_t dim)
{
    clv_shards shards;
    clv_error err = { CLV_OK, "" };
    const char *text = "";
    cr_assert_eq(clv_spec_shards(spec,
                                 &(clv_tensor_split){ .rank = 2,
                                                      .dims = dims,
                                                      .dtype = CLV_DT_FLOAT,
                                                      .policy = CLV_UNEVEN_CEIL },
                                 a->arena, &shards, &err),
                 CLV_OK, "%s", err.message);
    for (int32_t i = 0; i < shards.n; i++)
        text =
            clv_arena_printf(a->arena, "%s%s%d:%d+%d", text, i ? " " : "", (int)shards.at[i].device,
                             (int)shards.at[i].offset[dim], (int)shards.at[i].size[dim]);
    return text;
}

/* covers: A.002 A.003 A.004 A.011 A.012 A.013 A.014 A.016 A.019 A.020 A.022 C.013 */
Test(mesh, every_node_says_where_the_parts_of_its_tensors_are)
{
    opened o = megatron_model(), a = annotated(&o);
    clv_annotation_set set = annotations_of(&a);
    const int64_t w1[] = { 8, 6 }, w2[] = { 6, 8 }, x[] = { 2, 8 };

    cr_assert_eq(set.n_faults, 0);
    cr_assert_eq(set.n_nodes, 4);
    for (int32_t i = 0; i < 4; i++) {
        cr_expect(set.nodes[i].note.has_stage);
        cr_expect_eq(set.nodes[i].note.stage, i / 2);
    }
    cr_expect_str_eq(parts_of(&a, spec_of(&set, 0, "w1"), w1, 1), "0:0+3 1:3+3");
    cr_expect_str_eq(parts_of(&a, spec_of(&set, 0, "w1"), w1, 0), "0:0+8 1:0+8");
    cr_expect_str_eq(parts_of(&a, spec_of(&set, 0, "x"), x, 0), "0:0+2 1:0+2");
    cr_expect_str_eq(parts_of(&a, spec_of(&set, 2, "w2"), w2, 0), "2:0+3 3:3+3");
    cr_expect_str_eq(parts_of(&a, spec_of(&set, 2, "z"), x, 1), "2:0+8 3:0+8");
    close_opened(&a);
    close_opened(&o);
}

/* What a node computes with and what it delivers are layouts of their own: between them the backend
 * communicates. covers: A.042 C.005 */
Test(mesh, a_tensor_may_lie_differently_at_its_writer_and_its_reader)
{
    opened o = megatron_model(), a = annotated(&o);
    clv_annotation_set set = annotations_of(&a);
    cr_expect_eq(spec_of(&set, 1, "r")->device[0], 0);
    cr_expect_eq(spec_of(&set, 2, "r")->device[0], 2);
    cr_expect_eq(spec_of(&set, 2, "r")->n_dims, 1);
    cr_expect_eq(spec_of(&set, 2, "z")->n_dims, 0);
    close_opened(&a);
    close_opened(&o);
}

/* covers: A.023 A.024 A.027 */
Test(mesh, a_node_without_specs_has_copies_on_its_mesh)
{
    opened o = megatron_model(), a = annotated(&o);
    clv_annotation_set set = annotations_of(&a);
    cr_assert_eq(set.nodes[3].note.n_specs, 2, "z once, and y");
    for (int32_t i = 0; i < 2; i++) {
        const clv_sharding_spec *spec = &set.nodes[3].note.specs[i];
        cr_assert_eq(spec->n_device, 1);
        cr_expect_eq(spec->device[0], -1);
        cr_assert_eq(spec->n_groups, 1);
        cr_expect_eq(spec->groups[0].key, -1);
        cr_assert_eq(spec->groups[0].n_devices, 2);
        cr_expect_eq(spec->groups[0].devices[0], 2);
        cr_expect_eq(spec->groups[0].devices[1], 3);
        cr_expect_eq(spec->n_dims, 0);
    }
    close_opened(&a);
    close_opened(&o);
}

/* Entries in bodies too. */
Test(mesh, nodes_in_bodies_have_copies_on_the_mesh)
{
    test_onnx *m = onnx_new(11, 17);
    test_graph *g = onnx_main(m), *body = onnx_body(m, "then"), *other = onnx_body(m, "else");
    onnx_input(g, "c", 9, "");
    onnx_input(g, "x", FLOAT, "4");
    onnx_node(body, "Relu", "in_body", "x", "b");
    onnx_output(body, "b", FLOAT, "4");
    onnx_node(other, "Neg", "in_other", "x", "e");
    onnx_output(other, "e", FLOAT, "4");
    test_node *branch = onnx_node(g, "If", "if", "c", "y");
    onnx_attr_graph(g, branch, "then_branch", body);
    onnx_attr_graph(g, branch, "else_branch", other);
    onnx_output(g, "y", FLOAT, "4");
    opened o = open_built(m);
    make_mesh(&o, 1);
    opened a = annotated(&o);
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, a.n, a.bytes);
    cr_assert_not_null(model);
    const Onnx__NodeProto *inner = model->graph->node[0]->attribute[0]->g->node[0];
    cr_assert_eq(inner->n_device_configurations, 1);
    const Onnx__ShardingSpecProto *spec = inner->device_configurations[0]->sharding_spec[0];
    cr_assert_eq(spec->n_index_to_device_group_map, 1);
    cr_expect_eq(spec->index_to_device_group_map[0]->n_value, 2);
    onnx__model_proto__free_unpacked(model, NULL);
    close_opened(&a);
    close_opened(&o);
}

static const char *metadata_of(const Onnx__ModelProto *model, const char *key)
{
    for (size_t i = 0; i < model->n_metadata_props; i++)
        if (strcmp(model->metadata_props[i]->key, key) == 0)
            return model->metadata_props[i]->value;
    return NULL;
}

/* covers: A.021 A.029 A.038 */
Test(mesh, the_configuration_has_all_devices_and_the_metadata_what_specs_cannot_say)
{
    static const clv_plan_uneven uneven[] = { { "w1", 1, "4, 2" } };
    static const clv_plan_partial partial[] = { { "z", "{-, -} sum(tp)" } };
    opened o = megatron_model();
    o.plan->uneven = uneven;
    o.plan->partial = partial;
    o.plan->n_uneven = o.plan->n_partial = 1;
    opened a = annotated(&o);
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, a.n, a.bytes);
    cr_assert_not_null(model);
    cr_expect_eq(model->ir_version, 11);
    cr_assert_eq(model->n_configuration, 1);
    cr_expect_eq(model->configuration[0]->num_devices, 4);
    cr_assert_eq(model->configuration[0]->n_device, 4);
    cr_expect_str_eq(model->configuration[0]->device[3], "gpu3");
    cr_expect_str_eq(metadata_of(model, "author"), "somebody");
    cr_expect_str_eq(metadata_of(model, "cleave.mesh"),
                     "{\"mesh\":{\"axes\":[{\"name\":\"tp\",\"size\":2}],\"devices\":[[0, 1],[2, "
                     "3]]}}");
    cr_expect_str_eq(metadata_of(model, "cleave.uneven"),
                     "[{\"tensor\":\"w1\",\"axis\":1,\"sizes\":\"4, 2\"}]");
    cr_expect_str_eq(metadata_of(model, "cleave.partial"),
                     "[{\"tensor\":\"z\",\"layout\":\"{-, -} sum(tp)\"}]");
    onnx__model_proto__free_unpacked(model, NULL);
    close_opened(&a);
    close_opened(&o);
}

/* Each time the old annotation goes, notes about meshes too. covers: A.007 */
Test(mesh, annotating_again_replaces_all_of_it)
{
    opened o = megatron_model(), a = annotated(&o);
    memory again = { 0 }, plain = { 0 };
    clv_sink to_again = memory_sink(&again), to_plain = memory_sink(&plain);
    clv_error err = { CLV_OK, "" };

    make_mesh(&a, 2);
    give_notes(&a, megatron(), 3);
    cr_assert_eq(clv_onnx_annotate(&(clv_onnx_model){ a.file, a.model }, a.plan, true, &to_again,
                                   a.arena, &err),
                 CLV_OK, "%s", err.message);
    cr_expect(again.n == a.n && memcmp(again.bytes, a.bytes, a.n) == 0);
    /* without a mesh: as if there had never been one */
    clv_plan *whole = plan_in_turn(o.model, 2, o.arena);
    memory direct = { 0 };
    clv_sink to_direct = memory_sink(&direct);
    cr_assert_eq(clv_onnx_annotate(&(clv_onnx_model){ a.file, a.model }, whole, true, &to_plain,
                                   a.arena, &err),
                 CLV_OK);
    cr_assert_eq(clv_onnx_annotate(&(clv_onnx_model){ o.file, o.model }, whole, true, &to_direct,
                                   o.arena, &err),
                 CLV_OK);
    cr_expect(plain.n == direct.n && memcmp(plain.bytes, direct.bytes, plain.n) == 0);
    free(again.bytes);
    free(plain.bytes);
    free(direct.bytes);
    close_opened(&a);
    close_opened(&o);
}

/* The file of another tool ends as ours do; its fields stay. */
Test(mesh, fields_of_others_that_look_like_ours_stay)
{
    test_onnx *m = onnx_new(11, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", FLOAT, "4");
    onnx_node(g, "Relu", "a", "x", "h");
    onnx_node(g, "Relu", "b", "h", "y");
    onnx_output(g, "y", FLOAT, "4");
    onnx_metadata(m, "cleave.mesh", "mine");
    onnx_configuration(m, "cleave", 2, "");
    opened o = open_built(m);
    make_mesh(&o, 1);
    opened a = annotated(&o); /* and stripped to the same bytes */
    close_opened(&a);
    close_opened(&o);
}

/* A file that was changed is not given back as if it were the original; with `all` notes go too. */
Test(mesh, a_changed_file_loses_its_notes_with_all)
{
    opened o = megatron_model(), a = annotated(&o);
    static const uint8_t unknown[] = { 0xfa, 0x3f, 0x01, 'x' }; /* field 1023, one byte */
    uint8_t *longer = malloc(a.n + sizeof unknown);
    memory out = { 0 };
    clv_sink sink = memory_sink(&out);
    clv_error err = { CLV_OK, "" };
    clv_onnx_file *file;

    cr_assert_not_null(longer);
    memcpy(longer, a.bytes, a.n);
    memcpy(longer + a.n, unknown, sizeof unknown);
    cr_assert_eq(clv_onnx_open_bytes(longer, a.n + sizeof unknown, NULL, NULL, &file, &err),
                 CLV_OK);
    cr_expect_neq(clv_onnx_strip(file, false, &sink, a.arena, &err), CLV_OK);
    cr_expect_eq(out.n, 0);
    cr_assert_eq(clv_onnx_strip(file, true, &sink, a.arena, &err), CLV_OK, "%s", err.message);
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, out.n, out.bytes);
    cr_assert_not_null(model);
    cr_expect_eq(model->n_configuration, 0);
    cr_expect_eq(model->n_metadata_props, 1, "the author's");
    onnx__model_proto__free_unpacked(model, NULL);
    clv_onnx_close(file);
    free(longer);
    free(out.bytes);
    close_opened(&a);
    close_opened(&o);
}

/* A dimension that a reshape fused, split by its inner factor: both factors are written, and the
 * parts are strided. covers: A.015 A.018 A.025 A.028 A.034 */
Test(mesh, fused_axes_and_mixed_groups_are_written_as_they_are)
{
    opened o = two_matmuls();
    static const clv_simple_sharding factors[] = { { 4, NULL, 1 }, { 2, NULL, 2 } };
    static const clv_sharded_dim fused = { 0, factors, 2 };
    static const int64_t group[] = { 0 };
    static const clv_device_group one[] = { { -5, group, 1 } };
    static const int64_t mixed[] = { -5, 1 };
    static clv_sharding_spec specs[2];
    static clv_plan_annotation note;
    clv_error err = { CLV_OK, "" };

    specs[0] = split("w1", first_pair, &fused);
    specs[1] = split("h", mixed, &on_columns);
    specs[1].groups = one;
    specs[1].n_groups = 1;
    note = (clv_plan_annotation){ .file_index = 0, .note = { .specs = specs, .n_specs = 2 } };
    make_mesh(&o, 2);
    give_notes(&o, &note, 1);
    cr_assert_eq(clv_plan_check(o.plan, o.model->main, o.arena, &err), CLV_OK, "%s", err.message);
    opened a = annotated(&o);
    clv_annotation_set set = annotations_of(&a);
    const clv_sharding_spec *w = spec_of(&set, 0, "w1"), *h = spec_of(&set, 0, "h");
    cr_assert_eq(w->dims[0].n_simple, 2);
    cr_expect_eq(w->dims[0].simple[0].dim, 4);
    cr_expect_eq(w->dims[0].simple[1].num_shards, 2);
    cr_assert_eq(h->n_device, 2);
    cr_expect_eq(h->device[0], -5);
    cr_expect_eq(h->device[1], 1);
    cr_expect_str_eq(parts_of(&a, h, (const int64_t[]){ 2, 6 }, 1), "0:0+3 1:3+3");
    close_opened(&a);
    close_opened(&o);
}
