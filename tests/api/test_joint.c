/* test_joint.c - what is found for the networks that people run, on eight devices of one server:
 * the plans they would have made by hand, or better ones.
 *
 * Times are of the cost model: nothing here depends on the machine that runs the test. The search
 * proves each of these plans the best of its form, so that a change of the plan is a change of the
 * costs or of the rules.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleave.h"
#include "support/api.h"
#include "support/effort.h"
#include "support/nets.h"
#include "support/run.h"

#define LAYERS 3

static char *folder, path[4096];
static cleave_model *model;
static cleave_plan *plan;
static cleave_error error;
static const char *runtime; /* NULL: what the devices name */

static void set_up(void)
{
    runtime = NULL;
    folder = folder_new();
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    model = NULL;
    plan = NULL;
}

static void close_model(void)
{
    cleave_plan_free(plan);
    cleave_model_free(model);
    plan = NULL;
    model = NULL;
}

static void tear_down(void)
{
    close_model();
    folder_free(folder);
}

TestSuite(joint, .init = set_up, .fini = tear_down, .timeout = 600);

/* The model at path, planned. mesh: NULL for stages and shards together. */
static void find(const char *mesh, int max_tensor_devices, cleave_objective objective)
{
    cleave_plan_options o = plan_options();
    o.cluster = "dgx-h100";
    o.runtime = runtime;
    o.mesh = mesh;
    o.max_tensor_devices = max_tensor_devices;
    o.objective = objective;
    o.worth = -1;
    o.alternatives = -1;
    cleave_plan_free(plan);
    plan = NULL;
    if (!model)
        cr_assert_eq(cleave_model_open(path, NULL, &model, &error), CLEAVE_OK, "%s", error.message);
    cleave_status s = cleave_plan_make(model, &o, NULL, &plan, &error);
    cr_assert(s == CLEAVE_OK || s == CLEAVE_NO_PLAN, "%s", error.message);
}

static void find_on_all(void)
{
    find("8", 0, CLEAVE_LATENCY);
    cr_assert(cleave_plan_fits(plan));
    cr_expect_str_eq(cleave_plan_mesh(plan) + 2, "=8", "%s", cleave_plan_mesh(plan));
}

/* The same by rules: columns, then rows, in each layer. */
static void find_by_the_textbook(void)
{
    static const char rules[] = "{\"rules\": ["
                                "{\"split\": \"*/q\", \"factor\": \"n\", \"over\": \"tp\"},"
                                "{\"split\": \"*/k\", \"factor\": \"n\", \"over\": \"tp\"},"
                                "{\"split\": \"*/v\", \"factor\": \"n\", \"over\": \"tp\"},"
                                "{\"split\": \"*/o\", \"factor\": \"k\", \"over\": \"tp\"},"
                                "{\"split\": \"*/up\", \"factor\": \"n\", \"over\": \"tp\"},"
                                "{\"split\": \"*/down\", \"factor\": \"k\", \"over\": \"tp\"}]}";
    cleave_plan_options o = plan_options();
    o.cluster = "dgx-h100";
    o.runtime = runtime;
    o.mesh = "8";
    o.constraints = rules;
    cleave_plan_free(plan);
    plan = NULL;
    cr_assert_eq(cleave_plan_make(model, &o, NULL, &plan, &error), CLEAVE_OK, "%s", error.message);
}

/* How often a name was found, over the one axis. */
static int found(const char *name)
{
    const char *axis, *one;
    int count;
    for (int i = 0; (one = cleave_plan_strategy(plan, i, &axis, &count)); i++)
        if (strcmp(one, name) == 0)
            return count;
    return 0;
}

/* Collectives of a kind, on tensors whose name ends so ("" for all). */
static int count(const char *kind, const char *ending)
{
    const char *at = strstr(plan_json(plan), "\"collectives\""), *end = strstr(at, "\"kernels\"");
    char want[80];
    int n = 0;
    cr_assert(at && end);
    snprintf(want, sizeof want, "\"kind\": \"%s\"", kind);
    for (at = strstr(at, want); at && at < end; at = strstr(at + 1, want)) {
        const char *name = strstr(at, "\"tensor\": \"");
        cr_assert_not_null(name);
        name += strlen("\"tensor\": \"");
        size_t length = strcspn(name, "\""), n_end = strlen(ending);
        n += length >= n_end && strncmp(name + length - n_end, ending, n_end) == 0;
    }
    return n;
}

/* What says something; slices of what is there already do not. */
static int n_spoken(void)
{
    return count("all-reduce", "") + count("all-gather", "") + count("reduce-scatter", "") +
           count("all-to-all", "") + count("permute", "");
}

