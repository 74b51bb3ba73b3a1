/* cmd_verify.h - cleave verify: does a plan compute what its model computes? */
#ifndef CLV_CLI_CMD_VERIFY_H
#define CLV_CLI_CMD_VERIFY_H

#include "cli/cli.h"

extern const cli_command cli_cmd_verify;

#endif
