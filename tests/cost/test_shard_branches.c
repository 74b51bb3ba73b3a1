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

/* The stage of the tensor is 0; on the others nothing begins before it is there. */
static int64_t longest(const int64_t *ns, const int32_t *stage_of, int32_t n, int64_t sent_ns)
{
    int64_t busy[1 + OTHERS_MAX] = { 0 }, most = 0;
    for (int32_t i = 0; i < n; i++) {
        int64_t *b = &busy[stage_of[i]];
        *b += ns[i] + (stage_of[i] > 0 && *b == 0 ? sent_ns : 0);
        most = *b > most ? *b : most;
    }
    return most;
}

static int64_t best(const int64_t *ns, int32_t n, int64_t sent_ns, int32_t others)
{
    int32_t stage_of[N_MAX] = { 0 }, i = 0;
    int64_t least = INT64_MAX;
    while (i < n) { /* counts through all */
        int64_t all = longest(ns, stage_of, n, sent_ns);
        least = all < least ? all : least;
        for (i = 0; i < n && ++stage_of[i] > others; i++)
            stage_of[i] = 0;
    }
    return least;
}

Test(shard_branches, no_way_to_deal_them_out_takes_less)
{
    for (uint64_t round = 0; round < test_effort(400); round++) {
        int32_t n = 1 + below(N_MAX), others = 1 + below(OTHERS_MAX);
        int64_t ns[N_MAX], sent_ns = below(3) ? below(150) : 0;
        bool equal = below(2);
        for (int32_t i = 0; i < n; i++)
            ns[i] = equal && i > 0 ? ns[0] : 1 + below(100);
        qsort(ns, (size_t)n, sizeof *ns, clv_compare_int64_down);
        const clv_shard_branches b = { .sent_ns = &sent_ns, .ns = ns, .n = n, .n_choices = 1 };
        int64_t bound = clv_shard_branches_ns(&b, 0, others), is = best(ns, n, sent_ns, others);
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
