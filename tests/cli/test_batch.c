/* test_batch.c - batches without a size, and plans within a latency, as a user asks for them.
 *
 * What a search for a batch says of each size is held against a plan for that size alone, and what
 * a latency leaves over against the forms that are found without one. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_builder.h"
#include "support/run.h"

#define BERT   TEST_SOURCE_DIR "/tests/data/models/bert.dyn.onnx"
#define LLAMA  TEST_SOURCE_DIR "/tests/data/models/llama_gqa_decode.dyn.onnx"
#define RESNET TEST_SOURCE_DIR "/tests/data/models/resnet.static.onnx"
#define LAYERS 6
#define TRIED  20

static char *folder;

/* x = relu(x w) again and again, with a second input that is added first. */
static void write_model(const char *name, const char *first, const char *second)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    char in[16] = "x0", out[16], weight[16], both[40], label[32], path[600];

    onnx_input(g, "a", 1, first);
    onnx_input(g, "b", 1, second);
    onnx_node(g, "Add", "add", "a,b", in);
    for (int i = 0; i < LAYERS; i++) {
        snprintf(out, sizeof out, "y%d", i);
        snprintf(weight, sizeof weight, "w%d", i);
        snprintf(both, sizeof both, "%s,%s", in, weight);
        onnx_weight(g, weight, 1, "512,512");
        snprintf(label, sizeof label, "m%d", i);
        onnx_node(g, "MatMul", label, both, out);
        snprintf(in, sizeof in, "x%d", i + 1);
        snprintf(label, sizeof label, "r%d", i);
        onnx_node(g, "Relu", label, out, in);
    }
    onnx_output(g, in, 1, first);
    snprintf(path, sizeof path, "%s/%s.onnx", folder, name);
    onnx_write(m, path);
    onnx_free(m);
}

static void set_up(void)
{
    folder = folder_new();
    write_model("m", "N,64,512", "N,1,512");
    write_model("fixed", "4,64,512", "4,1,512");
    write_model("two", "N,64,512", "M,1,512");
    write_model("steps", "seq_len,64,512", "seq_len,1,512");
}

static void tear_down(void) { folder_free(folder); }

TestSuite(batch, .init = set_up, .fini = tear_down);

/* -- what plan files say -- */

/* The plan file of a call that ends with this code; free() it. */
static char *plan(int code, const char *options)
{
    run_result r = run_in(folder, "rm -f p.json; %s plan -q --plan-out p.json --no-output %s",
                          TEST_CLEAVE, options);
    cr_assert_eq(r.code, code, "'%s' gave %d: %s%s", options, r.code, r.err, r.out);
    run_free(&r);
    char *text = file_text(folder, "p.json", NULL);
    cr_assert_eq(text == NULL, code != 0, "a plan file is there where a plan is");
    return text;
}

/* Behind the key that comes next in the text; -1: none. */
static double number(const char *text, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = text ? strstr(text, quoted) : NULL;
    return at ? atof(at + strlen(quoted)) : -1;
}

/* Of the plan that was chosen. */
static double objective_ns(const char *text)
{
    const char *form = strstr(text, "\"alternatives\":");
    return ceil(number(form, "period_ns") / number(form, "copies"));
}

typedef struct {
    double size[TRIED], ns[TRIED], latency_ns[TRIED];
    int n, n_fitting;
    double chosen;
} batches;

/* Sizes that fit, and how many there are in all. */
static batches read_batches(const char *text)
{
    batches b = { .n = 0 };
    const char *at = strstr(text, "\"batch\": {");
    cr_assert_not_null(at, "%s", text);
    b.chosen = number(at, "size");
    for (at = strstr(at, "\"tried\":"); (at = strstr(at, "\"size\":")) != NULL; at++, b.n++) {
        const char *end = strchr(at, '}');
        const char *fits = strstr(at, "\"outcome\": \"fits\"");
        if (!fits || fits > end)
            continue;
        b.size[b.n_fitting] = number(at, "size");
        b.ns[b.n_fitting] = number(at, "ns");
        b.latency_ns[b.n_fitting++] = number(at, "latency_ns");
    }
    return b;
}

static double rate(const batches *b, int i) { return 1e9 * b->size[i] / b->ns[i]; }

/* Each size is planned by itself, and gives what the search said of it; with `worth` a part of the
 * most samples a second and of the least latency for it the smallest is chosen. */
