/* cluster_json.h - reading configs/clusters/Y.json.
 *
 * The schema is configs/schema/cluster.schema.json; errors are those of device_json.h.
 *
 * A cluster file names device kinds by file name (looked up beside it, then in the configs path) or
 * gives them inline, and joins devices either by levels, innermost first, or by listed links:
 *
 *   { "$schema": ..., "version": 1, "name": "dgx-h100-x4",
 *     "devices": [ { "kind": "h100-sxm", "count": 32, "name": "gpu" } ],
 *     "levels": [
 *       { "name": "nvlink", "size": 8,
 *         "bandwidth": { "value": "450GB/s", "source": "..." },
 *         "latency": { "value": "2us", "source": "..." },
 *         "efficiency": { "value": 0.6, "source": "..." } },       (optional)
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
/* Reads the measured times that its kinds name, some milliseconds for each. */
clv_status clv_cluster_load_times(clv_cluster *cluster, const char *configs_path, clv_arena *arena,
                                  clv_error *err);
/* The text of a cluster file. */
typedef struct {
    const char *text;
    size_t n;                 /* bytes of text */
    const char *what;         /* names it in messages */
    const char *folder;       /* where its kinds are looked up first; may be NULL */
    const char *configs_path; /* as above */
} clv_cluster_source;
clv_status clv_cluster_parse(const clv_cluster_source *source, clv_arena *arena, clv_cluster **ret,
                             clv_error *err);
/* Finds and reads the file that clv_cluster_load() parses; what the source points to is the
 * arena's, but for configs_path. */
clv_status clv_cluster_open(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            clv_cluster_source *ret, clv_error *err);

#endif
