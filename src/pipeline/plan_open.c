#include "pipeline/plan_open.h"

#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/open_inside.h"
#include "base/rename_unit.h"
#include "explain/shard_findings.h"
#include "lower/derived_layouts.h"
#include "lower/manifest.h"
#include "lower/plan_specs.h"
#include "lower/plan_types.h"
#include "plan/plan_annotations.h"
#include "plan/plan_check.h"
#include "plan/plan_json_read.h"
#include "plan/plan_mesh.h"
#include "proto/fingerprint.h"

#define FILE_MAX ((size_t)1 << 30) /* a plan of 10^8 operators is smaller */

/* -- what a file of a plan with meshes repeats -- */

static clv_status check_found(const clv_plan *given, const clv_plan *own, clv_error *err)
{
    for (int32_t i = 0; i < given->n_found; i++) {
        const clv_plan_finding *a = &given->found[i];
        bool same = false;
        for (int32_t k = 0; k < own->n_found && !same; k++)
            same = strcmp(a->name, own->found[k].name) == 0 &&
                   strcmp(a->axes, own->found[k].axes) == 0 && a->n == own->found[k].n;
        if (!same)
            return clv_fail(err, CLV_EFORMAT,
                            "found: the plan says '%.60s' over '%.40s' (%d), which does not follow "
                            "from its splits: take it out",
                            a->name, a->axes, (int)a->n);
    }
    return CLV_OK;
}

static clv_status check_partial(const clv_plan *given, const clv_plan *own, clv_error *err)
{
    for (int32_t i = 0; i < given->n_partial; i++) {
        const clv_plan_partial *a = &given->partial[i];
        const char *layout = NULL;
        for (int32_t k = 0; k < own->n_partial && !layout; k++)
            if (strcmp(a->tensor, own->partial[k].tensor) == 0)
                layout = own->partial[k].layout;
        if (!layout || strcmp(a->layout, layout) != 0)
            return clv_fail(err, CLV_EFORMAT,
                            "partial_sums: the plan has '%.80s' as %.100s, but by its splits it is "
                            "%.100s",
                            a->tensor, a->layout, layout ? layout : "no partial sum");
    }
    return CLV_OK;
}

static clv_status check_uneven(const clv_plan *given, const clv_plan *own, clv_error *err)
{
    for (int32_t i = 0; i < given->n_uneven; i++) {
        const clv_plan_uneven *a = &given->uneven[i];
        const char *sizes = NULL;
        for (int32_t k = 0; k < own->n_uneven && !sizes; k++)
            if (a->dim == own->uneven[k].dim && strcmp(a->tensor, own->uneven[k].tensor) == 0)
                sizes = own->uneven[k].sizes;
        if (!sizes || strcmp(a->sizes, sizes) != 0)
            return clv_fail(err, CLV_EFORMAT,
                            "uneven_parts: axis %d of '%.80s' in %.100s, but by its splits the "
                            "parts are %.100s",
                            (int)a->dim, a->tensor, a->sizes, sizes ? sizes : "equal");
    }
    return CLV_OK;
}

clv_status clv_plan_derive(clv_plan *plan, const clv_model *model, clv_arena *arena, clv_error *err)
{
    const clv_plan given = *plan;
    clv_plan_decisions d;
    clv_spmd s = { .model = model, .plan = plan, .mesh = clv_plan_mesh_form(plan) };
    CLV_TRY(clv_plan_types(model, plan, arena, &s.types, err));
    CLV_TRY(clv_derive_layouts(&s, arena, &d, err));
    CLV_TRY(clv_plan_derive_specs(plan, &d.layouts, arena, err));
    CLV_TRY(clv_plan_add_findings(plan, &d.layouts, arena, err));
    CLV_TRY(check_found(&given, plan, err));
    CLV_TRY(check_partial(&given, plan, err));
    CLV_TRY(check_uneven(&given, plan, err));
    CLV_TRY(
        clv_plan_check_specs(plan, given.annotations, given.n_annotations, &d.layouts, arena, err));
    return clv_plan_check_annotations(plan, model->main, arena, err);
}

static clv_status read_member(const clv_json_at *root, const clv_plan_file *file, clv_arena *arena,
                              clv_plan **ret, clv_error *err)
{
    clv_json_at at;
    CLV_TRY(clv_json_member(root, file->key, false, &at, err));
    if (!at.json) /* as folders of version 1 */
        return clv_fail(err, CLV_EFORMAT, "%s has no '%s': expected it, or the file of a plan",
                        file->path, file->key);
    return clv_plan_read_at(&at, arena, ret, err);
}

static clv_status read_file(const clv_plan_file *file, clv_arena *arena, clv_plan **ret,
                            clv_error *err)
{
    clv_json *json = NULL;
    if (!file->key)
        return clv_plan_read(file->text, file->n, file->path, arena, ret, err);
    CLV_TRY(clv_json_parse(file->text, file->n, file->path, &json, err));
    clv_json_at root = clv_json_root(json, file->path);
    clv_status status = read_member(&root, file, arena, ret, err);
    clv_json_free(json);
    return status;
}

/* Against the model. */
static clv_status check_plan(clv_plan *plan, const clv_model *model, clv_arena *arena,
                             clv_error *err)
{
    CLV_TRY(clv_plan_find_nodes(plan, model->main, arena, err));
    CLV_TRY(clv_plan_check(plan, model->main, arena, err));
    return clv_plan_has_mesh(plan) ? clv_plan_derive(plan, model, arena, err) : CLV_OK;
}

