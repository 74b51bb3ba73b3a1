/* search.h - what the commands that search share: plan, place, solve.
 *
 * A search runs under a cli_search: it is stopped by signals, and shows on standard error how it
 * goes. Its solution is saved before it is printed, so that a reader that goes away costs nothing.
 */
#ifndef CLV_CLI_SEARCH_H
#define CLV_CLI_SEARCH_H

#include "cli/cli.h"

/* Rows of their tables. */
#define CLI_DEADLINE_OPTION                                                                        \
    {                                                                                              \
        .name = "--deadline", .kind = CLI_SECONDS, .value = "S",                                   \
        .help = "the best found within S seconds; none"                                            \
    }
#define CLI_GAP_OPTION(help_)                                                                      \
    {                                                                                              \
        .name = "--gap", .kind = CLI_PART, .value = "G", .help = (help_)                           \
    }
#define CLI_JOBS_OPTION(help_)                                                                     \
    {                                                                                              \
        .name = "--jobs", .kind = CLI_INT, .value = "N", .help = (help_), .min = 1, .max = 1024    \
    }
#define CLI_SEED_OPTION                                                                            \
    {                                                                                              \
        .name = "--seed", .kind = CLI_INT, .value = "N", .help = "of what is tried at random; 0",  \
        .min = 0, .max = INT64_MAX                                                                 \
    }
#define CLI_SOLUTION_OPTION                                                                        \
    {                                                                                              \
        .name = "--output", .letter = "-o", .kind = CLI_TEXT, .value = "PATH",                     \
        .help = "write the solution there as JSON"                                                 \
    }

typedef struct {
    cleave_control control;
    int digits;   /* of values, where each is a line; 0: one line drawn over itself */
    double never; /* values from here on stand for "never"; 0: none do */
    bool line_stands;
    double next_s; /* when to draw again */
} cli_search;

/* With a control that points to it: it must not move. */
void cli_search_begin(const cli *c, cli_search *search, int digits);
/* Removes the line that stands. */
void cli_search_end(cli_search *search);

/* Saves the solution of place or solve, if there is one, to path (NULL: nowhere) and prints it.
 * status and error: what the search returned. The exit code. */
int cli_print_solution(cli *c, cleave_status status, const cleave_error *error,
                       const cleave_report *report, const char *path);
/* There is no solution, and nothing is printed: the sentence. */
int cli_fail_no_solution(cli *c, const cleave_error *error);

#endif
