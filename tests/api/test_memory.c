/* test_memory.c - the host's memory ends at each request of each call: it fails in order, nothing
 * is lost or left, and the objects serve on. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/api.h"
#include "support/api_fixture.h"
#include "support/effort.h"
#include "support/onnx_builder.h"
#include "support/run.h"

static api_fixture f;
static cleave_plan *whole; /* whole operators on devices */

static const char runner_script[] =
    "#!/bin/sh\n"
    "case \"$*\" in\n"
    "*--pipeline*) echo x >>n.data; k=$(wc -l <n.data)\n"
    "  awk -v k=$k 'BEGIN { printf \"{\\\"pipeline\\\": {\\\"ends_ms\\\": [0\"\n"
    "    for (i = 1; i < 20; i++) printf \", %d\", i * (100 + 10 * k * k); print \"]}}\" }' ;;\n"
    "*) awk -v n=$(grep -c '\"file\"' manifest.json) 'BEGIN {\n"
    "  printf \"{\\\"runtime\\\": \\\"1\\\", \\\"models\\\": [\"\n"
    "  for (i = 1; i <= n; i++) printf \"%s{\\\"cpu_runs_ms\\\": [%d]}\", (i > 1 ? \", \" : \"\"), "
    "i "
    "* 10\n"
    "  print \"]}\" }' ;;\n"
    "esac\n";

static void write_symbolic(void)
{
    char path[700];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    snprintf(path, sizeof path, "%s/symbolic.onnx", f.folder);
    onnx_input(g, "x", 1, "batch,6");
    onnx_node(g, "Relu", "r", "x", "y");
    onnx_output(g, "y", 1, "batch,6");
    onnx_write(m, path);
    onnx_free(m);
}

/* Folders and a runner, for flows that need more than one of each object. */
static void set_up(void)
{
    static const cleave_form forms[] = { CLEAVE_FORM_DEVICES, CLEAVE_FORM_EMULATE };
    char path[700];
    api_fixture_make(&f);
    file_write(f.folder, "runner", runner_script, sizeof runner_script - 1);
    snprintf(path, sizeof path, "%s/runner", f.folder);
    cr_assert_eq(chmod(path, 0700), 0);
    for (int i = 0; i < 2; i++) {
        cleave_lower_options o = { .size = sizeof o, .form = forms[i] };
        snprintf(path, sizeof path, "%s/lowered%d", f.folder, 2 + i);
        cr_assert_eq(cleave_lower(f.model, f.plan, &o, path, NULL, NULL, &f.error), CLEAVE_OK, "%s",
                     f.error.message);
    }
    cleave_plan_options o = plan_options();
    o.max_tensor_devices = 1;
    cr_assert_eq(cleave_plan_make(f.model, &o, NULL, &whole, &f.error), CLEAVE_OK);
    write_symbolic();
}
static void tear_down(void)
{
    cleave_plan_free(whole);
    api_fixture_free(&f);
}

TestSuite(api_memory, .init = set_up, .fini = tear_down, .timeout = 880);

/* So many requests of a call are refused one by one, of later ones some; with sanitizers fewer. */
#define DENSE ((long)test_effort(48))

/* One call after f.memory was set to fail. control: has the same memory, for calls that open
 * something. Whatever the call gives is freed. variant: 0 to below n_variants. */
typedef cleave_status (*flow)(const cleave_control *control, int variant);

static cleave_status open_model(const cleave_control *c, int variant)
{
    cleave_model *m = NULL;
    cleave_status s =
        cleave_model_open(f.path[variant ? API_ANNOTATED : API_MODEL], c, &m, &f.error);
    cleave_model_free(m);
    return s;
}

static cleave_status open_bytes(const cleave_control *c, int variant)
{
    cleave_model *m = NULL;
    size_t n = 0;
    char *bytes = file_text(f.folder, variant ? "a.onnx" : "m.onnx", &n);
    cleave_status s = cleave_model_open_bytes(bytes, n, NULL, c, &m, &f.error);
    cleave_model_free(m);
    free(bytes);
    return s;
}

