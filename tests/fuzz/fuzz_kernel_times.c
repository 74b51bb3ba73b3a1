/* fuzz_kernel_times.c - any bytes as a file of measured times: refused in a sentence, or tables
 * whose times are above 0 and do not fall. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/kernel_times_json.h"

static void must(bool yes)
{
    if (!yes)
        abort();
}

static void walk_table(const clv_time_table *t)
{
    double at[CLV_GRID_AXES_MAX] = { 0 }, more[CLV_GRID_AXES_MAX] = { 0 };
    must(t->grid.n >= 1 && t->grid.n_axes <= CLV_GRID_AXES_MAX);
    for (int32_t i = -3; i < 50; i++) {
        for (int32_t a = 0; a < t->grid.n_axes; a++) {
            at[a] = exp2(i + a);
            more[a] = at[a] * 1.5;
        }
        double ns = clv_time_table_ns(t, at), longer = clv_time_table_ns(t, more);
        must(ns > 0 && longer >= ns * (1 - 1e-9));
    }
}

static void walk(const clv_kernel_times *times)
{
    clv_kernel_shape some[] = {
        { .kind = CLV_SHAPE_PRODUCT, .batch = 2, .m = 3, .n = 5, .k = 7 },
        { .kind = CLV_SHAPE_PRODUCT, .batch = 1, .m = 49, .n = 64, .k = 27, .taps = 9 },
        { .kind = CLV_SHAPE_ATTENTION,
          .batch = 2,
          .heads = 4,
          .kv_heads = 2,
          .queries = 9,
          .keys = 77,
          .width = 64 },
    };
    double ns;
    for (int32_t i = 0; i < times->n; i++) {
        walk_table(&times->at[i].table);
        for (size_t s = 0; s < sizeof some / sizeof *some; s++) {
            some[s].weights = times->at[i].weights;
            if (clv_kernel_times_ns(times, &some[s], times->at[i].dtype, NULL, &ns))
                must(ns > 0);
        }
        clv_timed_collective c = { times->at[i].operation, times->at[i].devices + 1, 1000 };
        if (clv_collective_ns(times, &c, &ns))
            must(ns > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, (size_t)256 << 20);
    clv_kernel_times *times = NULL;
    clv_error err = { 0 };
    must(arena != NULL);
    clv_status s = clv_kernel_times_parse((const char *)data, size, "fuzz", arena, &times, &err);
    must(s == CLV_OK || s == CLV_EFORMAT || s == CLV_ELIMIT || s == CLV_ENOMEM);
    must((s == CLV_OK) == (times != NULL) && (s == CLV_OK || err.message[0]));
    if (times)
        walk(times);
    clv_arena_free(arena);
    return 0;
}
