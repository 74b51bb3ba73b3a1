#include "explain/advice.h"

#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "plan/plan.h"

#define MAX_MORE_DEVICES 8  /* device counts tried, and all of the cluster */
#define MEMORY_TRIES     12 /* memory sizes tried upwards, until one fits */
#define MEMORY_CLOSE     16 /* then halved until less than this part of it is open */

static clv_status try_memory(const clv_adviser *a, int64_t bytes, clv_verdict *ret, clv_error *err)
{
    clv_room room = a->asked;
    room.memory_bytes = bytes;
    return a->try_with(a->ctx, &room, ret, err);
}

/* From what the nearest plan needs upwards, by what is missing then, until a plan is found;
 * *ret_need_bytes is 0 when none is. *low_bytes: with as much none is found. */
static clv_status find_enough(const clv_adviser *a, int64_t *low_bytes, int64_t *ret_need_bytes,
                              clv_error *err)
{
    clv_verdict verdict = { .outcome = CLV_OOM };
    int64_t need = 0; /* a size that is given is all for tensors: nothing of it is reserved */
    *ret_need_bytes = 0;
    for (int32_t d = 0; d < a->plan->n_devices; d++)
        if (a->plan->devices[d].peak_bytes > need)
            need = a->plan->devices[d].peak_bytes;
    for (int32_t i = 0; i < MEMORY_TRIES && need < INT64_MAX / 4; i++) {
        CLV_TRY(try_memory(a, need, &verdict, err));
        if (verdict.outcome == CLV_FITS)
            *ret_need_bytes = need;
        if (verdict.outcome != CLV_OOM)
            return CLV_OK;
        *low_bytes = need;
        need += verdict.short_bytes > need / 16 ? verdict.short_bytes : need / 16;
    }
    return CLV_OK;
}

/* As --memory takes it: at least 64 of its unit, rounded up to a tenth. */
#define SIZE_TEXT 32
static void show_size(char buf[static SIZE_TEXT], int64_t bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
    int unit = 3;
    while (unit > 0 && bytes >> 10 * unit < 64)
        unit--;
    double tenths = ceil((double)bytes * 10 / (double)(INT64_C(1) << 10 * unit));
    snprintf(buf, SIZE_TEXT, unit > 0 ? "%.1f%s" : "%.0f%s", tenths / 10, units[unit]);
}

clv_status clv_advise_memory(const clv_adviser *a, int64_t least_bytes, clv_error *err)
{
    char size[SIZE_TEXT];
    int64_t need, low = a->plan->devices[0].capacity_bytes;
    for (int32_t d = 1; d < a->plan->n_devices; d++)
        if (a->plan->devices[d].capacity_bytes < low)
            low = a->plan->devices[d].capacity_bytes;
    if (low < least_bytes - 1)
        low = least_bytes - 1;
    CLV_TRY(find_enough(a, &low, &need, err));
    if (need == 0)
        return CLV_OK;
    while (need > low && need - low > need / MEMORY_CLOSE) {
        clv_verdict verdict;
        int64_t middle = low + (need - low) / 2;
        CLV_TRY(try_memory(a, middle, &verdict, err));
        *(verdict.outcome == CLV_FITS ? &need : &low) = middle;
    }
    show_size(size, need);
    const char *text =
        clv_arena_printf(a->arena, "it would fit with %s on each device: --memory %s", size, size);
    return clv_plan_add_note(a->plan, text, a->arena, err);
}

clv_status clv_advise_devices(const clv_adviser *a, clv_error *err)
{
    int32_t have = a->asked.devices, most = a->devices_most;
    clv_room room = a->asked;
    for (int32_t n = have + 1; n <= most;
         n = n == have + MAX_MORE_DEVICES && n < most ? most : n + 1) {
        clv_verdict verdict;
        room.devices = n;
        CLV_TRY(a->try_with(a->ctx, &room, &verdict, err));
        if (verdict.outcome == CLV_FITS)
            return clv_plan_add_note(a->plan,
                                     clv_arena_printf(a->arena,
                                                      "it would fit on %d devices: --devices %d",
                                                      (int)n, (int)n),
                                     a->arena, err);
    }
    return CLV_OK;
}

clv_status clv_advise_microbatches(const clv_adviser *a, clv_error *err)
{
    clv_room room = a->asked;
    while (room.microbatches > 1) {
        clv_verdict verdict;
        int32_t n = room.microbatches;
        n = n > a->asked.devices ? a->asked.devices : n / 2;
        room.microbatches = n;
        CLV_TRY(a->try_with(a->ctx, &room, &verdict, err));
        if (verdict.outcome == CLV_FITS)
            return clv_plan_add_note(
                a->plan,
                clv_arena_printf(a->arena, "it would fit with %d micro-batch%s: --microbatches %d",
                                 (int)n, n == 1 ? " at a time" : "es", (int)n),
                a->arena, err);
    }
    return CLV_OK;
}