static cleave_status bind(const cleave_control *c, int variant)
{
    cleave_model *m = NULL;
    char path[700];
    (void)variant;
    snprintf(path, sizeof path, "%s/symbolic.onnx", f.folder);
    cleave_status s = cleave_model_open(path, c, &m, &f.error);
    if (s == CLEAVE_OK)
        s = cleave_model_bind(m, "batch", 4, &f.error);
    cleave_model_free(m);
    return s;
}

static cleave_status inspect(const cleave_control *c, int variant)
{
    cleave_report *r = NULL;
    cleave_control control = *c;
    control.report = (cleave_report_form)variant;
    cleave_status s = cleave_model_inspect(f.model, &control, &r, &f.error);
    cleave_report_free(r);
    return s;
}

static cleave_status shards(const cleave_control *c, int variant)
{
    cleave_model *m = NULL;
    cleave_report *r = NULL;
    cleave_shards_options o;
    cleave_shards_options_init(&o);
    o.show_tiles = variant == 1;
    o.node = variant == 3 ? "*" : NULL;
    o.backend = variant == 2 ? "even-slices" : NULL;
    cleave_status s = cleave_model_open(f.path[API_ANNOTATED], c, &m, &f.error);
    if (s == CLEAVE_OK)
        s = cleave_model_shards(m, &o, NULL, &r, NULL, &f.error);
    cleave_report_free(r);
    cleave_model_free(m);
    return s;
}

static cleave_status rules(const cleave_control *c, int variant)
{
    cleave_report *r = NULL;
    cleave_status s = cleave_rules(variant ? "MatMul" : NULL, c, &r, &f.error);
    cleave_report_free(r);
    return s;
}

static cleave_status clusters(const cleave_control *c, int variant)
{
    cleave_report *r = NULL;
    cleave_clusters_options o;
    cleave_clusters_options_init(&o);
    o.cluster = variant == 0 ? "cpu-2" : variant == 1 ? "h100-l40s" : NULL;
    cleave_status s = cleave_clusters(&o, c, &r, &f.error);
    cleave_report_free(r);
    return s;
}

static cleave_status make_plan(const cleave_control *c, int variant)
{
    static const char constraints[] = "{\"rules\": [{\"place\": \"mm\", \"stage\": 0},"
                                      " {\"split\": \"mm\", \"factor\": \"n\", \"over\": \"tp\"}]}";
    cleave_plan *p = NULL;
    cleave_plan_options o = plan_options();
    o.devices = 2;
    switch (variant) {
    case 0:
        o.devices = 0;
        break;
    case 1:
        o.mesh = "tp=2";
        break;
    case 2:
        o.objective = CLEAVE_THROUGHPUT;
        break;
    case 3:
        o.objective = CLEAVE_DEVICES;
        break;
    case 4:
        o.max_tensor_devices = 1;
        o.documented_search = 1;
        break;
    case 5:
        o.mesh = "tp=2";
        o.constraints = constraints;
        break;
    case 6:
        o.sharding_nodes = "mm=0";
        break;
    case 7:
        o.memory_bytes = 100;
        break;
    default:
        o.compiler = "sh " TEST_SOURCE_DIR "/docs/examples/compiler-example.sh";
        o.max_candidates = 2;
    }
    cleave_status s = cleave_plan_make(f.model, &o, c, &p, &f.error);
    cleave_plan_free(p);
    return variant == 7 && s == CLEAVE_NO_PLAN ? CLEAVE_OK : s;
}

static cleave_status load_plan(const cleave_control *c, int variant)
{
    cleave_plan *p = NULL;
    (void)variant;
    cleave_status s = cleave_plan_load(f.model, f.path[API_PLAN], c, &p, &f.error);
    cleave_plan_free(p);
    return s;
}

