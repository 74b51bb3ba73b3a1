/* cmd_clusters.h - cleave clusters: which clusters there are, and what is known of one. */
#ifndef CLV_CLI_CMD_CLUSTERS_H
#define CLV_CLI_CMD_CLUSTERS_H

#include "cli/cli.h"

extern const cli_command cli_cmd_clusters;

#endif
