/* prove_operator.h - an operator: on each device a range of each factor of its rule, and of its
 * inputs and outputs just what these ranges want. */
#ifndef CLV_VERIFY_PROVE_OPERATOR_H
#define CLV_VERIFY_PROVE_OPERATOR_H

#include "verify/prover.h"

/* Its outputs are there afterwards. O(operands * dimensions * devices). */
clv_status clv_prove_operator(clv_prover *p, const clv_spmd_instr *instr, clv_error *err);

#endif
