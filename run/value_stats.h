/* value_stats.h - what can be said of a value in a line: so that two runs are compared at a glance.
 */
#ifndef CLV_RUN_VALUE_STATS_H
#define CLV_RUN_VALUE_STATS_H

#include "run/tensor.h"

typedef struct {
    bool is_tensor; /* nothing below holds for sequences and maps */
    clr_shape shape;
    int64_t bytes;
    uint64_t checksum; /* FNV-1a of the elements' bytes; of strings, with a NUL behind each */
    bool has_numbers;  /* min, max and mean hold: of what is finite, if anything is */
    double min, max, mean;
    int64_t finite, nan, inf;
} clr_value_stats;

/* O(bytes). */
clv_status clr_value_stats_compute(const clr_ort *ort, const OrtValue *value, clr_value_stats *ret,
                                   clv_error *err);

#endif
