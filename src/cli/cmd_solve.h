/* cmd_solve.h - cleave solve: chooses for each node of a strategy problem, with a bound. */
#ifndef CLV_CLI_CMD_SOLVE_H
#define CLV_CLI_CMD_SOLVE_H

#include "cli/cli.h"

extern const cli_command cli_cmd_solve;

#endif
