/* test_chunk_list.c - arrays that grow in chunks and are joined; and the arena's large pieces
 * below. */
#include "base/chunk_list.h"

#include <criterion/criterion.h>
#include <string.h>

#include "support/failing_alloc.h"

static void fill(int32_t *at, int32_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i] = first + (int32_t)i;
}

Test(chunk_list, runs_are_joined_in_their_order)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_chunk_list list;
    clv_chunk_list_init(&list, arena, sizeof(int32_t));
    int32_t n = 0;
    for (size_t run = 0; run < 3000; run++) { /* 3 MB: several chunks, with rests at their ends */
        int32_t *at = clv_chunk_list_add(&list, run % 500);
        cr_assert_not_null(at);
        fill(at, n, run % 500);
        n += (int32_t)(run % 500);
        cr_assert_eq(list.n, (size_t)n);
        if (run % 500)
            cr_assert_eq(*(int32_t *)clv_chunk_list_last(&list), n - 1);
    }
    int32_t *all = clv_chunk_list_join(&list, 10);
    cr_assert_not_null(all);
    for (int32_t i = 0; i < n; i++)
        cr_assert_eq(all[i], i);
    fill(all + n, 0, 10); /* sanitizers see that there is room */
    cr_expect_eq(list.n, 0);
    cr_expect_not_null(clv_chunk_list_add(&list, 1), "it can begin again");
    clv_arena_free(arena);
}

Test(chunk_list, an_empty_list_joins)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_chunk_list list;
    clv_chunk_list_init(&list, arena, 8);
    cr_expect_not_null(clv_chunk_list_add(&list, 0));
    cr_expect_not_null(clv_chunk_list_join(&list, 0));
    cr_expect_null(clv_chunk_list_add(&list, SIZE_MAX / 2));
    cr_expect_null(clv_chunk_list_join(&list, SIZE_MAX / 2));
    clv_arena_free(arena);
}

/* What joining is for: not much more than the elements themselves. */
Test(chunk_list, joining_holds_one_copy_and_a_chunk)
{
    enum { RUN = 1 << 10, RUNS = 10 << 10 }; /* 80 MiB of int64_t */
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_chunk_list list;
    size_t bytes = (size_t)RUN * RUNS * 8;
    clv_chunk_list_init(&list, arena, 8);
    for (int i = 0; i < RUNS; i++)
        cr_assert_not_null(clv_chunk_list_add(&list, RUN));
    cr_expect_lt(clv_arena_bytes(arena), bytes + bytes / 4);
    cr_assert_not_null(clv_chunk_list_join(&list, 0));
    cr_expect_lt(clv_arena_bytes(arena), bytes + bytes / 16);
    clv_arena_free(arena);
}

Test(chunk_list, failing_allocations_leave_nothing)
{
    bool done = false;
    for (long calls = 1; !done; calls++) {
        failing f = { .fail_at = calls };
        clv_alloc alloc = failing_alloc(&f);
        clv_arena *arena = clv_arena_new(&alloc, 0);
        clv_chunk_list list;
        done = arena != NULL;
        if (arena)
            clv_chunk_list_init(&list, arena, 8);
        for (int i = 0; i < 100 && done; i++)
            done = clv_chunk_list_add(&list, 100) != NULL;
        done = done && clv_chunk_list_join(&list, 1) != NULL;
        clv_arena_free(arena);
        cr_assert_eq(f.live, 0);
        cr_assert(calls < 100);
    }
}

Test(chunk_list, large_pieces_are_given_back_in_any_order)
{
    failing f = { 0 };
    clv_alloc alloc = failing_alloc(&f);
    clv_arena *arena = clv_arena_new(&alloc, 0);
    char *small = clv_arena_take(arena, 100);
    memset(small, 1, 100);
    char *a = clv_arena_take_large(arena, 10000), *b = clv_arena_take_large(arena, 20000),
         *other = clv_arena_take(arena, 100), *c = clv_arena_take_large(arena, 30000);
    memset(a, 2, 10000);
    memset(b, 3, 20000);
    memset(c, 4, 30000);
    size_t before = clv_arena_bytes(arena);
    clv_arena_drop_large(arena, b);
    cr_expect(clv_arena_bytes(arena) <= before - 20000);
    clv_arena_drop_large(arena, a);
    clv_arena_drop_large(arena, c);
    cr_expect(small[99] == 1 && other[0] == 0);
    cr_expect_not_null(clv_arena_take(arena, 5000));
    clv_arena_free(arena);
    cr_expect_eq(f.live, 0);
}

Test(chunk_list, a_limit_holds_for_large_pieces)
{
    clv_arena *arena = clv_arena_new(NULL, 10000);
    cr_expect_null(clv_arena_take_large(arena, 10000));
    cr_expect_null(clv_arena_take_large(arena, SIZE_MAX));
    char *p = clv_arena_take_large(arena, 9000);
    cr_expect_not_null(p);
    clv_arena_drop_large(arena, p);
    cr_expect_not_null(clv_arena_take_large(arena, 9000));
    clv_arena_free(arena);
}
