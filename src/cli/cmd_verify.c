#include "cli/cmd_verify.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/files.h"
#include "cli/signals.h"

/* cleave verify: does a plan compute what its model computes? */

enum {
    INPUTS,
    SEED,
    ALL,
    PROOF_ONLY,
    RUNNER,
    CONFIGURATION,
    BIND,
    COMMON,
    N_OPTIONS = COMMON + CLI_N_COMMON
};

static const cli_option options[N_OPTIONS] = {
    [INPUTS] = { .name = "--inputs",
                 .letter = "-i",
                 .kind = CLI_TEXT,
                 .value = "PATH",
                 .help = "values of inputs: a file .pb or .npy, NAME=FILE, or a folder of files" },
    [SEED] = { .name = "--seed",
               .kind = CLI_INT,
               .value = "N",
               .help = "of the random values of all other inputs; 0",
               .min = 0,
               .max = INT64_MAX },
    [ALL] = { .name = "--all",
              .kind = CLI_FLAG,
              .help = "compare every tensor, and name the first node that differs" },
    [PROOF_ONLY] = { .name = "--proof-only",
                     .kind = CLI_FLAG,
                     .help = "run nothing: for models of any size, without their weights" },
    [RUNNER] = { .name = "--runner",
                 .kind = CLI_TEXT,
                 .value = "PATH",
                 .help = "the program that runs models; cleave-run, beside cleave or in PATH" },
    [CONFIGURATION] = { .name = "--configuration",
                        .kind = CLI_TEXT,
                        .value = "NAME",
                        .help = "of the annotations, where ANNOTATED has several" },
    [BIND] = { .name = "--bind",
               .kind = CLI_TEXT,
               .value = "NAME=SIZE,...",
               .help = "give symbolic dimensions of ANNOTATED a size",
               .repeats = true },
    CLI_COMMON_OPTIONS,
};

#define RUNNER_NAME "cleave-run"

/* -- where the runner is -- */

static const char *in_folder(cli *c, const char *folder, size_t n)
{
    const char *path = clv_arena_printf(c->arena, "%.*s/" RUNNER_NAME, (int)n, folder);
    return path && access(path, X_OK) == 0 ? path : NULL;
}

static const char *beside_us(cli *c)
{
    char own[4096];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own);
    if (n <= 0 || n >= (ssize_t)sizeof own)
        return NULL;
    while (n > 0 && own[n - 1] != '/')
        n--;
    return n > 0 ? in_folder(c, own, (size_t)n - 1) : NULL;
}

static const char *in_path(cli *c)
{
    const char *found = NULL;
    for (const char *at = getenv("PATH"); at && !found;) {
        size_t n = strcspn(at, ":");
        found = n ? in_folder(c, at, n) : NULL;
        at = at[n] ? at + n + 1 : NULL;
    }
    return found;
}

static const char *find_runner(cli *c, const cli_value *given)
{
    if (given->by)
        return given->text;
    const char *found = beside_us(c);
    return found ? found : in_path(c);
}

/* -- the command -- */

static int exit_code(cleave_verdict verdict)
{
    switch (verdict) {
    case CLEAVE_VERDICT_AGREES:
    case CLEAVE_VERDICT_PROVEN:
        break;
    case CLEAVE_VERDICT_NOT_PROVEN:
        return CLI_EXIT_NOT_PROVEN;
    case CLEAVE_VERDICT_DIFFERS:
        return CLI_EXIT_DIFFERS;
    case CLEAVE_VERDICT_NOT_WRITTEN:
        return CLI_EXIT_NOT_WRITTEN;
    case CLEAVE_VERDICT_DOES_NOT_RUN:
        return CLI_EXIT_DOES_NOT_RUN;
    }
    return CLI_EXIT_OK;
}

static int print_verdict(cli *c, const cleave_verification *v)
{
    int code = cli_print_report(c, cleave_verification_report(v));
    int verdict = exit_code(cleave_verification_verdict(v));
    if (code != CLI_EXIT_OK || verdict == CLI_EXIT_OK)
        return code;
    if (c->quiet && !c->json)
        return cli_fail(c, verdict, "verdict", cleave_verification_conclusion(v));
    return verdict;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

#define BOM 0xef /* its first byte, before JSON of some editors */

/* A plan file is JSON; a model never begins like that. A folder has a plan. */
static bool is_plan_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang us */
    FILE *f = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "rb") : NULL;
    int byte = '{'; /* what cannot be read is for the reader of plans */
    while (f && (byte = getc(f)) != EOF && isspace(byte))
        ;
    if (f)
        (void)fclose(f);
    else if (fd >= 0)
        close(fd);
    return byte == '{' || byte == BOM || byte == EOF;
}