static cleave_status plan_of_annotations(const cleave_control *c, int variant)
{
    cleave_model *m = NULL;
    cleave_plan *p = NULL;
    (void)variant;
    cleave_status s = cleave_model_open(f.path[API_ANNOTATED], c, &m, &f.error);
    if (s == CLEAVE_OK)
        s = cleave_plan_of_annotations(f.model, m, NULL, c, &p, &f.error);
    cleave_plan_free(p);
    cleave_model_free(m);
    return s;
}

static cleave_status open_place(const cleave_control *c, int variant)
{
    cleave_place_problem *p = NULL;
    (void)variant;
    cleave_status s = cleave_place_problem_open(f.path[API_WORKLOAD], c, &p, &f.error);
    cleave_place_problem_free(p);
    return s;
}

static cleave_place_options place_options(int variant)
{
    cleave_place_options o;
    cleave_place_options_init(&o);
    o.objective = (cleave_objective)(variant / 2);
    o.free_assignment = variant % 2;
    return o;
}

static cleave_status place(const cleave_control *c, int variant)
{
    cleave_place_solution *a = NULL;
    cleave_place_options o = place_options(variant);
    cleave_status s = cleave_place_solve(f.place, &o, c, &a, &f.error);
    cleave_place_solution_free(a);
    return s;
}

static cleave_status save_mps(const cleave_control *c, int variant)
{
    cleave_place_options o = place_options(2 * CLEAVE_THROUGHPUT + variant);
    return cleave_place_problem_save_mps(f.place, &o, f.path[API_OUTPUT], c, &f.error);
}

static cleave_status open_intra_op(const cleave_control *c, int variant)
{
    cleave_intra_op_problem *p = NULL;
    (void)variant;
    cleave_status s = cleave_intra_op_problem_open(
        TEST_SOURCE_DIR "/tests/data/strategy/example.json", c, &p, &f.error);
    cleave_intra_op_problem_free(p);
    return s;
}

static cleave_status solve(const cleave_control *c, int variant)
{
    cleave_intra_op_solution *a = NULL;
    cleave_intra_op_options o;
    cleave_intra_op_options_init(&o);
    o.jobs = variant + 1;
    cleave_status s = cleave_intra_op_solve(f.intra_op, &o, c, &a, &f.error);
    cleave_intra_op_solution_free(a);
    return s;
}

static cleave_shard_options shard_options(int variant)
{
    cleave_shard_options o;
    cleave_shard_options_init(&o);
    o.weights = (cleave_weights)(variant % 3);
    o.fill = variant < 3 ? CLEAVE_FILL_NONE : CLEAVE_FILL_ZEROS;
    return o;
}

static cleave_status shard(const cleave_control *c, int variant)
{
    cleave_shard_options o = shard_options(variant);
    return cleave_shard(f.model, f.path[API_PLAN], f.path[API_OUTPUT], &o, c, &f.error);
}

/* variant 2: nothing is written. */
static cleave_status reshard(const cleave_control *c, int variant)
{
    cleave_report *r = NULL;
    cleave_shard_options o = shard_options(variant % 2);
    cleave_status s = cleave_reshard(f.path[API_SHARDS], f.path[API_PLAN],
                                     variant < 2 ? f.path[API_OUTPUT] : NULL, &o, c, &r, &f.error);
    cleave_report_free(r);
    return s;
}

static cleave_status collect(const cleave_control *c, int variant)
{
    (void)variant;
    return cleave_collect(f.path[API_SHARDS], f.path[API_OUTPUT], c, &f.error);
}

static cleave_status check_output(const cleave_control *c, int variant)
{
    (void)c;
    return cleave_check_output(variant ? NULL : f.model, f.path[API_OUTPUT], &f.error);
}

