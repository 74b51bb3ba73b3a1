#include "api/configs_path.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The configurations that were installed together with this library; false where there are none. A
 * program that the library is linked into and that was found by $PATH has a name without a folder.
 */
static bool beside_library(char ret[static PATH_MAX])
{
    static const char here = 0;
    char path[PATH_MAX];
    Dl_info info;
    if (!dladdr(&here, &info) || !info.dli_fname)
        return false;
    if (!realpath(strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe", path))
        return false;
    char *slash = strrchr(path, '/');
    size_t room = sizeof path - (size_t)(slash - path);
    return snprintf(slash, room, "/" CLEAVE_CONFIGS_BESIDE) < (int)room && realpath(path, ret);
}

const char *clv_configs_path(clv_arena *arena)
{
    static const char configured[] = CLEAVE_CONFIGS_SOURCE ":" CLEAVE_CONFIGS_INSTALLED;
    char beside[PATH_MAX];
    if (!beside_library(beside))
        return configured;
    return strcmp(beside, CLEAVE_CONFIGS_INSTALLED) == 0
               ? clv_arena_printf(arena, "%s:" CLEAVE_CONFIGS_SOURCE, beside)
               : clv_arena_printf(arena, "%s:%s", beside, configured);
}
