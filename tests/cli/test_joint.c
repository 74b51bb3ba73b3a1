/* test_joint.c - cleave plan with a mesh, as a user runs it: what it writes, and what it refuses.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/effort.h"
#include "support/nets.h"
#include "support/onnx_builder.h"
#include "support/run.h"

static char *folder;

static void set_up(void)
{
    char path[4096];
    folder = folder_new();
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    net_llama(&net_small_decoder, path);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(joint, .init = set_up, .fini = tear_down, .timeout = 600);

/* "cleave plan <arguments> m.onnx" ends with that code, and says so in one line. */
static void refuses(int code, const char *arguments, const char *says)
{
    run_result r = run_in(folder, "%s plan %s m.onnx", TEST_CLEAVE, arguments);
    cr_expect_eq(r.code, code, "'%s' gave %d: %s%s", arguments, r.code, r.err, r.out);
    cr_expect(strstr(r.err, says), "'%s' printed: %s", arguments, r.err);
    cr_expect(strchr(r.err, '\n') == r.err + strlen(r.err) - 1, "'%s' printed: %s", arguments,
              r.err);
    cr_expect_eq(folder_count(folder), 1, "'%s' wrote something", arguments);
    run_free(&r);
}

#define NAME_39 "an-axis_whose-name_is_as-long_as_may-be"
#define NAME_40 "p" NAME_39

Test(joint, a_mesh_that_is_none_is_named)
{
    refuses(2, "--mesh 0x4", "an axis of the mesh is '0': expected a whole number from 1");
    refuses(2, "--mesh 2x", "an axis of the mesh is ''");
    refuses(2, "--mesh x4", "an axis of the mesh is 'x4'");
    refuses(2, "--mesh tp=", "an axis of the mesh is ''");
    refuses(2, "--mesh 2.5", "an axis of the mesh is '2.5'");
    refuses(2, "--mesh=-2", "an axis of the mesh is '-2'");
    refuses(2, "--mesh '2 x4'", "an axis of the mesh is '2 x4'");
    refuses(2, "--mesh 99999999999999999999x2", "an axis of the mesh is '99999999999999999999'");
    refuses(2, "--mesh ''", "--mesh is empty");
    refuses(2, "--mesh dp=2xdp=4", "two axes of the mesh have the name 'dp'");
    refuses(2, "--mesh a,b=2xc=4",
            "axis 0 of the mesh has the name 'a,b', expected 1 to 40 letters");
    refuses(2, "--mesh c=2x'a b=4'", "axis 1 of the mesh has the name 'a b'");
    refuses(2, "--mesh " NAME_40 "a=8", "axis 0 of the mesh has the name '" NAME_40 "a'");
    refuses(2, "--mesh 2x2x2x1", "mesh '2x2x2x1' has more than 3 axes");
}

Test(joint, a_mesh_that_the_cluster_has_not_is_named)
{
    refuses(2, "--mesh 3", "mesh '3' does not go into 8 devices a whole number of times");
    refuses(2, "--mesh 16", "mesh '16' does not go into 8 devices");
    refuses(2, "--mesh 1024x1024x1024", "mesh '1024x1024x1024' does not go into 8 devices");
    refuses(2, "--mesh 8 --devices 4", "mesh '8' does not go into 4 devices");
    refuses(2, "--mesh 2x2 --stages 4", "4 stages of mesh '2x2' have 16 devices");
    refuses(2, "--mesh 8 --max-tp 4", "mesh '8' has 8 devices, more than the 4 that are allowed");
    refuses(2, "--stages 3", "3 stages: 8 devices cannot be dealt out to so many alike");
    refuses(2, "--stages 9", "9 stages: 8 devices");
    refuses(2, "--devices 8 --stages 2 --max-tp 2", "2 stages of 4 devices have more than the 2");
    refuses(2, "--cluster h100-l40s --devices 4 --mesh 2",
            "mesh '2': the devices of 2 stages would not be");
    refuses(2, "--cluster h100-l40s --devices 4 --stages 2",
            "2 stages of 2 devices: they would not be alike, in kind or links");
    refuses(2, "--cluster h100-l40s --devices 4 --data-parallel --max-tp 2",
            "with each mesh that goes into 4 devices the stages would not be alike");
    refuses(2, "--stages 0", "--stages is '0': expected a whole number");
    refuses(2, "--max-tp 0", "--max-tp is '0': expected a whole number");
    refuses(2, "--max-tp two", "--max-tp is 'two'");
}

