#include "pipeline/annotated_notes.h"

#include <string.h>

#include "graph/infer.h"
#include "notation/spec_shards.h"
#include "plan/plan_annotations.h"
#include "sharding/layout.h"

typedef struct {
    const clv_annotated_model *of;
    const clv_graph *g;
    const clv_types *types;
    clv_arena *scratch;
    clv_annotated_notes *notes;
} reading;

static clv_status choose_configuration(const reading *r, clv_error *err)
{
    const clv_annotation_set *set = &r->notes->set;
    const char *wanted = r->of->configuration, *name = r->of->name;
    const clv_configuration *found = NULL;
    if (set->n_faults > 0)
        return clv_fail(err, CLV_EFORMAT, "%s: %s", name, set->faults[0]);
    if (set->n_configurations == 0)
        return clv_fail(err, CLV_EFORMAT, "%s has no multi-device annotations", name);
    if (!wanted && set->n_configurations > 1)
        return clv_fail(err, CLV_EUSAGE,
                        "%s has %d configurations, '%.80s' and '%.80s' among them, expected the "
                        "name of one",
                        name, (int)set->n_configurations, set->configurations[0].name,
                        set->configurations[1].name);
    for (int32_t i = 0; i < set->n_configurations; i++)
        if (!wanted || strcmp(set->configurations[i].name, wanted) == 0)
            found = &set->configurations[i];
    if (!found)
        return clv_fail(err, CLV_EUSAGE, "%s has no configuration '%.80s', but '%.80s'", name,
                        wanted, set->configurations[0].name);
    if (found->num_devices < 1 || found->num_devices > CLV_DEVICES_MAX)
        return clv_fail(err, CLV_ELIMIT, "configuration '%.80s' has %lld devices, expected 1 to %d",
                        found->name, (long long)found->num_devices, CLV_DEVICES_MAX);
    r->notes->configuration = found;
    return CLV_OK;
}

static clv_status check_spec(const reading *r, const clv_op_info *op, const clv_sharding_spec *spec,
                             clv_error *err)
{
    clv_tensor t = clv_op_operand(r->g, op, spec->tensor);
    const clv_type *type = t.i >= 0 ? &r->types->of[t.i] : NULL;
    clv_tensor_split split;
    clv_error why;
    if (!type)
        return clv_fail(err, CLV_EFORMAT,
                        "node '%.*s' has a spec for '%.80s', which it neither reads nor writes",
                        CLV_STR_ARG(op->label), spec->tensor);
    clv_status status = clv_spec_check(spec, type->kind == CLV_TYPE_TENSOR ? type->rank : 0,
                                       r->notes->configuration->num_devices, r->scratch, &why);
    if (status != CLV_OK)
        return clv_fail(err, status, "node '%.*s': %s", CLV_STR_ARG(op->label), why.message);
    if (spec->n_dims > 0 && !clv_split_of_type(type, &split))
        return clv_fail(err, CLV_EUNSUPP,
                        "node '%.*s' has a spec that splits '%.80s', whose size is not known: "
                        "give its symbols sizes",
                        CLV_STR_ARG(op->label), spec->tensor);
    return CLV_OK;
}

static clv_status take_note(const reading *r, int32_t op, const clv_node_annotation *note,
                            clv_error *err)
{
    const clv_op_info *info = &r->g->ops[op];
    if (r->notes->note_of[op])
        return clv_fail(err, CLV_EFORMAT,
                        "node '%.*s' has two entries of configuration '%.80s', expected one",
                        CLV_STR_ARG(info->label), note->configuration);
    for (int32_t i = 0; i < note->n_specs; i++)
        CLV_TRY(check_spec(r, info, &note->specs[i], err));
    r->notes->note_of[op] = note;
    return CLV_OK;
}

clv_status clv_annotated_notes_read(const clv_annotated_model *of, const clv_types *types,
                                    clv_arena *arena, clv_arena *scratch, clv_annotated_notes *ret,
                                    clv_error *err)
{
    const reading r = { of, of->model->main, types, scratch, ret };
    int32_t *op_at = CLV_NEW_ARRAY(arena, int32_t, r.g->n_ops);
    *ret = (clv_annotated_notes){ .note_of = CLV_NEW_ARRAY(arena, const clv_node_annotation *,
                                                           r.g->n_ops) };
    if (!op_at || !ret->note_of)
        return clv_fail_nomem(err, "an annotated plan");
    for (int32_t i = 0; i < r.g->n_ops; i++)
        op_at[r.g->ops[i].file_index] = i;
    CLV_TRY(clv_onnx_read_annotations(of->file, arena, &ret->set, err));
    CLV_TRY(choose_configuration(&r, err));
    for (int32_t i = 0; i < ret->set.n_nodes; i++) {
        const clv_node_annotation *note = &ret->set.nodes[i].note;
        if (strcmp(note->configuration, ret->configuration->name) == 0)
            CLV_TRY(take_note(&r, op_at[ret->set.nodes[i].file_index], note, err));
    }
    return CLV_OK;
}
