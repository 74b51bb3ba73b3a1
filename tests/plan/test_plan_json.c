/* test_plan_json.c - plan files: what is written is read back the same, what is wrong is refused in
 * words. */
#include "plan/plan_json.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "plan/plan_text.h"

static clv_arena *arena;

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(plan_json, .init = set_up, .fini = tear_down);

/* Five operators, 0 0 0 1 1, on two of three devices. */
static clv_plan two_stages(void)
{
    static const int32_t device_of[] = { 0, 0, 0, 1, 1 };
    static const char *nodes[] = { "/layer/Add_1", "it's" };
    static clv_plan_device devices[3];
    static clv_plan_transfer transfers[] = { { "x1", 0, 1, 4096, 2500, CLV_FITTED } };
    static const int32_t both[] = { 0, 1 };
    static const clv_plan_host_copy copies[] = { { "ids", both, 2, 512, 10008 },
                                                 { "y", both + 1, 1, 64, 10001 } };
    static const clv_plan_host_copies host_copies = { copies, copies + 1, 1,           1,
                                                      10008,  10001,      CLV_MEASURED };
    static const char *bindings[] = { "batch=8" }, *notes[] = { "a \"note\"\n\x01" };

    devices[0] = (clv_plan_device){ .name = "gpu0",
                                    .kind = "h100",
                                    .stage = 0,
                                    .n_ops = 3,
                                    .weight_bytes = 100,
                                    .activation_bytes = 20,
                                    .workspace_bytes = 3,
                                    .peak_bytes = 123,
                                    .capacity_bytes = 1000,
                                    .flops = INT64_C(9007199254740993),
                                    .busy_ns = 77,
                                    .sharding_nodes = nodes,
                                    .n_sharding_nodes = 2 };
    devices[1] = (clv_plan_device){ .name = "gpu1", .stage = 1, .n_ops = 2 };
    devices[2] = (clv_plan_device){ .name = "gpu2", .stage = -1 };
    return (clv_plan){ .model = "m.onnx",
                       .fingerprint = UINT64_C(0xfedcba9876543210),
                       .configuration = "cleave",
                       .cluster = "dgx-h100",
                       .compiler = "builtin",
                       .objective = CLV_THROUGHPUT,
                       .proportion = 0.1,
                       .n_devices = 3,
                       .n_stages = 2,
                       .n_ops = 5,
                       .devices = devices,
                       .device_of_op = device_of,
                       .latency_ns = 123456789,
                       .period_ns = 100,
                       .host_ns = 60,
                       .first_token_ns = 123456799,
                       .transfers = transfers,
                       .n_transfers = 1,
                       .host_copies = &host_copies,
                       .search = "default",
                       .n_judged = 9,
                       .n_fitting = 4,
                       .stopped = "gap",
                       .bound_ns = 99,
                       .outcome = CLV_FITS,
                       .bindings = bindings,
                       .n_bindings = 1,
                       .notes = notes,
                       .n_notes = 1 };
}

static const char *write(const clv_plan *plan) { return text_of_plan(arena, plan); }
static clv_plan *read(const char *text) { return plan_of_text(arena, text); }