static void check_all(const char *options, const char *symbol, double worth)
{
    char line[400];
    char *text = plan(0, options);
    const batches b = read_batches(text);
    double most = 0, least = INFINITY;
    int chosen = -1;
    cr_assert_geq(b.n_fitting, 4);
    for (int i = 0; i < b.n_fitting; i++) {
        snprintf(line, sizeof line, "%s --bind %s=%.0f", options, symbol, b.size[i]);
        char *one = plan(0, line);
        cr_expect_eq(objective_ns(one), b.ns[i], "%s: %.0f, not %.0f", line, objective_ns(one),
                     b.ns[i]);
        cr_expect_eq(number(one, "latency_ns"), b.latency_ns[i], "%s", line);
        size_t same = (size_t)(strstr(text, "\"batch\": {") - text);
        if (b.size[i] == b.chosen)
            cr_expect_eq(strncmp(one, text, same), 0, "the plan is that of its size");
        most = rate(&b, i) > most ? rate(&b, i) : most;
        free(one);
    }
    for (int i = 0; i < b.n_fitting; i++)
        if (rate(&b, i) * (1 + worth) * 1.0001 >= most && b.latency_ns[i] < least)
            least = b.latency_ns[i];
    for (int i = b.n_fitting - 1; i >= 0; i--)
        if (rate(&b, i) * (1 + worth) * 1.0001 >= most && b.latency_ns[i] <= least * (1 + worth))
            chosen = i;
    cr_expect_eq(b.size[chosen], b.chosen, "%s: %.0f is the best, %.0f was chosen", options,
                 b.size[chosen], b.chosen);
    free(text);
}

/* -- which batch -- */

Test(batch, is_the_best_of_all_sizes_planned_one_by_one)
{
    check_all("--objective throughput --devices 4 m.onnx", "N", 0.02);
    check_all("--objective throughput --devices 4 --worth 0 m.onnx", "N", 0);
    check_all("--objective throughput --devices 2 --memory 30MiB m.onnx", "N", 0.02);
    check_all("--objective throughput --devices 2 --max-latency 400us m.onnx", "N", 0.02);
    check_all("--objective throughput --devices 2 --bind sequence_length=16 " BERT, "batch_size",
              0.02);
}

Test(batch, grows_until_memory_is_full)
{
    char *text = plan(0, "--objective throughput --devices 2 --memory 30MiB m.onnx");
    batches b = read_batches(text);
    cr_assert_lt(b.n_fitting, b.n);
    cr_assert(strstr(text, "does not fit, a device lacks"), "%s", text);
    cr_assert_leq(number(text, "peak_bytes"), 30 << 20);
    run_is_valid(folder, "plan", "p.json");
    free(text);
}

Test(batch, is_found_by_itself_only_where_it_is_plain)
{
    run_says(folder, 0, "plan", "--no-output --objective throughput --devices 2 m.onnx",
             "note: 'N' is the first dimension of all inputs and has no size");
    char *by_itself = plan(0, "--objective throughput --devices 2 m.onnx");
    char *named = plan(0, "--objective throughput --devices 2 --batch-symbol N m.onnx");
    cr_assert_eq(read_batches(by_itself).chosen, read_batches(named).chosen);
    cr_assert_null(strstr(named, "is the first dimension of all inputs"));
    free(by_itself);
    free(named);
    run_refused(folder, 65, "plan", "--objective throughput two.onnx", "2 symbols");
    run_refused(folder, 65, "plan", "--objective throughput steps.onnx", "seq_len=1");
    run_refused(folder, 65, "plan", "m.onnx", "--bind 'N=1'");
    run_refused(folder, 65, "plan", "--objective throughput " BERT, "--bind 'sequence_length=1'");
    named = plan(0, "--objective throughput --devices 2 --batch-symbol seq_len steps.onnx");
    cr_assert_gt(read_batches(named).chosen, 1);
    free(named);
}

Test(batch, what_follows_from_it_follows_for_each_size)
{
    char *text = plan(0, "--objective throughput --devices 2 --bind "
                         "sequence_length=1,past_sequence_length=127 " LLAMA);
    cr_assert_gt(read_batches(text).n_fitting, 4);
    cr_assert(strstr(text, "total_sequence_length=128 follows"), "%s", text);
    free(text);
}

/* What a command that judges does not say is "-", and that it fails says nothing of larger sizes.
 */
Test(batch, that_a_command_refuses_is_said_as_it_is)
{
    static const char lacks[] =
        "{\"version\": 1, \"outcome\": \"oom\", \"device\": 0, \"bytes\": 5}";
    file_write(folder, "c.json", lacks, sizeof lacks - 1);
    run_says(
        folder, 3, "plan",
        "--objective throughput --devices 2 --compiler 'cat \"$CLEAVE_CALLER_DIR\"/c.json' m.onnx",
        "\n1              2        -          -       -  -     does not fit\n");
    run_says(folder, 3, "plan", "--objective throughput --devices 2 --compiler false m.onnx",
             "\n1              2        -          -       -  -     no plan\n"
             "batch       N: 1 has no plan, and larger ones are not tried\n");
}

