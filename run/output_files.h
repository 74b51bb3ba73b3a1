/* output_files.h - files for the outputs of requests: those of request 0 in a folder, those of
 * request k in request_k below it.
 */
#ifndef CLV_RUN_OUTPUT_FILES_H
#define CLV_RUN_OUTPUT_FILES_H

#include "run/execution.h"
#include "run/value_file.h"
#include "run/value_stats.h"

typedef struct clr_output_files clr_output_files;

typedef struct {
    const char *folder; /* NULL: nothing is written */
    clr_file_kind kind;
    int32_t n_requests;
} clr_output_options;

/* Names the files; none is made yet. Everything lives in the arena; the program outlives it.
 * CLV_ENOMEM. O(requests * outputs). */
clv_status clr_output_files_new(const clr_output_options *options, const clr_program *program,
                                clv_arena *arena, clr_output_files **ret, clv_error *err);
/* Paths of a request's files, by output; NULL: nothing is written. */
const char *const *clr_output_files_of(const clr_output_files *files, int32_t request);

/* What the last run of an execution gave is described, and written as the outputs of a request;
 * folders are made where they are missing. From any thread, one at a time for each request.
 * CLV_EIO. O(bytes). */
clv_status clr_output_files_take(clr_output_files *files, int32_t request, clr_execution *execution,
                                 clr_value_stats *ret_stats, clv_error *err);
/* Removes the files and folders that were made; nobody may write any more. O(requests * outputs).
 */
void clr_output_files_remove(clr_output_files *files);

#endif
