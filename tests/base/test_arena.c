#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* An allocator that counts live blocks and bytes, and refuses from the fail_at-th call on. */
typedef struct {
    long calls, fail_at, live;
    size_t bytes;
} counter;

static void *count_resize(void *ctx, void *p, size_t size)
{
    counter *c = ctx;
    size_t *head = p ? (size_t *)p - 2 : NULL; /* two, to stay aligned */
    if (size == 0) {
        if (head) {
            c->live--;
            c->bytes -= head[0];
        }
        free(head);
        return NULL;
    }
    cr_assert_null(p, "the arena resizes nothing in place");
    if (c->fail_at && ++c->calls >= c->fail_at)
        return NULL;
    head = malloc(size + 2 * sizeof *head);
    head[0] = size;
    c->live++;
    c->bytes += size;
    return head + 2;
}

Test(arena, what_is_taken_is_zeroed_and_apart)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    char *a = clv_arena_take(arena, 100), *b = clv_arena_take(arena, 100);
    for (int i = 0; i < 100; i++)
        cr_assert(a[i] == 0 && b[i] == 0);
    memset(a, 1, 100);
    for (int i = 0; i < 100; i++)
        cr_assert_eq(b[i], 0);
    clv_arena_free(arena);
}

Test(arena, memory_is_zeroed_again_after_a_rewind)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_mark mark = clv_arena_mark(arena);
    for (int round = 0; round < 3; round++) {
        char *a = clv_arena_take(arena, 5000);
        for (int i = 0; i < 5000; i++)
            cr_assert_eq(a[i], 0);
        memset(a, 0xff, 5000);
        clv_arena_rewind(arena, mark);
        mark = clv_arena_mark(arena);
    }
    clv_arena_free(arena);
}

Test(arena, everything_is_aligned_for_any_type)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (size_t size = 0; size < 200; size++)
        cr_assert_eq((uintptr_t)clv_arena_take(arena, size) % _Alignof(max_align_t), 0);
    clv_arena_free(arena);
}

Test(arena, nothing_is_still_something_and_twice_nothing_is_two_things)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    void *a = clv_arena_take(arena, 0), *b = clv_arena_take(arena, 0);
    cr_assert(a && b && a != b);
    clv_arena_free(arena);
    clv_arena_free(NULL);
}

Test(arena, sizes_that_overflow_are_refused)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    cr_assert_null(clv_arena_take(arena, SIZE_MAX));
    cr_assert_null(clv_arena_take(arena, SIZE_MAX - 8));
    cr_assert_null(clv_arena_take(arena, SIZE_MAX / 2 + 1));
    cr_assert_null(clv_arena_take_array(arena, SIZE_MAX / 4, 8));
    cr_assert_null(clv_arena_take_array(arena, ((size_t)1 << 32) + 1, (size_t)1 << 32));
    cr_assert_null(clv_arena_grow(arena, NULL, 0, SIZE_MAX / 4, 8));
    cr_assert_not_null(clv_arena_take(arena, 16), "and the arena goes on");
    clv_arena_free(arena);
}

Test(arena, a_block_larger_than_the_largest_gets_room_of_its_own)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    size_t n = (size_t)10 << 20;
    char *big = clv_arena_take(arena, n);
    char *small = clv_arena_take(arena, 16);
    memset(big, 1, n);
    cr_assert_eq(small[0], 0);
    cr_assert_geq(clv_arena_bytes(arena), n);
    clv_arena_free(arena);
}

Test(arena, growing_the_last_thing_stays_in_place_and_others_move)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    int32_t *a = clv_arena_take_array(arena, 4, sizeof *a);
    for (int i = 0; i < 4; i++)
        a[i] = i + 1;
    int32_t *same = clv_arena_grow(arena, a, 4, 100, sizeof *a);
    cr_assert_eq(same, a);
    clv_arena_take(arena, 1);
    int32_t *moved = clv_arena_grow(arena, a, 100, 200, sizeof *a);
    cr_assert_neq(moved, a);
    for (int i = 0; i < 200; i++)
        cr_assert_eq(moved[i], i < 4 ? i + 1 : 0);
    clv_arena_free(arena);
}

Test(arena, what_grows_in_place_is_zero_even_where_there_was_something)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    char *a = clv_arena_take(arena, 3);
    clv_mark mark = clv_arena_mark(arena);
    memset(clv_arena_take(arena, 500), 7, 500);
    clv_arena_rewind(arena, mark);
    a = clv_arena_grow(arena, a, 3, 300, 1);
    for (int i = 0; i < 300; i++)
        cr_assert_eq(a[i], 0);
    clv_arena_free(arena);
}

Test(arena, push_room_doubles_and_keeps_what_is_there)
{
    struct {
        int64_t *at;
        int32_t n, cap;
    } list = { NULL, 0, 0 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (int64_t i = 0; i < 10000; i++) {
        cr_assert(CLV_PUSH_ROOM(arena, list.at, list.n, list.cap));
        list.at[list.n++] = i;
        if (i % 100 == 0)
            clv_arena_take(arena, 1); /* so that it must move */
    }
    for (int64_t i = 0; i < 10000; i++)
        cr_assert_eq(list.at[i], i);
    cr_assert_eq(list.cap, 16384); /* 8 * 2^11 */
    clv_arena_free(arena);
}

Test(arena, push_room_refuses_more_than_an_int32_of_elements)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    char *at = NULL;
    int32_t cap = INT32_MAX / 2 + 1;
    cr_assert_not(clv_arena_push_room(arena, (void **)&at, (size_t)cap, &cap, 1));
    cr_assert_eq(cap, INT32_MAX / 2 + 1);
    clv_arena_free(arena);
}

