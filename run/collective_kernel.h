/* collective_kernel.h - one node that is a collective, on one device: its attributes and its group,
 * and what it makes of the inputs that the devices of the group show each other.
 */
#ifndef CLV_RUN_COLLECTIVE_KERNEL_H
#define CLV_RUN_COLLECTIVE_KERNEL_H

#include "run/program.h"
#include "run/rendezvous.h"

/* Operators that there are kernels of, by number; collective_ops.h says what they have. */
#define CLR_N_COLLECTIVE_OPS 4
#define CLR_DIST_COLLECTIVE  3
const char *clr_collective_op_name(int which);

/* A device that takes part. */
typedef struct {
    clv_arena *arena; /* holds its kernels */
    const clr_ort *ort;
    const clr_program *program;
    int32_t member;
    clr_rendezvous *rendezvous;
} clr_participant;

typedef struct clr_kernel clr_kernel;

/* owner outlives it. CLV_EFORMAT, CLV_EUNSUPP: attributes that make no sense or are not known here;
 * the sentence names the node. */
clv_status clr_kernel_new(const clr_participant *owner, int which, const OrtApi *api,
                          const OrtKernelInfo *info, clr_kernel **ret, clv_error *err);

const clr_participant *clr_kernel_owner(const clr_kernel *k);

/* Comes together with the others of the group; returns when nobody looks at its input any more. As
 * clr_rendezvous_wait(); CLV_EFORMAT, CLV_EUNSUPP: what they bring does not go together. */
clv_status clr_kernel_run(clr_kernel *k, OrtKernelContext *context, clv_error *err);

#endif
