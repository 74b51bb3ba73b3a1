/* cmd_shards.h - cleave shards: what the annotations of a model put where, and what follows from
 * them. */
#ifndef CLV_CLI_CMD_SHARDS_H
#define CLV_CLI_CMD_SHARDS_H

#include "cli/cli.h"

extern const cli_command cli_cmd_shards;

#endif
