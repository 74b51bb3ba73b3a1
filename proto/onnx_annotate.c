#include "proto/onnx_annotate.h"

#include <assert.h>

#include "proto/function_devices.h"
#include "proto/mesh_metadata.h"
#include "proto/message_writer.h"
#include "proto/onnx.pb-c.h"
#include "proto/rewrite_annotations.h"

/* Annotating and stripping are the same walk (rewrite_annotations.h). It runs up to three times:
 * once as if to strip, which says what the original was and refuses a file that cannot be given
 * back; once to measure the result; once to write it. Nothing goes to the sink before all that can
 * be wrong with the file has been looked at.
 */
#define IR_MULTI_DEVICE ONNX__VERSION__IR_VERSION_MULTI_DEVICE
#define DEFAULT_NAME    "cleave"

enum { M_METADATA = 14, M_CONFIGURATION = 26 };

static clv_status fail_changed(const clv_onnx_file *file, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT,
                    "%s was changed after cleave annotated it, so the original cannot be given "
                    "back byte for byte: strip all its annotations instead",
                    file->name);
}

/* -- what can be wrong with the request -- */

static clv_status check_plan(const clv_onnx_file *file, const clv_model *model,
                             const clv_plan *plan, clv_error *err)
{
    if (plan->n_ops != model->main->n_ops)
        return clv_fail(err, CLV_EUSAGE, "the plan is for %d nodes, but %s has %d", plan->n_ops,
                        file->name, model->main->n_ops);
    for (int32_t i = 0; i < plan->n_ops; i++)
        if (plan->device_of_op[i] < 0 || plan->device_of_op[i] >= plan->n_devices)
            return clv_fail(err, CLV_EUSAGE,
                            "the plan puts node %d on device %d, it has %d devices", i,
                            plan->device_of_op[i], plan->n_devices);
    return CLV_OK;
}

/* The walk as if to strip: total is the size of the original. */
static clv_status find_original(clv_rewrite *rw, const clv_model *model, clv_error *err)
{
    const clv_annotation_state *s = rw->state;
    rw->gather_names = true;
    CLV_TRY(clv_rewrite_model(rw, s->ir_bytes, s->ir_n, err));
    rw->gather_names = false;
    if (s->has_stray_note || (s->is_ours && rw->total != (uint64_t)s->note.size))
        return fail_changed(rw->file, err);
    if (rw->n_nodes != model->main->n_ops || rw->n_functions != model->n_functions)
        return clv_fail(err, CLV_EUSAGE,
                        "%s has %d nodes and %d functions, the model that was planned %d and %d",
                        rw->file->name, rw->n_nodes, rw->n_functions, model->main->n_ops,
                        model->n_functions);
    return CLV_OK;
}

/* -- the fields at the end -- */

/* A field with a message; only its size where nothing is written. */
static clv_status append_message(clv_rewrite *rw, uint32_t field, const ProtobufCMessage *message,
                                 clv_error *err)
{
    uint8_t head[2 * CLV_VARINT_MAX];
    size_t n = protobuf_c_message_get_packed_size(message);
    size_t head_n = clv_varint_put(head, clv_wire_key(field, CLV_WIRE_BYTES));
    head_n += clv_varint_put(head + head_n, n);
    rw->total += head_n + n;
    if (!rw->out)
        return CLV_OK;
    uint8_t *bytes = clv_arena_take(rw->arena, n);
    if (!bytes)
        return clv_fail_nomem(err, "the annotation of a model");
    protobuf_c_message_pack(message, bytes);
    CLV_TRY(clv_sink_buffer_add(rw->out, head, head_n, err));
    return clv_sink_buffer_add(rw->out, bytes, n, err);
}

/* protobuf-c takes strings that it could write to; packing only reads them. */
static char *as_mutable(const char *text) { return (char *)(uintptr_t)text; }

static clv_status append_configuration(clv_rewrite *rw, clv_error *err)
{
    const clv_plan *plan = rw->add->plan;
    Onnx__DeviceConfigurationProto c = ONNX__DEVICE_CONFIGURATION_PROTO__INIT;
    c.name = as_mutable(rw->add->name.at);
    c.has_num_devices = true;
    c.num_devices = plan->n_devices;
    c.n_device = (size_t)plan->n_devices;
    c.device = CLV_NEW_ARRAY(rw->arena, char *, plan->n_devices);
    if (!c.device)
        return clv_fail_nomem(err, "the annotation of a model");
    for (int32_t i = 0; i < plan->n_devices; i++)
        c.device[i] = as_mutable(plan->devices[i].name);
    return append_message(rw, M_CONFIGURATION, &c.base, err);
}

static clv_status append_metadata(clv_rewrite *rw, const char *key, const char *value,
                                  clv_error *err)
{
    Onnx__StringStringEntryProto entry = ONNX__STRING_STRING_ENTRY_PROTO__INIT;
    entry.key = as_mutable(key);
    entry.value = as_mutable(value);
    return append_message(rw, M_METADATA, &entry.base, err);
}

static clv_status append_annotations(clv_rewrite *rw, clv_error *err)
{
    if (!rw->add)
        return CLV_OK;
    const clv_mesh_metadata *meshes = rw->add->meshes;
    CLV_TRY(append_configuration(rw, err));
    for (int32_t i = 0; i < meshes->n; i++)
        CLV_TRY(append_metadata(rw, meshes->key[i], meshes->value[i], err));
    const char *note = clv_annotation_note_text(rw->note, rw->arena);
    return note ? append_metadata(rw, CLV_ANNOTATION_KEY, note, err)
                : clv_fail_nomem(err, "the annotation of a model");
}

