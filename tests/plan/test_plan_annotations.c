/* test_plan_annotations.c - specs by hand in a plan: read, written, looked up, checked. */
#include "plan/plan_annotations.h"

#include <criterion/criterion.h>

#include "plan/plan_check.h"
#include "plan/plan_text.h"
#include "support/line_model.h"

static clv_arena *arena;
static clv_graph *graph;

/*   x[4], w[4,8] -> MatMul "mm" -> y, "" -> Clip "act" -> z      in the file: act, mm */
static const char *const lines[] = { "in x 4", "w w 4 8",         "act=Clip y - z",
                                     "out z",  "mm=MatMul x w y", NULL };

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    graph = line_model(arena, lines)->main;
}

static void tear_down(void) { clv_arena_free(arena); }

TestSuite(plan_annotations, .init = set_up, .fini = tear_down);

#define HEAD                                                                                       \
    "{\"schema_version\":1,\"fingerprint\":\"00000000000000ff\",\"objective\":\"latency\","        \
    "\"configuration\":\"tp\",\"outcome\":\"fits\",\"stages\":1,"                                  \
    "\"operators\":{\"count\":2,\"device_runs\":[[0,2]]},"                                         \
    "\"devices\":[{\"name\":\"a\",\"stage\":0},{\"name\":\"b\",\"stage\":-1},"                     \
    "{\"name\":\"c\",\"stage\":-1},{\"name\":\"d\",\"stage\":-1}],\"annotations\":"
#define SPLIT "\"sharded_dim\":[{\"axis\":0,\"simple_sharding\":[{\"num_shards\":2}]}]"
#define GOOD                                                                                       \
    "[{\"node\":\"mm\",\"stage\":1,\"specs\":[{\"tensor\":\"w\",\"device\":[-1,-2],"               \
    "\"index_to_device_group_map\":{\"-1\":[0,1],\"-2\":[2,3]}," SPLIT "},"                        \
    "{\"tensor\":\"y\",\"device\":[3]}]},{\"node\":0,\"specs\":[]}]"

static clv_plan *read(const char *annotations)
{
    return plan_of_text(arena, clv_arena_printf(arena, HEAD "%s}", annotations));
}

static clv_plan *resolved(const char *annotations)
{
    clv_plan *plan = read(annotations);
    clv_error err;
    cr_assert_eq(clv_plan_find_nodes(plan, graph, arena, &err), CLV_OK, "%s", err.message);
    return plan;
}

static char *write(const clv_plan *plan)
{
    return clv_arena_printf(arena, "%s", text_of_plan(arena, plan));
}

/* covers: A.002 A.004 A.008 A.009 A.025 */
Test(plan_annotations, a_node_has_specs_and_a_stage_at_once)
{
    clv_plan *plan = resolved(GOOD);
    clv_error err = { .message = "" };

    cr_assert_eq(plan->n_annotations, 2);
    cr_assert_eq(plan->annotations[0].file_index, 0, "sorted by the position in the file");
    cr_assert_not(plan->annotations[0].note.has_stage, "absent is not stage 0");
    cr_assert_eq(plan->annotations[1].file_index, 1);
    const clv_node_annotation *note = &plan->annotations[1].note;
    cr_assert(note->has_stage);
    cr_assert_eq(note->stage, 1);
    cr_assert_str_eq(note->configuration, "tp");
    cr_assert_eq(note->n_specs, 2);
    const clv_sharding_spec *spec = &note->specs[0];
    cr_assert_str_eq(spec->tensor, "w");
    cr_assert_arr_eq(spec->device, ((int64_t[]){ -1, -2 }), 16);
    cr_assert_eq(spec->n_groups, 2);
    cr_assert_eq(spec->groups[1].key, -2);
    cr_assert_arr_eq(spec->groups[1].devices, ((int64_t[]){ 2, 3 }), 16);
    cr_assert_eq(spec->dims[0].simple[0].num_shards, 2);
    cr_assert_eq(clv_plan_check(plan, graph, arena, &err), CLV_OK, "%s", err.message);
}

/* What the plan file has of annotations. */
static char *written(const char *annotations)
{
    char *from = strstr(write(resolved(annotations)), "\"annotations\"");
    cr_assert_not_null(from);
    *strstr(from, "\"devices\"") = '\0';
    return from;
}

