/* out_file.h - a sink that is a file: written under a temporary name in the same folder, then
 * renamed; on failure or abort nothing stays. Where path is a link, the file that it leads to is
 * replaced.
 */
#ifndef CLV_PROTO_OUT_FILE_H
#define CLV_PROTO_OUT_FILE_H

#include "base/out_folder.h"
#include "proto/onnx_read.h"
#include "proto/sink.h"

typedef struct clv_out_file clv_out_file;

clv_status clv_out_open(const char *path, const clv_alloc *alloc, clv_out_file **ret,
                        clv_error *err);
/* A new file of a folder that is written; name may go through folders in it, which are made. */
clv_status clv_out_open_in(const clv_out_folder *folder, const char *name, const clv_alloc *alloc,
                           clv_out_file **ret, clv_error *err);
clv_sink clv_out_sink(clv_out_file *out);
clv_status clv_out_commit(clv_out_file *out, clv_error *err); /* frees out in any case */
/* All of them get their names together or none does (base/rename_unit.h), which none of another
 * writer's comes between. None is a stream. Frees all in any case. */
clv_status clv_out_commit_unit(clv_out_file *const *outs, int32_t n, clv_error *err);
void clv_out_abort(clv_out_file *out); /* frees; NULL is fine */

/* CLV_EUSAGE when a file at path would take the place of the opened input or of its external data,
 * by whatever name. To be asked before writing: the sink cannot know what the bytes are made from.
 */
clv_status clv_out_refuse(const char *path, const clv_onnx_file *file, const clv_model *model,
                          clv_arena *arena, clv_error *err);
/* The same of a file that is open to be written: its place is known now, whatever links do later.
 */
clv_status clv_out_refuse_opened(const clv_out_file *out, const clv_onnx_file *file,
                                 const clv_model *model, clv_error *err);
/* Could a file at path be written? A temporary beside it is made and removed; pipes and devices are
 * left alone. */
clv_status clv_out_try(const char *path, const clv_alloc *alloc, clv_error *err);

#endif
