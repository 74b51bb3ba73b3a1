/* append_metadata.h - one more entry of metadata_props, for a model file that is written already:
 * fields of a message may follow each other in any order, so it stands at the end.
 */
#ifndef CLV_PROTO_APPEND_METADATA_H
#define CLV_PROTO_APPEND_METADATA_H

#include "base/arena.h"
#include "base/open_inside.h"

/* CLV_EIO: the file cannot be written to, and may have part of the entry. */
clv_status clv_onnx_append_metadata(const clv_file_inside *file, const char *key, const char *value,
                                    clv_arena *arena, clv_error *err);

#endif
