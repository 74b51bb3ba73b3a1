/* answer.h - how commands answer: on standard output, and errors on standard error. */
#ifndef CLV_CLI_ANSWER_H
#define CLV_CLI_ANSWER_H

#include "cli/cli.h"

/* Writes to standard output; CLI_EXIT_OK, or the exit code if it cannot be written. */
int cli_print(cli *c, const char *text);
/* One line "cleave: ..." on standard error; with --json also {"error":{...}} on standard output.
 * The message's own line breaks and control characters are replaced. Returns code. */
int cli_fail(cli *c, int code, const char *word, const char *message);
/* The request is wrong: the sentence, and where the help is. */
int cli_usage(cli *c, const char *fmt, ...) CLV_PRINTF(2, 3);
/* The library failed: its sentence and the exit code for its status. */
int cli_fail_library(cli *c, const cleave_error *error);
int cli_nomem(cli *c);
/* Warnings of the model on standard error, the first few. */
void cli_warn(const cli *c, const cleave_model *model);

/* One more, of the library; for cleave_control. */
void cli_note(void *ctx, const char *sentence);
/* A report: with --json as JSON, else as text unless c is quiet. */
int cli_print_report(cli *c, const cleave_report *report);

/* A path as a line for people may hold it, escaped as reports escape names; NULL without memory. */
const char *cli_show(cli *c, const char *path);

/* The JSON object of a command that writes files; plan may be NULL. */
typedef struct {
    const cleave_plan *plan;
    const char *model_path, *plan_path; /* NULL: not written */
    const char *notes[2];               /* sentences on the files written, or NULL */
    double seconds;
} cli_result;
int cli_print_result(cli *c, const cli_result *result);
/* Its notes as lines for people. */
int cli_print_notes(cli *c, const cli_result *result);
/* All of it: with --json that object, else, unless c is quiet, "words PATH" and the notes. */
int cli_print_written(cli *c, const cli_result *result, const char *words);

double cli_now(void); /* seconds of a clock that never goes back */

#endif
