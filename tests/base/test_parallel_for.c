/* test_parallel_for.c - threads that run one function each, and loops over them. */
#include "base/parallel_for.h"

#include <criterion/criterion.h>
#include <stdatomic.h>

#define MANY 100

typedef struct {
    atomic_int times[MANY];
} tally;

static void count(void *ctx, int32_t i)
{
    tally *t = ctx;
    atomic_fetch_add(&t->times[i], 1);
}

static void expect_once(const tally *t, int32_t n)
{
    for (int32_t i = 0; i < MANY; i++)
        cr_expect_eq(atomic_load(&t->times[i]), i < n, "%d of %d", i, n);
}

Test(parallel_for, each_thread_runs_once)
{
    static const int32_t sizes[] = { 0, 1, 2, 7 };
    for (int32_t s = 0; s < 4; s++) {
        tally t = { { 0 } };
        clv_parallel_threads(sizes[s], count, &t);
        expect_once(&t, sizes[s]);
    }
}

Test(parallel_for, each_iteration_runs_once_on_any_number_of_threads)
{
    static const int32_t threads[] = { 1, 2, 7, 200 };
    for (int32_t s = 0; s < 4; s++) {
        tally t = { { 0 } };
        clv_parallel_for(MANY, threads[s], count, &t);
        expect_once(&t, MANY);
    }
    tally none = { { 0 } };
    clv_parallel_for(0, 4, count, &none);
    expect_once(&none, 0);
}