/* Some reshapes have the batch behind the sequence, in one dimension: it is the batch all the same.
 */
Test(joint, a_batch_behind_a_sequence_is_split_too)
{
    for (int given = 0; given < 2; given++) {
        run_result r = run_in(folder,
                              "%s plan --devices 8 --mesh 8 %s --no-output "
                              "%s/tests/data/models/vit_l_16.b16.onnx",
                              TEST_CLEAVE, given ? "--data-parallel" : "", TEST_SOURCE_DIR);
        cr_expect_eq(r.code, 0, "%s", r.err);
        cr_expect(strstr(r.out, "mesh        dp=8:"), "%s", r.out);
        cr_expect(strstr(r.out, "no collectives"), "%s", r.out);
        run_free(&r);
    }
}

Test(joint, no_more_than_all_is_hidden) { refuses(2, "--mesh 8 --overlap 2", "--overlap"); }

Test(joint, what_takes_whole_operators_takes_no_mesh)
{
    refuses(2, "--mesh 8 --sharding-nodes 0/o", "sharding nodes are given: a mesh needs a search");
}

/* x's columns, then rows: a sum is left at the end, which is no stage by itself. */
Test(joint, a_plan_that_is_written_is_read)
{
    test_onnx *o = onnx_new(8, 17);
    test_graph *g = onnx_main(o);
    char path[4096];
    onnx_input(g, "x", 1, "32,4096");
    onnx_weight(g, "up", 1, "4096,4096");
    onnx_weight(g, "down", 1, "4096,1000");
    onnx_node(g, "MatMul", "up", "x,up", "a");
    onnx_node(g, "Relu", "relu", "a", "b");
    onnx_node(g, "MatMul", "down", "b,down", "y");
    onnx_output(g, "y", 1, "32,1000");
    snprintf(path, sizeof path, "%s/mlp.onnx", folder);
    onnx_write(o, path);
    onnx_free(o);
    run_result r =
        run_in(folder,
               "%s plan -q --devices 4 --stages 2 --mesh 2 --no-output --plan-out p.json "
               "mlp.onnx && %s lower mlp.onnx p.json --form devices --weights ranges -o d",
               TEST_CLEAVE, TEST_CLEAVE);
    cr_expect_eq(r.code, 0, "%s", r.err);
    run_free(&r);
}

/* Rows that a run picks: 'up' and 'down' are large, and would be split over the mesh if their
 * number were known; 'out' is. */
Test(joint, a_tensor_whose_size_only_the_run_knows_is_never_split)
{
    test_onnx *o = onnx_new(8, 17);
    test_graph *g = onnx_main(o);
    char path[4096];
    onnx_input(g, "x", 1, "256,1024");
    onnx_input(g, "on", 9, "256");
    onnx_weight(g, "up", 1, "1024,4096");
    onnx_weight(g, "down", 1, "4096,1024");
    onnx_weight(g, "out", 1, "1024,1024");
    onnx_node(g, "NonZero", "which", "on", "at2");
    onnx_node(g, "Transpose", "turn", "at2", "at");
    onnx_node(g, "GatherND", "pick", "x,at", "rows");
    onnx_node(g, "MatMul", "up", "rows,up", "a");
    onnx_node(g, "Relu", "relu", "a", "b");
    onnx_node(g, "MatMul", "down", "b,down", "c");
    onnx_node(g, "ScatterND", "put", "x,at,c", "d");
    onnx_node(g, "MatMul", "out", "d,out", "y");
    onnx_output(g, "y", 1, "256,1024");
    snprintf(path, sizeof path, "%s/picked.onnx", folder);
    onnx_write(o, path);
    onnx_free(o);
    for (int mesh = 2; mesh <= 4; mesh++) {
        run_result r =
            run_in(folder,
                   "%s plan -q --devices %d --mesh %d -o a.onnx --plan-out p.json picked.onnx && "
                   "%s shards -q --check a.onnx && rm -rf d && "
                   "%s lower picked.onnx p.json --form devices --weights ranges -o d && "
                   "%s verify --proof-only picked.onnx p.json",
                   TEST_CLEAVE, mesh, mesh, TEST_CLEAVE, TEST_CLEAVE, TEST_CLEAVE);
        cr_expect_eq(r.code, 0, "%d: %s%s", mesh, r.out, r.err);
        run_free(&r);
        r = run_in(folder, "python3 -c \"import json; p = json.load(open('p.json'));"
                           "print([s[0] for s in p['operators']['split_runs']][-1])\"");
        cr_expect_neq(r.out[0], '\n', "'out' is split: %s", r.out);
        run_free(&r);
    }
}

