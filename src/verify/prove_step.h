/* prove_step.h - a step: what each device has afterwards it, or a member of its group, had before;
 * and what was partial was reduced once. */
#ifndef CLV_VERIFY_PROVE_STEP_H
#define CLV_VERIFY_PROVE_STEP_H

#include "verify/prover.h"

/* Its result is there afterwards. O(devices^2 * dimensions * runs), O(1) where the same step was
 * shown before. */
clv_status clv_prove_step(clv_prover *p, const clv_spmd_instr *instr, clv_error *err);

#endif