/* covers: A.008 */
Test(plan_annotations, stage_0_is_written_and_no_stage_is_not)
{
    cr_assert(strstr(written("[{\"node\":0,\"stage\":0,\"specs\":[]}]"), "\"stage\": 0"));
    cr_assert_not(strstr(written("[{\"node\":0,\"specs\":[]}]"), "stage"));
}

Test(plan_annotations, written_read_and_written_again_is_the_same_bytes)
{
    const char *all =
        "[{\"node\":1,\"specs\":[{\"tensor\":\"w\",\"device\":[0,1,2,3],\"sharded_dim\":["
        "{\"axis\":-1,\"simple_sharding\":[{\"dim_value\":2,\"num_shards\":2},"
        "{\"dim_param\":\"heads\",\"num_shards\":2}]}]}]},{\"node\":\"act\",\"specs\":[]}]";
    clv_plan *plan = resolved(all), *back = NULL;
    const char *first = write(plan);

    cr_assert_eq(clv_plan_read(first, strlen(first), "p.json", arena, &back, NULL), CLV_OK);
    cr_assert_eq(clv_plan_find_nodes(back, graph, arena, NULL), CLV_OK);
    cr_assert_str_eq(write(back), first);
    cr_assert(strstr(first, "\"dim_param\": \"heads\""), "%s", first);
    cr_assert(strstr(first, "\"dim_value\": 2"), "%s", first);
}

/* covers: A.016 A.017 A.034 */
Test(plan_annotations, axes_and_factors_are_read_in_their_order)
{
    clv_plan *plan =
        resolved("[{\"node\":1,\"specs\":[{\"tensor\":\"w\",\"device\":[0,1,2,3],\"sharded_dim\":["
                 "{\"axis\":1,\"simple_sharding\":[{\"dim_value\":4,\"num_shards\":1},"
                 "{\"dim_value\":2,\"num_shards\":2}]},"
                 "{\"axis\":0,\"simple_sharding\":[{\"num_shards\":2}]}]}]}]");
    const clv_sharding_spec *spec = &plan->annotations[0].note.specs[0];
    cr_assert_eq(spec->n_dims, 2);
    cr_assert(spec->dims[0].axis == 1 && spec->dims[1].axis == 0);
    cr_assert(spec->dims[0].simple[0].dim == 4 && spec->dims[0].simple[1].dim == 2);
}

#define SHARDED(axis, factors)                                                                     \
    "\"sharded_dim\":[{\"axis\":" axis ",\"simple_sharding\":[" factors "]}]"

/* Each is as the writer has it, without the spaces and ends of lines that are there for people.
 * covers: A.012 A.016 A.017 A.023 A.024 A.025 A.027 A.028 A.032 A.033 A.034 A.035 A.036 */
Test(plan_annotations, a_spec_of_any_form_is_written_as_it_was_read)
{
    static const char *const specs[] = {
        "[0,1]," SHARDED("0", "{\"num_shards\":2}"),
        "[0,1]," SHARDED("-1", "{\"num_shards\":2,\"dim_value\":8}"),
        "[0,1]," SHARDED("1", "{\"num_shards\":2,\"dim_param\":\"a\"},{\"num_shards\":1}"),
        "[3,1,2,0],\"sharded_dim\":[{\"axis\":1,\"simple_sharding\":[{\"num_shards\":2}]},"
        "{\"axis\":0,\"simple_sharding\":[{\"num_shards\":2}]}]",
        "[0,1],\"sharded_dim\":[]",
        "[-1],\"index_to_device_group_map\":{\"-1\":[0,1]},\"sharded_dim\":[]",
        "[-1,-2],\"index_to_device_group_map\":{\"-1\":[0,1],\"-2\":[2,3]}," SHARDED(
            "0", "{\"num_shards\":2}"),
        "[7,3,-1],\"index_to_device_group_map\":{\"7\":[2],\"-1\":[0,1,3]}," SHARDED(
            "0", "{\"num_shards\":3}"),
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        const char *text = clv_arena_printf(
            arena, "[{\"node\":1,\"specs\":[{\"tensor\":\"w\",\"device\":%s}]}]", specs[i]);
        char *got = written(text);
        size_t n = 0;
        for (const char *c = got; *c; c++)
            if (*c != ' ' && *c != '\n')
                got[n++] = *c;
        got[n] = '\0';
        cr_expect_str_eq(got, clv_arena_printf(arena, "\"annotations\":%s,", text));
    }
}