/* Names of axes come back whole from all texts that they stand in. */
Test(joint, the_longest_names_of_axes_are_read_again)
{
    run_result r = run_in(folder,
                          "%s plan -q --mesh p" NAME_39 "=2xq" NAME_39 "=2xr" NAME_39
                          "=2 --no-output --plan-out p.json m.onnx && "
                          "%s lower m.onnx p.json --form devices --weights ranges -o d",
                          TEST_CLEAVE, TEST_CLEAVE);
    cr_expect_eq(r.code, 0, "%s", r.err);
    run_free(&r);
}

/* The numbers of a plan file: {outcome, peak of device 0 and its capacity} by a line of python. */
static run_result shown(const char *arguments, const char *python)
{
    run_result r = run_in(folder, "%s plan --json --no-output %s > o.json; echo $? > code",
                          TEST_CLEAVE, arguments);
    run_free(&r);
    return run_in(folder,
                  "python3 -c \"import json; d = json.load(open('o.json')); p = d['plan']; %s\"",
                  python);
}

static void expect_shown(const char *arguments, const char *python, const char *want)
{
    run_result r = shown(arguments, python);
    cr_expect_str_eq(r.out, want, "%s: %s%s", arguments, r.out, r.err);
    run_free(&r);
}

Test(joint, too_little_memory_is_reported_with_what_is_missing)
{
    expect_shown("--mesh 8 --memory 20MiB m.onnx",
                 "print(open('code').read().strip(), p['outcome'], p['short_bytes'] > 0, "
                 "p['mesh']['axes'])",
                 "3 out of memory True [{'name': 'tp', 'size': 8}]\n");
    expect_shown("--mesh 8 --memory 20MiB m.onnx",
                 "print(sum('it would fit with ' in n for n in p['notes']))", "1\n");
    expect_shown("--mesh 8 --memory 1GiB m.onnx",
                 "print(open('code').read().strip(), p['outcome'])", "0 fits\n");
}

/* Without a word on meshes the plan is that of all forms; requests about whole operators, and
 * --max-tp 1, get whole operators. */
Test(joint, shards_are_found_unless_operators_are_to_stay_whole)
{
    static const char *const whole[] = {
        "--max-tp 1 m.onnx",
        "--first-fit m.onnx",
        "--max-candidates 9 m.onnx",
        "--search documented m.onnx",
        "--input_model m.onnx --optimal_perf",
        "--constraints on.json m.onnx",
    };
    static const char rules[] = "{\"rules\":[{\"place\":\"0/o\",\"on\":0}]}";
    file_write(folder, "on.json", rules, strlen(rules));
    run_result all = shown("--max-tp 8 m.onnx", "print(p['mesh'], p['latency_ns'])");
    expect_shown("m.onnx", "print(p['mesh'], p['latency_ns'])", all.out);
    cr_expect_neq(all.out[0], '\0', "%s", all.err);
    run_free(&all);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        expect_shown(whole[i], "print(p['outcome'], 'mesh' in p)", "fits False\n");
}

