#include "lower/spmd.h"

#include "cost/shard_cost.h"

/* -- of a tensor -- */

const clv_value *clv_spmd_known(const clv_types *types, clv_tensor t)
{
    const clv_value *v = types->value ? types->value[t.i] : NULL;
    const clv_tensor_info *info = clv_tensor_at(types->graph, t);
    const clv_type *type = &types->of[t.i];
    if (!v || info->role != CLV_TENSOR_RESULT || type->kind != CLV_TYPE_TENSOR ||
        type->dtype == CLV_DT_STRING || !clv_type_is_static(type))
        return NULL;
    for (int32_t i = 0; v->i && i < v->n; i++)
        if (!clv_dim_is_number(v->i[i]))
            return NULL;
    return v;
}

bool clv_spmd_split(const clv_spmd *s, clv_tensor t, clv_tensor_split *ret)
{
    bool ok = clv_split_of_type(&s->types->of[t.i], ret);
    memcpy(ret->share, s->mesh.share, sizeof ret->share);
    return ok;
}

clv_status clv_spmd_check_sizes(const clv_spmd *s, clv_tensor t, clv_error *err)
{
    char text[CLV_MESSAGE_SIZE];
    clv_tensor_split split;
    if (clv_spmd_split(s, t, &split))
        return CLV_OK;
    return clv_fail(
        err, CLV_EUNSUPP,
        "tensor '%.*s' is split, but its type is %s, expected sizes for all dimensions: "
        "what only a run knows cannot be split",
        CLV_STR_ARG(clv_tensor_at(s->model->main, t)->name),
        clv_type_show(s->model, &s->types->of[t.i], text, sizeof text));
}

void clv_spmd_dims(const clv_spmd *s, clv_tensor t, const clv_layout *layout, int32_t position,
                   int64_t *ret)
{
    clv_tensor_split split;
    (void)clv_spmd_split(s, t, &split);
    clv_layout_part_dims(layout, &s->mesh, &split, position, ret);
}

bool clv_spmd_part(const clv_spmd *s, const clv_spmd_shard *shard, clv_split_dims *ret_dims,
                   clv_part *ret)
{
    clv_tensor_split split;
    if (!clv_spmd_split(s, shard->tensor, &split))
        return false;
    clv_split_dims_of(&shard->layout, &split, ret_dims);
    clv_layout_part(&shard->layout, &s->mesh, &split, ret_dims, shard->position, ret);
    return true;
}

bool clv_spmd_is_empty(const clv_spmd *s, const clv_spmd_value *v, int32_t position)
{
    const clv_spmd_shard shard = { v->tensor, v->layout, position };
    clv_split_dims dims;
    clv_part part;
    if (!clv_spmd_part(s, &shard, &dims, &part))
        return false;
    for (int32_t i = 0; i < dims.rank; i++)
        if (part.size[i] == 0 && dims.dims[i] > 0)
            return true;
    return false;
}

int64_t clv_spmd_pieces(const clv_spmd *s, clv_tensor t, const clv_layout *layout, int32_t d,
                        int32_t outer, int32_t position)
{
    clv_layout outside = *layout;
    int64_t dims[CLV_RANK_MAX];
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (outside.dim[a] == d && outside.outer[a] >= outer)
            clv_layout_unsplit(&outside, a);
    clv_spmd_dims(s, t, &outside, position, dims);
    int64_t piece = s->types->of[t.i].dims[d] / outer;
    return piece ? dims[d] / piece : 1;
}

clv_status clv_spmd_box(const clv_spmd *s, const clv_spmd_shard *shard, clv_arena *arena,
                        clv_box *ret, clv_error *err)
{
    const clv_graph *g = s->model->main;
    const clv_const *whole = &g->weights[clv_tensor_at(g, shard->tensor)->weight];
    clv_split_dims dims;
    clv_part part;
    if (!clv_spmd_part(s, shard, &dims, &part))
        return clv_box_whole(whole->rank, whole->dims, arena, ret, err);
    return clv_box_copy(&(clv_box){ dims.rank, dims.dims, part.offset, part.size }, arena, ret,
                        err);
}

/* -- of factors -- */

bool clv_spmd_splits(const clv_spmd *s, const clv_spmd_instr *instr, int32_t factor)
{
    for (int32_t a = 0; a < s->mesh.n_axes; a++)
        if (instr->factor[a] == factor && s->mesh.size[a] > 1)
            return true;
    return false;
}

static void cut_units(const clv_spmd *s, int32_t axis, int32_t coord, int64_t units,
                      int64_t *ret_offset, int64_t *ret_units)
{
    if (s->mesh.share[axis])
        clv_cut_shares(units, s->mesh.size[axis], coord, s->mesh.share[axis], ret_offset,
                       ret_units);
    else
        clv_cut(units, s->mesh.size[axis], coord, CLV_UNEVEN_CEIL, ret_offset, ret_units);
}

/* The first coordinate of an axis that gets anything of so many units. */
static int32_t first_with_units(const clv_spmd *s, int32_t axis, int64_t units)
{
    int64_t offset, part = 0;
    int32_t coord = -1;
    while (part == 0 && ++coord < s->mesh.size[axis] - 1)
        cut_units(s, axis, coord, units, &offset, &part);
    return coord;
}

/* Each axis cuts what the ones before it left, in whole granules, as layouts are cut. */
void clv_spmd_ranges(const clv_spmd *s, const clv_spmd_instr *instr, int32_t position, int64_t *low,
                     int64_t *high, bool *first)
{
    const clv_factors *all = &s->factors[instr->op.i];
    for (int32_t f = 0; f < all->n_factors; f++) {
        int64_t granule = all->factors[f].granule, at = 0, units, offset;
        low[f] = 0;
        high[f] = all->factors[f].size;
        first[f] = true;
        if (!clv_spmd_splits(s, instr, f))
            continue;
        units = high[f] / granule;
        for (int32_t a = 0; a < s->mesh.n_axes; a++) {
            int32_t coord = clv_mesh_coord(&s->mesh, position, a);
            if (instr->factor[a] != f || s->mesh.size[a] == 1)
                continue;
            first[f] = first[f] && coord == first_with_units(s, a, units);
            cut_units(s, a, coord, units, &offset, &units);
            at += offset;
        }
        low[f] = at * granule;
        high[f] = (at + units) * granule;
    }
}
