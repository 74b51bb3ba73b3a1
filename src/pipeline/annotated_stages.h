/* annotated_stages.h - the meshes and stages that annotations speak of: which devices share their
 * tensors, when they run, and which operators.
 */
#ifndef CLV_PIPELINE_ANNOTATED_STAGES_H
#define CLV_PIPELINE_ANNOTATED_STAGES_H

#include "graph/graph.h"
#include "notation/sharding_spec.h"

typedef struct {
    const clv_graph *graph;
    const clv_node_annotation *const *note_of; /* by operator; NULL: it has none */
    int64_t n_devices;                         /* of the configuration */
} clv_annotated_nodes;

typedef struct {
    int32_t n_meshes, per_mesh;   /* devices of each */
    int32_t n_stages;             /* a stage may have several meshes */
    const int32_t *device;        /* n_meshes * per_mesh: mesh by mesh, each ascending */
    const int32_t *stage_of_mesh; /* counted from 0 */
    const int32_t *mesh_of_op;    /* by operator */
} clv_annotated_stages;

/* Nodes that share a device are of one mesh. Where no node names a device, pipeline_stage k is
 * device k; where none has a stage, a mesh comes behind those that it reads from. A node without
 * annotation runs where the last of what it reads is made, else where it is first read. Every spec
 * has passed clv_spec_check(). CLV_EUNSUPP: meshes of unequal size, of several stages, or that wait
 * for each other; a stage without devices. In the arena. O(operators + edges + devices of all
 * specs), without stages for each mesh. */
clv_status clv_annotated_stages_find(const clv_annotated_nodes *nodes, clv_arena *arena,
                                     clv_annotated_stages *ret, clv_error *err);

#endif
