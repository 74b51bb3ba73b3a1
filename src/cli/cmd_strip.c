#include "cli/cmd_strip.h"

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/external.h"
#include "cli/files.h"
#include "cli/signals.h"

/* cleave strip: takes annotations out again. */

enum { ALL, OUTPUT, COMMON, N_OPTIONS = COMMON + CLI_N_COMMON };

static const cli_option options[N_OPTIONS] = {
    [ALL] = { .name = "--all",
              .kind = CLI_FLAG,
              .help = "remove annotations of other programs too" },
    [OUTPUT] = { .name = "--output",
                 .letter = "-o",
                 .kind = CLI_TEXT,
                 .value = "PATH",
                 .help = "where to write; MODEL.stripped.onnx if not given" },
    CLI_COMMON_OPTIONS,
};

static int strip(cli *c, const char *input, bool all, const char *output)
{
    cleave_control control = cli_control(c);
    cli_result result = { .model_path = output };
    double start = cli_now();
    cleave_model *model = NULL;
    cleave_error error;
    int code = cli_open(c, input, &model);

    if (code != CLI_EXIT_OK)
        return code;
    cli_warn(c, model);
    cli_catch_signals(c);
    cli_be_careful_of(output);
    cleave_status status = cleave_strip(model, all, output, &control, &error);
    cli_forget_signals();
    if (status != CLEAVE_OK)
        code = cli_fail_library(c, &error);
    else
        code = cli_note_external(c, model, input, output, &result.notes[0]);
    result.seconds = cli_now() - start;
    if (code == CLI_EXIT_OK)
        code = cli_print_written(c, &result, "The stripped model is in");
    cleave_model_free(model);
    return code;
}

static int run(cli *c, const cli_args *args)
{
    const char *input = NULL, *output = args->values[OUTPUT].text;
    int code = cli_model_operand(c, args, NULL, &input);

    if (code != CLI_EXIT_OK)
        return code;
    if (!output)
        output = clv_arena_printf(c->arena, "%s.stripped.onnx", input);
    if (!output)
        return cli_nomem(c);
    code = cli_check_output(c, "--output", output, &input, 1);
    return code == CLI_EXIT_OK ? strip(c, input, args->values[ALL].by != NULL, output) : code;
}

const cli_command cli_cmd_strip = {
    .name = "strip",
    .operands = "MODEL",
    .summary = "Take annotations out of a model again",
    .details = "Without --all the result is the file that was annotated, byte for byte. A model "
               "that has nothing to remove is bad input.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
