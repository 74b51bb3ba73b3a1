/* target_json.h - a target out of a JSON tree, for the files that have one in them. */
#ifndef CLV_WEIGHTS_TARGET_JSON_H
#define CLV_WEIGHTS_TARGET_JSON_H

#include "base/json.h"
#include "weights/target.h"

/* As clv_target_read(), of the object at root; not checked. Shards come in the order of the file.
 */
clv_status clv_target_of_json(const clv_json_at *root, const clv_weight_list *weights,
                              clv_arena *arena, clv_target *ret, clv_error *err);

#endif
