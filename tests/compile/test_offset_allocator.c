#include "compile/offset_allocator.h"

#include <criterion/criterion.h>

#include "compile/toy.h"

#define LIVE_MAX 2000

typedef struct {
    int32_t block;
    int64_t offset, size;
} piece;

static bool overlap(const piece *a, const piece *b)
{
    return a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

Test(offset_allocator, follow_each_other_from_zero)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_offset_allocator a;
    clv_offset_allocator_init(&a, arena);

    int32_t x = clv_offset_alloc(&a, 1), y = clv_offset_alloc(&a, 257);

    cr_assert_eq(a.at[x].offset, 0);
    cr_assert_eq(a.at[y].offset, 256, "the first byte took a whole unit");
    cr_assert_eq(a.peak, 256 + 512);
    clv_arena_free(arena);
}

Test(offset_allocator, are_used_again_after_they_are_given_back)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_offset_allocator a;
    clv_offset_allocator_init(&a, arena);
    int32_t x = clv_offset_alloc(&a, 1024), y = clv_offset_alloc(&a, 1024);

    clv_offset_free(&a, x);
    int32_t small = clv_offset_alloc(&a, 256);
    int32_t rest = clv_offset_alloc(&a, 768);

    cr_assert_eq(a.at[small].offset, 0);
    cr_assert_eq(a.at[rest].offset, 256, "what was left of the hole is a hole");
    cr_assert_eq(a.at[y].offset, 1024);
    cr_assert_eq(a.peak, 2048);
    clv_arena_free(arena);
}

Test(offset_allocator, of_neighbours_join_when_both_are_free)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_offset_allocator a;
    clv_offset_allocator_init(&a, arena);
    int32_t at[4];
    for (int k = 0; k < 4; k++)
        at[k] = clv_offset_alloc(&a, 256);

    clv_offset_free(&a, at[0]);
    clv_offset_free(&a, at[2]);
    clv_offset_free(&a, at[1]); /* between two holes: one hole of 768 */
    int32_t big = clv_offset_alloc(&a, 768);

    cr_assert_eq(a.at[big].offset, 0);
    cr_assert_eq(a.peak, 1024);
    clv_arena_free(arena);
}

Test(offset_allocator, end_where_nothing_lives_any_more)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_offset_allocator a;
    clv_offset_allocator_init(&a, arena);
    int32_t x = clv_offset_alloc(&a, 1000), y = clv_offset_alloc(&a, 2000);

    clv_offset_free(&a, x);
    clv_offset_free(&a, y);

    cr_assert_eq(a.top, 0);
    cr_assert_eq(a.peak, 1024 + 2048, "the peak is remembered");
    cr_assert_eq(a.at[clv_offset_alloc(&a, 5000)].offset, 0);
    clv_arena_free(arena);
}

Test(offset_allocator, go_up_to_sizes_that_no_machine_has)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_offset_allocator a;
    clv_offset_allocator_init(&a, arena);
    int64_t huge = INT64_MAX / 4;

    int32_t x = clv_offset_alloc(&a, huge), y = clv_offset_alloc(&a, 256);
    clv_offset_free(&a, x);
    int32_t z = clv_offset_alloc(&a, huge);

    cr_assert_eq(a.at[z].offset, 0);
    cr_assert_eq(a.at[y].offset, clv_align_bytes(huge));
    clv_arena_free(arena);
}

/* Against a list of what is alive, kept by the test: nothing overlaps, all lies below the peak. */
Test(offset_allocator, never_overlap_whatever_is_taken_and_given)
{
    static piece live[LIVE_MAX];
    for (uint32_t seed = 1; seed <= 20; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_offset_allocator a;
        clv_offset_allocator_init(&a, arena);
        uint32_t random = seed * 7919;
        int32_t n = 0;
        for (int step = 0; step < 4000; step++) {
            if (n > 0 && (n == 200 || toy_random(&random, 5) < 2)) {
                int32_t k = (int32_t)toy_random(&random, (uint32_t)n);
                clv_offset_free(&a, live[k].block);
                live[k] = live[--n];
                continue;
            }
            int64_t size = 1 + (int64_t)toy_random(&random, 1u << toy_random(&random, 24));
            piece p = { clv_offset_alloc(&a, size), 0, size };
            cr_assert_geq(p.block, 0);
            p.offset = a.at[p.block].offset;
            cr_assert_eq(p.offset % CLV_MEMORY_ALIGN, 0);
            cr_assert(p.offset + size <= a.peak);
            for (int32_t k = 0; k < n; k++)
                cr_assert_not(overlap(&p, &live[k]), "seed %u step %d", seed, step);
            live[n++] = p;
        }
        for (; n > 0; n--)
            clv_offset_free(&a, live[n - 1].block);
        cr_assert_eq(a.top, 0, "all holes joined");
        clv_arena_free(arena);
    }
}

