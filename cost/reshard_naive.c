#include "cost/reshard_naive.h"

static bool is_split(const clv_layout *l)
{
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (l->dim[a] >= 0)
            return true;
    return false;
}

/* All partial results reduced, then all parts put together. */
static int64_t whole_ns(const clv_reshard *r, int32_t from)
{
    const clv_layouts *all = clv_reshard_layouts(r);
    const clv_comms *comms = clv_reshard_comms(r);
    const clv_layout *l = &all->at[from];
    uint32_t partial = clv_layout_partial_axes(l);
    uint32_t split = clv_mesh_long_axes(all->mesh) & ~partial & ~clv_layout_copy_axes(l, all->mesh);
    int64_t bytes = all->bytes[from], n = clv_mesh_count(all->mesh, split), gathered;
    int64_t reduce_bytes = bytes, p = clv_mesh_count(all->mesh, partial);

    if (partial && __builtin_mul_overflow(bytes / p + (bytes % p != 0), p, &reduce_bytes))
        reduce_bytes = INT64_MAX;
    int64_t ns = partial ? clv_curve_ns(&comms->curve[partial][CLV_ALL_REDUCE], reduce_bytes) : 0;
    if (__builtin_mul_overflow(bytes, n, &gathered))
        gathered = INT64_MAX;
    return clv_comm_add_ns(ns, split ? clv_curve_ns(&comms->curve[split][CLV_ALL_GATHER], gathered)
                                     : 0);
}

clv_status clv_reshard_naive(clv_reshard *r, const clv_layout *from, const clv_layout *to,
                             clv_naive *ret, clv_error *err)
{
    const clv_layouts *all = clv_reshard_layouts(r);
    const clv_comms *comms = clv_reshard_comms(r);
    clv_reshard_ends ends;
    int32_t a[CLV_MESH_AXES_MAX], b[CLV_MESH_AXES_MAX];

    CLV_TRY(clv_reshard_find_ends(r, from, to, &ends, err));
    const clv_layout *here = &all->at[ends.from], *there = &all->at[ends.to];
    bool partial = clv_layout_partial_axes(here) != 0;
    int64_t bytes = all->bytes[ends.from];
    if (ends.from == ends.to && !ends.apart) {
        *ret = (clv_naive){ "nothing", 0 };
    } else if (all->alike_from[ends.from] == all->alike_from[ends.to] && !ends.apart) {
        clv_layout_order(here, a);
        clv_layout_order(there, b);
        *ret = (clv_naive){
            "permute", clv_curve_ns(&comms->permute[clv_order_index(a)][clv_order_index(b)], bytes)
        };
    } else if (is_split(here)) {
        *ret = (clv_naive){ is_split(there) ? "all-gather, tile" : "all-gather",
                            whole_ns(r, ends.from) };
    } else if (partial) {
        *ret = (clv_naive){ is_split(there) ? "all-reduce, tile" : "all-reduce",
                            whole_ns(r, ends.from) };
    } else if (is_split(there)) {
        const clv_curve *over_all = comms->curve[clv_mesh_long_axes(all->mesh)];
        *ret = (clv_naive){ "broadcast, tile", clv_curve_ns(&over_all[CLV_BROADCAST], bytes) };
    } else {
        *ret = (clv_naive){ "nothing", whole_ns(r, ends.from) };
    }
    return CLV_OK;
}
