/* mesh_metadata.h - what an annotated model says of the copies and meshes of its plan beyond
 * sharding specs.
 *
 * Metadata entries beside the note of annotation_note.h, each only where there is something to say,
 * each JSON on one line (docs/formats/plan.md):
 *
 *     cleave.copies    the devices of each copy of the plan
 *     cleave.mesh      axes with names and sizes, and the devices of each mesh
 *     cleave.uneven    sizes of the parts of tensors that are not split evenly
 *     cleave.partial   tensors that their writers leave as parts of a sum
 *
 * And the spec that a tensor has where a plan gives none: a copy on every device of the mesh, of
 * each copy of the plan.
 */
#ifndef CLV_PROTO_MESH_METADATA_H
#define CLV_PROTO_MESH_METADATA_H

#include "plan/plan.h"
#include "proto/annotation_note.h"

#define CLV_MESH_METADATA_MAX 4
#define CLV_COPIES_KEY        "cleave.copies"
#define CLV_MESH_KEY          "cleave.mesh"
#define CLV_UNEVEN_KEY        "cleave.uneven"

typedef struct {
    const char *key[CLV_MESH_METADATA_MAX], *value[CLV_MESH_METADATA_MAX];
    int32_t n;
} clv_mesh_metadata;

/* Is it the key of one of these entries? */
bool clv_is_mesh_metadata_key(clv_str key);

/* The entries of a plan, in the arena; none for a plan without meshes and copies. O(devices + what
 * the plan says of tensors). */
clv_status clv_mesh_metadata_make(const clv_plan *plan, clv_arena *arena, clv_mesh_metadata *ret,
                                  clv_error *err);

/* For each device that stands for several, the first of a mesh or that of a plan with copies: the
 * fields of a ShardingSpecProto behind its tensor's name for a copy on each of these; n 0 for other
 * devices. *ret: n_devices, or NULL where none does. O(devices). */
clv_status clv_mesh_copies_make(const clv_plan *plan, clv_arena *arena, const clv_str **ret,
                                clv_error *err);

#endif
