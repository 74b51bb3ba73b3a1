#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "compile/external.h"
#include "compile/pool.h"
#include "compile/toy.h"

#define ANSWER(rest) "echo '{\"version\":1," rest "}'"
#define FITS         ANSWER("\"outcome\":\"fits\",\"latency_ms\":2.5,\"throughput\":800")

/* A folder of the test's own as TMPDIR, so that it sees what is left behind. */
static char temporary[] = "/tmp/cleave-test-XXXXXX";

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(temporary));
    setenv("TMPDIR", temporary, 1);
}

static int n_left(void)
{
    DIR *dir = opendir(temporary);
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));)
        n += strncmp(e->d_name, "cleave-", 7) == 0;
    closedir(dir);
    return n;
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", temporary);
    cr_assert_eq(n_left(), 0, "a candidate's folder is still there");
    cr_assert_eq(system(command), 0);
}

TestSuite(external, .init = set_up, .fini = tear_down, .timeout = 60);

static clv_status emit(void *ctx, const clv_assignment *candidate, const char *folder,
                       clv_arena *arena, clv_error *err)
{
    static const char *const names[] = { "model.onnx", "plan.json" };
    (void)candidate;
    if (ctx)
        return clv_fail(err, CLV_EIO, "cannot write the model");
    for (int k = 0; k < 2; k++) {
        char *path = clv_arena_printf(arena, "%s/%s", folder, names[k]);
        if (!path)
            return clv_fail_nomem(err, "a path");
        FILE *f = fopen(path, "w");
        if (!f || fprintf(f, "the text of %s\n", names[k]) < 0 || fclose(f) != 0)
            return clv_fail(err, CLV_EIO, "cannot write '%s'", names[k]);
    }
    return CLV_OK;
}

/* Two kinds of 1472 tiles, 4 devices; the model has one FLOAT input. */
static toy *new_toy(void)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    toy *t = CLV_NEW(arena, toy);
    toy_init(t, arena, 4, 8, 8);
    toy_cluster(t, 4, 0, 100, 1e9);
    for (int k = 0; k < TOY_KINDS; k++) {
        t->kinds[k].tiles = 1472;
        t->kinds[k].memory_bytes = INT64_C(1472) * 638976;
    }
    clv_tensor x = toy_input(t, 256);
    t->types.of[x.i] = (clv_type){ .kind = CLV_TYPE_TENSOR, .dtype = CLV_DT_FLOAT };
    TOY_OP(t, NULL, 1, 256, x);
    return t;
}

static clv_status run_with(toy *t, const clv_external_options *options, double proportion,
                           clv_verdict *verdict, clv_error *err)
{
    clv_compiler *c = NULL;
    cr_assert_eq(clv_external_open(&t->workload, options, NULL, &c, NULL), CLV_OK);
    clv_status s =
        c->compile(c, &(clv_compile_worker){ 3, t->arena, NULL },
                   &(clv_assignment){ (int32_t[]){ 0 }, proportion, NULL }, verdict, NULL, err);
    clv_compiler_close(c);
    return s;
}

static clv_verdict run(const char *command)
{
    toy *t = new_toy();
    clv_verdict v;
    clv_external_options o = {
        .command = command, .timeout_ms = 20000, .max_answer_bytes = 4096, .emitter = { emit, NULL }
    };
    cr_assert_eq(run_with(t, &o, 0, &v, NULL), CLV_OK);
    clv_arena_free(t->arena);
    return v;
}

static void expect_failure(const char *command, const char *reason)
{
    clv_verdict v = run(command);
    cr_assert_eq(v.outcome, CLV_FAILED, "%s", command);
    cr_assert_not_null(strstr(v.reason, reason), "'%s' gave '%s'", command, v.reason);
}

/* covers: B.023 */
Test(external, believes_a_command_that_says_it_fits)
{
    clv_verdict v = run(FITS);

    cr_assert_eq(v.outcome, CLV_FITS);
    cr_assert_eq(v.latency_ns, 2500000);
    cr_assert_eq(v.period_ns, 1250000);
}

Test(external, takes_the_latency_as_period_without_a_throughput)
{
    clv_verdict v = run(ANSWER("\"outcome\":\"fits\",\"latency_ms\":2.5"));

    cr_assert_eq(v.period_ns, 2500000);
}

