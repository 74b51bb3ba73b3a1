#include "cli/cmd_help.h"

#include "cli/answer.h"
#include "cli/command_list.h"

static int run(cli *c, const cli_args *args)
{
    if (args->n_operands > 1)
        return cli_usage(c, "'%s' is one command too many, expected one", args->operands[1]);
    if (args->n_operands == 0)
        return cli_print_help(c, NULL);
    const cli_command *command = cli_find_command(c, args->operands[0]);
    return command ? cli_print_help(c, command) : cli_unknown_command(c, args->operands[0]);
}

static const cli_option options[] = {
    { .name = "--help", .letter = "-h", .kind = CLI_FLAG, .help = "print this help" }
};

const cli_command cli_cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "Show what a command does",
    .options = options,
    .n_options = 1,
    .run = run,
};
