#include "annotations/annotated_shards.h"

#include <inttypes.h>

#include "annotations/propagation.h"
#include "annotations/stage_order.h"
#include "graph/infer_bound.h"
#include "notation/tile_dictionary.h"
#include "plan/plan_annotations.h"
#include "proto/read_annotations.h"

/* File -> annotations; model -> types; each spec against the type of its tensor. */

#define SHARDS_MAX (1 << 22) /* of one list; each is some 100 bytes, and a line of the report */

typedef struct {
    const clv_annotated_shards_request *req;
    clv_arena *arena;
    clv_annotation_set set;
    const clv_types *types;
    const clv_binding *bindings;
    int32_t n_bindings;
    clv_op *op_at;            /* by position in the file */
    clv_map name_of;          /* of a configuration, to its place in list->configurations */
    const clv_op_info *named; /* whose tensors names has */
    clv_map names;
    clv_shard_list *list;
    int64_t n_shards;
} maker;

/* -- one spec -- */

/* The spec with the bound symbols of its factors as numbers. */
static clv_status bind_spec(const maker *m, clv_sharding_spec *spec, clv_error *err)
{
    clv_sharded_dim *dims = CLV_NEW_ARRAY(m->arena, clv_sharded_dim, spec->n_dims);

    if (!dims)
        return clv_fail_nomem(err, "shards");
    for (int32_t d = 0; d < spec->n_dims; d++) {
        int32_t n = spec->dims[d].n_simple;
        clv_simple_sharding *simple = CLV_NEW_ARRAY(m->arena, clv_simple_sharding, n);
        if (!simple)
            return clv_fail_nomem(err, "shards");
        for (int32_t i = 0; i < n; i++) {
            simple[i] = spec->dims[d].simple[i];
            if (!simple[i].dim_param)
                continue;
            simple[i].dim = CLV_DIM_UNKNOWN;
            for (int32_t b = m->n_bindings - 1; b >= 0; b--) /* the first of a symbol counts */
                if (clv_str_is(m->bindings[b].symbol, simple[i].dim_param))
                    simple[i].dim = m->bindings[b].value;
        }
        dims[d] = (clv_sharded_dim){ spec->dims[d].axis, simple, n };
    }
    spec->dims = dims;
    return CLV_OK;
}

/* A part without elements is nobody's intent: a plan has no more parts than elements. */
static clv_status check_counts(const clv_sharding_spec *spec, const clv_type *type, clv_error *err)
{
    for (int32_t d = 0; d < spec->n_dims; d++) {
        const clv_sharded_dim *dim = &spec->dims[d];
        int64_t axis = dim->axis < 0 ? dim->axis + type->rank : dim->axis;
        for (int32_t i = 0; i < dim->n_simple; i++) {
            int64_t size = dim->n_simple == 1 ? type->dims[axis] : dim->simple[i].dim;
            if (size >= 0 && dim->simple[i].num_shards > size)
                return clv_fail(err, CLV_EFORMAT,
                                "axis %" PRId64 " of '%.80s' is split into %" PRId64
                                " shards, expected at most %" PRId64 ", as many as it has elements",
                                dim->axis, CLV_SPEC_NAME(spec), dim->simple[i].num_shards, size);
        }
    }
    return CLV_OK;
}

/* Legal for its tensor, and where the shape is known, its shards. */
static clv_status split_spec(maker *m, const clv_shard_node *node, const clv_sharding_spec *spec,
                             clv_shard_row *row, clv_error *inner)
{
    const clv_type *type = row->type;
    int32_t rank = type->kind == CLV_TYPE_TENSOR ? type->rank : CLV_RANK_UNKNOWN;
    int64_t n_devices = 0;
    clv_sharding_spec own = *spec;

    if (node->configuration >= 0)
        n_devices = m->list->configurations[node->configuration].num_devices;
    CLV_TRY(clv_spec_check(spec, rank, n_devices, m->arena, inner));
    row->open = rank == CLV_RANK_UNKNOWN || !clv_type_is_static(type);
    if (row->open)
        return CLV_OK;
    CLV_TRY(bind_spec(m, &own, inner));
    row->spec = own;
    CLV_TRY(check_counts(&own, type, inner));
    const clv_tensor_split tensor = {
        .rank = rank, .dims = type->dims, .dtype = type->dtype, .policy = m->req->policy
    };
    return clv_spec_shards(&own, &tensor, m->arena, &row->shards, inner);
}

