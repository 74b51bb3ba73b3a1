/* cmd_lower.h - cleave lower: a plan as models that runtimes execute. */
#ifndef CLV_CLI_CMD_LOWER_H
#define CLV_CLI_CMD_LOWER_H

#include "cli/cli.h"

extern const cli_command cli_cmd_lower;

#endif