/* Column then row, twice a layer: behind each row there is one sum, and nothing else is said. */
static void expect_megatron(const char *second)
{
    cr_expect_eq(count("all-reduce", "/o"), LAYERS);
    cr_expect_eq(count("all-reduce", second), LAYERS);
    cr_expect_eq(n_spoken(), 2 * LAYERS, "%s", plan_text(plan));
    cr_expect_geq(found("head parallel attention"), LAYERS);
}

/* -- columns, then rows -- */

/* rules: NULL, or those that the plan has to meet. */
static void find_on(int devices, const char *rules)
{
    char mesh[8];
    cleave_plan_options o = plan_options();
    snprintf(mesh, sizeof mesh, "%d", devices);
    o.cluster = "dgx-h100";
    o.runtime = runtime;
    o.mesh = mesh;
    o.devices = devices;
    o.constraints = rules;
    cr_assert_eq(cleave_model_open(path, NULL, &model, &error), CLEAVE_OK, "%s", error.message);
    cr_assert_eq(cleave_plan_make(model, &o, NULL, &plan, &error), CLEAVE_OK, "%s", error.message);
    cr_assert(cleave_plan_fits(plan));
}

/* Some tensor has parts of these sizes. */
static bool has_parts(const char *sizes)
{
    char want[80];
    snprintf(want, sizeof want, "\"sizes\": \"%s\"", sizes);
    return strstr(plan_json(plan), want) != NULL;
}

typedef struct {
    const char *name;
    void (*make)(const net_sizes *sizes, const char *path);
    net_sizes sizes;      /* its layers are LAYERS */
    int devices;          /* 0: all eight, in a mesh of them */
    const char *rules;    /* that the plan has to meet; NULL: none */
    int columns_a_layer;  /* and one for the words */
    const char *parts[2]; /* sizes of parts that some tensor has; NULL: any */
} split_net;

#define GPT2_OF_25_HEADS                                                                           \
    {                                                                                              \
        .batch = 8, .sequence = 1, .past = 511, .hidden = 1600, .heads = 25, .kv_heads = 25,       \
        .inner = 6400, .words = 50304                                                              \
    }
#define RULE(nodes, factor)                                                                        \
    "{\"split\": \"*/" nodes "\", \"factor\": \"" factor "\", \"over\": \"tp\"}"

static const split_net split_nets[] = {
    /* q, k, v, gate, up */
    { "llama",
      net_llama,
      { .batch = 8,
        .sequence = 1,
        .past = 1023,
        .hidden = 4096,
        .heads = 32,
        .kv_heads = 8,
        .inner = 14336,
        .words = 32000 },
      .columns_a_layer = 5 },
    /* qkv within each of its three */
    { "gpt-2",
      net_gpt2,
      { .batch = 8,
        .sequence = 1,
        .past = 511,
        .hidden = 2048,
        .heads = 16,
        .kv_heads = 16,
        .inner = 8192,
        .words = 50304 },
      .columns_a_layer = 2 },
    { "bert",
      net_bert,
      { .batch = 1,
        .sequence = 128,
        .hidden = 4096,
        .heads = 64,
        .kv_heads = 64,
        .inner = 16384,
        .words = 30522 },
      .columns_a_layer = 4 },
    /* Heads that the devices do not divide: each stays whole. 13 of 25, of queries, keys and
     * values: 3 * 13 * 64 columns. */
    { "25 heads on 2 devices", net_gpt2, GPT2_OF_25_HEADS, 2, NULL, 2, { "2496, 2304" } },
    /* The rest falls to the last ones. */
    { "25 heads on 8 devices",
      net_gpt2,
      GPT2_OF_25_HEADS,
      8,
      NULL,
      2,
      { "768, 768, 768, 768, 768, 768, 192, 0" } },
    /* One device has twice as much as the other here: attention of halves of heads is faster, and
     * its scores are summed up. By rule heads stay whole. */
    { "3 heads on 2 devices",
      net_gpt2,
      { .batch = 1,
        .sequence = 64,
        .hidden = 3 * 512,
        .heads = 3,
        .kv_heads = 3,
        .inner = 4 * 3 * 512,
        .words = 32000 },
      2,
      "{\"rules\": [" RULE("qk", "d1") "]}",
      2,
      { "3072, 1536" } },
    /* Of 9 heads each three share a key: these are together, 6 and 3, with 2 keys and 1. */
    { "groups of heads on 2 devices",
      net_llama,
      { .batch = 1,
        .sequence = 1,
        .past = 1023,
        .hidden = 9 * 512,
        .heads = 9,
        .kv_heads = 3,
        .inner = 14336,
        .words = 32000 },
      2,
      "{\"rules\": [" RULE("q", "n") "," RULE("sv", "d1") "," RULE("o", "k") "]}",
      5,
      { "3072, 1536", "1024, 512" } },
};

