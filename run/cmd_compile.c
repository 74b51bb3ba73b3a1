/* cmd_compile.c - an external compiler for cleave plan that measures: docs/compiler-protocol.md.
 *
 * It lowers the candidate with cleave itself, runs what comes of it on this machine, and answers
 * with the times. Whatever goes wrong is an answer too: a candidate that failed, with the reason.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "run/command.h"
#include "run/inputs.h"
#include "run/measure.h"
#include "run/warm.h"

enum { LOWER, FORM, SECONDS, THREADS, COMMON, N_OPTIONS = COMMON + 3 };

static const char *const forms[] = { "stages", "devices", "emulate", NULL };

static const cli_option options[N_OPTIONS] = {
    [LOWER] = { .name = "--lower",
                .kind = CLI_TEXT,
                .value = "COMMAND",
                .help = "what writes the lowered folder \"$CLEAVE_LOWERED\"; cleave lower" },
    [FORM] = { .name = "--form",
               .kind = CLI_CHOICE,
               .value = "F",
               .help = "to lower to: stages, devices, emulate; stages",
               .choices = forms },
    [SECONDS] = { .name = "--seconds",
                  .kind = CLI_SECONDS,
                  .value = "S",
                  .help = "that runs may take, of which at most 200 are timed; 2" },
    [THREADS] = { .name = "--threads",
                  .kind = CLI_INT,
                  .value = "N",
                  .help = "of one operator; as many as there are cores",
                  .min = 1,
                  .max = 1024 },
    RUN_COMMON_OPTIONS,
};

/* As docs/compiler-protocol.md asks for. */
#define WARMUP      20
#define REPEAT      200
#define BUDGET_S    2.0
#define OPTIONS_MAX ((size_t)16 << 20)
#define LOWERED     "lowered"
#define DEFAULT_LOWER                                                                              \
    "exec \"$CLEAVE_BESIDE\" lower --quiet \"${CLEAVE_SOURCE:-$CLEAVE_MODEL}\" \"$CLEAVE_PLAN\" "  \
    "--form \"$CLEAVE_FORM\" -o \"$CLEAVE_LOWERED\""

typedef struct {
    const char *name;
    int64_t room; /* bytes of memory that models may take */
    int64_t used; /* that they take */
    double busy_s;
} device;

typedef struct {
    clv_arena *arena;
    const cli_value *v;
    clr_ort ort;
    clr_program program;
    clr_execution_options run_options;
    clr_execution x;
    OrtValue **inputs;
    clr_measured measured;
    device *devices;
    int32_t n_devices;
    clv_error *err;
} job;

static clv_status nomem(job *j) { return clv_fail_nomem(j->err, "a candidate"); }

/* -- options.json -- */

static clv_status read_device(job *j, const clv_json_at *at, device *ret)
{
    clv_json_at member;
    int64_t memory = 0, reserved = 0;

    CLV_TRY(clv_json_member(at, "name", true, &member, j->err));
    CLV_TRY(clv_json_copy_string(&member, j->arena, &ret->name, j->err));
    CLV_TRY(clv_json_member(at, "memory_bytes", true, &member, j->err));
    CLV_TRY(clv_json_int(&member, 0, INT64_MAX, &memory, j->err));
    CLV_TRY(clv_json_member(at, "reserved_bytes", true, &member, j->err));
    CLV_TRY(clv_json_int(&member, 0, INT64_MAX, &reserved, j->err));
    ret->room = memory - reserved;
    return CLV_OK;
}

static clv_status read_devices(job *j, const clv_json_at *root)
{
    clv_json_at array, element = { 0 };

    CLV_TRY(clv_json_member(root, "devices", true, &array, j->err));
    CLV_TRY(clv_json_length(&array, &j->n_devices, j->err));
    j->devices = CLV_NEW_ARRAY(j->arena, device, j->n_devices);
    if (!j->devices)
        return nomem(j);
    for (int32_t i = 0; i < j->n_devices; i++) {
        element = clv_json_element(&array, i, i ? &element : NULL);
        CLV_TRY(read_device(j, &element, &j->devices[i]));
    }
    return CLV_OK;
}

