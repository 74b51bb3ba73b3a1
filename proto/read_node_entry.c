#include "proto/read_node_entry.h"

#include "proto/onnx.pb-c.h"

/* Each message is walked twice: once to count, so that arrays have their exact size, and once to
 * read. What is inside it is skipped by its length in the first, so all of it is O(bytes). A flag
 * says whether a number is absent or zero.
 */
enum { E_CONFIGURATION = 1, E_SPEC = 2, E_STAGE = 3 };
enum { S_TENSOR = 1, S_DEVICE = 2, S_GROUP = 3, S_DIM = 4 };
enum { D_AXIS = 1, D_SIMPLE = 2 };
enum { F_VALUE = 1, F_PARAM = 2, F_SHARDS = 3 };
enum { G_KEY = 1, G_DEVICE = 2 };

#define WHAT "the annotations of a model"

clv_status clv_fault_list_add(clv_fault_list *list, clv_status status, const clv_error *why,
                              clv_error *err)
{
    if (status == CLV_OK)
        return CLV_OK;
    if (status == CLV_ENOMEM)
        return clv_fail(err, status, "%s", why->message);
    if (list->n == CLV_FAULTS_MAX) {
        list->more++;
        return CLV_OK;
    }
    char *text = list->node < 0
                     ? clv_arena_printf(list->arena, "%s", why->message)
                     : clv_arena_printf(list->arena, "node %d: %s", list->node, why->message);
    if (!text || !CLV_PUSH_ROOM(list->arena, list->at, list->n, list->cap))
        return clv_fail_nomem(err, WHAT);
    list->at[list->n++] = text;
    return CLV_OK;
}

clv_status clv_fault_list_end(clv_fault_list *list, clv_error *err)
{
    if (!list->more)
        return CLV_OK;
    char *text = clv_arena_printf(list->arena, "%lld more are not listed", (long long)list->more);
    if (!text || !CLV_PUSH_ROOM(list->arena, list->at, list->n, list->cap))
        return clv_fail_nomem(err, WHAT);
    list->at[list->n++] = text;
    return CLV_OK;
}

/* "model: ShardedDimProto at byte 17 has no axis" */
static clv_status fail_missing(const clv_message *m, const char *field, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT, "%s: %s at byte %zu has no %s", m->wire.name,
                    m->type->short_name, clv_message_offset(m), field);
}

static clv_status copy_text(const clv_message *m, const clv_field *f, clv_arena *arena,
                            const char **ret, clv_error *err)
{
    clv_str s;
    CLV_TRY(clv_message_str(m, f, &s, err));
    if (s.n && memchr(s.at, '\0', (size_t)s.n))
        return clv_fail(err, CLV_EFORMAT, "%s: the text at byte %zu has a zero byte in it",
                        m->wire.name, (size_t)(f->bytes - m->wire.file));
    char *copy = clv_arena_take(arena, (size_t)s.n + 1);
    if (!copy)
        return clv_fail_nomem(err, WHAT);
    if (s.n)
        memcpy(copy, s.at, (size_t)s.n);
    *ret = copy;
    return CLV_OK;
}

clv_status clv_read_name(const clv_message *m, const clv_field *f, clv_arena *arena,
                         const char **ret, clv_error *err)
{
    return f->n ? copy_text(m, f, arena, ret, err) : CLV_OK;
}

/* How many messages, or numbers (which may come packed), a field has. */
static clv_status count_values(clv_message m, uint32_t number, bool are_numbers, int32_t *ret,
                               clv_error *err)
{
    size_t n = 0;
    clv_field f;
    for (;;) {
        size_t here = 1;
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number != number)
            continue;
        clv_wire run = clv_message_run(&m, &f);
        if (are_numbers && f.type == CLV_WIRE_BYTES)
            CLV_TRY(clv_wire_count(&run, CLV_WIRE_VARINT, &here, err));
        n += here;
    }
    if (n > INT32_MAX)
        return clv_fail(err, CLV_ELIMIT, "%s: %s at byte %zu has over %d of field %u", m.wire.name,
                        m.type->short_name, clv_message_offset(&m), INT32_MAX, (unsigned)number);
    *ret = (int32_t)n;
    return CLV_OK;
}

static clv_status read_numbers(clv_message m, uint32_t number, clv_arena *arena,
                               const int64_t **ret, int32_t *ret_n, clv_error *err)
{
    int32_t n = 0, i = 0;
    clv_field f;
    CLV_TRY(count_values(m, number, true, &n, err));
    int64_t *at = CLV_NEW_ARRAY(arena, int64_t, n);
    if (!at)
        return clv_fail_nomem(err, WHAT);
    while (i < n) {
        CLV_TRY(clv_message_next(&m, &f, err));
        clv_wire run = clv_message_run(&m, &f);
        while (f.number == number && run.at < run.end) {
            uint64_t value;
            CLV_TRY(clv_wire_scalar(&run, CLV_WIRE_VARINT, &value, err));
            at[i++] = (int64_t)value;
        }
    }
    *ret = at;
    *ret_n = n;
    return CLV_OK;
}

/* -- the parts of a spec -- */

