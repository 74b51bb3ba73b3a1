/* runtime_load.h - finding the description of a runtime. */
#ifndef CLV_REQUEST_RUNTIME_LOAD_H
#define CLV_REQUEST_RUNTIME_LOAD_H

#include "cluster/cluster.h"
#include "kernels/runtime.h"

/* A name of configs/runtimes, or a path (with '/' or ending in ".json"). configs_path: as
 * clv_config_search takes it. O(bytes). */
clv_status clv_runtime_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            clv_runtime **ret, clv_error *err);

/* The one that all kinds of a cluster name (device_file.h says where it is); *ret NULL where a kind
 * names none, or another one. CLV_EFORMAT: it is not there, or wrong. */
clv_status clv_runtime_of_cluster(const clv_cluster *cluster, const char *configs_path,
                                  clv_arena *arena, clv_runtime **ret, clv_error *err);

#endif
