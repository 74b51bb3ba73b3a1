#include "annotations/backend_profile.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "cluster/config_file.h"
#include "cluster/fields.h"

#define FILE_MAX_BYTES ((size_t)1 << 20) /* a list of all operators is some 10 kB */

/* -- reading -- */

typedef struct {
    const clv_json_at *root;
    clv_arena *arena;
    clv_error *err;
} reader;

static clv_status read_bool(const reader *r, const char *key, bool *ret)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(r->root, key, false, &at, r->err));
    return at.json ? clv_json_bool(&at, ret, r->err) : CLV_OK;
}

static clv_status read_count(const reader *r, const char *key, int64_t min, int64_t *ret)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(r->root, key, false, &at, r->err));
    return at.json ? clv_json_int(&at, min, INT32_MAX, ret, r->err) : CLV_OK;
}

static clv_status read_profile(const reader *r, clv_backend *b)
{
    static const char *const keys[] = {
        "$schema",         "version",     "name",           "description",   "source",
        "device_names",    "max_devices", "power_of_two",   "static_shapes", "uneven",
        "axes_per_tensor", "fused_axes",  "unequal_groups", "stages",        "reshards",
        "whole_operators", NULL
    };
    const char *text;

    CLV_TRY(clv_json_keys(r->root, keys, r->err));
    CLV_TRY(clv_field_version(r->root, r->err));
    CLV_TRY(clv_field_text(r->root, "name", r->arena, &b->name, r->err));
    CLV_TRY(clv_field_text(r->root, "description", r->arena, &text, r->err));
    CLV_TRY(clv_field_text(r->root, "source", r->arena, &text, r->err));
    CLV_TRY(clv_json_copy_texts(r->root, "device_names", r->arena, &b->device_names,
                                &b->n_device_names, r->err));
    CLV_TRY(clv_json_copy_texts(r->root, "whole_operators", r->arena, &b->whole_operators,
                                &b->n_whole_operators, r->err));
    CLV_TRY(read_count(r, "max_devices", 1, &b->max_devices));
    CLV_TRY(read_count(r, "axes_per_tensor", 0, &b->axes_per_tensor));
    CLV_TRY(read_bool(r, "power_of_two", &b->power_of_two));
    CLV_TRY(read_bool(r, "static_shapes", &b->static_shapes));
    CLV_TRY(read_bool(r, "uneven", &b->uneven));
    CLV_TRY(read_bool(r, "fused_axes", &b->fused_axes));
    CLV_TRY(read_bool(r, "unequal_groups", &b->unequal_groups));
    CLV_TRY(read_bool(r, "stages", &b->stages));
    return read_bool(r, "reshards", &b->reshards);
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
    clv_status status = read_profile(&(reader){ &root, arena, err }, b);
    clv_json_free(json);
    CLV_TRY(status);
    *ret = b;
    return CLV_OK;
}

static bool is_path(const char *s)
{
    size_t n = strlen(s);
    return strchr(s, '/') || (n >= 5 && strcmp(s + n - 5, ".json") == 0);
}

clv_status clv_backend_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            const clv_backend **ret, clv_error *err)
{
    const char *path = is_path(name_or_path) ? name_or_path : NULL, *text;
    clv_config_search search = { NULL, configs_path, "backends" };
    char known[CLV_KNOWN_SIZE];
    size_t n;

    if (!path && clv_config_is_name(name_or_path))
        CLV_TRY(clv_config_find(&search, name_or_path, arena, &path, err));
    if (!path)
        return clv_fail(err, CLV_EUSAGE, "'%.60s' is no known backend; %s", name_or_path,
                        clv_config_known(&search, name_or_path, known));
    CLV_TRY(clv_read_file(path, FILE_MAX_BYTES, arena, &text, &n, err));
    return clv_backend_parse(text, n, path, arena, ret, err);
}

/* -- checking -- */

typedef struct {
    const clv_backend *b;
    clv_shard_list *list;
    clv_arena *arena;
    clv_error *err;
} check;

CLV_PRINTF(3, 4)
static clv_status tell(check *c, clv_shard_site at, const char *fmt, ...)
{
    char words[CLV_MESSAGE_SIZE];
    clv_shard_list *list = c->list;
    va_list args;

    va_start(args, fmt);
    clv_words(words, sizeof words, fmt, args);
    va_end(args);
    const char *text = clv_arena_printf(c->arena, "%s", words);
    if (!text ||
        !CLV_PUSH_ROOM(c->arena, list->unsupported, list->n_unsupported, list->cap_unsupported))
        return clv_fail_nomem(c->err, "shards");
    list->unsupported[list->n_unsupported++] = (clv_shard_remark){ at, text };
    return CLV_OK;
}

