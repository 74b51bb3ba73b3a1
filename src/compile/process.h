/* process.h - runs one shell command to its end, whatever it does, within a time and an output.
 *
 * The command gets a process group of its own, /dev/null as input, default signal handling, and no
 * file descriptor of ours beside output and errors. Nothing of the host is touched: no signal
 * handler, no event loop; only the child itself is waited for
 * (docs/decisions/0002-external-compiler.md).
 */
#ifndef CLV_COMPILE_PROCESS_H
#define CLV_COMPILE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    const char *command; /* for /bin/sh -c */
    const char *folder;  /* working directory */
    char *const *env;    /* "NAME=value", NULL-terminated */
    int64_t timeout_ms;
    int64_t max_output_bytes;
    bool (*stop)(void *ctx); /* asked every CLV_STOP_EVERY_MS at least; may be NULL */
    void *stop_ctx;
} clv_command;
#define CLV_STOP_EVERY_MS 50

typedef enum {
    CLV_RUN_EXITED,    /* code: exit status */
    CLV_RUN_SIGNALED,  /* code: signal */
    CLV_RUN_LOST,      /* somebody else in this process took the exit status */
    CLV_RUN_TIMED_OUT, /* killed */
    CLV_RUN_TOO_MUCH,  /* killed: more output than allowed */
    CLV_RUN_HELD,      /* ended, but left a process behind that keeps its output open */
    CLV_RUN_STOPPED,   /* killed: stop said so */
    CLV_RUN_NO_START   /* code: errno */
} clv_run_end;

#define CLV_ERRORS_KEPT 4096

typedef struct {
    clv_run_end end;
    int code;
    char *output; /* in the arena, NUL-terminated */
    size_t n_output;
    char errors[CLV_ERRORS_KEPT + 1]; /* the last of what it wrote to stderr */
    size_t n_errors;
} clv_run;

/* CLV_ENOMEM is the only failure; what the command does is in *ret. */
clv_status clv_command_run(const clv_command *command, clv_arena *arena, clv_run *ret,
                           clv_error *err);

/* The last line of stderr that says anything, without blanks at its end; n == 0: there is none. */
clv_str clv_run_last_line(const clv_run *run);

#endif
