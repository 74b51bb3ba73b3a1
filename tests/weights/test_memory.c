/* test_memory.c - no memory at any point of sharding, resharding and collecting: it is said so, and
 * nothing is left behind, in memory or in the folder. */
#include "support/failing_alloc.h"
#include "weights/sharded.h"

#include <sys/stat.h>
#include <unistd.h>

static sharded s;
static clv_target old, new;

static void set_up(void)
{
    s = sharded_new();
    old = random_target(&s, 3);
    new = random_target(&s, 2);
    shard_it(&s, &old, "old", CLV_PARTS_EXTERNAL);
}

static void tear_down(void) { sharded_free(&s); }

TestSuite(memory, .init = set_up, .fini = tear_down, .timeout = 600);

static clv_status shard(clv_arena *arena, clv_error *err)
{
    clv_shard_options o = { .kind = CLV_PARTS_SAFETENSORS, .max_bytes = 10000 };
    return clv_weights_shard(s.file, s.model, &old, at_path(&s, "out"), &o, arena, err);
}

static clv_status shard_threads(clv_arena *arena, clv_error *err)
{
    clv_shard_options o = { .threads = 3 };
    return clv_weights_shard(s.file, s.model, &old, at_path(&s, "out"), &o, arena, err);
}

static clv_status reshard(clv_arena *arena, clv_error *err)
{
    clv_shard_options o = { .kind = CLV_PARTS_EXTERNAL };
    clv_reshard_plan plan;
    clv_weights_folder f;
    const char *text;
    CLV_TRY(clv_weights_folder_read(at_path(&s, "old"), arena, &f, err));
    CLV_TRY(clv_reshard_plan_make(&f, &new, arena, &plan, err));
    CLV_TRY(clv_reshard_plan_json(&f, &new, &plan, arena, &text, err));
    return clv_weights_reshard(&f, &new, at_path(&s, "out"), &o, arena, err);
}

static clv_status collect(clv_arena *arena, clv_error *err)
{
    clv_shard_options o = { 0 };
    cr_assert_eq(mkdir(at_path(&s, "out"), 0700), 0);
    clv_status status =
        clv_weights_collect(at_path(&s, "old"), at_path(&s, "out/m.onnx"), &o, arena, err);
    if (status != CLV_OK)
        cr_assert_eq(rmdir(at_path(&s, "out")), 0, "something is in the folder");
    return status;
}

/* limit of the arena in bytes, 0: none; the request that is refused, 0: none. */
static clv_status act_within(clv_status (*act)(clv_arena *, clv_error *), size_t limit,
                             long fail_at)
{
    failing f = { .fail_at = fail_at };
    clv_alloc alloc = failing_alloc(&f);
    clv_error err = { 0 };
    int before = folder_count(s.folder);
    clv_arena *arena = clv_arena_new(&alloc, limit);
    clv_status status = arena ? act(arena, &err) : CLV_ENOMEM;
    clv_arena_free(arena);
    cr_assert(status == CLV_OK || status == CLV_ENOMEM, "%s", err.message);
    cr_assert(status != CLV_OK || !fail_at || f.calls < fail_at, "a refusal was not noticed");
    cr_assert_eq(f.live, 0, "%ld blocks are left", f.live);
    cr_assert_eq(folder_count(s.folder), before + (status == CLV_OK), "something is left");
    if (status == CLV_OK)
        folder_free(strdup(at_path(&s, "out")));
    return status;
}

static void runs_out(clv_status (*act)(clv_arena *, clv_error *))
{
    size_t limit = 256;
    long fail_at = 1;
    while (act_within(act, limit, 0) != CLV_OK)
        limit += limit / 32;
    while (act_within(act, 0, fail_at) != CLV_OK)
        fail_at++;
    cr_expect_gt(limit, 8192);
    cr_expect_gt(fail_at, 3);
}

Test(memory, sharding_survives_its_end_anywhere)
{
    runs_out(shard);
    runs_out(shard_threads);
}

Test(memory, resharding_survives_its_end_anywhere) { runs_out(reshard); }

Test(memory, collecting_survives_its_end_anywhere) { runs_out(collect); }
