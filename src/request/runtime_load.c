#include "request/runtime_load.h"

#include <string.h>

#include "base/file.h"
#include "cluster/config_file.h"
#include "kernels/runtime_json.h"

#define FILE_MAX (1 << 20) /* bytes: ours have a few thousand */

static clv_status load(const clv_config_search *search, const char *name_or_path, clv_arena *arena,
                       const char **path, clv_runtime **ret, clv_error *err)
{
    const char *text;
    size_t n;
    CLV_TRY(clv_config_locate(search, "runtime", name_or_path, arena, path, err));
    CLV_TRY(clv_read_file(*path, FILE_MAX, arena, &text, &n, err));
    return clv_runtime_parse(text, n, *path, arena, ret, err);
}

clv_status clv_runtime_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            clv_runtime **ret, clv_error *err)
{
    const clv_config_search search = { NULL, configs_path, "runtimes" };
    const char *path, *path_of_base;
    clv_runtime *made, *base;
    CLV_TRY(load(&search, name_or_path, arena, &path, &made, err));
    if (made->extends) {
        CLV_TRY(load(&search, made->extends, arena, &path_of_base, &base, err));
        if (base->extends)
            return clv_fail(err, CLV_EFORMAT,
                            "%s: extends is '%.60s', which extends '%.60s', expected a runtime "
                            "with patterns of its own",
                            path, made->extends, base->extends);
        made->graph = base->graph;
        made->quantised = base->quantised;
        made->n = base->n;
        made->patterns = base->patterns;
    }
    *ret = made;
    return CLV_OK;
}

/* Where a kind's runtime is; NULL: no memory. */
static const char *place_of(const clv_device_kind *kind, clv_arena *arena)
{
    bool is_beside = clv_config_is_path(kind->runtime) && *kind->runtime != '/' && kind->folder;
    return is_beside ? clv_arena_printf(arena, "%s/%s", kind->folder, kind->runtime)
                     : kind->runtime;
}

clv_status clv_runtime_of_cluster(const clv_cluster *cluster, const char *configs_path,
                                  clv_arena *arena, clv_runtime **ret, clv_error *err)
{
    const char *all = NULL;
    *ret = NULL;
    for (int32_t i = 0; i < cluster->n_kinds; i++) {
        const clv_device_kind *kind = &cluster->kinds[i];
        if (!kind->runtime)
            return CLV_OK;
        const char *one = place_of(kind, arena);
        if (!one)
            return clv_fail_nomem(err, "a runtime");
        if (all && strcmp(all, one) != 0)
            return CLV_OK;
        all = one;
    }
    return clv_runtime_load(all, configs_path, arena, ret, err);
}
