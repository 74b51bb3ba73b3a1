#include "weights/box_cover.h"

#include <stdio.h>
#include <stdlib.h>

/* How many times an element is in the boxes is a function on the grid that is 0 far away. Its mixed
 * difference, along every dim once, is +1 and -1 at the 2^d corners of each box and 0 elsewhere,
 * and it determines the function: summing it up again gives it back. So the boxes fill the tensor,
 * each element once, if and only if their corners, with signs, cancel to those of the whole. And
 * the lowest point in row-major order at which they do not is the first element that is in none or
 * in two, for below it the two functions are the same.
 */

__extension__ typedef unsigned __int128 corner_key; /* row-major over dims one larger each */

typedef struct {
    corner_key key;
    int32_t sign;
} corner;

/* Above it runs are merged instead. */
#define CORNERS_MAX ((int64_t)1 << 20)

typedef struct {
    const clv_box *const *boxes;
    int32_t n, n_active;
    int64_t elems;
    const char *what;
    int32_t active[CLV_SPLIT_RANK_MAX]; /* dims in which some box is not full */
} covering;

static int by_key(const void *a, const void *b)
{
    const corner *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* The element in words: "[3, 0, 5]" of the view. */
static const char *element_text(char *buf, size_t size, const covering *c, corner_key key)
{
    const clv_box *b = c->boxes[0];
    int64_t at[CLV_SPLIT_RANK_MAX] = { 0 };
    size_t n = 0;
    for (int32_t k = c->n_active - 1; k >= 0; k--) {
        corner_key radix = (corner_key)b->view[c->active[k]] + 1;
        at[c->active[k]] = (int64_t)(key % radix);
        key /= radix;
    }
    buf[0] = '\0';
    n = clv_add_words(buf, size, n, "[");
    for (int32_t d = 0; d < b->rank; d++)
        n = clv_add_words(buf, size, n, d ? ", %lld" : "%lld", (long long)at[d]);
    (void)clv_add_words(buf, size, n, "]");
    return buf;
}

static clv_status fail_cover(const covering *c, const char *element, bool twice, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT, "%s: element %s is in %s shard, expected exactly one",
                    c->what, element, twice ? "more than one" : "no");
}

static void put_corners(const covering *c, const clv_box *b, const int64_t *offset,
                        const int64_t *size, int32_t sign, corner *ret)
{
    for (uint32_t mask = 0; mask < 1u << c->n_active; mask++) {
        corner_key key = 0;
        int32_t s = sign;
        for (int32_t k = 0; k < c->n_active; k++) {
            int32_t d = c->active[k];
            bool far = mask >> k & 1;
            int64_t at = offset ? offset[d] : 0;
            corner_key radix = (corner_key)b->view[d] + 1, digit;
            digit = (corner_key)(far ? at + size[d] : at);
            key = key * radix + digit;
            s = far ? -s : s;
        }
        ret[mask] = (corner){ key, s };
    }
}

static clv_status check_corners(const covering *c, corner *at, int64_t n, clv_error *err)
{
    char element[200];
    qsort(at, (size_t)n, sizeof *at, by_key);
    for (int64_t i = 0; i < n;) {
        int64_t sum = 0, first = i;
        for (; i < n && at[i].key == at[first].key; i++)
            sum += at[i].sign;
        if (sum != 0)
            return fail_cover(c, element_text(element, sizeof element, c, at[first].key), sum > 0,
                              err);
    }
    return CLV_OK;
}

static clv_status cover_by_corners(const covering *c, clv_arena *arena, clv_error *err)
{
    int64_t each = (int64_t)1 << c->n_active, n = 0;
    corner *at = CLV_NEW_ARRAY(arena, corner, (c->n + 1) * each);
    if (!at)
        return clv_fail_nomem(err, "a check of shards");
    for (int32_t i = 0; i < c->n; i++)
        if (clv_box_elems(c->boxes[i]) > 0) {
            put_corners(c, c->boxes[i], c->boxes[i]->offset, c->boxes[i]->size, 1, at + n);
            n += each;
        }
    put_corners(c, c->boxes[0], NULL, c->boxes[0]->view, -1, at + n);
    return check_corners(c, at, n + each, err);
}

/* -- by runs -- */

/* A heap by the first element of each box's present run. */
static void sift_down(clv_runs **heap, int32_t n, int32_t i)
{
    for (;;) {
        int32_t least = i;
        for (int32_t k = 2 * i + 1; k <= 2 * i + 2 && k < n; k++)
            if (heap[k]->first < heap[least]->first)
                least = k;
        if (least == i)
            return;
        clv_runs *t = heap[i];
        heap[i] = heap[least];
        heap[least] = t;
        i = least;
    }
}

