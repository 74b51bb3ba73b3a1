#include "annotations/backend_profile.h"

#include <inttypes.h>

typedef struct {
    const clv_backend *b;
    clv_shard_list *list;
    clv_arena *arena;
} check;

/* NULL: no memory. */
CLV_PRINTF(2, 3) static const char *sentence(const check *c, const char *fmt, ...)
{
    char words[CLV_MESSAGE_SIZE];
    va_list args;

    va_start(args, fmt);
    clv_words(words, sizeof words, fmt, args);
    va_end(args);
    return clv_arena_printf(c->arena, "%s", words);
}

static clv_status list_unsupported(const check *c, clv_shard_site at, const char *text,
                                   clv_error *err)
{
    clv_shard_list *list = c->list;

    if (!text ||
        !CLV_PUSH_ROOM(c->arena, list->unsupported, list->n_unsupported, list->cap_unsupported))
        return clv_fail_nomem(err, "shards");
    list->unsupported[list->n_unsupported++] = (clv_shard_remark){ at, text };
    return CLV_OK;
}

#define UNSUPPORTED(at, ...) list_unsupported(c, at, sentence(c, __VA_ARGS__), err)

static bool is_power(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

static clv_status check_devices(const check *c, int32_t configuration, clv_error *err)
{
    const clv_shard_configuration *of = &c->list->configurations[configuration];
    clv_shard_site at = { .configuration = configuration };

    if (of->num_devices > c->b->max_devices)
        CLV_TRY(UNSUPPORTED(at, "it has %" PRId64 " devices, at most %" PRId64 " are supported",
                            of->num_devices, c->b->max_devices));
    if (c->b->power_of_two && !is_power(of->num_devices))
        CLV_TRY(UNSUPPORTED(at, "it has %" PRId64 " devices, a power of two is expected",
                            of->num_devices));
    for (int32_t i = 0; i < of->n_device; i++)
        if (!clv_backend_knows_device(c->b, of->device[i]))
            return UNSUPPORTED(at, "device '%.80s' is of no platform that is supported: '%.40s'%s",
                               of->device[i], c->b->device_names[0],
                               c->b->n_device_names > 1 ? " and others" : "");
    return CLV_OK;
}

/* Copies of each part: as many members in each group, and none without a group beside others. */
static bool unequal_groups(const clv_shards *shards)
{
    int32_t before = 0;

    for (int32_t i = 0, end = 0; i < shards->n; i = end) {
        for (end = i; end < shards->n && shards->at[end].part == shards->at[i].part; end++)
            continue;
        if (before > 0 && end - i != before)
            return true;
        before = end - i;
    }
    return false;
}

static clv_status check_dims(const check *c, clv_shard_site at, const clv_shard_row *row,
                             clv_error *err)
{
    int64_t n_split = 0;

    for (int32_t d = 0; d < row->spec.n_dims; d++) {
        const clv_sharded_dim *dim = &row->spec.dims[d];
        int64_t count = 1;
        for (int32_t i = 0; i < dim->n_simple; i++)
            if (__builtin_mul_overflow(count, dim->simple[i].num_shards, &count))
                count = INT64_MAX;
        n_split += count > 1;
        if (c->b->power_of_two && !is_power(count))
            CLV_TRY(UNSUPPORTED(
                at, "axis %" PRId64 " is in %" PRId64 " shards, a power of two is expected",
                dim->axis, count));
        if (!c->b->fused_axes && dim->n_simple > 1)
            CLV_TRY(UNSUPPORTED(at,
                                "axis %" PRId64 " is taken apart into %" PRId32
                                " factors, one simple_sharding is expected",
                                dim->axis, dim->n_simple));
    }
    if (n_split > c->b->axes_per_tensor)
        return UNSUPPORTED(at,
                           "%" PRId64 " of its axes are split, at most %" PRId64 " is supported",
                           n_split, c->b->axes_per_tensor);
    return CLV_OK;
}

static clv_status check_row(const check *c, const clv_shard_node *node, const clv_shard_row *row,
                            clv_error *err)
{
    clv_shard_site at = { node->configuration, node->node, row->tensor };

    if (row->wrong)
        return CLV_OK;
    if (c->b->static_shapes && row->open)
        CLV_TRY(UNSUPPORTED(at, "its size is not known when the graph is compiled"));
    if (!c->b->uneven && row->shards.uneven)
        CLV_TRY(UNSUPPORTED(at, "is split into uneven parts, equal ones are expected"));
    if (!c->b->unequal_groups && unequal_groups(&row->shards))
        CLV_TRY(UNSUPPORTED(at, "its parts have different numbers of copies, expected one number"));
    return check_dims(c, at, row, err);
}

static clv_status check_node(const check *c, const clv_shard_node *node, clv_error *err)
{
    const clv_op_info *op = clv_op_at(c->list->model->main, node->op);
    clv_shard_site at = { node->configuration, node->node, NULL };
    bool split = false;

    if (!c->b->stages && node->has_stage)
        CLV_TRY(UNSUPPORTED(at, "it has a pipeline stage"));
    for (int32_t i = 0; i < node->n_rows; i++) {
        CLV_TRY(check_row(c, node, &node->rows[i], err));
        split = split || clv_spec_parts(&node->rows[i].spec) > 1;
    }
    for (int32_t i = 0; split && i < c->b->n_whole_operators; i++)
        if (clv_str_is(op->type, c->b->whole_operators[i]))
            return UNSUPPORTED(at, "operators of type %.40s are not split",
                               c->b->whole_operators[i]);
    return CLV_OK;
}

clv_status clv_backend_check(const clv_backend *backend, clv_shard_list *list, clv_arena *arena,
                             clv_error *err)
{
    const check *c = &(check){ backend, list, arena };

    list->backend = backend->name;
    for (int32_t i = 0; i < list->n_configurations; i++)
        CLV_TRY(check_devices(c, i, err));
    for (int32_t i = 0; i < list->n_nodes; i++)
        CLV_TRY(check_node(c, &list->nodes[i], err));
    for (int32_t i = 0; !backend->reshards && i < list->n_moves; i++)
        if (list->moves[i].is_output && list->moves[i].own_differs)
            CLV_TRY(UNSUPPORTED(list->moves[i].at,
                                "it is delivered otherwise than it follows from the inputs"));
    return CLV_OK;
}
