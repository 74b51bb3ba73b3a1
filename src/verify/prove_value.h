/* prove_value.h - a tensor in a layout: what each device has of it, and that this is all of it. */
#ifndef CLV_VERIFY_PROVE_VALUE_H
#define CLV_VERIFY_PROVE_VALUE_H

#include "verify/prover.h"

/* Sets p->held[v]. Refuted: what the value says is no layout, or its parts do not make up the
 * tensor. O(devices * dimensions * runs), O(dimensions) where the parts were met before. */
clv_status clv_prove_value(clv_prover *p, int32_t v, clv_error *err);

#endif
