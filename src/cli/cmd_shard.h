/* cmd_shard.h - cleave shard: cuts a model's weights into files, as a layout says. */
#ifndef CLV_CLI_CMD_SHARD_H
#define CLV_CLI_CMD_SHARD_H

#include "cli/cli.h"

extern const cli_command cli_cmd_shard;

#endif
