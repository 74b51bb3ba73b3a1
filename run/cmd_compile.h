/* cmd_compile.h - cleave-run compile: an external compiler for cleave plan that measures
 * (docs/compiler-protocol.md).
 */
#ifndef CLV_RUN_CMD_COMPILE_H
#define CLV_RUN_CMD_COMPILE_H

#include "run/command.h"

extern const clr_command clr_cmd_compile;

#endif
