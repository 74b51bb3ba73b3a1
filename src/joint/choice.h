/* choice.h - which of the plans that were found: the best, or one that is nearly as good and takes
 * less; and the others beside it.
 *
 * Of all plans whose objective is within clv_request.worth of the best one's, those stay that have
 * fewest devices; then those whose fullest device has no more in it than that of the least, but for
 * that part of what it holds; then those within that part of the best of the other objective; with
 * fewest collectives; with fewest axes of the mesh; then the best, then the one found first. So one
 * step never undoes what a more important one decided.
 */
#ifndef CLV_JOINT_CHOICE_H
#define CLV_JOINT_CHOICE_H

#include "joint/joint_state.h"

/* The plan to take, in j->found; where none fits, the nearest one. O(forms). */
const clv_joint_found *clv_joint_choose(const clv_joint *j);

/* "TP8", "DP2xTP4xPP2", "PP8", "8 copies", "2 copies of TP4", "1 device". In the arena; NULL: no
 * memory. */
const char *clv_joint_form_name(const clv_joint *j, const clv_joint_found *found, clv_arena *arena);

/* Into the plan that was chosen: the best plans of so many forms as are wanted, itself first, why
 * it was taken, and what fewer devices give. In j->arena. CLV_ENOMEM. O(forms^2). */
clv_status clv_joint_add_alternatives(const clv_joint *j, const clv_joint_found *chosen,
                                      clv_plan *plan, clv_error *err);

#endif
