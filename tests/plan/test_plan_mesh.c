/* test_plan_mesh.c - plans whose stages are meshes: their file, and what is wrong with one. */
#include "plan/plan_mesh.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "plan/mesh_plan.h"
#include "plan/plan_check.h"
#include "plan/plan_json_write_mesh.h"
#include "plan/plan_text.h"
#include "support/line_model.h"

static clv_arena *arena;
static mesh_plan m;

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    mesh_plan_init(&m);
}

static void tear_down(void) { clv_arena_free(arena); }

TestSuite(plan_mesh, .init = set_up, .fini = tear_down);

static const char *write(const clv_plan *plan) { return text_of_plan(arena, plan); }
static clv_plan *read(const char *text) { return plan_of_text(arena, text); }

/* -- the file -- */

/* covers: C.005 */
Test(plan_mesh, the_file_gives_back_every_field)
{
    const clv_plan *back = read(write(&m.plan));

    cr_assert_eq(back->n_axes, 2);
    cr_expect_str_eq(back->axes[1].name, "tp");
    cr_expect_eq(back->axes[0].size, 2);
    cr_expect_eq(back->mesh_devices, 4);
    cr_assert_eq(back->n_meshes, 2);
    cr_expect_arr_eq(back->mesh_device, m.order, sizeof m.order);
    cr_expect_arr_eq(back->lead_of_device, m.lead, sizeof m.lead);
    for (int i = 0; i < MESH_PLAN_OPS; i++)
        cr_expect_str_eq(back->split_of_op[i], m.split[i]);
    cr_assert_eq(back->n_collectives, 3);
    cr_expect_str_eq(back->collectives[0].kind, "all-reduce");
    cr_expect_str_eq(back->collectives[0].axes, "tp");
    cr_expect_str_eq(back->collectives[0].tensor, "y");
    cr_expect_null(back->collectives[0].reader);
    cr_expect_str_eq(back->collectives[0].from, "{dp, -} sum(tp)");
    cr_expect_str_eq(back->collectives[1].reader, "fc");
    cr_expect_eq(back->collectives[1].stage, 1);
    cr_expect_eq(back->collectives[1].bytes, 64);
    cr_expect_eq(back->collectives[1].ns, 900);
    cr_expect_null(back->collectives[2].from);
    cr_assert_eq(back->n_found, 2);
    cr_expect_str_eq(back->found[0].name, "Megatron row");
    cr_expect_str_eq(back->found[0].axes, "tp");
    cr_expect_eq(back->found[0].n, 2);
    cr_expect_str_eq(back->found[1].axes, "");
    cr_assert_eq(back->n_uneven, 1);
    cr_expect_str_eq(back->uneven[0].sizes, "4, 3");
    cr_expect_eq(back->uneven[0].dim, 1);
    cr_assert_eq(back->n_partial, 1);
    cr_expect_str_eq(back->partial[0].layout, "{dp, -} sum(tp)");
}

Test(plan_mesh, written_read_and_written_again_is_the_same_file)
{
    const char *text = write(&m.plan);
    cr_expect_str_eq(write(read(text)), text);
}

Test(plan_mesh, a_plan_without_one_says_nothing_of_meshes)
{
    m.plan.n_axes = m.plan.mesh_devices = m.plan.n_meshes = 0;
    m.plan.split_of_op = NULL;
    m.plan.n_collectives = m.plan.n_uneven = m.plan.n_partial = 0;
    m.plan.found = NULL;
    for (int d = 1; d < 8; d++) {
        m.devices[d].stage = d == 4;
        if (d != 4)
            m.devices[d].n_ops = 0, m.devices[d].stage = -1;
    }
    const char *text = write(&m.plan);
    const clv_plan *back = read(text);
    cr_expect(!strstr(text, "mesh") && !strstr(text, "split") && !strstr(text, "collectives"));
    cr_expect_eq(back->n_axes, 0);
    cr_expect_eq(back->mesh_devices, 0);
    cr_expect_null(back->split_of_op);
}

