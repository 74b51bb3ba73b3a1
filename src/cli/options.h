/* options.h - what a command accepts, as a table; the table is parsed by, and printed as --help.
 *
 * An option is written --name value or --name=value; one that takes no value, --name. A few have a
 * letter too: -o value. "--" ends the options. A value that starts with '-' is written with '='.
 * Names are never shortened, so that a script keeps its meaning when an option is added.
 */
#ifndef CLV_CLI_OPTIONS_H
#define CLV_CLI_OPTIONS_H

#include <stdbool.h>

#include "base/arena.h"

typedef enum {
    CLI_FLAG,
    CLI_TEXT,    /* not empty */
    CLI_INT,     /* min to max */
    CLI_BYTES,   /* "80GiB" */
    CLI_SECONDS, /* above 0, at most 1e9, fractions allowed */
    CLI_TIME,    /* "20ms": above 0, at most 1e9 s */
    CLI_NUMBER,  /* above 0 */
    CLI_PART,    /* "0.01" or "1%": at least 0 and below 1 */
    CLI_CHOICE   /* one of choices */
} cli_kind;

typedef struct {
    const char *name;   /* "--output" */
    const char *letter; /* "-o", or NULL */
    cli_kind kind;
    const char *value; /* what --help calls the value; NULL for a flag */
    const char *help;
    int64_t min, max;           /* CLI_INT */
    const char *const *choices; /* CLI_CHOICE; ends with NULL */
    bool repeats;               /* may be given again; the texts are joined by commas */
    const char *same_as;        /* another spelling of this option: the value goes there */
} cli_option;

typedef struct {
    const char *by;   /* the spelling it was given with; NULL: not given */
    const char *text; /* the value as written */
    int64_t number;   /* CLI_INT, CLI_BYTES; CLI_CHOICE: which */
    double seconds;
    double real; /* CLI_NUMBER, CLI_PART */
} cli_value;

typedef struct {
    cli_value *values; /* one for each option, in the order of the table */
    const char **operands;
    int n_operands;
} cli_args;

typedef struct {
    const cli_option *options;
    int n_options;
} cli_table;

/* argv[0 .. argc) without program and command names. Everything lives in the arena or in argv.
 * CLV_EUSAGE with a sentence that names the option and the value; CLV_ENOMEM. err is not NULL. */
clv_status cli_parse(const cli_table *table, int argc, char **argv, clv_arena *arena, cli_args *ret,
                     clv_error *err);

/* The options as lines of --help, in the order of the table, and details below them (NULL: none):
 * paragraphs, which are broken to lines of 80 columns. NULL without memory. */
const char *cli_options_help(const cli_option *options, int n_options, const char *details,
                             clv_arena *arena);

#endif
