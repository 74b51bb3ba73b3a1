/* cluster.h - devices and what joins them, as numbers.
 *
 * A cluster is read once from JSON (cluster_json.h) and never changes; any thread may read it.
 * Times are integer nanoseconds, sizes integer bytes, rates doubles a second. Formulas that use the
 * numbers are in docs/cost-model.md.
 */
#ifndef CLV_CLUSTER_CLUSTER_H
#define CLV_CLUSTER_CLUSTER_H

#include "base/arena.h"
#include "base/str.h"
#include "cluster/link_speed.h"
#include "graph/dtype.h"

/* The most devices of a cluster: the table of routes grows with their square, 50 MB at this size.
 */
#define CLV_DEVICES_MAX 1024

/* How an operator runs where that differs from the others. */
typedef struct {
    double matrix_efficiency, vector_efficiency, memory_efficiency; /* 0: the device's */
    int64_t launch_ns;                                              /* -1: the device's */
} clv_op_speed;

/* The part of a device's memory that plans leave free where its description says nothing: for
 * fragments, workspaces of libraries, captured graphs. What serving engines leave: vLLM's
 * gpu_memory_utilization and TensorRT-LLM's free_gpu_memory_fraction are 0.9 by default. */
#define CLV_HEADROOM 0.1

/* A part of a device's memory that plans leave free. */
typedef struct {
    double part;   /* of the device's memory, [0, 1); and */
    int64_t bytes; /* as many more */
    bool is_asked; /* not the description's: it holds for a memory size that is asked for, too */
} clv_headroom;

/* A kind of device, from configs/devices/NAME.json. */
typedef struct clv_device_kind {
    const char *name, *vendor;
    int64_t memory_bytes;   /* what the data sheet says one device holds */
    int64_t reserved_bytes; /* kept by driver and runtime, not for tensors */
    int64_t buffer_bytes;   /* of communication libraries, where a plan has several devices */
    clv_headroom headroom;  /* that plans leave free */
    clv_link_speed host;    /* between it and its host; without a peak: not given */
    double memory_bytes_per_s;
    /* Peak of the matrix units for operands of a dtype, and of the vector units; 0: not given.
     * clv_device_matrix_rate() says what is used then. */
    double matrix_per_s[CLV_N_DTYPES];
    double vector_per_s[CLV_N_DTYPES];
    double matrix_efficiency, vector_efficiency, memory_efficiency; /* (0, 1] of peak, reachable */
    clv_basis basis;                                                /* of the efficiencies */
    int64_t launch_ns;                                              /* to start one operator */
    const clv_op_speed *operators; /* one for each speed (graph/ops.h); NULL: all as above */
    double workspace_proportion;   /* default available memory proportion, (0, 1] */
    int32_t tiles;                 /* independent memories (IPU); 1 otherwise */
    int64_t cache_bytes;           /* of the last cache before memory; 0: not given */
    const char *folder;            /* of the file that it is from; NULL: it is from no file */
    const char *runtime;  /* name or path of what forms its kernels; NULL: each operator is one */
    const char *measured; /* name or path of measured times; NULL: none */
    const struct clv_kernel_times *times; /* those; NULL: none measured, or not loaded */
    /* Of several kinds that stand for one, as a mesh of unequal devices does: the next one, NULL
     * behind the last. Each does every operator, which takes as long as on the slowest. */
    const struct clv_device_kind *beside;
} clv_device_kind;

typedef struct {
    int32_t kind;     /* into cluster.kinds */
    const char *name; /* "gpu3"; unique */
} clv_device;

/* Something that one transfer at a time occupies: a device's port on a link level, in one
 * direction, or one direction of a listed link.
 */
typedef struct {
    const char *name;   /* "nvlink gpu3 out" */
    double bytes_per_s; /* that are reached */
} clv_port;

