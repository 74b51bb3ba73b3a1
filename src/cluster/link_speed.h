/* link_speed.h - how fast a link is: what the data sheet says, and what is reached of it. */
#ifndef CLV_CLUSTER_LINK_SPEED_H
#define CLV_CLUSTER_LINK_SPEED_H

#include <stdint.h>

#include "cluster/time_parts.h"

typedef struct {
    double peak_bytes_per_s; /* in one direction */
    int64_t latency_ns;
    double efficiency; /* the part of the peak that is reached, (0, 1] */
    clv_basis basis;   /* of that part */
} clv_link_speed;

/* Bytes a second that transfers and the algorithms of collectives get. */
static inline double clv_link_reached(const clv_link_speed *link)
{
    return link->peak_bytes_per_s * link->efficiency;
}

#endif
