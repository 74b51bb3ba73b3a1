/* onnx_file.h - an ONNX model as bytes: read, annotate, strip.
 *
 * A file is mapped, not read: weights are never touched. The map must not be shortened by others
 * while it is open. Strings of the graph point into it.
 */
#ifndef CLV_PROTO_ONNX_FILE_H
#define CLV_PROTO_ONNX_FILE_H

#include "base/arena.h"
#include "graph/graph.h"
#include "plan/plan.h"

typedef struct clv_onnx_file clv_onnx_file;

clv_status clv_onnx_open(const char *path, const clv_alloc *alloc, clv_onnx_file **ret,
                         clv_error *err);
/* bytes must outlive the result; folder is where external data is looked for, NULL: none is. */
clv_status clv_onnx_open_bytes(const void *bytes, size_t n, const char *folder,
                               const clv_alloc *alloc, clv_onnx_file **ret, clv_error *err);
void clv_onnx_close(clv_onnx_file *file); /* NULL is fine */
/* As it was opened by; NULL: bytes of the caller. */
const char *clv_onnx_path(const clv_onnx_file *file);
const void *clv_onnx_bytes(const clv_onnx_file *file, size_t *ret_n);
/* Where its external data is; NULL: nowhere. */
const char *clv_onnx_folder(const clv_onnx_file *file);

/* Bytes -> frozen graph. External data is checked: no "..", no absolute path, no link out of the
 * folder, offsets inside the file where the file exists (a missing file is a warning: the model may
 * be planned without its weights). O(bytes that are not payload). */
clv_status clv_onnx_read(const clv_onnx_file *file, clv_arena *arena, clv_model **ret,
                         clv_error *err);

/* Names, operators and initialiser shapes hashed: equal for a model and its annotated form. */
uint64_t clv_onnx_fingerprint(const clv_model *model);

/* Where output bytes go. Called in order; anything but CLV_OK stops the writing. from_file: the
 * bytes are [offset, offset + n) of the opened file, so that a sink may copy them inside the
 * kernel. */
typedef struct {
    clv_status (*write)(void *ctx, const void *bytes, size_t n, clv_error *err);
    clv_status (*from_file)(void *ctx, const clv_onnx_file *file, uint64_t offset, uint64_t n,
                            clv_error *err); /* may be NULL */
    void *ctx;
} clv_sink;

/* The file with the plan's annotations: ModelProto.configuration gets one entry, each NodeProto one
 * device_configurations entry: the specs and the stage that plan->annotations gives for the node,
 * whole tensors on its device where it gives none, or copies on each device of its mesh. What specs
 * cannot say of meshes stands in metadata_props (mesh_metadata.h). IR version raised to 11 if
 * lower. All other bytes are as they were, in their order. What strip needs to give back the same
 * bytes (the old IR version, and which entries are ours) is kept in one metadata_props entry
 * "cleave.annotation". Annotations of others are kept. A file that cleave has annotated before gets
 * the new annotation instead of the old. Streams: memory is 8 bytes a node, the plan's annotations
 * once more and the entry of one node, never weights. CLV_EUSAGE: the plan is for another model, or
 * gives a spec for what is no tensor of its node. CLV_ELIMIT: more than 2^31 - 1 bytes, which
 * protobuf's parsers refuse, where the original had fewer. Nothing goes to the sink before either.
 */
clv_status clv_onnx_annotate(const clv_onnx_file *file, const clv_model *model,
                             const clv_plan *plan, bool raise_ir, const clv_sink *sink,
                             clv_arena *arena, clv_error *err);

/* The original bytes again. A file without our metadata: with all == false CLV_EUSAGE, with all ==
 * true every multi-device annotation of anyone is removed and the IR version is kept. */
clv_status clv_onnx_strip(const clv_onnx_file *file, bool all, const clv_sink *sink,
                          clv_arena *arena, clv_error *err);

/* A sink that is a file: written under a temporary name in the same folder, then renamed; on
 * failure or abort nothing stays. Where path is a link, the file that it leads to is replaced. */
typedef struct clv_out_file clv_out_file;
clv_status clv_out_open(const char *path, const clv_alloc *alloc, clv_out_file **ret,
                        clv_error *err);
/* CLV_EUSAGE when a file at path would take the place of the opened input or of its external data,
 * by whatever name. To be asked before writing: the sink cannot know what the bytes are made from.
 */
clv_status clv_out_refuse(const char *path, const clv_onnx_file *file, const clv_model *model,
                          clv_arena *arena, clv_error *err);
/* Could a file at path be written? A temporary beside it is made and removed; pipes and devices are
 * left alone. */
clv_status clv_out_try(const char *path, const clv_alloc *alloc, clv_error *err);
clv_sink clv_out_sink(clv_out_file *out);
clv_status clv_out_commit(clv_out_file *out, clv_error *err); /* frees out in any case */
void clv_out_abort(clv_out_file *out);                        /* frees; NULL is fine */

#endif
