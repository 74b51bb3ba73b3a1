#include "cluster/device_json.h"

#include <stdio.h>
#include <string.h>

#include "cluster/fields.h"
#include "graph/ops.h"

/* A device kind is filled in member by member, in the order of the file format. */

/* { "FLOAT": { value, source }, ... }. FLOAT is what all others fall back to, so it is required. */
static clv_status read_rates(const clv_json_at *root, const char *key, double *rates,
                             clv_error *err)
{
    clv_json_at object, member;
    char path[256];
    CLV_TRY(clv_json_member(root, key, true, &object, err));
    CLV_TRY(clv_json_member(&object, "FLOAT", true, &member, err));
    const char *name;
    for (int32_t i = 0; (name = clv_json_key_at(&object, i)); i++) {
        int t = 1;
        while (t < CLV_N_DTYPES && (clv_dtype_bits((clv_dtype)t) == 0 ||
                                    strcmp(clv_dtype_name((clv_dtype)t), name) != 0))
            t++;
        if (t == CLV_N_DTYPES)
            return clv_fail(
                err, CLV_EFORMAT,
                "%s has the unknown key '%.60s', expected element types such as FLOAT16",
                clv_json_path(&object, path, sizeof path), name);
        CLV_TRY(clv_field_rate(&object, name, &rates[t], err));
    }
    return CLV_OK;
}

static clv_status read_efficiency(const clv_json_at *root, clv_device_kind *kind, clv_error *err)
{
    static const char *const keys[] = { "matrix", "vector", "memory", NULL };
    clv_json_at object;
    CLV_TRY(clv_json_member(root, "efficiency", true, &object, err));
    CLV_TRY(clv_json_keys(&object, keys, err));
    CLV_TRY(clv_field_share(&object, "matrix", &kind->matrix_efficiency, err));
    CLV_TRY(clv_field_share(&object, "vector", &kind->vector_efficiency, err));
    CLV_TRY(clv_field_share(&object, "memory", &kind->memory_efficiency, err));
    kind->basis = CLV_FITTED;
    for (int32_t i = 0; keys[i]; i++) {
        clv_basis one;
        CLV_TRY(clv_field_basis(&object, keys[i], &one, err));
        kind->basis = one < kind->basis ? one : kind->basis;
    }
    return CLV_OK;
}

static clv_status optional_share(const clv_json_at *object, const char *key, double *ret,
                                 clv_error *err)
{
    clv_json_at member;
    CLV_TRY(clv_json_member(object, key, false, &member, err));
    return member.json ? clv_field_share(object, key, ret, err) : CLV_OK;
}

static clv_status read_speed(const clv_json_at *object, clv_op_speed *ret, clv_error *err)
{
    static const char *const keys[] = { "efficiency", "launch", NULL };
    static const char *const shares[] = { "matrix", "vector", "memory", NULL };
    clv_json_at member;
    CLV_TRY(clv_json_keys(object, keys, err));
    CLV_TRY(clv_json_member(object, "launch", false, &member, err));
    if (member.json)
        CLV_TRY(clv_field_time(object, "launch", &ret->launch_ns, err));
    CLV_TRY(clv_json_member(object, "efficiency", false, &member, err));
    if (!member.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&member, shares, err));
    CLV_TRY(optional_share(&member, "matrix", &ret->matrix_efficiency, err));
    CLV_TRY(optional_share(&member, "vector", &ret->vector_efficiency, err));
    return optional_share(&member, "memory", &ret->memory_efficiency, err);
}

/* Those of one form. */
static clv_status read_speeds(const clv_json_at *object, clv_speed_form form, clv_op_speed *all,
                              clv_error *err)
{
    clv_json_at member;
    char path[256];
    const char *name;
    for (int32_t i = 0; (name = clv_json_key_at(object, i)); i++) {
        int32_t speed = clv_speed_find(name);
        if (speed < 0)
            return clv_fail(err, CLV_EFORMAT,
                            "%s has the unknown key '%.60s', expected operators such as MatMul, "
                            "Conv/grouped, Conv/depthwise or com.microsoft.Attention",
                            clv_json_path(object, path, sizeof path), name);
        if (speed / clv_n_op_defs() != (int32_t)form)
            continue;
        CLV_TRY(clv_json_member(object, name, true, &member, err));
        CLV_TRY(read_speed(&member, &all[speed], err));
    }
    return CLV_OK;
}

/* { "Softmax": { efficiency: { vector: ... }, launch: ... }, ... } */
static clv_status read_operators(const clv_json_at *root, clv_arena *arena, clv_device_kind *kind,
                                 clv_error *err)
{
    clv_json_at object;
    char path[256];
    int32_t n = clv_n_op_defs();
    CLV_TRY(clv_json_member(root, "operators", false, &object, err));
    if (!object.json)
        return CLV_OK;
    if (!clv_json_is_object(&object))
        return clv_fail(err, CLV_EFORMAT, "%s is not an object, expected operators by their names",
                        clv_json_path(&object, path, sizeof path));
    clv_op_speed *all = CLV_NEW_ARRAY(arena, clv_op_speed, clv_n_speeds());
    if (!all)
        return clv_fail_nomem(err, "a device");
    for (int32_t i = 0; i < n; i++)
        all[i].launch_ns = -1;
    for (int form = 0; form < CLV_N_SPEED_FORMS; form++) {
        clv_op_speed *those = all + (ptrdiff_t)form * n;
        if (form > 0) /* as the form before, but for what follows */
            memcpy(those, those - n, (size_t)n * sizeof *all);
        CLV_TRY(read_speeds(&object, (clv_speed_form)form, all, err));
    }
    kind->operators = all;
    return CLV_OK;
}