clv_status clv_plan_open(const clv_plan_file *file, const clv_model *model, const char *name,
                         clv_arena *arena, clv_plan **ret, clv_error *err)
{
    clv_plan *plan = NULL;
    clv_error own;
    CLV_TRY(read_file(file, arena, &plan, err));
    uint64_t fingerprint = clv_onnx_fingerprint(model);
    if (plan->fingerprint != fingerprint)
        return clv_fail(err, CLV_EFORMAT,
                        "%s is a plan for model '%s' (fingerprint %016llx), not for '%s' (%016llx)",
                        file->path, plan->model ? plan->model : "",
                        (unsigned long long)plan->fingerprint, name,
                        (unsigned long long)fingerprint);
    clv_status status = check_plan(plan, model, arena, &own);
    if (status == CLV_EFORMAT) /* no sentence of the checks knows the file */
        return clv_fail(err, status, "%s: %s", file->path, own.message);
    if (status != CLV_OK)
        return clv_fail(err, status, "%s", own.message);
    *ret = plan;
    return CLV_OK;
}

/* -- by path -- */

/* A lowered folder has its plan in its manifest. */
static clv_status read_manifest(int folder, const char *path, clv_arena *arena, clv_plan_file *ret,
                                clv_error *err)
{
    ret->key = CLV_MANIFEST_PLAN;
    ret->path = clv_arena_printf(arena, "%s/" CLV_MANIFEST_NAME, path);
    if (!ret->path)
        return clv_fail_nomem(err, "a plan");
    clv_finish_units_beside(ret->path); /* of a run that was killed while it named its files */
    return clv_read_inside(&(clv_file_inside){ folder, CLV_MANIFEST_NAME, ret->path }, FILE_MAX,
                           arena, &ret->text, &ret->n, err);
}

static clv_status read_path(const char *path, clv_arena *arena, clv_plan_file *ret, clv_error *err)
{
    int folder = clv_open_folder(path);
    if (folder >= 0) {
        clv_status status = read_manifest(folder, path, arena, ret, err);
        close(folder);
        return status;
    }
    ret->path = path;
    clv_finish_units_beside(path);
    return clv_read_file(path, FILE_MAX, arena, &ret->text, &ret->n, err);
}

clv_status clv_plan_open_path(const char *path, const clv_model *model, const char *name,
                              clv_arena *arena, clv_plan **ret, clv_error *err)
{
    clv_plan_file file = { .path = NULL };
    CLV_TRY(read_path(path, arena, &file, err));
    return clv_plan_open(&file, model, name, arena, ret, err);
}

/* Whole operators on the same devices in the same stages. */
static bool has_same_places(const clv_plan *a, const clv_plan *b)
{
    bool same = a->n_ops == b->n_ops && a->n_devices == b->n_devices;
    for (int32_t d = 0; same && d < a->n_devices; d++)
        same = a->devices[d].stage == b->devices[d].stage;
    for (int32_t i = 0; same && i < a->n_ops; i++)
        same = a->device_of_op[i] == b->device_of_op[i];
    return same;
}

clv_status clv_plan_list_uneven(const clv_plan *plan, const clv_graph *g, clv_arena *arena,
                                clv_plan_uneven **ret, int32_t *ret_n, clv_error *err)
{
    clv_map inputs;
    int32_t id;
    *ret_n = 0;
    *ret = CLV_NEW_ARRAY(arena, clv_plan_uneven, plan->n_uneven);
    if (!*ret)
        return clv_fail_nomem(err, "uneven parts");
    CLV_TRY(clv_map_init(&inputs, arena, g->n_inputs, err));
    for (int32_t i = 0; i < g->n_inputs; i++)
        CLV_TRY(clv_map_put(&inputs, clv_tensor_at(g, g->inputs[i])->name, i, &id, err));
    for (int32_t i = 0; i < plan->n_uneven; i++)
        if (clv_map_get(&inputs, clv_str_of(plan->uneven[i].tensor)) < 0)
            (*ret)[(*ret_n)++] = plan->uneven[i];
    return CLV_OK;
}

/* Does a plan with meshes give what annotations say? It has their specs and parts then. */
static clv_status gives_annotations(clv_plan *plan, const clv_plan *annotated,
                                    const clv_model *model, clv_arena *arena, bool *ret,
                                    clv_error *err)
{
    clv_plan_uneven *said, *own;
    int32_t n_said, n_own;
    CLV_TRY(clv_plan_list_uneven(annotated, model->main, arena, &said, &n_said, err));
    plan->annotations = annotated->annotations;
    plan->n_annotations = annotated->n_annotations;
    plan->uneven = said;
    plan->n_uneven = n_said;
    CLV_TRY(clv_plan_derive(plan, model, arena, err));
    CLV_TRY(clv_plan_list_uneven(plan, model->main, arena, &own, &n_own, err));
    *ret = n_own == n_said;
    return CLV_OK;
}

clv_status clv_plan_open_annotated_folder(const char *folder, const clv_plan *annotated,
                                          const clv_model *model, clv_arena *arena,
                                          const clv_plan **ret, clv_error *err)
{
    clv_plan *plan = NULL;
    clv_error why;
    clv_status status = clv_plan_open_path(folder, model, annotated->model, arena, &plan, &why);
    bool is_one = false;
    if (status == CLV_OK && clv_plan_has_mesh(plan) && clv_plan_has_mesh(annotated))
        status = gives_annotations(plan, annotated, model, arena, &is_one, &why);
    else if (status == CLV_OK && !clv_plan_has_mesh(plan) && !clv_plan_has_mesh(annotated))
        is_one = has_same_places(plan, annotated);
    if (is_one)
        *ret = plan;
    return status == CLV_ENOMEM ? clv_fail(err, status, "%s", why.message) : CLV_OK;
}