Test(plan_json, gives_back_every_field)
{
    clv_plan plan = two_stages();

    clv_plan *back = read(write(&plan));

    cr_assert_str_eq(back->model, "m.onnx");
    cr_assert_eq(back->fingerprint, UINT64_C(0xfedcba9876543210));
    cr_assert_str_eq(back->cluster, "dgx-h100");
    cr_assert_eq(back->objective, CLV_THROUGHPUT);
    cr_assert_float_eq(back->proportion, 0.1, 0);
    cr_assert_eq(back->n_devices, 3);
    cr_assert_eq(back->n_stages, 2);
    cr_assert_eq(back->n_ops, 5);
    cr_assert_arr_eq(back->device_of_op, plan.device_of_op, 5 * sizeof(int32_t));
    cr_assert_eq(back->devices[0].flops, INT64_C(9007199254740993), "2^53 + 1 is kept exactly");
    cr_assert_eq(back->devices[0].peak_bytes, 123);
    cr_assert_eq(back->devices[0].n_sharding_nodes, 2);
    cr_assert_str_eq(back->devices[0].sharding_nodes[1], "it's");
    cr_assert_null(back->devices[1].kind);
    cr_assert_eq(back->devices[1].n_ops, 2);
    cr_assert_eq(back->devices[2].stage, -1);
    cr_assert_eq(back->latency_ns, 123456789);
    cr_assert_eq(back->period_ns, 100);
    cr_assert_eq(back->host_ns, 60);
    cr_assert_eq(back->first_token_ns, 123456799);
    cr_assert_eq(back->n_transfers, 1);
    cr_assert_str_eq(back->transfers[0].tensor, "x1");
    cr_assert_eq(back->transfers[0].to, 1);
    cr_assert_eq(back->transfers[0].bytes, 4096);
    cr_assert_eq(back->transfers[0].basis, CLV_FITTED);
    const clv_plan_host_copies *copies = back->host_copies;
    cr_assert(copies && copies->n_inputs == 1 && copies->n_outputs == 1);
    cr_assert(copies->inputs_ns == 10008 && copies->outputs_ns == 10001);
    cr_assert_eq(copies->basis, CLV_MEASURED);
    cr_assert_str_eq(copies->inputs[0].tensor, "ids");
    cr_assert_eq(copies->inputs[0].n_devices, 2);
    cr_assert_eq(copies->outputs[0].devices[0], 1);
    cr_assert(copies->inputs[0].bytes == 512 && copies->outputs[0].ns == 10001);
    cr_assert_eq(back->n_judged, 9);
    cr_assert_eq(back->n_fitting, 4);
    cr_assert_str_eq(back->stopped, "gap");
    cr_assert_eq(back->bound_ns, 99);
    cr_assert_float_eq(clv_plan_gap(back), 0.01, 1e-12);
    cr_assert_str_eq(back->bindings[0], "batch=8");
    cr_assert_str_eq(back->notes[0], "a \"note\"\n\x01");
}

Test(plan_json, gives_back_batches_and_the_latency_that_was_allowed)
{
    static const clv_plan_batch tried[] = {
        { 4, CLV_FITS, "2 copies", 2, 500, 250, 1 << 20, 0 },
        { 8, CLV_LATE, NULL, 1, 900, 900, 3 << 20, 0 },
        { INT64_C(9007199254740993), CLV_OOM, NULL, 2, 0, 0, CLV_PLAN_UNKNOWN, 77 },
    };
    clv_plan plan = two_stages();
    plan.max_latency_ns = 800;
    plan.batch_symbol = "N";
    plan.batch = 4;
    plan.why_batch = "4 has most";
    plan.batches = tried;
    plan.n_batches = 3;
    clv_plan *back = read(write(&plan));
    cr_assert_eq(back->max_latency_ns, 800);
    cr_assert_str_eq(back->batch_symbol, "N");
    cr_assert_str_eq(back->why_batch, "4 has most");
    cr_assert(back->batch == 4 && back->n_batches == 3);
    for (int32_t i = 0; i < 3; i++) {
        const clv_plan_batch *a = &tried[i], *b = &back->batches[i];
        cr_assert(a->size == b->size && a->outcome == b->outcome && a->devices == b->devices);
        cr_assert(a->latency_ns == b->latency_ns && a->ns == b->ns);
        cr_assert(a->peak_bytes == b->peak_bytes && a->short_bytes == b->short_bytes);
        cr_assert_eq(a->form == NULL, b->form == NULL);
    }
    cr_assert_str_eq(back->batches[0].form, "2 copies");
    cr_assert_float_eq(clv_plan_samples_per_s(&back->batches[0]), 16e6, 1e-3);
}

