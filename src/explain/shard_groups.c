#include "explain/shard_groups.h"

#include "base/map.h"
#include "explain/layer_names.h"
#include "explain/text.h"

/* In three steps: which layer each node, and each thing that follows for a node, is of; a text for
 * each of these that is the same where they are alike; layers whose texts are the same one after
 * the other.
 */

typedef struct {
    int32_t configuration;
    const char *name, *pattern;
    int32_t n;          /* things of it */
    int32_t first, end; /* of its signatures; from first to end while they come */
} layer;

typedef struct {
    const clv_shard_list *list;
    clv_arena *arena;
    clv_layer_names names;
    clv_map layer_ids, signature_ids;
    layer *layers;
    int32_t n_layers, layers_cap;
    int32_t *of_node, *of_inferred, *of_move;
    int32_t *signatures, n_signatures;
    clv_text key; /* scratch */
} grouping;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "layers"); }

/* -- layers -- */

static clv_status find_layer(grouping *s, int32_t configuration, clv_str node, bool add,
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

static clv_status find_layers(grouping *s, clv_error *err)
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
static clv_status begin(grouping *s, clv_str node, clv_error *err)
{
    clv_layer_name of;
    CLV_TRY(clv_layer_of(&s->names, node, s->arena, &of, err));
    s->key.n = 0;
    clv_layer_add_rest(&s->key, node, of.rest);
    return CLV_OK;
}

static clv_status end(grouping *s, int32_t of, clv_error *err)
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

static void count(grouping *s, const int32_t *of, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (of[i] >= 0)
            s->layers[of[i]].n++;
}

static clv_status make_room(grouping *s, clv_error *err)
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

static clv_status sign(grouping *s, clv_error *err)
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

static clv_status group_layers(grouping *s, clv_shard_groups *ret, clv_error *err)
{
    clv_map ids;
    ret->at = CLV_NEW_ARRAY(s->arena, clv_shard_group, s->n_layers);
    ret->group_of = CLV_NEW_ARRAY(s->arena, int32_t, s->n_layers);
    if (!ret->at || !ret->group_of)
        return nomem(err);
    CLV_TRY(clv_map_init(&ids, s->arena, s->n_layers, err));
    for (int32_t i = 0; i < s->n_layers; i++) {
        layer *l = &s->layers[i];
        int32_t group;
        s->key.n = 0;
        add_number(&s->key, l->configuration);
        add_string(&s->key, l->pattern);
        clv_text_add(&s->key, (const char *)(s->signatures + l->first),
                     (size_t)(l->end - l->first) * sizeof *s->signatures);
        if (s->key.failed)
            return nomem(err);
        CLV_TRY(clv_map_put_key(&ids, s->key.at, s->key.n, ret->n, &group, err));
        if (group == ret->n)
            ret->at[ret->n++] = (clv_shard_group){ l->configuration, l->name, 0 };
        else
            ret->at[group].name = l->pattern;
        ret->at[group].n_layers++;
        ret->group_of[i] = group;
    }
    return CLV_OK;
}

clv_status clv_shard_group_layers(const clv_shard_list *list, clv_arena *arena,
                                  clv_shard_groups *ret, clv_error *err)
{
    grouping s = { .list = list, .arena = arena, .key = { .arena = arena } };
    clv_shard_groups made = { 0 };
    CLV_TRY(clv_layer_names_init(&s.names, arena, err));
    CLV_TRY(clv_map_init(&s.layer_ids, arena, 0, err));
    CLV_TRY(clv_map_init(&s.signature_ids, arena, 0, err));
    CLV_TRY(find_layers(&s, err));
    CLV_TRY(sign(&s, err));
    CLV_TRY(group_layers(&s, &made, err));
    made.n_layers = s.n_layers;
    made.of_node = s.of_node;
    made.of_inferred = s.of_inferred;
    made.of_move = s.of_move;
    *ret = made;
    return CLV_OK;
}
