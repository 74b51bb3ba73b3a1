/* requests.h - requests to a program: each with inputs of its own, each one run of one copy, which
 * they take in turn.
 */
#ifndef CLV_RUN_REQUESTS_H
#define CLV_RUN_REQUESTS_H

#include "run/copies.h"
#include "run/inputs.h"
#include "run/measure.h"
#include "run/output_files.h"

typedef struct {
    const clr_input_options *inputs; /* of request k: what is random is of seed + k */
    clr_measure_options measure;     /* of each; runs before are of the first of each copy */
    int32_t pipeline; /* runs after that, dealt out to the copies, with the inputs of the last
                         request of each (of none: of request 0); 0: none */
    clr_output_files *files; /* of all requests; of the last of a copy what a pipeline gave */
    int32_t n;               /* requests, at least 1 */
} clr_requests_options;

typedef struct {
    int32_t copy; /* that ran it */
    double median_s;
    clr_value_stats *outputs;
} clr_request;

typedef struct {
    clr_request *at;
    int32_t n;
    clr_measured first;  /* of request 0 */
    int32_t pipelined;   /* runs that went one behind the other; 0: none */
    const double *end_s; /* of each of them, rising */
    double period_s; /* from the end of one to that of the next, the mean; of a single run its time
                      */
} clr_requests;

/* Request k is run by copy k modulo their number: copies side by side, each its requests in order.
 * The failure of the lowest request that fails, with its number where there are several; later ones
 * may then be left out, and what was written is removed. All lives in the arena. */
clv_status clr_requests_run(clr_copies *copies, const clr_requests_options *options,
                            clv_arena *arena, clr_requests *ret, clv_error *err);

#endif