/* The toy has four devices. Nothing is written by an answer that is refused. */
static void expect_busy_ns(const char *busy, clv_outcome outcome, const int64_t *want)
{
    toy *t = new_toy();
    int64_t busy_ns[4] = { -1, -1, -1, -1 };
    char command[200];
    clv_verdict v;
    clv_compiler *c = NULL;
    snprintf(command, sizeof command,
             ANSWER("\"outcome\":\"fits\",\"latency_ms\":2.5,\"busy_ms\":%s"), busy);
    clv_external_options o = {
        .command = command, .timeout_ms = 20000, .max_answer_bytes = 4096, .emitter = { emit, NULL }
    };
    cr_assert_eq(clv_external_open(&t->workload, &o, NULL, &c, NULL), CLV_OK);
    for (int i = 0; i < 2; i++) { /* and where nobody asks */
        clv_assignment a = { (int32_t[]){ 0 }, 0, i == 0 ? busy_ns : NULL };
        cr_assert_eq(c->compile(c, &(clv_compile_worker){ 0, t->arena, NULL }, &a, &v, NULL, NULL),
                     CLV_OK);
        cr_expect_eq(v.outcome, outcome, "%s: %s", busy, v.reason);
    }
    cr_expect_eq(memcmp(busy_ns, want, sizeof busy_ns), 0, "%s", busy);
    clv_compiler_close(c);
    clv_arena_free(t->arena);
}

Test(external, hears_how_long_each_device_computes)
{
    const int64_t nothing[4] = { -1, -1, -1, -1 };
    expect_busy_ns("[1.5,0,2,0.000001]", CLV_FITS, (int64_t[]){ 1500000, 0, 2000000, 1 });
    expect_busy_ns("[1.5,0,2]", CLV_FAILED, nothing);
    expect_busy_ns("[1,2,3,4,5]", CLV_FAILED, nothing);
    expect_busy_ns("[1,2,3,-4]", CLV_FAILED, nothing);
    expect_busy_ns("[1,2,3,1e13]", CLV_FAILED, nothing);
    expect_busy_ns("{}", CLV_FAILED, nothing);
    expect_busy_ns("7", CLV_FAILED, nothing);
    clv_verdict v = run(ANSWER("\"outcome\":\"fits\",\"latency_ms\":2.5,\"busy_ms\":[1]"));
    cr_expect(strstr(v.reason, "busy_ms has 1 number, expected one for each of 4 devices"), "%s",
              v.reason);
}

/* covers: B.023 B.050 */
Test(external, believes_a_command_that_says_what_is_missing)
{
    clv_verdict v = run(ANSWER("\"outcome\":\"oom\",\"device\":2,\"bytes\":12345,"
                               "\"total_bytes\":20000,\"place\":\"tile 77\""));

    cr_assert_eq(v.outcome, CLV_OOM);
    cr_assert_eq(v.device, 2);
    cr_assert_eq(v.short_bytes, 12345);
    cr_assert_eq(v.total_short_bytes, 20000);
    cr_assert_str_eq(v.reason, "tile 77");
}

/* Tile 1500 is the 29th of device 1; it would hold 640,000 bytes and has 638,976: 1024 short. With
 * 700 tiles a device it is the 101st of device 2. */
/* covers: B.049 B.050 */
Test(external, finds_the_device_of_a_tile)
{
    toy *t = new_toy();
    clv_verdict v;
    clv_external_options o = { .command =
                                   ANSWER("\"outcome\":\"oom\",\"tile\":1500,\"bytes\":640000"),
                               .emitter = { emit, NULL } };
    cr_assert_eq(run_with(t, &o, 0, &v, NULL), CLV_OK);
    cr_assert_eq(v.outcome, CLV_OOM);
    cr_assert_eq(v.device, 1);
    cr_assert_eq(v.short_bytes, 1024);
    cr_assert_eq(v.total_short_bytes, 1024);
    cr_assert_str_eq(v.reason, "tile 1500");

    t->kinds[0].tiles = 700;
    cr_assert_eq(run_with(t, &o, 0, &v, NULL), CLV_OK);
    cr_assert_eq(v.device, 2);
    t->kinds[0].tiles = 300;
    cr_assert_eq(run_with(t, &o, 0, &v, NULL), CLV_OK);
    cr_assert_eq(v.outcome, CLV_FAILED, "there are 1200 tiles");
    clv_arena_free(t->arena);
}

