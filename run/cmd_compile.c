#include "run/cmd_compile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_out.h"
#include "run/child.h"
#include "run/inputs.h"
#include "run/manifest.h"
#include "run/measure.h"

/* It lowers the candidate with cleave itself, runs what comes of it on this machine, and answers
 * with the times. Whatever goes wrong is an answer too: a candidate that failed, with the reason.
 */

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
    int64_t room_bytes; /* of memory that models may take */
    int64_t used_bytes; /* that they take */
    double busy_s;
} device;

typedef struct {
    clv_arena *arena;
    const cli_value *v;
    clr_ort ort;
    clr_program program;
    clr_execution_options run_options;
    clr_execution x;
    clr_inputs inputs;
    clr_measured measured;
    device *devices;
    int32_t n_devices;
} candidate;

/* -- options.json -- */

static clv_status read_devices(candidate *c, const clv_json_at *root, clv_error *err)
{
    clv_json_at array, at = { 0 }, member;

    CLV_TRY(clv_json_member(root, "devices", true, &array, err));
    CLV_TRY(clv_json_length(&array, &c->n_devices, err));
    c->devices = CLV_NEW_ARRAY(c->arena, device, c->n_devices);
    if (!c->devices)
        return clv_fail_nomem(err, "a candidate");
    for (int32_t i = 0; i < c->n_devices; i++) {
        int64_t memory = 0, reserved = 0;
        at = clv_json_element(&array, i, i ? &at : NULL);
        CLV_TRY(clv_json_member(&at, "name", true, &member, err));
        CLV_TRY(clv_json_copy_string(&member, c->arena, &c->devices[i].name, err));
        CLV_TRY(clv_json_member(&at, "memory_bytes", true, &member, err));
        CLV_TRY(clv_json_int(&member, 0, INT64_MAX, &memory, err));
        CLV_TRY(clv_json_member(&at, "reserved_bytes", true, &member, err));
        CLV_TRY(clv_json_int(&member, 0, INT64_MAX, &reserved, err));
        c->devices[i].room_bytes = memory - reserved;
    }
    return CLV_OK;
}

static clv_status read_options(candidate *c, clv_error *err)
{
    const char *text = NULL, *path = getenv("CLEAVE_OPTIONS");
    size_t n = 0;
    clv_json *json = NULL;

    if (!path)
        return clv_fail(err, CLV_EUSAGE,
                        "CLEAVE_OPTIONS is not set: this is a command for cleave plan --compiler");
    CLV_TRY(clv_read_file(path, OPTIONS_MAX, c->arena, &text, &n, err));
    CLV_TRY(clv_json_parse(text, n, path, &json, err));
    clv_json_at root = clv_json_root(json, path);
    clv_status status = read_devices(c, &root, err);
    clv_json_free(json);
    return status;
}

/* -- lowering -- */

/* The cleave that lies beside this program, or the one that the shell finds. */
static clv_status find_cleave(clv_arena *arena, clv_error *err)
{
    char own[4096];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    const char *beside = "cleave";

    if (n > 0) {
        own[n] = '\0';
        char *slash = strrchr(own, '/');
        const char *path =
            slash ? clv_arena_printf(arena, "%.*s/cleave", (int)(slash - own), own) : NULL;
        if (path && access(path, X_OK) == 0)
            beside = path;
    }
    return setenv("CLEAVE_BESIDE", beside, 1) == 0 ? CLV_OK : clv_fail_nomem(err, "a candidate");
}

/* Its own words go to standard error, the last line of which becomes part of a failure's reason. */
static clv_status lower(candidate *c, clv_error *err)
{
    const char *command = c->v[LOWER].by ? c->v[LOWER].text : DEFAULT_LOWER;
    const char *form = forms[c->v[FORM].by ? c->v[FORM].number : 0];
    int how = 0;

    CLV_TRY(find_cleave(c->arena, err));
    if (setenv("CLEAVE_LOWERED", LOWERED, 1) != 0 || setenv("CLEAVE_FORM", form, 1) != 0)
        return clv_fail_nomem(err, "a candidate");
    CLV_TRY(clr_shell_run(command, &how, err));
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0)
        return clv_fail(err, CLV_EFORMAT, "lowering ended with %s %d",
                        WIFEXITED(how) ? "code" : "signal",
                        WIFEXITED(how) ? WEXITSTATUS(how) : WTERMSIG(how));
    return CLV_OK;
}

/* -- measuring -- */

