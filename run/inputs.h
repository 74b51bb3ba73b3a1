/* inputs.h - values for the inputs of a program: from files, or made at random. */
#ifndef CLV_RUN_INPUTS_H
#define CLV_RUN_INPUTS_H

#include "run/execution.h"

/* NAME=SIZE, NAME=LO:HI or NAME=2x3, as given. */
typedef struct {
    const char *name, *text;
} clr_setting;

typedef struct {
    const clr_setting *at;
    int32_t n;
} clr_settings;

typedef struct {
    const char *const *paths; /* files, folders of files, or NAME=FILE */
    int32_t n_paths;
    bool random; /* for what no file is for */
    uint64_t seed;
    clr_settings binds, ranges, shapes;
} clr_input_options;

/* One value for each input of the program, in its order, in *values, which has room for them; those
 * that were made are the caller's in any case, for clr_values_free(). Types come from the manifest,
 * or from the models that take the input. CLV_EUSAGE: a setting names nothing, or a file is for no
 * input; CLV_EFORMAT: no file for an input, another type or shape than the model wants, a symbol
 * without a size. O(bytes). */
clv_status clr_inputs_make(const clr_execution *execution, const clr_input_options *options,
                           clv_arena *arena, OrtValue **values, clv_error *err);

#endif
