/* cmd_batch.h - cleave-run batch: many models in few processes, for test programs. */
#ifndef CLV_RUN_CMD_BATCH_H
#define CLV_RUN_CMD_BATCH_H

#include "run/command.h"

extern const clr_command clr_cmd_batch;

#endif
