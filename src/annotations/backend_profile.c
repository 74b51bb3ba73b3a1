#include "annotations/backend_profile.h"

#include <inttypes.h>
#include <strings.h>

#include "base/file.h"
#include "base/json.h"
#include "cluster/config_file.h"
#include "cluster/fields.h"

#define FILE_MAX_BYTES ((size_t)1 << 20) /* a list of all operators is some 10 kB */

/* -- reading -- */

static clv_status read_bool(const clv_json_at *root, const char *key, bool *ret, clv_error *err)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(root, key, false, &at, err));
    return at.json ? clv_json_bool(&at, ret, err) : CLV_OK;
}

static clv_status read_count(const clv_json_at *root, const char *key, int64_t min, int64_t *ret,
                             clv_error *err)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(root, key, false, &at, err));
    return at.json ? clv_json_int(&at, min, INT32_MAX, ret, err) : CLV_OK;
}

static clv_status read_profile(const clv_json_at *root, clv_arena *arena, clv_backend *b,
                               clv_error *err)
{
    static const char *const keys[] = {
        "$schema",         "version",     "name",           "description",   "source",
        "device_names",    "max_devices", "power_of_two",   "static_shapes", "uneven",
        "axes_per_tensor", "fused_axes",  "unequal_groups", "stages",        "reshards",
        "whole_operators", NULL
    };
    const char *text;

    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(clv_field_version(root, err));
    CLV_TRY(clv_field_text(root, "name", arena, &b->name, err));
    CLV_TRY(clv_field_text(root, "description", arena, &text, err));
    CLV_TRY(clv_field_text(root, "source", arena, &text, err));
    CLV_TRY(clv_json_copy_texts(root, "device_names", arena, &b->device_names, &b->n_device_names,
                                err));
    CLV_TRY(clv_json_copy_texts(root, "whole_operators", arena, &b->whole_operators,
                                &b->n_whole_operators, err));
    CLV_TRY(read_count(root, "max_devices", 1, &b->max_devices, err));
    CLV_TRY(read_count(root, "axes_per_tensor", 0, &b->axes_per_tensor, err));
    CLV_TRY(read_bool(root, "power_of_two", &b->power_of_two, err));
    CLV_TRY(read_bool(root, "static_shapes", &b->static_shapes, err));
    CLV_TRY(read_bool(root, "uneven", &b->uneven, err));
    CLV_TRY(read_bool(root, "fused_axes", &b->fused_axes, err));
    CLV_TRY(read_bool(root, "unequal_groups", &b->unequal_groups, err));
    CLV_TRY(read_bool(root, "stages", &b->stages, err));
    return read_bool(root, "reshards", &b->reshards, err);
}

clv_status clv_backend_parse(const char *text, size_t n, const char *what, clv_arena *arena,
                             const clv_backend **ret, clv_error *err)
{
    clv_backend *b = CLV_NEW(arena, clv_backend);
    clv_json *json = NULL;

    if (!b)
        return clv_fail_nomem(err, "a profile");
    *b = (clv_backend){ .max_devices = INT64_MAX,
                        .axes_per_tensor = INT64_MAX,
                        .uneven = true,
                        .fused_axes = true,
                        .unequal_groups = true,
                        .stages = true,
                        .reshards = true };
    CLV_TRY(clv_json_parse(text, n, what, &json, err));
    clv_json_at root = clv_json_root(json, what);
    clv_status status = read_profile(&root, arena, b, err);
    clv_json_free(json);
    CLV_TRY(status);
    *ret = b;
    return CLV_OK;
}

clv_status clv_backend_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            const clv_backend **ret, clv_error *err)
{
    const clv_config_search search = { NULL, configs_path, "backends" };
    const char *path, *text;
    size_t n;

    CLV_TRY(clv_config_locate(&search, "backend", name_or_path, arena, &path, err));
    CLV_TRY(clv_read_file(path, FILE_MAX_BYTES, arena, &text, &n, err));
    return clv_backend_parse(text, n, path, arena, ret, err);
}

/* -- checking -- */

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
    for (int32_t i = 0; c->b->n_device_names > 0 && i < of->n_device; i++) {
        bool known = false;
        for (int32_t k = 0; k < c->b->n_device_names && !known; k++)
            known = strncasecmp(of->device[i], c->b->device_names[k],
                                strlen(c->b->device_names[k])) == 0;
        if (!known)
            return UNSUPPORTED(at, "device '%.80s' is of no platform that is supported: '%.40s'%s",
                               of->device[i], c->b->device_names[0],
                               c->b->n_device_names > 1 ? " and others" : "");
    }
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
