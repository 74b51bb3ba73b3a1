/* cmd_rules.h - cleave rules: which operators may be split over devices, and how. */
#ifndef CLV_CLI_CMD_RULES_H
#define CLV_CLI_CMD_RULES_H

#include "cli/cli.h"

extern const cli_command cli_cmd_rules;

#endif
