/* Branches dealt out to stages, against all ways to deal them out. */
#include "cost/shard_branches.h"

#include <criterion/criterion.h>

#include "base/compare.h"
#include "support/effort.h"

#define N_MAX      6
#define OTHERS_MAX 3

static uint32_t seed = 1;

static int32_t below(int32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int32_t)((seed >> 8) % (uint32_t)n);
}

/* The stage of the tensor is 0; on the others nothing begins before it is there. What stage 0 does
 * is sent; at is in the order in which it does it, what takes longest to be sent first. */
static int64_t longest(const clv_shard_branch *at, const int32_t *stage_of, int32_t n,
                       int64_t sent_ns)
{
    int64_t busy[1 + OTHERS_MAX] = { 0 }, most = 0;
    for (int32_t i = 0; i < n; i++) {
        int64_t *b = &busy[stage_of[i]];
        *b += at[i].ns + (stage_of[i] > 0 && *b == 0 ? sent_ns : 0);
        int64_t done = *b + (stage_of[i] == 0 ? at[i].behind_ns : 0);
        most = done > most ? done : most;
    }
    return most;
}

static int64_t best(const clv_shard_branch *at, int32_t n, int64_t sent_ns, int32_t others)
{
    int32_t stage_of[N_MAX] = { 0 }, i = 0;
    int64_t least = INT64_MAX;
    while (i < n) { /* counts through all */
        int64_t all = longest(at, stage_of, n, sent_ns);
        least = all < least ? all : least;
        for (i = 0; i < n && ++stage_of[i] > others; i++)
            stage_of[i] = 0;
    }
    return least;
}

static int compare_down(const void *a, const void *b)
{
    const clv_shard_branch *x = a, *y = b;
    return clv_compare_int64_down(&x->ns, &y->ns);
}

static int compare_behind_down(const void *a, const void *b)
{
    const clv_shard_branch *x = a, *y = b;
    return clv_compare_int64_down(&x->behind_ns, &y->behind_ns);
}

Test(shard_branches, no_way_to_deal_them_out_takes_less)
{
    for (uint64_t round = 0; round < test_effort(1000); round++) {
        int32_t n = 1 + below(N_MAX), others = 1 + below(OTHERS_MAX);
        int64_t sent_ns = below(3) ? below(150) : 0;
        clv_shard_branch at[N_MAX];
        bool equal = below(2);
        for (int32_t i = 0; i < n; i++)
            at[i] = equal && i > 0 ? at[0]
                                   : (clv_shard_branch){ 1 + below(100), below(2) ? below(90) : 0 };
        qsort(at, (size_t)n, sizeof *at, compare_down);
        const clv_shard_branches b = { .sent_ns = &sent_ns, .at = at, .n = n, .n_choices = 1 };
        int64_t bound = clv_shard_branches_ns(&b, 0, others);
        qsort(at, (size_t)n, sizeof *at, compare_behind_down);
        int64_t is = best(at, n, sent_ns, others);
        cr_assert_leq(bound, is, "round %d", (int)round);
        cr_assert(!equal || bound == is, "equal ones are dealt out exactly, round %d: %lld of %lld",
                  (int)round, (long long)bound, (long long)is);
    }
}

Test(shard_branches, none_takes_no_time)
{
    int64_t sent_ns = 10;
    const clv_shard_branches b = { .sent_ns = &sent_ns };
    cr_expect_eq(clv_shard_branches_ns(&b, 0, 3), 0);
}
