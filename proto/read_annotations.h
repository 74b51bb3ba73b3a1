/* read_annotations.h - the multi-device annotations that a model file has, by whoever they are, as
 * data.
 *
 * Annotations are hints: clv_onnx_read() passes over them, and nothing that is wrong with one makes
 * a model unreadable. Here they are read. What is malformed is listed as a fault, a sentence each,
 * and left out; the rest is kept.
 */
#ifndef CLV_PROTO_READ_ANNOTATIONS_H
#define CLV_PROTO_READ_ANNOTATIONS_H

#include "notation/sharding_spec.h"
#include "proto/onnx_file.h"

typedef struct {
    const char *name;
    int64_t num_devices;
    const char *const *device; /* names, num_devices of them, or none */
    int32_t n_device;
} clv_configuration;

typedef struct {
    int32_t file_index; /* of the node in the file's main graph */
    clv_node_annotation note;
} clv_annotated_node;

typedef struct {
    const clv_configuration *configurations; /* in the order of the file */
    int32_t n_configurations;
    const clv_annotated_node *nodes; /* ascending by file_index, then in the order of the file */
    int32_t n_nodes;
    /* Entries of nodes in bodies and in functions: checked, not kept (inner_entries.h). */
    int32_t n_in_bodies, n_in_functions;
    /* What cleave says of the copies and meshes of its configuration beyond specs
     * (mesh_metadata.h): JSON; NULL: nothing. Of entries with one key, the last. */
    const char *meshes_of; /* the configuration; NULL: there is no note of cleave's */
    const char *copies, *mesh, *uneven;
    const char **faults;
    int32_t n_faults;
} clv_annotation_set;

/* All of it, copied into the arena: nothing points into the file. Fails for memory, and where
 * clv_onnx_read() would for the same reason: a file that is no protobuf message (CLV_EFORMAT). What
 * is listed as a fault: a configuration without name or number of devices, or with a list of names
 * of another length; an entry without configuration_id, or with one that names no configuration of
 * the file (kept nonetheless); a spec without tensor_name; a missing key, axis or num_shards; a
 * wrong wire type; a body that cannot be walked; an entry in a body or function that contradicts
 * the node that runs it; an IR version from before annotations. Whether specs fit their tensors is
 * for clv_spec_check(); of nodes in bodies and functions, whose tensors have the types of the
 * operator or call around them, it is asked here without. At most 100 faults are listed; one more
 * sentence counts the rest. O(fields of the file + bytes of annotations). */
clv_status clv_onnx_read_annotations(const clv_onnx_file *file, clv_arena *arena,
                                     clv_annotation_set *ret, clv_error *err);

#endif
