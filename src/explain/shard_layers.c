#include "explain/shard_layers.h"

#include <stdlib.h>

#include "base/map.h"
#include "explain/shard_groups.h"

typedef struct {
    const clv_shard_list *list;
    clv_arena *arena;
    clv_shard_groups groups;
    clv_map device_ids;
} summary;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a summary"); }

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
    int32_t *first = CLV_NEW_ARRAY(s->arena, int32_t, s->groups.n_layers + 1);
    int32_t *nodes = CLV_NEW_ARRAY(s->arena, int32_t, s->list->n_nodes);
    if (!first || !nodes)
        return nomem(err);
    for (int32_t i = 0; i < s->list->n_nodes; i++)
        first[s->groups.of_node[i] + 1]++;
    for (int32_t i = 0; i < s->groups.n_layers; i++)
        first[i + 1] += first[i];
    for (int32_t i = s->list->n_nodes - 1; i >= 0; i--)
        nodes[--first[s->groups.of_node[i] + 1]] = i;
    *ret_first = first; /* of layer i at i + 1, and its end where the next one begins */
    *ret_nodes = nodes;
    return CLV_OK;
}

/* As many for each layer of a group. */
static void count_what_follows(const summary *s, clv_shard_layer *layers)
{
    const clv_shard_groups *g = &s->groups;
    for (int32_t i = 0; i < s->list->n_inferred; i++)
        if (g->of_inferred[i] >= 0)
            layers[g->group_of[g->of_inferred[i]]].n_inferred++;
    for (int32_t i = 0; i < s->list->n_moves; i++)
        if (g->of_move[i] >= 0)
            layers[g->group_of[g->of_move[i]]].n_moves++;
    for (int32_t i = 0; i < g->n; i++) {
        layers[i].n_inferred /= layers[i].n_layers;
        layers[i].n_moves /= layers[i].n_layers;
    }
}

static void keep_most(const tally *t, clv_shard_layer *to)
{
    for (int32_t d = 0; d < t->n_devices; d++) {
        const clv_shard_device *device = &t->devices[d];
        if (device->weight_bytes > to->weight_bytes)
            to->weight_bytes = device->weight_bytes;
        if (device->other_bytes > to->other_bytes)
            to->other_bytes = device->other_bytes;
    }
}

/* The first layer of each group stands for the others. */
static clv_status sum_layers(summary *s, tally *t, clv_shard_summary *ret, clv_error *err)
{
    const clv_shard_groups *g = &s->groups;
    int32_t *first = NULL, *nodes = NULL, done = 0;
    clv_shard_layer *layers = CLV_NEW_ARRAY(s->arena, clv_shard_layer, g->n);
    if (!layers)
        return nomem(err);
    CLV_TRY(nodes_by_layer(s, &first, &nodes, err));
    for (int32_t i = 0; i < g->n_layers && done < g->n; i++) {
        int32_t end = i + 1 < g->n_layers ? first[i + 2] : s->list->n_nodes;
        if (g->group_of[i] != done)
            continue;
        const clv_shard_group *group = &g->at[done];
        clv_shard_layer *to = &layers[done++];
        to->configuration = group->configuration;
        to->name = group->name;
        to->n_layers = group->n_layers;
        begin_walk(t);
        for (int32_t k = first[i + 1]; k < end; k++)
            CLV_TRY(tally_node(s, t, &s->list->nodes[nodes[k]], to, err));
        keep_most(t, to);
    }
    count_what_follows(s, layers);
    ret->layers = layers;
    ret->n_layers = g->n;
    return CLV_OK;
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
    summary s = { .list = list, .arena = arena };
    clv_shard_summary made = { 0 };
    tally t = { .seen = CLV_NEW_ARRAY(arena, int32_t, list->model->main->n_tensors) };
    if (!t.seen)
        return nomem(err);
    CLV_TRY(clv_shard_group_layers(list, arena, &s.groups, err));
    CLV_TRY(clv_map_init(&s.device_ids, arena, 0, err));
    CLV_TRY(sum_layers(&s, &t, &made, err));
    CLV_TRY(sum_configurations(&s, &t, &made.sums, err));
    CLV_TRY(sum_traffic(&s, &made, err));
    *ret = made;
    return CLV_OK;
}
