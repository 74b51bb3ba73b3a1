/* cmd_calibrate.h - cleave calibrate: this machine's processor as a cluster, from a short
 * measurement. */
#ifndef CLV_CLI_CMD_CALIBRATE_H
#define CLV_CLI_CMD_CALIBRATE_H

#include "cli/cli.h"

extern const cli_command cli_cmd_calibrate;

#endif
