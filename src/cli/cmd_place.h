/* cmd_place.h - cleave place: puts the nodes of a workload on devices, with a bound. */
#ifndef CLV_CLI_CMD_PLACE_H
#define CLV_CLI_CMD_PLACE_H

#include "cli/cli.h"

extern const cli_command cli_cmd_place;

#endif
