/* external.h - weights that a model keeps in other files. */
#ifndef CLV_CLI_EXTERNAL_H
#define CLV_CLI_EXTERNAL_H

#include "cli/cli.h"

/* *ret: what has to be done so that a reader of output finds the weights that the model keeps in
 * other files, NULL if nothing. The exit code. */
int cli_note_external(cli *c, const cleave_model *model, const char *input, const char *output,
                      const char **ret);

#endif
