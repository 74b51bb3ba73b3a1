#include "request/runtime_load.h"

#include "base/file.h"
#include "cluster/config_file.h"
#include "kernels/runtime_json.h"

#define FILE_MAX (1 << 20) /* bytes: ours have a few thousand */

clv_status clv_runtime_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            clv_runtime **ret, clv_error *err)
{
    const clv_config_search search = { NULL, configs_path, "runtimes" };
    const char *path, *text;
    size_t n;
    CLV_TRY(clv_config_locate(&search, "runtime", name_or_path, arena, &path, err));
    CLV_TRY(clv_read_file(path, FILE_MAX, arena, &text, &n, err));
    return clv_runtime_parse(text, n, path, arena, ret, err);
}
