#include "api/reshard_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "weights/reshard_plan.h"

#define PAIRS_SHOWN 20

typedef struct {
    int64_t bytes;
    int32_t from, to;
} pair;

static int by_bytes(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int by_ends(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* What goes from one device to another, largest first. */
static clv_status sum_pairs(const clv_reshard_plan *plan, clv_arena *arena, pair **ret,
                            int32_t *ret_n, clv_error *err)
{
    int32_t n = 0, k = 0;
    pair *at = CLV_NEW_ARRAY(arena, pair, plan->n_transfers);
    if (!at)
        return clv_fail_nomem(err, "the list of transfers");
    for (int32_t i = 0; i < plan->n_transfers; i++) {
        const clv_weight_move *x = &plan->transfers[i];
        if (!x->stays)
            at[n++] = (pair){ x->bytes, x->from, x->to };
    }
    qsort(at, (size_t)n, sizeof *at, by_ends);
    for (int32_t i = 0; i < n; i++) {
        if (k > 0 && by_ends(&at[k - 1], &at[i]) == 0)
            at[k - 1].bytes += at[i].bytes;
        else
            at[k++] = at[i];
    }
    qsort(at, (size_t)k, sizeof *at, by_bytes);
    *ret = at;
    *ret_n = k;
    return CLV_OK;
}

static clv_status write_text(const clv_weights_folder *f, const clv_weight_layout *t,
                             const clv_reshard_plan *plan, clv_arena *arena, const char **ret,
                             clv_error *err)
{
    char a[32], b[32], c[32], d[32];
    pair *pairs = NULL;
    int32_t n = 0;
    CLV_TRY(sum_pairs(plan, arena, &pairs, &n, err));
    const char *text = clv_arena_printf(
        arena,
        "%s move between devices, %s stay where they are.\nA device that holds old and new shards "
        "at once needs up to %s; writing takes %s of memory.\n",
        clv_show_bytes(a, plan->moved_bytes), clv_show_bytes(b, plan->kept_bytes),
        clv_show_bytes(c, plan->peak_bytes), clv_show_bytes(d, plan->buffer_bytes));
    for (int32_t i = 0; i < n && i < PAIRS_SHOWN && text; i++)
        text = clv_arena_printf(arena, "%s  %s -> %s  %s\n", text, f->layout.devices[pairs[i].from],
                                t->devices[pairs[i].to], clv_show_bytes(a, pairs[i].bytes));
    if (text && n > PAIRS_SHOWN)
        text = clv_arena_printf(arena, "%s  and %d more\n", text, n - PAIRS_SHOWN);
    if (!text)
        return clv_fail_nomem(err, "the list of transfers");
    *ret = text;
    return CLV_OK;
}

clv_status clv_reshard_report(const clv_weights_folder *folder, const clv_weight_layout *target,
                              cleave_report *report, clv_error *err)
{
    clv_reshard_plan plan;
    clv_arena *arena = report->arena;
    CLV_TRY(clv_reshard_plan_make(folder, target, arena, &plan, err));
    CLV_TRY(write_text(folder, target, &plan, arena, &report->text, err));
    CLV_TRY(clv_reshard_plan_json(folder, target, &plan, arena, &report->json, err));
    report->json_size = strlen(report->json);
    return CLV_OK;
}
