/* measured_lines.h - measured times of collectives as lines over the bytes. */
#ifndef CLV_COST_MEASURED_LINES_H
#define CLV_COST_MEASURED_LINES_H

#include "cost/rounds.h"

/* In the place of the lines of algorithms, those of collectives that were measured between devices
 * as they are: all of one kind, with times for so many of them, and routes whose bandwidth is what
 * was measured over. What was not measured is left alone. O(devices^2). */
void clv_measured_lines(const clv_rounds *r, clv_line_set *ret);

/* The measured times themselves, of that collective; nothing where it was not measured so. overlap:
 * the share of the bytes' time that is hidden; the first point's is no bytes' time. */
void clv_measured_points(const clv_rounds *r, clv_collective collective, double overlap,
                         clv_curve *ret);

#endif
