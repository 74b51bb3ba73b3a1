/* micro.h - several samples in a pipeline: how long they take and how many of each tensor are held.
 *
 * Micro-batches as in GPipe (Huang et al. 2019), training by 1F1B (PipeDream, Narayanan et al.
 * 2019). A run of the pipeline is n micro-batches; each is one run of the model as it is. A stage
 * works on one after the other, in order, and the pipeline is empty before the first and after the
 * last. All that follows depends on two times of a plan: latency (one micro-batch, alone, start to
 * end) and period (the work of the busiest device or port for one). docs/cost-model.md, "Pipeline",
 * says what is exact.
 */
#ifndef CLV_PROBLEM_MICRO_H
#define CLV_PROBLEM_MICRO_H

#include <stdbool.h>
#include <stdint.h>

/* As many as fill the pipeline, whatever the plan: for judging memory before the number is known.
 */
#define CLV_MICRO_FULL INT32_MAX
/* A number is given or chosen up to this. */
#define CLV_MICRO_MAX 1000000
/* Of the time of a run, what may be lost to filling and draining where the number is chosen. */
#define CLV_MICRO_LOSS 0.05

/* latency + (n - 1) * period, at most INT64_MAX: the first leaves after the latency, each other one
 * a period later. n >= 1. */
int64_t clv_micro_total_ns(int64_t latency_ns, int64_t period_ns, int32_t n);

/* That divided by n, rounded up. */
int64_t clv_micro_share_ns(int64_t latency_ns, int64_t period_ns, int32_t n);

/* The part of n micro-batches that is not spent at the pace of the steady state: 1 - n * period /
 * total; 0 where latency <= period, or nothing is known. */
double clv_micro_bubble(int64_t latency_ns, int64_t period_ns, int32_t n);

/* The smallest number with a bubble of at most CLV_MICRO_LOSS, at least n_stages, so that every
 * stage has work at one time, and at most CLV_MICRO_MAX. 1 without a period. */
int32_t clv_micro_enough(int64_t latency_ns, int64_t period_ns, int32_t n_stages);

/* Copies of a tensor that a stage receives from one `ahead` stages before it, >= 1, while n
 * micro-batches pass: while the writer is at micro-batch i, the reader is at i - ahead, so those
 * from i - ahead to i are between them. */
int32_t clv_micro_copies(int32_t n, int32_t ahead);

/* 1F1B: a stage that runs forward and backward operators begins with as many forward ones as there
 * are stages from it to the last, then runs one backward and one forward in turn, so it keeps at
 * most so many micro-batches between their forward and their backward operators. 0 <= stage <
 * n_stages. With all forward operators before the first backward one it would be n. */
int32_t clv_micro_stashed(int32_t n, int32_t n_stages, int32_t stage);

/* How many states a device keeps of those that it makes: a batch comes back for its next token when
 * it has left the pipeline, so as many batches go round as fill it, each with its own caches. */
int32_t clv_micro_states(int32_t n, int32_t n_stages);

#endif
