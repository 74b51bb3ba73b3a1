/* command_list.h - the commands by name, and their help. */
#ifndef CLV_CLI_COMMAND_LIST_H
#define CLV_CLI_COMMAND_LIST_H

#include "cli/cli.h"

/* NULL if there is none of that name. */
const cli_command *cli_find_command(const cli *c, const char *name);
/* "unknown command 'x', did you mean 'y'?"; the exit code. */
int cli_unknown_command(cli *c, const char *name);
/* Prints the help of one command, or with NULL of the program; the exit code. */
int cli_print_help(cli *c, const cli_command *command);

#endif