static bool is_power(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

static bool begins(const char *name, const char *with)
{
    for (; *with; name++, with++)
        if (tolower((unsigned char)*name) != tolower((unsigned char)*with))
            return false;
    return true;
}

static clv_status check_devices(check *c, int32_t configuration)
{
    const clv_shard_configuration *of = &c->list->configurations[configuration];
    clv_shard_site at = { .configuration = configuration };

    if (of->num_devices > c->b->max_devices)
        CLV_TRY(tell(c, at, "it has %" PRId64 " devices, at most %" PRId64 " are supported",
                     of->num_devices, c->b->max_devices));
    if (c->b->power_of_two && !is_power(of->num_devices))
        CLV_TRY(
            tell(c, at, "it has %" PRId64 " devices, a power of two is expected", of->num_devices));
    for (int32_t i = 0; c->b->n_device_names > 0 && i < of->n_device; i++) {
        bool known = false;
        for (int32_t k = 0; k < c->b->n_device_names && !known; k++)
            known = begins(of->device[i], c->b->device_names[k]);
        if (!known)
            return tell(c, at, "device '%.80s' is of no platform that is supported: '%.40s'%s",
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

static clv_status check_dims(check *c, clv_shard_site at, const clv_shard_row *row)
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
            CLV_TRY(tell(c, at,
                         "axis %" PRId64 " is in %" PRId64 " shards, a power of two is expected",
                         dim->axis, count));
        if (!c->b->fused_axes && dim->n_simple > 1)
            CLV_TRY(tell(c, at,
                         "axis %" PRId64 " is taken apart into %" PRId32
                         " factors, one simple_sharding is expected",
                         dim->axis, dim->n_simple));
    }
    if (n_split > c->b->axes_per_tensor)
        return tell(c, at, "%" PRId64 " of its axes are split, at most %" PRId64 " is supported",
                    n_split, c->b->axes_per_tensor);
    return CLV_OK;
}

static clv_status check_row(check *c, const clv_shard_node *node, const clv_shard_row *row)
{
    clv_shard_site at = { node->configuration, node->node, row->tensor };

    if (row->wrong)
        return CLV_OK;
    if (c->b->static_shapes && row->open)
        CLV_TRY(tell(c, at, "its size is not known when the graph is compiled"));
    if (!c->b->uneven && row->shards.uneven)
        CLV_TRY(tell(c, at, "is split into uneven parts, equal ones are expected"));
    if (!c->b->unequal_groups && unequal_groups(&row->shards))
        CLV_TRY(tell(c, at, "its parts have different numbers of copies, expected one number"));
    return check_dims(c, at, row);
}

static clv_status check_node(check *c, const clv_shard_node *node)
{
    const clv_op_info *op = clv_op_at(c->list->model->main, node->op);
    clv_shard_site at = { node->configuration, node->node, NULL };
    bool split = false;

    if (!c->b->stages && node->has_stage)
        CLV_TRY(tell(c, at, "it has a pipeline stage"));
    for (int32_t i = 0; i < node->n_rows; i++) {
        CLV_TRY(check_row(c, node, &node->rows[i]));
        split = split || clv_spec_parts(&node->rows[i].spec) > 1;
    }
    for (int32_t i = 0; split && i < c->b->n_whole_operators; i++)
        if (clv_str_is(op->type, c->b->whole_operators[i]))
            return tell(c, at, "operators of type %.40s are not split", c->b->whole_operators[i]);
    return CLV_OK;
}

clv_status clv_backend_check(const clv_backend *backend, clv_shard_list *list, clv_arena *arena,
                             clv_error *err)
{
    check c = { backend, list, arena, err };

    list->backend = backend->name;
    for (int32_t i = 0; i < list->n_configurations; i++)
        CLV_TRY(check_devices(&c, i));
    for (int32_t i = 0; i < list->n_nodes; i++)
        CLV_TRY(check_node(&c, &list->nodes[i]));
    for (int32_t i = 0; !backend->reshards && i < list->n_moves; i++)
        if (list->moves[i].is_output && list->moves[i].own_differs)
            CLV_TRY(tell(&c, list->moves[i].at,
                         "it is delivered otherwise than it follows from the inputs"));
    return CLV_OK;
}
