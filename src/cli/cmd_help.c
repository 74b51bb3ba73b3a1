#include <string.h>

#include "cli/cli.h"

static int print_program_help(cli *c)
{
    const char *text = clv_arena_printf(
        c->arena,
        "Usage: cleave COMMAND [OPTION]... MODEL\n\n"
        "Finds how to run an ONNX model on the devices of a cluster, and writes the plan\n"
        "into the model as standard multi-device annotations.\n\nCommands:\n");

    for (int i = 0; text && cli_commands[i]; i++)
        text = clv_arena_printf(c->arena, "%s  %-10s %s\n", text, cli_commands[i]->name,
                                cli_commands[i]->summary);
    if (text)
        text = clv_arena_printf(
            c->arena,
            "%s\nOptions:\n  --help     print this help\n"
            "  --version  print the version\n\n"
            "Exit codes: 0 done, 2 wrong usage, 3 no plan fits or no candidate\n"
            "compiled, 4 a plan computes something else, 65 bad input, 70 out of\n"
            "memory or a fault of cleave, 74 input or output failed, 128 + N ended\n"
            "by signal N.\n\n"
            "'cleave COMMAND --help' tells more of a command.\n",
            text);
    return text ? cli_print(c, text) : cli_nomem(c);
}

int cli_print_help(cli *c, const cli_command *command)
{
    if (!command)
        return print_program_help(c);
    const char *options = cli_options_help(command->options, command->n_options, c->arena);
    if (!options)
        return cli_nomem(c);
    const char *text =
        clv_arena_printf(c->arena, "Usage: cleave %s [OPTION]... %s\n\n%s.\n\nOptions:\n%s%s%s",
                         command->name, command->operands, command->summary, options,
                         command->details ? "\n" : "", command->details ? command->details : "");
    return text ? cli_print(c, text) : cli_nomem(c);
}

static int run(cli *c, const cli_args *args)
{
    if (args->n_operands > 1)
        return cli_usage(c, "'%s' is one command too many, expected one", args->operands[1]);
    if (args->n_operands == 0)
        return cli_print_help(c, NULL);
    const cli_command *command = cli_find_command(args->operands[0]);
    return command ? cli_print_help(c, command) : cli_unknown_command(c, args->operands[0]);
}

static const cli_option options[] = {
    { .name = "--help", .letter = "-h", .kind = CLI_FLAG, .help = "print this help" }
};

const cli_command cli_cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "Tell what a command does",
    .options = options,
    .n_options = 1,
    .run = run,
};
