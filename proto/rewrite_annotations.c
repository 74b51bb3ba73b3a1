#include "proto/rewrite_annotations.h"

#include "plan/plan_mesh.h"
#include "proto/function_devices.h"
#include "proto/onnx.pb-c.h"

/* A message that has nodes somewhere in it is "entered": its key is kept, its length is written
 * anew and its fields are walked. Everything else is kept, as a range of the file.
 *
 * A length need not have been in its shortest form. Annotating writes the shortest and notes what
 * it was; stripping looks the note up, and without any note keeps the form of a length that stays.
 */
enum { M_IR = 1, M_GRAPH = 7, M_METADATA = 14, M_FUNCTION = 25, M_CONFIGURATION = 26 };
enum { G_NODE = 1, F_NODE = 7, N_ATTRIBUTE = 5, N_DEVICES = 10, A_GRAPH = 6, A_GRAPHS = 11 };

/* Where a node runs. */
typedef struct {
    int32_t device;
    bool is_main; /* the main graph: by the plan, node by node */
    clv_node_specs *given;
} place;

/* A kind of message that has nodes in it, and how its fields are walked. */
typedef struct {
    const ProtobufCMessageDescriptor *type;
    clv_status (*walk)(clv_rewrite *rw, clv_message m, place at, clv_error *err);
} container;

static clv_status put_bytes(clv_rewrite *rw, const void *bytes, size_t n, clv_error *err)
{
    rw->total += n;
    return rw->out ? clv_sink_buffer_add(rw->out, bytes, n, err) : CLV_OK;
}

static clv_status keep_range(clv_rewrite *rw, const uint8_t *from, const uint8_t *to,
                             clv_error *err)
{
    rw->total += (uint64_t)(to - from);
    return rw->out ? clv_sink_buffer_add_range(rw->out, from, to, err) : CLV_OK;
}

/* length, in place of that of field f, which is number i among the lengths. */
static clv_status put_length(clv_rewrite *rw, const clv_field *f, int32_t i, uint64_t length,
                             clv_error *err)
{
    uint8_t bytes[CLV_VARINT_MAX];
    size_t least = clv_varint_size(length);
    size_t width = (size_t)(f->bytes - f->head); /* in the original; 0: the shortest form */
    if (rw->state->is_ours)
        width = clv_annotation_note_width(&rw->state->note, &rw->width_cursor, i);
    else if (width == clv_varint_size(f->n))
        width = 0;
    if (rw->note && width && rw->out)
        CLV_TRY(clv_annotation_note_add_width(rw->note, rw->arena, i, width, err));
    if (rw->add || width < least || (!rw->state->is_ours && length != f->n))
        width = least;
    return put_bytes(rw, bytes, clv_varint_put_wide(bytes, length, width), err);
}

static clv_status rewrite_container(clv_rewrite *rw, const clv_message *m, const clv_field *f,
                                    const container *kind, place at, clv_error *err)
{
    int32_t i = rw->next++;
    if (!rw->out) {
        if (i == INT32_MAX / 2 ||
            !CLV_PUSH_ROOM(rw->arena, rw->lengths, rw->n_lengths, rw->cap_lengths))
            return clv_fail_nomem(err, "the lengths of a model's nodes");
        rw->n_lengths++;
    }
    CLV_TRY(keep_range(rw, f->start, f->head, err));
    if (rw->out) {
        CLV_TRY(put_length(rw, f, i, rw->lengths[i], err));
        return kind->walk(rw, clv_message_sub(m, f, kind->type), at, err);
    }
    uint64_t before = rw->total;
    int32_t cursor = rw->width_cursor;
    CLV_TRY(kind->walk(rw, clv_message_sub(m, f, kind->type), at, err));
    rw->lengths[i] = rw->total - before;
    /* The length comes before what it measures: the note is asked in that order too. */
    int32_t inner = rw->width_cursor;
    rw->width_cursor = cursor;
    CLV_TRY(put_length(rw, f, i, rw->lengths[i], err));
    rw->width_cursor = rw->width_cursor > inner ? rw->width_cursor : inner;
    return CLV_OK;
}

