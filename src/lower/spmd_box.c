#include "lower/spmd_box.h"

clv_status clv_spmd_box(const clv_spmd *s, clv_tensor weight, const clv_layout *layout,
                        int32_t position, clv_arena *arena, clv_box *ret, clv_error *err)
{
    const clv_graph *g = s->model->main;
    const clv_const *whole = &g->weights[clv_tensor_at(g, weight)->weight];
    clv_tensor_split split;
    clv_split_dims dims;
    clv_part part;
    if (!clv_spmd_split(s, weight, &split))
        return clv_box_whole(whole->rank, whole->dims, arena, ret, err);
    clv_split_dims_of(layout, &split, &dims);
    clv_layout_part(layout, &s->mesh, &split, &dims, position, &part);
    return clv_box_copy(&(clv_box){ dims.rank, dims.dims, part.offset, part.size }, arena, ret,
                        err);
}
