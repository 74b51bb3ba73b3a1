#include "explain/report_shards_json.h"

#include "base/json_out.h"
#include "explain/shard_sentences.h"
#include "plan/plan_json.h"
#include "plan/plan_json_annotations.h"

static void put_row(clv_json_out *out, const clv_shard_list *list, const clv_shard_row *row)
{
    const clv_shards *shards = &row->shards;

    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "tensor", row->tensor);
    if (row->type) {
        char type[256];
        clv_json_put_string(out, "type", clv_type_show(list->model, row->type, type, sizeof type));
        if (shards->n > 0 && shards->rank > row->type->rank)
            clv_plan_put_numbers(out, "factors", shards->dims, shards->rank);
    }
    if (row->wrong)
        clv_json_put_string(out, "wrong", row->wrong);
    clv_json_put_bool(out, "open", row->open);
    if (shards->uneven)
        clv_json_put_string(out, "uneven", clv_uneven_word(list->policy));
    if (row->tiles)
        clv_json_put_string(out, "tiles", row->tiles);
    if (row->no_tiles)
        clv_json_put_string(out, "no_tiles", row->no_tiles);
    clv_json_open_array(out, "shards");
    for (int32_t i = 0; i < shards->n; i++) {
        const clv_shard *shard = &shards->at[i];
        clv_json_open_object(out, NULL);
        clv_plan_put_count(out, "device", shard->device);
        clv_json_put_int(out, "part", shard->part);
        clv_plan_put_numbers(out, "offset", shard->offset, shards->rank);
        clv_plan_put_numbers(out, "shape", shard->size, shards->rank);
        clv_plan_put_count(out, "bytes", shard->bytes);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    clv_json_close_object(out);
}

static void put_node(clv_json_out *out, const clv_shard_list *list, const clv_shard_node *node)
{
    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "configuration", node->name);
    clv_json_put_str(out, "node", node->node);
    if (node->has_stage)
        clv_json_put_int(out, "stage", node->stage);
    if (node->wrong)
        clv_json_put_string(out, "wrong", node->wrong);
    clv_json_open_array(out, "tensors");
    for (int32_t i = 0; i < node->n_rows; i++)
        put_row(out, list, &node->rows[i]);
    clv_json_close_array(out);
    clv_json_close_object(out);
}

static void put_texts(clv_json_out *out, const char *key, const char *const *at, int32_t n)
{
    clv_json_open_array(out, key);
    for (int32_t i = 0; i < n; i++)
        clv_json_put_string(out, NULL, at[i]);
    clv_json_close_array(out);
}

static void put_configurations(clv_json_out *out, const clv_shard_list *list)
{
    clv_json_open_array(out, "configurations");
    for (int32_t i = 0; i < list->n_configurations; i++) {
        const clv_shard_configuration *c = &list->configurations[i];
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "name", c->name);
        clv_json_put_int(out, "num_devices", c->num_devices);
        put_texts(out, "devices", c->device, c->n_device);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

/* -- what follows from the specs -- */

static void put_place(clv_json_out *out, const clv_shard_list *list, const clv_shard_site *at)
{
    clv_json_put_string(out, "configuration",
                        at->configuration < 0 ? "" : list->configurations[at->configuration].name);
    if (at->node.n > 0)
        clv_json_put_str(out, "node", at->node);
    if (at->tensor)
        clv_json_put_string(out, "tensor", at->tensor);
}

static void put_inferred(clv_json_out *out, const clv_shard_list *list)
{
    static const char *const why[] = { [CLV_SHARD_OF_PRODUCER] = "producer",
                                       [CLV_SHARD_OF_INPUT] = "model input",
                                       [CLV_SHARD_BY_INPUTS] = "other inputs",
                                       [CLV_SHARD_BY_RULE] = "rule" };

    clv_json_open_array(out, "inferred");
    for (int32_t i = 0; i < list->n_inferred; i++) {
        const clv_shard_inferred *one = &list->inferred[i];
        clv_json_open_object(out, NULL);
        put_place(out, list, &one->at);
        clv_json_put_string(out, "by", why[one->why]);
        if (one->spec)
            clv_plan_put_spec(out, "spec", one->spec);
        if (one->n_summands > 1) {
            clv_json_put_int(out, "partial_results", one->n_summands);
            clv_json_put_string(out, "reduce", one->reduce);
        }
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static void put_moves(clv_json_out *out, const clv_shard_list *list)
{
    clv_json_open_array(out, "communication");
    for (int32_t i = 0; i < list->n_moves; i++) {
        const clv_shard_move *one = &list->moves[i];
        clv_json_open_object(out, NULL);
        put_place(out, list, &one->at);
        clv_json_put_string(out, "of", one->is_output ? "output" : "input");
        clv_json_put_bool(out, "own_spec_differs", !one->is_output || one->own_differs);
        clv_json_put_string(out, "from", one->from);
        clv_json_put_string(out, "to", one->to);
        clv_json_open_array(out, "steps");
        for (int32_t k = 0; k < one->n_steps; k++) {
            clv_json_open_object(out, NULL);
            clv_json_put_string(out, "kind", one->steps[k].name);
            clv_json_put_int(out, "devices", one->steps[k].devices);
            clv_plan_put_count(out, "bytes", one->steps[k].bytes);
            clv_json_close_object(out);
        }
        clv_json_close_array(out);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static void put_remarks(clv_json_out *out, const clv_shard_list *list, const char *key,
                        const clv_shard_remark *at, int32_t n)
{
    clv_json_open_array(out, key);
    for (int32_t i = 0; i < n; i++) {
        clv_json_open_object(out, NULL);
        put_place(out, list, &at[i].at);
        clv_json_put_string(out, "text", at[i].text);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

clv_status clv_report_shards_json(const clv_shard_list *list, clv_arena *arena,
                                  const char **ret_text, clv_error *err)
{
    clv_json_out out;

    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_string(&out, "model", list->model_name);
    clv_json_put_string(&out, "policy", clv_uneven_word(list->policy));
    put_configurations(&out, list);
    clv_json_open_array(&out, "nodes");
    for (int32_t i = 0; i < list->n_nodes; i++)
        put_node(&out, list, &list->nodes[i]);
    clv_json_close_array(&out);
    clv_json_put_int(&out, "annotated_tensors", list->n_rows);
    clv_json_put_int(&out, "uneven_tensors", list->n_uneven);
    clv_json_put_int(&out, "open_tensors", list->n_open);
    clv_json_put_int(&out, "wrong", list->n_wrong);
    put_texts(&out, "faults", list->faults, list->n_faults);
    clv_json_put_int(&out, "in_bodies", list->n_in_bodies);
    clv_json_put_int(&out, "in_functions", list->n_in_functions);
    put_inferred(&out, list);
    put_remarks(&out, list, "entries", list->entries, list->n_entries);
    put_moves(&out, list);
    put_remarks(&out, list, "unchecked", list->unchecked, list->n_unchecked);
    if (list->backend)
        clv_json_put_string(&out, "backend", list->backend);
    put_remarks(&out, list, "unsupported", list->unsupported, list->n_unsupported);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    *ret_text = out.text;
    return CLV_OK;
}
