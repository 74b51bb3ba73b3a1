#include "cost/resharder.h"

#include "base/map.h"
#include "cost/shard_cost.h"

#define FEW     64 /* shapes that there is room for at once */
#define KEY_MAX (2 + CLV_RANK_MAX + 6 * CLV_MESH_AXES_MAX)

struct clv_resharder {
    const clv_comms *comms;
    clv_arena *arena;
    clv_map shapes;
    clv_reshard **of;
    int32_t n, cap;
};

clv_status clv_resharder_new(const clv_mesh *mesh, const clv_cluster *cluster,
                             const clv_comm_options *options, clv_arena *arena, clv_resharder **ret,
                             clv_error *err)
{
    clv_resharder *r = CLV_NEW(arena, clv_resharder);
    if (!r)
        return clv_fail_nomem(err, "layouts");
    r->arena = arena;
    CLV_TRY(clv_map_init(&r->shapes, arena, FEW, err));
    CLV_TRY(clv_comms_make(cluster, mesh, options, arena, &r->comms, err));
    *ret = r;
    return CLV_OK;
}

static bool has_slot(const clv_layout *l, int32_t a)
{
    return l->dim[a] >= 0 && (l->outer[a] > 1 || l->unit[a] > 1);
}

bool clv_resharder_is_plain(const clv_layout *layout)
{
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (has_slot(layout, a))
            return false;
    return true;
}

/* Slots of a layout with an outer or a unit above 1 that are not yet among the n. */
static int32_t add_slots(const clv_layout *l, clv_slot *slot, int32_t n)
{
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        bool known = !has_slot(l, a);
        for (int32_t i = 0; i < n; i++)
            known = known || (slot[i].dim == l->dim[a] && slot[i].outer == l->outer[a] &&
                              slot[i].unit == l->unit[a]);
        if (!known)
            slot[n++] = (clv_slot){ l->dim[a], l->outer[a], l->unit[a] };
    }
    return n;
}

clv_status clv_resharder_find(clv_resharder *r, const clv_relayout *move, clv_reshard **ret,
                              clv_error *err)
{
    clv_tensor_split split;
    *ret = NULL;
    if (!clv_split_of_type(move->type, &split) || clv_layout_equal(move->from, move->to))
        return CLV_OK;
    clv_slot slot[2 * CLV_MESH_AXES_MAX];
    int64_t key[KEY_MAX] = { split.dtype, split.rank };
    int32_t n = 2, n_slots = add_slots(move->to, slot, add_slots(move->from, slot, 0)), id;
    for (int32_t i = 0; i < split.rank; i++)
        key[n++] = split.dims[i];
    for (int32_t i = 0; i < n_slots; i++) {
        key[n++] = slot[i].dim;
        key[n++] = slot[i].outer;
        key[n++] = slot[i].unit;
    }
    CLV_TRY(clv_map_put_key(&r->shapes, key, (size_t)n * sizeof *key, r->n, &id, err));
    if (id == r->n) {
        if (!CLV_PUSH_ROOM(r->arena, r->of, r->n, r->cap))
            return clv_fail_nomem(err, "layouts");
        clv_reshard_tensor tensor = { &split, slot, n_slots };
        CLV_TRY(clv_reshard_make(r->comms, &tensor, r->arena, &r->of[r->n], err));
        r->n++;
    }
    *ret = r->of[id];
    return CLV_OK;
}

clv_status clv_resharder_ns(clv_resharder *r, const clv_relayout *move, int64_t *ret,
                            clv_error *err)
{
    clv_reshard *one;
    *ret = 0;
    CLV_TRY(clv_resharder_find(r, move, &one, err));
    return one ? clv_reshard_ns(one, move->from, move->to, ret, err) : CLV_OK;
}

clv_status clv_resharder_chain(clv_resharder *r, const clv_relayout *move, clv_arena *arena,
                               clv_chain *ret, clv_error *err)
{
    clv_reshard *one;
    *ret = (clv_chain){ .n = 0 };
    CLV_TRY(clv_resharder_find(r, move, &one, err));
    return one ? clv_reshard_chain(one, move->from, move->to, arena, ret, err) : CLV_OK;
}
