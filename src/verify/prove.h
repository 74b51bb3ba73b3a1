/* prove.h - is a lowered program right? Without running anything.
 *
 * By arithmetic of its own, from what layouts, rules and meshes say, not by the code that made the
 * program. Of each tensor in each layout it works out which elements every device has, and shows:
 *
 *   - along the axes that split a tensor its parts are disjoint and cover it; along those that hold
 *     copies or partial results the parts are the same: each element is there once per replica, a
 *     partial result once per summand;
 *   - an operator has of each input just what its rule wants for the ranges of the factors that the
 *     device works on; the devices have every combination of ranges once; what it leaves partial is
 *     partial over just the axes that split a reduced factor, or have parts of a sum of what it
 *     reads; nothing else that it reads is partial, and in those inputs it is linear;
 *   - after a step every device has what the members of its group had before, and partial results
 *     were reduced once;
 *   - everything that is read was made before, in the same phase, by one instruction, or comes from
 *     the device at the same place of an earlier phase that had the same;
 *   - each output of the model comes out complete.
 *
 * What a rule says of its operator is taken as true (tests/sharding/check_rules.py computes it),
 * and so is that a file holds what the program says: that is what running the files shows.
 */
#ifndef CLV_VERIFY_PROVE_H
#define CLV_VERIFY_PROVE_H

#include "lower/spmd.h"
#include "verify/proof.h"

/* CLV_ELIMIT: parts are scattered over too many runs to look at. CLV_ENOMEM. That the program is
 * wrong is no failure. Everything lives in the arena. O(instructions * devices * dimensions), and
 * far less where layouts and shapes repeat. */
clv_status clv_prove(const clv_spmd *s, clv_arena *arena, clv_proof *ret, clv_error *err);

#endif
