/* cmd_run.h - cleave-run run: a model, a chain of them, or a lowered folder. */
#ifndef CLV_RUN_CMD_RUN_H
#define CLV_RUN_CMD_RUN_H

#include "run/command.h"

extern const clr_command clr_cmd_run;

#endif
