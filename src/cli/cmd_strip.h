/* cmd_strip.h - cleave strip: takes annotations out again. */
#ifndef CLV_CLI_CMD_STRIP_H
#define CLV_CLI_CMD_STRIP_H

#include "cli/cli.h"

extern const cli_command cli_cmd_strip;

#endif
