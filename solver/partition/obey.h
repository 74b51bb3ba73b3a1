/* obey.h - assignments that are legal and obey the rules of a problem (problem/rules.h): finding
 * one, proving that there is none, and mending those that do not.
 *
 * Units that must be on one device are joined to blobs first. An assignment is legal when its
 * devices can be put in an order in which no blob comes before what it reads; so most of the work
 * is done on positions in an order of devices.
 */
#ifndef CLV_SOLVER_PARTITION_OBEY_H
#define CLV_SOLVER_PARTITION_OBEY_H

#include "problem/rules.h"

typedef struct clv_obey clv_obey;

typedef enum {
    CLV_OBEY_FOUND,
    CLV_OBEY_NONE,   /* proven: no legal assignment obeys */
    CLV_OBEY_UNKNOWN /* none found within the work allowed, which depends on the problem alone */
} clv_obey_outcome;

/* p has rules. O(units + nets' readers + units * devices / 64). */
clv_status clv_obey_new(const clv_partition_problem *p, clv_arena *arena, clv_obey **ret,
                        clv_error *err);

/* Any assignment that obeys; device_of: n_units, written when one is found. The first call
 * searches, later ones give the same. Mostly O(units + nets' readers); in the worst case
 * exponential, but stopped after a fixed amount of work. */
clv_obey_outcome clv_obey_find(clv_obey *o, int32_t *device_of);

/* Makes device_of obey, with units near where they are: devices follow each other as in order,
 * which has n_devices, or as in clv_obey_order with the first device for the first and so on,
 * whatever needs fewer moves. False, and device_of as it was, when neither works. O(units + nets'
 * readers) times the few rounds that it takes to settle. */
bool clv_obey_mend(clv_obey *o, const int32_t *order, int32_t *device_of);

/* An order of devices in which those that units are bound to come where these units are. */
void clv_obey_order(const clv_obey *o, int32_t *order);

#endif
