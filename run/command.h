/* command.h - what the subcommands of cleave-run share. */
#ifndef CLV_RUN_COMMAND_H
#define CLV_RUN_COMMAND_H

#include <sys/types.h>

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

/* Writes to standard output; RUN_OK, or the exit code if it cannot be written, which is told. */
int clr_print(const char *text);
/* "cleave-run: sentence" on standard error, with --json {"error": ...} too; the exit code. */
int clr_print_error(clr_cli *c, const clv_error *error);
int clr_print_usage_error(clr_cli *c, const char *fmt, ...) CLV_PRINTF(2, 3);
int clr_print_nomem(clr_cli *c);
/* "input", "io", ... for a status; the same words that cleave uses. */
const char *clr_status_word(clv_status status);

/* -- what has to go when the command ends, however it ends (interrupt.c) -- */

/* A new folder below TMPDIR. One at a time. It and the files in it go with clr_temporary_remove(),
 * or when a signal ends the process. */
clv_status clr_temporary_make(clv_arena *arena, const char **ret, clv_error *err);
void clr_temporary_remove(void);
/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the process at once, by a thread that waits
 * for them; to be called before any other thread is started. */
void clr_signals_watch(void);
/* From the first to the second, by one thread, a file is written that a stop must not leave half
 * there: the writer asks clr_interrupted() now and then, and the second is where a stop ends the
 * process. It takes a third signal to leave the file. A stream is not waited for. */
void clr_interrupt_defer(const char *path);
void clr_interrupt_allow(void);
/* Did a signal come? */
bool clr_interrupted(void);

/* -- processes (child.c) -- */

/* In a child just forked: from now on the signal comes when the parent ends, however it ends.
 * False: it has. */
bool clr_die_with_parent(pid_t parent, int signal);
/* sh -c COMMAND, both of whose streams are our standard error; *ret_how is as of waitpid(). It gets
 * SIGTERM when we end. To be called before any other thread is started. CLV_EIO: no process. */
clv_status clr_shell_run(const char *command, int *ret_how, clv_error *err);

#endif
