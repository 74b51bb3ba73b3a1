/* cmd_inspect.h - cleave inspect: what a model is, before any planning. */
#ifndef CLV_CLI_CMD_INSPECT_H
#define CLV_CLI_CMD_INSPECT_H

#include "cli/cli.h"

extern const cli_command cli_cmd_inspect;

#endif
