/* candidate_search.h - all shapes of mesh, the most promising first: branch and bound over
 * candidates.
 */
#ifndef CLV_JOINT_CANDIDATE_SEARCH_H
#define CLV_JOINT_CANDIDATE_SEARCH_H

#include "joint/joint_state.h"

/* Tries j->forms, and leaves the best in j. What no plan of a shape beats is found for all of them
 * first, which is cheap; then those with the least are searched, and the rest only as far as they
 * might still be better. The same at any number of jobs. */
clv_status clv_joint_try_forms(clv_joint *j, clv_error *err);
/* Tries a form with a mesh, whose best plan is wanted, be it no better than that of another form.
 */
clv_status clv_joint_try_thoroughly(clv_joint *j, const clv_joint_form *form, clv_error *err);
/* Finds plans of forms with meshes, for comparison: each with one brief search of strategies and
 * few cuts, whether it may be the best or not. */
clv_status clv_joint_try_beside(clv_joint *j, const clv_joint_form *forms, int32_t n,
                                clv_error *err);

#endif
