/* collectives.h - collectives as operators of the runtime, for devices that run in one process.
 *
 * Domain com.microsoft has AllReduce (sum), AllGather (axis, group_size) and AllToAll (group_size);
 * DistCollective, as TensorRT names it, has collective_operation, reduce_op, axis, root, group_size
 * and groups. All devices of a group come together at each (meet.h), look at each other's input
 * where it lies, and each makes its output.
 *
 * A node's group is the manifest's, by its name; without one its attribute groups, else devices in
 * their order, group_size together, all without group_size.
 */
#ifndef CLV_RUN_COLLECTIVES_H
#define CLV_RUN_COLLECTIVES_H

#include "run/meet.h"
#include "run/program.h"

typedef struct clr_collectives clr_collectives; /* of one device */

/* For the session of member i of the program. All arguments outlive it, and it its session. */
clv_status clr_collectives_new(const clr_ort *ort, const clr_program *program, int32_t member,
                               clr_meet *meet, clr_collectives **ret, clv_error *err);
void clr_collectives_free(clr_collectives *collectives); /* NULL is fine */
/* For clr_session_options. */
OrtCustomOpDomain **clr_collectives_domains(clr_collectives *collectives, int *ret_n);

#endif