Test(plan_json, what_takes_longer_than_is_allowed_is_too_slow)
{
    clv_plan plan = two_stages();
    clv_plan_limit_latency(&plan, plan.latency_ns);
    cr_assert_eq(plan.outcome, CLV_FITS);
    clv_plan_limit_latency(&plan, plan.latency_ns - 1);
    cr_assert_eq(plan.outcome, CLV_LATE);
    cr_assert_eq(read(write(&plan))->outcome, CLV_LATE);
    plan.outcome = CLV_OOM;
    clv_plan_limit_latency(&plan, 1);
    cr_assert_eq(plan.outcome, CLV_OOM);
    plan.outcome = CLV_FITS;
    clv_plan_limit_latency(&plan, 0);
    cr_assert_eq(plan.outcome, CLV_FITS, "any");
}

Test(plan_json, what_the_host_does_is_in_all_times_that_are_known)
{
    clv_plan plan = two_stages();
    plan.host_ns = 0;
    clv_plan_add_host(&plan, 30);
    cr_expect(plan.latency_ns == 123456819 && plan.period_ns == 130 && plan.bound_ns == 129);
    cr_expect_eq(plan.host_ns, 30);
    plan.bound_ns = 0;
    plan.latency_ns = INT64_MAX - 10;
    clv_plan_add_host(&plan, 30);
    cr_expect(plan.latency_ns == INT64_MAX && plan.bound_ns == 0);
}

Test(plan_json, the_first_token_comes_after_the_front_end_and_the_run)
{
    clv_plan plan = two_stages();
    clv_plan_add_front_end(&plan, 1000);
    cr_expect_eq(plan.first_token_ns, 123457789);
    clv_plan_add_front_end(&plan, 0);
    cr_expect_eq(plan.first_token_ns, 0, "no prefill");
    plan.latency_ns = 0;
    clv_plan_add_front_end(&plan, 1000);
    cr_expect_eq(plan.first_token_ns, 0, "not known");
}

/* Older files say nothing of a bound; where none is known it is null. */
Test(plan_json, may_know_no_bound)
{
    clv_plan plan = two_stages();
    plan.bound_ns = 0;
    const char *text = write(&plan);
    cr_expect(strstr(text, "\"bound_ns\": null"), "%s", text);
    cr_expect_eq(read(text)->bound_ns, 0);
    cr_expect_lt(clv_plan_gap(read(text)), 0);
    plan.stopped = NULL;
    text = write(&plan);
    cr_expect_not(strstr(text, "bound_ns"));
    cr_expect_null(read(text)->stopped);
    plan.bound_ns = 1000; /* above the objective, as a file may say: no less than nothing */
    cr_expect_float_eq(clv_plan_gap(&plan), 0, 0);
}

Test(plan_json, written_read_and_written_again_is_the_same_bytes)
{
    clv_plan plan = two_stages();
    const char *first = write(&plan);
    const char *second = write(read(first));

    cr_assert_str_eq(first, second);
    cr_assert_eq(first[strlen(first) - 1], '\n');
}

Test(plan_json, keeps_an_outcome_that_is_not_a_fit)
{
    clv_plan plan = two_stages();
    plan.outcome = CLV_OOM;
    plan.short_device = 1;
    plan.short_bytes = 4711;

    clv_plan *back = read(write(&plan));
    cr_assert_eq(back->outcome, CLV_OOM);
    cr_assert_eq(back->short_device, 1);
    cr_assert_eq(back->short_bytes, 4711);

    plan.outcome = CLV_FAILED;
    cr_assert_eq(read(write(&plan))->outcome, CLV_FAILED);
}

