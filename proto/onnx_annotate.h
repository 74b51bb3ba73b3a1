/* onnx_annotate.h - a plan into an ONNX file as multi-device annotations, and out of it again. */
#ifndef CLV_PROTO_ONNX_ANNOTATE_H
#define CLV_PROTO_ONNX_ANNOTATE_H

#include "plan/plan.h"
#include "proto/onnx_read.h"
#include "proto/sink.h"

/* The file with the plan's annotations: ModelProto.configuration gets one entry, each NodeProto one
 * device_configurations entry: the specs and the stage that plan->annotations gives for the node,
 * whole tensors on its device where it gives none, or copies on each device of its mesh. What specs
 * cannot say of meshes stands in metadata_props (mesh_metadata.h). raise_ir: the IR version becomes
 * 11 if it is lower. All other bytes are as they were, in their order. What strip needs to give
 * back the same bytes (the old IR version, and which entries are ours) is kept in one
 * metadata_props entry "cleave.annotation". Annotations of others are kept. A file that cleave has
 * annotated before gets the new annotation instead of the old. Streams: memory is 8 bytes a node,
 * the plan's annotations once more and the entry of one node, never weights. CLV_EUSAGE: the plan
 * is for another model, or gives a spec for what is no tensor of its node. CLV_ELIMIT: more than
 * 2^31 - 1 bytes, which protobuf's parsers refuse, where the original had fewer. Nothing goes to
 * the sink before either. */
clv_status clv_onnx_annotate(const clv_onnx_model *source, const clv_plan *plan, bool raise_ir,
                             const clv_sink *sink, clv_arena *arena, clv_error *err);

/* The original bytes again. A file without our metadata: with all == false CLV_EFORMAT, with all ==
 * true every multi-device annotation of anyone is removed and the IR version is kept. */
clv_status clv_onnx_strip(const clv_onnx_file *file, bool all, const clv_sink *sink,
                          clv_arena *arena, clv_error *err);

#endif
