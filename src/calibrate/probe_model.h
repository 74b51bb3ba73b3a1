/* probe_model.h - probes as model files: equal nodes side by side, and one that gives the output.
 */
#ifndef CLV_CALIBRATE_PROBE_MODEL_H
#define CLV_CALIBRATE_PROBE_MODEL_H

#include "calibrate/probe_list.h"

#define CLV_PROBE_END "end" /* the output of each model */

/* Writes its model to a file; the input is called "x". */
clv_status clv_probe_write(const clv_probe *probe, const char *path, clv_arena *arena,
                           clv_error *err);
/* What the cost model says of one of its nodes. file: as written. */
typedef struct {
    int32_t speed;                /* graph/ops.h; -1: none */
    double matrix, vector, bytes; /* FLOPs, FLOPs, bytes */
} clv_probe_work;
clv_status clv_probe_work_of(const char *path, clv_arena *arena, clv_probe_work *ret,
                             clv_error *err);

/* Writes the model of one of n devices that add up a tensor of so many FLOAT over and over: as many
 * all-reduces, one behind the other, named "sum0", "sum1", ...; it gives what the last one makes.
 */
clv_status clv_probe_write_sums(const char *path, int64_t elements, int32_t sums, clv_arena *arena,
                                clv_error *err);

#endif
