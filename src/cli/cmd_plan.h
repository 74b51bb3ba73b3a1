/* cmd_plan.h - cleave plan: finds a plan, prints it, writes it into the model. */
#ifndef CLV_CLI_CMD_PLAN_H
#define CLV_CLI_CMD_PLAN_H

#include "cli/cli.h"

extern const cli_command cli_cmd_plan;

#endif
