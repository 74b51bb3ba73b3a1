/* cli.h - what the commands share: how they are described, how they answer, how they end.
 *
 * A command is one cmd_*.c with a table of options and a run function that returns an exit code.
 * Commands know the library by cleave.h alone.
 */
#ifndef CLV_CLI_CLI_H
#define CLV_CLI_CLI_H

#include "base/arena.h"
#include "cleave.h"
#include "cli/colour.h"
#include "cli/options.h"

/* Exit codes; cleave(1) says the same. 128 + signal where a signal ended the command. */
enum {
    CLI_EXIT_OK = 0,
    CLI_EXIT_USAGE = 2,
    CLI_EXIT_NO_PLAN = 3,
    CLI_EXIT_DIFFERS = 4,
    CLI_EXIT_NOT_PROVEN = 5,
    CLI_EXIT_NOT_WRITTEN = 6,
    CLI_EXIT_DOES_NOT_RUN = 7,
    CLI_EXIT_INPUT = 65,
    CLI_EXIT_FAULT = 70,
    CLI_EXIT_IO = 74
};

typedef struct cli_command cli_command;

typedef struct {
    clv_arena *arena;
    const cli_command *command;         /* NULL before it is known */
    const cli_command *const *commands; /* all, in the order of --help; ends with NULL */
    bool json, quiet;
    bool colour; /* of reports */
} cli;

struct cli_command {
    const char *name, *operands, *summary;
    const char *details; /* for --help, behind the options */
    const cli_option *options;
    int n_options;
    int (*run)(cli *c, const cli_args *args);
};

/* Rows that every command has, at the end of its table. */
#define CLI_N_COMMON 4
#define CLI_COMMON_OPTIONS                                                                         \
    CLI_COLOR_OPTION,                                                                              \
        { "--json", NULL, CLI_FLAG, NULL,  "print one JSON object on standard output",             \
          0,        0,    NULL,     false, NULL },                                                 \
        { "--quiet", "-q", CLI_FLAG, NULL, "print nothing but errors", 0, 0, NULL, false, NULL },  \
    {                                                                                              \
        "--help", "-h", CLI_FLAG, NULL, "print this help", 0, 0, NULL, false, NULL                 \
    }

#endif