typedef struct {
    const char *name;     /* "nvlink", "infiniband", "pcie"; of the slowest hop */
    int64_t latency_ns;   /* sum over hops */
    double bytes_per_s;   /* that are reached; of the slowest hop, as peak and basis */
    const int32_t *ports; /* what a transfer on this route occupies */
    int32_t n_ports;
    clv_basis basis;         /* of how much of the peak is reached */
    double peak_bytes_per_s; /* 0: not known */
} clv_route;

typedef struct clv_cluster {
    const char *name;
    int32_t n_kinds, n_devices, n_ports;
    const clv_device_kind *kinds;
    const clv_device *devices;
    const clv_port *ports;
    const clv_route *routes; /* n_devices * n_devices, [from * n_devices + to]; diagonal is free */
} clv_cluster;

static inline const clv_device_kind *clv_device_kind_of(const clv_cluster *c, int32_t device)
{
    return &c->kinds[c->devices[device].kind];
}
static inline const clv_route *clv_route_between(const clv_cluster *c, int32_t from, int32_t to)
{
    return &c->routes[(int64_t)from * c->n_devices + to];
}

/* latency + bytes / bandwidth, rounded up, at most INT64_MAX / 4; 0 when from == to. O(1). */
int64_t clv_transfer_ns(const clv_cluster *c, int32_t from, int32_t to, int64_t bytes);

/* The device's link to its host; where its description has none, PCIe 4.0 x16. */
clv_link_speed clv_device_host_link(const clv_device_kind *kind);
/* A copy between a device and its host, as clv_transfer_ns(). */
int64_t clv_host_copy_ns(const clv_device_kind *kind, int64_t bytes);

/* Operations a second for operands of dtype, efficiency included: the dtype's own rate, else that
 * of another type as wide or the next wider one that has a rate (floating-point types stand in for
 * floating-point types only, whole numbers for whole numbers), else FLOAT's. Never 0. O(types). */
double clv_device_matrix_rate(const clv_device_kind *kind, clv_dtype dtype);
double clv_device_vector_rate(const clv_device_kind *kind, clv_dtype dtype);

/* What plans leave free of a device's memory: at most all of it. O(1). */
int64_t clv_device_headroom(const clv_device_kind *kind);
/* What tensors may use: its memory without what is reserved, buffers and headroom; at least 0.
 * O(1). */
int64_t clv_device_capacity(const clv_device_kind *kind);
/* The same device with a memory size that is asked for, which is all for tensors: nothing of it is
 * reserved, and no headroom is kept but one that is asked for. 0: as it is. */
clv_device_kind clv_device_resized(const clv_device_kind *kind, int64_t memory_bytes);

/* The same cluster with another headroom on every device: "10%" of its memory, or "8GiB"; "0":
 * none. memory_bytes: that is asked for, of each device; 0: its own. CLV_EUSAGE: it is neither, or
 * leaves nothing on any device. Shares the rest with c, which must live as long. O(kinds). */
clv_status clv_cluster_keep_free(const clv_cluster *c, const char *headroom, int64_t memory_bytes,
                                 clv_arena *arena, clv_cluster **ret, clv_error *err);

/* The first n devices of a cluster, with their routes; and the same cluster with another memory
 * size on every device (clv_device_resized). A device that runs alone needs no buffers. n larger
 * than the cluster has is CLV_EUSAGE. What does not change is shared with c, which must live as
 * long. */
clv_status clv_cluster_subset(const clv_cluster *c, int32_t n, int64_t memory_bytes,
                              clv_arena *arena, clv_cluster **ret, clv_error *err);

/* n devices of a cluster, by their ids, in that order, with the routes between them. One that runs
 * alone needs no buffers. Shares the rest with c, which must live as long. O(n^2). */
clv_status clv_cluster_pick(const clv_cluster *c, const int32_t *device, int32_t n,
                            clv_arena *arena, clv_cluster **ret, clv_error *err);

/* Are two groups of n devices alike: at each place the same kind of device, and between each two
 * places links of the same speed? O(n^2). */
bool clv_cluster_groups_alike(const clv_cluster *c, const int32_t *a, const int32_t *b, int32_t n);

#endif
