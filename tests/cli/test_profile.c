/* test_profile.c - cleave plan for who is to run it: the command line, the price, and what does not
 * go together.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/nets.h"
#include "support/run.h"

static char *folder;

static const net_sizes decoder = { .layers = 6,
                                   .batch = 8,
                                   .sequence = 1,
                                   .past = 255,
                                   .hidden = 2048,
                                   .heads = 16,
                                   .kv_heads = 8,
                                   .inner = 8192,
                                   .words = 32000 };

static void write_model(const net_sizes *s)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    net_llama(s, path);
}

static void set_up(void)
{
    folder = folder_new();
    write_model(&decoder);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(profile, .init = set_up, .fini = tear_down, .timeout = 600);

static void says(const char *arguments, const char *words)
{
    char line[1000];
    snprintf(line, sizeof line, "--no-output %s m.onnx", arguments);
    run_says(folder, 0, "plan", line, words);
}

static void refuses(int code, const char *arguments, const char *words)
{
    char line[1000];
    int before = folder_count(folder);
    snprintf(line, sizeof line, "%s m.onnx", arguments);
    run_refused(folder, code, "plan", line, words);
    cr_expect_eq(folder_count(folder), before, "'%s' wrote something", arguments);
}

/* -- what is printed -- */

Test(profile, each_engine_has_its_command_line)
{
    says("--profile vllm", "\ncommand     vllm serve MODEL --tensor-parallel-size 8\n");
    says("--profile tensorrt-llm", "\ncommand     trtllm-serve MODEL --tp_size 8\n");
    says("--profile sglang",
         "\ncommand     python3 -m sglang.launch_server --model-path MODEL --tp-size 8\n");
}

Test(profile, stages_and_copies_are_options_or_servers)
{
    says("--profile vllm --stages 2",
         "vllm serve MODEL --tensor-parallel-size 4 --pipeline-parallel-size 2\n");
    says("--profile vllm --copies 2",
         "vllm serve MODEL --tensor-parallel-size 4 --data-parallel-size 2\n");
    says("--profile sglang --copies 2 --mesh 2 --stages 2",
         "--tp-size 2 --pp-size 2 --dp-size 2\n");
    says("--profile tensorrt-llm --copies 2",
         "\ncommand     of each of 2 servers: trtllm-serve MODEL --tp_size 4\n");
}

Test(profile, over_nodes_there_are_stages_or_servers)
{
    says("--profile vllm --cluster dgx-h100-x2 --devices 16 --mesh 8 --stages 2",
         "--tensor-parallel-size 8 --pipeline-parallel-size 2 --nnodes 2 --node-rank RANK "
         "--master-addr HEAD\n");
    says("--profile vllm --cluster dgx-h100-x2 --copies 4",
         "of each of 2 servers: vllm serve MODEL --tensor-parallel-size 4 --data-parallel-size "
         "2\n");
    says("--profile tensorrt-llm --cluster dgx-h100-x2 --devices 16 --mesh 8 --stages 2",
         "srun --nodes 2 --ntasks-per-node TASKS --mpi pmix trtllm-llmapi-launch trtllm-serve "
         "MODEL --tp_size 8 --pp_size 2\n");
}

/* Copies behind one address would share their experts. */
Test(profile, vllm_has_a_server_for_each_copy_of_experts)
{
    net_sizes s = decoder;
    s.experts = 8;
    s.inner = 2048;
    write_model(&s);
    says("--profile vllm --copies 2",
         "of each of 2 servers: vllm serve MODEL --tensor-parallel-size 4\n");
    says("--profile sglang --copies 2", " --tp-size 4 --dp-size 2\n");
}

Test(profile, experts_that_are_dealt_out_are_an_option)
{
    const net_sizes s = { .layers = 2,
                          .batch = 64,
                          .sequence = 1,
                          .past = 1023,
                          .hidden = 4096,
                          .heads = 32,
                          .kv_heads = 8,
                          .inner = 1536,
                          .experts = 128,
                          .words = 32000 };
    write_model(&s);
    says("--profile vllm --mesh 8",
         "vllm serve MODEL --tensor-parallel-size 8 --enable-expert-parallel\n");
    says("--profile tensorrt-llm --mesh 8", "trtllm-serve MODEL --tp_size 8 --ep_size 8\n");
}

