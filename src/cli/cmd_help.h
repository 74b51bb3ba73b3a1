/* cmd_help.h - cleave help: the help of cleave and of its commands. */
#ifndef CLV_CLI_CMD_HELP_H
#define CLV_CLI_CMD_HELP_H

#include "cli/cli.h"

extern const cli_command cli_cmd_help;

#endif
