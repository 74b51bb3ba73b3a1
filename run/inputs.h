/* inputs.h - values for the inputs of a program: from files, or made at random. */
#ifndef CLV_RUN_INPUTS_H
#define CLV_RUN_INPUTS_H

#include "run/program.h"

/* NAME=SIZE, NAME=LO:HI or NAME=2x3, as given. */
typedef struct {
    const char *name, *text;
} clr_setting;

typedef struct {
    const char *const *paths; /* files, folders of files, or NAME=FILE */
    int32_t n_paths;
    bool random; /* for what no file is for */
    uint64_t seed;
    const clr_setting *binds, *ranges, *shapes;
    int32_t n_binds, n_ranges, n_shapes;
} clr_input_options;

/* One value for each input of the program, in its order, in *values, which has room for them; what
 * was filled in is the caller's in any case. Types come from the manifest, or from the models that
 * take the input. CLV_EUSAGE: a setting names nothing, or a file is for no input; CLV_EFORMAT: no
 * file for an input, another type or shape than the model wants, a symbol without a size. */
clv_status clr_inputs_make(const clr_ort *ort, const clr_program *program,
                           const clr_session *sessions, const clr_input_options *wishes,
                           clv_arena *arena, OrtValue **values, clv_error *err);

/* Elements from lo to hi, both included, by the seed, the name and the element's place alone. With
 * lo > hi: what suits the type: floats from -1 to 1, int32 and int64 0 or 1, for they may be
 * indices, all values of smaller integers. */
clv_status clr_random_fill(const clr_ort *ort, OrtValue *value, uint64_t seed, const char *name,
                           double lo, double hi, clv_error *err);

#endif