static cleave_status annotate(const cleave_control *c, int variant)
{
    cleave_annotate_options o;
    cleave_annotate_options_init(&o);
    o.keep_ir_version = variant;
    return cleave_annotate(f.model, f.plan, &o, f.path[API_OUTPUT], c, &f.error);
}

/* Both files in one folder, and the plan in another. */
static cleave_status plan_save(const cleave_control *c, int variant)
{
    char model[700], plan[700];
    cr_assert_eq(mkdir(f.path[API_OUTPUT], 0700), 0);
    snprintf(model, sizeof model, "%s/p.onnx", f.path[API_OUTPUT]);
    snprintf(plan, sizeof plan, "%s%s", variant ? f.folder : f.path[API_OUTPUT], "/p.json");
    cleave_status s = cleave_plan_save(f.model, f.plan, NULL, model, plan, c, &f.error);
    if (s != CLEAVE_OK)
        cr_expect_eq(rmdir(f.path[API_OUTPUT]), 0, "plan_save left a file");
    else if (variant)
        remove(plan);
    return s;
}

static cleave_status strip(const cleave_control *c, int variant)
{
    cleave_model *m = NULL;
    cleave_status s = cleave_model_open(f.path[API_ANNOTATED], c, &m, &f.error);
    if (s == CLEAVE_OK)
        s = cleave_strip(m, variant, f.path[API_OUTPUT], NULL, &f.error);
    cleave_model_free(m);
    return s;
}

static cleave_status lower(const cleave_control *c, int variant)
{
    static const cleave_lower_options of[] = {
        { .form = CLEAVE_FORM_STAGES },
        { .form = CLEAVE_FORM_DEVICES },
        { .form = CLEAVE_FORM_DEVICES, .collectives = CLEAVE_COLLECTIVES_TENSORRT },
        { .form = CLEAVE_FORM_DEVICES, .weights = CLEAVE_WEIGHTS_RANGES },
        { .form = CLEAVE_FORM_DEVICES, .weights = CLEAVE_WEIGHTS_SAFETENSORS },
        { .form = CLEAVE_FORM_EMULATE },
        { .form = CLEAVE_FORM_ORT_OPTIONS },
        { .form = CLEAVE_FORM_ORT_OPTIONS, .weights = CLEAVE_WEIGHTS_RANGES },
        { .form = CLEAVE_FORM_OLIVE },
    };
    cleave_report *r = NULL;
    cleave_lower_options o = of[variant];
    o.size = sizeof o;
    bool is_whole = o.form >= CLEAVE_FORM_ORT_OPTIONS;
    cleave_status s =
        cleave_lower(f.model, is_whole ? whole : f.plan, &o, f.path[API_OUTPUT], c, &r, &f.error);
    cleave_report_free(r);
    return s;
}

/* variant 1: without making any form; from 2 on: forms that lie in folders. */
static cleave_status verify(const cleave_control *c, int variant)
{
    cleave_verification *v = NULL;
    cleave_verify_options o;
    char lowered[700];
    snprintf(lowered, sizeof lowered, "%s/lowered%d", f.folder, variant);
    cleave_verify_options_init(&o);
    o.proof_only = variant == 1;
    o.lowered = variant >= 2 ? lowered : NULL;
    cleave_status s = cleave_verify(f.model, f.plan, &o, c, &v, &f.error);
    cleave_verification_free(v);
    return s;
}

/* A runner whose times grow, so that they can be fitted. */
static cleave_status calibrate(const cleave_control *c, int variant)
{
    cleave_report *r = NULL;
    cleave_calibrate_options o;
    char runner[700];
    (void)variant;
    snprintf(runner, sizeof runner, "%s/runner", f.folder);
    cleave_calibrate_options_init(&o);
    o.runner = runner;
    cleave_status s = cleave_calibrate(&o, f.path[API_OUTPUT], c, &r, &f.error);
    cleave_report_free(r);
    return s;
}

