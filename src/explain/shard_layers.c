#include "explain/shard_layers.h"

#include <stdlib.h>

#include "base/map.h"
#include "explain/layer_names.h"
#include "explain/text.h"

/* In four steps: which layer each node, and each thing that follows for a node, is of; a text for
 * each of these that is the same where they are alike; layers whose texts are the same one after
 * the other; sums of the first of each.
 */

typedef struct {
    int32_t configuration;
    const char *name, *pattern;
    int32_t n;          /* things of it */
    int32_t first, end; /* of its signatures; from first to end while they come */
    int32_t group;
} layer;

typedef struct {
    const clv_shard_list *list;
    clv_arena *arena;
    clv_layer_names names;
    clv_map layer_ids, signature_ids, device_ids;
    layer *layers;
    int32_t n_layers, layers_cap;
    int32_t *of_node, *of_inferred, *of_move; /* layers; -1: none of its nodes is annotated */
    int32_t *signatures, n_signatures;
    clv_text key; /* scratch */
} summary;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a summary"); }

/* -- layers -- */

static clv_status find_layer(summary *s, int32_t configuration, clv_str node, bool add,
                             int32_t *ret, clv_error *err)
{
    clv_layer_name of;
    CLV_TRY(clv_layer_of(&s->names, node, s->arena, &of, err));
    const char *key = clv_arena_printf(s->arena, "%d %s", (int)configuration, of.name);
    if (!key)
        return nomem(err);
    *ret = clv_map_get(&s->layer_ids, clv_str_of(key));
    if (*ret >= 0 || !add)
        return CLV_OK;
    CLV_TRY(clv_map_put(&s->layer_ids, clv_str_of(key), s->n_layers, ret, err));
    if (!CLV_PUSH_ROOM(s->arena, s->layers, s->n_layers, s->layers_cap))
        return nomem(err);
    s->layers[s->n_layers++] =
        (layer){ .configuration = configuration, .name = of.name, .pattern = of.pattern };
    return CLV_OK;
}

static clv_status find_layers(summary *s, clv_error *err)
{
    const clv_shard_list *l = s->list;
    s->of_node = CLV_NEW_ARRAY(s->arena, int32_t, l->n_nodes);
    s->of_inferred = CLV_NEW_ARRAY(s->arena, int32_t, l->n_inferred);
    s->of_move = CLV_NEW_ARRAY(s->arena, int32_t, l->n_moves);
    if (!s->of_node || !s->of_inferred || !s->of_move)
        return nomem(err);
    for (int32_t i = 0; i < l->n_nodes; i++)
        CLV_TRY(clv_layer_names_add(&s->names, l->nodes[i].node, err));
    for (int32_t i = 0; i < l->n_nodes; i++)
        CLV_TRY(
            find_layer(s, l->nodes[i].configuration, l->nodes[i].node, true, &s->of_node[i], err));
    for (int32_t i = 0; i < l->n_inferred; i++) {
        const clv_shard_site *at = &l->inferred[i].at;
        CLV_TRY(find_layer(s, at->configuration, at->node, false, &s->of_inferred[i], err));
    }
    for (int32_t i = 0; i < l->n_moves; i++) {
        const clv_shard_site *at = &l->moves[i].at;
        CLV_TRY(find_layer(s, at->configuration, at->node, false, &s->of_move[i], err));
    }
    return CLV_OK;
}

/* -- signatures -- */

static void add_number(clv_text *key, int64_t n) { clv_text_add(key, (const char *)&n, sizeof n); }