/* -- writing -- */

/* Measures and writes; what was measured must be what is written. */
static clv_status measure_and_write(clv_rewrite *rw, const clv_sink *sink, const uint8_t *ir,
                                    size_t ir_n, clv_error *err)
{
    clv_sink_buffer out;
    CLV_TRY(clv_sink_buffer_init(&out, rw->file, sink, rw->arena, err));
    rw->out = NULL;
    CLV_TRY(clv_rewrite_model(rw, ir, ir_n, err));
    uint64_t measured = rw->total;
    CLV_TRY(append_annotations(rw, err));
    /* What was above the limit before is not our doing. The note counts as if all lengths were in
     * their shortest form, as any tool writes them. */
    if (rw->add && rw->note->size <= CLV_PROTOBUF_MAX && rw->total > CLV_PROTOBUF_MAX)
        return clv_fail(err, CLV_ELIMIT,
                        "%s would have %llu bytes with its annotations, and other tools read at "
                        "most %d: keep its weights as external data",
                        rw->file->name, (unsigned long long)rw->total, CLV_PROTOBUF_MAX);
    rw->out = &out;
    CLV_TRY(clv_rewrite_model(rw, ir, ir_n, err));
    assert(rw->total == measured);
    (void)measured;
    CLV_TRY(append_annotations(rw, err));
    return clv_sink_buffer_flush(&out, err);
}

/* What the ir_version field is to be, and the note of what it was. */
static void raise_version(const clv_annotation_state *s, bool raise_ir, clv_annotation_note *note,
                          uint8_t *ir, size_t *ir_n)
{
    *ir_n = s->ir_n;
    if (s->ir_n)
        memcpy(ir, s->ir_bytes, s->ir_n);
    note->ir = CLV_IR_KEEP;
    if (!raise_ir || s->ir_version >= IR_MULTI_DEVICE)
        return;
    note->ir = s->ir_n ? CLV_IR_BYTES : CLV_IR_NONE;
    note->ir_n = (int32_t)s->ir_n;
    memcpy(note->ir_bytes, ir, s->ir_n);
    *ir_n = clv_varint_put(ir, IR_MULTI_DEVICE);
}

clv_status clv_onnx_annotate(const clv_onnx_model *source, const clv_plan *plan, bool raise_ir,
                             const clv_sink *sink, clv_arena *arena, clv_error *err)
{
    const clv_onnx_file *file = source->file;
    const clv_model *model = source->model;
    clv_annotation_state state;
    clv_annotation_note note = { .size = 0 };
    clv_mesh_metadata meshes;
    uint8_t ir[CLV_VARINT_MAX];
    size_t ir_n;
    int32_t *function_device;
    CLV_TRY(check_plan(file, model, plan, err));
    CLV_TRY(clv_annotation_state_read(file, arena, &state, err));
    CLV_TRY(clv_function_devices(model, plan, arena, &function_device, err));

    clv_rewrite rw = { .state = &state, .arena = arena, .file = file };
    CLV_TRY(find_original(&rw, model, err));
    note.size = (int64_t)rw.total;
    clv_new_entries add = { .plan = plan,
                            .function_device = function_device,
                            .n_functions = model->n_functions };
    const char *wanted =
        plan->configuration && *plan->configuration ? plan->configuration : DEFAULT_NAME;
    CLV_TRY(clv_annotation_state_unused_name(&state, wanted, arena, &add.name, err));
    CLV_TRY(clv_node_specs_of_plan(plan, arena, &add.notes, err));
    CLV_TRY(clv_mesh_copies_make(plan, arena, &add.copies, err));
    CLV_TRY(clv_mesh_metadata_make(plan, arena, &meshes, err));
    add.meshes = &meshes;
    note.name = add.name;
    raise_version(&state, raise_ir, &note, ir, &ir_n);
    rw.add = &add;
    rw.note = &note;
    return measure_and_write(&rw, sink, ir, ir_n, err);
}

clv_status clv_onnx_strip(const clv_onnx_file *file, bool all, const clv_sink *sink,
                          clv_arena *arena, clv_error *err)
{
    clv_annotation_state state;
    CLV_TRY(clv_annotation_state_read(file, arena, &state, err));
    clv_rewrite rw = { .state = &state, .arena = arena, .file = file };
    bool has_note = state.is_ours || state.has_stray_note;
    if (!has_note && !all)
        return clv_fail(err, CLV_EFORMAT, "%s has no annotation of cleave", file->name);
    CLV_TRY(clv_rewrite_model(&rw, state.ir_bytes, state.ir_n, err));
    if (!has_note) { /* what has been measured is the file: is it less without any annotation? */
        uint64_t whole = rw.total;
        rw.drop_all = true;
        CLV_TRY(clv_rewrite_model(&rw, state.ir_bytes, state.ir_n, err));
        if (rw.total >= whole)
            return clv_fail(err, CLV_EFORMAT, "%s has no multi-device annotation", file->name);
    }
    bool intact = state.is_ours && !state.has_stray_note && rw.total == (uint64_t)state.note.size;
    if (!intact && !all)
        return fail_changed(file, err);
    if (!intact) { /* the note is of no use: the file is taken as it is */
        state.is_ours = false;
        state.end = state.model.wire.end;
        state.ir_bytes = state.ir.number ? state.ir.bytes : state.model.start;
        state.ir_n = state.ir.n;
    }
    rw.drop_all = all;
    return measure_and_write(&rw, sink, state.ir_bytes, state.ir_n, err);
}
