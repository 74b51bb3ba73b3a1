/* cmd_annotate.h - cleave annotate: writes a plan file, perhaps edited by hand, into its model. */
#ifndef CLV_CLI_CMD_ANNOTATE_H
#define CLV_CLI_CMD_ANNOTATE_H

#include "cli/cli.h"

extern const cli_command cli_cmd_annotate;

#endif