/* As an external compiler leaves it. */
Test(plan_json, leaves_out_what_is_not_known)
{
    static const char *const keys[] = { "weight_bytes", "activation_bytes", "workspace_bytes",
                                        "peak_bytes",   "capacity_bytes",   "flops",
                                        "busy_ns",      "latency_ns",       "period_ns",
                                        "transfers" };
    clv_plan plan = two_stages();
    for (int d = 0; d < 3; d++) {
        clv_plan_device *of = &plan.devices[d];
        of->weight_bytes = of->activation_bytes = of->workspace_bytes = CLV_PLAN_UNKNOWN;
        of->peak_bytes = of->capacity_bytes = of->flops = of->busy_ns = CLV_PLAN_UNKNOWN;
    }
    plan.latency_ns = plan.period_ns = 0;
    plan.transfers = NULL;
    plan.n_transfers = 0;

    const char *text = write(&plan);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        cr_expect(!strstr(text, keys[k]), "%s", keys[k]);
    clv_plan *back = read(text);
    cr_expect_eq(back->devices[0].peak_bytes, CLV_PLAN_UNKNOWN);
    cr_expect_eq(back->devices[1].busy_ns, CLV_PLAN_UNKNOWN);
    cr_expect_null(back->transfers);
    cr_expect_str_eq(write(back), text);
}

Test(plan_json, writes_devices_of_operators_as_runs)
{
    clv_plan plan = two_stages();
    const char *text = write(&plan);

    cr_assert(strstr(text, "[0,3]"), "%s", text);
    cr_assert(strstr(text, "[1,2]"), "%s", text);
    cr_assert(strstr(text, "\"fingerprint\": \"fedcba9876543210\""), "%s", text);
}

Test(plan_json, a_plan_of_no_operators_is_a_plan)
{
    clv_plan_device device = { .name = "gpu0", .stage = -1 };
    clv_plan plan = { .n_devices = 1, .devices = &device };

    clv_plan *back = read(write(&plan));
    cr_assert_eq(back->n_ops, 0);
    cr_assert_eq(back->n_stages, 0);
}

Test(plan_json, a_million_operators_that_alternate_come_back)
{
    enum { N = 1000000 };
    int32_t *device_of = clv_arena_take_array(arena, N, sizeof *device_of);
    clv_plan plan = two_stages();
    for (int i = 0; i < N; i++)
        device_of[i] = i % 2;
    plan.n_ops = N;
    plan.device_of_op = device_of;
    plan.devices[0].n_ops = plan.devices[1].n_ops = N / 2;

    clv_plan *back = read(write(&plan));
    cr_assert_arr_eq(back->device_of_op, device_of, N * sizeof *device_of);
}

/* -- a file that people wrote -- */

#define HEAD "{\"schema_version\":1,\"fingerprint\":\"00000000000000ff\",\"objective\":\"latency\","
#define MID  "\"outcome\":\"fits\",\"stages\":2,"
#define OPS  "\"operators\":{\"count\":3,\"device_runs\":[[0,2],[1,1]]},"
#define DEVS "\"devices\":[{\"name\":\"a\",\"stage\":0},{\"name\":\"b\",\"stage\":1}]"

/* covers: B.006 */
Test(plan_json, an_edited_file_needs_only_the_keys_that_decide)
{
    clv_plan *plan = read(HEAD MID OPS DEVS "}");

    cr_assert_eq(plan->devices[0].n_ops, 2, "counted from the runs");
    cr_assert_eq(plan->devices[1].n_ops, 1);
    cr_assert_eq(plan->fingerprint, 255);
}

typedef struct {
    const char *text, *says;
} bad_file;

