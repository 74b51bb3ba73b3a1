/* main.c - cleave-run: models, stages and devices on ONNX Runtime. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/streams.h"
#include "base/suggest.h"
#include "run/cmd_batch.h"
#include "run/cmd_compile.h"
#include "run/cmd_run.h"
#include "run/ort.h"

static const clr_command *const commands[] = { &clr_cmd_run, &clr_cmd_batch, &clr_cmd_compile };
#define N_COMMANDS ((int)(sizeof commands / sizeof *commands))

static bool has_flag(int argc, char **argv, const char *flag)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], flag) == 0)
            return true;
    return false;
}

static bool given(const clr_command *command, const cli_args *args, const char *name)
{
    for (int i = 0; i < command->n_options; i++)
        if (strcmp(command->options[i].name, name) == 0)
            return args->values[i].by != NULL;
    return false;
}

/* text: NULL without memory. */
static int print_text(clr_cli *c, const char *text)
{
    return text ? clr_print(text) : clr_print_nomem(c);
}

static int print_help(clr_cli *c)
{
    const clr_command *k = c->command;
    char *text = NULL;

    if (k) {
        const char *options = cli_options_help(k->options, k->n_options, k->details, c->arena);
        if (options)
            text = clv_arena_printf(c->arena, "usage: cleave-run %s [option ...] %s\n\n%s.\n\n%s",
                                    k->name, k->operands, k->summary, options);
        return print_text(c, text);
    }
    text = clv_arena_printf(c->arena, "usage: cleave-run COMMAND [option ...] ...\n\n"
                                      "Runs models, stages and devices on ONNX Runtime.\n\n");
    for (int i = 0; text && i < N_COMMANDS; i++)
        text = clv_arena_printf(c->arena, "%s  %-8s%s\n", text, commands[i]->name,
                                commands[i]->summary);
    if (text)
        text = clv_arena_printf(c->arena, "%s\n'cleave-run COMMAND --help' shows its options.\n",
                                text);
    return print_text(c, text);
}

static int run_command(clr_cli *c, int argc, char **argv)
{
    cli_args args;
    clv_error err;

    c->json = has_flag(argc, argv, "--json");
    if (has_flag(argc, argv, "--help") || has_flag(argc, argv, "-h"))
        return print_help(c);
    const cli_table table = { c->command->options, c->command->n_options };
    if (cli_parse(&table, argc, argv, c->arena, &args, &err) != CLV_OK)
        return err.status == CLV_ENOMEM ? clr_print_nomem(c)
                                        : clr_print_usage_error(c, "%s", err.message);
    c->json = given(c->command, &args, "--json");
    c->quiet = given(c->command, &args, "--quiet");
    return c->command->run(c, &args);
}

static int dispatch(clr_cli *c, int argc, char **argv)
{
    const char *names[N_COMMANDS];

    if (argc < 2)
        return clr_print_usage_error(c, "no command is given");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help(c);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return print_text(c, clv_arena_printf(c->arena, "cleave-run %s, ONNX Runtime %s\n",
                                              CLEAVE_VERSION, OrtGetApiBase()->GetVersionString()));
    for (int i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i]->name;
        if (strcmp(names[i], argv[1]) == 0) {
            c->command = commands[i];
            return run_command(c, argc - 2, argv + 2);
        }
    }
    const char *near = clv_suggest(argv[1], names, N_COMMANDS);
    return near
               ? clr_print_usage_error(c, "unknown command '%s', did you mean '%s'?", argv[1], near)
               : clr_print_usage_error(c, "unknown command '%s'", argv[1]);
}

int main(int argc, char **argv)
{
    clv_fill_streams();
    clr_cli c = { .arena = clv_arena_new(NULL, 0) };

    if (!c.arena)
        return clr_print_nomem(&c);
    /* A reader that goes away and a file that may not grow are seen as failed writes. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int code = dispatch(&c, argc, argv);
    clv_arena_free(c.arena);
    return code;
}