/* The spec of a row as tiles, or why it has no such form. */
static clv_status add_tiles(const maker *m, clv_shard_row *row, clv_error *err)
{
    clv_error inner = { .message = "" };
    clv_tiles tiles;
    clv_status status = CLV_EUNSUPP;

    if (row->type->kind == CLV_TYPE_TENSOR && row->type->rank != CLV_RANK_UNKNOWN)
        status = clv_tiles_from_spec(&row->spec, CLV_TILES_ROW_MAJOR, row->type->rank, m->arena,
                                     &tiles, &inner);
    else
        clv_fail(&inner, status, "'%.80s' has no known number of dimensions", row->tensor);
    if (status == CLV_ENOMEM)
        return clv_fail(err, status, "%s", inner.message);
    if (status == CLV_OK)
        row->tiles = clv_tiles_print(&tiles, m->arena);
    else
        row->no_tiles = clv_arena_printf(m->arena, "%s", inner.message);
    return row->tiles || row->no_tiles ? CLV_OK : clv_fail_nomem(err, "shards");
}

static clv_status make_row(maker *m, const clv_shard_node *node, const clv_sharding_spec *spec,
                           clv_shard_row *row, clv_error *err)
{
    clv_error inner = { .message = "" };
    clv_tensor t = clv_op_named(&m->names, spec->tensor);
    clv_status status = CLV_OK;

    row->tensor = spec->tensor;
    row->id = t;
    row->spec = *spec;
    if (t.i >= 0) {
        row->type = &m->types->of[t.i];
        status = split_spec(m, node, spec, row, &inner);
    } else {
        status = clv_fail(&inner, CLV_EFORMAT, "'%.80s' is neither an input nor an output of it",
                          spec->tensor);
    }
    if (status == CLV_EFORMAT || status == CLV_ELIMIT) {
        row->wrong =
            clv_arena_printf(m->arena, "node '%.*s': %s", CLV_STR_ARG(node->node), inner.message);
        return row->wrong ? CLV_OK : clv_fail_nomem(err, "shards");
    }
    if (status != CLV_OK)
        return clv_fail(err, status, "%s", inner.message);
    m->n_shards += row->shards.n;
    if (m->n_shards > SHARDS_MAX)
        return clv_fail(err, CLV_ELIMIT,
                        "the annotations make over %d shards: choose one configuration",
                        SHARDS_MAX);
    return m->req->tiles ? add_tiles(m, row, err) : CLV_OK;
}

/* -- one node -- */

static clv_status refuse_entry(maker *m, clv_shard_node *node, const char *sentence, clv_error *err)
{
    m->list->n_wrong++;
    node->wrong = sentence;
    return sentence ? CLV_OK : clv_fail_nomem(err, "shards");
}

/* Entries of one node follow each other, under each configuration. */
static clv_status check_entry(maker *m, clv_shard_node *node, clv_error *err)
{
    const clv_shard_node *before = node > m->list->nodes ? node - 1 : NULL;

    if (node->has_stage && node->stage < 0)
        return refuse_entry(m, node,
                            clv_arena_printf(m->arena,
                                             "node '%.*s' has the pipeline_stage %" PRId64
                                             ", expected at least 0",
                                             CLV_STR_ARG(node->node), node->stage),
                            err);
    if (before && node->configuration >= 0 && before->configuration == node->configuration &&
        before->op.i == node->op.i)
        return refuse_entry(m, node,
                            clv_arena_printf(m->arena,
                                             "node '%.*s' is annotated twice for "
                                             "configuration '%s', expected once",
                                             CLV_STR_ARG(node->node), node->name),
                            err);
    return CLV_OK;
}

static clv_status make_node(maker *m, const clv_annotated_node *from, clv_shard_node *node,
                            clv_error *err)
{
    const clv_graph *g = m->req->model->main;
    const clv_op_info *op = clv_op_at(g, m->op_at[from->file_index]);

    node->node = op->label;
    node->op = m->op_at[from->file_index];
    node->has_stage = from->note.has_stage;
    node->stage = from->note.stage;
    node->n_rows = from->note.n_specs;
    node->rows = CLV_NEW_ARRAY(m->arena, clv_shard_row, node->n_rows);
    if (!node->rows)
        return clv_fail_nomem(err, "shards");
    if (m->named != op) /* entries of one node follow each other */
        CLV_TRY(clv_op_names(g, op, m->arena, &m->names, err));
    m->named = op;
    for (int32_t i = 0; i < node->n_rows; i++) {
        const clv_shard_row *row = &node->rows[i];
        CLV_TRY(make_row(m, node, &from->note.specs[i], &node->rows[i], err));
        m->list->n_rows++;
        m->list->n_uneven += row->shards.uneven;
        m->list->n_open += row->open;
        m->list->n_wrong += row->wrong != NULL;
    }
    return check_entry(m, node, err);
}

/* -- all of them -- */

