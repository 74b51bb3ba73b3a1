/* microbatches.h - how many micro-batches a run of the pipeline has: given, or chosen with the
 * plan. */
#ifndef CLV_STAGES_MICROBATCHES_H
#define CLV_STAGES_MICROBATCHES_H

#include "stages/run.h"

/* What the request gives; without it, one for latency, and for throughput as many as fill any
 * pipeline, to be counted when the plan is known. Sets what the compiler of r judges memory with.
 */
void clv_run_set_microbatches(clv_run *r);

/* A search, or a plan given by hand that is judged. */
typedef clv_status clv_run_finder(clv_run *r, const clv_search_options *options,
                                  clv_search_result *ret);
/* Finds a plan with that. Where the number is open and nothing fits with a full pipeline, again
 * with fewer in flight: the largest power of two with which a plan is found, at last with one. */
clv_status clv_run_find(clv_run *r, const clv_search_options *options, clv_run_finder *find,
                        clv_search_result *ret);

/* Writes number, reason, fill and drain into the plan. report: NULL, or of a compiler that tells
 * nothing. */
void clv_run_tell_microbatches(const clv_run *r, const clv_compile_report *report, clv_plan *plan);

#endif
