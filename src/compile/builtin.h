/* builtin.h - the built-in compiler: our own model of a device. docs/cost-model.md.
 *
 * It keeps what it found of each device's group, so a candidate that moves one boundary costs two
 * groups, not all.
 */
#ifndef CLV_COMPILE_BUILTIN_H
#define CLV_COMPILE_BUILTIN_H

#include "compile/compiler.h"

/* jobs: how many workers may call it at once. The workload outlives it. CLV_ENOMEM; CLV_ELIMIT, as
 * clv_program_build(). *ret is to be closed. */
clv_status clv_builtin_open(const clv_workload *workload, int32_t jobs, const clv_alloc *alloc,
                            clv_compiler **ret, clv_error *err);
/* backward: n_units, or NULL; stays the caller's. Training: marked units are the backward pass, run
 * in 1F1B order with the stages of the forward one. To be called before anything is compiled. */
void clv_builtin_set_backward(clv_compiler *compiler, const bool *backward);

/* -- for tests and benchmarks -- */

/* As clv_builtin_open, which uses CLV_GROUP_CACHE_BYTES. cache_bytes 0: remembers nothing. */
#define CLV_GROUP_CACHE_BYTES ((size_t)32 << 20)
clv_status clv_builtin_open_with(const clv_workload *workload, int32_t jobs, size_t cache_bytes,
                                 const clv_alloc *alloc, clv_compiler **ret, clv_error *err);
/* Groups whose memory did not have to be planned again, so far. */
int64_t clv_builtin_cache_hits(const clv_compiler *compiler);
/* Bytes held by the program, without what workers keep. */
size_t clv_builtin_bytes(const clv_compiler *compiler);

#endif
