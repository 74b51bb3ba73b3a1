#include "solver/placement/common/idle_groups.h"

#include <assert.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/compare.h"
#include "base/union_find.h"

/* Rows of who comes behind whom are made up to this size: 32 MiB of bits while blocks are made. */
#define REACH_MAX 16384

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "the blocks of a placement"); }

/* Rows of bits: [g] has all that must not come before g. Groups need an order for it. */
typedef struct {
    uint64_t *rows; /* NULL where there are too many groups */
    size_t words;
    int32_t *first;           /* arcs of each group */
    int32_t *rev_first, *rev; /* and those that lead to it */
} reach;

/* Groups in an order of the arcs: every group behind those before it. O(groups + arcs). */
static clv_status order_groups(const clv_block_groups *j, const int32_t *first, int32_t *order,
                               clv_error *err)
{
    int32_t n = 0, *waits = CLV_NEW_ARRAY(j->arena, int32_t, j->n);
    if (!waits)
        return nomem(err);
    for (int32_t i = 0; i < j->n_arcs; i++)
        waits[j->arcs[i].to]++;
    for (int32_t g = 0; g < j->n; g++)
        if (waits[g] == 0)
            order[n++] = g;
    for (int32_t done = 0; done < n; done++)
        for (int32_t i = first[order[done]]; i < first[order[done] + 1]; i++)
            if (--waits[j->arcs[i].to] == 0)
                order[n++] = j->arcs[i].to;
    assert(n == j->n);
    return CLV_OK;
}

static clv_status find_reach(const clv_block_groups *j, reach *r, clv_error *err)
{
    int32_t *order = CLV_NEW_ARRAY(j->arena, int32_t, j->n);
    r->words = ((size_t)j->n + 63) / 64;
    CLV_TRY(clv_block_groups_index_arcs(j, &r->first, err));
    r->rev_first = CLV_NEW_ARRAY(j->arena, int32_t, j->n + 2);
    r->rev = CLV_NEW_ARRAY(j->arena, int32_t, j->n_arcs);
    if (!order || !r->rev_first || !r->rev)
        return nomem(err);
    for (int32_t i = 0; i < j->n_arcs; i++)
        r->rev_first[j->arcs[i].to + 2]++;
    for (int32_t g = 0; g < j->n; g++)
        r->rev_first[g + 2] += r->rev_first[g + 1];
    for (int32_t i = 0; i < j->n_arcs; i++)
        r->rev[r->rev_first[j->arcs[i].to + 1]++] = j->arcs[i].from;
    if (j->n > REACH_MAX)
        return CLV_OK;
    r->rows = clv_arena_take_array(j->arena, (size_t)j->n * r->words, sizeof *r->rows);
    if (!r->rows)
        return nomem(err);
    CLV_TRY(order_groups(j, r->first, order, err));
    for (int32_t i = j->n - 1; i >= 0; i--) {
        int32_t g = order[i];
        uint64_t *row = r->rows + (size_t)g * r->words;
        for (int32_t e = r->first[g]; e < r->first[g + 1]; e++) {
            int32_t h = j->arcs[e].to;
            clv_bit_set(row, h);
            for (size_t w = 0; w < r->words; w++)
                row[w] |= r->rows[(size_t)h * r->words + w];
        }
    }
    return CLV_OK;
}

static bool leads_to(const reach *r, int32_t a, int32_t b)
{
    return r->rows && clv_bit(r->rows + (size_t)a * r->words, b);
}

/* No time wherever it may be, and it may be wherever x may. */
static bool is_idle_beside(const clv_block_groups *j, int32_t g, int32_t x)
{
    if (!j->roomy && j->bytes[g] > 0)
        return false;
    for (int32_t k = 0; k < j->p->n_kinds; k++) {
        int64_t t = j->time[(size_t)k * (size_t)j->p->n_classes + (size_t)g];
        bool x_may = j->time[(size_t)k * (size_t)j->p->n_classes + (size_t)x] != CLV_BLOCK_NEVER;
        if (t > 0 || (t == CLV_BLOCK_NEVER && x_may))
            return false;
    }
    return true;
}

/* g may follow x wherever x goes and nobody pays more: x is in every net of g, and everything that
 * g must not come behind, or before, is so for x as well. */
static bool may_follow(const clv_block_groups *j, const reach *r, int32_t g, int32_t x)
{
    for (int32_t i = r->first[g]; i < r->first[g + 1]; i++)
        if (j->arcs[i].to != x && !leads_to(r, x, j->arcs[i].to))
            return false;
    for (int32_t i = r->rev_first[g]; i < r->rev_first[g + 1]; i++)
        if (r->rev[i] != x && !leads_to(r, r->rev[i], x))
            return false;
    for (int32_t i = j->at_first[g]; i < j->at_first[g + 1]; i++) {
        const int32_t *pins = j->pins + j->net_first[j->at[i]];
        size_t n = (size_t)(j->net_first[j->at[i] + 1] - j->net_first[j->at[i]]);
        if (!bsearch(&x, pins, n, sizeof *pins, clv_compare_int32))
            return false;
    }
    return is_idle_beside(j, g, x);
}

/* Neighbours by arcs, then by the first net; with neither, any group will do. -1: none. */
static int32_t find_host(const clv_block_groups *j, const reach *r, int32_t g)
{
    bool alone = true;
    for (int32_t i = r->first[g]; i < r->first[g + 1]; i++, alone = false)
        if (may_follow(j, r, g, j->arcs[i].to))
            return j->arcs[i].to;
    for (int32_t i = r->rev_first[g]; i < r->rev_first[g + 1]; i++, alone = false)
        if (may_follow(j, r, g, r->rev[i]))
            return r->rev[i];
    for (int32_t i = j->at_first[g]; i < j->at_first[g] + 1 && i < j->at_first[g + 1]; i++) {
        alone = false;
        for (int32_t n = j->net_first[j->at[i]]; n < j->net_first[j->at[i] + 1]; n++)
            if (j->pins[n] != g && may_follow(j, r, g, j->pins[n]))
                return j->pins[n];
    }
    int32_t other = g == 0 ? 1 : 0;
    return alone && other < j->n && may_follow(j, r, g, other) ? other : -1;
}

/* Any group that can be idle; looking for hosts is for these alone. */
static bool is_idle(const clv_block_groups *j, int32_t g)
{
    for (int32_t k = 0; k < j->p->n_kinds; k++)
        if (j->time[(size_t)k * (size_t)j->p->n_classes + (size_t)g] > 0)
            return false;
    return j->roomy || j->bytes[g] == 0;
}

/* One round over all groups. What was true of two groups stays true when either has grown, so the
 * sets may be those from before the round. */
clv_status clv_block_groups_join_idle(clv_block_groups *j, bool *ret_joined, clv_error *err)
{
    reach r = { 0 };
    int32_t *to = CLV_NEW_ARRAY(j->arena, int32_t, j->n);
    if (!to)
        return nomem(err);
    CLV_TRY(find_reach(j, &r, err));
    for (int32_t g = 0; g < j->n; g++)
        to[g] = g;
    *ret_joined = false;
    for (int32_t g = 0; g < j->n; g++) {
        int32_t x = is_idle(j, g) ? find_host(j, &r, g) : -1;
        if (x < 0 || clv_find_root(to, x) == clv_find_root(to, g))
            continue;
        to[clv_find_root(to, g)] = clv_find_root(to, x);
        *ret_joined = true;
    }
    for (int32_t g = 0; g < j->n; g++)
        to[g] = clv_find_root(to, g);
    return *ret_joined ? clv_block_groups_join(j, to, err) : CLV_OK;
}
