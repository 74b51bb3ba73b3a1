/* compared_forms.h - forms that were left out of the search, as they cannot be the best, and whose
 * plans are wanted to stand beside it.
 */
#ifndef CLV_JOINT_COMPARED_FORMS_H
#define CLV_JOINT_COMPARED_FORMS_H

#include "joint/joint_state.h"

/* Is there a plan with as many devices a stage, as many stages and groups? O(plans). */
bool clv_joint_has_outline(const clv_joint *j, const clv_joint_form *form);

/* Where the plan that would be taken is one copy and has copies of weights, its mesh with less of
 * them; by latency, where fewer devices may do, one form for each number of them; then as many as
 * are missing to clv_request.alternatives, in the order of their floors; of meshes whose floors are
 * within clv_request.worth, the one with fewest axes. Each gets a brief search, two at a time,
 * whatever the threads. The same at any number of jobs. O(forms * (plans + forms)), and the
 * searches. */
clv_status clv_joint_try_compared(clv_joint *j, clv_error *err);

#endif
