/* seeker.h - what the parts of search.c share: the state of a default search, and its steps.
 *
 * search_cuts.c makes plans by cutting the list of units, search_bound.c proves what none is better
 * than and tries the plan behind that, search.c decides what comes when.
 */
#ifndef CLV_SOLVER_PARTITION_SEEKER_H
#define CLV_SOLVER_PARTITION_SEEKER_H

#include "solver/partition/balance.h"
#include "solver/partition/bound.h"
#include "solver/partition/device_order.h"
#include "solver/partition/improve.h"
#include "solver/partition/lessons.h"

/* Judgements without a better plan after which a search gives up, once something fits. */
#define CLV_SEEKER_PATIENCE 6
/* Cuts made again with the room that verdicts taught. */
#define CLV_SEEKER_RECUTS 4

typedef struct {
    clv_desk desk;
    clv_improver improver;
    clv_lessons *lessons; /* NULL: the model's times hold */
    clv_line *line;
    int32_t *order, *device_of; /* scratch */
    int64_t *room_bytes;        /* scratch: by device */
    int64_t *alive_room;        /* by device: for weights, beside what a unit has alive */
    bool *spent;                /* by plan: has no more neighbours to give */
    int32_t n_spent, cap_spent;
    bool is_bounded;       /* the bound is known, or there is none */
    int32_t *bound_orders; /* of devices, behind a bound of the latency; n_orders of n_devices */
    int32_t n_orders;
    int32_t *bound_device_of; /* the plan behind it */
    bool has_bound_plan;
    int64_t seat_work; /* left */
} clv_seeker;

/* Judges what waits. Where that teaches other times, all sums are made of those from then on. */
clv_status clv_seeker_judge(clv_seeker *s, clv_error *err);

/* -- search_cuts.c -- */

/* The devices in that order, into order. True when it is not the given one. */
bool clv_seeker_order(clv_seeker *s, clv_device_order how);

/* device_of goes to the desk, mended where it breaks rules. */
clv_status clv_seeker_add(clv_seeker *s, const char *label, clv_error *err);

/* Into device_of; where runs are too simple for the rules, runs that do not look at them. False:
 * there is none. */
bool clv_seeker_cut_by_rules(clv_seeker *s, const clv_cut_options *o, clv_objective objective);

/* The cut that suits the objective goes to the desk. */
clv_status clv_seeker_add_cut(clv_seeker *s, const int64_t *capacity, bool with_held,
                              const char *by_time, const char *by_latency, clv_error *err);

/* alive_room: what a device has room for beside the unit that has most alive. */
void clv_seeker_find_alive_room(clv_seeker *s);

/* room_bytes for weights by what verdicts taught. Devices that no verdict spoke of need as much as
 * the neediest one, if all is set. False when there is nothing to learn from. */
bool clv_seeker_leave_room(clv_seeker *s, bool all);

/* These add plans and have them judged. */
clv_status clv_seeker_first_plans(clv_seeker *s, clv_error *err);
clv_status clv_seeker_cut_again(clv_seeker *s, clv_error *err);
clv_status clv_seeker_cut_by_lessons(clv_seeker *s, clv_error *err);
clv_status clv_seeker_cut_by_kinds(clv_seeker *s, clv_error *err);
clv_status clv_seeker_spread_senders(clv_seeker *s, clv_error *err);

/* -- search_bound.c -- */

/* Once there is a plan that fits: what is proven of the best one, and, for the period, a plan that
 * would reach it if transfers took no time. */
clv_status clv_seeker_find_bound(clv_seeker *s, clv_error *err);

/* Judges the plan behind a bound. Where it lacks memory, that of devices with less, as much as the
 * verdict taught to leave; and once that fits, of devices with something between. */
clv_status clv_seeker_try_bound_plan(clv_seeker *s, const char *label, clv_error *err);

#endif