static const bad_file bad_files[] = {
    { "", "p.json" },
    { "[]", "object" },
    { "{\"schema_version\":3}", "schema_version is 3, this program reads 1 to 2" },
    { "{\"schema_version\":1}", "fingerprint" },
    { "{\"schema_version\":1,\"fingerprint\":\"12\"}", "16 digits" },
    { "{\"schema_version\":1,\"fingerprint\":\"00000000000000FF\"}", "16 digits" },
    { HEAD MID OPS DEVS ",\"colour\":1}", "colour" },
    { "{\"schema_version\":1,\"fingerprint\":\"00000000000000ff\",\"objective\":\"speed\"}",
      "'speed' is not one of 'latency', 'throughput'" },
    { HEAD "\"available_memory_proportion\":0," MID OPS DEVS "}", "above 0" },
    { HEAD "\"available_memory_proportion\":1.5," MID OPS DEVS "}", "available_memory_proportion" },
    { HEAD "\"outcome\":\"fine\",\"stages\":2," OPS DEVS "}", "'fine'" },
    { HEAD "\"outcome\":\"out of memory\",\"stages\":2," OPS DEVS "}", "short_device" },
    { HEAD "\"outcome\":\"out of memory\",\"short_device\":2,\"stages\":2," OPS DEVS "}",
      "short_device" },
    { HEAD MID OPS DEVS ",\"latency_ns\":-1}", "latency_ns" },
    { HEAD MID OPS DEVS ",\"latency_ns\":1.5}", "latency_ns" },
    { HEAD MID OPS DEVS ",\"latency_ns\":\"99999999999999999999\"}", "latency_ns" },
    { HEAD MID OPS DEVS ",\"latency_ns\":NaN}", "p.json" },
    { HEAD MID OPS "\"devices\":[]}", "expected 1 to" },
    { HEAD MID OPS "\"devices\":[{\"name\":\"\",\"stage\":0}]}", "devices[0].name" },
    { HEAD MID OPS "\"devices\":[{\"name\":\"a\",\"stage\":0},{\"name\":\"a\",\"stage\":1}]}",
      "also devices[0]" },
    { HEAD MID OPS "\"devices\":[{\"name\":\"a\",\"stage\":2},{\"name\":\"b\",\"stage\":1}]}",
      "devices[0].stage" },
    { HEAD MID OPS "\"devices\":[{\"name\":\"a\",\"stage\":-1},{\"name\":\"b\",\"stage\":1}]}",
      "but the device has 2 operators" },
    { HEAD MID OPS "\"devices\":[{\"name\":\"a\",\"stage\":0},{\"name\":\"b\",\"stage\":0}]}",
      "no device has stage 1" },
    { HEAD MID OPS "\"devices\":[{\"name\":\"a\",\"stage\":0,\"operators\":3},"
                   "{\"name\":\"b\",\"stage\":1}]}",
      "devices[0].operators: is 3, the runs give the device 2" },
    { HEAD MID OPS DEVS ",\"transfers\":[{\"tensor\":\"t\",\"from\":0,\"to\":2}]}",
      "transfers[0].to" },
    { HEAD MID OPS DEVS ",\"transfers\":[{\"tensor\":\"t\",\"from\":1,\"to\":1}]}", "to itself" },
    { HEAD MID OPS DEVS ",\"search\":{\"judged\":1,\"fitting\":2}}", "fitting" },
    { HEAD MID OPS DEVS ",\"notes\":[1]}", "notes[0]" },
    { HEAD MID "\"operators\":{\"count\":4,\"device_runs\":[[0,2],[1,1]]}," DEVS "}",
      "hold 3 operators, 'count' says 4" },
    { HEAD MID "\"operators\":{\"count\":2,\"device_runs\":[[0,2],[1,1]]}," DEVS "}",
      "hold 3 operators up to here, 'count' says 2" },
    { HEAD MID "\"operators\":{\"count\":2,\"device_runs\":[[0,2,1]]}," DEVS "}",
      "a run is [device, count]" },
    { HEAD MID "\"operators\":{\"count\":2,\"device_runs\":[[2,2]]}," DEVS "}",
      "device_runs[0][0]" },
    { HEAD MID "\"operators\":{\"count\":2,\"device_runs\":[[0,0],[0,2]]}," DEVS "}",
      "device_runs[0][1]" },
    { HEAD MID "\"operators\":{\"count\":2000000000,\"device_runs\":[[0,2000000000]]}," DEVS "}",
      "count" },
};

