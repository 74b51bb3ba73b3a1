#include "proto/onnx_read.h"

#include "proto/onnx.pb-c.h"
#include "proto/read_graph.h"

/* The whole of a file in the order that symbols are numbered in: the main graph, with its inputs
 * first, then the functions. The graph is built by graph_build.h, which knows no file.
 */
enum { M_IR = 1, M_PRODUCER = 2, M_GRAPH = 7, M_OPSET = 8, M_FUNCTION = 25 };
#define IR_WITH_OPSETS 3 /* before this version there was one operator set, version 1 */

typedef struct {
    clv_draft_model model;
    clv_field graph;
    clv_opset *opsets;
    int32_t n_opsets;
    clv_draft **functions;
} parts;

static clv_status read_top_field(const clv_message *m, const clv_field *f, parts *p, clv_error *err)
{
    clv_message sub;
    switch (f->number) {
    case M_IR:
        p->model.ir_version = (int64_t)f->value;
        return CLV_OK;
    case M_PRODUCER:
        return clv_message_str(m, f, &p->model.producer, err);
    case M_GRAPH:
        return clv_message_once(m, f, &p->graph, err);
    case M_OPSET:
        sub = clv_message_sub(m, f, &onnx__operator_set_id_proto__descriptor);
        return clv_read_opset(&sub, &p->opsets[p->n_opsets++], err);
    default: /* a number from the file */
        return CLV_OK;
    }
}

static clv_status read_top(clv_reading *r, clv_message m, parts *p, clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        CLV_TRY(read_top_field(&m, &f, p, err));
    }
    if (p->model.ir_version < 0)
        return clv_fail(err, CLV_EFORMAT, "%s: IR version %lld, expected at least 1", r->file->name,
                        (long long)p->model.ir_version);
    if (p->n_opsets == 0 && p->model.ir_version < IR_WITH_OPSETS)
        p->opsets[p->n_opsets++] = (clv_opset){ { NULL, 0 }, 1 };
    if (!p->graph.number)
        return clv_fail(err, CLV_EFORMAT, "%s has no graph: expected an ONNX model", r->file->name);
    r->opsets = p->opsets;
    r->n_opsets = p->n_opsets;
    return CLV_OK;
}

static clv_status read_functions(clv_reading *r, clv_message m, parts *p, clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number != M_FUNCTION)
            continue;
        clv_message sub = clv_message_sub(&m, &f, &onnx__function_proto__descriptor);
        CLV_TRY(clv_read_function(r, &sub, &p->functions[p->model.n_functions++], err));
    }
}

static clv_status read_parts(clv_reading *r, clv_message m, parts *p, clv_error *err)
{
    clv_field_counts counts;
    CLV_TRY(clv_count_fields(r, m, &counts, err));
    p->opsets = CLV_NEW_ARRAY(r->arena, clv_opset, counts.of[M_OPSET] + 1);
    p->functions = CLV_NEW_ARRAY(r->scratch, clv_draft *, counts.of[M_FUNCTION]);
    if (!p->opsets || !p->functions)
        return clv_fail_nomem(err, "a model");
    CLV_TRY(read_top(r, m, p, err));
    clv_message graph = clv_message_sub(&m, &p->graph, &onnx__graph_proto__descriptor);
    CLV_TRY(clv_read_graph(r, &graph, true, &p->model.main, err));
    CLV_TRY(read_functions(r, m, p, err));
    p->model.functions = p->functions;
    p->model.symbols = r->symbols;
    p->model.n_symbols = r->n_symbols;
    return CLV_OK;
}

/* One warning for each file of weights that is not there. */
static clv_status warn_of_missing(clv_reading *r, clv_model *model, clv_error *err)
{
    int32_t missing = 0;
    for (int32_t i = 0; r->file->folder && i < r->external.n_files; i++)
        missing += r->external.files[i].size < 0;
    if (!missing)
        return CLV_OK;
    clv_str *all = CLV_NEW_ARRAY(r->arena, clv_str, (size_t)model->n_warnings + (size_t)missing);
    if (!all)
        return clv_fail_nomem(err, "warnings");
    if (model->n_warnings)
        memcpy(all, model->warnings, (size_t)model->n_warnings * sizeof *all);
    int32_t n = model->n_warnings;
    for (int32_t i = 0; i < r->external.n_files; i++) {
        const clv_external_file *file = &r->external.files[i];
        if (file->size >= 0)
            continue;
        char *text =
            clv_arena_printf(r->arena,
                             "external data file '%.*s' is missing: its tensors count by their "
                             "declared sizes",
                             CLV_STR_ARG(file->location));
        if (!text)
            return clv_fail_nomem(err, "warnings");
        all[n++] = clv_str_of(text);
    }
    model->warnings = all;
    model->n_warnings = n;
    return CLV_OK;
}

static clv_status keep_external(const clv_reading *r, clv_model *model, clv_error *err)
{
    model->external = CLV_NEW_ARRAY(r->arena, clv_str, r->external.n_files);
    model->external_ids = CLV_NEW_ARRAY(r->arena, clv_file_id, r->external.n_files);
    if (!model->external || !model->external_ids)
        return clv_fail_nomem(err, "the list of external files");
    for (int32_t i = 0; i < r->external.n_files; i++) {
        char *name = clv_arena_str(r->arena, r->external.files[i].location);
        if (!name)
            return clv_fail_nomem(err, "the list of external files");
        model->external_ids[i] = r->external.files[i].id; /* of one that is not there 0 */
        model->external[model->n_external++] = clv_str_of(name);
    }
    return CLV_OK;
}

static clv_status read_model(clv_reading *r, clv_model **ret, clv_error *err)
{
    const clv_onnx_file *file = r->file;
    parts p = { .model = { 0 } };
    clv_model *model;
    clv_wire whole = clv_onnx_wire(file);
    CLV_TRY(clv_external_init(&r->external, file, r->arena, err));
    CLV_TRY(clv_map_init(&r->symbol_ids, r->arena, 0, err));
    clv_message m = clv_message_in(&whole, &onnx__model_proto__descriptor, file->bytes, file->n);
    CLV_TRY(read_parts(r, m, &p, err));
    CLV_TRY(clv_model_build(&p.model, r->arena, &model, err));
    CLV_TRY(warn_of_missing(r, model, err));
    CLV_TRY(keep_external(r, model, err));
    *ret = model;
    return CLV_OK;
}

clv_status clv_onnx_read(const clv_onnx_file *file, clv_arena *arena, clv_model **ret,
                         clv_error *err)
{
    clv_reading r = { .file = file,
                      .arena = arena,
                      .scratch = clv_arena_new(clv_arena_alloc(arena), 0) };
    if (!r.scratch)
        return clv_fail_nomem(err, "a model");
    clv_status status = read_model(&r, ret, err);
    clv_arena_free(r.scratch);
    return status;
}
