/* rule_nearest.h - a plan that meets the rules near one that is wished for, in a given order of
 * devices: bounds propagation.
 *
 * "Not before what it reads", "only there" and "all before the boundary, then the rest" are rules
 * of which two solutions have a lowest common solution that is one too: min-closed constraints, for
 * which propagation finds a solution without search (Jeavons and Cooper 1995, "Tractable
 * constraints on ordered domains"). So there is a highest solution, found from the end backwards,
 * and from any wish below it a lowest solution above the wish, found forwards. Units that must be
 * apart take the next free position; that may fail.
 */
#ifndef CLV_SOLVER_PARTITION_RULE_NEAREST_H
#define CLV_SOLVER_PARTITION_RULE_NEAREST_H

#include "solver/partition/rule_supernodes.h"

typedef struct {
    const clv_supernodes *g;
    int32_t *wish; /* by supernode: the position wished for, of the caller */
    int32_t *at;   /* by supernode: the device found */
    /* scratch */
    int32_t *high;            /* by supernode: the highest position */
    int32_t *owner;           /* [family * n_devices + device]: tag, or -1 */
    int32_t *floor, *ceiling; /* by family in order: positions */
} clv_rule_nearest;

/* g must outlive it. CLV_ENOMEM. */
clv_status clv_rule_nearest_new(const clv_supernodes *g, clv_rule_nearest *ret, clv_error *err);

/* Supernodes near the positions wished for in this order of devices, into at; false if that does
 * not work. Rules on stages are only respected as far as positions are stages. O(units + nets'
 * readers) times the few rounds that it takes to settle. */
bool clv_rule_nearest_find(clv_rule_nearest *s, const int32_t *order);

#endif
