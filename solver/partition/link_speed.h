/* link_speed.h - how fast a link is at best or at worst, for bounds: alpha and beta (Hockney 1994),
 * latency and time of a byte, which need not be those of one link.
 */
#ifndef CLV_SOLVER_PARTITION_LINK_SPEED_H
#define CLV_SOLVER_PARTITION_LINK_SPEED_H

#include <stdbool.h>

typedef struct {
    double latency_ns, byte_ns;
    bool is_one; /* each way has one link that is no faster in either */
} clv_link_speed;

/* Is a no faster than b in either number? */
static inline bool clv_link_is_no_faster(clv_link_speed a, clv_link_speed b)
{
    return a.latency_ns >= b.latency_ns && a.byte_ns >= b.byte_ns;
}

/* The worse of each number; is_one where one of the two links has both. */
static inline clv_link_speed clv_link_slower(clv_link_speed a, clv_link_speed b)
{
    return (clv_link_speed){ a.latency_ns > b.latency_ns ? a.latency_ns : b.latency_ns,
                             a.byte_ns > b.byte_ns ? a.byte_ns : b.byte_ns,
                             (a.is_one && clv_link_is_no_faster(a, b)) ||
                                 (b.is_one && clv_link_is_no_faster(b, a)) };
}

#endif
