/* cleave_weights.c - the public API on shards of weights in files. */
#include "api/control.h"
#include "api/objects.h"
#include "api/read_layout.h"
#include "api/reshard_report.h"
#include "api/status.h"
#include "weights/collect.h"
#include "weights/reshard.h"
#include "weights/shard.h"
#include "weights/weights_folder_read.h"

static clv_status read_options(const cleave_shard_options *given, const clv_control *c,
                               clv_shard_options *ret, clv_error *err)
{
    static const clv_parts_kind kinds[] = { CLV_PARTS_EXTERNAL, CLV_PARTS_SAFETENSORS,
                                            CLV_PARTS_RANGES };
    cleave_shard_options o;
    cleave_shard_options_init(&o);
    CLV_TRY(clv_struct_read(given, sizeof o, "cleave_shard_options", &o, err));
    CLV_TRY(clv_check_weights(o.weights, err));
    CLV_TRY(clv_check_enum("fill", (int)o.fill, CLEAVE_FILL_ONES, "none, zeros or ones", err));
    if (o.max_file_bytes < 0)
        return clv_fail(err, CLV_EUSAGE, "max_file_bytes is %lld: expected 0 (any) or more",
                        (long long)o.max_file_bytes);
    *ret = (clv_shard_options){ .kind = kinds[o.weights],
                                .fill = (clv_weight_fill)o.fill, /* the same numbers */
                                .max_bytes = o.max_file_bytes,
                                .threads = CLV_PART_THREADS,
                                .stop = c->given.stop,
                                .stop_ctx = c->given.ctx };
    return CLV_OK;
}

static clv_status shard(const cleave_model *m, const char *layout, const char *folder,
                        const clv_shard_options *o, const clv_control *c, clv_error *err)
{
    clv_weight_list weights;
    clv_weight_layout target;
    clv_arena *arena = clv_arena_new(clv_model_alloc(m), 0);
    clv_status status =
        arena ? clv_weight_list_of(m->model, arena, &weights, err) : clv_fail_nomem(err, "shards");
    if (status == CLV_OK) {
        clv_layout_use use = { &weights, m, NULL, &c->given };
        status = clv_layout_read(layout, &use, arena, &target, err);
    }
    if (status == CLV_OK)
        status = clv_weights_shard(&(clv_onnx_model){ m->file, m->model }, &target, folder, o,
                                   arena, err);
    clv_arena_free(arena);
    return status;
}

cleave_status cleave_shard(cleave_model *model, const char *layout, const char *folder,
                           const cleave_shard_options *options, const cleave_control *control,
                           cleave_error *error)
{
    clv_error err;
    clv_control c;
    clv_shard_options o;
    if (!model || !layout || !folder)
        return clv_refuse(error, "cleave_shard needs a model, a layout and a folder");
    clv_status status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK)
        status = read_options(options, &c, &o, &err);
    if (status == CLV_OK)
        status = shard(model, layout, folder, &o, &c, &err);
    return clv_return(status, &err, error);
}

typedef struct {
    const char *folder, *layout, *to;
    clv_shard_options options;
    bool is_reported;
} resharding;

static clv_status reshard(const resharding *r, const clv_control *c, cleave_report *report,
                          clv_error *err)
{
    clv_weights_folder f;
    clv_weight_layout target;
    clv_arena *arena = report->arena;
    CLV_TRY(clv_weights_folder_read(r->folder, arena, &f, err));
    clv_layout_use use = { &f.weights, NULL, &f, &c->given };
    clv_status status = clv_layout_read(r->layout, &use, arena, &target, err);
    if (status == CLV_OK && r->is_reported)
        status = clv_reshard_report(&f, &target, report, err);
    if (status == CLV_OK)
        status = clv_control_check(c, "the layout was read", err);
    if (status == CLV_OK && r->to)
        status = clv_weights_reshard(&f, &target, r->to, &r->options, arena, err);
    clv_weights_folder_close(&f);
    return status;
}

cleave_status cleave_reshard(const char *folder, const char *layout, const char *to,
                             const cleave_shard_options *options, const cleave_control *control,
                             cleave_report **ret_report, cleave_error *error)
{
    clv_error err;
    clv_control c;
    cleave_report *report = NULL;
    resharding r = { .folder = folder, .layout = layout, .to = to, .is_reported = ret_report };
    if (!folder || !layout)
        return clv_refuse(error, "cleave_reshard needs a folder and a layout");
    clv_status status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK)
        status = read_options(options, &c, &r.options, &err);
    if (status == CLV_OK && r.options.kind == CLV_PARTS_RANGES)
        status = clv_fail(&err, CLV_EUSAGE,
                          "shards of shards cannot be written as ranges: expected external or "
                          "safetensors");
    if (status == CLV_OK) {
        report = clv_report_new(clv_control_alloc(&c));
        status = report ? reshard(&r, &c, report, &err) : clv_fail_nomem(&err, "shards");
    }
    if (status == CLV_OK && ret_report)
        *ret_report = report;
    else
        cleave_report_free(report);
    return clv_return(status, &err, error);
}

cleave_status cleave_collect(const char *folder, const char *path, const cleave_control *control,
                             cleave_error *error)
{
    clv_error err;
    clv_control c;
    clv_shard_options o;
    if (!folder || !path)
        return clv_refuse(error, "cleave_collect needs a folder and a path");
    clv_status status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK)
        status = read_options(NULL, &c, &o, &err);
    if (status == CLV_OK) {
        clv_arena *arena = clv_arena_new(clv_control_alloc(&c), 0);
        status = arena ? clv_weights_collect(folder, path, &o, arena, &err)
                       : clv_fail_nomem(&err, "shards");
        clv_arena_free(arena);
    }
    return clv_return(status, &err, error);
}
