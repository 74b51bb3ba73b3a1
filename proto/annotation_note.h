/* annotation_note.h - the note that cleave leaves in a model that it annotates, so that strip can
 * give back the same bytes.
 *
 * It is the value of the metadata_props entry "cleave.annotation":
 *
 *     1;size=1234;ir=08;wide=0+1:5,7+2:3;name=cleave
 *
 * size: bytes of the original. ir: "keep" (untouched), "none" (there was none; one was put in
 * front) or the original number as encoded, in hex. wide: lengths that were not in their shortest
 * form, as runs first+count:bytes, counted over the lengths that annotating changes in the order of
 * the file. name: of the configuration; last, as it may have any character in it.
 */
#ifndef CLV_PROTO_ANNOTATION_NOTE_H
#define CLV_PROTO_ANNOTATION_NOTE_H

#include "base/arena.h"
#include "base/str.h"

#define CLV_ANNOTATION_KEY "cleave.annotation"

typedef enum { CLV_IR_KEEP, CLV_IR_NONE, CLV_IR_BYTES } clv_ir_note;

typedef struct {
    int64_t first, count;
    int32_t width;
} clv_width_run;

typedef struct {
    int64_t size;
    clv_ir_note ir;
    uint8_t ir_bytes[10];
    int32_t ir_n;
    clv_width_run *runs; /* ascending, apart */
    int32_t n_runs, cap_runs;
    clv_str name;
} clv_annotation_note;

/* Length number i was width bytes wide; called with ascending i. */
clv_status clv_annotation_note_add_width(clv_annotation_note *a, clv_arena *arena, int64_t i,
                                         size_t width, clv_error *err);
/* The width of length number i, or 0: the shortest. *cursor starts at 0 and follows ascending i. */
size_t clv_annotation_note_width(const clv_annotation_note *a, int32_t *cursor, int64_t i);

/* NULL: no memory. name must have no zero byte. */
char *clv_annotation_note_text(const clv_annotation_note *a, clv_arena *arena);
/* *ret_fine false: not a text that clv_annotation_note_text() writes. */
clv_status clv_annotation_note_parse(clv_str text, clv_arena *arena, clv_annotation_note *ret,
                                     bool *ret_fine, clv_error *err);

#endif
