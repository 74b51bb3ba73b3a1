/* kernel_shape.h - what a kernel computes, by its sizes: what measured times of devices depend on.
 *
 * Sizes are those on one device. Only the members of its kind mean something.
 */
#ifndef CLV_CLUSTER_KERNEL_SHAPE_H
#define CLV_CLUSTER_KERNEL_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/dtype.h"

typedef enum {
    CLV_SHAPE_NONE,    /* bound by what it moves, or of no kind that is measured */
    CLV_SHAPE_PRODUCT, /* batch times [m,k] x [k,n]; a convolution is one of its unfolded images */
    CLV_SHAPE_ATTENTION, /* batch, heads: softmax of [queries,width] x [width,keys], x [keys,width]
                          */
    CLV_SHAPE_EXPERTS /* top_k of experts for each token: [tokens,hidden] to intermediate and back
                       */
} clv_shape_kind;

typedef struct {
    clv_shape_kind kind;
    clv_dtype weights; /* product: as the second operand is stored; attention: as keys are */
    int64_t batch;     /* of products and attention */
    union {
        struct { /* a product; m: places of a convolution's results, n: their channels */
            int64_t m, n, k;
            int64_t taps; /* elements of the convolution's kernel, k has them; 0: a product */
        };
        struct { /* attention */
            int64_t heads, kv_heads, queries, keys, width;
            bool causal; /* a query sees keys up to its own place: the last query sees all */
        };
        struct { /* experts; tokens and experts of all parts */
            int64_t tokens, hidden, intermediate, experts, top_k;
            int64_t
                parts;   /* devices that share the experts out, each with all columns of its own */
            double skew; /* the power law by which tokens fall on experts; 0: evenly */
            bool gated;  /* three matrices an expert, else two */
            bool back;   /* of experts written out, of one of their products: from intermediate to
                            hidden */
        };
    };
} clv_kernel_shape;

/* The share of scores that are looked at: of a causal mask about a half where there are as many
 * queries as keys, all for one query. */
static inline double clv_shape_seen(const clv_kernel_shape *w)
{
    if (w->kind != CLV_SHAPE_ATTENTION || !w->causal || w->keys < w->queries || w->keys == 0)
        return 1;
    return 1 - (double)(w->queries - 1) / (2 * (double)w->keys);
}

#endif