/* The written plan with the first `from` replaced. */
static const char *edited(const char *from, const char *to)
{
    const char *text = write(&m.plan), *at = strstr(text, from);
    cr_assert(at, "no '%s' in:\n%s", from, text);
    return clv_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void refuses(const char *from, const char *to, const char *says)
{
    const char *text = edited(from, to);
    clv_plan *plan = NULL;
    clv_error err = { 0 };
    cr_assert_eq(clv_plan_read(text, strlen(text), "p.json", arena, &plan, &err), CLV_EFORMAT,
                 "for %s", to);
    cr_expect(strstr(err.message, says), "expected '%s', said: %s", says, err.message);
}

Test(plan_mesh, a_wrong_mesh_is_refused_with_its_place)
{
    refuses("\"size\": 2", "\"size\": 3", "mesh.devices[0]: has 4 devices, expected 6");
    refuses("\"size\": 2", "\"size\": 0", "mesh.axes[0].size");
    refuses("\"size\": 2", "\"size\": 5", "mesh.axes: make a mesh of more than the 8 devices");
    refuses("\"name\": \"tp\"", "\"name\": \"dp\"", "two axes of the mesh are named 'dp'");
    refuses("\"name\": \"tp\"", "\"name\": \"a b\"",
            "has the name 'a b', expected 1 to 40 letters");
    refuses("\"name\": \"tp\"", "\"name\": \"\"", "has the name ''");
    refuses("4, 6, 5, 7", "4, 6, 5, 3", "mesh.devices[1][3]: device 3 is in a mesh already");
    refuses("4, 6, 5, 7", "4, 6, 5", "mesh.devices[1]: has 3 devices, expected 4");
    refuses("4, 6, 5, 7", "4, 6, 5, 8", "mesh.devices[1][3]");
    refuses("\"stage\": 1", "\"stage\": 0", "device 5 has stage 1, expected 0");
    refuses("\"axes\": [", "\"more\": 1, \"axes\": [", "more");
}

Test(plan_mesh, devices_outside_of_meshes_are_unused)
{
    refuses("[0, 2, 1, 3],", "", "device 0 has stage 0, expected -1 as it is in no mesh");
}

Test(plan_mesh, operators_are_on_the_first_device_of_a_mesh)
{
    refuses("[0,3]", "[2,3]",
            "operators.device_runs[0][0]: device 2 is not the first of its mesh, expected 0");
    refuses("\"operators\": 3", "\"operators\": 4", "devices[0].operators: is 4");
}

Test(plan_mesh, wrong_splits_are_refused_with_their_place)
{
    refuses("dp=b tp=n", "dp=b ep=n", "operators.split_runs[0][0]: 'dp=b ep=n' names 'ep'");
    refuses("dp=b tp=n", "tp=n dp=b", "out of order");
    refuses("dp=b tp=n", "dp=b dp=n", "twice");
    refuses("dp=b tp=n", "dp= tp=n", "names no factor for axis 'dp'");
    refuses("dp=b tp=n", "dp=b tp", "names no factor for axis 'tp'");
    refuses("dp=b tp=n", "dp=b  tp=n", "names ''");
    refuses("dp=b tp=n", "dp=b ", "names no factor");
    refuses("[\"dp=b tp=n\",2]", "[\"dp=b tp=n\",1]",
            "split_runs: the runs hold 4 operators, 'count' says 5");
    refuses("[\"dp=b tp=n\",2]", "[\"dp=b tp=n\",9]", "split_runs[0]: the runs hold 9");
    refuses("[\"dp=b tp=n\",2]", "[\"dp=b tp=n\"]", "a run is [split, count]");
}

Test(plan_mesh, wrong_collectives_are_refused_with_their_place)
{
    refuses("\"all-reduce\"", "\"shout\"", "collectives[0].kind: 'shout' is no collective");
    refuses("\"axes\": \"tp\"", "\"axes\": \"\"", "collectives[0].axes: '' names ''");
    refuses("\"axes\": \"tp\"", "\"axes\": \"tp,dp\"", "out of order");
    refuses("\"axes\": \"tp\"", "\"axes\": \"dp,tp,\"", "names ''");
    refuses("\"tensor\": \"y\"", "\"tensors\": \"y\"", "collectives[0]");
    refuses("\"bytes\": 4096", "\"bytes\": -1", "collectives[0].bytes");
}

Test(plan_mesh, splits_and_collectives_need_a_mesh)
{
    const char *text = write(&m.plan);
    const char *from = strstr(text, "  \"mesh\""), *to = strstr(text, "  \"operators\": {");
    const char *cut = clv_arena_printf(arena, "%.*s%s", (int)(from - text), text, to);
    clv_plan *plan = NULL;
    clv_error err = { 0 };
    cr_assert_eq(clv_plan_read(cut, strlen(cut), "p.json", arena, &plan, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, "no mesh"), "%s", err.message);
}

/* -- words -- */

Test(plan_mesh, shows_its_form_as_the_option_takes_it)
{
    cr_expect_str_eq(clv_plan_mesh_text(&m.plan, arena), "dp=2xtp=2");
    m.plan.n_axes = 0;
    cr_expect_str_eq(clv_plan_mesh_text(&m.plan, arena), "");
}

/* An axis whose name begins another's. */
Test(plan_mesh, names_of_axes_are_whole_words)
{
    char buf[CLV_MESH_FAULT];
    m.axes[0].name = "t";
    cr_expect_null(clv_plan_split_fault(&m.plan, "tp=n", buf));
    cr_expect_null(clv_plan_split_fault(&m.plan, "t=a tp=n", buf));
    cr_expect_null(clv_plan_axes_fault(&m.plan, "t,tp", buf));
    cr_expect_not_null(clv_plan_axes_fault(&m.plan, "tpx", buf));
}

Test(plan_mesh, notes_for_a_model_are_json_on_one_line)
{
    const char *mesh, *uneven, *partial;
    clv_error err;
    cr_assert_eq(clv_plan_mesh_json(&m.plan, arena, &mesh, &err), CLV_OK);
    cr_assert_eq(clv_plan_uneven_json(&m.plan, arena, &uneven, &err), CLV_OK);
    cr_assert_eq(clv_plan_partial_json(&m.plan, arena, &partial, &err), CLV_OK);
    cr_expect_str_eq(mesh, "{\"mesh\":{\"axes\":[{\"name\":\"dp\",\"size\":2},{\"name\":\"tp\","
                           "\"size\":2}],\"devices\":[[0, 2, 1, 3],[4, 6, 5, 7]]}}");
    cr_expect_str_eq(uneven, "[{\"tensor\":\"w\",\"axis\":1,\"sizes\":\"4, 3\"}]");
    cr_expect_str_eq(partial, "[{\"tensor\":\"y\",\"layout\":\"{dp, -} sum(tp)\"}]");
    m.plan.n_axes = m.plan.n_uneven = m.plan.n_partial = 0;
    cr_assert_eq(clv_plan_mesh_json(&m.plan, arena, &mesh, &err), CLV_OK);
    cr_assert_eq(clv_plan_uneven_json(&m.plan, arena, &uneven, &err), CLV_OK);
    cr_assert_eq(clv_plan_partial_json(&m.plan, arena, &partial, &err), CLV_OK);
    cr_expect(!mesh && !uneven && !partial);
}

/* -- the check -- */

static const char *const chain[] = { "in x",     "Relu x a", "Relu a b", "Relu b c",
                                     "Relu c d", "Relu d e", "out e",    NULL };

static void check_says(const char *says)
{
    clv_error err = { 0 };
    clv_status status = clv_plan_check(&m.plan, line_model(arena, chain)->main, arena, &err);
    cr_assert_eq(status, says ? CLV_EFORMAT : CLV_OK, "said: %s", err.message);
    cr_expect(!says || strstr(err.message, says), "expected '%s', said: %s", says, err.message);
}

/* covers: A.002 A.003 A.004 */
Test(plan_mesh, a_right_plan_passes) { check_says(NULL); }

Test(plan_mesh, each_device_of_a_mesh_counts_its_operators)
{
    m.devices[3].n_ops = 0;
    check_says("device 'd3' says it has 0 operators, the plan gives it 3");
}

Test(plan_mesh, meshes_have_the_product_of_their_axes)
{
    m.axes[0].size = 3;
    check_says("a mesh has 4 devices, expected 6, the product of its axes");
    m.axes[0].size = 0;
    check_says("axis 'dp' of the mesh has size 0");
    m.plan.n_axes = 4;
    check_says("the mesh has 4 axes, expected 1 to 3");
}

Test(plan_mesh, meshes_are_disjoint_and_of_devices_that_exist)
{
    m.order[5] = 1;
    check_says("device 'd1' is in a mesh twice");
    m.order[5] = 8;
    check_says("mesh 1 has device 8, there are 8");
    m.plan.n_meshes = 3;
    check_says("3 meshes of 4 devices, but 8 devices");
}

Test(plan_mesh, leads_are_those_of_the_meshes)
{
    m.lead[3] = 4;
    check_says("device 'd3' is not counted to the mesh that it is in");
}

Test(plan_mesh, devices_of_a_mesh_are_of_one_stage)
{
    m.devices[6].stage = 0;
    check_says("device 'd6' has stage 0, but 'd4' of the same mesh has stage 1");
}

Test(plan_mesh, nodes_are_on_leads)
{
    m.device_of[1] = 2;
    check_says("node 1 is on device 'd2', which is not the first of a mesh");
}

Test(plan_mesh, splits_and_collectives_are_along_axes_of_the_mesh)
{
    m.split[4] = "ep=k";
    check_says("the split of node 4: 'ep=k' names 'ep', which is no axis of the mesh");
    m.split[4] = NULL;
    m.collectives[2].axes = "ep";
    check_says("collective 2: 'ep' names 'ep'");
    m.collectives[2].axes = "tp";
    m.collectives[2].stage = 2;
    check_says("collective 2 is in stage 2, there are 2");
}

Test(plan_mesh, without_axes_there_is_no_mesh)
{
    m.plan.n_axes = 0;
    check_says("its mesh has no axes");
}

/* A copy on every device of a mesh, as a group.
 * covers: A.023 A.024 */
Test(plan_mesh, specs_are_on_devices_of_the_operators_mesh)
{
    int64_t keys[] = { -1 }, group[] = { 4, 6, 5, 7 }, plain[] = { 4, 5 };
    clv_device_group groups[] = { { -1, group, 4 } };
    clv_sharding_spec spec = {
        .tensor = "d", .device = keys, .n_device = 1, .groups = groups, .n_groups = 1
    };
    clv_plan_annotation note = { .file_index = 3, .note = { .specs = &spec, .n_specs = 1 } };

    m.plan.annotations = &note;
    m.plan.n_annotations = 1;
    check_says(NULL);
    group[3] = 3;
    check_says("operator 'd': 'd' is on device 3, which is not of the operator's mesh, whose first "
               "is 'd4'");
    spec = (clv_sharding_spec){ .tensor = "d", .device = plain, .n_device = 2 };
    check_says(NULL);
    note.file_index = 2;
    spec.tensor = "c";
    check_says("'c' is on device 4");
}
