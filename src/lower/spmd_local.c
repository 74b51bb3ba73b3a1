/* spmd_local.c - is a step one that every device does by itself? */
#include "lower/spmd.h"
#include "sharding/spans.h"

static clv_status look(const clv_spmd *s, const clv_tensor_split *split, const clv_layout *from,
                       const clv_layout *to, int32_t position, clv_arena *arena, bool *ret,
                       clv_error *err)
{
    for (int32_t d = 0; *ret && d < split->rank; d++) {
        clv_spans have, need;
        CLV_TRY(clv_layout_spans(from, &s->mesh, split, d, position, arena, &have, err));
        CLV_TRY(clv_layout_spans(to, &s->mesh, split, d, position, arena, &need, err));
        *ret = clv_spans_has(&have, &need);
    }
    return CLV_OK;
}

clv_status clv_spmd_is_local(const clv_spmd *s, clv_tensor t, const clv_layout *from,
                             const clv_layout *to, clv_arena *arena, bool *ret, clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    clv_tensor_split split;
    clv_status status = CLV_OK;
    *ret = true;
    if (!clv_spmd_split(s, t, &split))
        return CLV_OK; /* it can only be copied */
    for (int32_t p = 0; *ret && status == CLV_OK && p < s->mesh.n_devices; p++) {
        status = look(s, &split, from, to, p, arena, ret, err);
        clv_arena_rewind(arena, mark);
    }
    return status;
}
