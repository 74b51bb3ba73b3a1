#include "proto/onnx_write.h"

#include <assert.h>

#include "proto/called_functions.h"
#include "proto/copy_node.h"
#include "proto/onnx.pb-c.h"
#include "proto/write_values.h"

/* The new file is put together twice, as message_writer.h says: whatever is wrong with what was
 * asked for shows while it is measured, before anything goes to the sink.
 */
enum {
    M_IR = 1,
    M_PRODUCER = 2, /* from here to M_DOC: what the source says of itself */
    M_DOC = 6,
    M_GRAPH = 7,
    M_OPSET = 8,
    M_METADATA = 14
};
enum {
    G_NODE = 1,
    G_NAME = 2,
    G_WEIGHT = 5,
    G_INPUT = 11,
    G_OUTPUT = 12,
    G_VALUE = 13,
    G_SPARSE = CLV_SPARSE_INITIALIZER
};
enum { N_INPUT = 1, N_OUTPUT = 2, N_NAME = 3, N_TYPE = 4, N_DOMAIN = 7 };
enum { O_DOMAIN = 1, O_VERSION = 2 };

typedef struct {
    const clv_new_model *m;
    clv_message_writer put;
    clv_message_index index;
    clv_copying copying;
    const bool *function_is_called;
} writing;

/* -- nodes -- */

static clv_status put_names(clv_message_writer *e, uint32_t field, const clv_str *names, int32_t n,
                            clv_error *err)
{
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(clv_put_str(e, field, names[i], err));
    return CLV_OK;
}

static clv_status put_text(clv_message_writer *e, uint32_t field, clv_str text, clv_error *err)
{
    return text.n ? clv_put_str(e, field, text, err) : CLV_OK;
}

static clv_status put_node(writing *w, const clv_new_node *node, clv_error *err)
{
    clv_message_writer *e = &w->put;
    clv_open_message m = { 0 };
    CLV_TRY(clv_put_begin(e, G_NODE, &m, err));
    CLV_TRY(put_names(e, N_INPUT, node->in, node->n_in, err));
    CLV_TRY(put_names(e, N_OUTPUT, node->out, node->n_out, err));
    CLV_TRY(put_text(e, N_NAME, node->name, err));
    CLV_TRY(put_text(e, N_TYPE, node->type, err));
    if (node->source.i >= 0)
        CLV_TRY(clv_copy_node(&w->copying, node, w->m->model->main, err));
    for (int32_t i = 0; i < node->n_attrs; i++)
        CLV_TRY(clv_put_new_attr(e, &w->index, &node->attrs[i], err));
    CLV_TRY(put_text(e, N_DOMAIN, clv_onnx_domain(node->domain), err));
    return clv_put_end(e, &m, err);
}

static clv_status check_nodes(const clv_new_model *m, clv_error *err)
{
    int32_t n_ops = m->model->main->n_ops;
    for (int32_t i = 0; i < m->n_nodes; i++) {
        const clv_new_node *node = &m->nodes[i];
        if (node->source.i >= n_ops)
            return clv_fail(err, CLV_EUSAGE, "new node %d is to be node %d of %d", i,
                            node->source.i, n_ops);
        if (node->source.i < 0 && !node->type.n)
            return clv_fail(err, CLV_EUSAGE, "new node %d '%.*s' has no operator type", i,
                            CLV_STR_ARG(node->name));
    }
    return CLV_OK;
}

/* -- the graph -- */

static clv_status put_tensors(writing *w, uint32_t field, clv_error *err)
{
    for (int32_t i = 0; i < w->m->n_tensors; i++) {
        const clv_new_tensor *t = &w->m->tensors[i];
        if (clv_new_tensor_is_sparse(w->m->model, t) == (field == G_SPARSE))
            CLV_TRY(clv_put_new_tensor(&w->put, &w->index, field, t, err));
    }
    return CLV_OK;
}

static clv_status put_values(writing *w, uint32_t field, const clv_new_value *values, int32_t n,
                             clv_error *err)
{
    for (int32_t i = 0; i < n; i++)
        if (field != G_VALUE || clv_type_is_complete(values[i].type))
            CLV_TRY(clv_put_value_info(&w->put, w->m->model, field, &values[i], err));
    return CLV_OK;
}

static clv_status put_graph(writing *w, clv_error *err)
{
    const clv_new_model *m = w->m;
    clv_open_message graph = { 0 };
    CLV_TRY(clv_put_begin(&w->put, M_GRAPH, &graph, err));
    for (int32_t i = 0; i < m->n_nodes; i++)
        CLV_TRY(put_node(w, &m->nodes[i], err));
    CLV_TRY(put_text(&w->put, G_NAME, m->graph_name.n ? m->graph_name : m->model->main->name, err));
    CLV_TRY(put_tensors(w, G_WEIGHT, err));
    CLV_TRY(put_values(w, G_INPUT, m->inputs, m->n_inputs, err));
    CLV_TRY(put_values(w, G_OUTPUT, m->outputs, m->n_outputs, err));
    CLV_TRY(put_values(w, G_VALUE, m->values, m->n_values, err));
    CLV_TRY(put_tensors(w, G_SPARSE, err));
    return clv_put_end(&w->put, &graph, err);
}

/* -- the model -- */

