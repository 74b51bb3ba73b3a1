#include "solver/placement/latency/csr.h"

bool clv_csr_group(int32_t n, const clv_csr_items *items, clv_arena *arena, clv_csr *ret)
{
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, n + 1);
    int32_t *at = CLV_NEW_ARRAY(arena, int32_t, items->n);
    if (!first || !at)
        return false;
    for (int32_t i = 0; i < items->n; i++)
        first[items->group_of[i] + 1]++;
    for (int32_t i = 0; i < n; i++)
        first[i + 1] += first[i];
    for (int32_t i = 0; i < items->n; i++) {
        int32_t item = items->order ? items->order[i] : i;
        at[first[items->group_of[item]]++] = item;
    }
    for (int32_t i = n; i > 0; i--)
        first[i] = first[i - 1];
    first[0] = 0;
    *ret = (clv_csr){ first, at };
    return true;
}

clv_status clv_csr_from_pairs(int32_t n, clv_csr_pairs pairs, clv_arena *arena, clv_csr *ret,
                              clv_error *err)
{
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, n + 1);
    int32_t *at = CLV_NEW_ARRAY(arena, int32_t, pairs.n);
    int32_t *seen = CLV_NEW_ARRAY(arena, int32_t, n);
    if (!first || !at || !seen)
        return clv_fail_nomem(err, "a graph");
    for (int32_t i = 0; i < pairs.n; i++)
        first[pairs.from[i] + 1]++;
    for (int32_t i = 0; i < n; i++)
        first[i + 1] += first[i];
    for (int32_t i = 0; i < pairs.n; i++)
        at[first[pairs.from[i]]++] = pairs.to[i];
    for (int32_t i = n; i > 0; i--)
        first[i] = first[i - 1];
    first[0] = 0;
    for (int32_t i = 0, kept = 0, end = 0; i < n; i++) {
        int32_t j = end;
        end = first[i + 1];
        for (; j < end; j++)
            if (at[j] != i && seen[at[j]] != i + 1) {
                seen[at[j]] = i + 1;
                at[kept++] = at[j];
            }
        first[i + 1] = kept;
    }
    *ret = (clv_csr){ first, at };
    return CLV_OK;
}
