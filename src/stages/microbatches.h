/* microbatches.h - how many micro-batches a run of the pipeline has: given, or chosen with the
 * plan.
 *
 * A full pipeline has the smallest period, and what it holds does not grow with the number of
 * micro-batches once there are as many as stages. So memory is judged for a full one, and the
 * number, which only decides how much of the time goes into filling and draining, follows from the
 * plan that won. Only where memory is short the best plan depends on the number: with fewer in
 * flight, one that holds more may fit.
 */
#ifndef CLV_STAGES_MICROBATCHES_H
#define CLV_STAGES_MICROBATCHES_H

#include "stages/stage_state.h"

/* What the request gives; without it, one for latency, and for throughput as many as fill any
 * pipeline, to be counted when the plan is known. Sets what the compiler of s judges memory with.
 */
void clv_microbatches_begin(clv_stage_search *s);

/* A search, or a plan given by hand that is judged. */
typedef clv_status clv_stage_find(clv_stage_search *s, const clv_partition_options *options,
                                  clv_partition_result *ret, clv_error *err);
/* Finds a plan with that. Where the number is open, also with fewer in flight, unless what no plan
 * beats at that number is no less than the full pipeline that was found: of all powers of two from
 * one up, the plan that takes least of a sample. At most log2(devices) + 2 searches. */
clv_status clv_microbatches_find(clv_stage_search *s, const clv_partition_options *options,
                                 clv_stage_find *find, clv_partition_result *ret, clv_error *err);

/* Number, reason, fill and drain into the plan. report: NULL, or of a compiler that reports
 * nothing. */
void clv_microbatches_mark_plan(const clv_stage_search *s, const clv_compile_report *report,
                                clv_plan *plan);

#endif
