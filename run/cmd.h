/* cmd.h - what the subcommands of cleave-run share. */
#ifndef CLV_RUN_CMD_H
#define CLV_RUN_CMD_H

#include "base/arena.h"
#include "cli/options.h"
#include "run/ort.h"

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
    int (*run)(clr_cli *c, const cli_args *args);
};

extern const clr_command clr_cmd_run, clr_cmd_batch, clr_cmd_compile;

#define RUN_COMMON_OPTIONS                                                                         \
    { "--json", NULL, CLI_FLAG, NULL,  "print one JSON object on standard output",                 \
      0,        0,    NULL,     false, NULL },                                                     \
        { "--quiet", "-q", CLI_FLAG, NULL, "print nothing but errors", 0, 0, NULL, false, NULL },  \
    {                                                                                              \
        "--help", "-h", CLI_FLAG, NULL, "print this help", 0, 0, NULL, false, NULL                 \
    }

/* Writes to standard output; RUN_OK or RUN_IO. */
int clr_print(const char *text);
/* "cleave-run: sentence" on standard error, with --json {"error": ...} too; the exit code. */
int clr_fail(clr_cli *c, const clv_error *error);
int clr_usage(clr_cli *c, const char *fmt, ...) CLV_PRINTF(2, 3);
int clr_nomem(clr_cli *c);
/* "input", "io", ... for a status; the same words that cleave uses. */
const char *clr_word_of(clv_status status);

/* -- what has to go when the command ends, however it ends (temporary.c) -- */

/* A new folder below TMPDIR. One at a time. It and the files in it go with clr_forget_temporary(),
 * or when a signal ends the process. */
clv_status clr_make_temporary(clv_arena *arena, const char **ret, clv_error *err);
void clr_forget_temporary(void);
/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the process at once, by a thread that waits
 * for them; to be called before any other thread is started. */
void clr_watch_signals(void);

#endif