Test(plan_json, reports_what_is_wrong_with_a_file_and_where)
{
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        clv_plan *plan = NULL;
        clv_error err = { 0 };
        const char *text = bad_files[i].text;
        clv_status s = clv_plan_read(text, strlen(text), "p.json", arena, &plan, &err);

        cr_expect_eq(s, CLV_EFORMAT, "%zu gave %d: %s", i, (int)s, text);
        cr_expect_null(plan);
        cr_expect(strstr(err.message, "p.json"), "%zu does not name the file: %s", i, err.message);
        cr_expect(strstr(err.message, bad_files[i].says), "%zu said: %s", i, err.message);
    }
}

/* Every text that starts like a plan and ends too early is refused. */
Test(plan_json, refuses_a_file_cut_anywhere)
{
    clv_plan plan = two_stages();
    const char *text = write(&plan);
    size_t n = strlen(text);

    for (size_t cut = 0; cut + 1 < n; cut++) {
        clv_plan *back = NULL;
        cr_assert_eq(clv_plan_read(text, cut, "p.json", arena, &back, NULL), CLV_EFORMAT);
        cr_assert_null(back);
    }
}

Test(plan_json, survives_running_out_of_memory_anywhere)
{
    clv_plan plan = two_stages();
    const char *text = write(&plan);
    clv_status read_status = CLV_ENOMEM, write_status = CLV_ENOMEM;

    for (size_t limit = 1; read_status != CLV_OK || write_status != CLV_OK; limit += 64) {
        clv_arena *small = clv_arena_new(NULL, limit);
        clv_plan *back = NULL;
        const char *again = NULL;
        if (!small)
            continue;
        read_status = clv_plan_read(text, strlen(text), "p.json", small, &back, NULL);
        cr_assert(read_status == CLV_OK || (read_status == CLV_ENOMEM && !back));
        write_status = clv_plan_write(&plan, small, &again, &(size_t){ 0 }, NULL);
        cr_assert(write_status == CLV_OK || (write_status == CLV_ENOMEM && !again));
        clv_arena_free(small);
    }
}

/* -- runs of the pipeline -- */

static clv_plan pipelined(void)
{
    static const bool backward[] = { false, false, true, true, false };
    clv_plan plan = two_stages();
    plan.microbatches = 7;
    plan.why_microbatches = CLV_MICRO_MEMORY;
    plan.fill_ns = 30;
    plan.drain_ns = 40;
    plan.latency_ns = 250;
    plan.backward_op = backward;
    plan.devices[0].in_flight_bytes = 11;
    plan.devices[1].in_flight_bytes = CLV_PLAN_UNKNOWN;
    return plan;
}

Test(plan_json, gives_back_the_run_of_a_pipeline)
{
    clv_plan plan = pipelined();
    const char *text = write(&plan);
    clv_plan *back = read(text);

    cr_assert_eq(back->microbatches, 7);
    cr_assert_eq(back->why_microbatches, CLV_MICRO_MEMORY);
    cr_assert_eq(back->fill_ns, 30);
    cr_assert_eq(back->drain_ns, 40);
    cr_assert_eq(back->devices[0].in_flight_bytes, 11);
    cr_assert_eq(back->devices[1].in_flight_bytes, CLV_PLAN_UNKNOWN);
    cr_assert_arr_eq(back->backward_op, plan.backward_op, 5 * sizeof(bool));
    cr_assert(strstr(text, "\"run_ns\": 850"), "%s", text);
    cr_assert_eq(clv_plan_run_ns(back), 850);
    cr_assert_float_eq(clv_plan_bubble(back), 1 - 700.0 / 850, 1e-12);
    cr_assert_eq(clv_plan_objective_ns(back), 122, "a seventh of it, rounded up");
    cr_assert_str_eq(write(back), text);
}

