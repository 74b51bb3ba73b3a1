/* window.h - the sliding window of convolutions and poolings: its attributes, and how long the
 * output of each spatial axis is. Used by shapes_conv.c and shapes_pool.c.
 */
#ifndef CLV_GRAPH_WINDOW_H
#define CLV_GRAPH_WINDOW_H

#include "graph/rule.h"

typedef struct {
    int32_t n;                    /* spatial axes; CLV_RANK_UNKNOWN where nothing says it */
    clv_dim kernel[CLV_RANK_MAX]; /* open where not known */
    int64_t stride[CLV_RANK_MAX], dilation[CLV_RANK_MAX];
    int64_t pad[CLV_RANK_MAX]; /* begin and end together */
    int64_t pad_begin[CLV_RANK_MAX];
    bool same, ceil; /* auto_pad SAME_UPPER or SAME_LOWER; ceil_mode */
} clv_window;

/* Reads kernel_shape, strides, dilations, pads, auto_pad, ceil_mode for inputs of n spatial axes.
 * weight is the type whose dims from first_kernel on are the kernel where there is no kernel_shape;
 * NULL: none. Fails on lists of the wrong length, strides below 1, kernels below 1. */
clv_status clv_window_read(clv_rule *r, int32_t n, const clv_type *weight, int32_t first_kernel,
                           clv_window *ret, clv_error *err);
/* Length of the output along spatial axis i for an input of length `in`, which may be open. */
clv_status clv_window_slide(clv_rule *r, const clv_window *w, int32_t i, clv_dim in, clv_dim *ret,
                            clv_error *err);
/* The other way: what a transposed window makes of `in`, `extra` longer. */
clv_dim clv_window_spread(const clv_window *w, int32_t i, clv_dim in, int64_t extra);

#endif
