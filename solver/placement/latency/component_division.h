/* component_division.h - graphs of several components: each is a problem of its own.
 *
 * How many devices each gets is the minimax resource allocation problem (Ibaraki, Katoh 1988,
 * "Resource Allocation Problems"), solved by bisection on the latency; components that share a
 * device are packed first fit decreasing (Johnson 1973, "Near-optimal bin packing algorithms"). It
 * wins where there are many components, above all equal ones.
 *
 * Bound. Take any legal solution of the whole and leave out all nodes but those of one part. What
 * is left is a legal solution of the part with all devices: classes are whole, devices hold less,
 * and of the edges that put devices in a line there are fewer. A node's level on a device depends
 * on the paths to it alone, and these are all in its part; so a piece of the part is a piece of the
 * whole without its other nodes. It waits for less, receives no more, runs no more and sends no
 * more, so by induction along the pieces nothing ends later. Hence no solution of the whole is
 * below the bound of any part.
 *
 * Solutions. Parts on paying devices of their own have the latency they have alone, and devices
 * that do not pay can be shared. So with f(part, n), the least latency of a part on n paying
 * devices, the best division gives every part the fewest devices with f <= T, for the least T for
 * which they are enough. Parts that fit on one device may share it, as one piece, as long as their
 * times add up to T at most. f does not rise with n, so few of its values are computed, by
 * bisection, each once and once for equal parts.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_COMPONENT_DIVISION_H
#define CLV_SOLVER_PLACEMENT_LATENCY_COMPONENT_DIVISION_H

#include "solver/placement/common/place_search.h"

/* Where the graph falls into parts that have nothing to do with each other: bounds by each part
 * alone, and solutions in which parts have devices of their own. Nothing where it is one part.
 * CLV_ENOMEM. O(tests * (parts * devices + nodes * kinds)) besides the solves of parts. */
clv_status clv_component_division_solve(clv_place_search *search, clv_arena *arena, clv_error *err);

#endif
