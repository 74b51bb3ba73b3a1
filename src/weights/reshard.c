#include "weights/reshard.h"

#include "weights/reshard_plan.h"
#include "weights/shards_source.h"

typedef struct {
    const clv_weights_folder *f;
    clv_arena *arena;
} resharding;

/* The rest is the same bytes: both folders have shards of the same weights. */
static clv_status copy_rest(void *ctx, const clv_weights_folder *made, clv_files *files, int32_t to,
                            clv_checksum_state *sum, clv_error *err)
{
    const resharding *r = ctx;
    int32_t from;
    clv_file_inside rest = clv_weights_file_inside(r->f, &r->f->rest, r->arena);
    (void)made;
    if (!rest.path)
        return clv_fail_nomem(err, "a path");
    CLV_TRY(clv_files_add(files, &rest, false, &r->f->rest.id, &from, err));
    clv_file_pos source = { from, 0 }, target = { to, 0 };
    CLV_TRY(clv_files_copy(files, source, target, r->f->rest.bytes, sum, err));
    return clv_checksum_eq(clv_checksum_end(sum), r->f->rest_checksum)
               ? CLV_OK
               : clv_fail(err, CLV_EFORMAT,
                          "%s is damaged: its bytes are not those that were written", rest.path);
}

clv_status clv_weights_reshard(const clv_weights_folder *f, const clv_weight_layout *layout,
                               const char *dir, const clv_shard_options *options, clv_arena *arena,
                               clv_error *err)
{
    resharding r = { f, arena };
    clv_reshard_plan plan;
    clv_shards_source *source;
    CLV_TRY(clv_reshard_plan_make(f, layout, arena, &plan, err));
    CLV_TRY(clv_shards_source_new(f, options->disk, arena, &source, err));
    clv_weights_folder_input m = { .like = f,
                                   .layout = layout,
                                   .source = clv_shards_source_of(source),
                                   .rest = copy_rest,
                                   .rest_ctx = &r };
    clv_status status = clv_weights_folder_make(&m, dir, options, arena, err);
    clv_shards_source_free(source);
    return status;
}
