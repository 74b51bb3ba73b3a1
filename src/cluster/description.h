/* description.h - a cluster as its files describe it: what joins the devices, by the names that
 * stand there, and where each number is from.
 *
 * A cluster that was read (cluster.h) has numbers to compute with, and routes; who wants to see
 * what somebody wrote, and why it is to be believed, asks here.
 */
#ifndef CLV_CLUSTER_DESCRIPTION_H
#define CLV_CLUSTER_DESCRIPTION_H

#include "cluster/cluster_json.h"

typedef struct {
    const char *name;  /* "memory", "matrix FLOAT16" */
    const char *value; /* as it is written: "80GB", "0.7" */
    const char *source;
} clv_described_number;

typedef struct {
    const char *name; /* as the cluster's file calls it */
    const char *file; /* NULL: it stands in the cluster's file */
    const clv_device_kind *kind;
    int32_t n_devices;
    clv_described_number *numbers; /* in the order of the file */
    int32_t n_numbers;
} clv_described_kind;

/* A level, or links of one name, speed and direction. */
typedef struct {
    const char *name;
    clv_link_speed speed;
    const char *latency;           /* as it is written */
    int32_t n_devices;             /* that a level joins; 0: these are links */
    int32_t n_links;               /* 0: this is a level */
    bool both_ways;                /* of links */
    clv_described_number *numbers; /* of links each once, however many have it */
    int32_t n_numbers;
} clv_described_link;

typedef struct {
    const char *name; /* how --cluster calls it; of a path the name in the file */
    const char *file;
    const clv_cluster *cluster;
    clv_described_kind *kinds;
    int32_t n_kinds;
    clv_described_link *links; /* levels from the innermost on, or links in the order of the file */
    int32_t n_links;
} clv_described_cluster;

/* Of a file that clv_cluster_open() found. name: that it was asked for by; NULL: the one in the
 * file. with_times: sources of measured times that a kind names are among its numbers, which takes
 * some milliseconds for each. What is wrong is an error as of clv_cluster_load(). All memory is the
 * arena's; what source points to has to stay as long. O(files). */
clv_status clv_cluster_describe(const clv_cluster_source *source, const char *name, bool with_times,
                                clv_arena *arena, clv_described_cluster *ret, clv_error *err);

/* The number of that name; NULL where there is none. O(n). */
const clv_described_number *clv_described_find(const clv_described_number *at, int32_t n,
                                               const char *name);

#endif
