/* proof.h - what a proof that a lowered program is right found (prove.h).
 */
#ifndef CLV_VERIFY_PROOF_H
#define CLV_VERIFY_PROOF_H

#include <stdbool.h>

#include "base/int128.h"

typedef struct {
    bool holds;
    const char *fault; /* where it does not: what is wrong, in a sentence; else NULL */
    int32_t n_tensors; /* of the model, that the program has */
    int32_t n_values;  /* tensors in a layout, in a phase */
    int32_t n_operators, n_steps, n_transfers, n_outputs;
    int32_t n_phases, n_devices; /* of a phase */
    clv_int128 elems;            /* of all values, each counted once */
    clv_int128 parts;            /* on all devices: with copies and partial results */
} clv_proof;

#endif
