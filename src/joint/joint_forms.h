/* joint_forms.h - the forms of plans that are tried: groups of devices, and meshes in them. */
#ifndef CLV_JOINT_JOINT_FORMS_H
#define CLV_JOINT_JOINT_FORMS_H

#include "joint/joint_state.h"

/* Whole operators do not do what is asked of tensors. */
bool clv_joint_needs_shards(const clv_joint *j);

/* May stages be meshes of so many devices, with the devices in so many groups, as the request is?
 */
bool clv_joint_allows(const clv_joint *j, int32_t per_mesh, int32_t groups);

/* Into j->groups, j->forms and j->whole: the mesh that is asked for, else all whose devices the
 * stages of a group can share alike. Groups are tried where the objective may be better with copies
 * of a plan (throughput), or as good on fewer devices (latency, if their number is not given). The
 * largest meshes are first, most often the best for latency, so that others need not be searched.
 * CLV_EUSAGE where none goes with what is asked. O(divisors * devices^2). */
clv_status clv_joint_list_forms(clv_joint *j, clv_error *err);

/* CLV_EUSAGE: the backend runs no stages, and no mesh of so many devices. */
clv_status clv_joint_fail_without_stages(const clv_joint *j, int32_t devices, clv_error *err);

#endif
