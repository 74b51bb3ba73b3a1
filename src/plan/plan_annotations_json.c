#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "plan/plan_annotations.h"
#include "plan/plan_json.h"

/* Annotations in the plan file. Arrays of numbers are on one line; the map's keys are numbers as
 * text, since JSON has no other keys.
 */

typedef struct {
    clv_arena *arena;
    const clv_plan *plan;
    clv_error *err;
} reader;

#define SHOW(at) clv_json_path((at), (char[256]){ 0 }, 256)

/* Room for the elements of a list in an array of T. */
#define NEW_LIST(r, T, list, ret, ret_n)                                                           \
    do {                                                                                           \
        int32_t n_ = 0;                                                                            \
        CLV_TRY(clv_json_length((list), &n_, (r)->err));                                           \
        T *at_ = CLV_NEW_ARRAY((r)->arena, T, n_);                                                 \
        if (!at_)                                                                                  \
            return clv_fail_nomem((r)->err, "a plan");                                             \
        *(ret) = at_;                                                                              \
        *(ret_n) = n_;                                                                             \
    } while (0)

static clv_status get_int(reader *r, const clv_json_at *object, const char *key, int64_t min,
                          int64_t max, int64_t *ret)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(object, key, true, &at, r->err));
    return clv_json_int(&at, min, max, ret, r->err);
}

static clv_status read_numbers(reader *r, const clv_json_at *list, const int64_t **ret,
                               int32_t *ret_n)
{
    clv_json_at at = { 0 };
    int64_t *numbers = NULL;
    int32_t n = 0;

    NEW_LIST(r, int64_t, list, &numbers, &n);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(list, i, i ? &at : NULL);
        CLV_TRY(
            clv_json_int(&at, -CLV_PLAN_JSON_INT_MAX, CLV_PLAN_JSON_INT_MAX, &numbers[i], r->err));
    }
    *ret = numbers;
    *ret_n = n;
    return CLV_OK;
}

/* -- sharded_dim -- */

static clv_status read_simple(reader *r, const clv_json_at *at, clv_simple_sharding *ret)
{
    static const char *const keys[] = { "num_shards", "dim_value", "dim_param", NULL };
    clv_json_at value, param;

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(get_int(r, at, "num_shards", 1, CLV_PLAN_JSON_INT_MAX, &ret->num_shards));
    CLV_TRY(clv_json_member(at, "dim_value", false, &value, r->err));
    CLV_TRY(clv_json_member(at, "dim_param", false, &param, r->err));
    if (value.json && param.json)
        return clv_fail(r->err, CLV_EFORMAT, "%s has dim_value and dim_param, expected one of them",
                        SHOW(at));
    ret->dim = CLV_DIM_UNKNOWN;
    if (value.json)
        return clv_json_int(&value, 0, CLV_PLAN_JSON_INT_MAX, &ret->dim, r->err);
    return param.json ? clv_json_copy_string(&param, r->arena, &ret->dim_param, r->err) : CLV_OK;
}

static clv_status read_dim(reader *r, const clv_json_at *at, clv_sharded_dim *ret)
{
    static const char *const keys[] = { "axis", "simple_sharding", NULL };
    clv_json_at list, element = { 0 };
    clv_simple_sharding *simple = NULL;

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(get_int(r, at, "axis", -CLV_RANK_MAX, CLV_RANK_MAX - 1, &ret->axis));
    CLV_TRY(clv_json_member(at, "simple_sharding", true, &list, r->err));
    NEW_LIST(r, clv_simple_sharding, &list, &simple, &ret->n_simple);
    for (int32_t i = 0; i < ret->n_simple; i++) {
        element = clv_json_element(&list, i, i ? &element : NULL);
        CLV_TRY(read_simple(r, &element, &simple[i]));
    }
    ret->simple = simple;
    return CLV_OK;
}

static clv_status read_dims(reader *r, const clv_json_at *spec, clv_sharding_spec *ret)
{
    clv_json_at list, at = { 0 };
    clv_sharded_dim *dims = NULL;

    CLV_TRY(clv_json_member(spec, "sharded_dim", false, &list, r->err));
    if (!list.json)
        return CLV_OK;
    NEW_LIST(r, clv_sharded_dim, &list, &dims, &ret->n_dims);
    for (int32_t i = 0; i < ret->n_dims; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(read_dim(r, &at, &dims[i]));
    }
    ret->dims = dims;
    return CLV_OK;
}

