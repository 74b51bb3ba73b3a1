/* verify_report.h - what was verified, for people and as JSON. */
#ifndef CLV_VERIFY_VERIFY_REPORT_H
#define CLV_VERIFY_VERIFY_REPORT_H

#include "explain/text.h"
#include "verify/verify.h"

/* Lines for a terminal, in the arena. CLV_ENOMEM. O(tensors), as below. */
clv_status clv_verify_text(const clv_verify_result *r, clv_text_form form, clv_arena *arena,
                           const char **ret, clv_error *err);
/* As docs/formats/verify.schema.json. */
clv_status clv_verify_json(const clv_verify_result *r, clv_arena *arena, const char **ret,
                           clv_error *err);

#endif