/* Half of the bytes' time of collectives is hidden, their latencies are not. */
Test(joint, an_overlap_hides_a_part_of_what_is_sent)
{
    static const char numbers[] = "print(p['latency_ns'], sum(c['ns'] for c in p['collectives']), "
                                  "p['mesh'].get('overlap', 0), p['search']['bound_ns'])";
    long long latency[2], sent[2], bound[2];
    double overlap[2];
    for (int i = 0; i < 2; i++) {
        run_result r = shown(i ? "--mesh 8 --overlap 50% m.onnx" : "--mesh 8 m.onnx", numbers);
        cr_assert_eq(
            sscanf(r.out, "%lld %lld %lf %lld", &latency[i], &sent[i], &overlap[i], &bound[i]), 4,
            "%s%s", r.out, r.err);
        cr_expect_leq(bound[i], latency[i]);
        run_free(&r);
    }
    cr_expect_lt(latency[1], latency[0]);
    cr_expect_lt(sent[1], sent[0]);
    cr_expect_float_eq(overlap[0], 0, 0);
    cr_expect_float_eq(overlap[1], 0.5, 0);
}

/* Whole operators are searched as asked where meshes are looked at beside them, too. */
Test(joint, the_first_fit_is_enough_beside_meshes_too)
{
    expect_shown("--runtime none --max-tp 8 --first-fit --objective throughput " TEST_SOURCE_DIR
                 "/tests/data/models/vit_l_16.b16.onnx",
                 "print(p['search']['name'], p['search']['judged'])", "first-fit 1\n");
}

/* Where shards gain nothing operators stay whole. */
Test(joint, one_small_operator_stays_whole)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "x", 1, "1");
    onnx_node(g, "Relu", "only", "x", "y");
    onnx_output(g, "y", 1, "1");
    onnx_write(m, path);
    onnx_free(m);
    expect_shown("m.onnx",
                 "print(p['outcome'], 'mesh' in p, sum(d['operators'] > 0 for d in p['devices']))",
                 "fits False 1\n");
}

/* A chain: devices in a row, as many as are asked for even where fewer would be faster. */
Test(joint, there_are_as_many_stages_as_are_asked_for)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    net_resnet(4, 8, 256, 28, path);
    for (int n = 1; n <= 8; n *= 2) {
        char asked[60], want[20];
        snprintf(asked, sizeof asked, "--stages %d m.onnx", n);
        snprintf(want, sizeof want, "%d %d\n", n, 8 / n);
        expect_shown(asked,
                     "m = p.get('mesh'); "
                     "print(p['stages'], len(m['devices'][0]) if m else 1)",
                     want);
    }
}

/* Meshes of one and of two axes promise the same for eight devices. */
Test(joint, forms_for_comparison_are_of_few_axes)
{
    expect_shown("--cluster dgx-h100 --devices 8 --bind "
                 "batch_size=8,sequence_length=1,past_sequence_length=2047 " TEST_SOURCE_DIR
                 "/tests/data/models/llama_gqa_decode.dyn.onnx",
                 "print([a['options'] for a in p['choice']['alternatives'] if a['form'] == 'DP8'])",
                 "['--mesh 8']\n");
}

/* Milliseconds between runs; infinite: nothing fits. */
static double between_runs(const char *memory, const char *form)
{
    char asked[400];
    double ms = NAN;
    snprintf(asked, sizeof asked,
             "--objective throughput --cluster l40s-pcie-8 --devices 4 --worth 0 --alternatives 0 "
             "--memory %s %s --bind "
             "batch_size=32,sequence_length=1,past_sequence_length=127 " TEST_SOURCE_DIR
             "/tests/data/models/llama_gqa_decode.dyn.onnx",
             memory, form);
    run_result r = shown(asked, "l = p.get('pipeline', {}); n = 1 / len(p.get('copies', [0])); "
                                "print(n * (p['period_ns'] if l.get('chosen') == 'filled' or "
                                "'run_ns' not in l else l['run_ns'] / l['microbatches']) if "
                                "d['fits'] else 'inf')");
    cr_assert_eq(sscanf(r.out, "%lf", &ms), 1, "%s: %s%s", asked, r.out, r.err);
    run_free(&r);
    return ms;
}