Test(external, passes_on_the_reason_of_a_command_that_failed)
{
    expect_failure(ANSWER("\"outcome\":\"failed\",\"reason\":\"no licence\""), "no licence");
}

Test(external, gives_the_command_its_files_and_variables)
{
    clv_verdict v = run("test \"$PWD\" = \"$(dirname \"$CLEAVE_MODEL\")\" &&"
                        "grep -q 'text of model.onnx' \"$CLEAVE_MODEL\" &&"
                        "grep -q 'text of plan.json' \"$CLEAVE_PLAN\" &&"
                        "test -s \"$CLEAVE_OPTIONS\" && test $CLEAVE_DEVICES = 4 &&"
                        "test $CLEAVE_WORKER = 3 && test \"$CLEAVE_CALLER_DIR\" != \"$PWD\" &&"
                        "test -d \"$CLEAVE_CALLER_DIR\" && mkdir -p deep/er && ln -s / deep/root &&"
                        "test -z \"$(cat)\" && " FITS);

    cr_assert_eq(v.outcome, CLV_FITS, "%s", v.reason);
}

/* The command hands the options back through a file. */
static char *options_of(toy *t, double proportion)
{
    clv_verdict v;
    char *command = clv_arena_printf(t->arena, "cp options.json %s/seen; " FITS, temporary);
    char *text = clv_arena_take(t->arena, 8192);
    clv_external_options o = { .command = command, .emitter = { emit, NULL } };
    cr_assert_eq(run_with(t, &o, proportion, &v, NULL), CLV_OK);
    FILE *f = fopen(clv_arena_printf(t->arena, "%s/seen", temporary), "r");
    cr_assert_not_null(f);
    cr_assert_gt(fread(text, 1, 8191, f), 0);
    fclose(f);
    return text;
}

/* Only what the plan decides is set; all else is the backend's default or the user's choice. */
/* covers: B.003 B.005 B.024 B.025 */
Test(external, writes_the_backend_s_options)
{
    static const char *const keys[] = { "version",
                                        "available_memory_proportion",
                                        "num_ipus",
                                        "virtual_graph_mode",
                                        "partials_type",
                                        "devices",
                                        NULL };
    toy *t = new_toy();
    clv_error err = { 0 };

    char *text = options_of(t, 0);
    cr_assert(strstr(text, "\"virtual_graph_mode\": \"manual\""), "%s", text);
    cr_assert(strstr(text, "\"num_ipus\": 4"));
    cr_assert_null(strstr(text, "partials_type"), "FLOAT inputs");
    cr_assert_null(strstr(text, "available_memory_proportion"), "the default");
    t->types.of[t->graph.inputs[0].i].dtype = CLV_DT_FLOAT16;
    text = options_of(t, 0.1);
    cr_assert(strstr(text, "\"partials_type\": \"half\""));
    cr_assert(strstr(text, "\"available_memory_proportion\": 0.1"));
    clv_json *json = NULL;
    cr_assert_eq(clv_json_parse(text, strlen(text), "options.json", &json, NULL), CLV_OK);
    clv_json_at root = clv_json_root(json, "options.json");
    cr_assert_eq(clv_json_keys(&root, keys, &err), CLV_OK, "%s", err.message);
    clv_json_free(json);
    clv_arena_free(t->arena);
}

/* covers: B.055 */
Test(external, unsets_what_would_disturb_measurements)
{
    toy *t = new_toy();
    clv_verdict v;
    clv_compiler *c = NULL;
    clv_external_options o = { .command = "test -z \"${POPLAR_ENGINE_OPTIONS+set}\" && " FITS,
                               .emitter = { emit, NULL } };
    setenv("POPLAR_ENGINE_OPTIONS", "{\"autoReport.all\":\"true\"}", 1);
    cr_assert_eq(clv_external_open(&t->workload, &o, NULL, &c, NULL), CLV_OK);
    cr_assert(c->warning && strstr(c->warning, "POPLAR_ENGINE_OPTIONS"));
    clv_compiler_close(c);
    cr_assert_eq(run_with(t, &o, 0, &v, NULL), CLV_OK);
    cr_assert_eq(v.outcome, CLV_FITS);
    cr_assert_not_null(getenv("POPLAR_ENGINE_OPTIONS"), "ours is left alone");

    unsetenv("POPLAR_ENGINE_OPTIONS");
    cr_assert_eq(clv_external_open(&t->workload, &o, NULL, &c, NULL), CLV_OK);
    cr_assert_null(c->warning);
    clv_compiler_close(c);
    clv_arena_free(t->arena);
}

