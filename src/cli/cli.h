/* cli.h - what the commands share: how they are described, how they answer, how they end.
 *
 * A command is one cmd_*.c with a table of options and a run function that returns an exit code.
 * Commands know the library by cleave.h alone.
 */
#ifndef CLV_CLI_CLI_H
#define CLV_CLI_CLI_H

#include "base/arena.h"
#include "cleave.h"
#include "cli/options.h"

/* Exit codes; cleave(1) says the same. 128 + signal where a signal ended the command. */
enum {
    CLI_EXIT_OK = 0,
    CLI_EXIT_USAGE = 2,
    CLI_EXIT_NO_PLAN = 3,
    CLI_EXIT_DIFFERS = 4,
    CLI_EXIT_INPUT = 65,
    CLI_EXIT_FAULT = 70,
    CLI_EXIT_IO = 74
};

typedef struct cli_command cli_command;

typedef struct {
    clv_arena *arena;
    const cli_command *command; /* NULL before it is known */
    bool json, quiet;
} cli;

struct cli_command {
    const char *name, *operands, *summary;
    const char *details; /* for --help, behind the options */
    const cli_option *options;
    int n_options;
    int (*run)(cli *c, const cli_args *args);
};

extern const cli_command cli_cmd_plan, cli_cmd_inspect, cli_cmd_shards, cli_cmd_annotate,
    cli_cmd_lower, cli_cmd_place, cli_cmd_rules, cli_cmd_solve, cli_cmd_strip, cli_cmd_shard,
    cli_cmd_reshard, cli_cmd_collect, cli_cmd_verify, cli_cmd_calibrate, cli_cmd_help;

/* All commands, in the order of --help; ends with NULL. */
extern const cli_command *const cli_commands[];
/* NULL if there is none of that name. */
const cli_command *cli_find_command(const char *name);
/* "unknown command 'x', did you mean 'y'?"; the exit code. */
int cli_unknown_command(cli *c, const char *name);
/* Prints the help of one command, or with NULL of the program; the exit code. */
int cli_print_help(cli *c, const cli_command *command);

/* Rows that every command has, at the end of its table. */
#define CLI_COMMON_OPTIONS                                                                         \
    { "--json", NULL, CLI_FLAG, NULL,  "print one JSON object on standard output",                 \
      0,        0,    NULL,     false, NULL },                                                     \
        { "--quiet", "-q", CLI_FLAG, NULL, "print nothing but errors", 0, 0, NULL, false, NULL },  \
    {                                                                                              \
        "--help", "-h", CLI_FLAG, NULL, "print this help", 0, 0, NULL, false, NULL                 \
    }

/* -- cutting weights (cutting.c): what shard and reshard do alike -- */

/* Rows of their tables; each says itself what its layout and its folder are for. */
#define CLI_LAYOUT_OPTION(help_)                                                                   \
    {                                                                                              \
        .name = "--layout", .kind = CLI_TEXT, .value = "FILE", .help = (help_)                     \
    }
#define CLI_LAYOUT_BY_PLAN_OPTION                                                                  \
    {                                                                                              \
        .name = "--plan", .kind = CLI_TEXT, .value = "FILE", .same_as = "--layout",                \
        .help = "the same, as a plan of 'cleave plan' has it"                                      \
    }
#define CLI_WEIGHTS_OPTION(value_, choices_)                                                       \
    {                                                                                              \
        .name = "--weights", .kind = CLI_CHOICE, .value = (value_),                                \
        .help = "what is written; external", .choices = (choices_)                                 \
    }
#define CLI_MAX_FILE_OPTION                                                                        \
    {                                                                                              \
        .name = "--max-file-size", .kind = CLI_BYTES, .value = "SIZE",                             \
        .help = "begin a new safetensors file above it; any"                                       \
    }
#define CLI_NEW_FOLDER_OPTION(help_)                                                               \
    {                                                                                              \
        .name = "--output", .letter = "-o", .kind = CLI_TEXT, .value = "DIR", .help = (help_)      \
    }

/* That a layout is given, or usage error. */
int cli_need_layout(cli *c, const cli_value *layout);
/* From values of these rows. */
cleave_shard_options cli_shard_options(const cli_value *weights, const cli_value *max_file);

/* -- answers (answer.c) -- */

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

double cli_now(void); /* seconds of a clock that never goes back */

/* -- what commands do alike (common.c) -- */

/* The one MODEL operand, or usage error. by_option: what an option gave for it, or NULL. */
int cli_model_operand(cli *c, const cli_args *args, const char *by_option, const char **ret_path);
/* The same for what is no model: "no workload is given". */
int cli_one_operand(cli *c, const cli_args *args, const char *what);
/* Opens the model. */
int cli_open(cli *c, const char *path, cleave_model **ret);
/* "a=1,b=2" given to the model; NULL: none. */
int cli_bind(cli *c, cleave_model *model, const char *bindings);
/* Refuses an output path that is a folder, or one of the other files of this run: first the model,
 * then any, which may be NULL. option names it in the message. */
int cli_check_output(cli *c, const char *option, const char *path, const char *const *others,
                     int n_others);
/* That, and then the next, for an output of one option; nothing where it is not given. */
int cli_prepare_output(cli *c, const cli_value *output, const char *const *others, int n_others);
/* Before work is put into it: can it be written, and is it no file of the model's? NULL: not
 * written. */
int cli_try_output(cli *c, cleave_model *model, const char *path);

/* *ret: what has to be done so that a reader of output finds the weights that the model keeps in
 * other files, NULL if nothing. The exit code. (external.c) */
int cli_note_external(cli *c, const cleave_model *model, const char *input, const char *output,
                      const char **ret);

/* -- signals (signals.c) -- */

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the command within a fifth of a second: by a
 * flag that the library is made to look at, or on the spot. A second signal does not wait. */
void cli_catch_signals(const cli *c);
/* While careful, the command owns files or processes that have to go first, so only the flag is
 * set; it takes a third signal to leave them. */
void cli_be_careful(bool yes);
/* Careful while this file is written, if it is one. */
void cli_be_careful_of(const char *path);
/* The same of the best answer so far: who has stopped the search waits for it, stream or not. */
void cli_be_careful_of_answer(const char *path);
/* This option's file is there: a stop that is told from now on says so. */
void cli_has_written(const cli *c, const char *option);
/* "nothing was written", or what was: the end of the sentence about a stop. */
const char *cli_outcome(void);
/* The work is done and saved: signals are the system's again, unless one came before, and then the
 * next ends the command. Whatever tells the answer calls it first. */
void cli_forget_signals(void);
/* The signal that came, or 0. */
int cli_signal(void);
/* For calls of the library: stopped by signals, with notes unless c is quiet. */
cleave_control cli_control(const cli *c);

#endif
