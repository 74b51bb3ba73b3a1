#include "plan/plan_json_annotations.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "plan/plan_json.h"

/* Arrays of numbers are on one line; the map's keys are numbers as text, since JSON has no other
 * keys.
 */

static clv_status require_int(const clv_json_at *object, const char *key, int64_t min, int64_t max,
                              int64_t *ret, clv_error *err)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(object, key, true, &at, err));
    return clv_json_int(&at, min, max, ret, err);
}

static clv_status read_numbers(const clv_json_at *list, clv_arena *arena, const int64_t **ret,
                               int32_t *ret_n, clv_error *err)
{
    clv_json_at at = { 0 };
    clv_plan_list numbers;

    CLV_TRY(clv_plan_open_list(list, sizeof(int64_t), arena, &numbers, err));
    int64_t *number = numbers.room;
    for (int32_t i = 0; i < numbers.n; i++) {
        at = clv_json_element(list, i, i ? &at : NULL);
        CLV_TRY(clv_json_int(&at, -CLV_PLAN_JSON_INT_MAX, CLV_PLAN_JSON_INT_MAX, &number[i], err));
    }
    *ret = number;
    *ret_n = numbers.n;
    return CLV_OK;
}

/* -- sharded_dim -- */

static clv_status read_simple(const clv_json_at *at, clv_arena *arena, clv_simple_sharding *ret,
                              clv_error *err)
{
    static const char *const keys[] = { "num_shards", "dim_value", "dim_param", NULL };
    clv_json_at value, param;

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(require_int(at, "num_shards", 1, CLV_PLAN_JSON_INT_MAX, &ret->num_shards, err));
    CLV_TRY(clv_json_member(at, "dim_value", false, &value, err));
    CLV_TRY(clv_json_member(at, "dim_param", false, &param, err));
    if (value.json && param.json)
        return clv_fail(err, CLV_EFORMAT, "%s has dim_value and dim_param, expected one of them",
                        CLV_PLAN_PATH(at));
    ret->dim = CLV_DIM_UNKNOWN;
    if (value.json)
        return clv_json_int(&value, 0, CLV_PLAN_JSON_INT_MAX, &ret->dim, err);
    return param.json ? clv_json_copy_string(&param, arena, &ret->dim_param, err) : CLV_OK;
}

static clv_status read_dim(const clv_json_at *at, clv_arena *arena, clv_sharded_dim *ret,
                           clv_error *err)
{
    static const char *const keys[] = { "axis", "simple_sharding", NULL };
    clv_json_at list, element = { 0 };
    clv_plan_list simple;

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(require_int(at, "axis", -CLV_RANK_MAX, CLV_RANK_MAX - 1, &ret->axis, err));
    CLV_TRY(clv_json_member(at, "simple_sharding", true, &list, err));
    CLV_TRY(clv_plan_open_list(&list, sizeof *ret->simple, arena, &simple, err));
    for (int32_t i = 0; i < simple.n; i++) {
        element = clv_json_element(&list, i, i ? &element : NULL);
        CLV_TRY(read_simple(&element, arena, (clv_simple_sharding *)simple.room + i, err));
    }
    ret->simple = simple.room;
    ret->n_simple = simple.n;
    return CLV_OK;
}

static clv_status read_dims(const clv_json_at *spec, clv_arena *arena, clv_sharding_spec *ret,
                            clv_error *err)
{
    clv_json_at at = { 0 };
    clv_plan_list dims;

    CLV_TRY(clv_plan_get_list(spec, "sharded_dim", sizeof *ret->dims, arena, &dims, err));
    for (int32_t i = 0; i < dims.n; i++) {
        at = clv_json_element(&dims.at, i, i ? &at : NULL);
        CLV_TRY(read_dim(&at, arena, (clv_sharded_dim *)dims.room + i, err));
    }
    ret->dims = dims.room;
    ret->n_dims = dims.n;
    return CLV_OK;
}

/* -- devices -- */

