/* bytes.h - memory traffic of one operator. */
#ifndef CLV_COST_BYTES_H
#define CLV_COST_BYTES_H

#include "cost/sizing.h"

typedef struct {
    int64_t read, write;
} clv_traffic;

/* All kinds but bodies, which op_cost.c adds up. An operator without a line in ops.def reads all
 * and writes all. O(inputs + outputs). */
clv_traffic clv_bytes(clv_sizing *s);

#endif
