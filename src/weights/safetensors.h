/* safetensors.h - a set of boxes as a checkpoint of safetensors.
 *
 * A file: 8 bytes, the length of the header in little-endian; the header, JSON; the data, without
 * holes. The header may end in blanks, with which the data begins on a whole page. Wide types come
 * first, so that every tensor lies on a multiple of its element's size. Types that readers of the
 * format do not know are bytes (U8), and __metadata__ says what they are.
 */
#ifndef CLV_WEIGHTS_SAFETENSORS_H
#define CLV_WEIGHTS_SAFETENSORS_H

#include "weights/part_files.h"

/* Lays out the boxes of a set, p->places of order[0 .. n), which is sorted; headers, and an index
 * where there are several files, are made. O(n log n). */
clv_status clv_safetensors_seal(clv_part_files *p, const clv_part_set *set, int32_t *order,
                                int32_t n, clv_error *err);
/* Elements of a type that come first are wide ones, so that none lies askew: the lower, the
 * earlier.
 */
int clv_safetensors_rank(clv_dtype dtype);

#endif
