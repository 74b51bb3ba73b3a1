#include "proto/mesh_metadata.h"

#include "plan/plan_copies.h"
#include "plan/plan_json_write_mesh.h"
#include "plan/plan_mesh.h"
#include "proto/onnx.pb-c.h"

#define PARTIAL_KEY "cleave.partial"
#define WHAT        "the annotation of a mesh"

/* The key of the one group of a spec for copies; negative as in the proposal's examples. */
#define COPIES_KEY (-1)

bool clv_is_mesh_metadata_key(clv_str key)
{
    return clv_str_is(key, CLV_COPIES_KEY) || clv_str_is(key, CLV_MESH_KEY) ||
           clv_str_is(key, CLV_UNEVEN_KEY) || clv_str_is(key, PARTIAL_KEY);
}

static void add_entry(clv_mesh_metadata *notes, const char *key, const char *value)
{
    if (!value)
        return;
    notes->key[notes->n] = key;
    notes->value[notes->n++] = value;
}

clv_status clv_mesh_metadata_make(const clv_plan *plan, clv_arena *arena, clv_mesh_metadata *ret,
                                  clv_error *err)
{
    const char *copies, *mesh, *uneven, *partial;

    CLV_TRY(clv_plan_copies_json(plan, arena, &copies, err));
    CLV_TRY(clv_plan_mesh_json(plan, arena, &mesh, err));
    CLV_TRY(clv_plan_uneven_json(plan, arena, &uneven, err));
    CLV_TRY(clv_plan_partial_json(plan, arena, &partial, err));
    *ret = (clv_mesh_metadata){ .n = 0 };
    add_entry(ret, CLV_COPIES_KEY, copies);
    add_entry(ret, CLV_MESH_KEY, mesh);
    add_entry(ret, CLV_UNEVEN_KEY, uneven);
    add_entry(ret, PARTIAL_KEY, partial);
    return CLV_OK;
}

typedef struct {
    const clv_plan *plan;
    const int32_t *place; /* by device: in copy 0 */
    clv_arena *arena;
} group_maker;

/* Of n devices of copy 0, and those at their places in the others, as a group. */
static clv_status make_copies(const group_maker *m, const int32_t *device, int32_t n, clv_str *ret,
                              clv_error *err)
{
    const clv_plan *plan = m->plan;
    Onnx__ShardingSpecProto spec = ONNX__SHARDING_SPEC_PROTO__INIT;
    Onnx__IntIntListEntryProto group = ONNX__INT_INT_LIST_ENTRY_PROTO__INIT;
    Onnx__IntIntListEntryProto *groups = &group;
    int64_t entry = COPIES_KEY;
    int64_t *ids = CLV_NEW_ARRAY(m->arena, int64_t, (size_t)n * (size_t)clv_plan_copies(plan));

    if (!ids)
        return clv_fail_nomem(err, WHAT);
    group.has_key = true;
    group.key = COPIES_KEY;
    group.value = ids;
    for (int32_t i = 0; i < n; i++)
        ids[group.n_value++] = device[i];
    for (int32_t c = 1; c < plan->n_copies; c++)
        for (int32_t i = 0; i < n; i++)
            ids[group.n_value++] = plan->copy_device[c * plan->copy_devices + m->place[device[i]]];
    spec.device = &entry;
    spec.n_device = 1;
    spec.index_to_device_group_map = &groups;
    spec.n_index_to_device_group_map = 1;
    size_t size = onnx__sharding_spec_proto__get_packed_size(&spec);
    uint8_t *bytes = clv_arena_take(m->arena, size);
    if (!bytes)
        return clv_fail_nomem(err, WHAT);
    onnx__sharding_spec_proto__pack(&spec, bytes);
    *ret = (clv_str){ (const char *)bytes, (int32_t)size };
    return CLV_OK;
}

clv_status clv_mesh_copies_make(const clv_plan *plan, clv_arena *arena, const clv_str **ret,
                                clv_error *err)
{
    int32_t n = clv_plan_has_mesh(plan) ? plan->mesh_devices : 1;

    *ret = NULL;
    if (n <= 1 && clv_plan_copies(plan) == 1)
        return CLV_OK;
    clv_str *copies = CLV_NEW_ARRAY(arena, clv_str, plan->n_devices);
    int32_t *place;
    if (!copies)
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_plan_places(plan, arena, &place, err));
    const group_maker maker = { plan, place, arena };
    for (int32_t m = 0; m < plan->n_meshes; m++) {
        const int32_t *device = plan->mesh_device + m * n;
        CLV_TRY(make_copies(&maker, device, n, &copies[device[0]], err));
    }
    for (int32_t k = 0; k < plan->copy_devices && !clv_plan_has_mesh(plan); k++) {
        const int32_t *device = &plan->copy_device[k];
        CLV_TRY(make_copies(&maker, device, 1, &copies[*device], err));
    }
    *ret = copies;
    return CLV_OK;
}
