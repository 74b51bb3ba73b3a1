/* weight_stream.h - one weight, read once from front to back, into any number of boxes of it. */
#ifndef CLV_WEIGHTS_WEIGHT_STREAM_H
#define CLV_WEIGHTS_WEIGHT_STREAM_H

#include "weights/file_set.h"
#include "weights/weight_layout.h"

#define CLV_STREAM_BLOCK ((size_t)256 << 10) /* bytes that a source is asked for at most */

/* Where the elements of weights come from. Called for ascending elements of one weight, and weight
 * after weight; first is a multiple of 8, so that it is whole bytes of any type. */
typedef struct clv_weight_source {
    clv_status (*read)(void *ctx, int32_t weight, int64_t first, int64_t n, uint8_t *to,
                       clv_error *err);
    /* All that was to be read of the weight has been read. May be NULL. */
    clv_status (*end)(void *ctx, int32_t weight, clv_error *err);
    /* Another one of the same weights, for another thread; it lives as long as this one. NULL:
     * there is only one. */
    clv_status (*fork)(void *ctx, struct clv_weight_source *ret, clv_error *err);
    void *ctx;
} clv_weight_source;

/* Boxes of one weight, each of which has passed the check. */
typedef struct {
    int32_t weight; /* its number in the source */
    const clv_weight *w;
    const clv_box *const *boxes; /* n */
    int32_t n;
} clv_weight_cut;

/* Where the bytes of boxes go, in order for each box: n more of boxes[i], whose bytes before are
 * `at` many. */
typedef struct {
    clv_status (*write)(void *ctx, int32_t i, const uint8_t *bytes, size_t n, int64_t at,
                        clv_error *err);
    void *ctx;
} clv_box_sink;

typedef struct clv_stream clv_stream;

/* Buffers for at most n_boxes boxes at a time, memory bytes in all (more where that would give a
 * box less than a page), and one block. In the arena. */
clv_status clv_stream_new(int32_t n_boxes, size_t memory, clv_arena *arena, clv_stream **ret,
                          clv_error *err);
/* Bytes that such buffers take. */
size_t clv_stream_memory(int32_t n_boxes, size_t memory);
/* Asked for every block; not 0: CLV_ECANCELED. */
void clv_stream_set_stop(clv_stream *s, int (*stop)(void *ctx), void *ctx);

/* Blocks that no box has anything of are not read. CLV_ECANCELED; else as source and sink say.
 * O(bytes of the weight + bytes of the boxes + runs). */
clv_status clv_stream_weight(clv_stream *s, const clv_weight_cut *cut,
                             const clv_weight_source *source, const clv_box_sink *sink,
                             clv_error *err);

#endif
