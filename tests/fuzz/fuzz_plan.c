/* fuzz_plan.c - any bytes as a plan file: refused, or written, read and written the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan_json_read.h"
#include "plan/plan_json_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const clv_plan *plan, clv_arena *arena)
{
    const char *first = NULL, *second = NULL;
    size_t n = 0, again = 0;
    clv_plan *back = NULL;

    if (clv_plan_write(plan, arena, &first, &n, NULL) != CLV_OK)
        abort();
    if (clv_plan_read(first, n, "fuzz", arena, &back, NULL) != CLV_OK)
        abort();
    if (clv_plan_write(back, arena, &second, &again, NULL) != CLV_OK || n != again ||
        memcmp(first, second, n) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_plan *plan = NULL;
    clv_error err;

    if (!arena)
        return 0;
    clv_status status = clv_plan_read((const char *)data, size, "fuzz", arena, &plan, &err);
    if (status == CLV_OK)
        check(plan, arena);
    else if (!memchr(err.message, '\0', sizeof err.message) || !err.message[0])
        abort();
    clv_arena_free(arena);
    return 0;
}
