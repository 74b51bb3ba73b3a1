/* warm.h - the runtime's own memory, taken before anything is measured. */
#ifndef CLV_RUN_WARM_H
#define CLV_RUN_WARM_H

#include "run/ort.h"

/* Loads and drops a model of one operator, so that what the first session of a process takes for
 * the runtime itself, some 10 MB, does not count as the first model's. */
clv_status clr_ort_warm_up(const clr_ort *ort, clv_error *err);

#endif
