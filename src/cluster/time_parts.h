/* time_parts.h - what a time consists of, and what it rests on.
 */
#ifndef CLV_CLUSTER_TIME_PARTS_H
#define CLV_CLUSTER_TIME_PARTS_H

#include <stdint.h>

/* What a device does all that time. A kernel computes and moves at once: the longer one counts. */
typedef enum {
    CLV_TIME_COMPUTE,
    CLV_TIME_MEMORY,        /* waits for its own memory */
    CLV_TIME_LAUNCH,        /* is started */
    CLV_TIME_COMMUNICATION, /* waits for other devices of its mesh, and nothing hides it */
    CLV_N_TIME_CAUSES
} clv_time_cause;

/* What a number rests on. */
typedef enum {
    CLV_ASSUMED,  /* peaks of data sheets, and how much of them is reached by assumption */
    CLV_FITTED,   /* the same, with what was fitted to measured times of other things */
    CLV_MEASURED, /* measured times of such kernels or collectives, interpolated between sizes */
    CLV_N_BASES
} clv_basis;

const char *clv_time_cause_name(clv_time_cause cause); /* "memory" */
const char *clv_basis_name(clv_basis basis);           /* "measured" */

/* Nanoseconds by cause; what they rest on is the same for all but communication. */
typedef struct {
    int64_t ns[CLV_N_TIME_CAUSES];
    clv_basis basis, communication_basis;
} clv_time_parts;

#endif
