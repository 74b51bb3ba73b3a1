#include "support/memory_end.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_alloc.h"
#include "support/run.h"

static void remove_out(const char *folder)
{
    char path[600];

    snprintf(path, sizeof path, "%s/out", folder);
    folder_free(strdup(path));
}

/* limit of the arena in bytes, 0: none; the request that is refused, 0: none. */
static clv_status act_within(const char *folder, memory_act act, void *ctx, size_t limit,
                             long fail_at)
{
    failing f = { .fail_at = fail_at };
    clv_alloc alloc = failing_alloc(&f);
    clv_error err = { 0 };
    int before = folder_count(folder);
    clv_arena *arena = clv_arena_new(&alloc, limit);
    clv_status status = arena ? act(ctx, arena, &err) : CLV_ENOMEM;

    clv_arena_free(arena);
    cr_assert(status == CLV_OK || status == CLV_ENOMEM, "%s", err.message);
    cr_assert(status != CLV_OK || !fail_at || f.calls < fail_at, "a refusal was not noticed");
    cr_assert_eq(f.live, 0, "%ld blocks are left", f.live);
    cr_assert_eq(folder_count(folder), before + (status == CLV_OK), "something is left");
    if (status == CLV_OK)
        remove_out(folder);
    return status;
}

void memory_ends(const char *folder, memory_act act, void *ctx)
{
    size_t limit = 256;
    long fail_at = 1;

    while (act_within(folder, act, ctx, limit, 0) != CLV_OK)
        limit += limit / 32;
    while (act_within(folder, act, ctx, 0, fail_at) != CLV_OK)
        fail_at++;
    cr_expect_gt(limit, 8192);
    cr_expect_gt(fail_at, 3);
}