static clv_status read_options(job *j)
{
    const char *text = NULL, *path = getenv("CLEAVE_OPTIONS");
    size_t n = 0;
    clv_json *json = NULL;

    if (!path)
        return clv_fail(j->err, CLV_EUSAGE,
                        "CLEAVE_OPTIONS is not set: this is a command for cleave plan --compiler");
    CLV_TRY(clv_read_file(path, OPTIONS_MAX, j->arena, &text, &n, j->err));
    CLV_TRY(clv_json_parse(text, n, path, &json, j->err));
    clv_json_at root = clv_json_root(json, path);
    clv_status status = read_devices(j, &root);
    clv_json_free(json);
    return status;
}

/* -- lowering -- */

/* The cleave that lies beside this program, or the one that the shell finds. */
static clv_status find_cleave(job *j)
{
    char own[4096];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    const char *beside = "cleave";

    if (n > 0) {
        own[n] = '\0';
        char *slash = strrchr(own, '/');
        const char *path =
            slash ? clv_arena_printf(j->arena, "%.*s/cleave", (int)(slash - own), own) : NULL;
        if (path && access(path, X_OK) == 0)
            beside = path;
    }
    return setenv("CLEAVE_BESIDE", beside, 1) == 0 ? CLV_OK : nomem(j);
}

/* Its own words go to standard error, the last line of which becomes part of a failure's reason. */
static clv_status lower(job *j)
{
    const char *command = j->v[LOWER].by ? j->v[LOWER].text : DEFAULT_LOWER;
    const char *form = forms[j->v[FORM].by ? j->v[FORM].number : 0];
    int how = 0;

    CLV_TRY(find_cleave(j));
    if (setenv("CLEAVE_LOWERED", LOWERED, 1) != 0 || setenv("CLEAVE_FORM", form, 1) != 0)
        return nomem(j);
    CLV_TRY(clr_shell_run(command, &how, j->err));
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0)
        return clv_fail(j->err, CLV_EFORMAT, "lowering ended with %s %d",
                        WIFEXITED(how) ? "code" : "signal",
                        WIFEXITED(how) ? WEXITSTATUS(how) : WTERMSIG(how));
    return CLV_OK;
}

/* -- measuring -- */

static clv_status run_it(job *j)
{
    clr_input_options wishes = { .random = true };
    clr_measure_options o = { .warmup = WARMUP,
                              .repeat = REPEAT,
                              .budget_s = j->v[SECONDS].by ? j->v[SECONDS].seconds : BUDGET_S };

    CLV_TRY(clr_manifest_read(LOWERED, j->arena, &j->program, j->err));
    CLV_TRY(clr_manifest_check_files(&j->program, j->arena, j->err));
    CLV_TRY(clr_ort_open(&j->ort, j->err));
    CLV_TRY(clr_ort_warm_up(&j->ort, j->err));
    j->run_options =
        (clr_execution_options){ .threads = (int)j->v[THREADS].number, .level = CLR_OPT_ALL };
    CLV_TRY(clr_execution_open(&j->ort, &j->program, &j->run_options, j->arena, &j->x, j->err));
    j->inputs = CLV_NEW_ARRAY(j->arena, OrtValue *, j->program.n_inputs);
    if (!j->inputs)
        return nomem(j);
    CLV_TRY(
        clr_inputs_make(&j->ort, &j->program, j->x.sessions, &wishes, j->arena, j->inputs, j->err));
    return clr_measure(&j->x, j->inputs, &o, j->arena, &j->measured, j->err);
}

