/* colour.h - what is known of the terminal that a report goes to: colours, and columns.
 *
 * Which words are coloured is the library's to say (cleave_control); files, pipes and JSON get
 * none.
 */
#ifndef CLV_CLI_COLOUR_H
#define CLV_CLI_COLOUR_H

#include "cli/options.h"

/* A row of every command. */
extern const char *const cli_color_choices[];
#define CLI_COLOR_OPTION                                                                           \
    {                                                                                              \
        .name = "--color", .kind = CLI_CHOICE, .value = "auto|always|never",                       \
        .help = "color a report; auto, on a terminal", .choices = cli_color_choices                \
    }

/* Whether reports are to be in colour: as the option says; where it is "auto" or not given, if
 * standard output is a terminal that TERM does not call "dumb" and NO_COLOR is not set
 * (no-color.org). option may be NULL. */
bool cli_wants_colour(const cli_value *option);
/* Columns for tables: those of the terminal that standard output is, or else of COLUMNS, at least
 * 60 and at most 200; 0 where it is no terminal, or these are not known. */
int cli_columns(void);

#endif
