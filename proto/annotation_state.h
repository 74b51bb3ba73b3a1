/* annotation_state.h - what the top of a file says that matters for annotating it: its IR version,
 * the configurations it has, and whether cleave has been here before.
 */
#ifndef CLV_PROTO_ANNOTATION_STATE_H
#define CLV_PROTO_ANNOTATION_STATE_H

#include "base/map.h"
#include "proto/annotation_note.h"
#include "proto/message.h"
#include "proto/onnx_file.h"

typedef struct {
    clv_message model;
    /* Ours, when the file ends with the fields that annotating appends: a configuration, what is
     * said of meshes, the note. */
    bool is_ours;
    clv_annotation_note note;
    const uint8_t *end;  /* of the original's fields: without those */
    bool has_stray_note; /* a note of ours that is not where we put it, or makes no sense */
    /* The IR version of the original, and the field that has it now. */
    clv_field ir;            /* number 0: there is none in the file */
    const uint8_t *ir_bytes; /* as encoded in the original; n 0: it has none */
    size_t ir_n;
    int64_t ir_version;
    clv_map names; /* of configurations that are not ours */
    int32_t n_names;
} clv_annotation_state;

/* Two walks over the fields of the model. CLV_EFORMAT: it is no protobuf message. O(those fields +
 * the note). */
clv_status clv_annotation_state_read(const clv_onnx_file *file, clv_arena *arena,
                                     clv_annotation_state *ret, clv_error *err);

/* Another name that is taken by somebody else. */
clv_status clv_annotation_state_add_name(clv_annotation_state *s, clv_str name, clv_error *err);

/* wanted, or wanted_2, wanted_3, ...: the first that nobody else has. */
clv_status clv_annotation_state_unused_name(const clv_annotation_state *s, const char *wanted,
                                            clv_arena *arena, clv_str *ret, clv_error *err);

/* Key and value of a metadata_props entry of the model; empty where absent. */
clv_status clv_metadata_entry(const clv_message *model, const clv_field *f, clv_str *ret_key,
                              clv_str *ret_value, clv_error *err);
/* Is the field a metadata_props entry of a plan's meshes (mesh_metadata.h)? */
clv_status clv_is_mesh_metadata_field(const clv_message *model, const clv_field *f, bool *ret,
                                      clv_error *err);
/* Is the field a metadata_props entry with our key, and which value has it? */
clv_status clv_is_annotation_note(const clv_message *model, const clv_field *f, bool *ret,
                                  clv_str *ret_value, clv_error *err);
/* The configuration of a device_configurations entry; empty when it cannot be read. */
clv_str clv_entry_configuration(const clv_message *node, const clv_field *f);

#endif
