/* verdict.h - what a verification comes to: one of six, and the sentence that says so. */
#ifndef CLV_VERIFY_VERDICT_H
#define CLV_VERIFY_VERDICT_H

#include "verify/verify.h"

/* The worst of what was seen, in this order: a proof that fails, a model that fails by itself,
 * numbers that differ, a run that fails, a form that cannot be written. O(forms). */
clv_verify_verdict clv_verdict_of(const clv_verify_result *r);
/* As in JSON: "agrees", "differs". */
const char *clv_verdict_name(clv_verify_verdict verdict);
/* The same with why, without a capital and a full stop, in the arena. CLV_ENOMEM. */
clv_status clv_verdict_sentence(const clv_verify_result *r, clv_arena *arena, const char **ret,
                                clv_error *err);

#endif
