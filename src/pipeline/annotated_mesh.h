/* annotated_mesh.h - what an annotated model of cleave says of its copies and meshes beyond
 * sharding specs: the metadata entries of proto/mesh_metadata.h, read.
 */
#ifndef CLV_PIPELINE_ANNOTATED_MESH_H
#define CLV_PIPELINE_ANNOTATED_MESH_H

#include "pipeline/annotated_notes.h"
#include "pipeline/annotated_stages.h"
#include "plan/plan.h"
#include "proto/read_annotations.h"

/* As of a plan; n_axes 0: nothing is said, so that any mesh will do that goes with the specs. */
typedef struct {
    const clv_plan_axis *axes;
    int32_t n_axes;
    const clv_plan_uneven *uneven;
    int32_t n_uneven;
} clv_annotated_mesh;

/* The copies that the file says its plan has, into *ret, none: 0. Of all notes specs are then those
 * of the first copy. CLV_EFORMAT: the entry is malformed, or a spec has a device of one copy
 * without those of others. In the arena. O(devices of all specs * copies). */
clv_status clv_annotated_copies_read(clv_annotated_notes *io, const clv_graph *g, clv_arena *arena,
                                     clv_plan *ret, clv_error *err);

/* Of a configuration of the file, whose meshes are those of io by its specs: their devices come
 * into the order that the file says. CLV_EFORMAT: an entry is malformed, or has other meshes. In
 * the arena. O(devices + entries). */
clv_status clv_annotated_mesh_read(const clv_annotation_set *set, const clv_configuration *of,
                                   clv_annotated_stages *io, clv_arena *arena,
                                   clv_annotated_mesh *ret, clv_error *err);

#endif
