/* test_memory.c - no memory at any point of sharding, resharding and collecting: it is said so, and
 * nothing is left behind, in memory or in the folder. */
#include "support/memory_end.h"
#include "weights/sharded.h"

#include <sys/stat.h>
#include <unistd.h>

static sharded s;
static clv_weight_layout old, new;

static void set_up(void)
{
    s = sharded_new();
    old = random_layout(&s, 3);
    new = random_layout(&s, 2);
    shard_it(&s, &old, "old", CLV_PARTS_EXTERNAL);
}

static void tear_down(void) { sharded_free(&s); }

TestSuite(memory, .init = set_up, .fini = tear_down, .timeout = 600);

static clv_status shard(void *ctx, clv_arena *arena, clv_error *err)
{
    (void)ctx;
    clv_shard_options o = { .kind = CLV_PARTS_SAFETENSORS, .max_bytes = 10000 };
    return clv_weights_shard(&(clv_onnx_model){ s.file, s.model }, &old, at_path(&s, "out"), &o,
                             arena, err);
}

static clv_status shard_threads(void *ctx, clv_arena *arena, clv_error *err)
{
    (void)ctx;
    clv_shard_options o = { .threads = 3 };
    return clv_weights_shard(&(clv_onnx_model){ s.file, s.model }, &old, at_path(&s, "out"), &o,
                             arena, err);
}

static clv_status reshard(void *ctx, clv_arena *arena, clv_error *err)
{
    (void)ctx;
    clv_shard_options o = { .kind = CLV_PARTS_EXTERNAL };
    clv_reshard_plan plan;
    clv_weights_folder f;
    const char *text;
    CLV_TRY(clv_weights_folder_read(at_path(&s, "old"), arena, &f, err));
    clv_status status = clv_reshard_plan_make(&f, &new, arena, &plan, err);
    if (status == CLV_OK)
        status = clv_reshard_plan_json(&f, &new, &plan, arena, &text, err);
    if (status == CLV_OK)
        status = clv_weights_reshard(&f, &new, at_path(&s, "out"), &o, arena, err);
    clv_weights_folder_close(&f);
    return status;
}

static clv_status collect(void *ctx, clv_arena *arena, clv_error *err)
{
    (void)ctx;
    clv_shard_options o = { 0 };
    cr_assert_eq(mkdir(at_path(&s, "out"), 0700), 0);
    clv_status status =
        clv_weights_collect(at_path(&s, "old"), at_path(&s, "out/m.onnx"), &o, arena, err);
    if (status != CLV_OK)
        cr_assert_eq(rmdir(at_path(&s, "out")), 0, "something is in the folder");
    return status;
}

Test(memory, sharding_survives_its_end_anywhere)
{
    memory_ends(s.folder, shard, NULL);
    memory_ends(s.folder, shard_threads, NULL);
}

Test(memory, resharding_survives_its_end_anywhere) { memory_ends(s.folder, reshard, NULL); }

Test(memory, collecting_survives_its_end_anywhere) { memory_ends(s.folder, collect, NULL); }
