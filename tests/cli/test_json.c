/* test_json.c - what --json prints is one object that its schema allows. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_builder.h"
#include "support/run.h"

static char *folder;

/*   x -> Mul(w) -> a -> Add(x) -> b -> Mystery -> c     Mystery is of nobody's domain */
static void write_model(void)
{
    char path[600];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);

    onnx_opset(m, "example.org", 1);
    onnx_input(g, "x", 1, "batch,64");
    onnx_weight(g, "w", 1, "64");
    onnx_node(g, "Mul", "mul", "x,w", "a");
    onnx_node(g, "Add", "add", "a,x", "b");
    test_node *odd = onnx_node(g, "Mystery", "odd", "b", "c");
    onnx_node_domain(g, odd, "example.org", "");
    onnx_output(g, "c", 1, NULL);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
}

static void set_up(void)
{
    folder = folder_new();
    write_model();
}

static void tear_down(void) { folder_free(folder); }

TestSuite(json, .init = set_up, .fini = tear_down);

/* Runs the command, and holds what it printed against docs/formats/<schema>.schema.json. */
static run_result valid(const char *schema, int code, const char *arguments)
{
    run_result r = run_in(folder, "%s %s", TEST_CLEAVE, arguments);
    cr_assert_eq(r.code, code, "'%s' gave %d: %s", arguments, r.code, r.err);
    file_write(folder, "printed.json", r.out, strlen(r.out));
    run_result v = run_in(
        folder,
        "python3 - <<'E'\n"
        "import json, jsonschema\n"
        "d = '%s/docs/formats/'\n"
        "store = {}\n"
        "for n in ('plan', 'inspect', 'result'):\n"
        "    store[n + '.schema.json'] = json.load(open(d + n + '.schema.json'))\n"
        "s = store['%s.schema.json']\n"
        "jsonschema.Draft202012Validator.check_schema(s)\n"
        "r = jsonschema.RefResolver('', s, store=store)\n"
        "jsonschema.Draft202012Validator(s, resolver=r).validate(json.load(open('printed.json')))\n"
        "E",
        TEST_SOURCE_DIR, schema);
    cr_assert_eq(v.code, 0, "'%s' printed what its schema refuses: %s%s", arguments, v.err, r.out);
    run_free(&v);
    return r;
}

static void is_valid(const char *schema, int code, const char *arguments, const char *says)
{
    run_result r = valid(schema, code, arguments);
    cr_expect(strstr(r.out, says), "'%s' printed: %s", arguments, r.out);
    run_free(&r);
}

Test(json, inspect_prints_one_object)
{
    is_valid("inspect", 0, "inspect --json m.onnx", "\"batch\"");
    is_valid("inspect", 0, "inspect --json --bind batch=2 m.onnx", "\"bound\": true");
    is_valid("inspect", 0, "inspect --json --bind batch=2 m.onnx", "\"odd\"");
}

Test(json, plan_prints_the_result_with_the_plan_in_it)
{
    run_result r = valid("result", 0, "plan --json --bind batch=2 --devices 2 m.onnx");
    cr_expect(strstr(r.out, "\"fits\": true"), "%s", r.out);
    cr_expect(strstr(r.out, "\"model\": \"m.onnx.auto_sharded.onnx\""), "%s", r.out);
    cr_expect(strstr(r.out, "\"device_runs\""), "%s", r.out);
    cr_expect(!strstr(r.out, "[Success]"), "nothing else is printed");
    run_free(&r);
    char *plan = file_text(folder, "m.onnx.auto_sharded.onnx.plan.json", NULL);
    cr_assert_not_null(plan);
    free(plan);
}

Test(json, the_plan_file_is_what_its_schema_says)
{
    run_result r = run_in(folder, "%s plan --bind batch=2 -o o.onnx m.onnx && cat o.onnx.plan.json",
                          TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    r = run_in(folder,
               "python3 - <<'E'\n"
               "import json, jsonschema\n"
               "s = json.load(open('%s/docs/formats/plan.schema.json'))\n"
               "jsonschema.validate(json.load(open('o.onnx.plan.json')), s,\n"
               "                    jsonschema.Draft202012Validator)\n"
               "E",
               TEST_SOURCE_DIR);
    cr_expect_eq(r.code, 0, "%s", r.err);
    run_free(&r);
}

Test(json, no_plan_is_an_answer_and_not_an_error)
{
    is_valid("result", 3, "plan --json --bind batch=2 --devices 2 --memory 16B m.onnx",
             "\"fits\": false");
}

Test(json, annotate_and_strip_print_results)
{
    is_valid("result", 0, "plan --json --bind batch=2 --devices 2 -o o.onnx m.onnx", "\"fits\"");
    is_valid("result", 0, "annotate --json --plan o.onnx.plan.json -o p.onnx m.onnx",
             "\"command\": \"annotate\"");
    is_valid("result", 0, "strip --json -o q.onnx o.onnx", "\"model\": \"q.onnx\"");
}

Test(json, errors_are_objects)
{
    is_valid("result", 65, "plan --json m.onnx", "\"code\": \"input\"");
    is_valid("result", 74, "plan --json missing.onnx", "\"code\": \"io\"");
    is_valid("result", 2, "plan --json", "\"code\": \"usage\"");
    is_valid("result", 65, "annotate --json --plan m.onnx m.onnx", "\"code\": \"input\"");
}
