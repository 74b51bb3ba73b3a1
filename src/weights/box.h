/* box.h - a part of a tensor as a box of it, and where that lies in the whole tensor's bytes.
 *
 * A tensor is seen as `view` dims, its own or finer ones where a dimension was taken apart, which
 * have the same elements in the same row-major order. The elements of a box, in its own row-major
 * order, are then in ascending order in the whole tensor: a box is a list of runs, and whoever goes
 * through the tensor from front to back goes through every box from front to back too. All copying
 * rests on that.
 */
#ifndef CLV_WEIGHTS_BOX_H
#define CLV_WEIGHTS_BOX_H

#include "sharding/parts.h"

typedef struct {
    int32_t rank; /* of the view, at most CLV_SPLIT_RANK_MAX */
    const int64_t *view;
    const int64_t *offset, *size; /* of the box, along each dim of the view */
} clv_box;

/* The whole tensor, in arrays of the arena; dims is used as it is. CLV_ENOMEM. */
clv_status clv_box_whole(int32_t rank, const int64_t *dims, clv_arena *arena, clv_box *ret,
                         clv_error *err);
/* A copy in the arena. */
clv_status clv_box_copy(const clv_box *box, clv_arena *arena, clv_box *ret, clv_error *err);

/* Does the box lie in its view, and has the view elems elements? what names it in the sentence:
 * "weight 'w', shard 3". CLV_EFORMAT. O(rank). */
clv_status clv_box_check(const clv_box *box, int64_t elems, const char *what, clv_error *err);

/* Here and below the box has passed the check. */
int64_t clv_box_elems(const clv_box *box);
/* The same elements of the tensor, though the views may differ. O(rank) where they are the same,
 * else O(runs). Empty boxes are equal. */
bool clv_box_equal(const clv_box *a, const clv_box *b);
/* How many elements two boxes of one tensor share. O(rank) where the views are the same, else
 * O(runs of both). */
int64_t clv_box_common(const clv_box *a, const clv_box *b);

/* The runs of a box in ascending order: elements [first, first + n) of the whole tensor; neighbours
 * are never left apart. */
typedef struct {
    int64_t first, n; /* n 0: past the last */
    int64_t skipped;  /* elements left out of the present run */
    int32_t rank;     /* loops around a run, inner ones first */
    int64_t at[CLV_SPLIT_RANK_MAX], size[CLV_SPLIT_RANK_MAX], stride[CLV_SPLIT_RANK_MAX];
} clv_runs;

void clv_runs_start(const clv_box *box, clv_runs *ret); /* at the first run; O(rank) */
void clv_runs_next(clv_runs *runs);                     /* O(1) amortised */
/* Leaves out the first n elements of the present run, which has more. */
void clv_runs_skip(clv_runs *runs, int64_t n);

#endif