Test(profile, heads_and_layers_are_not_taken_apart)
{
    says("--devices 6", "mesh        tp=6");
    says("--profile vllm --devices 6",
         "vllm serve MODEL --tensor-parallel-size 2 --pipeline-parallel-size 3\n");
    says("--profile vllm --stages 4 --devices 4", "VLLM_PP_LAYER_PARTITION=");
    says("--profile sglang --stages 4 --devices 4", "SGLANG_PP_LAYER_PARTITION=");
}

Test(profile, fewest_devices_are_those_that_it_runs_on)
{
    says("--objective devices --memory 400MiB --stages 1", "fits 3 of 3 devices in 1 stage");
    says("--profile vllm --objective devices --memory 400MiB --stages 1",
         "fits 4 of 4 devices in 1 stage");
    says("--profile vllm --objective devices --memory 400MiB", "fits 3 of 3 devices in 3 stages");
}

Test(profile, the_price_is_said)
{
    says("--profile vllm", "\nprofile     vllm: it costs nothing, TP8 is best without it too\n");
    says("--profile vllm --devices 6", "\nprofile     vllm: it costs ");
    says("--profile vllm --devices 6", " in latency: TP2xPP3 ");
    says("--profile vllm --devices 6", "without it TP6 ");
}

Test(profile, restrictions_on_specs_hold_for_plans)
{
    says("--devices 3", "mesh        tp=3");
    says("--profile even-slices --devices 4", "mesh        tp=4");
    refuses(2, "--profile one-axis --mesh 3 --devices 3",
            "mesh '3': profile 'one-axis' expects a power of two of devices instead of 3");
}

Test(profile, the_plan_file_has_it)
{
    run_result r = run_in(folder,
                          "%s plan -q --profile vllm --stages 2 --no-output --plan-out p.json "
                          "m.onnx && %s lower m.onnx p.json --form devices --weights ranges -o d",
                          TEST_CLEAVE, TEST_CLEAVE);
    cr_expect_eq(r.code, 0, "%s", r.err);
    run_free(&r);
    run_is_valid(folder, "plan", "p.json");
    char *text = file_text(folder, "p.json", NULL);
    cr_expect(strstr(text, "\"command\": \"vllm serve MODEL --tensor-parallel-size 4 "
                           "--pipeline-parallel-size 2\""));
    cr_expect(strstr(text, "\"layers\": \"3,3\""));
    free(text);
}

Test(profile, specs_of_a_plan_are_what_its_profile_supports)
{
    run_result r = run_in(folder,
                          "%s plan -q --profile vllm --stages 2 m.onnx && "
                          "%s shards --check --profile vllm m.onnx.auto_sharded.onnx",
                          TEST_CLEAVE, TEST_CLEAVE);
    cr_expect_eq(r.code, 0, "%s", r.err);
    cr_expect(strstr(r.out, "\nchecked for backend 'vllm'\n"));
    run_free(&r);
}

/* -- what does not go together -- */

Test(profile, a_bad_profile_is_one_sentence)
{
    refuses(2, "--profile vlm", "'vlm' is no known backend; did you mean 'vllm'?");
    refuses(74, "--profile ./none.json", "could not open ./none.json");
    file_write(folder, "p.json", "heads", 5);
    refuses(65, "--profile ./p.json", "p.json");
    const char *text =
        "{\"version\": 1, \"name\": \"n\", \"description\": \"d\", \"source\": \"s\", "
        "\"heads\": 3}";
    file_write(folder, "p.json", text, strlen(text));
    refuses(65, "--profile ./p.json", "p.json: heads is 3, expected true or false");
}

Test(profile, what_it_does_not_run_is_refused)
{
    refuses(2, "--profile vllm --mesh 3 --devices 3",
            "mesh '3': profile 'vllm' gives each device as many of the 16 heads, expected a "
            "divisor of them instead of 3");
    refuses(2, "--profile vllm --mesh 2x4",
            "mesh '2x4': profile 'vllm' expects 1 axis at most instead of 2");
    refuses(2, "--profile vllm --mesh 16 --cluster dgx-h100-x2",
            "mesh '16': profile 'vllm' keeps a mesh within a node, expected a divisor of its 8 "
            "devices instead of 16");
    refuses(2, "--profile vllm --stages 1 --devices 3",
            "1 stage: profile 'vllm' gives each device");
    refuses(2, "--profile vllm --copies 3", "3 copies of a plan: 8 devices cannot be dealt out");
    refuses(2, "--profile even-slices --cluster tpu-v5e-8",
            "profile 'even-slices' does not run on device 'tpu0' of tpu-v5e-8, expected 'ascend'");
}

