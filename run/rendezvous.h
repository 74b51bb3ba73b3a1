/* rendezvous.h - where devices that run at once wait for each other: barriers, and the end of runs.
 *
 * Each device is a member, which runs its model once or several times. A member waits for others of
 * its group at the barrier of a collective, or until another has ended some run. When a member
 * fails, all that wait are let go. When every member that has not ended waits, none of them will
 * ever go on: that deadlock is found at once, and reported as who waits for what. So nothing here
 * waits for ever.
 *
 * Every call may be made from any thread; a member waits on its own thread.
 */
#ifndef CLV_RUN_RENDEZVOUS_H
#define CLV_RUN_RENDEZVOUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct clr_rendezvous clr_rendezvous;
typedef struct clr_barrier clr_barrier; /* of one collective and one group */

/* Members, in the order of their ranks in it. */
typedef struct {
    const int32_t *members;
    int32_t n;
} clr_group;

/* names: of the n members, for messages; they outlive it. timeout_s: of each wait, 0 for none. */
clv_status clr_rendezvous_new(const char *const *names, int32_t n, double timeout_s,
                              clr_rendezvous **ret, clv_error *err);
/* So many like it are at work at once, itself among them: whether each member has a core follows.
 * Before members start. */
void clr_rendezvous_share_cores(clr_rendezvous *rendezvous, int32_t beside);
void clr_rendezvous_free(clr_rendezvous *rendezvous); /* NULL is fine; nobody may wait */
/* Before members start again: all run. on_stop is called once, when they have to stop early, by the
 * thread that found so and with the lock held: it must not wait. */
void clr_rendezvous_start(clr_rendezvous *rendezvous, void (*on_stop)(void *ctx), void *ctx);

/* The barrier of that name and group; the same for all who ask alike. It keeps `size` bytes for
 * each member of the group, zeroed at first. Strings and group are copied. */
clv_status clr_rendezvous_barrier(clr_rendezvous *rendezvous, const char *name, clr_group group,
                                  size_t size, clr_barrier **ret, clv_error *err);
/* What is kept for the i-th of the group. To be written by it alone, and read by others between two
 * waits. */
void *clr_barrier_slot(const clr_barrier *barrier, int32_t i);

/* Returns when all of the group have called it as often. CLV_ECANCELED: all were stopped;
 * clr_rendezvous_failure() has the reason. */
clv_status clr_rendezvous_wait(clr_rendezvous *rendezvous, clr_barrier *barrier, int32_t member,
                               clv_error *err);
/* Returns when the other has ended so many runs since the start. */
clv_status clr_rendezvous_wait_runs(clr_rendezvous *rendezvous, int32_t member, int32_t other,
                                    int32_t runs, clv_error *err);
/* The member has ended one more run. */
void clr_rendezvous_end_run(clr_rendezvous *rendezvous, int32_t member);

/* The member runs no more. With a status that is not CLV_OK everyone is stopped, and the first such
 * status and message is the failure. */
void clr_rendezvous_leave(clr_rendezvous *rendezvous, int32_t member, clv_status status,
                          const clv_error *err);
/* Why all were stopped; CLV_OK when they were not. */
clv_status clr_rendezvous_failure(clr_rendezvous *rendezvous, clv_error *err);
/* Seconds that the member has waited since the start. */
double clr_rendezvous_waited_s(const clr_rendezvous *rendezvous, int32_t member);
/* Of them, those in which it kept its core, in the hope that it is not long. */
double clr_rendezvous_spun_s(const clr_rendezvous *rendezvous, int32_t member);

#endif
