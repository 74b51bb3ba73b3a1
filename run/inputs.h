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

/* A value for each input of a program, in its order. */
typedef struct {
    OrtValue **values;
    const char **paths; /* the file that each comes from; NULL: it is random, or not made */
    int32_t n;
    bool shares; /* values of files are those of others */
} clr_inputs;

/* *ret is the caller's in any case, for clr_inputs_free(). Types come from the manifest, or from
 * the models that take the input. CLV_EUSAGE: a setting names nothing, or a file is for no input;
 * CLV_EFORMAT: no file for an input, another type or shape than the model wants, a symbol without a
 * size. O(bytes). */
clv_status clr_inputs_make(const clr_execution *execution, const clr_input_options *options,
                           clv_arena *arena, clr_inputs *ret, clv_error *err);
/* The same once more, with another seed say: files are not read again, their values are those of
 * `first`, which outlives *ret. From any thread, each with an arena of its own. */
clv_status clr_inputs_make_again(const clr_execution *execution, const clr_input_options *options,
                                 const clr_inputs *first, clv_arena *arena, clr_inputs *ret,
                                 clv_error *err);
void clr_inputs_free(const clr_ort *ort, clr_inputs *inputs); /* zeroed is fine */

#endif