/* Its fields from one number to another. */
static clv_status keep_fields(writing *w, uint32_t from, uint32_t to, clv_error *err)
{
    clv_message m = w->index.model;
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number >= from && f.number <= to)
            CLV_TRY(clv_put_field(&w->put, &m, &f, err));
    }
}

static clv_status put_opset(clv_message_writer *e, clv_str domain, int64_t version, clv_error *err)
{
    clv_open_message m = { 0 };
    CLV_TRY(clv_put_begin(e, M_OPSET, &m, err));
    CLV_TRY(clv_put_str(e, O_DOMAIN, domain, err));
    CLV_TRY(clv_put_int(e, O_VERSION, version, err));
    return clv_put_end(e, &m, err);
}

static bool has_opset(const clv_new_model *m, int32_t n_new, clv_str domain)
{
    const clv_graph *g = m->model->main;
    for (int32_t i = 0; i < g->n_opsets; i++)
        if (clv_str_eq(g->opsets[i].domain, domain))
            return true;
    for (int32_t i = 0; i < n_new; i++)
        if (clv_str_eq(clv_onnx_domain(m->opsets[i].domain), domain))
            return true;
    return false;
}

/* The version of one of the source's: its own, or a higher one that is asked for. */
static int64_t raised(const clv_new_model *m, const clv_opset *own)
{
    int64_t version = own->version;
    for (int32_t i = 0; i < m->n_opsets; i++)
        if (clv_str_eq(clv_onnx_domain(m->opsets[i].domain), own->domain) &&
            m->opsets[i].version > version)
            version = m->opsets[i].version;
    return version;
}

static clv_status put_opsets(writing *w, clv_error *err)
{
    const clv_new_model *m = w->m;
    const clv_graph *g = m->model->main;
    uint64_t before = w->put.total;
    bool as_they_are = true;
    for (int32_t i = 0; i < g->n_opsets; i++)
        as_they_are = as_they_are && raised(m, &g->opsets[i]) == g->opsets[i].version;
    if (as_they_are)
        CLV_TRY(keep_fields(w, M_OPSET, M_OPSET, err));
    /* A file from before there were operator sets has what the reader says of it. */
    bool none = w->put.total == before;
    for (int32_t i = 0; none && i < g->n_opsets; i++)
        CLV_TRY(put_opset(&w->put, g->opsets[i].domain, raised(m, &g->opsets[i]), err));
    for (int32_t i = 0; i < m->n_opsets; i++)
        if (!has_opset(m, i, clv_onnx_domain(m->opsets[i].domain)))
            CLV_TRY(put_opset(&w->put, clv_onnx_domain(m->opsets[i].domain), m->opsets[i].version,
                              err));
    return CLV_OK;
}

static int64_t ir_version(const clv_new_model *m)
{
    int64_t least = ONNX__VERSION__IR_VERSION_FREE_WEIGHTS;
    if (m->ir_version)
        return m->ir_version;
    return m->model->ir_version > least ? m->model->ir_version : least;
}

static clv_status put_model(writing *w, clv_error *err)
{
    const clv_new_model *m = w->m;
    CLV_TRY(clv_put_int(&w->put, M_IR, ir_version(m), err));
    CLV_TRY(keep_fields(w, M_PRODUCER, M_DOC, err));
    CLV_TRY(put_graph(w, err));
    CLV_TRY(put_opsets(w, err));
    for (int32_t i = 0; i < m->n_properties; i++)
        CLV_TRY(
            clv_put_pair(&w->put, M_METADATA, m->properties[i].key, m->properties[i].value, err));
    for (int32_t i = 0; i < w->index.n_functions; i++)
        if (w->function_is_called[i])
            CLV_TRY(clv_copy_function(&w->copying, i, err));
    return CLV_OK;
}

static clv_status measure_and_write(const clv_new_model *m, const clv_sink *sink, clv_arena *arena,
                                    clv_arena *scratch, clv_error *err)
{
    writing w = { .m = m, .put = { .arena = arena } };
    bool *is_called;
    clv_map around;
    clv_sink_buffer out;
    CLV_TRY(check_nodes(m, err));
    CLV_TRY(clv_message_index_build(m->source, m->model, arena, &w.index, err));
    CLV_TRY(clv_called_functions(m, arena, &is_called, err));
    w.function_is_called = is_called;
    CLV_TRY(clv_new_model_names(m, arena, &around, err));
    w.copying =
        (clv_copying){ .put = &w.put, .index = &w.index, .around = &around, .scratch = scratch };
    CLV_TRY(clv_sink_buffer_init(&out, m->source, sink, arena, err));
    CLV_TRY(put_model(&w, err));
    uint64_t measured = w.put.total;
    clv_message_writer_start(&w.put, &out);
    CLV_TRY(put_model(&w, err));
    assert(w.put.total == measured);
    (void)measured;
    return clv_sink_buffer_flush(&out, err);
}

clv_status clv_onnx_write(const clv_new_model *m, const clv_sink *sink, clv_arena *arena,
                          clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    if (!scratch)
        return clv_fail_nomem(err, "a new model");
    clv_status status = measure_and_write(m, sink, arena, scratch, err);
    clv_arena_free(scratch);
    clv_arena_rewind(arena, mark);
    return status;
}