Test(plan_annotations, a_plan_without_any_does_not_speak_of_them)
{
    clv_plan *plan = resolved("[]");
    cr_assert_not(strstr(write(plan), "annotations"));
    cr_assert_eq(clv_plan_check(plan, graph, arena, NULL), CLV_OK);
}

/* covers: A.010 A.023 */
Test(plan_annotations, the_proposals_spellings_are_read_and_the_protos_are_written)
{
    clv_plan *plan = resolved(
        "[{\"node\":\"mm\",\"type\":\"NodeConfigurationProto\",\"specs\":[{\"tensor\":\"w\","
        "\"device\":[-1],\"device_map\":{\"-1\":[0,1]}}]}]");
    cr_assert_eq(plan->annotations[0].note.specs[0].groups[0].n_devices, 2);
    cr_assert(strstr(write(plan), "\"index_to_device_group_map\""));
    cr_assert_not(strstr(write(plan), "\"device_map\""));
    plan = resolved("[{\"node\":\"mm\",\"specs\":[{\"tensor\":\"w\",\"device\":[-1],"
                    "\"index_to_device_group_map\":{\"-1\":[0,1]}}]}]");
    cr_assert_eq(plan->annotations[0].note.specs[0].groups[0].n_devices, 2);
    resolved("[{\"node\":0,\"type\":\"NodeDeviceConfigurationProto\",\"specs\":[]}]");
}

/* -- what is wrong in the file -- */

typedef struct {
    const char *text, *says;
} bad;

#define NODE(specs) "[{\"node\":\"mm\",\"specs\":[" specs "]}]"

static const bad bad_files[] = {
    { "{}", "annotations is an object, expected an array" },
    { "[{\"specs\":[]}]", "annotations[0] has no key 'node'" },
    { "[{\"node\":2,\"specs\":[]}]", "annotations[0].node is 2" },
    { "[{\"node\":-1,\"specs\":[]}]", "annotations[0].node" },
    { "[{\"node\":0}]", "no key 'specs'" },
    { "[{\"node\":0,\"specs\":[],\"stage\":-1}]", "annotations[0].stage" },
    { "[{\"node\":0,\"specs\":[],\"stage\":2147483648}]", "annotations[0].stage" },
    { "[{\"node\":0,\"specs\":[],\"type\":\"NodeProto\"}]", "annotations[0].type" },
    { "[{\"node\":0,\"specs\":[],\"colour\":1}]", "colour" },
    { NODE("{\"device\":[0]}"), "no key 'tensor'" },
    { NODE("{\"tensor\":\"w\"}"), "no key 'device'" },
    { NODE("{\"tensor\":\"w\",\"device\":[0.5]}"), "specs[0].device[0]" },
    { NODE("{\"tensor\":\"w\",\"device\":[-1],\"device_map\":[[0]]}"), "device_map is no object" },
    { NODE("{\"tensor\":\"w\",\"device\":[-1],\"device_map\":{\"a\":[0]}}"), "device_map.a" },
    { NODE("{\"tensor\":\"w\",\"device\":[-1],\"device_map\":{\"-1\":0}}"), "device_map.-1" },
    { NODE("{\"tensor\":\"w\",\"device\":[-1],\"device_map\":{},"
           "\"index_to_device_group_map\":{}}"),
      "which are the same" },
    { NODE("{\"tensor\":\"w\",\"device\":[0],\"sharded_dim\":[{\"axis\":0}]}"),
      "sharded_dim[0] has no key 'simple_sharding'" },
    { NODE("{\"tensor\":\"w\",\"device\":[0],\"sharded_dim\":[{\"axis\":99,"
           "\"simple_sharding\":[]}]}"),
      "sharded_dim[0].axis" },
    { NODE("{\"tensor\":\"w\",\"device\":[0],\"sharded_dim\":[{\"axis\":0,"
           "\"simple_sharding\":[{\"num_shards\":0}]}]}"),
      "simple_sharding[0].num_shards" },
    { NODE("{\"tensor\":\"w\",\"device\":[0],\"sharded_dim\":[{\"axis\":0,\"simple_sharding\":["
           "{\"num_shards\":1,\"dim_value\":4,\"dim_param\":\"n\"}]}]}"),
      "expected one of them" },
};