/* Where memory has no room for the states of as many runs as fill a pipeline, its floor is that of
 * those it has room for: no form that it leaves out is better when it is asked for. */
Test(joint, floors_of_pipelines_that_states_leave_unfilled_hide_no_plan)
{
    static const char *const memory[] = { "700KiB", "900KiB", "1100KiB", "1600KiB" };
    static const char *const form[] = { "--mesh 4",
                                        "--mesh 2 --stages 2",
                                        "--copies 2 --mesh 2",
                                        "--copies 2 --max-tp 1 --stages 2",
                                        "--copies 4 --max-tp 1",
                                        "--stages 4 --max-tp 1" };
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        double all = between_runs(memory[i], "");
        cr_expect(isfinite(all), "%s", memory[i]);
        for (size_t k = 0; k < sizeof form / sizeof *form; k++)
            cr_expect_leq(all, between_runs(memory[i], form[k]), "%s %s", memory[i], form[k]);
    }
}

enum { N_ENCODER = 12, N_DECODER = 40, OPS_OF_DECODER = 5 };

/* With weights of its own, in a file that does not exist. */
static void write_product(test_graph *g, const char *from, int i, const char *to, int k)
{
    char in[80], out[40], weight[60];
    snprintf(out, sizeof out, "%s%d", to, k);
    snprintf(weight, sizeof weight, "%s_weight", out);
    snprintf(in, sizeof in, "%s%d,%s", from, i, weight);
    onnx_weight_external(g, weight, 10, "1024,1024", "weights.bin", -1, -1);
    onnx_node(g, "MatMul", out, in, out);
}

static void write_sum(test_graph *g, const char *one, const char *other, int i, const char *to,
                      int k)
{
    char in[40], out[40];
    snprintf(in, sizeof in, "%s%d,%s%d", one, i, other, i);
    snprintf(out, sizeof out, "%s%d", to, k);
    onnx_node(g, "Add", out, in, out);
}

/* Each layer of the decoder reads a product of the encoder's result. */
static void write_encoder_and_decoder(void)
{
    char path[4096], out[40];
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    onnx_input(g, "e0", 10, "2048,1024");
    onnx_input(g, "d0", 10, "2048,1024");
    for (int i = 0; i < N_ENCODER; i++)
        write_product(g, "e", i, "e", i + 1);
    for (int i = 0; i < N_DECODER; i++) {
        write_product(g, "d", i, "left", i);
        write_product(g, "d", i, "right", i);
        write_product(g, "e", N_ENCODER, "key", i);
        write_sum(g, "left", "right", i, "both", i);
        write_sum(g, "both", "key", i, "d", i + 1);
    }
    snprintf(out, sizeof out, "d%d", N_DECODER);
    onnx_output(g, out, 10, "2048,1024");
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
}

/* The stage of the encoder makes what later layers of the decoder read, while the next stage is at
 * earlier ones; near the first layer what it reads may be made with it. */
Test(joint, a_stage_works_for_the_next_one_while_that_runs)
{
    char python[400];
    write_encoder_and_decoder();
    snprintf(python, sizeof python,
             "at = [d for d, n in p['operators']['device_runs'] for _ in range(n)]; "
             "print(sum(d == 0 for d in at[%d::%d]) > %d, sum(d == 0 for d in at[%d::%d]))",
             N_ENCODER + 2, OPS_OF_DECODER, N_DECODER * 3 / 4, N_ENCODER + OPS_OF_DECODER - 1,
             OPS_OF_DECODER);
    expect_shown("--runtime none --stages 2 m.onnx", python, "True 0\n");
}