/* -- devices -- */

static clv_status read_group(reader *r, const clv_json_at *at, clv_device_group *ret)
{
    clv_status status = clv_parse_int(at->key, SHOW(at), INT64_MIN, INT64_MAX, &ret->key, r->err);

    if (status != CLV_OK && r->err) /* a wrong request on a command line, a wrong file here */
        r->err->status = CLV_EFORMAT;
    if (status != CLV_OK)
        return CLV_EFORMAT;
    return read_numbers(r, at, &ret->devices, &ret->n_devices);
}

static clv_status read_groups(reader *r, const clv_json_at *spec, clv_sharding_spec *ret)
{
    clv_json_at map, other, at = { 0 };
    clv_device_group *groups = NULL;
    int32_t cap = 0;

    CLV_TRY(clv_json_member(spec, "index_to_device_group_map", false, &map, r->err));
    CLV_TRY(clv_json_member(spec, "device_map", false, &other, r->err));
    if (map.json && other.json)
        return clv_fail(r->err, CLV_EFORMAT,
                        "%s has index_to_device_group_map and device_map, which are the same",
                        SHOW(spec));
    if (other.json)
        map = other;
    if (!map.json)
        return CLV_OK;
    if (!clv_json_is_object(&map))
        return clv_fail(r->err, CLV_EFORMAT, "%s is no object, expected one as {\"-1\": [0, 1]}",
                        SHOW(&map));
    for (at = clv_json_next_member(&map, NULL); at.json; at = clv_json_next_member(&map, &at)) {
        if (!CLV_PUSH_ROOM(r->arena, groups, ret->n_groups, cap))
            return clv_fail_nomem(r->err, "a plan");
        CLV_TRY(read_group(r, &at, &groups[ret->n_groups++]));
    }
    ret->groups = groups;
    return CLV_OK;
}

/* -- specs and nodes -- */

static clv_status read_spec(reader *r, const clv_json_at *at, clv_sharding_spec *ret)
{
    static const char *const keys[] = { "tensor",     "device",      "index_to_device_group_map",
                                        "device_map", "sharded_dim", NULL };
    clv_json_at member;

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(clv_json_member(at, "tensor", true, &member, r->err));
    CLV_TRY(clv_json_copy_string(&member, r->arena, &ret->tensor, r->err));
    CLV_TRY(clv_json_member(at, "device", true, &member, r->err));
    CLV_TRY(read_numbers(r, &member, &ret->device, &ret->n_device));
    CLV_TRY(read_groups(r, at, ret));
    return read_dims(r, at, ret);
}

static clv_status read_specs(reader *r, const clv_json_at *node, clv_node_annotation *ret)
{
    clv_json_at list, at = { 0 };
    clv_sharding_spec *specs = NULL;

    CLV_TRY(clv_json_member(node, "specs", true, &list, r->err));
    NEW_LIST(r, clv_sharding_spec, &list, &specs, &ret->n_specs);
    for (int32_t i = 0; i < ret->n_specs; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(read_spec(r, &at, &specs[i]));
    }
    ret->specs = specs;
    return CLV_OK;
}

static clv_status read_node(reader *r, const clv_json_at *at, clv_plan_annotation *ret)
{
    int64_t index = -1;

    if (clv_json_is_string(at))
        CLV_TRY(clv_json_copy_string(at, r->arena, &ret->node, r->err));
    else
        CLV_TRY(clv_json_int(at, 0, r->plan->n_ops - 1, &index, r->err));
    ret->file_index = (int32_t)index;
    return CLV_OK;
}

/* The entry may say what it is, in the proto's word or in the proposal's. */
static clv_status check_type(reader *r, const clv_json_at *at)
{
    clv_json_at type;
    const char *text = NULL;

    CLV_TRY(clv_json_member(at, "type", false, &type, r->err));
    if (!type.json)
        return CLV_OK;
    CLV_TRY(clv_json_string(&type, &text, r->err));
    if (strcmp(text, "NodeDeviceConfigurationProto") == 0 ||
        strcmp(text, "NodeConfigurationProto") == 0)
        return CLV_OK;
    return clv_fail(r->err, CLV_EFORMAT,
                    "%s is '%.60s', expected NodeDeviceConfigurationProto or "
                    "NodeConfigurationProto",
                    SHOW(&type), text);
}

