/* byte_ranges.h - no data, but which bytes of the original each box is.
 *
 * A box is runs of equal length at regular distances, so a few numbers say it however many
 * runs it has: the first one's offset, their length, and for each loop around them, outer ones
 * first, how often and how far apart.
 */
#ifndef CLV_WEIGHTS_BYTE_RANGES_H
#define CLV_WEIGHTS_BYTE_RANGES_H

#include "weights/part_files.h"

/* "NAME.ranges.json" of a set, whose boxes are p->places of order[0 .. n). CLV_EUNSUPP: a weight
 * that has no bytes of its own in the original, or a box that does not begin and end on bytes.
 * O(n).
 */
clv_status clv_ranges_seal(clv_part_files *p, const clv_part_set *set, const int32_t *order,
                           int32_t n, clv_error *err);

#endif
