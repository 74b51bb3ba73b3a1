/* rewrite_annotations.h - an ONNX file again, with entries taken out of its nodes and entries put
 * in.
 *
 * Only nodes change, so only the lengths around nodes change; every other byte is passed on. One
 * walk measures, a second writes: the new length of a message is known before its bytes go out. The
 * lengths in between are 8 bytes for each node and each message around nodes.
 *
 * Walked are the main graph, the bodies in its nodes and the functions; not the training graphs.
 */
#ifndef CLV_PROTO_REWRITE_ANNOTATIONS_H
#define CLV_PROTO_REWRITE_ANNOTATIONS_H

#include "plan/plan.h"
#include "proto/annotation_state.h"
#include "proto/encode_node_entry.h"
#include "proto/mesh_metadata.h"
#include "proto/sink_buffer.h"

/* What nodes are given. */
typedef struct {
    const clv_plan *plan;
    clv_str name;                   /* of the configuration */
    const int32_t *function_device; /* of each function in the file */
    int32_t n_functions;
    clv_node_specs *notes; /* of single nodes, plan->n_annotations of them */
    const clv_mesh_metadata *meshes;
    const clv_str *copies; /* by device (mesh_metadata.h); NULL: stages are single devices */
} clv_new_entries;

typedef struct {
    clv_annotation_state *state;
    clv_arena *arena;
    const clv_new_entries *add; /* NULL: none */
    bool drop_all;              /* the entries and configurations of others too */
    bool gather_names;          /* give the state the configurations that nodes name */
    clv_annotation_note *note;  /* gets the widths of lengths; NULL: they are not wanted */
    clv_sink_buffer *out;       /* NULL: measure */
    /* where the walk is */
    clv_node_entry entry;
    const clv_onnx_file *file;
    uint64_t *lengths; /* measured, in the order of the file */
    int32_t n_lengths, cap_lengths;
    int32_t next; /* length */
    int32_t width_cursor;
    int32_t next_note;
    int32_t n_nodes, n_functions; /* of the main graph; of the file: seen so far */
    int32_t depth;
    uint64_t total;
} clv_rewrite;

/* The fields of the original from its first to its last; ir is what the ir_version field is to have
 * (n 0: no such field), put in front where the file has none. Called to measure with out NULL, and
 * then, with nothing else changed, to write. total is the bytes measured or written. */
clv_status clv_rewrite_model(clv_rewrite *rw, const uint8_t *ir, size_t ir_n, clv_error *err);

#endif
