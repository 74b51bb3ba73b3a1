/* test_stoppable_sink.c - a sink that asks whether to go on. */
#include "proto/stoppable_sink.h"

#include <criterion/criterion.h>

#define MIB ((uint64_t)1 << 20)

typedef struct {
    int asked, stop_at;
    uint64_t copied, largest;
} counts;

static int ask(void *ctx)
{
    counts *c = ctx;
    return ++c->asked == c->stop_at;
}

static clv_status copy(void *ctx, const clv_onnx_file *file, uint64_t offset, uint64_t n,
                       clv_error *err)
{
    counts *c = ctx;
    (void)file, (void)err;
    cr_expect_eq(offset, 5 + c->copied, "one part behind the other");
    c->copied += n;
    c->largest = n > c->largest ? n : c->largest;
    return CLV_OK;
}

static clv_status take(void *ctx, const void *bytes, size_t n, clv_error *err)
{
    (void)ctx, (void)bytes, (void)n, (void)err;
    return CLV_OK;
}

Test(stoppable, a_long_copy_is_done_in_parts_and_each_is_asked_for)
{
    counts c = { 0 };
    clv_stoppable s = { { take, copy, &c }, ask, &c, "weights were" };
    clv_sink sink = clv_stoppable_sink(&s);
    cr_assert_eq(sink.from_file(sink.ctx, NULL, 5, 130 * MIB, NULL), CLV_OK);
    cr_expect_eq(c.asked, 3);
    cr_expect_eq(c.copied, 130 * MIB);
    cr_expect_eq(c.largest, 64 * MIB);
    cr_assert_eq(sink.write(sink.ctx, "x", 1, NULL), CLV_OK);
    cr_expect_eq(c.asked, 3);
}

Test(stoppable, no_part_is_copied_once_it_says_stop)
{
    counts c = { .stop_at = 2 };
    clv_error err;
    clv_stoppable s = { { take, copy, &c }, ask, &c, "weights were" };
    clv_sink sink = clv_stoppable_sink(&s);
    cr_expect_eq(sink.from_file(sink.ctx, NULL, 5, 130 * MIB, &err), CLV_ECANCELED);
    cr_expect_str_eq(err.message, "stopped while weights were written");
    cr_expect_eq(c.copied, 64 * MIB);
    s.stop = NULL;
    cr_expect_eq(clv_stoppable_ask(&s, &err), CLV_OK);
}
