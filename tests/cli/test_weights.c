/* test_weights.c - cleave shard, reshard and collect as a user runs them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_builder.h"
#include "support/run.h"

static char *folder;

#define SHARD(device, first, n)                                                                    \
    "{\"device\": \"" device "\", \"offsets\": [" #first ", 0], \"dims\": [" #n ", 6]}"

static const char two[] =
    "{\"weights\": [{\"name\": \"w\", \"shards\": [" SHARD("rank:0/cuda:0", 0, 4) ", " SHARD(
        "rank:1/cuda:1", 4,
        4) "]}, {\"name\": \"b\", \"shards\": "
           "[{\"device\": \"rank:0/cuda:0\"}, {\"device\": \"rank:1/cuda:1\"}]}]}";
static const char three[] =
    "{\"devices\": [\"rank:0/cuda:0\", \"y\", \"z\"], \"weights\": [{\"name\": "
    "\"w\", \"shards\": [" SHARD("rank:0/cuda:0", 0, 2) ", " SHARD("y", 2, 3) ", " SHARD(
        "z", 5, 3) "]}, {\"name\": \"b\", \"shards\": [{\"device\": \"z\"}]}]}";
static const char gap[] =
    "{\"weights\": [{\"name\": \"w\", \"shards\": [" SHARD("x", 0, 4) ", " SHARD("y", 5, 3) "]}]}";

static void set_up(void)
{
    char path[600];
    static const float values[48] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
    char data[8 * 6 * 4 + 100];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);

    folder = folder_new();
    memset(data, 'x', sizeof data);
    memcpy(data + 50, values, sizeof values);
    file_write(folder, "w.bin", data, sizeof data);
    onnx_input(g, "x", 1, "2,8");
    onnx_weight_external(g, "w", 1, "8,6", "w.bin", 50, -1);
    onnx_weight(g, "b", 1, "6");
    onnx_node(g, "Gemm", "fc", "x,w,b", "y");
    onnx_output(g, "y", 1, NULL);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    file_write(folder, "two.json", two, sizeof two - 1);
    file_write(folder, "three.json", three, sizeof three - 1);
    file_write(folder, "gap.json", gap, sizeof gap - 1);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(weights, .init = set_up, .fini = tear_down);

static void ends(int code, const char *command, const char *arguments)
{
    run_result r = run_cleave(folder, code, command, arguments);
    run_free(&r);
}

/* covers: D.021 D.022 D.032 D.039 */
Test(weights, shard_reshard_and_collect)
{
    run_result r;
    run_says(folder, 0, "shard", "m.onnx --layout two.json -o s", "The shards are in s");
    run_is_valid(folder, "weights", "s/weights.json");
    run_says(folder, 0, "reshard", "s --layout three.json -o t",
             "  rank:1/cuda:1 -> z  72 B\n"); /* 3 rows of w */
    run_is_valid(folder, "weights", "t/weights.json");
    r = run_in(folder,
               "mkdir n && %s collect t -o n/m.onnx && cmp m.onnx n/m.onnx && "
               "cmp w.bin n/w.bin",
               TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s%s", r.out, r.err);
    run_free(&r);
    /* weights.json is a layout itself. */
    ends(0, "shard", "m.onnx --layout t/weights.json -o u");
    cr_assert(file_same(folder, "t/z.data", "u/z.data"));
}

Test(weights, a_dry_run_reports_and_writes_nothing)
{
    run_result r;
    ends(0, "shard", "m.onnx --layout two.json -o s -q");
    int before = folder_count(folder);
    r = run_cleave(folder, 0, "reshard", "s --layout three.json --dry-run --json");
    file_write(folder, "said.json", r.out, strlen(r.out));
    run_is_valid(folder, "reshard", "said.json");
    cr_assert(strstr(r.out, "\"moved_bytes\": 168"), "%s", r.out);
    cr_assert(strstr(r.out, "\"kept_bytes\": 48"), "%s", r.out);
    run_free(&r);
    cr_assert_eq(folder_count(folder), before + 1);
}

/* covers: D.027 D.031 */
Test(weights, safetensors_a_device)
{
    size_t n;
    ends(0, "shard", "m.onnx --layout two.json -o s --weights safetensors --max-file-size 100B");
    char *index = file_text(folder, "s/rank_0_cuda_0/model.safetensors.index.json", &n);
    cr_assert_not_null(index);
    cr_assert(strstr(index, "\"w\": \"model-00001-of-00002.safetensors\""), "%s", index);
    cr_assert(strstr(index, "\"total_size\": 120"), "%s", index);
    free(index);
    ends(0, "shard", "m.onnx --layout two.json -o one --weights safetensors");
    char *text = file_text(folder, "one/rank_1_cuda_1/model.safetensors", &n);
    cr_assert_eq(n, 4096 + 4 * 6 * 4 + 6 * 4);
    cr_assert(strstr(text + 8, "\"w\":{\"dtype\":\"F32\",\"shape\":[4,6],\"data_offsets\":[0,96]}"),
              "%s", text + 8);
    free(text);
    ends(0, "reshard", "s --layout three.json -o t");
    run_result r =
        run_in(folder, "mkdir n && %s collect one -o n/m.onnx && cmp m.onnx n/m.onnx", TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s%s", r.out, r.err);
    run_free(&r);
}

/* The bytes of rows 4 to 7, and of whole weights, of the files themselves. */
Test(weights, ranges_have_no_data)
{
    ends(0, "shard", "m.onnx --layout two.json -o s --weights ranges");
    char path[600];
    snprintf(path, sizeof path, "%s/s", folder);
    cr_assert_eq(folder_count(path), 2);
    char *text = file_text(folder, "s/rank_1_cuda_1.ranges.json", NULL);
    cr_assert(strstr(text, "\"file\": \"w.bin\",\n      \"offset\": 146,\n      \"length\": 96"),
              "%s", text);
    free(text);
}

Test(weights, what_is_wrong_is_reported)
{
    run_refused(folder, 65, "shard", "m.onnx --layout gap.json -o s",
                "weight 'w': element [4, 0] is in no shard, expected exactly one");
    run_refused(folder, 2, "shard", "m.onnx -o s", "no layout is given");
    run_refused(folder, 74, "shard", "m.onnx --layout none.json -o s", "none.json");
    run_refused(folder, 74, "shard", "m.onnx --layout two.json -o none/s", "does not exist");
    run_refused(folder, 74, "reshard", "none --layout two.json -o s", "none/weights.json");
    run_refused(folder, 2, "reshard", "none --layout two.json", "expected -o DIR or --dry-run");
    run_refused(folder, 2, "collect", "none", "expected -o MODEL");
    ends(0, "shard", "m.onnx --layout two.json -o s -q");
    run_refused(folder, 2, "shard", "m.onnx --layout two.json -o s", "exists and is not empty");
    run_refused(folder, 2, "collect", "s -o new.onnx", "w.bin exists");
    run_result made = run_in(folder, "mkdir n && mkfifo n/pipe && ln -s pipe n/link");
    run_free(&made);
    run_refused(folder, 2, "collect", "s -o n/pipe", "n/pipe is no regular file");
    run_refused(folder, 2, "collect", "s -o n/link", "n/link is no regular file");
    run_result same =
        run_in(folder, "test -p n/pipe && test -h n/link && test $(ls n | wc -l) = 2");
    cr_expect_eq(same.code, 0);
    run_free(&same);
    file_write(folder, "s/rest.bin", "x", 1);
    run_refused(folder, 65, "collect", "s -o new.onnx",
                "rest.bin has 1 bytes, but weights.json says");
    run_refused(folder, 74, "collect", "m.onnx -o new.onnx", "weights.json");
}

/* The weights are not there. */
Test(weights, an_absent_file_is_named)
{
    run_result r = run_in(folder, "rm w.bin");
    run_free(&r);
    run_refused(folder, 74, "shard", "m.onnx --layout two.json -o s -q",
                "weight 'w' lies in 'w.bin', which is not there");
}
/* -- plans -- */

/* Two layers, whose weights are beside and in the model, and one that says a shape. */
static void write_net(const char *name, const char *inner)
{
    char path[600], dims[40], data[8192];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i % 251);
    file_write(folder, "net.bin", data, sizeof data);
    onnx_input(g, "x", 1, "2,4,16");
    snprintf(dims, sizeof dims, "16,%s", inner);
    onnx_weight_external(g, "up", 1, dims, "net.bin", 64, -1);
    onnx_weight(g, "bias", 1, inner);
    snprintf(dims, sizeof dims, "%s,16", inner);
    onnx_weight(g, "down", 1, dims);
    onnx_weight_ints(g, "shape", "2", (const int64_t[]){ 8, 16 });
    onnx_node(g, "Reshape", "flat", "x,shape", "f");
    onnx_node(g, "Gemm", "a", "f,up,bias", "h");
    onnx_node(g, "Relu", "b", "h", "r");
    onnx_node(g, "MatMul", "c", "r,down", "y");
    onnx_output(g, "y", 1, NULL);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    onnx_write(m, path);
    onnx_free(m);
}

static void plan_net(const char *model, const char *arguments, const char *plan)
{
    run_result r = run_in(folder, "%s plan %s --no-output --plan-out %s %s", TEST_CLEAVE, arguments,
                          plan, model);
    cr_assert_eq(r.code, 0, "%s: %s%s", arguments, r.out, r.err);
    run_free(&r);
}

static void write_plans(void)
{
    write_net("net.onnx", "32");
    plan_net("net.onnx", "--devices 2 --mesh 2", "mesh2.json");
    plan_net("net.onnx", "--devices 2 --max-tp 1 --stages 2", "stages.json");
    /* So little memory that weights have to be split. */
    plan_net("net.onnx", "--devices 4 --mesh 2x2 --memory 5KiB", "mesh22.json");
    plan_net("net.onnx", "--devices 3 --mesh 1 --stages 3", "three.json");
}

/* Through plans of other forms and numbers of devices, and what comes out is the model. */
Test(weights, plans_say_where_weights_lie)
{
    write_plans();
    ends(0, "shard", "net.onnx --plan mesh2.json -o s0 -q");
    run_is_valid(folder, "weights", "s0/weights.json");
    ends(0, "reshard", "s0 --plan stages.json -o s1 -q");
    ends(0, "reshard", "s1 --plan mesh22.json -o s2 --weights safetensors -q");
    ends(0, "reshard", "s2 --plan three.json -o s3 -q");
    ends(0, "shard", "net.onnx --plan three.json -o direct -q");
    run_result r = run_in(folder,
                          "diff -r s3 direct && mkdir n && %s collect s3 -o n/net.onnx && "
                          "cmp net.onnx n/net.onnx && cmp net.bin n/net.bin",
                          TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s%s", r.out, r.err);
    run_free(&r);
}

/* Each copy of a plan has all weights that it needs, the same at each place. */
Test(weights, all_copies_of_a_plan_have_their_weights)
{
    static const char check[] =
        "import json; d = json.load(open('s/weights.json'))\n"
        "at = lambda w, c: [(s['offsets'], s['dims']) for g in c for s in w['shards'] "
        "if s['device'] == g]\n"
        "first = [at(w, ('gpu0', 'gpu1')) for w in d['weights']]\n"
        "assert sum(map(len, first)) > 0\n"
        "assert all(at(w, c) == f for w, f in zip(d['weights'], first) "
        "for c in (('gpu2', 'gpu3'), ('gpu4', 'gpu5')))\n";
    write_plans();
    file_write(folder, "check.py", check, sizeof check - 1);
    plan_net("net.onnx", "--objective throughput --devices 6 --copies 3 --mesh 2 --memory 9KiB",
             "mesh.json");
    plan_net("net.onnx", "--objective throughput --devices 6 --copies 3 --max-tp 1 --stages 2",
             "pipeline.json");
    ends(0, "shard", "net.onnx --plan mesh.json -o s -q");
    run_result r = run_in(folder, "/usr/bin/python3 check.py && mv s s0");
    cr_expect_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    ends(0, "reshard", "s0 --plan pipeline.json -o s -q");
    ends(0, "shard", "net.onnx --plan pipeline.json -o direct -q");
    r = run_in(folder,
               "/usr/bin/python3 check.py && diff -r s direct && mkdir n && "
               "%s collect s -o n/net.onnx && cmp net.onnx n/net.onnx && cmp net.bin n/net.bin",
               TEST_CLEAVE);
    cr_expect_eq(r.code, 0, "%s%s", r.out, r.err);
    run_free(&r);
}

/* A plan of a mesh splits something: else the round trip above would say little. */
Test(weights, a_plan_of_a_mesh_splits_weights)
{
    write_plans();
    ends(0, "shard", "net.onnx --plan mesh22.json -o s -q");
    run_result r =
        run_in(folder, "python3 -c \"import json; d = json.load(open('s/weights.json'))\n"
                       "print(sum(s['dims'] != w['dims'] for w in d['weights'] "
                       "for s in w['shards']) > 0)\"");
    cr_assert_str_eq(r.out, "True\n", "%s", r.err);
    run_free(&r);
}

Test(weights, a_plan_that_does_not_fit_is_refused)
{
    write_plans();
    write_net("other.onnx", "48");
    plan_net("other.onnx", "--devices 2 --mesh 2", "other.json");
    ends(0, "shard", "net.onnx --plan mesh2.json -o s -q");
    run_refused(folder, 65, "shard", "net.onnx --plan other.json -o t -q",
                "other.json is a plan for model 'other.onnx'");
    run_refused(folder, 65, "reshard", "s --plan other.json -o t -q",
                "other.json is a plan for model 'other.onnx'");
    run_refused(folder, 65, "reshard", "s --plan s/rest.bin -o t -q", "s/rest.bin");
    run_result made = run_in(folder, "mkdir t");
    run_free(&made);
    run_refused(folder, 74, "collect", "t -o m.onnx -q",
                "t has no weights.json, expected a folder that 'cleave shard' wrote");
    run_refused(folder, 74, "reshard", "s --plan none.json -o t -q", "none.json");
    run_result r = run_in(folder, "truncate -s 100 s/rest.bin");
    run_free(&r);
    run_refused(folder, 65, "reshard", "s --plan stages.json -o t -q",
                "rest.bin has 100 bytes, but weights.json says");
}
