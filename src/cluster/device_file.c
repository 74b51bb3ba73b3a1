#include "cluster/device_file.h"

#include <string.h>

#include "base/file.h"
#include "cluster/config_file.h"
#include "cluster/device_json.h"
#include "cluster/kernel_times_json.h"

#define FILE_MAX ((size_t)16 << 20)

clv_status clv_device_read(const char *path, clv_arena *arena, clv_device_kind *ret, clv_error *err)
{
    const char *text;
    size_t n;
    CLV_TRY(clv_read_file(path, FILE_MAX, arena, &text, &n, err));
    CLV_TRY(clv_device_parse(text, n, path, arena, ret, err));
    ret->folder = clv_config_folder(path, arena);
    return ret->folder ? CLV_OK : clv_fail_nomem(err, "a device");
}

clv_status clv_device_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                           clv_device_kind *ret, clv_error *err)
{
    const clv_config_search search = { NULL, configs_path, "devices" };
    const char *path;
    CLV_TRY(clv_config_locate(&search, "device", name_or_path, arena, &path, err));
    return clv_device_read(path, arena, ret, err);
}

clv_status clv_device_locate(const clv_device_kind *kind, const clv_device_reference *to,
                             const char *configs_path, clv_arena *arena, const char **ret,
                             clv_error *err)
{
    const clv_config_search search = { NULL, configs_path, to->where };
    const char *path = NULL;
    char known[CLV_KNOWN_SIZE];
    if (clv_config_is_path(to->what) && (*to->what == '/' || kind->folder)) {
        path = *to->what == '/' ? to->what
                                : clv_arena_printf(arena, "%s/%s", kind->folder, to->what);
        if (!path)
            return clv_fail_nomem(err, "a path");
    } else if (clv_config_is_name(to->what)) {
        CLV_TRY(clv_config_find(&search, to->what, arena, &path, err));
    }
    if (!path)
        return clv_fail(err, CLV_EFORMAT, "device '%.60s': %s is '%.60s', which is not there; %s",
                        kind->name, to->key, to->what, clv_config_known(&search, to->what, known));
    *ret = path;
    return CLV_OK;
}

clv_status clv_device_load_times(clv_device_kind *kind, const char *configs_path, clv_arena *arena,
                                 clv_error *err)
{
    const char *path = NULL, *text;
    size_t n;
    clv_kernel_times *times;
    if (!kind->measured)
        return CLV_OK;
    const clv_device_reference to = { "measured", kind->measured, "measured" };
    CLV_TRY(clv_device_locate(kind, &to, configs_path, arena, &path, err));
    CLV_TRY(clv_read_file(path, FILE_MAX, arena, &text, &n, err));
    CLV_TRY(clv_kernel_times_parse(text, n, path, arena, &times, err));
    kind->times = times;
    return CLV_OK;
}
