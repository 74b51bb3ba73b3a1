/* annotated_notes.h - what the annotations of a model say of each operator under one configuration,
 * held against the graph: the one that a plan is made of.
 */
#ifndef CLV_PIPELINE_ANNOTATED_NOTES_H
#define CLV_PIPELINE_ANNOTATED_NOTES_H

#include "graph/bindings.h"
#include "graph/graph.h"
#include "graph/types.h"
#include "proto/onnx_file.h"
#include "proto/read_annotations.h"

/* An annotated model, and how it is looked at. */
typedef struct {
    const clv_onnx_file *file;
    const clv_model *model;    /* of the file */
    const char *name;          /* of the file, without folder */
    const char *configuration; /* NULL: the only one that the file has */
    const clv_binding *bindings;
    int32_t n_bindings;
} clv_annotated_model;

typedef struct {
    clv_annotation_set set; /* all that the file says */
    const clv_configuration *configuration;
    const clv_node_annotation **note_of; /* by operator; NULL: the file says nothing of it */
} clv_annotated_notes;

/* Every spec is of a tensor that its node reads or writes, whose size is known if it is split, and
 * passes clv_spec_check(). CLV_EUSAGE: the file has no such configuration, or several. CLV_EFORMAT,
 * CLV_EUNSUPP: what contradicts that. In the arena; scratch is given back. O(entries + devices of
 * all specs). */
clv_status clv_annotated_notes_read(const clv_annotated_model *of, const clv_types *types,
                                    clv_arena *arena, clv_arena *scratch, clv_annotated_notes *ret,
                                    clv_error *err);

#endif