/* Models of one device add up; a name that options.json does not have counts nowhere. */
static void share_out(job *j)
{
    for (int32_t i = 0; i < j->program.n_members; i++) {
        const clr_program_model *m = &j->program.members[i];
        int32_t d = j->n_devices;
        while (m->device && d-- > 0)
            if (strcmp(j->devices[d].name, m->device) == 0)
                break;
        if (!m->device || d < 0)
            continue;
        const clr_model_times *t = &j->measured.times[i];
        j->devices[d].busy_s += t->run_s - t->waited_s;
        j->devices[d].used += j->x.memory[i].loaded + j->x.memory[i].run_most;
    }
}

static clv_status judge(job *j)
{
    CLV_TRY(read_options(j));
    CLV_TRY(lower(j));
    CLV_TRY(run_it(j));
    share_out(j);
    return CLV_OK;
}

/* -- answering -- */

/* The device that lacks most, or -1. */
static int32_t most_lacking(const job *j)
{
    int32_t worst = -1;

    for (int32_t d = 0; d < j->n_devices; d++)
        if (j->devices[d].used > j->devices[d].room &&
            (worst < 0 || j->devices[d].used - j->devices[d].room >
                              j->devices[worst].used - j->devices[worst].room))
            worst = d;
    return worst;
}

static void put_times(clv_json_out *out, const job *j)
{
    double longest_s = 0;

    for (int32_t d = 0; d < j->n_devices; d++)
        longest_s = j->devices[d].busy_s > longest_s ? j->devices[d].busy_s : longest_s;
    clv_json_put_string(out, "outcome", "fits");
    clv_json_put_number(out, "latency_ms", j->measured.median_s * 1e3);
    if (longest_s > 0) /* as a pipeline, whose period is that of its slowest device */
        clv_json_put_number(out, "throughput", 1 / longest_s);
    clv_json_open_array(out, "busy_ms");
    for (int32_t d = 0; d < j->n_devices; d++)
        clv_json_put_number(out, NULL, j->devices[d].busy_s * 1e3);
    clv_json_close_array(out);
}

static const char *answer(const job *j, clv_status status)
{
    clv_json_out out;
    int32_t lacking = status == CLV_OK ? most_lacking(j) : -1;

    clv_json_begin(&out, j->arena, false);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "version", 1);
    if (status != CLV_OK) {
        clv_json_put_string(&out, "outcome", "failed");
        clv_json_put_string(&out, "reason", j->err->message);
    } else if (lacking >= 0) {
        clv_json_put_string(&out, "outcome", "oom");
        clv_json_put_int(&out, "device", lacking);
        clv_json_put_int(&out, "bytes", j->devices[lacking].used - j->devices[lacking].room);
        clv_json_put_string(&out, "place", "resident memory of the runtime");
    } else
        put_times(&out, j);
    clv_json_close_object(&out);
    return clv_json_end(&out, NULL) == CLV_OK ? out.text : NULL;
}

static int run(clr_cli *c, const cli_args *args)
{
    clv_error err = { 0 };
    job j = { .arena = c->arena, .v = args->values, .err = &err };

    if (args->n_operands > 0)
        return clr_print_usage_error(c, "'%s' is one operand too many, expected none",
                                     args->operands[0]);
    clv_status status = judge(&j);
    if (status == CLV_EUSAGE)
        return clr_print_usage_error(c, "%s", err.message);
    const char *text = answer(&j, status);
    clr_values_free(&j.ort, j.inputs, j.program.n_inputs);
    clr_execution_close(&j.x);
    clr_ort_close(&j.ort);
    return text ? clr_print(text) : clr_print_nomem(c);
}

const clr_command clr_cmd_compile = {
    .name = "compile",
    .operands = "",
    .summary = "Measure a candidate, as cleave plan --compiler 'cleave-run compile'",
    .details =
        "It takes what docs/compiler-protocol.md gives to an external compiler, and answers as it\n"
        "says. Candidates disturb each other's times: use --jobs 1.\n",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