static clv_status read_factor(clv_message m, clv_arena *arena, clv_simple_sharding *ret,
                              clv_error *err)
{
    clv_field f;
    bool has_shards = false;
    *ret = (clv_simple_sharding){ .dim = CLV_DIM_UNKNOWN };
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == F_VALUE) { /* the last of the two is meant */
            ret->dim = (int64_t)f.value;
            ret->dim_param = NULL;
        } else if (f.number == F_PARAM) {
            ret->dim = CLV_DIM_UNKNOWN;
            CLV_TRY(copy_text(&m, &f, arena, &ret->dim_param, err));
        } else if (f.number == F_SHARDS) {
            ret->num_shards = (int64_t)f.value;
            has_shards = true;
        }
        if (f.number == F_VALUE && ret->dim < 0) /* would be taken for a code */
            return clv_fail(err, CLV_EFORMAT,
                            "%s: %s at byte %zu has dim_value %lld, expected >= 0", m.wire.name,
                            m.type->short_name, clv_message_offset(&m), (long long)ret->dim);
    }
    return has_shards ? CLV_OK : fail_missing(&m, "num_shards", err);
}

static clv_status read_dim(clv_message m, clv_arena *arena, clv_sharded_dim *ret, clv_error *err)
{
    clv_field f;
    bool has_axis = false;
    CLV_TRY(count_values(m, D_SIMPLE, false, &ret->n_simple, err));
    clv_simple_sharding *at = CLV_NEW_ARRAY(arena, clv_simple_sharding, ret->n_simple);
    if (!at)
        return clv_fail_nomem(err, WHAT);
    ret->simple = at;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == D_AXIS) {
            ret->axis = (int64_t)f.value;
            has_axis = true;
        } else if (f.number == D_SIMPLE) {
            clv_message sub = clv_message_sub(&m, &f, &onnx__simple_sharded_dim_proto__descriptor);
            CLV_TRY(read_factor(sub, arena, at++, err));
        }
    }
    return has_axis ? CLV_OK : fail_missing(&m, "axis", err);
}

static clv_status read_group(clv_message m, clv_arena *arena, clv_device_group *ret, clv_error *err)
{
    clv_field f;
    bool has_key = false;
    CLV_TRY(read_numbers(m, G_DEVICE, arena, &ret->devices, &ret->n_devices, err));
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == G_KEY) {
            ret->key = (int64_t)f.value;
            has_key = true;
        }
    }
    return has_key ? CLV_OK : fail_missing(&m, "key", err);
}

static clv_status read_spec(clv_message m, clv_arena *arena, clv_sharding_spec *ret, clv_error *err)
{
    clv_field f;
    CLV_TRY(read_numbers(m, S_DEVICE, arena, &ret->device, &ret->n_device, err));
    CLV_TRY(count_values(m, S_GROUP, false, &ret->n_groups, err));
    CLV_TRY(count_values(m, S_DIM, false, &ret->n_dims, err));
    clv_device_group *group = CLV_NEW_ARRAY(arena, clv_device_group, ret->n_groups);
    clv_sharded_dim *dim = CLV_NEW_ARRAY(arena, clv_sharded_dim, ret->n_dims);
    if (!group || !dim)
        return clv_fail_nomem(err, WHAT);
    ret->groups = group;
    ret->dims = dim;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        clv_message entry = clv_message_sub(&m, &f, &onnx__int_int_list_entry_proto__descriptor);
        clv_message axis = clv_message_sub(&m, &f, &onnx__sharded_dim_proto__descriptor);
        if (f.number == S_TENSOR)
            CLV_TRY(clv_read_name(&m, &f, arena, &ret->tensor, err));
        else if (f.number == S_GROUP)
            CLV_TRY(read_group(entry, arena, group++, err));
        else if (f.number == S_DIM)
            CLV_TRY(read_dim(axis, arena, dim++, err));
    }
    return ret->tensor ? CLV_OK : fail_missing(&m, "tensor_name", err);
}

/* -- an entry -- */

static clv_status read_specs(clv_message m, clv_fault_list *list, clv_node_annotation *ret,
                             clv_error *err)
{
    int32_t n;
    clv_field f;
    CLV_TRY(count_values(m, E_SPEC, false, &n, err));
    clv_sharding_spec *specs = CLV_NEW_ARRAY(list->arena, clv_sharding_spec, n);
    if (!specs)
        return clv_fail_nomem(err, WHAT);
    ret->specs = specs;
    for (;;) {
        clv_error why;
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number != E_SPEC)
            continue;
        clv_message sub = clv_message_sub(&m, &f, &onnx__sharding_spec_proto__descriptor);
        clv_sharding_spec spec = { .n_device = 0 };
        clv_status status = read_spec(sub, list->arena, &spec, &why);
        CLV_TRY(clv_fault_list_add(list, status, &why, err));
        if (status == CLV_OK)
            specs[ret->n_specs++] = spec;
    }
}

clv_status clv_read_node_entry(const clv_message *entry, clv_fault_list *list,
                               clv_node_annotation *ret, clv_error *err)
{
    clv_message m = *entry;
    clv_field f;
    *ret = (clv_node_annotation){ .configuration = NULL };
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == E_CONFIGURATION)
            CLV_TRY(clv_read_name(&m, &f, list->arena, &ret->configuration, err));
        if (f.number == E_STAGE) {
            ret->has_stage = true;
            ret->stage = (int32_t)(uint32_t)f.value; /* int32, as protobuf reads it */
        }
    }
    if (!ret->configuration)
        return fail_missing(&m, "configuration_id", err);
    return read_specs(*entry, list, ret, err);
}
