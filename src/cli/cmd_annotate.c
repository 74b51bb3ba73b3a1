#include <stdio.h>

#include "cli/cli.h"

/* cleave annotate: writes a plan file, perhaps edited by hand, into its model. */

enum { PLAN, OUTPUT, KEEP_IR, COMMON, N_OPTIONS = COMMON + 3 };

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

static int tell(cli *c, const cli_result *result)
{
    if (c->json)
        return cli_print_result(c, result);
    const char *shown = cli_show(c, result->model_path);
    const char *line =
        shown ? clv_arena_printf(c->arena, "[Success] Save the sharded model to %s\n", shown)
              : NULL;
    if (!line)
        return cli_nomem(c);
    if (c->quiet)
        return CLI_EXIT_OK;
    int code = cli_print(c, line);
    return code == CLI_EXIT_OK ? cli_print_notes(c, result) : code;
}

static int annotate(cli *c, cleave_model *model, const char *input, const char *plan_path,
                    const char *output)
{
    cli_result result = {
        .model_path = output,
        .notes = { "latency and memory are the plan file's, not computed again" },
    };
    double start = cli_now();
    cleave_plan *plan = NULL;
    cleave_error error;
    int code;

    if (cleave_plan_load(model, plan_path, &plan, &error) != CLEAVE_OK)
        return cli_fail_library(c, &error);
    cli_warn(c, model);
    cli_be_careful_of(output);
    cleave_status status = cleave_annotate(model, plan, output, &error);
    cli_forget_signals();
    if (status != CLEAVE_OK)
        code = cli_fail_library(c, &error);
    else
        code = cli_note_external(c, model, input, output, &result.notes[1]);
    result.plan = plan;
    result.seconds = cli_now() - start;
    if (code == CLI_EXIT_OK)
        code = tell(c, &result);
    cleave_plan_free(plan);
    return code;
}

static int run(cli *c, const cli_args *args)
{
    const char *input = NULL, *plan = args->values[PLAN].text, *output = args->values[OUTPUT].text;
    cleave_model *model = NULL;
    int code = cli_model_operand(c, args, NULL, &input);

    if (code == CLI_EXIT_OK && !plan)
        return cli_usage(c, "no plan is given, expected --plan PATH");
    if (code == CLI_EXIT_OK && !output)
        output = clv_arena_printf(c->arena, "%s.auto_sharded.onnx", input);
    if (code == CLI_EXIT_OK && !output)
        return cli_nomem(c);
    if (code == CLI_EXIT_OK)
        code = cli_check_output(c, "--output", output, (const char *[]){ input, plan }, 2);
    if (code == CLI_EXIT_OK)
        code = cli_open(c, input, &model);
    if (code != CLI_EXIT_OK)
        return code;
    cli_catch_signals(c);
    cleave_model_keep_ir_version(model, args->values[KEEP_IR].by != NULL);
    code = annotate(c, model, input, plan, output);
    cleave_model_free(model);
    return code;
}

const cli_command cli_cmd_annotate = {
    .name = "annotate",
    .operands = "MODEL",
    .summary = "Write a plan file into the model that it was made for",
    .details = "A plan may be edited first: give runs of operators to other devices. The file is\n"
               "described in docs/formats/plan.md.\n",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
