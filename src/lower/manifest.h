/* manifest.h - what a lowered folder says of itself. */
#ifndef CLV_LOWER_MANIFEST_H
#define CLV_LOWER_MANIFEST_H

#include "base/checksum.h"
#include "lower/lowering.h"
#include "lower/model_file.h"

#define CLV_MANIFEST_NAME    "manifest.json"
#define CLV_MANIFEST_VERSION 2
#define CLV_MANIFEST_ROUTES  "routes" /* behind all keys that say what is run how */
#define CLV_MANIFEST_PLAN    "plan"
#define CLV_MANIFEST_MODEL   "model"
#define CLV_ROUTES_METADATA                                                                        \
    "cleave.routes" /* of each model file: their checksum, a blank, its name */

/* A model file of the folder. */
typedef struct {
    const char *file;
    clv_file_place place;
    clv_file_ios inputs, outputs;
} clv_manifest_model;

typedef struct {
    const char *name;
    int64_t bytes;
    clv_checksum checksum;
} clv_manifest_file;

/* Text that a tool is to be given, and under which name. */
typedef struct {
    const char *name, *value;
} clv_setting;

typedef struct {
    const clv_lowering *l;
    const clv_spmd *s;                /* NULL: the model stays one */
    const clv_manifest_model *models; /* by phase, then by position; of one device a phase only */
    const clv_emit_collective *collectives; /* of the first device of each phase */
    const clv_manifest_file *files;
    const clv_setting *settings; /* of the tool that the form is for */
    const char *const *notes;
    int32_t n_models, n_collectives, n_files, n_settings, n_notes;
} clv_manifest;

/* The checksum of all that says what is run how, which each model file has in its metadata: what is
 * edited there afterwards is found, though all checksums of the manifest be made anew. files and
 * notes need not be known yet. O(models * inputs). */
clv_status clv_manifest_routes(const clv_manifest *m, clv_arena *arena, clv_checksum *ret,
                               clv_error *err);
/* The text, in the arena; *ret_transfers: how many tensors go from one model to another.
 * CLV_ENOMEM. O(models * inputs). */
clv_status clv_manifest_write(const clv_manifest *m, clv_arena *arena, const char **ret_text,
                              size_t *ret_n, int32_t *ret_transfers, clv_error *err);

#endif