Test(joint, symbols_want_sizes_as_ever)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    char path[4096];
    onnx_input(g, "x", 1, "batch,64");
    onnx_weight(g, "w", 1, "64,64");
    onnx_node(g, "MatMul", "p", "x,w", "y");
    onnx_output(g, "y", 1, "batch,64");
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    refuses(65, "--mesh 8", "1 symbol of the inputs' shapes has no size");
    expect_shown("--mesh 8 --bind batch=8 m.onnx", "print(p['outcome'], p['bindings'])",
                 "fits ['batch=8']\n");
}

/* How many elements are not 0 is known when it runs: that and what comes of it stays whole. */
Test(joint, what_has_no_known_shape_stays_whole)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    char path[4096];
    onnx_input(g, "x", 1, "64,1024");
    onnx_weight(g, "w", 1, "1024,1024");
    onnx_node(g, "MatMul", "p", "x,w", "y");
    onnx_node(g, "NonZero", "which", "y", "z");
    onnx_attr_int(g, onnx_node(g, "Cast", "again", "z", "c"), "to", 1);
    onnx_output(g, "c", 1, "2,?");
    onnx_output(g, "y", 1, "64,1024");
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    expect_shown("--mesh 8 m.onnx", "print(p['outcome'], len(p['devices']))", "fits 8\n");
}

/* Forward and backward of two products: the gradients are split like what they are of. */
Test(joint, a_training_graph_is_split_as_any_other)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    char path[4096];
    onnx_input(g, "x", 1, "4096,1024");
    onnx_weight(g, "w1", 1, "1024,4096");
    onnx_weight(g, "w2", 1, "4096,1024");
    onnx_node(g, "MatMul", "up", "x,w1", "h");
    onnx_node(g, "MatMul", "down", "h,w2", "y");
    onnx_node(g, "Transpose", "w2.T", "w2", "w2_t");
    onnx_node(g, "Transpose", "h.T", "h", "h_t");
    onnx_node(g, "Transpose", "x.T", "x", "x_t");
    onnx_node(g, "MatMul", "down_grad_w", "h_t,y", "w2.grad");
    onnx_node(g, "MatMul", "down_grad_x", "y,w2_t", "h.grad");
    onnx_node(g, "MatMul", "up_grad_w", "x_t,h.grad", "w1.grad");
    onnx_output(g, "w2.grad", 1, "4096,1024");
    onnx_output(g, "w1.grad", 1, "1024,4096");
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    onnx_write(m, path);
    onnx_free(m);
    static const char says[] = "print(p['outcome'], p['mesh']['axes'][0]['size'], "
                               "len(p['operators']['split_runs']) > 0)";
    expect_shown("--mesh 8 m.onnx", says, "fits 8 True\n");
    expect_shown("--mesh 4 --objective throughput m.onnx", says, "fits 4 True\n");
}

