/* batch_entry.h - one entry of a list of models to run and to compare with what is expected. */
#ifndef CLV_RUN_BATCH_ENTRY_H
#define CLV_RUN_BATCH_ENTRY_H

#include "run/compare.h"

typedef struct {
    const char *name, *path; /* of a tensor, and its file */
} clr_named_file;

typedef struct {
    const char *id;    /* the user's own word for it; NULL: none */
    const char *model; /* a file, or a lowered folder */
    const char *data;  /* a folder of input_N.pb and output_N.pb; NULL: none */
    clr_named_file *inputs, *outputs;
    int32_t n_inputs, n_outputs;
    clr_tolerance tolerance;
} clr_batch_entry;

/* Lines of JSON, one entry each; empty lines count but are no entry. CLV_EFORMAT names the line. */
clv_status clr_batch_list_read(const char *path, clv_arena *arena, clr_batch_entry **ret,
                               int32_t *ret_n, clv_error *err);

/* Runs it and compares. One line of JSON in the arena, whatever happens: it fails for want of
 * memory alone. */
clv_status clr_batch_entry_run(const clr_ort *ort, const clr_batch_entry *entry, int32_t number,
                               int threads, clv_arena *arena, const char **ret, clv_error *err);
/* The line for an entry that did not live to tell: "crashed" or "timeout". */
const char *clr_batch_entry_lost(const clr_batch_entry *entry, int32_t number, const char *outcome,
                                 const char *reason, clv_arena *arena);

#endif
