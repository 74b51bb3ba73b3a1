/* kind_json.h - a device kind out of a JSON object: of a file of its own or inside a cluster's. */
#ifndef CLV_CLUSTER_KIND_JSON_H
#define CLV_CLUSTER_KIND_JSON_H

#include "base/json.h"
#include "cluster/cluster.h"

clv_status clv_device_kind_read(const clv_json_at *object, clv_arena *arena, clv_device_kind *ret,
                                clv_error *err);

#endif