/* Those asked for. A name that is there twice is its first one (the reader says so). */
static clv_status list_configurations(maker *m, clv_error *err)
{
    const char *wanted = m->req->configuration;
    int32_t n = m->set.n_configurations, id = 0;
    clv_shard_configuration *at = CLV_NEW_ARRAY(m->arena, clv_shard_configuration, n);

    if (!at)
        return clv_fail_nomem(err, "shards");
    CLV_TRY(clv_map_init(&m->name_of, m->arena, n, err));
    for (int32_t i = 0; i < n; i++) {
        const clv_configuration *c = &m->set.configurations[i];
        int32_t place = m->list->n_configurations;
        if (wanted && strcmp(wanted, c->name) != 0)
            continue;
        CLV_TRY(clv_map_put(&m->name_of, clv_str_of(c->name), place, &id, err));
        if (id != place)
            continue;
        at[place] = (clv_shard_configuration){ c->name, c->num_devices, c->device, c->n_device };
        m->list->n_configurations++;
    }
    m->list->configurations = at;
    if (!wanted || m->list->n_configurations > 0)
        return CLV_OK;
    return clv_fail(err, CLV_EUSAGE, "'%.60s' is no configuration of the model; it has %d%s%.60s%s",
                    wanted, (int)n, n ? ", the first is '" : "",
                    n ? m->set.configurations[0].name : "", n ? "'" : "");
}

/* Which nodes go where: by configuration, unknown ones last, each in the order of the file. */
static clv_status place_nodes(maker *m, int32_t **ret_place, clv_error *err)
{
    int32_t n = m->list->n_configurations;
    int32_t *start = CLV_NEW_ARRAY(m->arena, int32_t, n + 2);
    int32_t *place = CLV_NEW_ARRAY(m->arena, int32_t, m->set.n_nodes);

    if (!start || !place)
        return clv_fail_nomem(err, "shards");
    for (int32_t i = 0; i < m->set.n_nodes; i++) {
        const char *name = m->set.nodes[i].note.configuration;
        place[i] = clv_map_get(&m->name_of, clv_str_of(name ? name : ""));
        if (place[i] < 0)
            place[i] = n;
        start[place[i] + 1]++;
    }
    for (int32_t c = 0; c <= n; c++)
        start[c + 1] += start[c];
    m->list->n_nodes = m->req->configuration ? start[n] : start[n + 1];
    for (int32_t i = 0; i < m->set.n_nodes; i++)
        place[i] = place[i] == n && m->req->configuration ? -1 : start[place[i]]++;
    *ret_place = place;
    return CLV_OK;
}

static clv_status list_nodes(maker *m, clv_error *err)
{
    int32_t *place = NULL;

    CLV_TRY(place_nodes(m, &place, err));
    m->list->nodes = CLV_NEW_ARRAY(m->arena, clv_shard_node, m->list->n_nodes);
    if (!m->list->nodes)
        return clv_fail_nomem(err, "shards");
    for (int32_t i = 0; i < m->set.n_nodes; i++) {
        const char *name = m->set.nodes[i].note.configuration;
        if (place[i] < 0)
            continue;
        clv_shard_node *node = &m->list->nodes[place[i]];
        node->name = name ? name : "";
        node->configuration = clv_map_get(&m->name_of, clv_str_of(node->name));
        CLV_TRY(make_node(m, &m->set.nodes[i], node, err));
    }
    return CLV_OK;
}

static clv_status infer_types(maker *m, clv_error *err)
{
    const clv_graph *g = m->req->model->main;
    clv_inference *inference = NULL;

    CLV_TRY(clv_infer_bound(m->req->model, m->req->bindings, m->req->n_bindings, m->arena,
                            &inference, err));
    m->bindings = inference->bound.at;
    m->n_bindings = inference->bound.n;
    m->types = inference->main;
    m->op_at = CLV_NEW_ARRAY(m->arena, clv_op, g->n_ops);
    if (!m->op_at)
        return clv_fail_nomem(err, "shards");
    for (int32_t i = 0; i < g->n_ops; i++)
        m->op_at[g->ops[i].file_index] = (clv_op){ i };
    for (int32_t i = 0; i < g->n_inputs; i++)
        m->list->inputs_are_open |= !clv_type_is_static(&m->types->of[g->inputs[i].i]);
    return CLV_OK;
}

clv_status clv_list_annotated_shards(const clv_annotated_shards_request *req, clv_arena *arena,
                                     clv_shard_list *ret, clv_error *err)
{
    clv_shard_list list = { .model_name = req->model_name,
                            .model = req->model,
                            .policy = req->policy,
                            .tiles = req->tiles };
    maker m = { .req = req, .arena = arena, .list = &list };

    CLV_TRY(clv_onnx_read_annotations(req->file, arena, &m.set, err));
    CLV_TRY(list_configurations(&m, err));
    CLV_TRY(infer_types(&m, err));
    list.faults = m.set.faults;
    list.n_faults = list.n_wrong = m.set.n_faults;
    list.n_in_bodies = m.set.n_in_bodies;
    list.n_in_functions = m.set.n_in_functions;
    CLV_TRY(list_nodes(&m, err));
    CLV_TRY(clv_check_stage_order(&list, arena, err));
    CLV_TRY(clv_propagate_shardings(m.types, &list, arena, err));
    if (req->backend)
        CLV_TRY(clv_backend_check(req->backend, &list, arena, err));
    *ret = list;
    return CLV_OK;
}
