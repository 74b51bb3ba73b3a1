#include "run/cmd_run.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/interrupt.h"
#include "run/manifest.h"
#include "run/report.h"

enum {
    INPUTS,
    RANDOM,
    SEED,
    RANGE,
    BIND,
    SHAPE,
    OUTPUT,
    FORMAT,
    PROFILE,
    THREADS,
    OPTIMIZE,
    WARMUP,
    AGAIN,
    REPEAT,
    REQUESTS,
    PIPELINE,
    TIMEOUT,
    COMMON,
    N_OPTIONS = COMMON + 3
};

static const char *const formats[] = { "pb", "npy", NULL };
static const char *const levels[] = { "none", "basic", "extended", "all", NULL };

static const cli_option options[N_OPTIONS] = {
    [INPUTS] = { .name = "--inputs",
                 .letter = "-i",
                 .kind = CLI_TEXT,
                 .value = "PATH",
                 .help = "values: a file .pb or .npy, NAME=FILE, or a folder of files",
                 .repeats = true },
    [RANDOM] = { .name = "--random",
                 .kind = CLI_FLAG,
                 .help = "random values for inputs that no file is for" },
    [SEED] = { .name = "--seed",
               .kind = CLI_INT,
               .value = "N",
               .help = "of the random values; 0",
               .min = 0,
               .max = INT64_MAX },
    [RANGE] = { .name = "--range",
                .kind = CLI_TEXT,
                .value = "NAME=LO:HI",
                .help = "random values of an input; -1:1, integers as wide as 32 bits 0:1",
                .repeats = true },
    [BIND] = { .name = "--bind",
               .kind = CLI_TEXT,
               .value = "NAME=SIZE",
               .help = "size of a symbolic dimension",
               .repeats = true },
    [SHAPE] = { .name = "--shape",
                .kind = CLI_TEXT,
                .value = "NAME=2x3",
                .help = "dimensions of an input that the model does not state",
                .repeats = true },
    [OUTPUT] = { .name = "--output",
                 .letter = "-o",
                 .kind = CLI_TEXT,
                 .value = "FOLDER",
                 .help = "write the outputs there, as output_0.pb and so on" },
    [FORMAT] = { .name = "--format",
                 .kind = CLI_CHOICE,
                 .value = "F",
                 .help = "of the outputs: pb (TensorProto) or npy; pb",
                 .choices = formats },
    [PROFILE] = { .name = "--profile", .kind = CLI_FLAG, .help = "report the time of each node" },
    [THREADS] = { .name = "--threads",
                  .kind = CLI_INT,
                  .value = "N",
                  .help = "of one operator; as many as there are cores, shared by devices",
                  .min = 1,
                  .max = 1024 },
    [OPTIMIZE] = { .name = "--optimize",
                   .kind = CLI_CHOICE,
                   .value = "L",
                   .help = "what the runtime does to the graph: none, basic, extended, all; all",
                   .choices = levels },
    [WARMUP] = { .name = "--warmup",
                 .kind = CLI_INT,
                 .value = "N",
                 .help = "runs before those that are timed; 0",
                 .min = 0,
                 .max = 1000000 },
    [AGAIN] = { .name = "--again",
                .kind = CLI_FLAG,
                .help = "time each model's second run of two: caches hold what it works on" },
    [REPEAT] = { .name = "--repeat",
                 .kind = CLI_INT,
                 .value = "N",
                 .help = "runs that are timed; the median is reported; 1",
                 .min = 1,
                 .max = 1000000 },
    [REQUESTS] = { .name = "--requests",
                   .kind = CLI_INT,
                   .value = "N",
                   .help = "of seeds that rise by 1, which copies take in turn; one for each copy",
                   .min = 1,
                   .max = 100000 },
    [PIPELINE] = { .name = "--pipeline",
                   .kind = CLI_INT,
                   .value = "N",
                   .help = "runs after those, one behind the other: models run at once; 0",
                   .min = 0,
                   .max = 100000 },
    [TIMEOUT] = { .name = "--timeout",
                  .kind = CLI_SECONDS,
                  .value = "S",
                  .help = "the longest that a device may wait for others; no limit" },
    RUN_COMMON_OPTIONS,
};

