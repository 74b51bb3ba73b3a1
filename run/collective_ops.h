/* collective_ops.h - collectives as operators of the runtime, for devices that run in one process.
 *
 * Domain com.microsoft has AllReduce (sum), AllGather (axis, group_size) and AllToAll (group_size);
 * DistCollective, as TensorRT names it, has collective_operation, reduce_op, axis, root, group_size
 * and groups. All devices of a group come together at each (rendezvous.h), look at each other's
 * input where it lies, and each makes its output.
 *
 * A node's group is the manifest's, by its name; without one its attribute groups, else devices in
 * their order, group_size together, all without group_size.
 */
#ifndef CLV_RUN_COLLECTIVE_OPS_H
#define CLV_RUN_COLLECTIVE_OPS_H

#include "run/program.h"
#include "run/rendezvous.h"

typedef struct clr_collective_ops clr_collective_ops; /* of one device */

/* For the session of member i of the program. All arguments outlive it, and it its session. */
clv_status clr_collective_ops_new(const clr_ort *ort, const clr_program *program, int32_t member,
                                  clr_rendezvous *rendezvous, clr_collective_ops **ret,
                                  clv_error *err);
void clr_collective_ops_free(clr_collective_ops *collectives); /* NULL is fine */
/* For clr_session_options. */
OrtCustomOpDomain **clr_collective_ops_domains(clr_collective_ops *collectives, int *ret_n);

#endif