static clv_status measure(candidate *c, clv_error *err)
{
    clr_input_options inputs = { .random = true };
    clr_measure_options o = { .warmup = WARMUP,
                              .repeat = REPEAT,
                              .budget_s = c->v[SECONDS].by ? c->v[SECONDS].seconds : BUDGET_S };

    CLV_TRY(clr_manifest_read(LOWERED, c->arena, &c->program, err));
    CLV_TRY(clr_manifest_check_files(&c->program, c->arena, err));
    CLV_TRY(clr_ort_open(&c->ort, err));
    CLV_TRY(clr_ort_warm_up(&c->ort, err));
    c->run_options =
        (clr_execution_options){ .threads = (int)c->v[THREADS].number, .level = CLR_OPT_ALL };
    CLV_TRY(clr_execution_open(&c->ort, &c->program, &c->run_options, c->arena, &c->x, err));
    CLV_TRY(clr_inputs_make(&c->x, &inputs, c->arena, &c->inputs, err));
    return clr_measure(&c->x, c->inputs.values, &o, c->arena, &c->measured, err);
}

/* Models of one device add up; a name that options.json does not have counts nowhere. */
static void sum_devices(candidate *c)
{
    for (int32_t i = 0; i < c->program.n_models; i++) {
        const char *name = c->program.models[i].device;
        int32_t d = c->n_devices;
        while (name && d-- > 0)
            if (strcmp(c->devices[d].name, name) == 0)
                break;
        if (!name || d < 0)
            continue;
        const clr_model_times *t = &c->measured.times[i];
        c->devices[d].busy_s += t->run_s - t->waited_s;
        c->devices[d].used_bytes += c->x.memory[i].loaded_bytes + c->x.memory[i].run_peak_bytes;
    }
}

/* -- answering -- */

static void put_times(clv_json_out *out, const candidate *c)
{
    double longest_s = 0;

    for (int32_t d = 0; d < c->n_devices; d++)
        longest_s = c->devices[d].busy_s > longest_s ? c->devices[d].busy_s : longest_s;
    clv_json_put_string(out, "outcome", "fits");
    clv_json_put_number(out, "latency_ms", c->measured.median_s * 1e3);
    if (longest_s > 0) /* as a pipeline, whose period is that of its slowest device */
        clv_json_put_number(out, "throughput", 1 / longest_s);
    clv_json_open_array(out, "busy_ms");
    for (int32_t d = 0; d < c->n_devices; d++)
        clv_json_put_number(out, NULL, c->devices[d].busy_s * 1e3);
    clv_json_close_array(out);
}

static const char *answer(const candidate *c, clv_status status, const clv_error *err)
{
    clv_json_out out;
    int32_t worst = -1; /* the device that lacks most */
    int64_t lacks_bytes = 0;

    for (int32_t d = 0; status == CLV_OK && d < c->n_devices; d++)
        if (c->devices[d].used_bytes - c->devices[d].room_bytes > lacks_bytes) {
            worst = d;
            lacks_bytes = c->devices[d].used_bytes - c->devices[d].room_bytes;
        }
    clv_json_begin(&out, c->arena, false);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "version", 1);
    if (status != CLV_OK) {
        clv_json_put_string(&out, "outcome", "failed");
        clv_json_put_string(&out, "reason", err->message);
    } else if (worst >= 0) {
        clv_json_put_string(&out, "outcome", "oom");
        clv_json_put_int(&out, "device", worst);
        clv_json_put_int(&out, "bytes", lacks_bytes);
        clv_json_put_string(&out, "place", "resident memory of the runtime");
    } else
        put_times(&out, c);
    clv_json_close_object(&out);
    return clv_json_end(&out, NULL) == CLV_OK ? out.text : NULL;
}

static int run(clr_cli *cli, const cli_args *args)
{
    clv_error err = { 0 };
    candidate c = { .arena = cli->arena, .v = args->values };

    if (args->n_operands > 0)
        return clr_print_usage_error(cli, "'%s' is one operand too many, expected none",
                                     args->operands[0]);
    clv_status status = read_options(&c, &err);
    if (status == CLV_OK)
        status = lower(&c, &err);
    if (status == CLV_OK)
        status = measure(&c, &err);
    if (status == CLV_EUSAGE)
        return clr_print_usage_error(cli, "%s", err.message);
    if (status == CLV_OK)
        sum_devices(&c);
    const char *text = answer(&c, status, &err);
    clr_inputs_free(&c.ort, &c.inputs);
    clr_execution_close(&c.x);
    clr_ort_close(&c.ort);
    return text ? clr_print(text) : clr_print_nomem(cli);
}

const clr_command clr_cmd_compile = {
    .name = "compile",
    .operands = "",
    .summary = "Measure a candidate, as cleave plan --compiler 'cleave-run compile'",
    .details = "It takes what docs/compiler-protocol.md gives to an external compiler, and answers "
               "as it says. Candidates disturb each other's times: use --jobs 1.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
