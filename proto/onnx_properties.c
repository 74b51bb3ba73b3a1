#include "proto/onnx_properties.h"

#include "proto/message_writer.h"
#include "proto/onnx.pb-c.h"

enum { M_GRAPH = 7, M_METADATA = 14, G_NODE = 1, N_METADATA = 9, S_KEY = 1 };

typedef struct {
    const clv_properties *p;
    clv_message_writer *e;
    int32_t n_nodes; /* seen so far */
} writing;

/* Is the field of a message a StringStringEntryProto of that key? */
static clv_status has_key(const clv_message *m, const clv_field *f, clv_str key, bool *ret,
                          clv_error *err)
{
    clv_message entry = clv_message_sub(m, f, &onnx__string_string_entry_proto__descriptor);
    clv_field part;
    *ret = false;
    for (;;) {
        clv_str text;
        CLV_TRY(clv_message_next(&entry, &part, err));
        if (!part.number)
            return CLV_OK;
        if (part.number != S_KEY)
            continue;
        CLV_TRY(clv_message_str(&entry, &part, &text, err));
        *ret = clv_str_eq(text, key);
    }
}

static clv_status put_node(writing *w, clv_message m, clv_str value, clv_error *err)
{
    clv_open_message at;
    clv_field f;
    CLV_TRY(clv_put_begin(w->e, G_NODE, &at, err));
    for (;;) {
        bool replaced = false;
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == N_METADATA)
            CLV_TRY(has_key(&m, &f, w->p->key, &replaced, err));
        if (!replaced)
            CLV_TRY(clv_put_field(w->e, &m, &f, err));
    }
    CLV_TRY(clv_put_pair(w->e, N_METADATA, w->p->key, value, err));
    return clv_put_end(w->e, &at, err);
}

static clv_status put_graph(writing *w, clv_message m, clv_error *err)
{
    clv_open_message at;
    clv_field f;
    CLV_TRY(clv_put_begin(w->e, M_GRAPH, &at, err));
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == G_NODE && w->n_nodes == w->p->n_nodes)
            return clv_fail(err, CLV_EUSAGE, "%s has more than the %d nodes that were planned",
                            m.wire.name, w->p->n_nodes);
        if (f.number == G_NODE)
            CLV_TRY(put_node(w, clv_message_sub(&m, &f, &onnx__node_proto__descriptor),
                             w->p->value[w->n_nodes++], err));
        else
            CLV_TRY(clv_put_field(w->e, &m, &f, err));
    }
    return clv_put_end(w->e, &at, err);
}

static clv_status put_model(writing *w, const clv_onnx_file *file, clv_error *err)
{
    clv_wire all = clv_onnx_wire(file);
    clv_message m =
        clv_message_in(&all, &onnx__model_proto__descriptor, all.at, (size_t)(all.end - all.at));
    clv_field f;
    w->n_nodes = 0;
    for (;;) {
        bool replaced = false;
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        for (int32_t i = 0; f.number == M_METADATA && i < w->p->n_model && !replaced; i++)
            CLV_TRY(has_key(&m, &f, w->p->model[i].key, &replaced, err));
        if (f.number == M_GRAPH && w->p->key.n > 0)
            CLV_TRY(put_graph(w, clv_message_sub(&m, &f, &onnx__graph_proto__descriptor), err));
        else if (!replaced)
            CLV_TRY(clv_put_field(w->e, &m, &f, err));
    }
    for (int32_t i = 0; i < w->p->n_model; i++)
        CLV_TRY(clv_put_pair(w->e, M_METADATA, w->p->model[i].key, w->p->model[i].value, err));
    return CLV_OK;
}

clv_status clv_onnx_put_properties(const clv_onnx_file *file, const clv_properties *p,
                                   const clv_sink *sink, clv_arena *arena, clv_error *err)
{
    clv_message_writer e = { .arena = arena };
    writing w = { .p = p, .e = &e };
    clv_sink_buffer out;
    CLV_TRY(put_model(&w, file, err));
    if (p->key.n > 0 && w.n_nodes != p->n_nodes)
        return clv_fail(err, CLV_EUSAGE, "%s has %d nodes, expected the %d that were planned",
                        file->name, w.n_nodes, p->n_nodes);
    CLV_TRY(clv_sink_buffer_init(&out, file, sink, arena, err));
    clv_message_writer_start(&e, &out);
    CLV_TRY(put_model(&w, file, err));
    return clv_sink_buffer_flush(&out, err);
}
