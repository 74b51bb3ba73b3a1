/* device_order.h - orders of devices in which the chain of units is cut into runs: list rules, as
 * chain partitioning is NP-complete where the order of unequal devices is open (Pinar, Tabak and
 * Aykanat 2008). Each order is a guess that suits some models; all are tried.
 */
#ifndef CLV_SOLVER_PARTITION_DEVICE_ORDER_H
#define CLV_SOLVER_PARTITION_DEVICE_ORDER_H

#include "solver/partition/rule_repair.h"
#include "solver/partition/unit_chain.h"

typedef enum {
    CLV_AS_GIVEN,
    CLV_BY_CAPACITY,   /* most memory first */
    CLV_BY_SPEED,      /* fastest first, by the time of all units */
    CLV_MIXED,         /* each kind spread evenly */
    CLV_BY_RULES,      /* devices that rules bind units to come where those units are */
    CLV_SLOWEST_FIRST, /* a model may end with its dearest unit */
    CLV_FIRST_ORDERS,
    /* Half of each kind, fastest first, and the others, fastest last: what all layers read is
     * written early, and beside its writer there should be as many layers as can be. */
    CLV_FASTEST_OUTSIDE = CLV_FIRST_ORDERS,
    CLV_N_ORDERS
} clv_device_order;

/* Fills order (n_devices) with the devices, alike ones as given. True when that is not the given
 * order. repair: where the problem has rules, else NULL. O(devices^2). */
bool clv_order_devices(const clv_unit_chain *c, clv_rule_repair *repair, clv_device_order how,
                       int32_t *order);

#endif