static clv_status read_groups(const clv_json_at *spec, clv_arena *arena, clv_sharding_spec *ret,
                              clv_error *err)
{
    clv_json_at map, other, at = { 0 };
    clv_device_group *groups = NULL;
    int32_t cap = 0;

    CLV_TRY(clv_json_member(spec, "index_to_device_group_map", false, &map, err));
    CLV_TRY(clv_json_member(spec, "device_map", false, &other, err));
    if (map.json && other.json)
        return clv_fail(err, CLV_EFORMAT,
                        "%s has index_to_device_group_map and device_map, which are the same",
                        CLV_PLAN_PATH(spec));
    if (other.json)
        map = other;
    if (!map.json)
        return CLV_OK;
    if (!clv_json_is_object(&map))
        return clv_fail(err, CLV_EFORMAT, "%s is no object, expected one as {\"-1\": [0, 1]}",
                        CLV_PLAN_PATH(&map));
    for (at = clv_json_next_member(&map, NULL); at.json; at = clv_json_next_member(&map, &at)) {
        if (!CLV_PUSH_ROOM(arena, groups, ret->n_groups, cap))
            return clv_fail_nomem(err, "a plan");
        clv_device_group *group = &groups[ret->n_groups++];
        clv_status status =
            clv_parse_int(at.key, CLV_PLAN_PATH(&at), INT64_MIN, INT64_MAX, &group->key, err);
        if (status != CLV_OK && err) /* a wrong request on a command line, a wrong file here */
            err->status = CLV_EFORMAT;
        if (status != CLV_OK)
            return CLV_EFORMAT;
        CLV_TRY(read_numbers(&at, arena, &group->devices, &group->n_devices, err));
    }
    ret->groups = groups;
    return CLV_OK;
}

static clv_status read_spec(const clv_json_at *at, clv_arena *arena, clv_sharding_spec *ret,
                            clv_error *err)
{
    static const char *const keys[] = { "tensor",     "device",      "index_to_device_group_map",
                                        "device_map", "sharded_dim", NULL };
    clv_json_at member;

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(clv_plan_require_string(at, "tensor", arena, &ret->tensor, err));
    CLV_TRY(clv_json_member(at, "device", true, &member, err));
    CLV_TRY(read_numbers(&member, arena, &ret->device, &ret->n_device, err));
    CLV_TRY(read_groups(at, arena, ret, err));
    return read_dims(at, arena, ret, err);
}

/* -- nodes -- */

/* The entry may say what it is, in the proto's word or in the proposal's. */
static clv_status check_type(const clv_json_at *at, clv_error *err)
{
    clv_json_at type;
    const char *text = NULL;

    CLV_TRY(clv_json_member(at, "type", false, &type, err));
    if (!type.json)
        return CLV_OK;
    CLV_TRY(clv_json_string(&type, &text, err));
    if (strcmp(text, "NodeDeviceConfigurationProto") == 0 ||
        strcmp(text, "NodeConfigurationProto") == 0)
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT,
                    "%s is '%.60s', expected NodeDeviceConfigurationProto or "
                    "NodeConfigurationProto",
                    CLV_PLAN_PATH(&type), text);
}

