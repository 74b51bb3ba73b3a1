/* read_layout.h - the file that says how weights are to lie: a layout, a placement spec or a plan.
 */
#ifndef CLV_API_READ_LAYOUT_H
#define CLV_API_READ_LAYOUT_H

#include "api/objects.h"
#include "weights/weights_folder.h"

/* The weights that are laid out: those of a model, or of a folder of shards; the other is NULL. */
typedef struct {
    const clv_weight_list *weights;
    const cleave_model *model;
    const clv_weights_folder *folder;
    const cleave_control *control; /* whose note() gets what came to nothing */
} clv_layout_use;

/* The checked layout, in the arena. CLV_EIO, CLV_EFORMAT. O(text) and what checking takes. */
clv_status clv_layout_read(const char *path, const clv_layout_use *use, clv_arena *arena,
                           clv_weight_layout *ret, clv_error *err);

#endif