static clv_status walk_graph(clv_rewrite *rw, clv_message m, place at, clv_error *err);
static const container graphs = { &onnx__graph_proto__descriptor, walk_graph };

/* Does an attribute hold a graph? Only its keys say so; most hold none. */
static clv_status has_graph(const clv_message *m, const clv_field *attr, bool *ret, clv_error *err)
{
    clv_wire w = clv_message_run(m, attr);
    clv_field f;
    *ret = false;
    for (;;) {
        CLV_TRY(clv_wire_next(&w, &f, err));
        if (!f.number)
            return CLV_OK;
        *ret = *ret || f.number == A_GRAPH || f.number == A_GRAPHS;
    }
}

static clv_status walk_attribute(clv_rewrite *rw, clv_message m, place at, clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number == A_GRAPH || f.number == A_GRAPHS)
            CLV_TRY(rewrite_container(rw, &m, &f, &graphs, at, err));
        else
            CLV_TRY(keep_range(rw, f.start, m.wire.at, err));
    }
}

/* Ours is the last field of a node, and says our configuration's name. */
static clv_status pass_device_entry(clv_rewrite *rw, const clv_message *m, const clv_field *f,
                                    clv_error *err)
{
    clv_str name = clv_entry_configuration(m, f);
    bool is_ours =
        rw->state->is_ours && m->wire.at == m->wire.end && clv_str_eq(name, rw->state->note.name);
    if (is_ours || rw->drop_all)
        return CLV_OK;
    if (rw->gather_names)
        CLV_TRY(clv_annotation_state_add_name(rw->state, name, err));
    return keep_range(rw, f->start, m->wire.at, err);
}

static clv_status walk_node(clv_rewrite *rw, clv_message m, place at, clv_error *err)
{
    static const container attributes = { &onnx__attribute_proto__descriptor, walk_attribute };
    const clv_message node = m;
    clv_field f;
    for (;;) {
        bool inside = false;
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == N_ATTRIBUTE)
            CLV_TRY(has_graph(&m, &f, &inside, err));
        if (inside)
            CLV_TRY(rewrite_container(rw, &m, &f, &attributes, at, err));
        else if (f.number == N_DEVICES)
            CLV_TRY(pass_device_entry(rw, &m, &f, err));
        else
            CLV_TRY(keep_range(rw, f.start, m.wire.at, err));
    }
    if (!rw->add)
        return CLV_OK;
    int32_t stage = at.device < 0 ? -1 : rw->add->plan->devices[at.device].stage;
    clv_node_place p = { at.device, stage, at.given, { NULL, 0 } };
    if (at.device >= 0 && rw->add->copies)
        p.copies = rw->add->copies[at.device];
    CLV_TRY(clv_node_entry_encode(&rw->entry, &node, rw->add->name, &p, err));
    return put_bytes(rw, rw->entry.bytes, (size_t)rw->entry.n, err);
}

/* The place of the next node of a graph. */
static clv_status next_place(clv_rewrite *rw, place at, place *ret, clv_error *err)
{
    *ret = (place){ at.device, false, NULL };
    if (!at.is_main) {
        if (at.given && !clv_plan_has_mesh(rw->add->plan))
            ret->device = CLV_NO_DEVICE; /* the outer node is annotated by hand */
        return CLV_OK;
    }
    int32_t i = rw->n_nodes++;
    if (!rw->add)
        return CLV_OK;
    const clv_plan *plan = rw->add->plan;
    if (i >= plan->n_ops)
        return clv_fail(err, CLV_EUSAGE, "%s has more nodes than the plan, which is for %d",
                        rw->file->name, plan->n_ops);
    ret->device = plan->device_of_op[i];
    if (rw->next_note < plan->n_annotations && rw->add->notes[rw->next_note].file_index == i)
        ret->given = &rw->add->notes[rw->next_note++];
    return CLV_OK;
}

