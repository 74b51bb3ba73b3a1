#include "proto/spec_message.h"

#include "plan/copied_specs.h"

#define WHAT "the annotation of a node"

/* protobuf-c takes what it could write to; packing only reads it. */
static void *as_mutable(const void *p) { return (void *)(uintptr_t)p; }

/* Room for n messages of type T, and pointers to them in *ptrs; NULL: no memory. */
#define NEW_MESSAGES(arena, T, n, ptrs)                                                            \
    ((*(ptrs) = CLV_NEW_ARRAY(arena, T *, n)) ? CLV_NEW_ARRAY(arena, T, n) : NULL)

static clv_status fill_factor(const clv_simple_sharding *from, const char *tensor,
                              Onnx__SimpleShardedDimProto *to, clv_error *err)
{
    onnx__simple_sharded_dim_proto__init(to);
    to->has_num_shards = true;
    to->num_shards = from->num_shards;
    if (from->dim_param) {
        to->dim_case = ONNX__SIMPLE_SHARDED_DIM_PROTO__DIM_DIM_PARAM;
        to->dim_param = as_mutable(from->dim_param);
    } else if (from->dim >= 0) {
        to->dim_case = ONNX__SIMPLE_SHARDED_DIM_PROTO__DIM_DIM_VALUE;
        to->dim_value = from->dim;
    } else if (from->dim != CLV_DIM_UNKNOWN) {
        return clv_fail(err, CLV_EUSAGE,
                        "the plan splits '%s' by a factor of size %lld, expected at least 0",
                        tensor, (long long)from->dim);
    }
    return CLV_OK;
}

static clv_status fill_dim(const clv_sharded_dim *from, const char *tensor, clv_arena *arena,
                           Onnx__ShardedDimProto *to, clv_error *err)
{
    onnx__sharded_dim_proto__init(to);
    to->has_axis = true;
    to->axis = from->axis;
    to->n_simple_sharding = (size_t)from->n_simple;
    Onnx__SimpleShardedDimProto *factors =
        NEW_MESSAGES(arena, Onnx__SimpleShardedDimProto, from->n_simple, &to->simple_sharding);
    if (!factors)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < from->n_simple; i++) {
        CLV_TRY(fill_factor(&from->simple[i], tensor, &factors[i], err));
        to->simple_sharding[i] = &factors[i];
    }
    return CLV_OK;
}

static clv_status fill_groups(const clv_sharding_spec *from, clv_arena *arena,
                              Onnx__ShardingSpecProto *to, clv_error *err)
{
    to->n_index_to_device_group_map = (size_t)from->n_groups;
    Onnx__IntIntListEntryProto *groups = NEW_MESSAGES(
        arena, Onnx__IntIntListEntryProto, from->n_groups, &to->index_to_device_group_map);
    if (!groups)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < from->n_groups; i++) {
        onnx__int_int_list_entry_proto__init(&groups[i]);
        groups[i].has_key = true;
        groups[i].key = from->groups[i].key;
        groups[i].n_value = (size_t)from->groups[i].n_devices;
        groups[i].value = as_mutable(from->groups[i].devices);
        to->index_to_device_group_map[i] = &groups[i];
    }
    return CLV_OK;
}

static clv_status fill_spec(const clv_sharding_spec *from, clv_arena *arena, clv_spec_message *ret,
                            clv_error *err)
{
    Onnx__ShardingSpecProto *to = &ret->proto;
    onnx__sharding_spec_proto__init(to);
    to->tensor_name = as_mutable(from->tensor);
    to->n_device = (size_t)from->n_device;
    to->device = as_mutable(from->device);
    CLV_TRY(fill_groups(from, arena, to, err));
    to->n_sharded_dim = (size_t)from->n_dims;
    Onnx__ShardedDimProto *dims =
        NEW_MESSAGES(arena, Onnx__ShardedDimProto, from->n_dims, &to->sharded_dim);
    if (!dims)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < from->n_dims; i++) {
        CLV_TRY(fill_dim(&from->dims[i], from->tensor, arena, &dims[i], err));
        to->sharded_dim[i] = &dims[i];
    }
    ret->n = onnx__sharding_spec_proto__get_packed_size(to);
    return CLV_OK;
}

static clv_status fill_note(const clv_plan_annotation *from, clv_arena *arena, clv_node_specs *ret,
                            clv_error *err)
{
    const clv_node_annotation *note = &from->note;
    *ret = (clv_node_specs){ .file_index = from->file_index,
                             .n_specs = note->n_specs,
                             .has_stage = note->has_stage,
                             .stage = (int32_t)note->stage };
    if (note->has_stage && note->stage != ret->stage)
        return clv_fail(err, CLV_EUSAGE, "the plan puts node %d in stage %lld, expected 32 bits",
                        from->file_index, (long long)note->stage);
    CLV_TRY(clv_map_init(&ret->by_tensor, arena, note->n_specs, err));
    ret->specs = CLV_NEW_ARRAY(arena, clv_spec_message, note->n_specs);
    if (!ret->specs)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < note->n_specs; i++) {
        int32_t id;
        const char *tensor = note->specs[i].tensor;
        CLV_TRY(clv_map_put(&ret->by_tensor, clv_str_of(tensor), i, &id, err));
        if (id != i)
            return clv_fail(err, CLV_EUSAGE, "the plan has two specs for tensor '%s' of node %d",
                            tensor, from->file_index);
        CLV_TRY(fill_spec(&note->specs[i], arena, &ret->specs[i], err));
    }
    return CLV_OK;
}

clv_status clv_node_specs_of_plan(const clv_plan *plan, clv_arena *arena, clv_node_specs **ret,
                                  clv_error *err)
{
    int32_t behind = 0;
    const clv_plan_annotation *annotations;
    CLV_TRY(clv_plan_copied_annotations(plan, arena, &annotations, err));
    clv_node_specs *notes = CLV_NEW_ARRAY(arena, clv_node_specs, plan->n_annotations);
    if (!notes)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < plan->n_annotations; i++) {
        const clv_plan_annotation *a = &annotations[i];
        if (a->file_index < behind || a->file_index >= plan->n_ops)
            return clv_fail(err, CLV_EUSAGE,
                            "annotation %d of the plan is for node %d, expected a node from %d "
                            "to %d",
                            i, a->file_index, behind, plan->n_ops - 1);
        behind = a->file_index + 1;
        CLV_TRY(fill_note(a, arena, &notes[i], err));
    }
    *ret = notes;
    return CLV_OK;
}
