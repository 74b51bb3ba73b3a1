/* cmd_reshard.h - cleave reshard: shards of one layout into those of another. */
#ifndef CLV_CLI_CMD_RESHARD_H
#define CLV_CLI_CMD_RESHARD_H

#include "cli/cli.h"

extern const cli_command cli_cmd_reshard;

#endif
