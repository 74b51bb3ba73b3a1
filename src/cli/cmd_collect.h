/* cmd_collect.h - cleave collect: shards into one model again. */
#ifndef CLV_CLI_CMD_COLLECT_H
#define CLV_CLI_CMD_COLLECT_H

#include "cli/cli.h"

extern const cli_command cli_cmd_collect;

#endif
