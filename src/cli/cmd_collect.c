#include "cli/cmd_collect.h"

#include "cli/answer.h"
#include "cli/control.h"
#include "cli/files.h"
#include "cli/signals.h"

/* cleave collect: shards into one model again. */

enum { OUTPUT, COMMON, N_OPTIONS = COMMON + CLI_N_COMMON };

static const cli_option options[N_OPTIONS] = {
    [OUTPUT] = { .name = "--output",
                 .letter = "-o",
                 .kind = CLI_TEXT,
                 .value = "MODEL",
                 .help = "where to write the model" },
    CLI_COMMON_OPTIONS,
};

static int collect(cli *c, const char *folder, const char *path)
{
    cleave_control control = cli_control(c);
    cli_result result = { .model_path = path };
    double start = cli_now();
    cleave_error error;

    cli_catch_signals(c);
    cli_be_careful(true); /* half-written files have to go first */
    cleave_status status = cleave_collect(folder, path, &control, &error);
    cli_forget_signals();
    if (status != CLEAVE_OK)
        return cli_fail_library(c, &error);
    result.seconds = cli_now() - start;
    return cli_print_written(c, &result, "The model is in");
}

static int run(cli *c, const cli_args *args)
{
    int code = cli_one_operand(c, args, "folder");

    if (code != CLI_EXIT_OK)
        return code;
    if (!args->values[OUTPUT].by)
        return cli_usage(c, "no output is given, expected -o MODEL");
    return collect(c, args->operands[0], args->values[OUTPUT].text);
}

const cli_command cli_cmd_collect = {
    .name = "collect",
    .operands = "DIR",
    .summary = "Put the shards of a folder together to the model that they are of",
    .details =
        "The files are those that were sharded, byte for byte: the model at MODEL, and beside it "
        "the files that held its weights, which must not exist yet. Checksums are verified.",
    .options = options,
    .n_options = N_OPTIONS,
    .run = run,
};
