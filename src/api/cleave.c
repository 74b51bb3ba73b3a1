/* cleave.c - the public API on models: opening, binding, looking at them. Objects and codes over
 * the pipeline, nothing else; cleave_plan.c has the plans, cleave_write.c what writes files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotations/annotated_shards.h"
#include "api/api.h"
#include "api/configs_path.h"
#include "explain/report_inspect.h"
#include "explain/report_inspect_json.h"
#include "explain/report_shards.h"
#include "explain/report_shards_json.h"
#include "proto/onnx_read.h"
#include "request/analysis.h"

/* -- codes: the two tables, once each -- */

static cleave_status public_status(clv_status status)
{
    switch (status) {
    case CLV_OK:
        return CLEAVE_OK;
    case CLV_EUSAGE:
        return CLEAVE_EUSAGE;
    case CLV_EFORMAT:
    case CLV_ELIMIT:
        return CLEAVE_EINPUT;
    case CLV_EUNSUPP:
        return CLEAVE_EUNSUPPORTED;
    case CLV_EIO:
        return CLEAVE_EIO;
    case CLV_ENOMEM:
        return CLEAVE_ENOMEM;
    case CLV_ECANCELED:
        return CLEAVE_ECANCELED;
    case CLV_ESOLVER:
    case CLV_EINTERNAL:
        break;
    }
    return CLEAVE_EINTERNAL;
}

cleave_status clv_api_give(clv_status status, const clv_error *err, cleave_error *ret)
{
    cleave_status code = public_status(status);
    if (ret) {
        ret->status = code;
        memset(ret->message, 0, sizeof ret->message);
        if (code != CLEAVE_OK)
            memcpy(ret->message, err->message, sizeof ret->message - 1);
    }
    return code;
}

cleave_status clv_api_refuse(cleave_error *ret, clv_status status, const char *words)
{
    clv_error err;
    clv_fail(&err, status, "%s", words);
    return clv_api_give(status, &err, ret);
}

cleave_status clv_api_own_plan(const cleave_model *model, const cleave_plan *plan,
                               cleave_error *error)
{
    return plan->plan->n_ops == model->model->main->n_ops
               ? CLEAVE_OK
               : clv_api_refuse(error, CLV_EUSAGE, "the plan is for another model");
}

cleave_status clv_api_no_answer(cleave_error *ret, const char *why)
{
    if (ret) {
        ret->status = CLEAVE_NO_PLAN;
        snprintf(ret->message, sizeof ret->message, "%s",
                 why[0] ? why : "no legal answer was found in time");
    }
    return CLEAVE_NO_PLAN;
}

clv_arena *clv_api_arena(const cleave_allocator *allocator)
{
    if (!allocator || !allocator->resize)
        return clv_arena_new(NULL, 0);
    return clv_arena_new(&(clv_alloc){ allocator->resize, allocator->ctx }, 0);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *clv_api_file_name(clv_arena *arena, const char *path)
{
    return clv_arena_printf(arena, "%s", base_name(path));
}

const char *cleave_version(void) { return CLEAVE_VERSION; }

/* -- models -- */

/* Takes an opened file over; frees all of it when reading fails. */
static clv_status read_model(cleave_model *m, const char *name, clv_error *err)
{
    m->name = clv_arena_printf(m->arena, "%s", name);
    if (!m->name)
        return clv_fail_nomem(err, "a model");
    return clv_onnx_read(m->file, m->arena, &m->model, err);
}

static clv_status new_model(const cleave_allocator *allocator, cleave_model **ret, clv_error *err)
{
    clv_alloc alloc = { NULL, NULL };
    if (allocator && allocator->resize)
        alloc = (clv_alloc){ allocator->resize, allocator->ctx };
    clv_arena *arena = clv_arena_new(&alloc, 0);
    cleave_model *m = arena ? CLV_NEW(arena, cleave_model) : NULL;
    if (!m) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a model");
    }
    m->arena = arena;
    m->alloc = alloc;
    m->own_alloc = alloc.resize != NULL;
    *ret = m;
    return CLV_OK;
}

cleave_status cleave_model_open(const char *path, const cleave_allocator *allocator,
                                cleave_model **ret_model, cleave_error *error)
{
    clv_error err;
    cleave_model *m = NULL;
    if (!path || !ret_model)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_model_open needs a path and a place for the model");
    clv_status status = new_model(allocator, &m, &err);
    if (status == CLV_OK)
        status = clv_onnx_open(path, clv_api_alloc(m), &m->file, &err);
    if (status == CLV_OK)
        status = read_model(m, base_name(path), &err);
    if (status == CLV_OK)
        *ret_model = m;
    else
        cleave_model_free(m);
    return clv_api_give(status, &err, error);
}