static cleave_status measured(const cleave_control *c, int variant)
{
    static const char folder[] = TEST_SOURCE_DIR "/tests/data/measured/h100_sxm_sample";
    cleave_report *r = NULL;
    cleave_measured_options o;
    cleave_measured_options_init(&o);
    o.device = "h100-sxm";
    cleave_status s = variant
                          ? cleave_measured_score(folder, &o, c, &r, &f.error)
                          : cleave_measured_fit(folder, &o, f.path[API_OUTPUT], c, &r, &f.error);
    cleave_report_free(r);
    return s;
}

static cleave_status save_report(const cleave_control *c, int variant)
{
    (void)c;
    (void)variant;
    return cleave_report_save(cleave_plan_report(f.plan), f.path[API_OUTPUT], &f.error);
}

static const struct {
    const char *name;
    flow call;
    int n_variants;
    bool has_cache; /* which does without memory: then a refusal is none of the call */
} flows[] = {
    { "model_open", open_model, 2, false },
    { "model_open_bytes", open_bytes, 2, false },
    { "model_bind", bind, 1, false },
    { "model_inspect", inspect, 3, false },
    { "model_shards", shards, 4, false },
    { "rules", rules, 2, false },
    { "clusters", clusters, 2, false },
    { "plan_make", make_plan, 9, true },
    { "plan_load", load_plan, 1, false },
    { "plan_of_annotations", plan_of_annotations, 1, false },
    { "place_problem_open", open_place, 1, false },
    { "place_solve", place, 6, false },
    { "place_problem_save_mps", save_mps, 2, false },
    { "intra_op_problem_open", open_intra_op, 1, false },
    { "intra_op_solve", solve, 2, false },
    { "shard", shard, 6, false },
    { "reshard", reshard, 3, false },
    { "collect", collect, 1, false },
    { "check_output", check_output, 2, false },
    { "annotate", annotate, 2, false },
    { "plan_save", plan_save, 2, false },
    { "strip", strip, 2, false },
    { "lower", lower, 9, false },
    { "verify", verify, 4, false },
    { "calibrate", calibrate, 1, false },
    { "measured", measured, 2, false },
    { "report_save", save_report, 1, false },
};

#define N_FLOWS (sizeof flows / sizeof *flows)

/* The at-th request of a call is refused, and is the only one that is: what goes on after it would
 * find memory again. Returns whether the call got so far. */
static bool fails_in_order(size_t i, int variant, long at)
{
    cleave_allocator allocator = { failing_resize, &f.memory };
    cleave_control control = control_of(&allocator);
    long live = f.memory.live;
    api_fixture_clean(&f);
    int before = folder_count(f.folder);
    f.memory.fail_at = f.memory.calls + at;
    cleave_status s = flows[i].call(&control, variant);
    bool was_refused = f.memory.calls >= f.memory.fail_at;
    f.memory.fail_at = 0;
    bool is_expected =
        s == (was_refused ? CLEAVE_ENOMEM : CLEAVE_OK) || (s == CLEAVE_OK && flows[i].has_cache);
    cr_assert(is_expected, "%s %d, allocation %ld: %d %s", flows[i].name, variant, at, (int)s,
              f.error.message);
    /* What a model keeps for itself (bindings, texts) is freed with it. */
    cr_assert_eq(f.memory.live, live, "%s %d, allocation %ld: %ld blocks left", flows[i].name,
                 variant, at, f.memory.live - live);
    if (s != CLEAVE_OK)
        cr_assert_eq(folder_count(f.folder), before, "%s %d, allocation %ld left a file",
                     flows[i].name, variant, at);
    return was_refused;
}

Test(api_memory, every_call_fails_in_order_at_each_request)
{
    for (size_t i = 0; i < N_FLOWS; i++)
        for (int variant = 0; variant < flows[i].n_variants; variant++) {
            long at = 1;
            while (fails_in_order(i, variant, at))
                at += 1 + at / DENSE;
        }
}
