#include "cli/cmd_inspect.h"

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/files.h"

/* cleave inspect: what a model is, before any planning. */

enum { BIND, COMMON, N_OPTIONS = COMMON + 3 };

static const cli_option options[N_OPTIONS] = {
    [BIND] = { .name = "--bind",
               .kind = CLI_TEXT,
               .value = "NAME=SIZE,...",
               .help = "give symbolic dimensions a size",
               .repeats = true },
    CLI_COMMON_OPTIONS,
};

static int inspect(cli *c, cleave_model *model)
{
    cleave_control control = cli_control(c);
    cleave_report *report = NULL;
    cleave_error error;

    if (cleave_model_inspect(model, &control, &report, &error) != CLEAVE_OK)
        return cli_fail_library(c, &error);
    int code = cli_print_report(c, report);
    cleave_report_free(report);
    return code;
}

static int run(cli *c, const cli_args *args)
{
    const char *path = NULL;
    cleave_model *model = NULL;
    int code = cli_model_operand(c, args, NULL, &path);

    if (code == CLI_EXIT_OK)
        code = cli_open(c, path, &model);
    if (code != CLI_EXIT_OK)
        return code;
    code = cli_bind(c, model, args->values[BIND].text);
    if (code == CLI_EXIT_OK)
        code = inspect(c, model);
    cleave_model_free(model);
    return code;
}

const cli_command cli_cmd_inspect = {
    .name = "inspect",
    .operands = "MODEL",
    .summary = "Show what a model is, what it costs and where it may be cut",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
