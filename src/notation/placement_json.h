/* placement_json.h - placement specs as JSON, in the format of docs/formats/placement-spec.md. */
#ifndef CLV_NOTATION_PLACEMENT_JSON_H
#define CLV_NOTATION_PLACEMENT_JSON_H

#include "base/json.h"
#include "base/json_out.h"
#include "notation/placement_spec.h"

/* CLV_EFORMAT names the place in the file. O(text). */
clv_status clv_placement_spec_read(const clv_json_at *at, clv_arena *arena,
                                   const clv_placement_spec **ret, clv_error *err);
/* What reads back as the same spec. */
void clv_placement_spec_write(clv_json_out *out, const char *key, const clv_placement_spec *spec);

#endif