Test(plan_json, a_file_without_a_run_has_none)
{
    clv_plan plan = two_stages();
    const char *text = write(&plan);
    clv_plan *back = read(text);

    cr_assert_null(strstr(text, "pipeline"));
    cr_assert_null(strstr(text, "in_flight"));
    cr_assert_null(strstr(text, "backward"));
    cr_assert_eq(back->microbatches, 0);
    cr_assert_null(back->backward_op);
    cr_assert_eq(clv_plan_run_ns(back), 0);
    cr_assert_lt(clv_plan_bubble(back), 0);
    cr_assert_eq(clv_plan_objective_ns(back), plan.period_ns);
}

/* A good file in which some words are replaced, and what is then said. */
static void expect_refused(const char *text, const char *from, const char *to, const char *says)
{
    clv_error err = { 0 };
    clv_plan *back = NULL;
    const char *at = strstr(text, from);
    cr_assert(at, "no %s in %s", from, text);
    char *bad = clv_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    cr_assert_eq(clv_plan_read(bad, strlen(bad), "p.json", arena, &back, &err), CLV_EFORMAT, "%s",
                 to);
    cr_expect_null(back);
    cr_expect(strstr(err.message, says), "%s", err.message);
}

Test(plan_json, reports_what_is_wrong_with_inputs_and_outputs)
{
    static const char *const wrong[][3] = {
        { "[0,1]", "[0,3]", "host_copies.inputs[0].devices[1] is 3" },
        { "[0,1]", "[1,0]", "is 0 after 1, expected each device once" },
        { "\"inputs_ns\"", "\"input_ns\"", "input_ns" },
        { "\"measured\"", "\"guessed\"", "'guessed' is not one of 'assumed', 'fitted'" },
        { "\"tensor\": \"ids\"", "\"name\": \"ids\"", "name" },
    };
    clv_plan plan = two_stages();
    const char *text = write(&plan);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        expect_refused(text, wrong[k][0], wrong[k][1], wrong[k][2]);
}

/* The words of a good file, what they are replaced by, and what is then said. */
Test(plan_json, reports_what_is_wrong_with_a_run)
{
    static const char *const wrong[][3] = {
        { "\"microbatches\": 7", "\"microbatches\": 0", "pipeline.microbatches" },
        { "\"microbatches\": 7", "\"microbatches\": 1000001", "pipeline.microbatches" },
        { "\"chosen\": \"memory\"", "\"chosen\": \"by lot\"", "'by lot'" },
        { "\"fill_ns\": 30", "\"full_ns\": 30", "full_ns" },
        { "[2,2]", "[2,4]", "ends behind operator 6" },
        { "[2,2]", "[2,2],[3,1]", "operator 3 is in a run before it" },
        { "[2,2]", "[2]", "a run is [first, count]" },
    };
    clv_plan plan = pipelined();
    const char *text = write(&plan);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        expect_refused(text, wrong[k][0], wrong[k][1], wrong[k][2]);
}

/* -- kernels -- */

static clv_plan with_kernels(void)
{
    static clv_plan_kernel kernels[] = {
        { .name = "layer/MatMul",
          .kind = "product",
          .device = 0,
          .n_ops = 3,
          .ns = { [CLV_TIME_COMPUTE] = 41, [CLV_TIME_LAUNCH] = 2 },
          .basis_ns = { [CLV_MEASURED] = 43 } },
        { .name = "y",
          .kind = "all-reduce",
          .device = 1,
          .ns = { [CLV_TIME_COMMUNICATION] = INT64_C(9007199254740993) },
          .basis_ns = { [CLV_ASSUMED] = INT64_C(9007199254740992), [CLV_FITTED] = 1 } },
    };
    clv_plan plan = two_stages();
    plan.runtime = "engine";
    plan.kernels = kernels;
    plan.n_kernels = 2;
    return plan;
}