Test(external, runs_the_example_of_the_documentation)
{
    clv_verdict v = run("sh " TEST_SOURCE_DIR "/docs/examples/compiler-example.sh");
    cr_assert_eq(v.outcome, CLV_FITS, "%s", v.reason);

    v = run("LIMIT=1 sh " TEST_SOURCE_DIR "/docs/examples/compiler-example.sh");
    cr_assert_eq(v.outcome, CLV_OOM, "%s", v.reason);
    cr_assert_eq(v.short_bytes, 23 - 4, "the text of model.onnx and a newline, four devices");
}

/* -- commands that go wrong -- */

Test(external, notes_an_exit_status_and_the_last_words)
{
    expect_failure("echo first >&2; echo last words >&2; exit 3", "exit status 3: last words");
    expect_failure(FITS "; exit 1", "exit status 1");
}

Test(external, notes_a_missing_command)
{
    expect_failure("cleave-no-such-command", "command not found");
}

/* covers: B.057 */
Test(external, notes_a_crash) { expect_failure("kill -SEGV $$", "signal 11"); }

Test(external, notes_an_answer_that_is_no_answer)
{
    static const char *const commands[] = {
        "echo garbage",
        FITS "; " FITS,
        "printf '\\000\\377{'",
        "echo '[]'",
        "echo '{}'",
        "echo '{\"version\":2,\"outcome\":\"fits\",\"latency_ms\":1}'",
        ANSWER("\"outcome\":\"maybe\""),
        ANSWER("\"outcome\":\"fits\""),
        ANSWER("\"outcome\":\"fits\",\"latency_ms\":0"),
        ANSWER("\"outcome\":\"fits\",\"latency_ms\":-1"),
        ANSWER("\"outcome\":\"fits\",\"latency_ms\":1e400"),
        ANSWER("\"outcome\":\"fits\",\"latency_ms\":\"1\""),
        ANSWER("\"outcome\":\"fits\",\"latency_ms\":1,\"latencyms\":1"),
        ANSWER("\"outcome\":\"oom\",\"device\":4,\"bytes\":1"),
        ANSWER("\"outcome\":\"oom\",\"device\":0,\"bytes\":0"),
        ANSWER("\"outcome\":\"oom\",\"bytes\":1"),
        ANSWER("\"outcome\":\"failed\""),
    };
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++)
        expect_failure(commands[k], "answer");
}

Test(external, notes_no_answer)
{
    expect_failure("true", "no answer");
    expect_failure("", "no answer");
}

Test(external, stops_an_endless_answer) { expect_failure("yes", "longer than allowed"); }