/* A million live blocks and a hole between each two: taking stays as fast as with one. A scan over
 * live blocks would need 10^12 steps here. */
Test(offset_allocator, cost_the_same_with_a_million_alive, .timeout = 60)
{
    enum { N = 1000000 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    int32_t *at = CLV_NEW_ARRAY(arena, int32_t, N);
    clv_offset_allocator a;
    clv_offset_allocator_init(&a, arena);

    for (int32_t k = 0; k < N; k++)
        cr_assert_geq(at[k] = clv_offset_alloc(&a, 256 * (1 + k % 37)), 0);
    int64_t peak = a.peak;
    for (int32_t k = 0; k < N; k += 2)
        clv_offset_free(&a, at[k]);
    for (int32_t k = 0; k < N; k += 2)
        cr_assert_geq(clv_offset_alloc(&a, 256 * (1 + k % 37)), 0);

    cr_assert_leq(a.peak, peak + peak / 100, "equal sizes find equal holes");
    clv_arena_free(arena);
}

/* More memory each time: a call that fails changes no offset and says so by -1, what was allocated
 * before can still be freed, and soon enough all is allocated. */
Test(offset_allocator, survives_running_out_of_memory_anywhere)
{
    enum { N = 100, TRIES = 400, STEP = 200 };
    int32_t done = 0, most = -1;
    for (int tries = 0; done < N; tries++) {
        cr_assert_lt(tries, TRIES, "%d bytes are not enough for %d blocks", TRIES * STEP, N);
        clv_arena *arena = clv_arena_new(NULL, 100 + (size_t)tries * STEP);
        clv_offset_allocator a;
        int32_t at[N];
        clv_offset_allocator_init(&a, arena);
        for (done = 0; done < N && (at[done] = clv_offset_alloc(&a, 256)) >= 0; done++)
            continue;
        cr_assert(done == N || at[done] == -1);
        cr_assert_geq(done, most, "more memory is never worse");
        most = done;
        cr_assert_eq(a.top, 256 * done);
        cr_assert_eq(a.peak, 256 * done);
        for (int32_t k = 0; k < done; k++)
            cr_assert_eq(a.at[at[k]].offset, 256 * k);
        for (int32_t k = 0; k < done; k++)
            clv_offset_free(&a, at[k]);
        cr_assert_eq(a.top, 0);
        clv_arena_free(arena);
    }
}

/* What is too large for a request and cannot be cut for lack of memory is still free afterwards. */
Test(offset_allocator, loses_no_block_that_it_cannot_split)
{
    bool was_short = false;
    for (size_t limit = 100; limit < 100000; limit += 50) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        clv_offset_allocator a;
        int32_t n = 0, large = -1, last = -1;
        clv_offset_allocator_init(&a, arena);
        large = clv_offset_alloc(&a, 4096);
        last = large < 0 ? -1 : clv_offset_alloc(&a, 256);
        if (last >= 0) {
            clv_offset_free(&a, large);
            while (clv_offset_alloc(&a, 256) >= 0 && a.top == 4096 + 256)
                n++;
            if (n < 4096 / 256 && a.top == 4096 + 256) {
                was_short = true;
                cr_expect_geq(clv_offset_alloc(&a, 4096 - 256 * n), 0, "limit %zu", limit);
            }
        }
        clv_arena_free(arena);
    }
    cr_expect(was_short, "memory never ended between two blocks");
}
