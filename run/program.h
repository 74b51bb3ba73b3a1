/* program.h - what is run: models, what each takes from the others, and how outputs are put
 * together.
 *
 * A program is read from the manifest of a lowered folder (manifest.h), or made of one model or a
 * chain of models given by their paths. It knows names and numbers only; sessions come later.
 */
#ifndef CLV_RUN_PROGRAM_H
#define CLV_RUN_PROGRAM_H

#include "run/session.h"
#include "run/slice.h"

#define CLR_FROM_PROGRAM (-1) /* an input of the whole program */

/* Where a model's input comes from. */
typedef struct {
    const char *name; /* of this model's input */
    int32_t from;     /* index of a model, or CLR_FROM_PROGRAM */
    const char *tensor;
    clr_slice slice; /* of the tensor */
} clr_input_source;

typedef struct {
    const char *file;   /* as in the manifest */
    const char *path;   /* of it */
    const char *device; /* NULL: not said */
    int32_t stage;      /* -1: not said */
    clr_input_source *sources;
    const char **outputs; /* by the manifest */
    int32_t n_sources, n_outputs;
    bool empty; /* by the manifest it gives nothing; the runtime would refuse it: it is not run */
} clr_program_model;

/* A slice of an output of the whole program, which a model makes. */
typedef struct {
    int32_t model; /* index */
    const char *name;
    clr_slice slice;
} clr_piece;

/* An input or output of the whole program. */
typedef struct {
    const char *name;
    clr_shape shape; /* dtype 0: not known before it is run */
    bool has_dims;
    clr_piece *pieces; /* of outputs */
    int32_t n_pieces;
} clr_program_tensor;

typedef struct {
    const char *node;
    const char *kind, *reduce; /* words of the manifest; NULL: not said */
    int64_t axis;              /* -1: not said */
    int32_t *members;          /* models; all groups, one behind the other */
    int32_t *starts;           /* n_groups + 1 */
    int32_t n_groups;
} clr_collective;

/* Devices that run all of it: those of the models, or of another copy, place by place. */
typedef struct {
    const char **devices;
    int32_t n;
} clr_copy;

/* A tensor that one model makes and another takes. */
typedef struct {
    const char *tensor;
    int32_t from, to; /* models */
} clr_transfer;

typedef struct {
    const char *file;
    int64_t bytes;
    const char *xxh3; /* 32 hex digits */
} clr_file;

typedef struct {
    const char *form;    /* "model", "chain", or as in the manifest */
    const char *folder;  /* of the manifest; NULL: none */
    int32_t version;     /* of the manifest */
    const char *routes;  /* checksum of what the manifest says of models; they say it too */
    const char *changed; /* the manifest is not what its digest says: a sentence, for when nothing
                            more precise is found; NULL */
    bool concurrent;     /* each model on a thread of its own */
    clr_program_model *models;
    int32_t n_models;
    clr_program_tensor *inputs, *outputs;
    int32_t n_inputs, n_outputs;
    clr_collective *collectives;
    int32_t n_collectives;
    clr_transfer *transfers;
    int32_t n_transfers;
    clr_copy *copies; /* the first has the devices of the models */
    int32_t n_copies; /* 0: there is one, of which nothing is said */
    clr_file *files;
    int32_t n_files;
} clr_program;

/* One model, or some where each takes the outputs of those before it by name. paths outlive it. */
clv_status clr_program_from_paths(const char *const *paths, int32_t n, clv_arena *arena,
                                  clr_program *ret, clv_error *err);
/* Once sessions are open: gives a program of paths its inputs, outputs and who takes what; of a
 * manifest, checks that the models have the inputs and outputs that it names: CLV_EFORMAT. */
clv_status clr_program_connect(clr_program *program, const clr_session *sessions, clv_arena *arena,
                               clv_error *err);

/* At least 1. */
int32_t clr_program_copies(const clr_program *program);
/* The device that runs a model in a copy; NULL: not said. O(devices). */
const char *clr_program_device(const clr_program *program, int32_t model, int32_t copy);
/* Index of the program's input of that name, or -1. O(n). */
int32_t clr_program_find_input(const clr_program *program, const char *name);
/* The collective of that node of the model, and the model's group in it; NULL: none. O(n). */
const clr_collective *clr_program_find_collective(const clr_program *program, const char *node,
                                                  int32_t model, int32_t *ret_group);

#endif