static void add_string(clv_text *key, const char *text)
{
    clv_text_add(key, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void add_spec(clv_text *key, const clv_sharding_spec *spec)
{
    add_number(key, spec->n_device);
    clv_text_add(key, (const char *)spec->device, (size_t)spec->n_device * sizeof *spec->device);
    add_number(key, spec->n_groups);
    for (int32_t i = 0; i < spec->n_groups; i++) {
        const clv_device_group *group = &spec->groups[i];
        add_number(key, group->key);
        add_number(key, group->n_devices);
        clv_text_add(key, (const char *)group->devices,
                     (size_t)group->n_devices * sizeof *group->devices);
    }
    add_number(key, spec->n_dims);
    for (int32_t i = 0; i < spec->n_dims; i++) {
        add_number(key, spec->dims[i].axis);
        add_number(key, spec->dims[i].n_simple);
        for (int32_t k = 0; k < spec->dims[i].n_simple; k++) {
            add_number(key, spec->dims[i].simple[k].dim);
            add_number(key, spec->dims[i].simple[k].num_shards);
        }
    }
}

static void add_row(clv_text *key, const clv_shard_row *row)
{
    int32_t rank = row->type && row->type->rank > 0 ? row->type->rank : 0;
    add_number(key, row->type ? (int64_t)row->type->dtype : -1);
    add_number(key, row->type ? row->type->rank : -1);
    for (int32_t i = 0; i < rank; i++)
        add_number(key, row->type->dims[i]);
    add_number(key, row->open + 2 * (row->wrong != NULL));
    add_spec(key, &row->spec);
}

static void add_node(clv_text *key, const clv_shard_node *node)
{
    add_number(key, node->has_stage ? node->stage : -1);
    add_number(key, node->wrong != NULL);
    add_number(key, node->n_rows);
    for (int32_t i = 0; i < node->n_rows; i++)
        add_row(key, &node->rows[i]);
}

static void add_move(clv_text *key, const clv_shard_move *move)
{
    add_string(key, move->from);
    add_string(key, move->to);
    for (int32_t k = 0; k < move->n_steps; k++) {
        add_string(key, move->steps[k].name);
        add_number(key, move->steps[k].devices);
        add_number(key, move->steps[k].bytes);
    }
}

/* A thing of a layer begins: what its node is called there, without numbers. */
static clv_status begin(summary *s, clv_str node, clv_error *err)
{
    clv_layer_name of;
    CLV_TRY(clv_layer_of(&s->names, node, s->arena, &of, err));
    s->key.n = 0;
    clv_layer_add_rest(&s->key, node, of.rest);
    return CLV_OK;
}

static clv_status end(summary *s, int32_t of, clv_error *err)
{
    layer *l = &s->layers[of];
    int32_t id;
    if (s->key.failed)
        return nomem(err);
    CLV_TRY(clv_map_put_key(&s->signature_ids, s->key.at, s->key.n, s->n_signatures, &id, err));
    s->n_signatures += id == s->n_signatures;
    s->signatures[l->end++] = id;
    return CLV_OK;
}

static void count(summary *s, const int32_t *of, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (of[i] >= 0)
            s->layers[of[i]].n++;
}

static clv_status make_room(summary *s, clv_error *err)
{
    int32_t n = 0;
    count(s, s->of_node, s->list->n_nodes);
    count(s, s->of_inferred, s->list->n_inferred);
    count(s, s->of_move, s->list->n_moves);
    for (int32_t i = 0; i < s->n_layers; i++) {
        s->layers[i].first = s->layers[i].end = n;
        n += s->layers[i].n;
    }
    s->signatures = CLV_NEW_ARRAY(s->arena, int32_t, n);
    return s->signatures ? CLV_OK : nomem(err);
}

static clv_status sign(summary *s, clv_error *err)
{
    const clv_shard_list *l = s->list;
    CLV_TRY(make_room(s, err));
    for (int32_t i = 0; i < l->n_nodes; i++) {
        CLV_TRY(begin(s, l->nodes[i].node, err));
        add_node(&s->key, &l->nodes[i]);
        CLV_TRY(end(s, s->of_node[i], err));
    }
    for (int32_t i = 0; i < l->n_inferred; i++) {
        if (s->of_inferred[i] < 0)
            continue;
        CLV_TRY(begin(s, l->inferred[i].at.node, err));
        add_string(&s->key, l->inferred[i].text);
        add_number(&s->key, (int64_t)l->inferred[i].why);
        CLV_TRY(end(s, s->of_inferred[i], err));
    }
    for (int32_t i = 0; i < l->n_moves; i++) {
        if (s->of_move[i] < 0)
            continue;
        CLV_TRY(begin(s, l->moves[i].at.node, err));
        add_move(&s->key, &l->moves[i]);
        CLV_TRY(end(s, s->of_move[i], err));
    }
    return CLV_OK;
}

/* -- groups of layers -- */

static clv_status group_layers(summary *s, clv_shard_layer **ret, int32_t *ret_n, clv_error *err)
{
    clv_map ids;
    clv_shard_layer *groups = CLV_NEW_ARRAY(s->arena, clv_shard_layer, s->n_layers);
    int32_t n = 0;
    if (!groups)
        return nomem(err);
    CLV_TRY(clv_map_init(&ids, s->arena, s->n_layers, err));
    for (int32_t i = 0; i < s->n_layers; i++) {
        layer *l = &s->layers[i];
        s->key.n = 0;
        add_number(&s->key, l->configuration);
        add_string(&s->key, l->pattern);
        clv_text_add(&s->key, (const char *)(s->signatures + l->first),
                     (size_t)(l->end - l->first) * sizeof *s->signatures);
        if (s->key.failed)
            return nomem(err);
        CLV_TRY(clv_map_put_key(&ids, s->key.at, s->key.n, n, &l->group, err));
        if (l->group == n)
            groups[n++] = (clv_shard_layer){ .configuration = l->configuration, .name = l->name };
        else
            groups[l->group].name = l->pattern;
        groups[l->group].n_layers++;
    }
    *ret = groups;
    *ret_n = n;
    return CLV_OK;
}

/* -- sums -- */

/* One walk over specs: of a layer, or of a configuration. */
typedef struct {
    int32_t *seen; /* by tensor: the walk that saw it last */
    int32_t walk;
    clv_shard_device *devices; /* by the order in which they come; bytes of this walk */
    int32_t n_devices, devices_cap;
} tally;

static void add_bytes(int64_t *sum, int64_t bytes)
{
    *sum = bytes > INT64_MAX - *sum ? INT64_MAX : *sum + bytes;
}

static clv_status tally_shards(summary *s, tally *t, const clv_shards *shards, bool is_weight,
                               clv_error *err)
{
    for (int32_t i = 0; i < shards->n; i++) {
        const clv_shard *shard = &shards->at[i];
        int32_t id;
        CLV_TRY(clv_map_put_key(&s->device_ids, &shard->device, sizeof shard->device, t->n_devices,
                                &id, err));
        if (id == t->n_devices) {
            if (!CLV_PUSH_ROOM(s->arena, t->devices, t->n_devices, t->devices_cap))
                return nomem(err);
            t->devices[t->n_devices++] = (clv_shard_device){ .device = shard->device };
        }
        add_bytes(is_weight ? &t->devices[id].weight_bytes : &t->devices[id].other_bytes,
                  shard->bytes);
    }
    return CLV_OK;
}

typedef enum { OPEN, SINGLE, REPLICATED, SHARDED } split;

static split split_of(const clv_shard_row *row)
{
    if (row->shards.n == 0)
        return row->wrong || clv_spec_parts(&row->spec) <= 1 ? OPEN : SHARDED;
    if (row->shards.at[row->shards.n - 1].part > 0)
        return SHARDED;
    return row->shards.n > 1 ? REPLICATED : SINGLE;
}

/* Adds a spec; *ret_new where its tensor is new to the walk. */
static clv_status tally_row(summary *s, tally *t, const clv_shard_row *row, bool *ret_new,
                            clv_error *err)
{
    bool is_weight = false;
    *ret_new = true;
    if (row->id.i >= 0) {
        *ret_new = t->seen[row->id.i] != t->walk;
        t->seen[row->id.i] = t->walk;
        is_weight = s->list->model->main->tensors[row->id.i].role == CLV_TENSOR_WEIGHT;
    }
    return *ret_new ? tally_shards(s, t, &row->shards, is_weight, err) : CLV_OK;
}

static void begin_walk(tally *t)
{
    t->walk++;
    for (int32_t i = 0; i < t->n_devices; i++)
        t->devices[i].weight_bytes = t->devices[i].other_bytes = 0;
}

static clv_status tally_node(summary *s, tally *t, const clv_shard_node *node, clv_shard_layer *to,
                             clv_error *err)
{
    bool is_new;
    to->n_nodes++;
    for (int32_t i = 0; i < node->n_rows; i++) {
        CLV_TRY(tally_row(s, t, &node->rows[i], &is_new, err));
        to->n_tensors += is_new;
        to->n_sharded += is_new && split_of(&node->rows[i]) == SHARDED;
    }
    return CLV_OK;
}

/* The nodes of a layer, which need not be side by side, by counting sort. */
static clv_status nodes_by_layer(const summary *s, int32_t **ret_first, int32_t **ret_nodes,
                                 clv_error *err)
{
    int32_t *first = CLV_NEW_ARRAY(s->arena, int32_t, s->n_layers + 1);
    int32_t *nodes = CLV_NEW_ARRAY(s->arena, int32_t, s->list->n_nodes);
    if (!first || !nodes)
        return nomem(err);
    for (int32_t i = 0; i < s->list->n_nodes; i++)
        first[s->of_node[i] + 1]++;
    for (int32_t i = 0; i < s->n_layers; i++)
        first[i + 1] += first[i];
    for (int32_t i = s->list->n_nodes - 1; i >= 0; i--)
        nodes[--first[s->of_node[i] + 1]] = i;
    *ret_first = first; /* of layer i at i + 1, and its end where the next one begins */
    *ret_nodes = nodes;
    return CLV_OK;
}

/* The first layer of each group stands for the others. */
static clv_status sum_layers(summary *s, tally *t, clv_shard_layer *groups, int32_t n_groups,
                             clv_error *err)
{
    int32_t *first = NULL, *nodes = NULL, done = 0;
    CLV_TRY(nodes_by_layer(s, &first, &nodes, err));
    for (int32_t i = 0; i < s->n_layers && done < n_groups; i++) {
        clv_shard_layer *to = &groups[s->layers[i].group];
        int32_t end = i + 1 < s->n_layers ? first[i + 2] : s->list->n_nodes;
        if (s->layers[i].group != done)
            continue;
        done++;
        begin_walk(t);
        for (int32_t k = first[i + 1]; k < end; k++)
            CLV_TRY(tally_node(s, t, &s->list->nodes[nodes[k]], to, err));
        for (int32_t d = 0; d < t->n_devices; d++) {
            const clv_shard_device *device = &t->devices[d];
            if (device->weight_bytes > to->weight_bytes)
                to->weight_bytes = device->weight_bytes;
            if (device->other_bytes > to->other_bytes)
                to->other_bytes = device->other_bytes;
        }
    }
    return CLV_OK;
}

/* As many for each layer of a group. */
static void count_what_follows(const summary *s, clv_shard_layer *groups, int32_t n_groups)
{
    for (int32_t i = 0; i < s->list->n_inferred; i++)
        if (s->of_inferred[i] >= 0)
            groups[s->layers[s->of_inferred[i]].group].n_inferred++;
    for (int32_t i = 0; i < s->list->n_moves; i++)
        if (s->of_move[i] >= 0)
            groups[s->layers[s->of_move[i]].group].n_moves++;
    for (int32_t i = 0; i < n_groups; i++) {
        groups[i].n_inferred /= groups[i].n_layers;
        groups[i].n_moves /= groups[i].n_layers;
    }
}

static int by_number(const void *a, const void *b)
{
    const clv_shard_device *x = a, *y = b;
    return (x->device > y->device) - (x->device < y->device);
}

/* Devices that hold something, by number. */
static clv_status copy_devices(const summary *s, const tally *t, clv_shard_sums *to, clv_error *err)
{
    clv_shard_device *devices = CLV_NEW_ARRAY(s->arena, clv_shard_device, t->n_devices);
    int32_t n = 0;
    if (!devices)
        return nomem(err);
    for (int32_t i = 0; i < t->n_devices; i++)
        if (t->devices[i].weight_bytes > 0 || t->devices[i].other_bytes > 0)
            devices[n++] = t->devices[i];
    if (n > 0)
        qsort(devices, (size_t)n, sizeof *devices, by_number);
    to->devices = devices;
    to->n_devices = n;
    return CLV_OK;
}

/* A tensor that any node splits counts as sharded, and so on downwards. */
static clv_status sum_configuration(summary *s, tally *t, int32_t configuration, uint8_t *most,
                                    clv_shard_sums *to, clv_error *err)
{
    const clv_graph *g = s->list->model->main;
    int32_t n[SHARDED + 1] = { 0 };
    bool is_new;
    begin_walk(t);
    memset(most, 0, (size_t)g->n_tensors);
    for (int32_t i = 0; i < s->list->n_nodes; i++) {
        const clv_shard_node *node = &s->list->nodes[i];
        if (node->configuration != configuration)
            continue;
        to->n_nodes++;
        to->n_specs += node->n_rows;
        for (int32_t k = 0; k < node->n_rows; k++) {
            const clv_shard_row *row = &node->rows[k];
            split of = split_of(row);
            CLV_TRY(tally_row(s, t, row, &is_new, err));
            to->n_tensors += is_new;
            if (row->id.i < 0)
                n[of]++;
            else if ((uint8_t)of >= most[row->id.i])
                most[row->id.i] = (uint8_t)(of + 1); /* 0: none yet */
        }
    }
    for (int32_t i = 0; i < g->n_tensors; i++)
        if (most[i] > 0)
            n[most[i] - 1]++;
    to->n_open = n[OPEN];
    to->n_single = n[SINGLE];
    to->n_replicated = n[REPLICATED];
    to->n_sharded = n[SHARDED];
    return copy_devices(s, t, to, err);
}

static clv_status sum_configurations(summary *s, tally *t, const clv_shard_sums **ret,
                                     clv_error *err)
{
    int32_t n = s->list->n_configurations;
    clv_shard_sums *sums = CLV_NEW_ARRAY(s->arena, clv_shard_sums, n + 1);
    uint8_t *most = CLV_NEW_ARRAY(s->arena, uint8_t, s->list->model->main->n_tensors);
    if (!sums || !most)
        return nomem(err);
    for (int32_t c = 0; c <= n; c++)
        CLV_TRY(sum_configuration(s, t, c < n ? c : -1, most, &sums[c], err));
    *ret = sums;
    return CLV_OK;
}

/* -- traffic -- */

static int by_name(const void *a, const void *b)
{
    const clv_shard_traffic *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->devices > y->devices) - (x->devices < y->devices);
}

static clv_status sum_traffic(const summary *s, clv_shard_summary *ret, clv_error *err)
{
    clv_shard_traffic *at = NULL;
    int32_t n = 0, cap = 0;
    for (int32_t i = 0; i < s->list->n_moves; i++)
        for (int32_t k = 0; k < s->list->moves[i].n_steps; k++) {
            const clv_shard_step *step = &s->list->moves[i].steps[k];
            int32_t of = 0;
            while (of < n &&
                   (strcmp(at[of].name, step->name) != 0 || at[of].devices != step->devices))
                of++; /* kinds are few, and so are numbers of devices */
            if (of == n) {
                if (!CLV_PUSH_ROOM(s->arena, at, n, cap))
                    return nomem(err);
                at[n++] = (clv_shard_traffic){ .name = step->name, .devices = step->devices };
            }
            at[of].n++;
            add_bytes(&at[of].bytes, step->bytes > 0 ? step->bytes : 0);
        }
    if (n > 0)
        qsort(at, (size_t)n, sizeof *at, by_name);
    ret->traffic = at;
    ret->n_traffic = n;
    return CLV_OK;
}

clv_status clv_shard_summarise(const clv_shard_list *list, clv_arena *arena, clv_shard_summary *ret,
                               clv_error *err)
{
    summary s = { .list = list, .arena = arena, .key = { .arena = arena } };
    clv_shard_summary made = { 0 };
    clv_shard_layer *groups = NULL;
    tally t = { .seen = CLV_NEW_ARRAY(arena, int32_t, list->model->main->n_tensors) };
    if (!t.seen)
        return nomem(err);
    CLV_TRY(clv_layer_names_init(&s.names, arena, err));
    CLV_TRY(clv_map_init(&s.layer_ids, arena, 0, err));
    CLV_TRY(clv_map_init(&s.signature_ids, arena, 0, err));
    CLV_TRY(clv_map_init(&s.device_ids, arena, 0, err));
    CLV_TRY(find_layers(&s, err));
    CLV_TRY(sign(&s, err));
    CLV_TRY(group_layers(&s, &groups, &made.n_layers, err));
    CLV_TRY(sum_layers(&s, &t, groups, made.n_layers, err));
    count_what_follows(&s, groups, made.n_layers);
    made.layers = groups;
    CLV_TRY(sum_configurations(&s, &t, &made.sums, err));
    CLV_TRY(sum_traffic(&s, &made, err));
    *ret = made;
    return CLV_OK;
}
