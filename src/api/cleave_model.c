/* cleave_model.c - the public API on models: opening, binding, looking at them. */
#include <stdio.h>
#include <string.h>

#include "annotations/annotated_shards.h"
#include "api/configs_path.h"
#include "api/control.h"
#include "api/objects.h"
#include "api/status.h"
#include "cluster/cluster_json.h"
#include "explain/report_inspect.h"
#include "explain/report_inspect_json.h"
#include "explain/report_shards.h"
#include "explain/report_shards_json.h"
#include "explain/report_shards_summary.h"
#include "explain/shard_filter.h"
#include "graph/first_caches.h"
#include "proto/onnx_read.h"
#include "request/analysis.h"

static clv_status new_model(const cleave_control *control, clv_control *c, cleave_model **ret,
                            clv_error *err)
{
    CLV_TRY(clv_control_begin(control, c, err));
    clv_arena *arena = clv_arena_new(clv_control_alloc(c), 0);
    cleave_model *m = arena ? CLV_NEW(arena, cleave_model) : NULL;
    if (!m) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a model");
    }
    m->arena = arena;
    m->alloc = c->alloc;
    m->own_alloc = c->alloc.resize != NULL;
    *ret = m;
    return CLV_OK;
}

/* Reads the file that was opened. */
static clv_status read_model(cleave_model *m, const char *name, const clv_control *c,
                             clv_error *err)
{
    m->name = clv_arena_printf(m->arena, "%s", name);
    if (!m->name)
        return clv_fail_nomem(err, "a model");
    CLV_TRY(clv_onnx_read(m->file, m->arena, &m->model, err));
    return clv_control_check(c, "the model was read", err);
}

cleave_status cleave_model_open(const char *path, const cleave_control *control,
                                cleave_model **ret_model, cleave_error *error)
{
    clv_error err;
    clv_control c;
    cleave_model *m = NULL;
    if (!path || !ret_model)
        return clv_refuse(error, "cleave_model_open needs a path and a place for the model");
    clv_status status = new_model(control, &c, &m, &err);
    if (status == CLV_OK)
        status = clv_onnx_open(path, clv_model_alloc(m), &m->file, &err);
    if (status == CLV_OK)
        status = read_model(m, clv_file_name(path), &c, &err);
    if (status == CLV_OK)
        *ret_model = m;
    else
        cleave_model_free(m);
    return clv_return(status, &err, error);
}

cleave_status cleave_model_open_bytes(const void *bytes, size_t size, const char *folder,
                                      const cleave_control *control, cleave_model **ret_model,
                                      cleave_error *error)
{
    clv_error err;
    clv_control c;
    cleave_model *m = NULL;
    if ((!bytes && size) || !ret_model)
        return clv_refuse(error, "cleave_model_open_bytes needs bytes and a place for the model");
    clv_status status = new_model(control, &c, &m, &err);
    if (status == CLV_OK)
        status = clv_onnx_open_bytes(bytes, size, folder, clv_model_alloc(m), &m->file, &err);
    if (status == CLV_OK)
        status = read_model(m, "model", &c, &err);
    if (status == CLV_OK)
        *ret_model = m;
    else
        cleave_model_free(m);
    return clv_return(status, &err, error);
}

void cleave_model_free(cleave_model *model)
{
    if (!model)
        return;
    clv_onnx_close(model->file);
    clv_arena_free(model->arena);
}

cleave_status cleave_model_bind(cleave_model *model, const char *symbol, int64_t size,
                                cleave_error *error)
{
    clv_error err;
    if (!model || !symbol)
        return clv_refuse(error, "cleave_model_bind needs a model and a symbol");
    clv_str name = clv_str_of(symbol);
    bool known = false;
    for (int32_t i = 0; i < model->model->n_symbols; i++)
        known |= clv_str_eq(model->model->symbols[i], name);
    if (!known || size < 1) {
        char list[256] = "";
        size_t n = 0;
        for (int32_t i = 0; i < model->model->n_symbols && n < sizeof list; i++)
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%.*s", n ? ", " : "",
                                  CLV_STR_ARG(model->model->symbols[i]));
        clv_status status =
            known ? clv_fail(&err, CLV_EFORMAT,
                             "symbol '%.60s' is bound to %lld: expected at least 1", symbol,
                             (long long)size)
                  : clv_fail(&err, CLV_EFORMAT, "'%.60s' is not a symbol of this model: %s%s%s",
                             symbol, *list ? "its symbols are " : "it has no symbols", list,
                             n < sizeof list ? "" : "...");
        return clv_return(status, &err, error);
    }
    for (int32_t i = 0; i < model->n_bindings; i++)
        if (clv_str_eq(model->bindings[i].symbol, name)) {
            model->bindings[i].value = size;
            return clv_return(CLV_OK, &err, error);
        }
    char *copy = clv_arena_printf(model->arena, "%s", symbol);
    if (!copy ||
        !CLV_PUSH_ROOM(model->arena, model->bindings, model->n_bindings, model->cap_bindings))
        return clv_return(clv_fail_nomem(&err, "a binding"), &err, error);
    model->bindings[model->n_bindings++] = (clv_binding){ clv_str_of(copy), size };
    return clv_return(CLV_OK, &err, error);
}

