/* control.h - how calls of the library are stopped and heard. */
#ifndef CLV_CLI_CONTROL_H
#define CLV_CLI_CONTROL_H

#include "cli/cli.h"

/* For calls of the library: stopped by signals, with notes unless c is quiet, reports as the
 * terminal wants them. */
cleave_control cli_control(const cli *c);

#endif
