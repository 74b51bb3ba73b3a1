/* test_box.c - boxes against brute force: the runs of random boxes in random views are the elements
 * that index arithmetic gives, copies of elements of any width are right, and boxes that fill a
 * tensor are reported from those that do not.
 */
#include "weights/box.h"

#include <criterion/criterion.h>

#include "weights/box_cover.h"
#include "base/packed.h"
#include "weights/weight_stream.h"

#define ELEMS_MAX 4096

static uint64_t seed = 1;

static int64_t below(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

typedef struct {
    int64_t view[6], offset[6], size[6];
    clv_box box;
    int64_t elems; /* of the tensor */
} random_box;

static void make_view(random_box *r)
{
    r->box = (clv_box){ (int32_t)below(6), r->view, r->offset, r->size };
    r->elems = 1;
    for (int32_t d = 0; d < r->box.rank; d++) {
        r->view[d] = 1 + below(5);
        r->elems *= r->view[d];
    }
}

static void make_box(random_box *r)
{
    for (int32_t d = 0; d < r->box.rank; d++) {
        bool full = below(3) == 0;
        r->offset[d] = full ? 0 : below(r->view[d]);
        r->size[d] = full ? r->view[d] : 1 + below(r->view[d] - r->offset[d]);
    }
}

/* Is element e of the tensor in the box? By taking its index apart. */
static bool is_in(const clv_box *b, int64_t e)
{
    for (int32_t d = b->rank - 1; d >= 0; e /= b->view[d], d--) {
        int64_t at = e % b->view[d];
        if (at < b->offset[d] || at >= b->offset[d] + b->size[d])
            return false;
    }
    return true;
}

Test(box, runs_are_the_elements_of_the_box)
{
    for (int k = 0; k < 5000; k++) {
        random_box r;
        clv_runs runs;
        int64_t e = 0;
        make_view(&r);
        make_box(&r);
        cr_assert_eq(clv_box_check(&r.box, r.elems, "w", NULL), CLV_OK);
        for (clv_runs_start(&r.box, &runs); runs.n > 0; clv_runs_next(&runs)) {
            for (; e < runs.first; e++)
                cr_assert_not(is_in(&r.box, e), "element %d is left out", (int)e);
            for (; e < runs.first + runs.n; e++)
                cr_assert(is_in(&r.box, e), "element %d is one too many", (int)e);
            cr_assert(e == r.elems || !is_in(&r.box, e), "a run ends early at %d", (int)e);
        }
        for (; e < r.elems; e++)
            cr_assert_not(is_in(&r.box, e), "element %d is left out", (int)e);
    }
}

Test(box, equal_and_common_are_as_counted_also_across_views)
{
    int equal = 0;
    for (int k = 0; k < 20000; k++) {
        random_box a, b;
        int64_t common = 0, in_a = 0, in_b = 0;
        make_view(&a);
        do
            make_view(&b);
        while (b.elems != a.elems);
        make_box(&a);
        make_box(&b);
        for (int64_t e = 0; e < a.elems; e++) {
            bool x = is_in(&a.box, e), y = is_in(&b.box, e);
            common += x && y;
            in_a += x;
            in_b += y;
        }
        bool same = common == in_a && common == in_b;
        equal += same;
        cr_assert_eq(clv_box_common(&a.box, &b.box), common);
        cr_assert_eq(clv_box_equal(&a.box, &b.box), same);
        cr_assert_eq(clv_box_elems(&a.box), in_a);
    }
    cr_assert_gt(equal, 20, "no two boxes were equal: nothing was tested");
}

static uint64_t element(const uint8_t *bytes, int64_t i, int bits)
{
    uint64_t value = 0;
    for (int64_t b = i * bits; b < (i + 1) * bits; b++)
        value |= (uint64_t)(bytes[b / 8] >> (b % 8) & 1) << (b - i * bits);
    return value;
}

Test(box, elements_of_any_width_are_copied_and_no_others)
{
    static const int widths[] = { 2, 4, 8, 16, 32 };
    for (int k = 0; k < 5000; k++) {
        uint8_t source[256], to[256], before[256];
        int bits = widths[below(5)];
        int64_t all = 256 * 8 / bits, at = below(all), from = below(all);
        int64_t n = below(all - (at > from ? at : from) + 1);
        for (int i = 0; i < 256; i++) {
            source[i] = (uint8_t)below(256);
            before[i] = to[i] = (uint8_t)below(256);
        }
        clv_copy_elems(to, at, source, from, n, bits);
        for (int64_t i = 0; i < all; i++) {
            bool copied = i >= at && i < at + n;
            cr_assert_eq(element(to, i, bits),
                         copied ? element(source, from + i - at, bits) : element(before, i, bits));
        }
    }
}

/* -- a weight through the stream, in blocks -- */

typedef struct {
    uint8_t *whole;
    uint8_t *parts[8];
    int64_t got[8];
    int bits;
} world;

static clv_status read_whole(void *ctx, int32_t weight, int64_t first, int64_t n, uint8_t *to,
                             clv_error *err)
{
    world *w = ctx;
    (void)weight, (void)err;
    memcpy(to, w->whole + first * w->bits / 8, (size_t)((n * w->bits + 7) / 8));
    return CLV_OK;
}

static clv_status write_part(void *ctx, int32_t id, const uint8_t *bytes, size_t n, int64_t at,
                             clv_error *err)
{
    world *w = ctx;
    (void)err;
    cr_assert_eq(at, w->got[id], "bytes come in order");
    memcpy(w->parts[id] + at, bytes, n);
    w->got[id] += (int64_t)n;
    return CLV_OK;
}

/* Dims of a weight of more than one block, whose inner dimension is odd. */
static void check_stream(clv_dtype dtype, int64_t rows, int64_t columns)
{
    int64_t view[3] = { rows, columns, 3 }, elems = rows * columns * 3;
    clv_arena *arena = clv_arena_new(NULL, 0);
    world w = { .bits = clv_dtype_bits(dtype) };
    size_t bytes = (size_t)(elems * w.bits + 7) / 8;
    int64_t offset[8][3], size[8][3];
    clv_box box[8];
    const clv_box *boxes[8];
    clv_stream *s;
    clv_weight weight = { .dtype = dtype, .rank = 3, .dims = view, .elems = elems };

    w.whole = clv_arena_take(arena, bytes);
    for (size_t i = 0; i < bytes; i++)
        w.whole[i] = (uint8_t)below(256);
    for (int32_t k = 0; k < 8; k++) {
        for (int d = 0; d < 3; d++) {
            offset[k][d] = below(4) ? below(view[d]) : 0;
            size[k][d] = below(4) ? 1 + below(view[d] - offset[k][d]) : view[d] - offset[k][d];
        }
        box[k] = (clv_box){ 3, view, offset[k], size[k] };
        boxes[k] = &box[k];
        w.parts[k] = clv_arena_take(arena, bytes);
    }
    cr_assert_eq(clv_stream_new(8, 64 << 10, arena, &s, NULL), CLV_OK);
    clv_weight_source source = { .read = read_whole, .ctx = &w };
    clv_box_sink sink = { write_part, &w };
    clv_weight_cut cut = { 0, &weight, boxes, 8 };
    cr_assert_eq(clv_stream_weight(s, &cut, &source, &sink, NULL), CLV_OK);
    for (int32_t k = 0; k < 8; k++) {
        int64_t i = 0;
        for (int64_t e = 0; e < elems; e++)
            if (is_in(&box[k], e)) {
                cr_assert_eq(element(w.parts[k], i, w.bits), element(w.whole, e, w.bits),
                             "%s: box %d, element %d", clv_dtype_name(dtype), k, (int)i);
                i++;
            }
        cr_assert_eq(w.got[k], (i * w.bits + 7) / 8);
        if (i * w.bits % 8)
            cr_assert_eq(w.parts[k][w.got[k] - 1] >> i * w.bits % 8, 0, "padding is not zero");
    }
    clv_arena_free(arena);
}

Test(box, a_stream_cuts_a_weight_of_many_blocks)
{
    check_stream(CLV_DT_FLOAT, 101, 997);
    check_stream(CLV_DT_FLOAT16, 3, 60000);
    check_stream(CLV_DT_DOUBLE, 997, 41);
    check_stream(CLV_DT_UINT4, 1001, 511);
    check_stream(CLV_DT_INT4, 3, 500001);
    check_stream(CLV_DT_UINT2, 500, 1111);
    check_stream(CLV_DT_BOOL, 777, 777);
}

/* covers: D.025 D.026 */
Test(box, cover_finds_every_gap_and_overlap)
{
    int good = 0, bad = 0;
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (int k = 0; k < 4000; k++) {
        random_box r;
        clv_box boxes[16];
        const clv_box *list[16];
        int64_t at[16][2][6];
        int32_t n = 1;
        clv_error err;
        make_view(&r);
        for (int32_t d = 0; d < r.box.rank; d++) {
            at[0][0][d] = 0;
            at[0][1][d] = r.view[d];
        }
        /* Cut boxes in two at random places: they cover. */
        for (int cut = 0; cut < 12 && r.box.rank > 0; cut++) {
            int32_t i = (int32_t)below(n), d = (int32_t)below(r.box.rank);
            int64_t first = below(at[i][1][d] + 1);
            memcpy(at[n], at[i], sizeof at[n]);
            at[n][0][d] += first;
            at[n][1][d] -= first;
            at[i][1][d] = first;
            n++;
        }
        /* Half of them spoilt: a box is moved, made larger or smaller. */
        bool spoilt = k % 2 && r.box.rank > 0;
        if (spoilt) {
            int32_t i = (int32_t)below(n), d = (int32_t)below(r.box.rank);
            at[i][0][d] = below(r.view[d]);
            at[i][1][d] = below(r.view[d] - at[i][0][d] + 1);
        }
        int times[ELEMS_MAX] = { 0 };
        bool covers = true;
        for (int32_t i = 0; i < n; i++) {
            boxes[i] = (clv_box){ r.box.rank, r.view, at[i][0], at[i][1] };
            list[i] = &boxes[i];
            for (int64_t e = 0; e < r.elems; e++)
                times[e] += is_in(&boxes[i], e);
        }
        for (int64_t e = 0; e < r.elems; e++)
            covers = covers && times[e] == 1;
        clv_status status = clv_boxes_cover(list, n, r.elems, "weight 'w'", arena, &err);
        cr_assert_eq(status, covers ? CLV_OK : CLV_EFORMAT);
        /* The same boxes with a view that has one more dim of 1 in front: by runs. */
        int64_t view[7] = { 1 }, zero[7] = { 0 }, one[7] = { 1 };
        memcpy(view + 1, r.view, sizeof r.view);
        memcpy(zero + 1, at[0][0], sizeof at[0][0]);
        memcpy(one + 1, at[0][1], sizeof at[0][1]);
        clv_box other = { r.box.rank + 1, view, zero, one };
        list[0] = &other;
        cr_assert_eq(clv_boxes_cover(list, n, r.elems, "weight 'w'", arena, n > 1 ? &err : NULL),
                     covers ? CLV_OK : CLV_EFORMAT);
        good += covers;
        bad += !covers;
    }
    cr_assert(good > 1000 && bad > 500);
    clv_arena_free(arena);
}

/* A tensor of 2^62 elements, cut into 1024 columns of its last dimension: corners, not elements. */
Test(box, cover_does_not_count_elements)
{
    enum { N = 1024 };
    static int64_t offset[N][3], size[N][3];
    static clv_box boxes[N];
    static const clv_box *list[N];
    int64_t view[3] = { (int64_t)1 << 31, (int64_t)1 << 20, N * 2 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_error err;
    for (int i = 0; i < N; i++) {
        offset[i][2] = 2 * i;
        size[i][0] = view[0];
        size[i][1] = view[1];
        size[i][2] = 2;
        boxes[i] = (clv_box){ 3, view, offset[i], size[i] };
        list[i] = &boxes[i];
    }
    cr_assert_eq(clv_boxes_cover(list, N, (int64_t)1 << 62, "weight 'w'", arena, &err), CLV_OK);
    size[77][2] = 1;
    cr_assert_eq(clv_boxes_cover(list, N, (int64_t)1 << 62, "weight 'w'", arena, &err),
                 CLV_EFORMAT);
    cr_assert_str_eq(err.message,
                     "weight 'w': element [0, 0, 155] is in no shard, expected exactly one");
    clv_arena_free(arena);
}

Test(box, copies_are_found)
{
    int64_t view[2] = { 4, 6 }, flat[1] = { 24 };
    int64_t o0[2] = { 0, 0 }, s0[2] = { 2, 6 }, o1[2] = { 2, 0 }, f0[1] = { 0 }, g0[1] = { 12 };
    clv_box top = { 2, view, o0, s0 }, bottom = { 2, view, o1, s0 }, same = { 1, flat, f0, g0 };
    const clv_box *list[] = { &bottom, &top, &bottom, &same, &top };
    int32_t group_of[5], n = 0;
    clv_arena *arena = clv_arena_new(NULL, 0);
    cr_assert_eq(clv_boxes_group(list, 5, arena, group_of, &n, NULL), CLV_OK);
    cr_assert_eq(n, 2);
    cr_assert(group_of[0] == 0 && group_of[1] == 1 && group_of[2] == 0 && group_of[3] == 1 &&
              group_of[4] == 1);
    clv_arena_free(arena);
}

Test(box, a_box_that_is_none_is_refused_with_a_reason)
{
    int64_t view[2] = { 4, 6 }, offset[2] = { 3, 0 }, size[2] = { 2, 6 };
    clv_box box = { 2, view, offset, size };
    clv_error err;
    cr_assert_eq(clv_box_check(&box, 24, "weight 'w', shard 1", &err), CLV_EFORMAT);
    cr_assert_str_eq(err.message, "weight 'w', shard 1: 2 elements from 3 on do not lie in "
                                  "dimension 0, which has 4");
    size[0] = 1;
    cr_assert_eq(clv_box_check(&box, 23, "weight 'w', shard 1", &err), CLV_EFORMAT);
    cr_assert_eq(clv_box_check(&box, 24, "weight 'w', shard 1", &err), CLV_OK);
    offset[1] = INT64_MAX;
    cr_assert_eq(clv_box_check(&box, 24, "weight 'w', shard 1", &err), CLV_EFORMAT);
    offset[1] = -1;
    cr_assert_eq(clv_box_check(&box, 24, "weight 'w', shard 1", &err), CLV_EFORMAT);
}
