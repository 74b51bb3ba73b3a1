/* cluster_json.h - reading configs/devices/X.json and configs/clusters/Y.json.
 *
 * The schemas are configs/schema/device.schema.json and cluster.schema.json. Unknown keys, missing
 * ones, wrong types and units are errors that name file, key and value. A device file:
 *
 *   { "$schema": "../schema/device.schema.json", "version": 1,
 *     "name": "h100-sxm", "vendor": "NVIDIA",
 *     "memory":           { "value": "80GB",     "source": "..." },
 *     "reserved":         { "value": "1GiB",     "source": "..." },
 *     "memory_bandwidth": { "value": "3.35TB/s", "source": "..." },
 *     "matrix": { "FLOAT": ..., "FLOAT16": { "value": "989.4TFLOP/s", "source": "..." }, ... },
 *     "vector": { "FLOAT": ... },
 *     "efficiency": { "matrix": { "value": 0.7, "source": "..." }, "vector": ..., "memory": ... },
 *     "launch": { "value": "4us", "source": "..." },
 *     "operators": { "Softmax": { "efficiency": { "vector": ... }, "launch": ... } }, (optional)
 *     "workspace_proportion": { "value": 0.6, "source": "..." },
 *     "tiles": { "value": 1472, "source": "..." } }              (optional)
 *
 * A cluster file names device kinds by file name (looked up beside it, then in the configs path) or
 * gives them inline, and joins devices either by levels, innermost first, or by listed links:
 *
 *   { "$schema": ..., "version": 1, "name": "dgx-h100-x4",
 *     "devices": [ { "kind": "h100-sxm", "count": 32, "name": "gpu" } ],
 *     "levels": [
 *       { "name": "nvlink", "size": 8,
 *         "bandwidth": { "value": "450GB/s", "source": "..." },
 *         "latency": { "value": "2us", "source": "..." } },
 *       { "name": "infiniband", "size": 4, "bandwidth": ..., "latency": ... } ] }
 *
 *     "links": [ { "name": "pcie", "from": 0, "to": 1, "bandwidth": ..., "latency": ...,
 *                  "both_ways": true } ]
 *
 * The product of the level sizes is the number of devices. Two devices talk over the innermost
 * level that holds both; each has a port of its own in each direction there. Over links, the route
 * is the one whose hops have the least time for 1 MiB in sum, ties to fewer hops and then smaller
 * device numbers; unreachable pairs are an error. At most 1024 devices and 65536 links (each
 * direction counted); over links O(devices * links * log links).
 *
 * Devices of an entry with a count are named name0, name1, ...; without one there is one device, by
 * just that name.
 */
#ifndef CLV_CLUSTER_CLUSTER_JSON_H
#define CLV_CLUSTER_CLUSTER_JSON_H

#include "cluster/cluster.h"

/* name_or_path: a file if it has a '/' or ends in .json; else clusters/NAME.json in the folders of
 * configs_path (colon-separated; may be NULL), where devices/ has the kinds. All memory is the
 * arena's. Files over 16 MiB are CLV_ELIMIT. */
clv_status clv_cluster_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            clv_cluster **ret, clv_error *err);
/* The text of a cluster file; what names it in messages; folder is where its kinds are looked up
 * first (may be NULL). */
clv_status clv_cluster_parse(const char *text, size_t n, const char *what, const char *folder,
                             const char *configs_path, clv_arena *arena, clv_cluster **ret,
                             clv_error *err);
/* One device kind from the text of a device file. */
clv_status clv_device_parse(const char *text, size_t n, const char *what, clv_arena *arena,
                            clv_device_kind *ret, clv_error *err);

#endif
