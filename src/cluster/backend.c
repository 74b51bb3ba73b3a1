#include "cluster/backend.h"

#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/json.h"
#include "cluster/config_file.h"
#include "cluster/fields.h"

#define FILE_MAX_BYTES ((size_t)1 << 20) /* a list of all operators is some 10 kB */

/* -- reading -- */

static clv_status read_bool(const clv_json_at *root, const char *key, bool *ret, clv_error *err)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(root, key, false, &at, err));
    return at.json ? clv_json_bool(&at, ret, err) : CLV_OK;
}

static clv_status read_count(const clv_json_at *root, const char *key, int64_t min, int64_t *ret,
                             clv_error *err)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(root, key, false, &at, err));
    return at.json ? clv_json_int(&at, min, INT32_MAX, ret, err) : CLV_OK;
}

static clv_status read_command(const clv_json_at *root, clv_arena *arena, clv_backend_command *ret,
                               clv_error *err)
{
    static const char *const keys[] = { "run",      "tensor_parallel", "pipeline_parallel",
                                        "copies",   "expert_parallel", "nodes",
                                        "launcher", "layers",          NULL };
    clv_json_at at;

    CLV_TRY(clv_json_member(root, "command", false, &at, err));
    if (!at.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&at, keys, err));
    CLV_TRY(clv_field_text(&at, "run", arena, &ret->run, err));
    CLV_TRY(clv_field_optional_text(&at, "tensor_parallel", arena, &ret->tensor_parallel, err));
    CLV_TRY(clv_field_optional_text(&at, "pipeline_parallel", arena, &ret->pipeline_parallel, err));
    CLV_TRY(clv_field_optional_text(&at, "expert_parallel", arena, &ret->expert_parallel, err));
    CLV_TRY(clv_field_optional_text(&at, "copies", arena, &ret->copies, err));
    CLV_TRY(clv_field_optional_text(&at, "launcher", arena, &ret->launcher, err));
    CLV_TRY(clv_field_optional_text(&at, "layers", arena, &ret->layers, err));
    return clv_field_optional_text(&at, "nodes", arena, &ret->nodes, err);
}

static clv_status read_profile(const clv_json_at *root, clv_arena *arena, clv_backend *b,
                               clv_error *err)
{
    static const char *const keys[] = { "$schema",
                                        "version",
                                        "name",
                                        "description",
                                        "source",
                                        "device_names",
                                        "max_devices",
                                        "power_of_two",
                                        "static_shapes",
                                        "uneven",
                                        "axes_per_tensor",
                                        "fused_axes",
                                        "unequal_groups",
                                        "stages",
                                        "reshards",
                                        "whole_operators",
                                        "mesh_axes",
                                        "node_links",
                                        "padded_vocabulary",
                                        "megatron",
                                        "heads",
                                        "command",
                                        "shared_experts",
                                        "whole_layers",
                                        NULL };
    const char *text;

    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(clv_field_version(root, err));
    CLV_TRY(clv_field_text(root, "name", arena, &b->name, err));
    CLV_TRY(clv_field_text(root, "description", arena, &text, err));
    CLV_TRY(clv_field_text(root, "source", arena, &text, err));
    CLV_TRY(clv_json_copy_texts(root, "device_names", arena, &b->device_names, &b->n_device_names,
                                err));
    CLV_TRY(clv_json_copy_texts(root, "whole_operators", arena, &b->whole_operators,
                                &b->n_whole_operators, err));
    CLV_TRY(clv_json_copy_texts(root, "node_links", arena, &b->node_links, &b->n_node_links, err));
    CLV_TRY(read_count(root, "max_devices", 1, &b->max_devices, err));
    CLV_TRY(read_count(root, "axes_per_tensor", 0, &b->axes_per_tensor, err));
    CLV_TRY(read_count(root, "mesh_axes", 0, &b->mesh_axes, err));
    CLV_TRY(read_bool(root, "power_of_two", &b->power_of_two, err));
    CLV_TRY(read_bool(root, "static_shapes", &b->static_shapes, err));
    CLV_TRY(read_bool(root, "uneven", &b->uneven, err));
    CLV_TRY(read_bool(root, "fused_axes", &b->fused_axes, err));
    CLV_TRY(read_bool(root, "unequal_groups", &b->unequal_groups, err));
    CLV_TRY(read_bool(root, "stages", &b->stages, err));
    CLV_TRY(read_bool(root, "megatron", &b->megatron, err));
    CLV_TRY(read_bool(root, "heads", &b->heads, err));
    CLV_TRY(read_bool(root, "padded_vocabulary", &b->padded_vocabulary, err));
    CLV_TRY(read_bool(root, "whole_layers", &b->whole_layers, err));
    CLV_TRY(read_bool(root, "shared_experts", &b->shared_experts, err));
    CLV_TRY(read_command(root, arena, &b->command, err));
    return read_bool(root, "reshards", &b->reshards, err);
}

clv_status clv_backend_parse(const char *text, size_t n, const char *what, clv_arena *arena,
                             const clv_backend **ret, clv_error *err)
{
    clv_backend *b = CLV_NEW(arena, clv_backend);
    clv_json *json = NULL;

    if (!b)
        return clv_fail_nomem(err, "a profile");
    *b = (clv_backend){ .max_devices = INT64_MAX,
                        .axes_per_tensor = INT64_MAX,
                        .mesh_axes = INT64_MAX,
                        .uneven = true,
                        .fused_axes = true,
                        .unequal_groups = true,
                        .stages = true,
                        .reshards = true };
    CLV_TRY(clv_json_parse(text, n, what, &json, err));
    clv_json_at root = clv_json_root(json, what);
    clv_status status = read_profile(&root, arena, b, err);
    clv_json_free(json);
    CLV_TRY(status);
    *ret = b;
    return CLV_OK;
}

clv_status clv_backend_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            const clv_backend **ret, clv_error *err)
{
    const clv_config_search search = { NULL, configs_path, "backends" };
    const char *path, *text;
    size_t n;

    CLV_TRY(clv_config_locate(&search, "backend", name_or_path, arena, &path, err));
    CLV_TRY(clv_read_file(path, FILE_MAX_BYTES, arena, &text, &n, err));
    return clv_backend_parse(text, n, path, arena, ret, err);
}

/* -- asking -- */

bool clv_backend_knows_device(const clv_backend *backend, const char *name)
{
    bool known = backend->n_device_names == 0;
    for (int32_t k = 0; k < backend->n_device_names && !known; k++)
        known = strncasecmp(name, backend->device_names[k], strlen(backend->device_names[k])) == 0;
    return known;
}

static bool is_between_nodes(const clv_backend *backend, const clv_route *route)
{
    for (int32_t i = 0; i < backend->n_node_links; i++)
        if (strcmp(route->name, backend->node_links[i]) == 0)
            return true;
    return false;
}

int32_t clv_backend_node_devices(const clv_backend *backend, const clv_cluster *cluster,
                                 int32_t device)
{
    int32_t n = 1;
    for (int32_t d = 0; d < cluster->n_devices; d++)
        n += d != device && !is_between_nodes(backend, clv_route_between(cluster, device, d));
    return n;
}