Test(batch, does_not_depend_on_threads)
{
    char *one = plan(0, "--jobs 1 --objective throughput --devices 4 m.onnx");
    char *four = plan(0, "--jobs 4 --objective throughput --devices 4 m.onnx");
    cr_assert_str_eq(one, four);
    free(one);
    free(four);
}

Test(batch, goes_with_plans_of_one_kind)
{
    static const char *const options[] = {
        "--max-tp 1",   "--mesh 2",    "--copies 2", "--alternatives 0", "--sharding-nodes m2=0",
        "--deadline 1", "--first-fit", "--gap 10%"
    };
    char line[200];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        snprintf(line, sizeof line, "--objective throughput --devices 2 %s m.onnx", options[i]);
        char *text = plan(0, line);
        cr_expect_geq(read_batches(text).chosen, 1, "%s", line);
        free(text);
    }
}

/* One sample cannot be split over four devices; what is wrong whatever its size is said at once. */
Test(batch, begins_with_the_first_size_that_can_be_split)
{
    char *text = plan(0, "--objective throughput --devices 4 --mesh 4 --data-parallel m.onnx");
    batches b = read_batches(text);
    cr_expect_eq(b.size[0], 4);
    free(text);
    run_refused(folder, 65, "plan",
                "--objective throughput --cluster dgx-h100-x8 --devices 64 --mesh 64 "
                "--data-parallel --bind N=1 m.onnx",
                "is 1, fewer than the 64 parts of the mesh's outermost axis");
    file_write(folder, "rules.json", "{\"rule\": []}", 12);
    run_refused(folder, 65, "plan", "--objective throughput --constraints rules.json m.onnx",
                "unknown key 'rule'");
}

Test(batch, its_plan_is_read_lowered_and_verified)
{
    run_result r = run_cleave(folder, 0, "plan",
                              "-q --objective throughput --devices 2 --mesh 2 -o o.onnx m.onnx");
    run_free(&r);
    run_is_valid(folder, "plan", "o.onnx.plan.json");
    r = run_cleave(folder, 0, "annotate", "--plan o.onnx.plan.json -o again.onnx m.onnx");
    run_free(&r);
    cr_assert(file_same(folder, "o.onnx", "again.onnx"));
    r = run_cleave(folder, 0, "lower", "m.onnx o.onnx.plan.json --form devices -o lowered");
    run_free(&r);
}

/* -- within a latency -- */

/* The forms that are found without a limit: with the latency of one as the limit, nothing worse
 * than it is found. */
static void check_within(const char *options)
{
    char line[400];
    char *text = plan(0, options);
    const char *at = strstr(text, "\"alternatives\":"), *end = strstr(text, "\"by_devices\":");
    int n = 0;
    for (; (at = strstr(at, "\"form\":")) != NULL && at < end; at++, n++) {
        double latency_ns = number(at, "latency_ns");
        snprintf(line, sizeof line, "%s --worth 0 --max-latency %.0fns", options, latency_ns);
        char *within = plan(0, line);
        double ns = ceil(number(at, "period_ns") / number(at, "copies"));
        cr_expect_leq(number(within, "latency_ns"), latency_ns, "%s", line);
        cr_expect_leq(objective_ns(within), ns, "%s: %.0f, not %.0f", line, objective_ns(within),
                      ns);
        cr_expect_eq(number(within, "max_latency_ns"), latency_ns);
        cr_expect(number(within, "gap") <= 0 || !strstr(within, "\"stopped\": \"optimal\""));
        free(within);
    }
    cr_assert_geq(n, 3);
    free(text);
}

Test(max_latency, leaves_the_best_of_those_within_it, .init = set_up, .fini = tear_down)
{
    check_within("--objective throughput --devices 4 --bind N=16 m.onnx");
    check_within("--objective throughput --devices 4 --runtime serving --bind N=16 m.onnx");
    check_within("--objective throughput " RESNET);
}

Test(max_latency, is_reached_with_as_few_devices_as_possible, .init = set_up, .fini = tear_down)
{
    char line[200];
    double latency_ns[5];
    for (int n = 1; n <= 4; n++) {
        snprintf(line, sizeof line, "--devices %d --bind N=64 m.onnx", n);
        char *text = plan(0, line);
        latency_ns[n] = number(text, "latency_ns");
        free(text);
    }
    for (int n = 2; n <= 4; n++) {
        int least = 1;
        while (latency_ns[least] > latency_ns[n])
            least++;
        snprintf(line, sizeof line, "--objective devices --max-latency %.0fns --bind N=64 m.onnx",
                 latency_ns[n]);
        char *text = plan(0, line);
        cr_expect_leq(number(text, "latency_ns"), latency_ns[n]);
        const char *name = strstr(text, "\"name\": \"gpu0\"");
        int n_devices = 0;
        for (const char *at = name; at && (at = strstr(at, "\"name\": \"gpu")) != NULL; at++)
            n_devices++;
        cr_expect_eq(n_devices, least, "%d devices, not %d, for %.0f ns", n_devices, least,
                     latency_ns[n]);
        free(text);
    }
}

