#include "request/runtime_load.h"

#include <string.h>

#include "base/file.h"
#include "cluster/config_file.h"
#include "cluster/device_file.h"
#include "kernels/runtime_json.h"

#define FILE_MAX (1 << 20) /* bytes: ours have a few thousand */

static clv_status read_runtime(const char *path, clv_arena *arena, clv_runtime **ret,
                               clv_error *err)
{
    const char *text;
    size_t n;
    CLV_TRY(clv_read_file(path, FILE_MAX, arena, &text, &n, err));
    return clv_runtime_parse(text, n, path, arena, ret, err);
}

/* With the kernels of the runtime that it extends, if it does. */
static clv_status load_file(const char *path, const char *configs_path, clv_arena *arena,
                            clv_runtime **ret, clv_error *err)
{
    const clv_config_search search = { NULL, configs_path, "runtimes" };
    const char *path_of_base;
    clv_runtime *runtime, *base;
    CLV_TRY(read_runtime(path, arena, &runtime, err));
    *ret = runtime;
    if (!runtime->extends)
        return CLV_OK;
    CLV_TRY(clv_config_locate(&search, "runtime", runtime->extends, arena, &path_of_base, err));
    CLV_TRY(read_runtime(path_of_base, arena, &base, err));
    if (base->extends)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: extends is '%.60s', which extends '%.60s', expected a runtime with "
                        "patterns of its own",
                        path, runtime->extends, base->extends);
    runtime->graph = base->graph;
    runtime->quantised = base->quantised;
    runtime->n = base->n;
    runtime->patterns = base->patterns;
    return CLV_OK;
}

clv_status clv_runtime_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            clv_runtime **ret, clv_error *err)
{
    const clv_config_search search = { NULL, configs_path, "runtimes" };
    const char *path;
    CLV_TRY(clv_config_locate(&search, "runtime", name_or_path, arena, &path, err));
    return load_file(path, configs_path, arena, ret, err);
}

clv_status clv_runtime_of_cluster(const clv_cluster *cluster, const char *configs_path,
                                  clv_arena *arena, clv_runtime **ret, clv_error *err)
{
    const char *all = NULL, *one;
    *ret = NULL;
    for (int32_t i = 0; i < cluster->n_kinds; i++)
        if (!cluster->kinds[i].runtime)
            return CLV_OK;
    for (int32_t i = 0; i < cluster->n_kinds; i++) {
        const clv_device_kind *kind = &cluster->kinds[i];
        const clv_device_reference to = { "runtime", kind->runtime, "runtimes" };
        CLV_TRY(clv_device_locate(kind, &to, configs_path, arena, &one, err));
        if (all && strcmp(all, one) != 0)
            return CLV_OK;
        all = one;
    }
    return load_file(all, configs_path, arena, ret, err);
}