Test(arena, printf_makes_text_of_any_length)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    cr_assert_str_eq(clv_arena_printf(arena, "%s%d", "gpu", 3), "gpu3");
    char *s = clv_arena_printf(arena, "%100000d", 1);
    cr_assert_eq(strlen(s), 100000);
    cr_assert_str_eq(clv_arena_printf(arena, "%s", ""), "");
    clv_arena_free(arena);
}

Test(arena, str_copies_and_ends_with_a_nul)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_str none = { NULL, 0 }, part = { "abcd", 2 };
    cr_expect_str_eq(clv_arena_str(arena, part), "ab");
    cr_expect_str_eq(clv_arena_str(arena, none), "");
    clv_arena_free(arena);
    arena = clv_arena_new(NULL, 1);
    cr_expect_null(clv_arena_str(arena, part));
    clv_arena_free(arena);
}

Test(arena, room_is_apart_and_what_follows_it_is_zeroed)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_mark mark = clv_arena_mark(arena);
    memset(CLV_NEW_ROOM(arena, int32_t, 1000), 0xff, 1000 * sizeof(int32_t));
    clv_arena_rewind(arena, mark);
    int32_t *room = CLV_NEW_ROOM(arena, int32_t, 10), *after = CLV_NEW_ARRAY(arena, int32_t, 900);
    memset(room, 0xff, 10 * sizeof *room);
    for (int32_t i = 0; i < 900; i++)
        cr_assert_eq(after[i], 0);
    cr_expect_null(clv_arena_take_room(arena, SIZE_MAX / 4, 8));
    clv_arena_free(arena);
}

Test(arena, a_rewind_gives_back_exactly_what_came_after_the_mark)
{
    counter c = { 0 };
    clv_alloc alloc = { count_resize, &c };
    clv_arena *arena = clv_arena_new(&alloc, 0);
    char *kept = clv_arena_take(arena, 10);
    kept[0] = 'k';
    clv_mark outer = clv_arena_mark(arena);
    size_t bytes = clv_arena_bytes(arena);
    clv_arena_take(arena, 100000);
    clv_mark inner = clv_arena_mark(arena);
    clv_arena_take(arena, 1000000);
    clv_arena_rewind(arena, inner);
    clv_arena_rewind(arena, outer);
    cr_assert_eq(clv_arena_bytes(arena), bytes);
    cr_assert_geq(clv_arena_peak(arena), 1100000);
    cr_assert_eq(kept[0], 'k');
    cr_assert_eq((char *)clv_arena_take(arena, 10), kept + 16, "right behind what was kept");
    clv_arena_free(arena);
    cr_assert_eq(c.live, 0);
}

Test(arena, bytes_are_those_of_the_allocator_and_all_go_back)
{
    counter c = { 0 };
    clv_alloc alloc = { count_resize, &c };
    clv_arena *arena = clv_arena_new(&alloc, 0);
    for (size_t i = 0; i < 1000; i++) {
        clv_arena_take(arena, i * 37 % 50000);
        cr_assert_eq(clv_arena_bytes(arena), c.bytes);
    }
    cr_assert_eq(clv_arena_alloc(arena)->ctx, &c);
    clv_arena_free(arena);
    cr_assert(c.live == 0 && c.bytes == 0);
}

Test(arena, a_limit_holds_to_the_byte)
{
    for (size_t limit = 1; limit < 40000; limit += 97) {
        counter c = { 0 };
        clv_alloc alloc = { count_resize, &c };
        clv_arena *arena = clv_arena_new(&alloc, limit);
        while (clv_arena_take(arena, 48)) {
            cr_assert_leq(clv_arena_bytes(arena), limit);
            cr_assert_eq(clv_arena_bytes(arena), c.bytes);
        }
        clv_arena_free(arena);
        cr_assert_eq(c.live, 0);
    }
}

Test(arena, the_last_bytes_below_a_limit_can_be_had)
{
    clv_arena *arena = clv_arena_new(NULL, 20000);
    size_t got = 0;
    while (clv_arena_take(arena, 1000))
        got += 1000;
    cr_assert_geq(got, 18000);
    clv_arena_free(arena);
}

Test(arena, what_another_one_holds_is_taken_over)
{
    counter c = { 0 };
    clv_alloc alloc = { count_resize, &c };
    clv_arena *arena = clv_arena_new(&alloc, 0), *other = clv_arena_new(&alloc, 0);
    char *own = clv_arena_take(arena, 100);
    clv_mark mark = clv_arena_mark(arena);
    char *taken = memset(clv_arena_take(other, 100000), 7, 100000);
    clv_arena_adopt(arena, other);
    cr_assert_eq(clv_arena_bytes(arena), c.bytes);
    memset(clv_arena_take(arena, 100000), 9, 100000);
    clv_arena_rewind(arena, mark);
    memset(own, 1, 100);
    cr_assert(taken[0] == 7 && taken[99999] == 7, "no mark leads to it");
    cr_assert_eq(clv_arena_bytes(arena), c.bytes);
    clv_arena_adopt(arena, clv_arena_new(&alloc, 0));
    clv_arena_free(arena);
    cr_assert_eq(c.live, 0);
}

Test(arena, a_failing_allocator_is_survived_at_every_call)
{
    for (long fail_at = 1; fail_at < 12; fail_at++) {
        counter c = { .fail_at = fail_at };
        clv_alloc alloc = { count_resize, &c };
        clv_arena *arena = clv_arena_new(&alloc, 0);
        cr_assert_eq(arena == NULL, fail_at == 1);
        for (int i = 0; arena && i < 100; i++) {
            char *p = clv_arena_take(arena, 8000);
            if (p)
                p[7999] = 1;
        }
        clv_arena_free(arena);
        cr_assert_eq(c.live, 0);
    }
}