static clv_status walk_nodes(clv_rewrite *rw, clv_message m, uint32_t field, place at,
                             clv_error *err)
{
    static const container nodes = { &onnx__node_proto__descriptor, walk_node };
    clv_field f;
    for (;;) {
        place of_node;
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number == field) {
            CLV_TRY(next_place(rw, at, &of_node, err));
            CLV_TRY(rewrite_container(rw, &m, &f, &nodes, of_node, err));
        } else {
            CLV_TRY(keep_range(rw, f.start, m.wire.at, err));
        }
    }
}

static clv_status walk_graph(clv_rewrite *rw, clv_message m, place at, clv_error *err)
{
    CLV_TRY(clv_message_enter_graph(&m, &rw->depth, err));
    clv_status status = walk_nodes(rw, m, G_NODE, at, err);
    rw->depth--;
    return status;
}

static clv_status walk_function(clv_rewrite *rw, clv_message m, place at, clv_error *err)
{
    return walk_nodes(rw, m, F_NODE, at, err);
}

static clv_status rewrite_top_field(clv_rewrite *rw, const clv_message *m, const clv_field *f,
                                    clv_error *err)
{
    static const container functions = { &onnx__function_proto__descriptor, walk_function };
    bool drop = false;
    clv_str value;
    place at = { -1, false, NULL };
    switch (f->number) {
    case M_GRAPH:
        at.is_main = true;
        return rewrite_container(rw, m, f, &graphs, at, err);
    case M_FUNCTION:
        if (rw->add && rw->n_functions >= rw->add->n_functions)
            return clv_fail(err, CLV_EUSAGE,
                            "%s has more functions than the model that was planned",
                            rw->file->name);
        if (rw->add)
            at.device = rw->add->function_device[rw->n_functions];
        rw->n_functions++;
        return rewrite_container(rw, m, f, &functions, at, err);
    case M_METADATA:
        if (rw->drop_all)
            CLV_TRY(clv_is_annotation_note(m, f, &drop, &value, err));
        if (rw->drop_all && !drop)
            CLV_TRY(clv_is_mesh_metadata_field(m, f, &drop, err));
        break;
    case M_CONFIGURATION:
        drop = rw->drop_all;
        break;
    default: /* a number from the file */
        break;
    }
    return drop ? CLV_OK : keep_range(rw, f->start, m->wire.at, err);
}

clv_status clv_rewrite_model(clv_rewrite *rw, const uint8_t *ir, size_t ir_n, clv_error *err)
{
    const clv_annotation_state *s = rw->state;
    uint8_t ir_key = (uint8_t)clv_wire_key(M_IR, CLV_WIRE_VARINT);
    /* An IR version that was put in front is not in the original. */
    bool has_ir = s->ir.number && !(s->is_ours && s->note.ir == CLV_IR_NONE);
    clv_message m = s->model;
    clv_field f;
    m.wire.end = s->end;
    rw->next = rw->width_cursor = rw->n_nodes = rw->n_functions = rw->next_note = 0;
    rw->total = 0;
    rw->depth = 0;
    rw->n_lengths = rw->out ? rw->n_lengths : 0;
    rw->entry.arena = rw->arena;
    if (ir_n && !has_ir) {
        CLV_TRY(put_bytes(rw, &ir_key, 1, err));
        CLV_TRY(put_bytes(rw, ir, ir_n, err));
    }
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.start != s->ir.start) {
            CLV_TRY(rewrite_top_field(rw, &m, &f, err));
        } else if (ir_n && has_ir) {
            CLV_TRY(keep_range(rw, f.start, f.head, err));
            CLV_TRY(put_bytes(rw, ir, ir_n, err));
        }
    }
}
