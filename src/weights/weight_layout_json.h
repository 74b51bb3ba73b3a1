/* weight_layout_json.h - a layout out of a JSON tree, for the files that have one in them.
 *
 *     {"devices": ["gpu0", ...],
 *      "weights": [{"name": "w",
 *                   "shards": [{"device": "gpu0", "offsets": [0, 0], "dims": [4, 8]}, ...]}, ...]}
 *
 * A shard may have a "view", and without offsets and dims it is the whole weight. "devices" may be
 * left out: then they are numbered as they are first named. weights.json (weights_folder.h) has
 * this shape too, and what else it has is passed over.
 */
#ifndef CLV_WEIGHTS_WEIGHT_LAYOUT_JSON_H
#define CLV_WEIGHTS_WEIGHT_LAYOUT_JSON_H

#include "base/json.h"
#include "weights/weight_layout.h"

/* Of the object at root; clv_weight_layout_check() is for the caller. Shards come in the order of
 * the file. CLV_EFORMAT. O(text). */
clv_status clv_weight_layout_of_json(const clv_json_at *root, const clv_weight_list *weights,
                                     clv_arena *arena, clv_weight_layout *ret, clv_error *err);

#endif
