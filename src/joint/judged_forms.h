/* judged_forms.h - the best plans of all forms, judged by the compiler that the request names.
 *
 * A compiler that takes seconds for a candidate cannot be asked in a search over strategies. So
 * forms are searched by Cleave's own times, and the compiler judges the best plan of each, copies
 * and shards as they are. Of stages of whole operators it judges those that their search asks for,
 * which runs beside: no worker is idle because the last of the forms still compiles.
 */
#ifndef CLV_JOINT_JUDGED_FORMS_H
#define CLV_JOINT_JUDGED_FORMS_H

#include "joint/joint_state.h"

/* Makes the plan of something found, for all devices. */
typedef clv_status (*clv_plan_maker)(clv_joint *j, const clv_joint_found *found, clv_plan **ret,
                                     clv_error *err);

/* Replaces what was found by what the compiler of req says of it: scores, facts and plans, with as
 * many candidates judged as req allows. Where no plan fits, the nearest ones are judged.
 * CLV_ECANCELED, and as the compiler fails. O(forms) plans at a time in memory. */
clv_status clv_joint_judge_forms(clv_joint *j, const clv_request *req, clv_plan_maker make,
                                 clv_error *err);

#endif
