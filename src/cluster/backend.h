/* backend.h - what runs a plan, and what of it: a profile, from configs/backends/NAME.json.
 *
 * `cleave shards` holds sharding specs against it (annotations/backend_profile.h), `cleave plan`
 * looks only for plans that it runs. docs/sharding.md explains the members.
 */
#ifndef CLV_CLUSTER_BACKEND_H
#define CLV_CLUSTER_BACKEND_H

#include "cluster/cluster.h"

/* How the backend is started: words of a command line, in which "{n}" stands for a number. NULL:
 * there is no such option. */
typedef struct {
    const char *run; /* "vllm serve MODEL"; NULL: nothing is known of a command */
    const char *tensor_parallel, *pipeline_parallel, *expert_parallel;
    const char *copies; /* replicas of a model behind one address; NULL: a server for each */
    /* where the devices of a server are those of several nodes: behind all others, and before them
     */
    const char *nodes, *launcher;
    const char *layers; /* where stages have not equally many: before all others, "{n}" is a list */
} clv_backend_command;

typedef struct clv_backend {
    const char *name;
    const char **device_names; /* names of devices begin with one of these; none: any */
    int32_t n_device_names;
    const char **whole_operators; /* types */
    int32_t n_whole_operators;
    const char **node_links; /* names of links between nodes, which no mesh may cross; none: any */
    int32_t n_node_links;
    int64_t max_devices, axes_per_tensor, mesh_axes; /* INT64_MAX where nothing is said */
    bool power_of_two, static_shapes;
    bool uneven, fused_axes, unequal_groups, stages, reshards; /* allowed */
    bool megatron; /* within a copy neither tokens nor hidden state are split: what is inside of a
                      layer, heads and columns, and experts and vocabulary */
    bool heads;    /* what a mesh splits are heads: it divides them (clv_backend_heads) */
    bool whole_layers;      /* stages are such */
    bool padded_vocabulary; /* of whatever size, it is padded until it divides */
    bool shared_experts;    /* copies behind one address deal out their experts among each other */
    clv_backend_command command;
} clv_backend;

/* A name of configs/backends, or a path (with '/' or ending in ".json"). configs_path: as
 * cluster/config_file.h has it. CLV_EUSAGE: no such name, CLV_EIO, CLV_EFORMAT. */
clv_status clv_backend_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            const clv_backend **ret, clv_error *err);
/* The text of such a file, which what names in messages. CLV_EFORMAT. */
clv_status clv_backend_parse(const char *text, size_t n, const char *what, clv_arena *arena,
                             const clv_backend **ret, clv_error *err);

/* Does a device's name begin as the backend's devices do? O(names). */
bool clv_backend_knows_device(const clv_backend *backend, const char *name);
/* How many devices of the cluster are joined to one without a link between nodes, itself among
 * them; all where the backend names no such link. O(devices * links). */
int32_t clv_backend_node_devices(const clv_backend *backend, const clv_cluster *cluster,
                                 int32_t device);

#endif
