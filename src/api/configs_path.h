/* configs_path.h - where the descriptions of clusters and devices are where no path is given. */
#ifndef CLV_API_CONFIGS_PATH_H
#define CLV_API_CONFIGS_PATH_H

#include "base/arena.h"

#define CLV_DEFAULT_CLUSTER "dgx-h100"

/* Colon-separated, as cluster/config_file.h takes it: beside the library, wherever it was put; in
 * the source it was built from, which a build tree wants; where it was configured to be installed.
 * NULL without memory. */
const char *clv_configs_path(clv_arena *arena);

#endif