cleave_status cleave_model_open_bytes(const void *bytes, size_t n, const char *folder,
                                      const cleave_allocator *allocator, cleave_model **ret_model,
                                      cleave_error *error)
{
    clv_error err;
    cleave_model *m = NULL;
    if ((!bytes && n) || !ret_model)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_model_open_bytes needs bytes and a place for the model");
    clv_status status = new_model(allocator, &m, &err);
    if (status == CLV_OK)
        status = clv_onnx_open_bytes(bytes, n, folder, clv_api_alloc(m), &m->file, &err);
    if (status == CLV_OK)
        status = read_model(m, "model", &err);
    if (status == CLV_OK)
        *ret_model = m;
    else
        cleave_model_free(m);
    return clv_api_give(status, &err, error);
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
        return clv_api_refuse(error, CLV_EUSAGE, "cleave_model_bind needs a model and a symbol");
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
        return clv_api_give(status, &err, error);
    }
    for (int32_t i = 0; i < model->n_bindings; i++)
        if (clv_str_eq(model->bindings[i].symbol, name)) {
            model->bindings[i].value = size;
            return clv_api_give(CLV_OK, &err, error);
        }
    char *copy = clv_arena_printf(model->arena, "%s", symbol);
    if (!copy ||
        !CLV_PUSH_ROOM(model->arena, model->bindings, model->n_bindings, model->cap_bindings))
        return clv_api_give(clv_fail_nomem(&err, "a binding"), &err, error);
    model->bindings[model->n_bindings++] = (clv_binding){ clv_str_of(copy), size };
    return clv_api_give(CLV_OK, &err, error);
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

/* Text that outlives the arena it was made in. */
static char *keep_text(const cleave_model *m, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = m->own_alloc ? m->alloc.resize(m->alloc.ctx, NULL, n) : malloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}

void cleave_text_free(cleave_model *model, char *text)
{
    if (model && model->own_alloc)
        model->alloc.resize(model->alloc.ctx, text, 0);
    else
        free(text);
}

static clv_status inspect(const cleave_model *m, bool as_json, clv_arena *arena, char **ret,
                          clv_error *err)
{
    clv_analysis a;
    const char *text;
    CLV_TRY(clv_analyse(m->model, m->bindings, m->n_bindings, arena, &a, err));
    clv_inspection in = { m->name, m->model, a.inference, a.costs, a.units };
    CLV_TRY(as_json ? clv_report_inspect_json(&in, arena, &text, err)
                    : clv_report_inspect(&in, arena, &text, err));
    *ret = keep_text(m, text);
    return *ret ? CLV_OK : clv_fail_nomem(err, "a report");
}

cleave_status cleave_model_inspect(cleave_model *model, int as_json, char **ret_text,
                                   cleave_error *error)
{
    clv_error err;
    if (!model || !ret_text)
        return clv_api_refuse(error, CLV_EUSAGE,
                              "cleave_model_inspect needs a model and a place for the text");
    clv_arena *arena = clv_arena_new(clv_api_alloc(model), 0);
    clv_status status = arena ? inspect(model, as_json != 0, arena, ret_text, &err)
                              : clv_fail_nomem(&err, "a report");
    clv_arena_free(arena);
    return clv_api_give(status, &err, error);
}

static clv_status list_shards(const cleave_model *m, const clv_annotated_shards_request *req,
                              bool as_json, clv_arena *arena, char **ret, int *ret_wrong,
                              clv_error *err)
{
    clv_shard_list list;
    const char *text;
    CLV_TRY(clv_list_annotated_shards(req, arena, &list, err));
    CLV_TRY(as_json ? clv_report_shards_json(&list, arena, &text, err)
                    : clv_report_shards(&list, arena, &text, err));
    char *copy = keep_text(m, text);
    if (!copy)
        return clv_fail_nomem(err, "a report");
    *ret = copy;
    if (ret_wrong)
        *ret_wrong = list.n_wrong + list.n_unsupported;
    return CLV_OK;
}

cleave_status cleave_model_backend(cleave_model *model, const char *name_or_path,
                                   cleave_error *error)
{
    clv_error err;
    if (!model)
        return clv_api_refuse(error, CLV_EUSAGE, "cleave_model_backend needs a model");
    clv_status status = CLV_OK;
    model->backend = NULL;
    if (name_or_path) {
        const char *configs = clv_configs_path(model->arena);
        status = configs
                     ? clv_backend_load(name_or_path, configs, model->arena, &model->backend, &err)
                     : clv_fail_nomem(&err, "a profile");
    }
    return clv_api_give(status, &err, error);
}

void cleave_model_show_tiles(cleave_model *model, int show) { model->tiles = show != 0; }

cleave_status cleave_model_shards(cleave_model *model, const char *configuration,
                                  cleave_uneven uneven, int as_json, char **ret_text,
                                  int *ret_wrong, cleave_error *error)
{
    static const clv_uneven_policy policies[] = { CLV_UNEVEN_REFUSE, CLV_UNEVEN_CEIL,
                                                  CLV_UNEVEN_BALANCED };
    clv_error err;
    if (!model || !ret_text || (unsigned)uneven > CLEAVE_UNEVEN_BALANCED)
        return clv_api_refuse(
            error, CLV_EUSAGE,
            "cleave_model_shards needs a model, a policy and a place for the text");
    clv_annotated_shards_request req = { .file = model->file,
                                         .model = model->model,
                                         .model_name = model->name,
                                         .bindings = model->bindings,
                                         .n_bindings = model->n_bindings,
                                         .configuration = configuration,
                                         .policy = policies[uneven],
                                         .backend = model->backend,
                                         .tiles = model->tiles };
    clv_arena *arena = clv_arena_new(clv_api_alloc(model), 0);
    clv_status status = clv_fail_nomem(&err, "a report");
    if (arena)
        status = list_shards(model, &req, as_json != 0, arena, ret_text, ret_wrong, &err);
    clv_arena_free(arena);
    return clv_api_give(status, &err, error);
}

void cleave_model_set_stop(cleave_model *model, int (*stop)(void *ctx), void *ctx)
{
    model->stop = stop;
    model->stop_ctx = ctx;
}

void cleave_model_keep_ir_version(cleave_model *model, int keep) { model->keep_ir = keep != 0; }
