/* calibration_json.h - a calibration as the JSON of a cluster whose device stands in place. */
#ifndef CLV_CALIBRATE_CALIBRATION_JSON_H
#define CLV_CALIBRATE_CALIBRATION_JSON_H

#include "calibrate/calibrate.h"

/* As docs/formats/cluster.md has it, ending in a newline; each number has its source. *ret_n bytes,
 * in the
 * arena. CLV_EFORMAT: the numbers make no device that could be read back. */
clv_status clv_calibration_json(const clv_calibration *c, clv_arena *arena, const char **ret,
                                size_t *ret_n, clv_error *err);

#endif