Test(plan_json, gives_back_kernels_and_who_forms_them)
{
    clv_plan plan = with_kernels();
    const char *text = write(&plan);
    clv_plan *back = read(text);

    cr_assert_str_eq(back->runtime, "engine");
    cr_assert_eq(back->n_kernels, 2);
    for (int i = 0; i < 2; i++) {
        const clv_plan_kernel *k = &back->kernels[i], *was = &plan.kernels[i];
        cr_expect_str_eq(k->name, was->name);
        cr_expect_str_eq(k->kind, was->kind);
        cr_expect(k->device == was->device && k->n_ops == was->n_ops);
        cr_expect_arr_eq(k->ns, was->ns, sizeof k->ns, "2^53 + 1 is kept exactly");
        cr_expect_arr_eq(k->basis_ns, was->basis_ns, sizeof k->basis_ns);
    }
    cr_expect_str_eq(write(back), text);
}

/* As older files are, and those of external compilers. */
Test(plan_json, may_know_no_kernels)
{
    clv_plan plan = two_stages();
    const char *text = write(&plan);
    cr_expect_null(strstr(text, "kernels"));
    cr_expect_null(strstr(text, "runtime"));
    cr_expect_null(read(text)->runtime);
    cr_expect_eq(read(text)->n_kernels, 0);
}

Test(plan_json, reports_what_is_wrong_with_a_kernel)
{
    static const char head[] = HEAD MID OPS DEVS
        ",\"runtime\":\"engine\",\"kernels\":[{\"name\":\"k\",\"kind\":\"memory\",\"device\":1,"
        "\"operators\":1,\"ns\":[1,2,3,4],\"basis_ns\":[5,4,1]}]}";
    static const char *const wrong[][3] = {
        { "[1,2,3,4]", "[1,2,3]", "p.json: kernels[0].ns: has 3 numbers, expected 4" },
        { "[1,2,3,4]", "[1,2,3,4,0]", "kernels[0].ns: has 5 numbers, expected 4" },
        { "[1,2,3,4]", "10", "kernels[0].ns" },
        { "[1,2,3,4]", "[1,-2,3,4]", "kernels[0].ns[1]" },
        { "[1,2,3,4]", "[1,2.5,3,4]", "kernels[0].ns[1]" },
        { "[1,2,3,4]", "[1,2,3,\"99999999999999999999\"]", "kernels[0].ns[3]" },
        { "[5,4,1]", "[5,4]", "kernels[0].basis_ns: has 2 numbers, expected 3" },
        { "[5,4,1]", "[5,4,-1]", "kernels[0].basis_ns[2]" },
        { ",\"basis_ns\":[5,4,1]", "", "basis_ns" },
        { "\"device\":1,", "\"device\":2,", "kernels[0].device" },
        { "\"device\":1,", "\"device\":-1,", "kernels[0].device" },
        { "\"device\":1,", "", "device" },
        { "\"operators\":1,", "\"operators\":-1,", "kernels[0].operators" },
        { "\"name\":\"k\",", "", "name" },
        { "\"kind\":\"memory\",", "\"kind\":7,", "kernels[0].kind" },
        { "\"kind\":\"memory\",", "\"sort\":\"memory\",", "sort" },
        { "\"runtime\":\"engine\"", "\"runtime\":1", "runtime" },
        { "[{\"name\":\"k\"", "[7,{\"name\":\"k\"", "kernels[0]" },
    };
    cr_assert_eq(read(head)->n_kernels, 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused(head, wrong[i][0], wrong[i][1], wrong[i][2]);
}

Test(plan_json, kernels_survive_running_out_of_memory_anywhere)
{
    clv_plan plan = with_kernels();
    const char *text = write(&plan);
    clv_status s = CLV_ENOMEM;
    for (size_t limit = 1; s != CLV_OK; limit += 64) {
        clv_arena *small = clv_arena_new(NULL, limit);
        clv_plan *back = NULL;
        if (!small)
            continue;
        s = clv_plan_read(text, strlen(text), "p.json", small, &back, NULL);
        cr_assert(s == CLV_OK || (s == CLV_ENOMEM && !back));
        clv_arena_free(small);
    }
}
