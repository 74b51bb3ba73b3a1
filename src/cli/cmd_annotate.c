#include "cli/cmd_annotate.h"

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/external.h"
#include "cli/files.h"
#include "cli/signals.h"

/* cleave annotate: writes a plan file, perhaps edited by hand, into its model. */

enum { PLAN, OUTPUT, KEEP_IR, COMMON, N_OPTIONS = COMMON + CLI_N_COMMON };

static const cli_option options[N_OPTIONS] = {
    [PLAN] = { .name = "--plan",
               .kind = CLI_TEXT,
               .value = "PATH",
               .help = "the plan file, as written by 'cleave plan'" },
    [OUTPUT] = { .name = "--output",
                 .letter = "-o",
                 .kind = CLI_TEXT,
                 .value = "PATH",
                 .help = "where to write; MODEL.auto_sharded.onnx if not given" },
    [KEEP_IR] = { .name = "--keep-ir",
                  .kind = CLI_FLAG,
                  .help = "leave the IR version as it is, instead of 11 at least" },
    CLI_COMMON_OPTIONS,
};

typedef struct {
    const char *input, *plan, *output;
    cleave_annotate_options options;
} job;

static int annotate(cli *c, cleave_model *model, const job *j)
{
    cleave_control control = cli_control(c);
    cli_result result = {
        .model_path = j->output,
        .notes = { "latency and memory are the plan file's, not computed again" },
    };
    double start = cli_now();
    cleave_plan *plan = NULL;
    cleave_error error;
    int code;

    if (cleave_plan_load(model, j->plan, &control, &plan, &error) != CLEAVE_OK)
        return cli_fail_library(c, &error);
    cli_warn(c, model);
    cli_be_careful_of(j->output);
    cleave_status status = cleave_annotate(model, plan, &j->options, j->output, &control, &error);
    cli_forget_signals();
    if (status != CLEAVE_OK)
        code = cli_fail_library(c, &error);
    else
        code = cli_note_external(c, model, j->input, j->output, &result.notes[1]);
    result.plan = plan;
    result.seconds = cli_now() - start;
    if (code == CLI_EXIT_OK)
        code = cli_print_written(c, &result, "The annotated model is in");
    cleave_plan_free(plan);
    return code;
}

static int run(cli *c, const cli_args *args)
{
    job j = { .plan = args->values[PLAN].text, .output = args->values[OUTPUT].text };
    cleave_model *model = NULL;
    int code = cli_model_operand(c, args, NULL, &j.input);

    if (code == CLI_EXIT_OK && !j.plan)
        return cli_usage(c, "no plan is given, expected --plan PATH");
    if (code == CLI_EXIT_OK && !j.output)
        j.output = clv_arena_printf(c->arena, "%s.auto_sharded.onnx", j.input);
    if (code == CLI_EXIT_OK && !j.output)
        return cli_nomem(c);
    if (code == CLI_EXIT_OK)
        code = cli_check_output(c, "--output", j.output, (const char *[]){ j.input, j.plan }, 2);
    if (code == CLI_EXIT_OK)
        code = cli_open(c, j.input, &model);
    if (code != CLI_EXIT_OK)
        return code;
    cli_catch_signals(c);
    cleave_annotate_options_init(&j.options);
    j.options.keep_ir_version = args->values[KEEP_IR].by != NULL;
    code = annotate(c, model, &j);
    cleave_model_free(model);
    return code;
}

const cli_command cli_cmd_annotate = {
    .name = "annotate",
    .operands = "MODEL",
    .summary = "Write a plan file into the model that it was made for",
    .details = "A plan may be edited first: give runs of operators to other devices. The file is "
               "described in docs/formats/plan.md.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
