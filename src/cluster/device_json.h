/* device_json.h - reading configs/devices/X.json: a kind of device, in a file of its own or inside
 * a cluster's.
 *
 * The schema is configs/schema/device.schema.json. Unknown keys, missing ones, wrong types and
 * units are errors that name file, key and value:
 *
 *   { "$schema": "../schema/device.schema.json", "version": 1,
 *     "name": "h100-sxm", "vendor": "NVIDIA",
 *     "memory":           { "value": "80GB",     "source": "..." },
 *     "reserved":         { "value": "1GiB",     "source": "..." },
 *     "host": { "bandwidth": { "value": "64GB/s", "source": "..." }, "latency": ... }, (optional)
 *     "memory_bandwidth": { "value": "3.35TB/s", "source": "..." },
 *     "matrix": { "FLOAT": ..., "FLOAT16": { "value": "989.4TFLOP/s", "source": "..." }, ... },
 *     "vector": { "FLOAT": ... },
 *     "efficiency": { "matrix": { "value": 0.7, "source": "..." }, "vector": ..., "memory": ... },
 *     "launch": { "value": "4us", "source": "..." },
 *     "operators": { "Softmax": { "efficiency": { "vector": ... }, "launch": ... } }, (optional)
 *     "workspace_proportion": { "value": 0.6, "source": "..." },
 *     "tiles": { "value": 1472, "source": "..." },               (optional)
 *     "cache": { "value": "50MB", "source": "..." },             (optional)
 *     "runtime": "engine",                                       (optional)
 *     "measured": "h100-sxm" }                                   (optional)
 *
 * runtime is a name in configs/runtimes, measured one in configs/measured, or each is a path;
 * request/runtime_load.h and device_file.h read what they name.
 */
#ifndef CLV_CLUSTER_DEVICE_JSON_H
#define CLV_CLUSTER_DEVICE_JSON_H

#include "base/json.h"
#include "cluster/cluster.h"

/* A kind out of an object of a file that is open. */
clv_status clv_device_kind_read(const clv_json_at *object, clv_arena *arena, clv_device_kind *ret,
                                clv_error *err);
/* A kind from the n bytes of a device file; what names it in messages. */
clv_status clv_device_parse(const char *text, size_t n, const char *what, clv_arena *arena,
                            clv_device_kind *ret, clv_error *err);

#endif