typedef struct {
    const cli_value *v;
    clv_arena *arena;
    clr_ort ort;
    clr_program program;
    clr_copies copies;
    clr_execution_options options;
    clr_input_options inputs;
    clr_requests requests;
    clr_report report;
    const char *profiles; /* folder */
} job;

/* -- options -- */

/* "a=1,b=2" into its settings; a comma in a name stays where no '=' is behind it before the next.
 */
static clv_status split_settings(clv_arena *arena, const char *option, const char *text,
                                 clr_settings *ret, clv_error *err)
{
    clr_setting *all = NULL;
    int32_t n = 0, cap = 0;

    while (text && *text) {
        size_t length = strcspn(text, "=");
        length += strcspn(text + length, ",");
        char *name = clv_arena_printf(arena, "%.*s", (int)length, text);
        if (!name || !CLV_PUSH_ROOM(arena, all, n, cap))
            return clv_fail_nomem(err, "the run");
        char *equals = strrchr(name, '=');
        if (!equals || equals == name)
            return clv_fail(err, CLV_EUSAGE, "%s: '%.100s' is not NAME=VALUE", option, name);
        *equals = '\0';
        all[n++] = (clr_setting){ name, equals + 1 };
        text += length + (text[length] == ',');
    }
    *ret = (clr_settings){ all, n };
    return CLV_OK;
}

static clv_status split_paths(job *j, const char *text, clv_error *err)
{
    const char **all = NULL;
    int32_t n = 0, cap = 0;

    while (text && *text) {
        size_t length = strcspn(text, ",");
        if (!CLV_PUSH_ROOM(j->arena, all, n, cap))
            return clv_fail_nomem(err, "the run");
        all[n] = clv_arena_printf(j->arena, "%.*s", (int)length, text);
        if (!all[n++])
            return clv_fail_nomem(err, "the run");
        text += length + (text[length] == ',');
    }
    j->inputs.paths = all;
    j->inputs.n_paths = n;
    return CLV_OK;
}

/* May the operands be read, and are they one folder or models? */
static clv_status check_operands(const cli_args *args, bool *ret_folder, clv_error *err)
{
    *ret_folder = false;
    for (int i = 0; i < args->n_operands; i++) {
        const char *path = args->operands[i];
        struct stat st;
        if (stat(path, &st) != 0 || access(path, R_OK) != 0)
            return clv_fail(err, CLV_EIO, "cannot read %s: %s", path, strerror(errno));
        if (*ret_folder)
            return clv_fail(err, CLV_EUSAGE, "'%s' is one too many, expected one folder", path);
        if (S_ISDIR(st.st_mode) && i > 0)
            return clv_fail(err, CLV_EUSAGE, "'%s' is a folder, expected a model", path);
        if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) /* the runtime would wait for a pipe */
            return clv_fail(err, CLV_EIO, "%s is not a regular file", path);
        *ret_folder = S_ISDIR(st.st_mode);
    }
    return CLV_OK;
}

/* -- all of it -- */

static clv_status read_profiles(job *j, clv_error *err)
{
    clr_node_times *nodes = CLV_NEW_ARRAY(j->arena, clr_node_times, j->program.n_models);

    if (!nodes)
        return clv_fail_nomem(err, "the run");
    for (int32_t i = 0; i < j->program.n_models; i++) {
        const char *path = NULL;
        if (j->program.models[i].empty)
            continue;
        CLV_TRY(clr_session_profile(&j->copies.at[0].sessions[i], j->arena, &path, err));
        CLV_TRY(clr_profile_read(path, j->arena, &nodes[i], err));
    }
    j->report.nodes = nodes;
    return CLV_OK;
}

static clv_status open_program(job *j, const cli_args *args, clv_error *err)
{
    bool is_folder;

    CLV_TRY(check_operands(args, &is_folder, err));
    if (!is_folder)
        return clr_program_from_paths(args->operands, args->n_operands, j->arena, &j->program, err);
    CLV_TRY(clr_manifest_read(args->operands[0], j->arena, &j->program, err));
    return clr_manifest_check_files(&j->program, j->arena, err);
}

static int32_t count_requests(const job *j)
{
    return j->v[REQUESTS].by ? (int32_t)j->v[REQUESTS].number : clr_program_copies(&j->program);
}

