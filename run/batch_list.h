/* batch_list.h - a list of models to run and to compare with what is expected: one JSON object a
 * line.
 */
#ifndef CLV_RUN_BATCH_LIST_H
#define CLV_RUN_BATCH_LIST_H

#include "run/compare.h"

typedef struct {
    const char *name, *path; /* of a tensor, and its file */
} clr_named_file;

typedef struct {
    int32_t number;    /* place in the list, from 0 */
    const char *id;    /* the user's own word for it; NULL: none */
    const char *model; /* a file, or a lowered folder */
    const char *data;  /* a folder of input_N.pb and output_N.pb; NULL: none */
    clr_named_file *inputs, *outputs;
    int32_t n_inputs, n_outputs;
    clr_tolerance tolerance;
} clr_batch_entry;

/* Empty lines are no entry. All lives in the arena. CLV_EIO; CLV_EFORMAT names the line. */
clv_status clr_batch_list_read(const char *path, clv_arena *arena, clr_batch_entry **ret,
                               int32_t *ret_n, clv_error *err);

#endif