Test(max_latency, that_no_plan_reaches_is_said, .init = set_up, .fini = tear_down)
{
    static const char *const objectives[] = { "latency", "throughput", "devices" };
    char line[200];
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "--objective %s --max-latency 2us --bind N=16 m.onnx",
                 objectives[i]);
        free(plan(3, line));
        run_says(folder, 3, "plan", line,
                 "no plan within 2.00 us was found: the least latency is ");
        snprintf(line, sizeof line, "--objective %s --json --max-latency 2us --bind N=16 m.onnx",
                 objectives[i]);
        run_says(folder, 3, "plan", line, "\"outcome\": \"too slow\"");
    }
    run_says(folder, 3, "plan", "--max-latency 2us --bind N=16 m.onnx",
             "none of the forms tried has less than");
    run_says(folder, 0, "plan",
             "--no-output --max-latency 1s --objective throughput --bind N=16 m.onnx",
             ",\n            whatever its latency; gap ");
    run_says(folder, 3, "plan", "--max-latency 2us --objective throughput m.onnx",
             "1 takes 35.7 us, above the limit of 2.00 us, and larger ones take");
    cr_assert_eq(folder_count(folder), 4, "nothing is written");
}

Test(max_latency, holds_for_plans_that_are_nearly_as_good, .init = set_up, .fini = tear_down)
{
    char line[200];
    char *near = plan(0, "--worth 90% --bind N=64 m.onnx");
    double latency_ns = number(near, "latency_ns");
    snprintf(line, sizeof line, "--worth 90%% --max-latency %.0fns --bind N=64 m.onnx",
             latency_ns - 1);
    char *within = plan(0, line);
    cr_assert_lt(number(within, "latency_ns"), latency_ns);
    free(near);
    free(within);
}

Test(max_latency, is_of_the_compiler_that_judges, .init = set_up, .fini = tear_down)
{
    static const char compiler[] = "echo '{\"version\": 1, \"outcome\": \"fits\", "
                                   "\"latency_ms\": 2.5, \"throughput\": 800}' > c.json";
    static const char *const objectives[] = { "latency", "throughput" };
    char line[300];
    run_result r = run_in(folder, "%s", compiler);
    run_free(&r);
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line,
                 "--objective %s --devices 2 --compiler 'cat %s/c.json' --bind N=4 --max-latency "
                 "3ms m.onnx",
                 objectives[i], folder);
        char *text = plan(0, line);
        cr_expect_eq(number(text, "latency_ns"), 2500000);
        free(text);
        snprintf(line, sizeof line,
                 "--objective %s --devices 2 --compiler 'cat %s/c.json' --bind N=4 --max-latency "
                 "2ms m.onnx",
                 objectives[i], folder);
        free(plan(3, line));
    }
}

/* -- what contradicts -- */

Test(batch, wrong_requests_are_refused)
{
    static const struct {
        int code;
        const char *arguments, *words;
    } wrong[] = {
        { 65, "--objective throughput --batch-symbol Q m.onnx",
          "'Q', the symbol of the batch, is the first dimension of no input: expected one of N" },
        { 65, "--objective throughput --batch-symbol Q fixed.onnx",
          "the batch of the model is fixed" },
        { 65, "--objective throughput --batch-symbol sequence_length " BERT,
          "is the first dimension of no input: expected one of batch_size" },
        { 2, "--objective throughput --batch-symbol N --bind N=4 m.onnx",
          "a size is to be chosen for 'N', the batch, but it is 4, as given" },
        { 2, "--batch-symbol N m.onnx", "but the objective is latency: expected throughput" },
        { 2, "--objective devices --batch-symbol N m.onnx", "but the objective is devices" },
        { 2, "--batch-symbol= m.onnx", "--batch-symbol" },
        { 2, "--max-latency 0ms m.onnx", "--max-latency is '0ms': expected more than nothing" },
        { 2, "--max-latency=-1ms m.onnx", "--max-latency is '-1ms': must not be negative" },
        { 2, "--max-latency 20 m.onnx", "--max-latency is '20': has no unit" },
        { 2, "--max-latency soon m.onnx", "--max-latency is 'soon': expected a number" },
        { 2, "--max-latency 9e9s m.onnx", "--max-latency is '9e9s': expected less than" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        run_refused(folder, wrong[i].code, "plan", wrong[i].arguments, wrong[i].words);
    cr_assert_eq(folder_count(folder), 4, "nothing is written");
}
