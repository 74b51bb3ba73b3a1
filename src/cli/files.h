/* files.h - operands, the model and the outputs of a command. */
#ifndef CLV_CLI_FILES_H
#define CLV_CLI_FILES_H

#include "cli/cli.h"

/* The one MODEL operand, or usage error. by_option: what an option gave for it, or NULL. */
int cli_model_operand(cli *c, const cli_args *args, const char *by_option, const char **ret_path);
/* The same for what is no model: "no workload is given". */
int cli_one_operand(cli *c, const cli_args *args, const char *what);
/* Opens the model. */
int cli_open(cli *c, const char *path, cleave_model **ret);
/* "a=1,b=2" given to the model; NULL: none. */
int cli_bind(cli *c, cleave_model *model, const char *bindings);
/* Refuses an output path that is a folder, or one of the other files of this run: first the model,
 * then any, which may be NULL. option names it in the message. */
int cli_check_output(cli *c, const char *option, const char *path, const char *const *others,
                     int n_others);
/* That, and then the next, for an output of one option; nothing where it is not given. */
int cli_prepare_output(cli *c, const cli_value *output, const char *const *others, int n_others);
/* Before work is put into it: can it be written, and is it no file of the model's? NULL: not
 * written. */
int cli_try_output(cli *c, cleave_model *model, const char *path);

#endif
