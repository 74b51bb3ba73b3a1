#include "cli/command_list.h"

#include <string.h>

#include "base/suggest.h"
#include "cli/answer.h"

const cli_command *cli_find_command(const cli *c, const char *name)
{
    for (int i = 0; c->commands[i]; i++)
        if (strcmp(c->commands[i]->name, name) == 0)
            return c->commands[i];
    return NULL;
}

int cli_unknown_command(cli *c, const char *name)
{
    const char *names[32];
    int n = 0;

    for (; c->commands[n] && n < (int)(sizeof names / sizeof *names); n++)
        names[n] = c->commands[n]->name;
    const char *near = clv_suggest(name, names, n);
    if (near)
        return cli_usage(c, "unknown command '%s', did you mean '%s'?", name, near);
    return cli_usage(c, "unknown command '%s'", name);
}

static int print_program_help(cli *c)
{
    const char *text = clv_arena_printf(
        c->arena,
        "Usage: cleave COMMAND [OPTION]... MODEL\n\n"
        "Finds how to run an ONNX model on the devices of a cluster, and writes the plan\n"
        "into the model as standard multi-device annotations.\n\nCommands:\n");

    for (int i = 0; text && c->commands[i]; i++)
        text = clv_arena_printf(c->arena, "%s  %-10s %s\n", text, c->commands[i]->name,
                                c->commands[i]->summary);
    if (text)
        text = clv_arena_printf(
            c->arena,
            "%s\nOptions:\n  --help     print this help\n"
            "  --version  print the version\n\n"
            "Exit codes: 0 done, 2 wrong usage, 3 no plan fits or no candidate\n"
            "compiled, 4 a plan computes something else, 65 bad input, 70 out of\n"
            "memory or a fault of cleave, 74 input or output failed, 128 + N ended\n"
            "by signal N.\n\n"
            "'cleave COMMAND --help' shows more of a command.\n",
            text);
    return text ? cli_print(c, text) : cli_nomem(c);
}

int cli_print_help(cli *c, const cli_command *command)
{
    if (!command)
        return print_program_help(c);
    const char *options =
        cli_options_help(command->options, command->n_options, command->details, c->arena);
    if (!options)
        return cli_nomem(c);
    const char *text =
        clv_arena_printf(c->arena, "Usage: cleave %s [OPTION]... %s\n\n%s.\n\nOptions:\n%s",
                         command->name, command->operands, command->summary, options);
    return text ? cli_print(c, text) : cli_nomem(c);
}