const char *cleave_model_warning(const cleave_model *model, int i)
{
    /* Warnings are made by us and end in a NUL. */
    return model && i >= 0 && i < model->model->n_warnings ? model->model->warnings[i].at : NULL;
}

const char *cleave_model_external(const cleave_model *model, int i)
{
    return model && i >= 0 && i < model->model->n_external ? model->model->external[i].at : NULL;
}

/* -- looking at them -- */

/* The devices of which is asked what fits; NULL: of none. */
static clv_status open_cluster(const cleave_inspect_options *o, clv_arena *arena,
                               const clv_cluster **ret, clv_error *err)
{
    const char *configs = o->configs_path ? o->configs_path : clv_configs_path(arena);
    clv_cluster *cluster;
    *ret = NULL;
    if (!o->cluster && !o->configs_path && !o->devices && !o->memory_bytes && !o->headroom)
        return CLV_OK;
    if (!configs)
        return clv_fail_nomem(err, "a path");
    CLV_TRY(clv_check_room(o->devices, o->memory_bytes, err));
    CLV_TRY(clv_cluster_load(o->cluster ? o->cluster : CLV_DEFAULT_CLUSTER, configs, arena,
                             &cluster, err));
    if (o->headroom)
        CLV_TRY(clv_cluster_keep_free(cluster, o->headroom, o->memory_bytes, arena, &cluster, err));
    CLV_TRY(clv_cluster_subset(cluster, o->devices ? o->devices : cluster->n_devices,
                               o->memory_bytes, arena, &cluster, err));
    *ret = cluster;
    return CLV_OK;
}

static clv_status inspect(const cleave_model *m, const cleave_inspect_options *o,
                          cleave_report_form form, clv_arena *scratch, cleave_report *report,
                          clv_error *err)
{
    clv_analysis a;
    CLV_TRY(clv_analyse(&(clv_analysed){ m->model, m->bindings, m->n_bindings, NULL,
                                         CLV_DT_UNDEFINED, CLV_DT_UNDEFINED, false },
                        scratch, &a, err));
    clv_inspection in = { .name = m->name,
                          .model = m->model,
                          .inference = a.inference,
                          .costs = a.costs,
                          .subgraphs = a.units };
    CLV_TRY(clv_states_find(a.types, scratch, &in.states, err));
    CLV_TRY(clv_states_add_first(a.types, scratch, &in.states, err));
    CLV_TRY(open_cluster(o, scratch, &in.cluster, err));
    if (form != CLEAVE_REPORT_JSON)
        CLV_TRY(clv_report_inspect(&in, report->form, report->arena, &report->text, err));
    if (form != CLEAVE_REPORT_TEXT) {
        CLV_TRY(clv_report_inspect_json(&in, report->arena, &report->json, err));
        report->json_size = strlen(report->json);
    }
    return CLV_OK;
}

cleave_status cleave_model_inspect(cleave_model *model, const cleave_control *control,
                                   cleave_report **ret_report, cleave_error *error)
{
    return cleave_model_inspect_with(model, NULL, control, ret_report, error);
}

cleave_status cleave_model_inspect_with(cleave_model *model, const cleave_inspect_options *options,
                                        const cleave_control *control, cleave_report **ret_report,
                                        cleave_error *error)
{
    clv_error err;
    clv_control c;
    cleave_inspect_options o;
    cleave_inspect_options_init(&o);
    if (!model || !ret_report)
        return clv_refuse(error, "cleave_model_inspect needs a model and a place for the report");
    clv_arena *scratch = clv_arena_new(clv_model_alloc(model), 0);
    cleave_report *report = clv_report_new(clv_model_alloc(model));
    clv_status status = scratch && report ? CLV_OK : clv_fail_nomem(&err, "a report");
    if (status == CLV_OK)
        status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK)
        status = clv_struct_read(options, sizeof o, "cleave_inspect_options", &o, &err);
    if (status == CLV_OK)
        report->form = clv_control_form(&c);
    if (status == CLV_OK)
        status = inspect(model, &o, c.given.report, scratch, report, &err);
    if (status == CLV_OK)
        status = clv_control_check(&c, "the report was made", &err);
    clv_arena_free(scratch);
    if (status == CLV_OK)
        *ret_report = report;
    else
        cleave_report_free(report);
    return clv_return(status, &err, error);
}