/* covers: A.011 C.013 */
Test(joint, the_annotated_model_strips_to_the_same_bytes)
{
    run_result r = run_in(folder,
                          "%s plan --mesh 2x4 -o a.onnx m.onnx && %s strip -o s.onnx a.onnx && "
                          "%s shards --check a.onnx && %s annotate --plan a.onnx.plan.json "
                          "-o b.onnx m.onnx",
                          TEST_CLEAVE, TEST_CLEAVE, TEST_CLEAVE, TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s%s", r.out, r.err);
    run_free(&r);
    cr_expect(file_same(folder, "m.onnx", "s.onnx"));
    cr_expect(file_same(folder, "a.onnx", "b.onnx"));
}

/* The same plan at any number of threads. */
Test(joint, threads_do_not_change_the_plan)
{
    for (int jobs = 1; jobs <= 4; jobs *= 2) {
        run_result r = run_in(folder, "%s plan --max-tp 8 --jobs %d -o %d.onnx m.onnx", TEST_CLEAVE,
                              jobs, jobs);
        cr_assert_eq(r.code, 0, "%s", r.err);
        run_free(&r);
    }
    cr_expect(file_same(folder, "1.onnx.plan.json", "2.onnx.plan.json"));
    cr_expect(file_same(folder, "1.onnx.plan.json", "4.onnx.plan.json"));
    cr_expect(file_same(folder, "1.onnx", "4.onnx"));
}

/* -- memory -- */

static bool has_onnx(void)
{
    run_result r = run_in(folder, "/usr/bin/python3 -c 'import onnx'");
    bool has = r.code == 0;
    run_free(&r);
    return has;
}

/* Each on one mesh, on several stages, and in flight, of operators: check_peak.py knows no kernels.
 * more: its options. */
static void expect_memory(const char *more)
{
    static const char *const asked[] = { "--mesh 8",
                                         "--mesh 2x4",
                                         "--mesh 2",
                                         "--devices 8 --stages 2",
                                         "--mesh 4 --objective throughput",
                                         "--mesh 2 --objective throughput" };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        run_result r = run_in(folder, "%s plan --runtime none %s -o a.onnx m.onnx >o.txt",
                              TEST_CLEAVE, asked[i]);
        cr_assert_eq(r.code, 0, "%s: %s", asked[i], r.err);
        run_free(&r);
        r = run_in(folder,
                   TEST_CLEAVE " shards --json a.onnx > s.json && /usr/bin/python3 "
                               "%s/tests/cli/check_peak.py a.onnx a.onnx.plan.json s.json %s",
                   TEST_SOURCE_DIR, more);
        cr_expect_eq(r.code, 0, "%s: %s", asked[i], r.err);
        run_free(&r);
    }
}

Test(joint, the_memory_that_is_promised_is_what_the_parts_need)
{
    net_sizes s = { .layers = 2,
                    .batch = 1,
                    .sequence = 128,
                    .hidden = 2560,
                    .heads = 40,
                    .kv_heads = 40,
                    .inner = 10240,
                    .words = 30522 };
    char path[4096];
    if (!has_onnx())
        cr_skip_test("no onnx for python");
    expect_memory("--any-order"); /* the caches of a llama are not read in the order of the file */
    if (TEST_IS_SANITIZED)
        return; /* the others are as slow, and take the same way */
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    net_bert(&s, path);
    expect_memory("");
    s = (net_sizes){ .layers = 2,
                     .batch = 64,
                     .sequence = 196,
                     .hidden = 1024,
                     .heads = 16,
                     .kv_heads = 16,
                     .inner = 4096 };
    net_vit(&s, path);
    expect_memory("");
    net_resnet(4, 64, 256, 28, path);
    expect_memory("");
    net_dlrm(8, 20000000, 128, 2048, path);
    expect_memory("");
    run_result r =
        run_in(folder, "cp %s/tests/data/models/resnet.static.onnx m.onnx", TEST_SOURCE_DIR);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    expect_memory("");
}

/* The check itself: a plan that says a little less is found out. */
Test(joint, a_wrong_promise_is_found)
{
    static const char *const wrong[] = {
        "d['weight_bytes'] -= 2", "d['activation_bytes'] += 256", "d['activation_bytes'] -= 256",
        "d['peak_bytes'] = d['weight_bytes'] + d['activation_bytes'] - 512"
    };
    char path[4096];
    if (!has_onnx())
        cr_skip_test("no onnx for python");
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    net_resnet(2, 64, 256, 28, path);
    run_result r = run_in(folder, "%s plan --runtime none --mesh 8 -o a.onnx m.onnx", TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        r = run_in(folder,
                   "/usr/bin/python3 -c \"import json; p = json.load(open('a.onnx.plan.json')); "
                   "d = p['devices'][3]; %s; json.dump(p, open('w.json', 'w'))\" && " TEST_CLEAVE
                   " shards --json a.onnx > s.json && "
                   "/usr/bin/python3 %s/tests/cli/check_peak.py a.onnx w.json s.json",
                   wrong[i], TEST_SOURCE_DIR);
        cr_expect_eq(r.code, 1, "%s passes: %s", wrong[i], r.out);
        cr_expect(strstr(r.err, "gpu3"), "%s", r.err);
        run_free(&r);
    }
}