static clv_status walk_runs(const covering *c, clv_runs **heap, int32_t n, clv_error *err)
{
    char element[32];
    int64_t at = 0;
    for (int32_t i = n / 2 - 1; i >= 0; i--)
        sift_down(heap, n, i);
    while (n > 0) {
        if (heap[0]->first != at) {
            bool twice = heap[0]->first < at;
            snprintf(element, sizeof element, "%lld", (long long)(twice ? heap[0]->first : at));
            return fail_cover(c, element, twice, err);
        }
        at += heap[0]->n;
        clv_runs_next(heap[0]);
        if (heap[0]->n == 0)
            heap[0] = heap[--n];
        sift_down(heap, n, 0);
    }
    snprintf(element, sizeof element, "%lld", (long long)at);
    return at == c->elems ? CLV_OK : fail_cover(c, element, false, err);
}

static clv_status cover_by_runs(const covering *c, clv_arena *arena, clv_error *err)
{
    clv_runs *runs = CLV_NEW_ARRAY(arena, clv_runs, c->n);
    clv_runs **heap = CLV_NEW_ARRAY(arena, clv_runs *, c->n);
    int32_t n = 0;
    if (!runs || !heap)
        return clv_fail_nomem(err, "a check of shards");
    for (int32_t i = 0; i < c->n; i++) {
        clv_runs_start(c->boxes[i], &runs[i]);
        if (runs[i].n > 0)
            heap[n++] = &runs[i];
    }
    return walk_runs(c, heap, n, err);
}

/* -- both -- */

/* Fills in active; false where the views differ. */
static bool find_active(covering *c)
{
    const clv_box *one = c->boxes[0];
    bool split[CLV_SPLIT_RANK_MAX] = { false };
    for (int32_t i = 0; i < c->n; i++) {
        const clv_box *b = c->boxes[i];
        if (b->rank != one->rank)
            return false;
        for (int32_t d = 0; d < b->rank; d++) {
            if (b->view[d] != one->view[d])
                return false;
            split[d] = split[d] || b->size[d] != b->view[d];
        }
    }
    for (int32_t d = 0; d < one->rank; d++)
        if (split[d])
            c->active[c->n_active++] = d;
    return true;
}

clv_status clv_boxes_cover(const clv_box *const *boxes, int32_t n, int64_t elems, const char *what,
                           clv_arena *arena, clv_error *err)
{
    covering c = { .boxes = boxes, .n = n, .elems = elems, .what = what };
    clv_mark mark = clv_arena_mark(arena);
    if (elems == 0)
        return CLV_OK;
    if (n == 0)
        return fail_cover(&c, "0", false, err);
    bool corners =
        find_active(&c) && c.n_active < 31 && ((int64_t)n + 1) << c.n_active <= CORNERS_MAX;
    clv_status status = corners ? cover_by_corners(&c, arena, err) : cover_by_runs(&c, arena, err);
    clv_arena_rewind(arena, mark);
    return status;
}

/* -- copies -- */

typedef struct {
    int64_t first, elems;
    int32_t i;
} start;

static int by_start(const void *a, const void *b)
{
    const start *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->elems != y->elems)
        return x->elems < y->elems ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

/* same_as[i]: the first box that i is a copy of. */
static void find_copies(const clv_box *const *boxes, const start *at, int32_t n, int32_t *same_as)
{
    for (int32_t k = 0, from = 0; k < n; k++) {
        int32_t i = at[k].i;
        if (at[k].first != at[from].first || at[k].elems != at[from].elems)
            from = k;
        same_as[i] = i;
        for (int32_t j = from; j < k && same_as[i] == i; j++)
            if (same_as[at[j].i] == at[j].i && clv_box_equal(boxes[i], boxes[at[j].i]))
                same_as[i] = at[j].i;
    }
}

clv_status clv_boxes_group(const clv_box *const *boxes, int32_t n, clv_arena *arena,
                           int32_t *group_of, int32_t *ret_groups, clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    start *at = CLV_NEW_ARRAY(arena, start, n);
    int32_t *same_as = CLV_NEW_ARRAY(arena, int32_t, n);
    int32_t groups = 0;
    clv_runs runs;
    if (!at || !same_as) {
        clv_arena_rewind(arena, mark);
        return clv_fail_nomem(err, "the copies of shards");
    }
    for (int32_t i = 0; i < n; i++) {
        clv_runs_start(boxes[i], &runs);
        at[i] = (start){ runs.n ? runs.first : -1, clv_box_elems(boxes[i]), i };
    }
    qsort(at, (size_t)n, sizeof *at, by_start);
    find_copies(boxes, at, n, same_as);
    for (int32_t i = 0; i < n; i++)
        group_of[i] = same_as[i] == i ? groups++ : group_of[same_as[i]];
    *ret_groups = groups;
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
