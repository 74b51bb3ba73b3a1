/* weight_layout_json.h - a layout out of a JSON tree, for the files that have one in them. */
#ifndef CLV_WEIGHTS_WEIGHT_LAYOUT_JSON_H
#define CLV_WEIGHTS_WEIGHT_LAYOUT_JSON_H

#include "base/json.h"
#include "weights/weight_layout.h"

/* As clv_weight_layout_read(), of the object at root; not checked. Shards come in the order of the
 * file.
 */
clv_status clv_weight_layout_of_json(const clv_json_at *root, const clv_weight_list *weights,
                                     clv_arena *arena, clv_weight_layout *ret, clv_error *err);

#endif
