/* rule_repair.h - assignments that are legal and meet the rules of a problem (problem/rules.h):
 * finding one, proving that there is none, and repairing those that break some.
 *
 * Units that must be on one device are contracted first (rule_supernodes.h). An assignment is legal
 * when its devices can be put in an order in which no supernode comes before what it reads; so most
 * of the work is done on positions in an order of devices: near some balanced spreading, in some
 * sensible order (rule_nearest.h), which finds a solution in nearly all cases that have one. Else
 * stages are looked at alone (rule_stages.h), and then all orders are tried (rule_exact.h). Each
 * of these headers cites its method.
 */
#ifndef CLV_SOLVER_PARTITION_RULE_REPAIR_H
#define CLV_SOLVER_PARTITION_RULE_REPAIR_H

#include "solver/partition/rule_exact.h"

typedef struct clv_rule_repair clv_rule_repair; /* lives in the arena */

/* p has rules. CLV_ENOMEM. O(units + nets' readers + units * devices / 64 + devices^2). */
clv_status clv_rule_repair_new(const clv_partition_problem *p, clv_arena *arena,
                               clv_rule_repair **ret, clv_error *err);

/* Any assignment that meets the rules; device_of: n_units, written when one is found. The first
 * call searches, later ones give the same. Mostly O(units + nets' readers); in the worst case
 * exponential, but stopped after a fixed amount of work. */
clv_rule_outcome clv_rule_repair_find(clv_rule_repair *r, int32_t *device_of);

/* Makes device_of meet the rules, with units near where they are: devices follow each other as in
 * order, which has n_devices, or as in clv_rule_repair_order with the first device for the first
 * and so on, whatever needs fewer moves. False, and device_of as it was, when neither works.
 * O(units + nets' readers) times the few rounds that it takes to settle. */
bool clv_rule_repair_plan(clv_rule_repair *r, const int32_t *order, int32_t *device_of);

/* An order of devices in which those that units are bound to come where these units are. */
void clv_rule_repair_order(const clv_rule_repair *r, int32_t *order);

#endif
