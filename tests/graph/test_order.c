#include "graph/order.h"

#include <criterion/criterion.h>
#include <string.h>

/*        in
 *       /  \
 *     left right      file order is: out, right, left, in
 *       \  /
 *        out
 */
static const int32_t starts[] = { 0, 2, 3, 4, 4 };
static const int32_t waits_for[] = { 1, 2, 3, 3 };
static const clv_order_in diamond = { 4, starts, waits_for };

Test(order, puts_every_operator_after_what_it_reads)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    int32_t *order = NULL, cycle = 0;
    cr_assert_eq(clv_order(&diamond, arena, &order, &cycle, NULL), CLV_OK);
    int32_t want[] = { 3, 1, 2, 0 }; /* in, right, left, out: ties by file order */
    cr_assert_arr_eq(order, want, sizeof want);
    cr_assert_eq(cycle, -1);
    clv_arena_free(arena);
}

Test(order, leaves_a_file_in_order_as_it_is)
{
    /* 2 reads 0, 1 reads nothing: a heap would give the same, the fast path must too */
    const int32_t start[] = { 0, 0, 0, 1 }, from[] = { 0 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    int32_t *order = NULL, cycle = 0, want[] = { 0, 1, 2 };
    cr_assert_eq(clv_order(&(clv_order_in){ 3, start, from }, arena, &order, &cycle, NULL), CLV_OK);
    cr_assert_arr_eq(order, want, sizeof want);
    clv_arena_free(arena);
}

Test(order, takes_a_graph_without_operators)
{
    const int32_t start[] = { 0 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    int32_t *order = NULL, cycle = 0;
    cr_assert_eq(clv_order(&(clv_order_in){ 0, start, NULL }, arena, &order, &cycle, NULL), CLV_OK);
    cr_assert_not_null(order);
    clv_arena_free(arena);
}

Test(order, names_an_operator_on_the_cycle_and_not_one_behind_it)
{
    /* 0 waits for 1; 1 for 2; 2 for 1 */
    const int32_t start[] = { 0, 1, 2, 3 }, from[] = { 1, 2, 1 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    int32_t *order = NULL, cycle = -1;
    cr_assert_eq(clv_order(&(clv_order_in){ 3, start, from }, arena, &order, &cycle, NULL), CLV_OK);
    cr_assert(cycle == 1 || cycle == 2, "said %d", cycle);
    cr_assert_null(order, "no order where there is a cycle");
    clv_arena_free(arena);
}

/* Operator i waits for i + 1: the reverse of file order, the worst case of the heap. */
Test(order, sorts_a_hundred_thousand_that_stand_backwards)
{
    enum { N = 100000 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    int32_t *start = CLV_NEW_ARRAY(arena, int32_t, N + 1), *from = CLV_NEW_ARRAY(arena, int32_t, N);
    for (int32_t i = 0; i < N; i++) {
        start[i + 1] = i < N - 1 ? i + 1 : i;
        from[i] = i + 1;
    }
    int32_t *order = NULL, cycle;
    cr_assert_eq(clv_order(&(clv_order_in){ N, start, from }, arena, &order, &cycle, NULL), CLV_OK);
    for (int32_t k = 0; k < N; k++)
        cr_assert_eq(order[k], N - 1 - k);
    clv_arena_free(arena);
}

Test(order, survives_running_out_of_memory_anywhere)
{
    clv_status s = CLV_ENOMEM;
    for (size_t limit = 1; s != CLV_OK; limit += 8) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        int32_t *order = NULL, cycle;
        s = clv_order(&diamond, arena, &order, &cycle, NULL);
        cr_assert(s == CLV_OK || (s == CLV_ENOMEM && order == NULL));
        clv_arena_free(arena);
    }
}