static clv_status read_annotation(const clv_json_at *at, const clv_plan *plan, clv_arena *arena,
                                  clv_plan_annotation *ret, clv_error *err)
{
    static const char *const keys[] = { "node", "type", "stage", "specs", NULL };
    clv_json_at node, stage, list, spec = { 0 };
    clv_plan_list specs;
    int64_t index = -1;

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(clv_json_member(at, "node", true, &node, err));
    if (clv_json_is_string(&node))
        CLV_TRY(clv_json_copy_string(&node, arena, &ret->node, err));
    else
        CLV_TRY(clv_json_int(&node, 0, plan->n_ops - 1, &index, err));
    ret->file_index = (int32_t)index;
    CLV_TRY(check_type(at, err));
    CLV_TRY(clv_json_member(at, "stage", false, &stage, err));
    ret->note.configuration = plan->configuration;
    ret->note.has_stage = stage.json != NULL;
    if (stage.json)
        CLV_TRY(clv_json_int(&stage, 0, INT32_MAX, &ret->note.stage, err));
    CLV_TRY(clv_json_member(at, "specs", true, &list, err));
    CLV_TRY(clv_plan_open_list(&list, sizeof *ret->note.specs, arena, &specs, err));
    for (int32_t i = 0; i < specs.n; i++) {
        spec = clv_json_element(&list, i, i ? &spec : NULL);
        CLV_TRY(read_spec(&spec, arena, (clv_sharding_spec *)specs.room + i, err));
    }
    ret->note.specs = specs.room;
    ret->note.n_specs = specs.n;
    return CLV_OK;
}

clv_status clv_plan_read_annotations(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                     clv_error *err)
{
    clv_json_at at = { 0 };
    clv_plan_list list;

    CLV_TRY(clv_plan_get_list(root, "annotations", sizeof *plan->annotations, arena, &list, err));
    for (int32_t i = 0; i < list.n; i++) {
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        CLV_TRY(read_annotation(&at, plan, arena, (clv_plan_annotation *)list.room + i, err));
    }
    plan->annotations = list.room;
    plan->n_annotations = list.n;
    return CLV_OK;
}

/* -- writing -- */

static void put_dims(clv_json_out *out, const clv_sharding_spec *spec)
{
    clv_json_open_array(out, "sharded_dim");
    for (int32_t d = 0; d < spec->n_dims; d++) {
        clv_json_open_object(out, NULL);
        clv_json_put_int(out, "axis", spec->dims[d].axis);
        clv_json_open_array(out, "simple_sharding");
        for (int32_t i = 0; i < spec->dims[d].n_simple; i++) {
            const clv_simple_sharding *simple = &spec->dims[d].simple[i];
            clv_json_open_object(out, NULL);
            clv_json_put_int(out, "num_shards", simple->num_shards);
            if (clv_dim_is_number(simple->dim))
                clv_plan_put_count(out, "dim_value", simple->dim);
            else if (simple->dim_param)
                clv_json_put_string(out, "dim_param", simple->dim_param);
            clv_json_close_object(out);
        }
        clv_json_close_array(out);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

void clv_plan_put_spec(clv_json_out *out, const char *key, const clv_sharding_spec *spec)
{
    clv_json_open_object(out, key);
    clv_json_put_string(out, "tensor", spec->tensor ? spec->tensor : "");
    clv_plan_put_numbers(out, "device", spec->device, spec->n_device);
    if (spec->n_groups > 0) {
        char group[24];
        clv_json_open_object(out, "index_to_device_group_map");
        for (int32_t i = 0; i < spec->n_groups; i++) {
            snprintf(group, sizeof group, "%" PRId64, spec->groups[i].key);
            clv_plan_put_numbers(out, group, spec->groups[i].devices, spec->groups[i].n_devices);
        }
        clv_json_close_object(out);
    }
    put_dims(out, spec);
    clv_json_close_object(out);
}

void clv_plan_put_annotations(clv_json_out *out, const clv_plan *plan)
{
    if (plan->n_annotations == 0)
        return;
    clv_json_open_array(out, "annotations");
    for (int32_t i = 0; i < plan->n_annotations; i++) {
        const clv_plan_annotation *a = &plan->annotations[i];
        clv_json_open_object(out, NULL);
        if (a->node)
            clv_json_put_string(out, "node", a->node);
        else
            clv_json_put_int(out, "node", a->file_index);
        if (a->note.has_stage)
            clv_json_put_int(out, "stage", a->note.stage);
        clv_json_open_array(out, "specs");
        for (int32_t k = 0; k < a->note.n_specs; k++)
            clv_plan_put_spec(out, NULL, &a->note.specs[k]);
        clv_json_close_array(out);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}
