/* part_write.h - the end of what part_files.h begins: every box gets its place, then its data. */
#ifndef CLV_WEIGHTS_PART_WRITE_H
#define CLV_WEIGHTS_PART_WRITE_H

#include "weights/part_files.h"

/* Nothing can be added any more, and every place is known. CLV_EUNSUPP: a box that its kind of
 * files cannot say. O(boxes log boxes). */
clv_status clv_part_files_seal(clv_part_files *p, clv_error *err);
/* Streams all. CLV_EIO: a file could not be written, or the source could not be read. O(bytes). */
clv_status clv_part_files_write(clv_part_files *p, const clv_weight_source *source, clv_error *err);

#endif
