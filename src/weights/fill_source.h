/* fill_source.h - weights that are all one value, to make shards without reading any. */
#ifndef CLV_WEIGHTS_FILL_SOURCE_H
#define CLV_WEIGHTS_FILL_SOURCE_H

#include "weights/weight_stream.h"

typedef enum { CLV_FILL_NOT, CLV_FILL_ZEROS, CLV_FILL_ONES } clv_weight_fill;

typedef struct {
    const clv_weight_list *weights;
    clv_weight_fill with; /* zeros or ones */
} clv_fill_source;

/* source must outlive it. Cannot fail. */
clv_weight_source clv_fill_source_of(clv_fill_source *source);

/* One element of 1 as packed bytes, repeated where it is less than a byte; its bytes, at most 16.
 */
int32_t clv_encode_one(clv_dtype dtype, uint8_t ret[static 16]);

#endif