#define N_SPLIT_NETS (sizeof split_nets / sizeof *split_nets)

static void expect_split(const split_net *net)
{
    net_sizes sizes = net->sizes;
    sizes.layers = LAYERS;
    net->make(&sizes, path);
    if (net->devices)
        find_on(net->devices, net->rules);
    else
        find_on_all();
    expect_megatron("/down");
    cr_expect_eq(found("Megatron column"), net->columns_a_layer * LAYERS + 1, "%s: %s", net->name,
                 plan_text(plan));
    cr_expect_eq(found("Megatron row"), 2 * LAYERS, "%s", net->name);
    for (int i = 0; i < 2 && net->parts[i]; i++)
        cr_expect(has_parts(net->parts[i]), "%s: no parts of %s", net->name, net->parts[i]);
}

/* covers: A.021 */
Test(joint, transformers_are_split_by_columns_then_rows)
{
    runtime = "none"; /* of kernels with measured times another split may be better, see below */
    for (size_t i = 0; i < N_SPLIT_NETS; i++) {
        expect_split(&split_nets[i]);
        close_model();
    }
}

/* Specs say it, as a dimension of 25 in two shards and one of 64 in one: whoever reads the
 * annotated model finds the parts that were planned. covers: A.021 */
Test(joint, heads_in_uneven_parts_are_read_back)
{
    cleave_model *annotated = NULL;
    cleave_report *report = NULL;
    char written[5000];
    int wrong = -1;
    const split_net net = { "25 heads", net_gpt2, GPT2_OF_25_HEADS, 2, NULL, 2, { "2496, 2304" } };
    expect_split(&net);
    snprintf(written, sizeof written, "%s/a.onnx", folder);
    cr_assert_eq(cleave_annotate(model, plan, NULL, written, NULL, &error), CLEAVE_OK, "%s",
                 error.message);
    cr_assert_eq(cleave_model_open(written, NULL, &annotated, &error), CLEAVE_OK);
    cleave_shards_options shards;
    cleave_shards_options_init(&shards);
    shards.all = 1;
    cr_assert_eq(cleave_model_shards(annotated, &shards, NULL, &report, &wrong, &error), CLEAVE_OK);
    const char *text = cleave_report_text(report);
    cr_expect_eq(wrong, 0, "%s", text);
    cr_expect(strstr(text, "[1600,4800] as [1600,3,25,64]") && strstr(text, "[1600,3,13,64]") &&
              strstr(text, "[1600,3,12,64]"));
    cleave_report_free(report);
    cleave_model_free(annotated);
}

/* At 512 tokens and a width of 1024 it is cheaper to split the tokens and to gather what attention
 * reads once a layer: less is said than by two sums. */
Test(joint, a_narrow_bert_does_better_than_the_textbook)
{
    const net_sizes s = { .layers = LAYERS,
                          .batch = 1,
                          .sequence = 512,
                          .hidden = 1024,
                          .heads = 16,
                          .kv_heads = 16,
                          .inner = 4096,
                          .words = 30522 };
    runtime = "none"; /* by measured times of kernels the two are closer */
    net_bert(&s, path);
    find_on_all();
    cr_expect_geq(found("context parallel"), LAYERS);
    cr_expect_leq(n_spoken(), LAYERS, "%s", plan_text(plan));
    double free_s = cleave_plan_latency_s(plan);
    find_by_the_textbook();
    cr_expect_geq(count("all-reduce", "") + count("reduce-scatter", ""), 2 * LAYERS, "%s",
                  plan_text(plan));
    cr_expect_lt(free_s, cleave_plan_latency_s(plan));
}

/* What is best of kernels may be another split, but none that is worse. */
Test(joint, plans_of_kernels_are_no_worse_than_the_textbook)
{
    for (size_t i = 0; i < N_SPLIT_NETS; i++) {
        net_sizes sizes = split_nets[i].sizes;
        sizes.layers = LAYERS;
        split_nets[i].make(&sizes, path);
        if (split_nets[i].make != net_gpt2 && sizes.heads % 8 == 0) { /* has q, k and v apart */
            find_on_all();
            double free_s = cleave_plan_latency_s(plan);
            find_by_the_textbook();
            cr_expect_leq(free_s, cleave_plan_latency_s(plan), "%s", split_nets[i].name);
            cr_expect_geq(found("Megatron column"), LAYERS, "%s", split_nets[i].name);
        }
        close_model();
    }
}