static clv_status read_annotation(reader *r, const clv_json_at *at, clv_plan_annotation *ret)
{
    static const char *const keys[] = { "node", "type", "stage", "specs", NULL };
    clv_json_at node, stage;

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(clv_json_member(at, "node", true, &node, r->err));
    CLV_TRY(read_node(r, &node, ret));
    CLV_TRY(check_type(r, at));
    CLV_TRY(clv_json_member(at, "stage", false, &stage, r->err));
    ret->note.configuration = r->plan->configuration;
    ret->note.has_stage = stage.json != NULL;
    if (stage.json)
        CLV_TRY(clv_json_int(&stage, 0, INT32_MAX, &ret->note.stage, r->err));
    return read_specs(r, at, &ret->note);
}

clv_status clv_plan_read_annotations(const clv_json_at *list, clv_plan *plan, clv_arena *arena,
                                     clv_error *err)
{
    reader r = { arena, plan, err };
    clv_json_at at = { 0 };
    clv_plan_annotation *notes = NULL;
    int32_t n = 0;

    NEW_LIST(&r, clv_plan_annotation, list, &notes, &n);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(list, i, i ? &at : NULL);
        CLV_TRY(read_annotation(&r, &at, &notes[i]));
    }
    plan->annotations = notes;
    plan->n_annotations = n;
    return CLV_OK;
}

/* -- writing -- */

void clv_plan_put_numbers(clv_json_out *out, const char *key, const int64_t *at, int32_t n)
{
    bool pretty = out->pretty;

    clv_json_open_array(out, key);
    out->pretty = false;
    for (int32_t i = 0; i < n; i++)
        clv_plan_put_count(out, NULL, at[i]);
    clv_json_close_array(out);
    out->pretty = pretty;
}

static void put_groups(clv_json_out *out, const clv_sharding_spec *spec)
{
    char key[24];

    if (spec->n_groups == 0)
        return;
    clv_json_open_object(out, "index_to_device_group_map");
    for (int32_t i = 0; i < spec->n_groups; i++) {
        snprintf(key, sizeof key, "%" PRId64, spec->groups[i].key);
        clv_plan_put_numbers(out, key, spec->groups[i].devices, spec->groups[i].n_devices);
    }
    clv_json_close_object(out);
}

static void put_simple(clv_json_out *out, const clv_simple_sharding *simple)
{
    clv_json_open_object(out, NULL);
    clv_json_put_int(out, "num_shards", simple->num_shards);
    if (clv_dim_is_number(simple->dim))
        clv_plan_put_count(out, "dim_value", simple->dim);
    else if (simple->dim_param)
        clv_json_put_string(out, "dim_param", simple->dim_param);
    clv_json_close_object(out);
}

static void put_dims(clv_json_out *out, const clv_sharding_spec *spec)
{
    clv_json_open_array(out, "sharded_dim");
    for (int32_t d = 0; d < spec->n_dims; d++) {
        clv_json_open_object(out, NULL);
        clv_json_put_int(out, "axis", spec->dims[d].axis);
        clv_json_open_array(out, "simple_sharding");
        for (int32_t i = 0; i < spec->dims[d].n_simple; i++)
            put_simple(out, &spec->dims[d].simple[i]);
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
    put_groups(out, spec);
    put_dims(out, spec);
    clv_json_close_object(out);
}

static void put_annotation(clv_json_out *out, const clv_plan_annotation *a)
{
    clv_json_open_object(out, NULL);
    if (a->node)
        clv_json_put_string(out, "node", a->node);
    else
        clv_json_put_int(out, "node", a->file_index);
    if (a->note.has_stage)
        clv_json_put_int(out, "stage", a->note.stage);
    clv_json_open_array(out, "specs");
    for (int32_t i = 0; i < a->note.n_specs; i++)
        clv_plan_put_spec(out, NULL, &a->note.specs[i]);
    clv_json_close_array(out);
    clv_json_close_object(out);
}

void clv_plan_put_annotations(clv_json_out *out, const clv_plan *plan)
{
    if (plan->n_annotations == 0)
        return;
    clv_json_open_array(out, "annotations");
    for (int32_t i = 0; i < plan->n_annotations; i++)
        put_annotation(out, &plan->annotations[i]);
    clv_json_close_array(out);
}