static clv_status open_all(job *j, const cli_args *args, clv_error *err)
{
    const cli_value *v = j->v;
    clr_input_options *in = &j->inputs;

    in->random = v[RANDOM].by != NULL;
    in->seed = (uint64_t)v[SEED].number;
    CLV_TRY(split_paths(j, v[INPUTS].text, err));
    CLV_TRY(split_settings(j->arena, "--range", v[RANGE].text, &in->ranges, err));
    CLV_TRY(split_settings(j->arena, "--bind", v[BIND].text, &in->binds, err));
    CLV_TRY(split_settings(j->arena, "--shape", v[SHAPE].text, &in->shapes, err));
    CLV_TRY(open_program(j, args, err));
    if (v[PROFILE].by)
        CLV_TRY(clr_temporary_make(j->arena, &j->profiles, err));
    j->options = (clr_execution_options){
        .threads = (int)v[THREADS].number,
        .level = v[OPTIMIZE].by ? (clr_opt_level)v[OPTIMIZE].number : CLR_OPT_ALL,
        .level_given = v[OPTIMIZE].by != NULL,
        .timeout_s = v[TIMEOUT].seconds,
        .again = v[AGAIN].by != NULL,
        .profile = j->profiles,
    };
    CLV_TRY(clr_ort_open(&j->ort, err));
    CLV_TRY(clr_ort_warm_up(&j->ort, err));
    /* as many as have something to do */
    int32_t runs = (int32_t)v[PIPELINE].number, n = clr_program_copies(&j->program);
    int32_t most = count_requests(j) > runs ? count_requests(j) : runs;
    j->copies.n = n < most ? n : most;
    return clr_copies_open(&j->ort, &j->program, &j->options, j->arena, &j->copies, err);
}

static clv_status run_all(job *j, const cli_args *args, clv_error *err)
{
    CLV_TRY(open_all(j, args, err));
    bool npy = j->v[FORMAT].by && j->v[FORMAT].number == 1;
    const clr_output_options outputs = { .folder = j->v[OUTPUT].text,
                                         .kind = npy ? CLR_FILE_NPY : CLR_FILE_PB,
                                         .n_requests = count_requests(j) };
    clr_requests_options o = { .inputs = &j->inputs,
                               .measure = { .warmup = (int)j->v[WARMUP].number,
                                            .repeat =
                                                j->v[REPEAT].by ? (int)j->v[REPEAT].number : 1 },
                               .pipeline = (int32_t)j->v[PIPELINE].number,
                               .n = outputs.n_requests };
    CLV_TRY(clr_output_files_new(&outputs, &j->program, j->arena, &o.files, err));
    CLV_TRY(clr_requests_run(&j->copies, &o, j->arena, &j->requests, err));
    j->report.x = &j->copies.at[0];
    j->report.requests = &j->requests;
    j->report.files = o.files;
    j->report.peak_bytes = clr_copies_peak_bytes(&j->copies);
    if (!j->profiles)
        return CLV_OK;
    clv_status status = read_profiles(j, err);
    if (status != CLV_OK)
        clr_output_files_remove(o.files);
    return status;
}

static int print_report(clr_cli *c, const clr_report *report)
{
    if (c->quiet && !c->json)
        return RUN_OK;
    const char *text =
        c->json ? clr_report_json(report, c->arena) : clr_report_text(report, c->arena);
    return text ? clr_print(text) : clr_print_nomem(c);
}

static int run(clr_cli *c, const cli_args *args)
{
    clv_error err;
    job j = { .v = args->values, .arena = c->arena };

    if (args->n_operands == 0)
        return clr_print_usage_error(c, "no model is given");
    clr_signals_watch();
    clv_status status = run_all(&j, args, &err);
    int code = status == CLV_OK       ? print_report(c, &j.report)
               : status == CLV_EUSAGE ? clr_print_usage_error(c, "%s", err.message)
                                      : clr_print_error(c, &err);
    clr_copies_close(&j.copies);
    clr_ort_close(&j.ort);
    clr_temporary_remove();
    return code;
}

const clr_command clr_cmd_run = {
    .name = "run",
    .operands = "MODEL ... | FOLDER",
    .summary = "Run a model, a chain of models, or a lowered folder",
    .details = "FOLDER is one that 'cleave lower' has written. What follows ';' is the default.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
