#include "proto/annotation_state.h"

#include "proto/mesh_metadata.h"
#include "proto/onnx.pb-c.h"

enum { M_IR = 1, M_METADATA = 14, M_CONFIGURATION = 26 };

/* The last value of a text field of a message; empty when absent. */
static clv_status text_field(clv_message m, uint32_t number, clv_str *ret, clv_error *err)
{
    clv_field f;
    clv_str text = { NULL, 0 };
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == number)
            CLV_TRY(clv_message_str(&m, &f, &text, err));
    }
    *ret = text;
    return CLV_OK;
}

/* The name that an annotation starts with; empty when it cannot be read, as that makes no model
 * unreadable. */
static clv_str configuration_name(const clv_message *m, const clv_field *f,
                                  const ProtobufCMessageDescriptor *type)
{
    clv_str name = { NULL, 0 };
    if (f->type == CLV_WIRE_BYTES)
        (void)text_field(clv_message_sub(m, f, type), 1, &name, NULL);
    return name;
}

clv_str clv_entry_configuration(const clv_message *node, const clv_field *f)
{
    return configuration_name(node, f, &onnx__node_device_configuration_proto__descriptor);
}

clv_status clv_metadata_entry(const clv_message *model, const clv_field *f, clv_str *ret_key,
                              clv_str *ret_value, clv_error *err)
{
    clv_message entry = clv_message_sub(model, f, &onnx__string_string_entry_proto__descriptor);
    CLV_TRY(text_field(entry, 1, ret_key, err));
    return text_field(entry, 2, ret_value, err);
}

clv_status clv_is_mesh_metadata_field(const clv_message *model, const clv_field *f, bool *ret,
                                      clv_error *err)
{
    clv_str key, value;
    CLV_TRY(clv_metadata_entry(model, f, &key, &value, err));
    *ret = clv_is_mesh_metadata_key(key);
    return CLV_OK;
}

clv_status clv_is_annotation_note(const clv_message *model, const clv_field *f, bool *ret,
                                  clv_str *ret_value, clv_error *err)
{
    clv_str key;
    CLV_TRY(clv_metadata_entry(model, f, &key, ret_value, err));
    *ret = clv_str_is(key, CLV_ANNOTATION_KEY);
    return CLV_OK;
}

clv_status clv_annotation_state_add_name(clv_annotation_state *s, clv_str name, clv_error *err)
{
    int32_t id;
    CLV_TRY(clv_map_put(&s->names, name, s->n_names, &id, err));
    s->n_names += id == s->n_names;
    return CLV_OK;
}

/* Are the fields from `first` to `last` those that annotating appends? Those between them are. */
static clv_status recognize_end(clv_annotation_state *s, const clv_field *first,
                                const clv_field *last, clv_arena *arena, clv_error *err)
{
    clv_str value;
    bool is_note = false;
    if (last->number == M_METADATA)
        CLV_TRY(clv_is_annotation_note(&s->model, last, &is_note, &value, err));
    if (!is_note || first->number != M_CONFIGURATION)
        return CLV_OK;
    CLV_TRY(clv_annotation_note_parse(value, arena, &s->note, &s->is_ours, err));
    clv_str name =
        configuration_name(&s->model, first, &onnx__device_configuration_proto__descriptor);
    s->is_ours = s->is_ours && clv_str_eq(name, s->note.name);
    if (s->is_ours)
        s->end = first->start;
    return CLV_OK;
}

/* First the fields at the end, since they say how to read the others. */
static clv_status find_end(clv_annotation_state *s, clv_arena *arena, clv_error *err)
{
    clv_message m = s->model;
    clv_field f, last = { 0 };
    clv_field run = { 0 },
              first = { 0 }; /* the configuration of a run that goes on; before `last` */
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        bool goes_on = false;
        if (f.number == M_METADATA)
            CLV_TRY(clv_is_mesh_metadata_field(&s->model, &f, &goes_on, err));
        first = run;
        last = f;
        if (!goes_on)
            run = f.number == M_CONFIGURATION ? f : (clv_field){ 0 };
    }
    return recognize_end(s, &first, &last, arena, err);
}

static clv_status read_top_field(clv_annotation_state *s, const clv_field *f, clv_error *err)
{
    bool is_note = false;
    clv_str value;
    if (f->number == M_IR)
        s->ir = *f;
    else if (f->number == M_CONFIGURATION)
        CLV_TRY(clv_annotation_state_add_name(
            s, configuration_name(&s->model, f, &onnx__device_configuration_proto__descriptor),
            err));
    else if (f->number == M_METADATA)
        CLV_TRY(clv_is_annotation_note(&s->model, f, &is_note, &value, err));
    s->has_stray_note = s->has_stray_note || is_note;
    return CLV_OK;
}

/* What the IR version was before we changed it. */
static clv_status original_ir(clv_annotation_state *s, clv_error *err)
{
    s->ir_bytes = s->ir.number ? s->ir.bytes : s->model.start;
    s->ir_n = s->ir.n;
    if (s->is_ours && s->note.ir != CLV_IR_KEEP) {
        /* what is put in front is one byte of key and one of value */
        bool fits = s->ir.number &&
                    (s->note.ir == CLV_IR_BYTES || (s->ir.start == s->model.start && s->ir.n == 1));
        if (!fits) {
            s->is_ours = false;
            s->has_stray_note = true;
            return CLV_OK;
        }
        s->ir_bytes = s->note.ir_bytes;
        s->ir_n = (size_t)s->note.ir_n;
    }
    uint64_t value = 0;
    clv_wire w = { s->model.wire.name, s->ir_bytes, s->ir_bytes, s->ir_bytes + s->ir_n };
    if (s->ir_n)
        CLV_TRY(clv_wire_scalar(&w, CLV_WIRE_VARINT, &value, err));
    s->ir_version = (int64_t)value;
    return CLV_OK;
}

clv_status clv_annotation_state_read(const clv_onnx_file *file, clv_arena *arena,
                                     clv_annotation_state *s, clv_error *err)
{
    clv_wire whole = clv_onnx_wire(file);
    clv_field f;
    *s = (clv_annotation_state){ .is_ours = false };
    s->model = clv_message_in(&whole, &onnx__model_proto__descriptor, file->bytes, file->n);
    s->end = s->model.wire.end;
    CLV_TRY(clv_map_init(&s->names, arena, 0, err));
    CLV_TRY(find_end(s, arena, err));
    clv_message m = s->model;
    m.wire.end = s->end;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        CLV_TRY(read_top_field(s, &f, err));
    }
    return original_ir(s, err);
}

clv_status clv_annotation_state_unused_name(const clv_annotation_state *s, const char *wanted,
                                            clv_arena *arena, clv_str *ret, clv_error *err)
{
    clv_str name = clv_str_of(wanted);
    for (int32_t k = 2; clv_map_get(&s->names, name) >= 0; k++) {
        char *next = clv_arena_printf(arena, "%s_%d", wanted, k);
        if (!next)
            return clv_fail_nomem(err, "a name");
        name = clv_str_of(next);
    }
    *ret = name;
    return CLV_OK;
}