typedef struct {
    const char *model, *plan; /* paths; plan: a plan file, or an annotated model */
    const char *configuration, *bindings;
    const cleave_verify_options *options;
} request;

static cleave_status load_plan(const request *r, cleave_model *model, cleave_model *annotated,
                               const cleave_control *control, cleave_plan **ret,
                               cleave_error *error)
{
    return annotated
               ? cleave_plan_of_annotations(model, annotated, r->configuration, control, ret, error)
               : cleave_plan_load(model, r->plan, control, ret, error);
}

static int verify_opened(cli *c, const request *r, cleave_model *model, cleave_model *annotated)
{
    cleave_control control = cli_control(c);
    cleave_plan *plan = NULL;
    cleave_verification *v = NULL;
    cleave_error error;

    cli_warn(c, model);
    cli_catch_signals(c);
    cleave_status status = load_plan(r, model, annotated, &control, &plan, &error);
    cli_be_careful(true); /* a temporary folder has to go first */
    if (status == CLEAVE_OK)
        status = cleave_verify(model, plan, r->options, &control, &v, &error);
    cli_forget_signals();
    int code = status == CLEAVE_OK ? print_verdict(c, v) : cli_fail_library(c, &error);
    cleave_verification_free(v);
    cleave_plan_free(plan);
    return code;
}

static int verify(cli *c, const request *r)
{
    cleave_model *model = NULL, *annotated = NULL;
    bool is_plan = is_plan_file(r->plan);
    if (is_plan && (r->configuration || r->bindings))
        return cli_usage(c, "%s is for an annotated model, and '%s' is a plan file",
                         r->configuration ? "--configuration" : "--bind", r->plan);
    int code = cli_open(c, r->model, &model);
    if (code == CLI_EXIT_OK && !is_plan)
        code = cli_open(c, r->plan, &annotated);
    if (code == CLI_EXIT_OK && annotated)
        code = cli_bind(c, annotated, r->bindings);
    if (code == CLI_EXIT_OK)
        code = verify_opened(c, r, model, annotated);
    cleave_model_free(annotated);
    cleave_model_free(model);
    return code;
}

static int run(cli *c, const cli_args *args)
{
    const cli_value *v = args->values;
    cleave_verify_options o;

    cleave_verify_options_init(&o);
    if (args->n_operands != 2 && args->n_operands != 3)
        return cli_usage(c,
                         "a model, and its plan, a lowered folder or both are expected, %d given",
                         args->n_operands);
    o.lowered = args->n_operands == 3          ? args->operands[2]
                : is_folder(args->operands[1]) ? args->operands[1]
                                               : NULL;
    if (o.lowered && v[ALL].by)
        return cli_usage(c, "--all is of forms that are made, not of a folder");
    if (v[PROOF_ONLY].by && (v[ALL].by || v[INPUTS].by || v[RUNNER].by))
        return cli_usage(c, "--proof-only runs nothing, so %s has no use",
                         v[ALL].by      ? "--all"
                         : v[INPUTS].by ? "--inputs"
                                        : "--runner");
    o.proof_only = v[PROOF_ONLY].by != NULL;
    o.all = v[ALL].by != NULL;
    o.model_path = args->operands[0];
    o.inputs = v[INPUTS].text;
    o.seed = (uint64_t)v[SEED].number;
    o.runner = o.proof_only ? NULL : find_runner(c, &v[RUNNER]);
    const request r = { .model = args->operands[0],
                        .plan = args->operands[1],
                        .configuration = v[CONFIGURATION].text,
                        .bindings = v[BIND].text,
                        .options = &o };
    return verify(c, &r);
}

const cli_command cli_cmd_verify = {
    .name = "verify",
    .operands = "MODEL PLAN|ANNOTATED|FOLDER [FOLDER]",
    .summary = "Show that a plan computes what its model computes",
    .details =
        "First by a proof over all tensors, devices and steps; then the model and all that "
        "'cleave lower' makes of it are run on the same inputs, and their outputs compared "
        "(docs/verifying.md). In place of a plan file an annotated model is taken, "
        "whoever annotated it. A folder that was lowered is judged as it lies on disk, by the plan "
        "that its manifest has, or by another one. What follows ';' is the default. Exit codes: 4 "
        "it computes something else, 5 it is not proven, 6 it cannot be written, 7 it does not "
        "run.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
