/* program.h - what is run: models, what each takes from the others, and how outputs are put
 * together.
 *
 * A program is read from the manifest of a lowered folder, or made of one model or a chain of
 * models given by their paths. It knows names and numbers only; sessions come later.
 */
#ifndef CLV_RUN_PROGRAM_H
#define CLV_RUN_PROGRAM_H

#include "run/session.h"

/* A box of a tensor. Where a dimension was taken apart, offsets and dims are of the view, and the
 * part's own shape merges them again. */
typedef struct {
    bool whole; /* all of it: nothing below is set */
    int32_t rank;
    const int64_t *offsets, *dims;
    int32_t view_rank; /* 0: the tensor as it is; else rank */
    const int64_t *view;
} clr_slice;

#define CLR_FROM_PROGRAM (-1) /* an input of the whole model */

typedef struct {
    const char *name; /* of this model's input */
    int32_t from;     /* index of a model, or CLR_FROM_PROGRAM */
    const char *tensor;
    clr_slice part;
} clr_input_source;

typedef struct {
    const char *file;   /* as in the manifest */
    const char *path;   /* of it */
    const char *device; /* NULL: not said */
    int32_t stage;      /* -1: not said */
    clr_input_source *takes;
    int32_t n_takes;
    bool empty; /* by the manifest it gives nothing; the runtime would refuse it: it is not run */
} clr_program_model;

/* An input or output of the whole model. */
typedef struct {
    int32_t model; /* index */
    const char *name;
    clr_slice part;
} clr_piece;

typedef struct {
    const char *name;
    clr_shape shape; /* dtype 0: not known before it is run */
    bool has_dims;
    clr_piece *pieces; /* of outputs */
    int32_t n_pieces;
} clr_program_tensor;

typedef struct {
    const char *node;
    int32_t *members; /* all groups, one behind the other */
    int32_t *starts;  /* n_groups + 1 */
    int32_t n_groups;
} clr_collective;

typedef struct {
    const char *file;
    int64_t bytes;
    const char *xxh3; /* 32 hex digits */
} clr_file;

typedef struct {
    const char *form;   /* "model", "chain", or as in the manifest */
    const char *folder; /* of the manifest; NULL: none */
    bool at_once;       /* each model on a thread of its own */
    clr_program_model *members;
    int32_t n_members;
    clr_program_tensor *inputs, *outputs;
    int32_t n_inputs, n_outputs;
    clr_collective *collectives;
    int32_t n_collectives;
    clr_file *files;
    int32_t n_files;
} clr_program;

/* The folder's manifest.json. All lives in the arena. CLV_EIO, CLV_EFORMAT: one sentence that says
 * where in the file. No other file of the folder is looked at. */
clv_status clr_manifest_read(const char *folder, clv_arena *arena, clr_program *ret,
                             clv_error *err);
/* Of the files that it lists, sizes and checksums: CLV_EFORMAT names the first that differs or is
 * missing. O(bytes). */
clv_status clr_manifest_check_files(const clr_program *program, clv_arena *arena, clv_error *err);

/* One model, or some where each takes the outputs of those before it by name. paths outlive it. */
clv_status clr_program_from_paths(const char *const *paths, int32_t n, clv_arena *arena,
                                  clr_program *ret, clv_error *err);
/* Once sessions are open: gives a program of paths its inputs, outputs and who takes what; of a
 * manifest, checks that the models have the inputs and outputs that it speaks of. */
clv_status clr_program_connect(clr_program *program, const clr_session *sessions, clv_arena *arena,
                               clv_error *err);

/* The collective of that node of the member's model, and its group in it; NULL: none. O(n). */
const clr_collective *clr_program_find_collective(const clr_program *program, const char *node,
                                                  int32_t member, int32_t *ret_group);

#endif