Test(joint, experts_are_dealt_out)
{
    const net_sizes s = { .layers = LAYERS,
                          .batch = 8,
                          .sequence = 1,
                          .past = 1023,
                          .hidden = 4096,
                          .heads = 32,
                          .kv_heads = 8,
                          .inner = 14336,
                          .experts = 8,
                          .words = 32000 };
    runtime = "none"; /* of kernels with measured times their columns may be split instead */
    net_llama(&s, path);
    find_on_all();
    expect_megatron("/moe");
    cr_expect_eq(found("expert parallel"), LAYERS);
}

/* 26 tables of 19 GiB on devices of 74: every table is split. Two of them alone have room. Eight of
 * 10 GiB are a little too many: only as many are split as memory asks for. */
Test(joint, tables_are_split_by_memory)
{
    net_dlrm(26, 40000000, 128, 2048, path);
    find_on_all();
    cr_expect_eq(found("table sharding"), 26, "%s", plan_text(plan));
    close_model();
    net_dlrm(8, 20000000, 128, 2048, path);
    find_on_all();
    cr_expect(found("table sharding") >= 1 && found("table sharding") <= 2, "%s", plan_text(plan));
    cr_expect_geq(found("data parallel"), 1);
    close_model();
    net_dlrm(2, 40000000, 128, 2048, path);
    find_on_all();
    cr_expect_eq(found("table sharding"), 0, "%s", plan_text(plan));
    cr_expect_eq(n_spoken(), 0, "%s", plan_text(plan));
}

/* Each device has images of its own, and nobody says anything. */
Test(joint, images_are_data_parallel)
{
    const net_sizes s = { .layers = LAYERS,
                          .batch = 64,
                          .sequence = 196,
                          .hidden = 1024,
                          .heads = 16,
                          .kv_heads = 16,
                          .inner = 4096 };
    net_vit(&s, path);
    find_on_all();
    cr_expect_eq(found("data parallel"), 6 * LAYERS + 1); /* all products, and the patches */
    cr_expect_eq(cleave_plan_collectives(plan), 0, "%s", plan_text(plan));
    close_model();
    net_resnet(4, 256, 256, 56, path);
    find_on_all();
    cr_expect_eq(found("data parallel"), 3 * 4 + 2); /* all convolutions, and the head */
    cr_expect_eq(cleave_plan_collectives(plan), 0, "%s", plan_text(plan));
}

/* -- never worse -- */

static double value(cleave_objective objective)
{
    if (!cleave_plan_fits(plan))
        return 1e300;
    return objective == CLEAVE_LATENCY ? cleave_plan_latency_s(plan)
                                       : 1 / cleave_plan_throughput(plan);
}

static void expect_no_worse_as(const char *what)
{
    for (int i = 0; i < 2; i++) {
        cleave_objective objective = i ? CLEAVE_THROUGHPUT : CLEAVE_LATENCY;
        find(NULL, 8, objective);
        double together = value(objective);
        find(NULL, 0, objective);
        cr_expect_leq(together, value(objective), "%s, stages alone, objective %d", what, i);
        find("8", 0, objective);
        cr_expect_leq(together, value(objective), "%s, shards alone, objective %d", what, i);
        find("2x4", 0, objective);
        cr_expect_leq(together, value(objective), "%s, a mesh of two axes, objective %d", what, i);
    }
}

/* Of operators, and of kernels. */
static void expect_no_worse(const char *what)
{
    runtime = NULL;
    expect_no_worse_as(what);
    runtime = NULL;
    expect_no_worse_as(what);
    close_model();
}

Test(joint, it_is_never_worse_than_stages_or_shards_alone)
{
    net_sizes s = { .layers = 2,
                    .batch = 4,
                    .sequence = 1,
                    .past = 255,
                    .hidden = 2048,
                    .heads = 16,
                    .kv_heads = 4,
                    .inner = 8192,
                    .words = 32000 };
    net_llama(&s, path);
    expect_no_worse("llama");
    if (TEST_IS_SANITIZED)
        return; /* the others are as slow, and take the same way */
    s.experts = 8;
    net_llama(&s, path);
    expect_no_worse("experts");
    s.past = 0;
    s.sequence = 64;
    s.kv_heads = 16;
    net_gpt2(&s, path);
    expect_no_worse("gpt-2");
    net_bert(&s, path);
    expect_no_worse("bert");
    s.hidden = 256; /* too small to be worth a word between devices */
    s.inner = 1024;
    net_bert(&s, path);
    expect_no_worse("a small bert");
    net_dlrm(8, 20000000, 128, 512, path);
    expect_no_worse("dlrm");
    net_resnet(4, 8, 256, 28, path);
    expect_no_worse("resnet");
    s.batch = 4;
    s.sequence = 196;
    net_vit(&s, path);
    expect_no_worse("vit");
}
