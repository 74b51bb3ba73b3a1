/* test_kernels.c - what the time of a plan goes to: the kernels of the plan file, held against what
 * else the file says. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/nets.h"
#include "support/run.h"

static char *folder;
static void set_up(void) { folder = folder_new(); }
static void tear_down(void) { folder_free(folder); }
TestSuite(kernels, .init = set_up, .fini = tear_down);

#define MODELS TEST_SOURCE_DIR "/tests/data/"
#define DECODE                                                                                     \
    " --bind batch_size=2,sequence_length=1,past_sequence_length=15,total_sequence_length=16"

/* Of each kernel the time by cause is the time by what it rests on; those of a device add up to its
 * busy time; a mesh has them once, on its lead, and the others are as busy. Operators with time are
 * in one kernel each; collectives are those of the plan. kernels.json, argv[1]: the runtime. */
static const char check[] =
    "import collections, json, sys\n"
    "p = json.load(open('plan.json'))\n"
    "busy, ops, sent = collections.Counter(), 0, []\n"
    "for k in p['kernels']:\n"
    "    assert sum(k['ns']) == sum(k['basis_ns']) > 0, k\n"
    "    assert len(k['ns']) == 4 and len(k['basis_ns']) == 3, k\n"
    "    busy[k['device']] += sum(k['ns'])\n"
    "    ops += k['operators']\n"
    "    if k['operators']:\n"
    "        assert k['kind'] in ('product', 'convolution', 'attention', 'memory'), k\n"
    "        assert k['ns'][3] == 0, k\n"
    "        assert k['operators'] == 1 or sys.argv[1] != 'none', k\n"
    "    else:\n"
    "        sent.append(k)\n"
    "mesh = p['mesh']['devices'] if 'mesh' in p else [[d] for d in range(len(p['devices']))]\n"
    "for devices in mesh:\n"
    "    for d in devices:\n"
    "        assert p['devices'][d]['busy_ns'] == busy[devices[0]], (d, busy)\n"
    "assert set(busy) <= {devices[0] for devices in mesh}\n"
    "assert 0 < ops <= p['operators']['count']\n"
    "spoken = [c for c in p.get('collectives', []) if c['ns'] > 0]\n"
    "assert sorted(c['ns'] for c in spoken) == sorted(k['ns'][3] for k in sent if k['ns'][3])\n"
    "assert sum(busy.values()) > 0 and p['runtime'] == sys.argv[1]\n"
    "print(p['stages'], len(mesh[0]), len(p['kernels']) - len(sent), len(sent))\n";

typedef struct {
    int stages, mesh, kernels, collectives;
} counted;

static counted planned(const char *runtime, const char *arguments)
{
    counted c = { 0 };
    file_write(folder, "check.py", check, sizeof check - 1);
    run_result r = run_in(folder,
                          "%s plan -q --no-output --plan-out plan.json --runtime %s %s && "
                          "python3 check.py %s",
                          TEST_CLEAVE, runtime, arguments, runtime);
    cr_assert_eq(r.code, 0, "%s %s: %s", runtime, arguments, r.err);
    cr_assert_eq(sscanf(r.out, "%d %d %d %d", &c.stages, &c.mesh, &c.kernels, &c.collectives), 4,
                 "%s", r.out);
    run_free(&r);
    return c;
}

/* With kernels there are fewer than of operators by themselves. */
static void expect(const char *arguments, int stages, int mesh)
{
    counted none = planned("none", arguments), ort = planned("onnxruntime", arguments),
            engine = planned("engine", arguments);
    cr_expect_lt(engine.kernels, none.kernels, "%s", arguments);
    cr_expect_leq(ort.kernels, none.kernels, "%s", arguments);
    cr_expect(engine.stages == stages && none.stages == stages, "%s: %d and %d stages", arguments,
              engine.stages, none.stages);
    cr_expect(engine.mesh == mesh && none.mesh == mesh, "%s", arguments);
    cr_expect(mesh > 1 || engine.collectives + none.collectives == 0, "%s", arguments);
}

#define LLAMA  MODELS "models/llama_gqa_decode.dyn.onnx" DECODE
#define RESNET MODELS "models/resnet.static.onnx"
#define VIT    MODELS "models/vit_l_16.b16.onnx"

Test(kernels, those_of_whole_operators_add_up)
{
    expect("--devices 1 " LLAMA, 1, 1);
    expect("--devices 1 " RESNET, 1, 1);
    expect("--devices 2 --max-tp 1 --stages 2 " LLAMA, 2, 1);
    expect("--devices 4 --max-tp 1 --stages 4 --objective throughput " RESNET, 4, 1);
    expect("--devices 3 --max-tp 1 --sharding-nodes "
           "/layer1/layer1.0/relu_2/Relu=0 " RESNET,
           2, 1);
    expect("--devices 2 --max-tp 1 --cluster cpu-2 --stages 2 " RESNET, 2, 1);
}

Test(kernels, those_of_meshes_add_up)
{
    expect("--mesh tp=4 --devices 4 " LLAMA, 1, 4);
    expect("--mesh 2x2 --devices 4 " VIT, 1, 4);
    expect("--mesh 2 --stages 2 --devices 4 " LLAMA, 2, 2);
    expect("--mesh 2 --stages 2 --devices 4 --objective throughput " VIT, 2, 2);
    expect("--mesh 4 --devices 4 --overlap 50% " LLAMA, 1, 4);
}

/* Products that memory waits for, and sums of what each device has. */
Test(kernels, those_of_a_split_network_are_what_it_consists_of)
{
    static const net_sizes s = { .layers = 2,
                                 .batch = 8,
                                 .sequence = 1,
                                 .past = 1023,
                                 .hidden = 4096,
                                 .heads = 32,
                                 .kv_heads = 8,
                                 .inner = 14336,
                                 .words = 32000 };
    char path[4096];
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    net_llama(&s, path);
    counted c = planned("engine", "--mesh 8 m.onnx");
    cr_expect_geq(c.collectives, 2 * s.layers);
    run_result r = run_in(folder, "grep -c '\"kind\": \"attention\"' plan.json");
    cr_expect_eq(atoi(r.out), s.layers, "%s", r.out);
    run_free(&r);
    run_says(folder, 0, "plan", "--no-output --mesh 8 m.onnx", "\nrests on    measured 9");
    run_says(folder, 0, "plan", "--no-output --mesh 8 --runtime none m.onnx",
             "\nrests on    assumed 100.0 % of the time\n");
}

/* Of an external compiler nobody knows what it starts. */
Test(kernels, an_external_compiler_reports_none)
{
    run_result r =
        run_in(folder,
               "%s plan --no-output --plan-out plan.json --devices 2 --compiler \"echo "
               "'{\\\"version\\\":1,\\\"outcome\\\":\\\"fits\\\",\\\"latency_ms\\\":2}'\""
               " " RESNET,
               TEST_CLEAVE);
    cr_assert_eq(r.code, 0, "%s", r.err);
    cr_expect(!strstr(r.out, "rests on") && !strstr(r.out, "\ntime  "), "%s", r.out);
    run_free(&r);
    char *plan = file_text(folder, "plan.json", NULL);
    cr_expect(plan && !strstr(plan, "\"kernels\""));
    free(plan);
}
