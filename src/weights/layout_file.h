/* layout_file.h - a file that says how weights are to lie, in whichever form it is: a layout
 * (weight_layout.h), or a placement spec (placement_file.h), which has the key "spec". */
#ifndef CLV_WEIGHTS_LAYOUT_FILE_H
#define CLV_WEIGHTS_LAYOUT_FILE_H

#include "weights/placement_apply.h"

/* name: of the file, for messages. */
typedef struct {
    const char *text; /* n bytes */
    size_t n;
    const char *name;
} clv_layout_file;

/* The checked layout. Notes are those of clv_placement_file_apply(); a layout has none.
 * CLV_EFORMAT. O(text) and what clv_weight_layout_check() takes. */
clv_status clv_layout_file_read(const clv_layout_file *file, const clv_weight_list *weights,
                                clv_arena *arena, clv_weight_layout *ret,
                                clv_placement_notes *notes, clv_error *err);

#endif
