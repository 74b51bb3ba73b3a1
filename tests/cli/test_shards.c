/* test_shards.c - cleave shards: specs by hand go through plan, annotate and back; hints that are
 * wrong are reported and harm nothing.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_builder.h"
#include "support/run.h"

static char *folder;

/* x[2,2] -> MatMul "mm" (w[2,6]) -> y -> Relu "act" -> z;   s[batch,5] -> Neg "neg" -> t */
static void write_model(const char *name, const char *foreign, int device)
{
    char path[600];
    test_onnx *m = onnx_new(foreign ? 11 : 8, 17);
    test_graph *g = onnx_main(m);

    onnx_input(g, "x", 1, "2,2");
    onnx_input(g, "s", 1, "batch,5");
    onnx_weight(g, "w", 1, "2,6");
    test_node *mm = onnx_node(g, "MatMul", "mm", "x,w", "y");
    test_node *act = onnx_node(g, "Relu", "act", "y", "z");
    onnx_node(g, "Neg", "neg", "s", "t");
    onnx_output(g, "z", 1, NULL);
    onnx_output(g, "t", 1, NULL);
    if (foreign) {
        onnx_configuration(m, "other", 2, "");
        onnx_configuration(m, "third", 4, "p,q,r,s");
        onnx_node_device(g, mm, "other", 1, foreign, device);
        onnx_node_device(g, mm, "third", -1, "w", 3);
        onnx_node_device(g, act, "other", 2, "z", 0);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    onnx_write(m, path);
    onnx_free(m);
}

static void set_up(void)
{
    folder = folder_new();
    write_model("m.onnx", NULL, 0);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(shards, .init = set_up, .fini = tear_down);

static char *says(int code, const char *line)
{
    run_result r = run_in(folder, "%s %s", TEST_CLEAVE, line);
    cr_assert_eq(r.code, code, "'%s' gave %d: %s%s", line, r.code, r.out, r.err);
    free(r.err);
    return r.out;
}

static void has_line(const char *out, const char *line)
{
    cr_expect(strstr(out, line), "wanted: %s\nprinted: %s", line, out);
}

/* A plan for two devices, these annotations put in by hand, applied: a.onnx. */
static void annotate(int code, const char *annotations)
{
    run_result r = run_in(
        folder,
        "%s plan --bind batch=4 --devices 2 --no-output --plan-out p.json m.onnx >/dev/null && "
        "python3 - <<'E'\n"
        "import json\n"
        "p = json.load(open('p.json'))\n"
        "p['annotations'] = json.loads('''%s''')\n"
        "json.dump(p, open('q.json', 'w'))\n"
        "E\n"
        "%s annotate --plan q.json -o a.onnx m.onnx",
        TEST_CLEAVE, annotations, TEST_CLEAVE);
    cr_assert_eq(r.code, code, "%d: %s%s", r.code, r.out, r.err);
    run_free(&r);
}

#define HEAD "  tensor  whole       device  offset  shape  bytes\n"

#define ROWS                                                                                       \
    "[{\"node\":\"mm\",\"stage\":1,\"specs\":[{\"tensor\":\"x\",\"device\":[0,1],"                 \
    "\"sharded_dim\":[{\"axis\":0,\"simple_sharding\":[{\"num_shards\":2}]}]},"                    \
    "{\"tensor\":\"w\",\"device\":[0,1]}]},{\"node\":\"act\",\"stage\":1,\"specs\":[]}]"

/* covers: A.002 A.004 A.008 A.013 A.022 A.036 */
Test(shards, a_spec_by_hand_is_written_beside_the_stage_and_shown)
{
    annotate(0, ROWS);
    char *out = says(0, "shards --all --check --bind batch=4 a.onnx");
    has_line(out, "configuration 'cleave', devices: 2 (gpu0, gpu1)");
    has_line(out, HEAD "node 'mm', stage 1\n"
                       "  x       float[2,2]       0  [0,0]   [1,2]      8\n"
                       "                           1  [1,0]   [1,2]      8\n"
                       "  w       float[2,6]       0  [0,0]   [2,6]     48\n"
                       "                           1  [0,0]   [2,6]     48\n"
                       "  y       float[2,6]  ");
    has_line(out, "node 'act', stage 1\n"
                  "  y       float[2,6]  ");
    has_line(out, "\nannotated tensors: 7\n");
    free(out);
}

/* Without the spaces and ends of lines that are there for people.
 * covers: A.008 A.022 */
Test(shards, the_json_form_has_the_same_numbers)
{
    annotate(0, ROWS);
    char *out = says(0, "shards --all --json --bind batch=4 a.onnx | tr -d ' \\n'");
    has_line(out, "{\"configuration\":\"cleave\",\"node\":\"mm\",\"stage\":1,\"tensors\":["
                  "{\"tensor\":\"x\",\"type\":\"float[2,2]\",\"open\":false,\"shards\":["
                  "{\"device\":0,\"part\":0,\"offset\":[0,0],\"shape\":[1,2],\"bytes\":8},"
                  "{\"device\":1,\"part\":1,\"offset\":[1,0],\"shape\":[1,2],\"bytes\":8}]},"
                  "{\"tensor\":\"w\",\"type\":\"float[2,6]\",\"open\":false,\"shards\":["
                  "{\"device\":0,\"part\":0,\"offset\":[0,0],\"shape\":[2,6],\"bytes\":48},"
                  "{\"device\":1,\"part\":0,\"offset\":[0,0],\"shape\":[2,6],\"bytes\":48}]},");
    has_line(out, "\"node\":\"act\",\"stage\":1,");
    free(out);
}

/* A copy, a split, and a split into tiles of unequal sizes; parts with copies have no such form.
 * covers: E.047 E.049 */
Test(shards, tiles_are_said_when_asked_for)
{
    annotate(0, ROWS);
    char *out = says(0, "shards --all --tiles --bind batch=4 a.onnx");
    has_line(out, "\ntiles, in row-major order: 7\n  node 'mm': 'x' {2,1:0,1}\n"
                  "  node 'mm': 'w' {1:0,1}\n");
    free(out);
    out = says(0, "shards --all --tiles --json --bind batch=4 a.onnx");
    has_line(out, "\"tiles\": \"{2,1:0,1}\"");
    free(out);
    out = says(0, "shards --all --bind batch=4 a.onnx");
    cr_expect(!strstr(out, "tiles"), "%s", out);
    free(out);
    annotate(0, "[{\"node\":\"mm\",\"stage\":0,\"specs\":[{\"tensor\":\"w\",\"device\":[1,0,1,0],"
                "\"sharded_dim\":[{\"axis\":1,\"simple_sharding\":[{\"num_shards\":4}]}]},"
                "{\"tensor\":\"x\",\"device\":[-1,0],\"index_to_device_group_map\":{\"-1\":"
                "[0,1]},\"sharded_dim\":[{\"axis\":0,\"simple_sharding\":[{\"num_shards\":2}]}"
                "]}]}]");
    out = says(0, "shards --all --tiles --bind batch=4 a.onnx");
    has_line(out, "  node 'mm': 'w' {1,4:1,0,1,0}, whose tiles have sizes of their own\n");
    has_line(out, "  node 'mm': 'x' has none: sharding of 'x': part 0 is on 2 devices, and tiles "
                  "with copies have no notation\n");
    free(out);
    write_model("m.onnx", "nothing", 1);
    out = says(0, "shards --all --tiles --configuration other m.onnx");
    has_line(out, "'nothing' has none: its spec is wrong\n");
    free(out);
}

#define RESNET TEST_SOURCE_DIR "/tests/data/models/resnet.static.onnx"

/* Names of real models differ in their middle. */
Test(shards, no_name_is_cut)
{
    free(says(0, "plan --runtime none --devices 2 -o r.onnx " RESNET));
    char *out = says(0, "shards --all r.onnx");
    has_line(out, "\nnode '/layer1/layer1.0/conv2/Conv', stage 0\n");
    has_line(out, "\nnode '/layer4/layer4.0/downsample/downsample.0/Conv', stage 0\n");
    has_line(out, "\n  /layer4/layer4.0/downsample/downsample.0/Conv_output_0\n");
    cr_expect(!strstr(out, "..."), "%s", out);
    *strstr(out, "\nannotated tensors") = '\0'; /* sentences follow */
    for (const char *line = out; *line;
         line += strspn(line + strcspn(line, "\n"), "\n") + strcspn(line, "\n"))
        cr_expect_leq(strcspn(line, "\n"), 100, "%s", line);
    free(out);
}

/* covers: A.005 A.007 */
Test(shards, a_model_with_specs_by_hand_is_stripped_to_the_same_bytes)
{
    annotate(0, ROWS);
    free(says(0, "strip -o back.onnx a.onnx"));
    cr_assert(file_same(folder, "back.onnx", "m.onnx"));
}

#define THREE_OF_FIVE                                                                              \
    "[{\"node\":\"neg\",\"specs\":[{\"tensor\":\"s\",\"device\":[0,1,0],"                          \
    "\"sharded_dim\":[{\"axis\":-1,\"simple_sharding\":[{\"num_shards\":3}]}]}]}]"

/* covers: A.021 */
Test(shards, the_policy_for_an_uneven_axis_is_chosen_and_reported)
{
    annotate(0, THREE_OF_FIVE);
    char *out = says(0, "shards --all --check --bind batch=1 a.onnx");
    has_line(out, "split unevenly, by 'ceil': 1\n");
    has_line(out, "[0,4]   [1,1]      4\n");
    free(out);
    out = says(0, "shards --all --uneven balanced --json --bind batch=1 a.onnx");
    has_line(out, "\"uneven\": \"balanced\"");
    has_line(out, "\"uneven_tensors\": 1");
    free(out);
    out = says(65, "shards --all --uneven refuse --check --bind batch=1 a.onnx");
    has_line(out, "node 'neg': sharding of 's': size 5 of axis -1 does not divide into 3 equal");
    free(out);
}

#define TWO_SYMBOLS                                                                                \
    "[{\"node\":\"neg\",\"specs\":[{\"tensor\":\"s\",\"device\":[0,1],\"sharded_dim\":["           \
    "{\"axis\":0,\"simple_sharding\":[{\"num_shards\":2,\"dim_param\":\"batch\"},"                 \
    "{\"num_shards\":1,\"dim_param\":\"rest\"}]}]}]}]"

/* covers: A.035 */
Test(shards, a_symbol_of_a_factor_is_bound_with_those_of_the_model)
{
    annotate(0, TWO_SYMBOLS);
    char *out = says(0, "shards --all --check --bind batch=4 a.onnx");
    has_line(out, "s       float[4,5] as [4,1,5]       0  [0,0,0]  [2,1,5]     40\n");
    free(out);
}

Test(shards, a_tensor_of_unknown_size_is_said_and_not_guessed)
{
    annotate(0, THREE_OF_FIVE);
    char *out = says(0, "shards --all --check a.onnx");
    has_line(out, "size not known");
    has_line(out, "of unknown size, see cleave inspect and --bind: 2\n");
    free(out);
}

/* A size that no binding gives is not asked for. */
Test(shards, a_size_that_only_a_run_knows_is_not_asked_for)
{
    char path[600];
    test_onnx *m = onnx_new(11, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "2,2");
    onnx_node_device(g, onnx_node(g, "NonZero", "where", "x", "y"), "two", -1, "y", 0);
    onnx_output(g, "y", 7, NULL);
    onnx_configuration(m, "two", 2, "");
    snprintf(path, sizeof path, "%s/n.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    char *out = says(0, "shards --all --check n.onnx");
    has_line(out, "of unknown size, which only a run knows: 1\n");
    free(out);
}

Test(shards, a_model_without_annotations_says_so)
{
    char *out = says(0, "shards --all --check m.onnx");
    has_line(out, "no multi-device annotations\n");
    free(out);
}

/* covers: A.008 A.037 */
Test(shards, each_configuration_has_its_table_or_one_is_chosen)
{
    write_model("f.onnx", "x", 1);
    char *out = says(0, "shards --all --check f.onnx");
    has_line(out, "configuration 'other', devices: 2\n" HEAD "node 'mm', stage 1\n"
                  "  x       float[2,2]       1  [0,0]   [2,2]     16\n"
                  "node 'act', stage 2\n"
                  "  z       float[2,6]       0  [0,0]   [2,6]     48\n\n"
                  "configuration 'third', devices: 4 (p, q, r, s)\n" HEAD "node 'mm'\n"
                  "  w       float[2,6]       3  [0,0]   [2,6]     48\n\n"
                  "annotated tensors: 3\n");
    free(out);
    out = says(0, "shards --all --json f.onnx | tr -d ' \\n'");
    has_line(out, "{\"configuration\":\"other\",\"node\":\"mm\",\"stage\":1,\"tensors\"");
    has_line(out, "{\"configuration\":\"third\",\"node\":\"mm\",\"tensors\"");
    free(out);
    out = says(0, "shards --all --configuration third f.onnx");
    cr_expect_not(strstr(out, "other"), "%s", out);
    has_line(out, "annotated tensors: 1\n");
    free(out);
    free(says(2, "shards --all --configuration fourth f.onnx"));
}

/* covers: A.040 */
Test(shards, annotations_in_bodies_and_functions_are_looked_at)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m), *body = onnx_body(m, "then"), *f = onnx_function(m, "f", "F", "");

    onnx_opset(m, "f", 1);
    onnx_input(g, "c", 9, "");
    onnx_input(g, "x", 1, "2,2");
    test_node *neg = onnx_node(body, "Neg", "", "x", "n");
    onnx_output(body, "n", 1, NULL);
    test_node *choose = onnx_node(g, "If", "", "c", "y");
    onnx_attr_graph(g, choose, "then_branch", body);
    onnx_attr_graph(g, choose, "else_branch", body);
    onnx_node_domain(g, onnx_node(g, "F", "", "y", "z"), "f", NULL);
    onnx_output(g, "z", 1, NULL);
    onnx_input(f, "p", 0, NULL);
    onnx_output(f, "q", 0, NULL);
    test_node *relu = onnx_node(f, "Relu", "", "p", "q");
    snprintf(path, sizeof path, "%s/b.onnx", folder);
    onnx_write(m, path);
    free(says(0, "plan --devices 1 -o a.onnx b.onnx"));
    char *out = says(0, "shards --all a.onnx");
    has_line(out, "\nannotations in bodies: 2, in functions: 1; names, devices and stages are "
                  "checked, shapes are not\n");
    free(out);
    out = says(0, "shards --all --json a.onnx");
    has_line(out, "\"in_bodies\": 2,\n  \"in_functions\": 1,\n");
    free(out);

    onnx_configuration(m, "c", 2, "");
    onnx_node_device(body, neg, "c", -2, "n", 2); /* in both branches */
    onnx_node_device(f, relu, "d", 0, "q", 0);
    onnx_node_device(f, relu, "c", 0, "y", 0);
    onnx_node_device(f, relu, "c", 0, "q", 1);
    onnx_write(m, path);
    onnx_free(m);
    out = says(65, "shards --all --check b.onnx");
    has_line(out, "wrong: 5\n  node 0: in a body, the node at byte ");
    has_line(out, ": the pipeline_stage is -2, expected at least 0\n");
    has_line(out, ": there is no configuration 'd', which it names\n");
    has_line(out, ": 'y' is neither an input nor an output of it\n");
    has_line(out, "b.onnx is of IR version 8, which has no annotations: expected at least 11\n");
    free(out);
}

/* covers: A.031 A.039 */
Test(shards, wrong_hints_are_listed_and_fail_only_with_check)
{
    write_model("f.onnx", "z", 1);
    char *out = says(0, "shards --all f.onnx");
    has_line(out, "wrong: 1\n  node 'mm': 'z' is neither an input nor an output of it\n");
    has_line(out, "annotated tensors: 3\n");
    free(out);
    free(says(0, "inspect f.onnx"));
    free(says(0, "plan --bind batch=4 --devices 2 --no-output f.onnx"));
    free(says(65, "shards --all --check f.onnx"));
    out = says(65, "shards --all --check --json f.onnx");
    has_line(out, "\"wrong\": 1,");
    free(out);
}

/* covers: A.029 A.039 */
Test(shards, a_device_that_the_configuration_does_not_have_is_a_wrong_hint)
{
    write_model("f.onnx", "x", 2);
    char *out = says(0, "shards --all f.onnx");
    has_line(out, "wrong: 1\n  node 'mm': sharding of 'x': device has 2, the configuration has "
                  "devices 0 to 1\n");
    free(out);
    free(says(65, "shards --all --check f.onnx"));
}

Test(shards, a_plan_with_a_wrong_spec_is_refused)
{
    annotate(65, "[{\"node\":\"mm\",\"specs\":[{\"tensor\":\"z\",\"device\":[0]}]}]");
    annotate(65, "[{\"node\":\"mm\",\"specs\":[{\"tensor\":\"x\",\"device\":[2]}]}]");
    annotate(65, "[{\"node\":\"nobody\",\"specs\":[]}]");
}

#define FUSED                                                                                      \
    "[{\"node\":0,\"type\":\"NodeConfigurationProto\",\"stage\":0,\"specs\":["                     \
    "{\"tensor\":\"w\",\"device\":[-1,1],\"device_map\":{\"-1\":[0,1]},"                           \
    "\"sharded_dim\":[{\"axis\":1,\"simple_sharding\":[{\"num_shards\":2,\"dim_value\":2},"        \
    "{\"num_shards\":1,\"dim_param\":\"n\"}]}]},"                                                  \
    "{\"tensor\":\"x\",\"device\":[0,1]}]}]"

/* covers: A.010 A.034 */
Test(shards, what_is_printed_and_what_is_read_is_as_the_schemas_say)
{
    annotate(0, FUSED);
    run_is_valid(folder, "plan", "q.json");
    char *out = says(0, "shards --all --check --json a.onnx");
    has_line(out, "\"factors\": [2,2,3]");
    file_write(folder, "printed.json", out, strlen(out));
    free(out);
    run_is_valid(folder, "shards", "printed.json");
    out = says(0, "shards --all a.onnx");
    has_line(out, "float[2,6] as [2,2,3]");
    free(out);
    write_model("f.onnx", "z", 1);
    out = says(0, "shards --all --json f.onnx");
    file_write(folder, "printed.json", out, strlen(out));
    free(out);
    run_is_valid(folder, "shards", "printed.json");
}
