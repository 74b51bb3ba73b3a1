/* weights_folder_json.h - weights.json, written and read. */
#ifndef CLV_WEIGHTS_WEIGHTS_FOLDER_JSON_H
#define CLV_WEIGHTS_WEIGHTS_FOLDER_JSON_H

#include "weights/weights_folder.h"

/* What the text says, and nothing but that: weights_folder_read.h judges it. name: of the file, for
 * messages. CLV_EFORMAT. */
clv_status clv_folder_json_read(const char *text, size_t n, const char *name, clv_arena *arena,
                                clv_weights_folder *ret, clv_error *err);
/* shards are in the order of the weights. */
clv_status clv_folder_json_text(const clv_weights_folder *f, clv_arena *arena, const char **ret,
                                size_t *ret_n, clv_error *err);

#endif
