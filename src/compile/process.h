/* process.h - runs one shell command to its end, whatever it does, within a time and an output.
 *
 * The command gets a process group of its own, /dev/null as input, default signal handling, and no
 * file descriptor of ours beside output and errors. Nothing of the host is touched: no signal
 * handler, no event loop; only the child itself and its guard (base/guard.h) are waited for. What
 * the command has started ends with it, and with us, whatever its group
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
    char *const *env;    /* "NAME=value", NULL-terminated; the guard's mark is added */
    int64_t timeout_ms;
    int64_t max_output_bytes;
    bool (*stop)(void *ctx); /* asked every CLV_STOP_EVERY_MS at least; may be NULL */
    void *stop_ctx;
} clv_command;
#define CLV_STOP_EVERY_MS 50

typedef enum {
    CLV_PROCESS_EXITED,           /* code: exit status */
    CLV_PROCESS_SIGNALED,         /* code: signal */
    CLV_PROCESS_LOST,             /* somebody else in this process took the exit status */
    CLV_PROCESS_TIMED_OUT,        /* killed */
    CLV_PROCESS_OUTPUT_TOO_LONG,  /* killed: more output than allowed */
    CLV_PROCESS_OUTPUT_HELD_OPEN, /* ended, but left a process behind that keeps its output open */
    CLV_PROCESS_STOPPED,          /* killed: stop said so */
    CLV_PROCESS_NOT_STARTED       /* code: errno */
} clv_process_end;

#define CLV_ERRORS_KEPT 4096

typedef struct {
    clv_process_end end;
    int code;
    char *output; /* in the arena, NUL-terminated */
    size_t n_output;
    char errors[CLV_ERRORS_KEPT + 1]; /* the last of what it wrote to stderr */
    size_t n_errors;
} clv_process_result;

/* CLV_ENOMEM is the only failure; what the command does is in *ret. */
clv_status clv_process_run(const clv_command *command, clv_arena *arena, clv_process_result *ret,
                           clv_error *err);

/* The last line of stderr that says anything, without blanks at its end; n == 0: there is none. */
clv_str clv_process_last_error_line(const clv_process_result *result);

#endif