/* What stands beside the data sheet: a cache that the roofline does not count, who forms kernels,
 * measured times. */
static clv_status read_measured(const clv_json_at *root, clv_arena *arena, clv_device_kind *kind,
                                clv_error *err)
{
    clv_json_at cache;
    CLV_TRY(clv_json_member(root, "cache", false, &cache, err));
    if (cache.json)
        CLV_TRY(clv_field_bytes(root, "cache", 1, &kind->cache_bytes, err));
    CLV_TRY(clv_field_optional_text(root, "runtime", arena, &kind->runtime, err));
    return clv_field_optional_text(root, "measured", arena, &kind->measured, err);
}

/* What of the memory is not for tensors. */
static clv_status read_kept(const clv_json_at *root, clv_device_kind *kind, clv_error *err)
{
    clv_json_at buffers, headroom;
    char path[256];
    CLV_TRY(clv_field_bytes(root, "reserved", 0, &kind->reserved_bytes, err));
    if (kind->reserved_bytes >= kind->memory_bytes)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: reserved is %lld bytes, expected less than the memory's %lld",
                        clv_json_path(root, path, sizeof path), (long long)kind->reserved_bytes,
                        (long long)kind->memory_bytes);
    CLV_TRY(clv_json_member(root, "buffers", false, &buffers, err));
    if (buffers.json)
        CLV_TRY(clv_field_bytes(root, "buffers", 0, &kind->buffer_bytes, err));
    kind->headroom.part = CLV_HEADROOM;
    CLV_TRY(clv_json_member(root, "headroom", false, &headroom, err));
    if (headroom.json)
        CLV_TRY(clv_field_part(root, "headroom", &kind->headroom.part, err));
    if (clv_device_capacity(kind) == 0)
        return clv_fail(
            err, CLV_EFORMAT,
            "%s: reserved, buffers and headroom are %lld bytes, expected less than the "
            "memory's %lld",
            clv_json_path(root, path, sizeof path),
            (long long)(kind->reserved_bytes + kind->buffer_bytes + clv_device_headroom(kind)),
            (long long)kind->memory_bytes);
    return CLV_OK;
}

/* The link to the host. */
static clv_status read_host(const clv_json_at *root, clv_link_speed *ret, clv_error *err)
{
    static const char *const keys[] = { CLV_LINK_SPEED_KEYS, NULL };
    clv_json_at object;
    CLV_TRY(clv_json_member(root, "host", false, &object, err));
    if (!object.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&object, keys, err));
    return clv_field_link_speed(&object, ret, err);
}

clv_status clv_device_kind_read(const clv_json_at *root, clv_arena *arena, clv_device_kind *ret,
                                clv_error *err)
{
    static const char *const keys[] = { "$schema",    "version",
                                        "name",       "vendor",
                                        "memory",     "reserved",
                                        "buffers",    "headroom",
                                        "host",       "memory_bandwidth",
                                        "matrix",     "vector",
                                        "efficiency", "launch",
                                        "operators",  "workspace_proportion",
                                        "tiles",      "cache",
                                        "runtime",    "measured",
                                        NULL };
    clv_device_kind kind = { 0 };
    clv_json_at tiles;
    int64_t n_tiles = 1;
    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(clv_field_version(root, err));
    CLV_TRY(clv_field_text(root, "name", arena, &kind.name, err));
    CLV_TRY(clv_field_text(root, "vendor", arena, &kind.vendor, err));
    CLV_TRY(clv_field_bytes(root, "memory", 1, &kind.memory_bytes, err));
    CLV_TRY(read_kept(root, &kind, err));
    CLV_TRY(read_host(root, &kind.host, err));
    CLV_TRY(clv_field_bandwidth(root, "memory_bandwidth", &kind.memory_bytes_per_s, err));
    CLV_TRY(read_rates(root, "matrix", kind.matrix_per_s, err));
    CLV_TRY(read_rates(root, "vector", kind.vector_per_s, err));
    CLV_TRY(read_efficiency(root, &kind, err));
    CLV_TRY(clv_field_time(root, "launch", &kind.launch_ns, err));
    CLV_TRY(read_operators(root, arena, &kind, err));
    CLV_TRY(clv_field_share(root, "workspace_proportion", &kind.workspace_proportion, err));
    CLV_TRY(clv_json_member(root, "tiles", false, &tiles, err));
    if (tiles.json)
        CLV_TRY(clv_field_count(root, "tiles", 1, 1000000, &n_tiles, err));
    kind.tiles = (int32_t)n_tiles;
    CLV_TRY(read_measured(root, arena, &kind, err));
    *ret = kind;
    return CLV_OK;
}

clv_status clv_device_parse(const char *text, size_t n, const char *what, clv_arena *arena,
                            clv_device_kind *ret, clv_error *err)
{
    clv_json *json;
    CLV_TRY(clv_json_parse(text, n, what, &json, err));
    clv_json_at root = clv_json_root(json, what);
    clv_status status = clv_device_kind_read(&root, arena, ret, err);
    clv_json_free(json);
    return status;
}