Test(external, copes_with_much_on_stderr)
{
    clv_verdict v = run("head -c 3000000 /dev/zero >&2; " FITS);
    cr_assert_eq(v.outcome, CLV_FITS, "%s", v.reason);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void expect_timeout(const char *command)
{
    toy *t = new_toy();
    clv_verdict v;
    clv_external_options o = { .command = command, .timeout_ms = 300, .emitter = { emit, NULL } };
    double start = seconds();
    cr_assert_eq(run_with(t, &o, 0, &v, NULL), CLV_OK);
    cr_assert_eq(v.outcome, CLV_FAILED);
    cr_assert(strstr(v.reason, "time allowed"), "'%s' gave '%s'", command, v.reason);
    cr_assert_lt(seconds() - start, 20);
    clv_arena_free(t->arena);
}

Test(external, ends_a_command_that_hangs)
{
    expect_timeout("sleep 1000");
    expect_timeout("trap '' TERM; while :; do sleep 1; done");
    expect_timeout("exec >&- 2>&-; sleep 1000");
    expect_timeout(FITS "; sleep 1000");
}

/* The command writes the number of a process to "pid" in the temporary folder, and does not end by
 * itself; afterwards there is no such process. */
static void expect_no_process(const char *command)
{
    toy *t = new_toy();
    clv_verdict v;
    clv_external_options o = { .command =
                                   clv_arena_printf(t->arena, "P=%s/pid; %s", temporary, command),
                               .timeout_ms = 700,
                               .emitter = { emit, NULL } };
    cr_assert_eq(run_with(t, &o, 0, &v, NULL), CLV_OK);
    FILE *f = fopen(clv_arena_printf(t->arena, "%s/pid", temporary), "r");
    int pid = 0;
    cr_assert(f && fscanf(f, "%d", &pid) == 1, "'%s' wrote no number", command);
    fclose(f);
    char *stat = clv_arena_printf(t->arena, "/proc/%d/stat", pid), state = 'Z';
    for (int tries = 0; tries < 200; tries++) { /* gone, or waiting for its new parent to reap it */
        f = fopen(stat, "r");
        state = 'X';
        if (f) {
            cr_assert_eq(fscanf(f, "%*d %*s %c", &state), 1);
            fclose(f);
        }
        if (state == 'X' || state == 'Z')
            break;
        usleep(10000);
    }
    cr_assert(state == 'X' || state == 'Z', "'%s': process %d lives on: %c", command, pid, state);
    clv_arena_free(t->arena);
}

Test(external, kills_the_whole_process_group)
{
    expect_no_process("(trap '' TERM; sleep 1000) & echo $! >$P; sleep 1000");
}

#define DETACHED "setsid sh -c \"echo \\$\\$ >$P; trap '' TERM HUP; sleep 1000; :\""

Test(external, ends_what_left_the_process_group)
{
    expect_no_process(DETACHED " & sleep 1000");
    expect_no_process("(" DETACHED " &) & sleep 1000");
    expect_no_process("exec " DETACHED);
    expect_no_process(
        "setsid -f sh -c \"setsid -f sh -c 'echo \\$\\$ >$P; sleep 1000'\"; sleep 1000");
}

/* The same where the command itself has ended well: what it left would disturb those after it. */
Test(external, ends_what_a_command_left_behind)
{
    expect_no_process(DETACHED " </dev/null >/dev/null 2>&1 & while [ ! -s $P ]; do sleep .01; "
                               "done; " FITS);
}

Test(external, does_not_wait_for_a_grandchild_that_holds_the_output)
{
    double start = seconds();
    expect_failure("sleep 1000 & " FITS, "left a process behind");
    cr_assert_lt(seconds() - start, 15);
}

/* stop() says yes at its third question. */
static bool stop_soon(void *ctx) { return ++*(int *)ctx >= 3; }

Test(external, stops_when_asked)
{
    toy *t = new_toy();
    int asked = 0;
    clv_verdict v = { .latency_ns = -5 };
    clv_error err = { 0 };
    clv_external_options o = {
        .command = "sleep 1000", .emitter = { emit, NULL }, .stop = stop_soon, .stop_ctx = &asked
    };
    double start = seconds();

    cr_assert_eq(run_with(t, &o, 0, &v, &err), CLV_ECANCELED);

    cr_assert_lt(seconds() - start, 20);
    cr_assert_eq(asked, 3);
    cr_assert_eq(v.latency_ns, -5);
    clv_arena_free(t->arena);
}

/* What is dropped is stopped as if it had been asked. */
Test(external, stops_what_is_dropped)
{
    toy *t = new_toy();
    atomic_bool dropped = true;
    clv_external_options o = { .command = "sleep 1000", .emitter = { emit, NULL } };
    clv_compiler *c = NULL;
    clv_verdict v = { .latency_ns = -5 };
    double start = seconds();
    cr_assert_eq(clv_external_open(&t->workload, &o, NULL, &c, NULL), CLV_OK);

    cr_assert_eq(c->compile(c, &(clv_compile_worker){ 0, t->arena, &dropped },
                            &(clv_assignment){ 0 }, &v, NULL, NULL),
                 CLV_ECANCELED);

    cr_assert_lt(seconds() - start, 20);
    cr_assert_eq(v.latency_ns, -5);
    clv_compiler_close(c);
    clv_arena_free(t->arena);
}

Test(external, passes_on_that_a_candidate_cannot_be_written)
{
    toy *t = new_toy();
    clv_verdict v;
    clv_error err = { 0 };
    clv_external_options o = { .command = FITS, .emitter = { emit, t } };
    cr_assert_eq(run_with(t, &o, 0, &v, &err), CLV_EIO);
    cr_assert_str_eq(err.message, "cannot write the model");
    setenv("TMPDIR", "/no/such/folder", 1);
    o.emitter.ctx = NULL;
    cr_assert_eq(run_with(t, &o, 0, &v, &err), CLV_EIO);
    cr_assert(strstr(err.message, "/no/such/folder"), "said: %s", err.message);
    clv_arena_free(t->arena);
}

/* -- the host's own children and signals -- */

Test(external, leaves_the_signals_of_the_host_alone)
{
    struct sigaction before, after;
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    cr_assert_eq(sigaction(SIGCHLD, NULL, &before), 0);
    cr_assert_eq(run(FITS).outcome, CLV_FITS);
    cr_assert_eq(sigaction(SIGCHLD, NULL, &after), 0);
    cr_assert(before.sa_handler == after.sa_handler && before.sa_flags == after.sa_flags);

    cr_assert_eq(sigaction(SIGCHLD, &ignore, NULL), 0);
    clv_verdict v = run(FITS);
    cr_assert_eq(v.outcome, CLV_FITS, "with SIGCHLD ignored: %s", v.reason);
    cr_assert_eq(sigaction(SIGCHLD, &before, NULL), 0);
}

Test(external, works_in_several_workers_at_once)
{
    toy *t = new_toy();
    clv_compiler *c = NULL;
    clv_pool *pool = NULL;
    clv_assignment candidates[12];
    clv_verdict verdicts[12];
    clv_external_options o = { .command = FITS, .emitter = { emit, NULL } };
    for (int k = 0; k < 12; k++)
        candidates[k] = (clv_assignment){ (int32_t[]){ 0 }, 0, NULL };
    cr_assert_eq(clv_external_open(&t->workload, &o, NULL, &c, NULL), CLV_OK);
    cr_assert_eq(clv_pool_open(c, &(clv_pool_options){ .jobs = 4, .batch = 4 }, NULL, &pool, NULL),
                 CLV_OK);
    clv_partition_judge judge = clv_pool_judge(pool);

    cr_assert_eq(judge.judge(judge.ctx, candidates, 12, verdicts, NULL), CLV_OK);

    for (int k = 0; k < 12; k++)
        cr_assert_eq(verdicts[k].latency_ns, 2500000);
    clv_pool_close(pool);
    clv_compiler_close(c);
    clv_arena_free(t->arena);
}

static void *counted(void *ctx, void *p, size_t size)
{
    int *left = ctx;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return --*left < 0 ? NULL : realloc(p, size);
}

Test(external, survives_running_out_of_memory_anywhere)
{
    toy *t = new_toy();
    clv_status s = CLV_ENOMEM;
    clv_external_options o = { .command = "true", .emitter = { emit, NULL } };
    for (int limit = 0; s != CLV_OK; limit++) {
        int left = limit;
        clv_alloc alloc = { counted, &left };
        clv_compiler *c = NULL;
        clv_verdict v;
        s = clv_external_open(&t->workload, &o, &alloc, &c, NULL);
        cr_assert(s == CLV_OK ? c != NULL : s == CLV_ENOMEM && !c);
        clv_compiler_close(c);
        for (size_t bytes = 200; c && bytes < 30000; bytes += 500) {
            clv_arena *arena = clv_arena_new(NULL, bytes);
            clv_compiler *real = NULL;
            cr_assert_eq(clv_external_open(&t->workload, &o, NULL, &real, NULL), CLV_OK);
            clv_status r =
                real->compile(real, &(clv_compile_worker){ 0, arena, NULL },
                              &(clv_assignment){ (int32_t[]){ 0 }, 0, NULL }, &v, NULL, NULL);
            cr_assert(r == CLV_OK || r == CLV_ENOMEM || r == CLV_EIO);
            clv_compiler_close(real);
            clv_arena_free(arena);
        }
    }
    clv_arena_free(t->arena);
}
