/* resolve.h - the sharding rule of an operator laid over its shapes and attributes. */
#ifndef CLV_SHARDING_RESOLVE_H
#define CLV_SHARDING_RESOLVE_H

#include "graph/infer.h"
#include "sharding/factors.h"

/* What all operators of a graph are resolved with. */
typedef struct {
    const clv_model *model;
    const clv_types *types;
    clv_arena *scratch; /* for what is only needed meanwhile; it is rewound */
    clv_arena *arena;   /* where results live */
} clv_resolver;

/* The rule of an operator for the shapes in types. An operator without a rule, or whose rule does
 * not fit its shapes and attributes, has no factors, and why_whole says why; that is no failure.
 * Fails only where memory runs out, or the rule itself cannot be read. O(length of the rule +
 * dimensions). */
clv_status clv_resolve_op(const clv_resolver *resolver, clv_op op, clv_factors *ret,
                          clv_error *err);

#endif
