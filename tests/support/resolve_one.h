/* resolve_one.h - the sharding rule of one operator alone. */
#ifndef CLV_TESTS_RESOLVE_ONE_H
#define CLV_TESTS_RESOLVE_ONE_H

#include "sharding/resolve.h"

static inline clv_status resolve_one(const clv_types *types, clv_op op, clv_arena *arena,
                                     clv_factors *ret, clv_error *err)
{
    clv_resolver r = { types->graph->model, types, clv_arena_new(clv_arena_alloc(arena), 0),
                       arena };
    if (!r.scratch)
        return clv_fail_nomem(err, "a sharding rule");
    clv_status status = clv_resolve_op(&r, op, ret, err);
    clv_arena_free(r.scratch);
    return status;
}

#endif
