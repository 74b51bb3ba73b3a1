#include "api/read_layout.h"

#include "base/file.h"
#include "base/rename_unit.h"
#include "base/units.h"
#include "lower/plan_target.h"
#include "lower/plan_types.h"
#include "pipeline/plan_open.h"
#include "proto/onnx_read.h"
#include "weights/layout_file.h"
#include "weights/skeleton.h"

#define LAYOUT_MAX ((size_t)1 << 30) /* bytes of a layout file */
#define NOTES_MAX  20                /* a spec may be skipped for every bias of a model */

static void report_notes(const clv_placement_notes *notes, const cleave_control *control)
{
    char more[64];
    if (!control->note)
        return;
    for (int32_t i = 0; i < notes->n && i < NOTES_MAX; i++)
        control->note(control->ctx, notes->at[i]);
    clv_add_words(more, sizeof more, 0, "and %d more of the like", (int)(notes->n - NOTES_MAX));
    if (notes->n > NOTES_MAX)
        control->note(control->ctx, more);
}

/* A plan has operators; no other layout has. */
static clv_status is_plan(const char *text, size_t n, const char *path, bool *ret, clv_error *err)
{
    clv_json *json;
    CLV_TRY(clv_json_parse(text, n, path, &json, err));
    clv_json_at root = clv_json_root(json, path), member = { 0 };
    clv_status status = clv_json_is_object(&root)
                            ? clv_json_member(&root, "operators", false, &member, err)
                            : CLV_OK;
    *ret = status == CLV_OK && member.json;
    clv_json_free(json);
    return status;
}

static clv_status layout_of_plan(const clv_plan_file *file, const clv_model *model,
                                 const char *name, clv_arena *arena, clv_weight_layout *ret,
                                 clv_error *err)
{
    clv_plan *plan;
    const clv_types *types;
    CLV_TRY(clv_plan_open(file, model, name, arena, &plan, err));
    CLV_TRY(clv_plan_types(model, plan, arena, &types, err));
    return clv_plan_target(model, types, plan, arena, ret, err);
}

/* The folder's weights have the numbers that they have in its graph. */
static clv_status check_numbers(const clv_weights_folder *f, const clv_graph *g, clv_error *err)
{
    bool same = f->weights.n == g->n_weights;
    for (int32_t i = 0; same && i < f->weights.n; i++)
        same = clv_str_eq(f->weights.at[i].name, g->weights[i].name);
    return same ? CLV_OK
                : clv_fail(err, CLV_EFORMAT,
                           "%s/" CLV_WEIGHTS_JSON ": its weights are not those of the graph in %s, "
                           "in their order; shard the model again",
                           f->path, f->rest.name);
}

/* The model of a folder of shards, as far as it is in there. */
static clv_status layout_of_plan_for_folder(const clv_plan_file *file, const clv_weights_folder *f,
                                            clv_arena *arena, clv_weight_layout *ret,
                                            clv_error *err)
{
    clv_onnx_file *skeleton;
    clv_model *model;
    CLV_TRY(clv_weights_skeleton_open(f, arena, &skeleton, err));
    clv_status status = clv_onnx_read(skeleton, arena, &model, err);
    if (status == CLV_OK)
        status = check_numbers(f, model->main, err);
    if (status == CLV_OK)
        status = layout_of_plan(file, model, f->originals[0].name, arena, ret, err);
    clv_onnx_close(skeleton);
    return status;
}

clv_status clv_layout_read(const char *path, const clv_layout_use *use, clv_arena *arena,
                           clv_weight_layout *ret, clv_error *err)
{
    const char *text;
    size_t n;
    bool plan;
    clv_placement_notes notes = { 0 };
    clv_finish_units_beside(path); /* it may be the plan of a run that was killed */
    CLV_TRY(clv_read_file(path, LAYOUT_MAX, arena, &text, &n, err));
    CLV_TRY(is_plan(text, n, path, &plan, err));
    if (plan) {
        clv_plan_file file = { path, text, n, NULL };
        return use->model
                   ? layout_of_plan(&file, use->model->model, use->model->name, arena, ret, err)
                   : layout_of_plan_for_folder(&file, use->folder, arena, ret, err);
    }
    clv_layout_file file = { text, n, path };
    CLV_TRY(clv_layout_file_read(&file, use->weights, arena, ret, &notes, err));
    report_notes(&notes, use->control);
    return CLV_OK;
}
