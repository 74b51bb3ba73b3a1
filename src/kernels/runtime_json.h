/* runtime_json.h - reading configs/runtimes/X.json: which operators a runtime starts as one kernel.
 *
 * The schema is configs/schema/runtime.schema.json, the format docs/formats/runtime.md. Operators
 * stand by their names in ops.def ("MatMul", "com.microsoft.Attention"), "@name" is a set. Unknown
 * names, operators listed twice, numbers out of order, and patterns that could never match are
 * errors that name file, key and value.
 */
#ifndef CLV_KERNELS_RUNTIME_JSON_H
#define CLV_KERNELS_RUNTIME_JSON_H

#include "base/arena.h"
#include "kernels/runtime.h"

/* From the n bytes of a file; what names it in messages. One that extends another has no patterns
 * yet: clv_runtime_load() fetches them. Lives in the arena. O(bytes). */
clv_status clv_runtime_parse(const char *text, size_t n, const char *what, clv_arena *arena,
                             clv_runtime **ret, clv_error *err);

#endif
