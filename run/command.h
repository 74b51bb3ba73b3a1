/* command.h - what the subcommands of cleave-run share: how they are described, what they print,
 * how they end.
 */
#ifndef CLV_RUN_COMMAND_H
#define CLV_RUN_COMMAND_H

#include "base/arena.h"
#include "cli/options.h"

/* Exit codes, as cleave's. 128 + signal where a signal ended it. */
enum { RUN_OK = 0, RUN_USAGE = 2, RUN_DIFFERS = 3, RUN_INPUT = 65, RUN_FAULT = 70, RUN_IO = 74 };

typedef struct clr_command clr_command;

typedef struct {
    clv_arena *arena;
    const clr_command *command; /* NULL before it is known */
    bool json, quiet;
} clr_cli;

struct clr_command {
    const char *name, *operands, *summary;
    const char *details;
    const cli_option *options;
    int n_options;
    int (*run)(clr_cli *c, const cli_args *args); /* the exit code */
};

#define RUN_COMMON_OPTIONS                                                                         \
    { "--json", NULL, CLI_FLAG, NULL,  "print one JSON object on standard output",                 \
      0,        0,    NULL,     false, NULL },                                                     \
        { "--quiet", "-q", CLI_FLAG, NULL, "print nothing but errors", 0, 0, NULL, false, NULL },  \
    {                                                                                              \
        "--help", "-h", CLI_FLAG, NULL, "print this help", 0, 0, NULL, false, NULL                 \
    }

/* Writes to standard output; RUN_OK, or the exit code if it cannot be written, after a sentence. */
int clr_print(const char *text);
/* "cleave-run: sentence" on standard error, with --json {"error": ...} too; the exit code. */
int clr_print_error(clr_cli *c, const clv_error *error);
int clr_print_usage_error(clr_cli *c, const char *fmt, ...) CLV_PRINTF(2, 3);
int clr_print_nomem(clr_cli *c);

#endif