Test(profile, who_runs_the_plan_decides_how_tensors_are_split)
{
    refuses(2, "--profile vllm --data-parallel --mesh 8",
            "profile 'vllm' and --data-parallel exclude each other");
    refuses(2, "--profile vllm --sharding-nodes a=0",
            "profile 'vllm' and --sharding-nodes exclude");
    file_write(folder, "rules.json", "{}", 2);
    refuses(2, "--profile vllm --backward 3/down",
            "profile 'vllm' serves models, and this one has a backward pass");
    refuses(2, "--profile vllm --constraints rules.json",
            "profile 'vllm' and --constraints exclude each other");
}

Test(profile, a_model_without_attention_is_none_of_an_engine)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    net_resnet(2, 32, 64, 56, path);
    refuses(2, "--profile vllm",
            "profile 'vllm' runs transformers, and runtime 'engine' shows no operator with heads "
            "of attention in the model");
    refuses(2, "--profile vllm --devices 1", "profile 'vllm' runs transformers");
    says("--profile even-slices", "\nprofile     even-slices: it costs nothing");
}

Test(profile, a_form_that_says_its_devices_is_not_counted)
{
    says("--profile vllm --first-fit", "\nprofile     vllm: it costs ");
    says("--profile vllm --max-candidates 1", ": 1 device ");
    run_result r = run_cleave(folder, 0, "plan", "--no-output --profile vllm --first-fit m.onnx");
    cr_expect_not(strstr(r.out, "on 1 device"), "%s", r.out);
    run_free(&r);
}

/* A file may say any name. */
Test(profile, names_are_shown_safely_and_cut)
{
    static const char file[] = "{\"version\": 1, \"description\": \"d\", \"source\": \"s\", "
                               "\"name\": \"a\\u001b[31m\\nb%s\"}";
    char text[1000], many[400];
    memset(many, 'n', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    snprintf(text, sizeof text, file, "");
    file_write(folder, "p.json", text, strlen(text));
    says("--profile p.json", "\nprofile     a\\x1b[31m\\x0ab: it costs nothing, TP8 is best");
    snprintf(text, sizeof text, file, many);
    file_write(folder, "p.json", text, strlen(text));
    says("--profile p.json", "\nprofile     a\\x1b[31m");
    says("--profile p.json", "...nnnnnnnnnnnnnnnnnnnnnnnnn: it costs");
}

Test(profile, what_is_too_slow_is_not_said_to_lack_memory)
{
    run_says(folder, 3, "plan", "--no-output --profile vllm --devices 6 --max-latency 300us m.onnx",
             "\nprofile     vllm: no plan of it is within the limit; without it: TP6 ");
}

Test(profile, one_device_alone_is_asked_for)
{
    static const char file[] = "{\"version\": 1, \"name\": \"x\", \"description\": \"d\", "
                               "\"source\": \"s\", \"stages\": false, \"mesh_axes\": 0, "
                               "\"max_devices\": %d}";
    char text[300];
    snprintf(text, sizeof text, file, 8);
    file_write(folder, "p.json", text, strlen(text));
    refuses(2, "--profile p.json", "profile 'x' has no stages, and no mesh of 8 devices");
    says("--profile p.json --devices 1", "fits 1 of 1 device");
    snprintf(text, sizeof text, file, 1);
    file_write(folder, "p.json", text, strlen(text));
    refuses(2, "--profile p.json", "profile 'x' runs on 1 device at most, and dgx-h100 has 8");
}

/* Of three dimensions, heads and batch in one, only a kernel of attention has heads. */
Test(profile, the_runtime_decides_what_is_seen_of_heads)
{
    static const char vit[] = TEST_SOURCE_DIR "/tests/data/models/vit_l_16.b16.onnx";
    char line[600];
    snprintf(line, sizeof line, "--no-output --profile vllm --runtime none %s", vit);
    run_refused(folder, 2, "plan", line,
                "runtime 'none' shows no operator with heads of attention in the model");
    snprintf(line, sizeof line, "--no-output --profile vllm %s", vit);
    run_says(folder, 0, "plan", line, "\ncommand     vllm serve MODEL");
}
