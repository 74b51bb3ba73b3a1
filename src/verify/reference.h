/* reference.h - what is right: the outputs of the model itself, and how far they are its own doing.
 *
 * The model runs once as the forms do. Where one of them is beyond the bound of error_growth.h, it
 * runs again at the other optimization levels of the runtime, which fuse other operators, take
 * other kernels and sum in other orders: what it changes of itself then is no fault of a plan.
 * And once with every tensor kept: a kernel that writes over its input and reads it again gives
 * something else where another one reads that input too. For that it is written anew, and counts
 * only if written anew without more it gives the same: a fault of the writer is no excuse.
 */
#ifndef CLV_VERIFY_REFERENCE_H
#define CLV_VERIFY_REFERENCE_H

#include "verify/runner.h"

/* Other runs. The first ones are "none", "basic" and "extended"; forms run with "all". */
enum { CLV_REFERENCE_LEVELS = 3, CLV_REFERENCE_ANEW = 3, CLV_REFERENCE_KEPT, CLV_REFERENCE_OTHERS };

typedef struct {
    clv_runner runner;
    const char *what; /* the model's path, or a lowered folder */
    const char *out;  /* folder of its outputs */
    /* Folders of the outputs of other runs; NULL where it does not run so. */
    const char *other[CLV_REFERENCE_OTHERS];
    bool asked; /* they were run */
} clv_reference;

/* Runs what; its outputs come to the folder out. Fails as clv_runner_run(). */
clv_status clv_reference_run(clv_reference *ref, clv_arena *arena, clv_runner_answer *ret,
                             clv_error *err);
/* Runs it at the other levels too, the first time that it is called. A level at which it does not
 * run is left out. Fails as clv_runner_run(). */
clv_status clv_reference_run_others(clv_reference *ref, clv_arena *arena, clv_error *err);

#endif
