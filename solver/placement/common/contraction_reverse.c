#include "solver/placement/common/contraction_reverse.h"

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "blocks in reverse"); }

/* One list for each block: list[first[u]] to list[first[u + 1] - 1]. */
typedef struct {
    const int32_t *first, *list;
} lists;

/* Lists of each block: those of the mirrored one, back to front; what they hold is mirrored too if
 * it is blocks. */
static clv_status mirror_lists(int32_t n, bool blocks, lists from, clv_arena *arena, lists *ret,
                               clv_error *err)
{
    const int32_t *first = from.first, *list = from.list;
    int32_t fill = 0, *to_first = CLV_NEW_ARRAY(arena, int32_t, n + 1),
            *to = CLV_NEW_ARRAY(arena, int32_t, first[n]);
    if (!to_first || !to)
        return nomem(err);
    for (int32_t u = 0; u < n; u++) {
        int32_t v = n - 1 - u;
        for (int32_t i = first[v + 1] - 1; blocks && i >= first[v]; i--)
            to[fill++] = n - 1 - list[i];
        for (int32_t i = first[v]; !blocks && i < first[v + 1]; i++)
            to[fill++] = list[i];
        to_first[u + 1] = fill;
    }
    *ret = (lists){ to_first, to };
    return CLV_OK;
}

static clv_status mirror_numbers(const clv_contraction *b, clv_arena *arena, clv_contraction *ret,
                                 clv_error *err)
{
    int32_t n = b->n, *block_of = CLV_NEW_ARRAY(arena, int32_t, b->p->n_nodes),
            *pins = CLV_NEW_ARRAY(arena, int32_t, b->net_first[b->n_nets]);
    int64_t *time = CLV_NEW_ARRAY(arena, int64_t, (size_t)n * (size_t)b->n_kinds),
            *bytes = CLV_NEW_ARRAY(arena, int64_t, n);
    if (!block_of || !pins || !time || !bytes)
        return nomem(err);
    for (int32_t v = 0; v < b->p->n_nodes; v++)
        block_of[v] = n - 1 - b->block_of[v];
    for (int32_t u = 0; u < n; u++) {
        bytes[u] = b->bytes[n - 1 - u];
        for (int32_t k = 0; k < b->n_kinds; k++)
            time[(size_t)k * (size_t)n + (size_t)u] = clv_block_time(b, k, n - 1 - u);
    }
    for (int32_t e = 0; e < b->n_nets; e++) {
        int32_t first = b->net_first[e], last = b->net_first[e + 1] - 1;
        for (int32_t i = first; i <= last; i++)
            pins[i] = n - 1 - b->pins[first + last - i];
    }
    ret->block_of = block_of;
    ret->pins = pins;
    ret->time = time;
    ret->bytes = bytes;
    return CLV_OK;
}

clv_status clv_contraction_reverse(const clv_contraction *b, clv_arena *arena, clv_contraction *ret,
                                   clv_error *err)
{
    clv_contraction r = *b;
    CLV_TRY(mirror_numbers(b, arena, &r, err));
    lists at = { 0 }, before = { 0 }, after = { 0 };
    CLV_TRY(mirror_lists(b->n, false, (lists){ b->at_first, b->at }, arena, &at, err));
    CLV_TRY(mirror_lists(b->n, true, (lists){ b->after_first, b->after }, arena, &before, err));
    CLV_TRY(mirror_lists(b->n, true, (lists){ b->before_first, b->before }, arena, &after, err));
    r.at_first = at.first, r.at = at.list;
    r.before_first = before.first, r.before = before.list;
    r.after_first = after.first, r.after = after.list;
    *ret = r;
    return CLV_OK;
}
