/* joint_search.h - all forms of mesh, the most promising first. */
#ifndef CLV_JOINT_SEARCH_H
#define CLV_JOINT_SEARCH_H

#include "joint/joint_form.h"

/* No plan of some form has less; 0: nothing is known of it. */
void clv_joint_take_bound(clv_joint *j, int64_t bound_ns);

/* Tries j->shapes, and leaves the best in j. What no plan of a form beats is found for all of them
 * first, which is cheap; then those with the least are searched, and the rest only as far as they
 * might still be better. The same at any number of jobs. */
clv_status clv_joint_try_forms(clv_joint *j);

#endif