/* What of the list is shown, and how. */
typedef struct {
    clv_annotated_shards_request of;
    clv_shard_filter filter;
    bool in_full;
} shards_request;

static clv_status request_shards(const cleave_model *m, const cleave_shards_options *given,
                                 clv_arena *arena, shards_request *ret, clv_error *err)
{
    static const clv_uneven_policy policies[] = { CLV_UNEVEN_CEIL, CLV_UNEVEN_BALANCED,
                                                  CLV_UNEVEN_REFUSE };
    cleave_shards_options o;
    const clv_backend *backend = NULL;
    cleave_shards_options_init(&o);
    CLV_TRY(clv_struct_read(given, sizeof o, "cleave_shards_options", &o, err));
    CLV_TRY(clv_check_enum("uneven", (int)o.uneven, CLEAVE_UNEVEN_REFUSE,
                           "ceil, balanced or refuse", err));
    if (o.backend) {
        const char *configs = o.configs_path ? o.configs_path : clv_configs_path(arena);
        if (!configs)
            return clv_fail_nomem(err, "a profile");
        CLV_TRY(clv_backend_load(o.backend, configs, arena, &backend, err));
    }
    ret->of = (clv_annotated_shards_request){ .file = m->file,
                                              .model = m->model,
                                              .model_name = m->name,
                                              .bindings = m->bindings,
                                              .n_bindings = m->n_bindings,
                                              .configuration = o.configuration,
                                              .policy = policies[o.uneven],
                                              .backend = backend,
                                              .tiles = o.show_tiles != 0 };
    ret->filter = (clv_shard_filter){ o.node, o.tensor };
    ret->in_full = o.all || o.show_tiles || o.node || o.tensor;
    return CLV_OK;
}

static clv_status list_shards(const shards_request *req, cleave_report_form form,
                              clv_arena *scratch, cleave_report *report, int *ret_wrong,
                              clv_error *err)
{
    clv_shard_list list;
    CLV_TRY(clv_list_annotated_shards(&req->of, scratch, &list, err));
    if (req->filter.node || req->filter.tensor)
        CLV_TRY(clv_shard_list_filter(&list, &req->filter, scratch, &list, err));
    if (form != CLEAVE_REPORT_JSON && req->in_full)
        CLV_TRY(clv_report_shards(&list, report->form, report->arena, &report->text, err));
    else if (form != CLEAVE_REPORT_JSON)
        CLV_TRY(clv_report_shards_summary(&list, report->form, report->arena, &report->text, err));
    if (form != CLEAVE_REPORT_TEXT) {
        CLV_TRY(clv_report_shards_json(&list, report->arena, &report->json, err));
        report->json_size = strlen(report->json);
    }
    *ret_wrong = list.n_wrong + list.n_unsupported;
    return CLV_OK;
}

cleave_status cleave_model_shards(cleave_model *model, const cleave_shards_options *options,
                                  const cleave_control *control, cleave_report **ret_report,
                                  int *ret_wrong, cleave_error *error)
{
    clv_error err;
    clv_control c;
    shards_request req;
    int n_wrong = 0;
    if (!model || !ret_report)
        return clv_refuse(error, "cleave_model_shards needs a model and a place for the report");
    clv_arena *scratch = clv_arena_new(clv_model_alloc(model), 0);
    cleave_report *report = clv_report_new(clv_model_alloc(model));
    clv_status status = scratch && report ? CLV_OK : clv_fail_nomem(&err, "a report");
    if (status == CLV_OK)
        status = clv_control_begin(control, &c, &err);
    if (status == CLV_OK)
        status = request_shards(model, options, scratch, &req, &err);
    if (status == CLV_OK)
        report->form = clv_control_form(&c);
    if (status == CLV_OK)
        status = list_shards(&req, c.given.report, scratch, report, &n_wrong, &err);
    if (status == CLV_OK)
        status = clv_control_check(&c, "the report was made", &err);
    clv_arena_free(scratch);
    if (status == CLV_OK) {
        *ret_report = report;
        if (ret_wrong)
            *ret_wrong = n_wrong;
    } else {
        cleave_report_free(report);
    }
    return clv_return(status, &err, error);
}
