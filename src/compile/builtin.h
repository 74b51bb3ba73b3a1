/* builtin.h - what tests and benchmarks of the built-in compiler may ask beside compiler.h. */
#ifndef CLV_COMPILE_BUILTIN_H
#define CLV_COMPILE_BUILTIN_H

#include "compile/layout.h"

/* As clv_builtin_open, which uses CLV_GROUP_CACHE_BYTES. cache_bytes 0: remembers nothing. */
#define CLV_GROUP_CACHE_BYTES ((size_t)32 << 20)
clv_status clv_builtin_open_with(const clv_workload *workload, int32_t jobs, size_t cache_bytes,
                                 const clv_alloc *alloc, clv_compiler **ret, clv_error *err);

/* Groups that did not have to be laid out again, so far. */
int64_t clv_builtin_cache_hits(const clv_compiler *compiler);
/* Bytes held by the program, without what workers keep. */
size_t clv_builtin_bytes(const clv_compiler *compiler);

#endif
