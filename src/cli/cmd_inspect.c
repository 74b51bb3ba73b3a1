#include "cli/cli.h"

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
    cleave_error error;
    char *text = NULL;

    if (cleave_model_inspect(model, c->json, &text, &error) != CLEAVE_OK)
        return cli_fail_library(c, &error);
    int code = c->quiet && !c->json ? CLI_EXIT_OK : cli_print(c, text);
    cleave_text_free(model, text);
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