/* covers: A.033 A.035 */
Test(plan_annotations, reports_what_is_wrong_in_the_file_and_where)
{
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        clv_plan *plan = NULL;
        clv_error err = { .message = "" };
        const char *text = clv_arena_printf(arena, HEAD "%s}", bad_files[i].text);
        cr_expect_eq(clv_plan_read(text, strlen(text), "p.json", arena, &plan, &err), CLV_EFORMAT,
                     "%zu: %s", i, bad_files[i].text);
        cr_expect(strstr(err.message, "p.json: annotations"), "%zu said: %s", i, err.message);
        cr_expect(strstr(err.message, bad_files[i].says), "%zu said: %s", i, err.message);
    }
}

/* -- what is wrong for the model -- */

Test(plan_annotations, a_node_that_is_not_there_or_there_twice_is_refused)
{
    clv_error err = { .message = "" };
    clv_plan *plan = read("[{\"node\":\"nothing\",\"specs\":[]}]");
    cr_assert_eq(clv_plan_find_nodes(plan, graph, arena, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "'nothing'"), "%s", err.message);
    plan = read("[{\"node\":1,\"specs\":[]},{\"node\":\"mm\",\"specs\":[]}]");
    cr_assert_eq(clv_plan_find_nodes(plan, graph, arena, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "twice"), "%s", err.message);
    plan = read("[{\"node\":\"mm\",\"specs\":[]}]");
    cr_assert_eq(clv_plan_check(plan, graph, arena, &err), CLV_EFORMAT, "not looked up yet");
    cr_assert(strstr(err.message, "annotation 0 of the plan is for node -1"), "%s", err.message);
}

/* covers: A.031 A.033 A.041 */
Test(plan_annotations, a_spec_that_its_node_cannot_have_is_refused)
{
    static const bad cases[] = {
        { NODE("{\"tensor\":\"z\",\"device\":[0]}"),
          "operator 'mm': 'z' is neither an input nor an output" },
        { NODE("{\"tensor\":\"\",\"device\":[0]}"), "neither an input nor an output" },
        { "[{\"node\":\"act\",\"specs\":[{\"tensor\":\"\",\"device\":[0]}]}]",
          "operator 'act': '' is neither an input nor an output" },
        { NODE("{\"tensor\":\"w\",\"device\":[0]},{\"tensor\":\"w\",\"device\":[1]}"),
          "'w' has two sharding specs" },
        { NODE("{\"tensor\":\"w\",\"device\":[4]}"),
          "operator 'mm': sharding of 'w': device has 4, the configuration has devices 0 to 3" },
        { NODE("{\"tensor\":\"w\",\"device\":[-1]}"), "neither a device nor a key" },
        { NODE("{\"tensor\":\"w\",\"device\":[0,1],\"sharded_dim\":[{\"axis\":2,"
               "\"simple_sharding\":[{\"num_shards\":2}]}]}"),
          "axis 2 is not in [-2, 1]" },
        { NODE("{\"tensor\":\"x\",\"device\":[0,1],\"sharded_dim\":[{\"axis\":1,"
               "\"simple_sharding\":[{\"num_shards\":2}]}]}"),
          "axis 1 is not in [-1, 0]" },
        { NODE("{\"tensor\":\"y\",\"device\":[0]," SPLIT "}"), "device has 1 entries for 2 parts" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clv_error err = { .message = "" };
        cr_expect_eq(clv_plan_check(resolved(cases[i].text), graph, arena, &err), CLV_EFORMAT,
                     "%zu: %s", i, cases[i].text);
        cr_expect(strstr(err.message, cases[i].says), "%zu said: %s", i, err.message);
    }
}

Test(plan_annotations, survives_running_out_of_memory_anywhere)
{
    const char *text = clv_arena_printf(arena, HEAD "%s}", GOOD);
    clv_status status = CLV_ENOMEM;
    for (size_t limit = 1; status != CLV_OK; limit += 64) {
        clv_arena *small = clv_arena_new(NULL, limit);
        clv_plan *plan = NULL;
        if (!small)
            continue;
        status = clv_plan_read(text, strlen(text), "p.json", small, &plan, NULL);
        if (status == CLV_OK)
            status = clv_plan_find_nodes(plan, graph, small, NULL);
        if (status == CLV_OK)
            status = clv_plan_check(plan, graph, small, NULL);
        cr_assert(status == CLV_OK || status == CLV_ENOMEM, "%d", (int)status);
        clv_arena_free(small);
    }
}
