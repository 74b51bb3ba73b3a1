#include "cluster/cluster_json.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "cluster/config_file.h"
#include "cluster/device_file.h"
#include "cluster/device_json.h"
#include "cluster/fields.h"
#include "cluster/route.h"

/* A file is read in three steps: the devices and their kinds, what joins them, the routes. */

#define LINKS_MAX  65536 /* directions; so that the routes of 1024 devices take a second */
#define FILE_MAX   ((size_t)16 << 20) /* 65536 links take about 14 MB */
#define LEVELS_MAX 16                 /* with sizes from 2, 2^16 devices */

typedef struct {
    const clv_cluster_source *source;
    clv_arena *arena;
    clv_map kind_ids, device_ids;
    clv_device_kind *kinds;
    clv_device *devices;
    clv_level *levels;
    clv_link *links;
    int32_t n_kinds, kinds_cap, n_devices, devices_cap, n_levels, levels_cap, n_links, links_cap;
} reader;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a cluster"); }

/* -- kinds -- */

static clv_status add_kind(reader *r, const clv_device_kind *kind, const char *key, int32_t *ret,
                           clv_error *err)
{
    if (!CLV_PUSH_ROOM(r->arena, r->kinds, r->n_kinds, r->kinds_cap))
        return nomem(err);
    CLV_TRY(clv_map_put(&r->kind_ids, clv_str_of(key), r->n_kinds, NULL, err));
    r->kinds[r->n_kinds] = *kind;
    *ret = r->n_kinds++;
    return CLV_OK;
}

static clv_status named_kind(reader *r, const clv_json_at *at, int32_t *ret, clv_error *err)
{
    const char *name, *file;
    char path[256], known[CLV_KNOWN_SIZE];
    CLV_TRY(clv_json_string(at, &name, err));
    clv_json_path(at, path, sizeof path);
    if (!clv_config_is_name(name))
        return clv_fail(err, CLV_EFORMAT,
                        "%s is '%.60s', expected a name of letters, digits, '.', '_' "
                        "and '-'",
                        path, name);
    *ret = clv_map_get(&r->kind_ids, clv_str_of(name));
    if (*ret >= 0)
        return CLV_OK;
    clv_config_search search = { r->source->folder, r->source->configs_path, "devices" };
    CLV_TRY(clv_config_find(&search, name, r->arena, &file, err));
    if (!file)
        return clv_fail(err, CLV_EFORMAT, "%s is '%.60s', an unknown device; %s", path, name,
                        clv_config_known(&search, name, known));
    clv_device_kind kind;
    CLV_TRY(clv_device_read(file, r->arena, &kind, err));
    const char *key = clv_arena_printf(r->arena, "%s", name);
    return key ? add_kind(r, &kind, key, ret, err) : nomem(err);
}

static clv_status inline_kind(reader *r, const clv_json_at *at, int32_t *ret, clv_error *err)
{
    clv_device_kind kind;
    char path[256];
    CLV_TRY(clv_device_kind_read(at, r->arena, &kind, err));
    kind.folder = r->source->folder;
    if (clv_map_get(&r->kind_ids, clv_str_of(kind.name)) >= 0)
        return clv_fail(err, CLV_EFORMAT, "%s.name is '%.60s', which another kind has too",
                        clv_json_path(at, path, sizeof path), kind.name);
    return add_kind(r, &kind, kind.name, ret, err);
}

/* -- devices -- */

static clv_status add_device(reader *r, const clv_json_at *at, clv_device device, clv_error *err)
{
    int32_t id;
    char path[256];
    if (!device.name || !CLV_PUSH_ROOM(r->arena, r->devices, r->n_devices, r->devices_cap))
        return nomem(err);
    CLV_TRY(clv_map_put(&r->device_ids, clv_str_of(device.name), r->n_devices, &id, err));
    if (id != r->n_devices)
        return clv_fail(err, CLV_EFORMAT,
                        "%s gives a second device the name '%.60s', expected unique names",
                        clv_json_path(at, path, sizeof path), device.name);
    r->devices[r->n_devices++] = device;
    return CLV_OK;
}

/* { kind, count, name }: gpu0, gpu1, ...; without a count one device, by just that name. */
static clv_status read_device(reader *r, const clv_json_at *at, clv_error *err)
{
    static const char *const keys[] = { "kind", "count", "name", NULL };
    clv_json_at kind, count;
    const char *name;
    int64_t n = 1;
    clv_device device = { 0 };
    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(clv_field_text(at, "name", r->arena, &name, err));
    CLV_TRY(clv_json_member(at, "kind", true, &kind, err));
    CLV_TRY(clv_json_is_object(&kind) ? inline_kind(r, &kind, &device.kind, err)
                                      : named_kind(r, &kind, &device.kind, err));
    CLV_TRY(clv_json_member(at, "count", false, &count, err));
    if (count.json)
        CLV_TRY(clv_json_int(&count, 1, INT32_MAX, &n, err));
    if (n > CLV_DEVICES_MAX - r->n_devices)
        return clv_fail(err, CLV_ELIMIT,
                        "%.200s has more than %d devices, the most that are supported",
                        r->source->what, CLV_DEVICES_MAX);
    for (int64_t i = 0; i < n; i++) {
        device.name = count.json ? clv_arena_printf(r->arena, "%s%lld", name, (long long)i) : name;
        CLV_TRY(add_device(r, at, device, err));
    }
    return CLV_OK;
}

typedef clv_status (*read_fn)(reader *r, const clv_json_at *at, clv_error *err);

/* Calls read for each element of root.key, if it is there. */
static clv_status read_each(reader *r, const clv_json_at *root, const char *key, bool required,
                            read_fn read, clv_error *err)
{
    clv_json_at list, at = { 0 };
    int32_t n;
    CLV_TRY(clv_json_member(root, key, required, &list, err));
    if (!list.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, err));
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, &at);
        CLV_TRY(read(r, &at, err));
    }
    return CLV_OK;
}

/* -- levels and links -- */

static clv_status read_level(reader *r, const clv_json_at *at, clv_error *err)
{
    static const char *const keys[] = { "name", "size", CLV_LINK_SPEED_KEYS, NULL };
    clv_json_at size_at;
    clv_level level = { 0 };
    int64_t size;
    if (r->n_levels == LEVELS_MAX)
        return clv_fail(err, CLV_ELIMIT, "%.200s has more than %d levels", r->source->what,
                        LEVELS_MAX);
    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(clv_field_text(at, "name", r->arena, &level.name, err));
    CLV_TRY(clv_json_member(at, "size", true, &size_at, err));
    CLV_TRY(clv_json_int(&size_at, 1, CLV_DEVICES_MAX, &size, err));
    CLV_TRY(clv_field_link_speed(at, &level.speed, err));
    if (!CLV_PUSH_ROOM(r->arena, r->levels, r->n_levels, r->levels_cap))
        return nomem(err);
    level.size = (int32_t)size;
    r->levels[r->n_levels++] = level;
    return CLV_OK;
}

static clv_status read_end(const reader *r, const clv_json_at *at, const char *key, int32_t *ret,
                           clv_error *err)
{
    clv_json_at end;
    int64_t device;
    CLV_TRY(clv_json_member(at, key, true, &end, err));
    CLV_TRY(clv_json_int(&end, 0, r->n_devices - 1, &device, err));
    *ret = (int32_t)device;
    return CLV_OK;
}

static clv_status add_link(reader *r, clv_link link, clv_error *err)
{
    if (r->n_links == LINKS_MAX)
        return clv_fail(err, CLV_ELIMIT, "%.200s has more than %d links, each direction counted",
                        r->source->what, LINKS_MAX);
    if (!CLV_PUSH_ROOM(r->arena, r->links, r->n_links, r->links_cap))
        return nomem(err);
    r->links[r->n_links++] = link;
    return CLV_OK;
}

static clv_status read_link(reader *r, const clv_json_at *at, clv_error *err)
{
    static const char *const keys[] = {
        "name", "from", "to", CLV_LINK_SPEED_KEYS, "both_ways", NULL
    };
    clv_json_at both_at;
    clv_link link = { 0 };
    bool both = false;
    char path[256];
    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(clv_field_text(at, "name", r->arena, &link.name, err));
    CLV_TRY(read_end(r, at, "from", &link.from, err));
    CLV_TRY(read_end(r, at, "to", &link.to, err));
    if (link.from == link.to)
        return clv_fail(err, CLV_EFORMAT, "%s joins device %d to itself, expected two devices",
                        clv_json_path(at, path, sizeof path), (int)link.from);
    CLV_TRY(clv_field_link_speed(at, &link.speed, err));
    CLV_TRY(clv_json_member(at, "both_ways", false, &both_at, err));
    if (both_at.json)
        CLV_TRY(clv_json_bool(&both_at, &both, err));
    CLV_TRY(add_link(r, link, err));
    clv_link back = link;
    back.from = link.to;
    back.to = link.from;
    return both ? add_link(r, back, err) : CLV_OK;
}

static clv_status check_sizes(const reader *r, clv_error *err)
{
    int64_t product = 1;
    for (int32_t i = 0; i < r->n_levels; i++) {
        product *= r->levels[i].size;
        if (product > CLV_DEVICES_MAX)
            product = CLV_DEVICES_MAX + 1; /* not equal in any case, and never near overflow */
    }
    if (product == r->n_devices)
        return CLV_OK;
    return clv_fail(
        err, CLV_EFORMAT,
        "%.200s: the product of the level sizes is %s%lld, expected the number of devices, "
        "%d",
        r->source->what, product > CLV_DEVICES_MAX ? "over " : "",
        (long long)(product > CLV_DEVICES_MAX ? CLV_DEVICES_MAX : product), (int)r->n_devices);
}

static clv_status read_routes(reader *r, const clv_json_at *root, clv_cluster *c, clv_error *err)
{
    clv_json_at levels, links;
    CLV_TRY(clv_json_member(root, "levels", false, &levels, err));
    CLV_TRY(clv_json_member(root, "links", false, &links, err));
    if (levels.json && links.json)
        return clv_fail(err, CLV_EFORMAT, "%.200s has both levels and links, expected one of them",
                        r->source->what);
    if (!levels.json && !links.json && r->n_devices > 1)
        return clv_fail(err, CLV_EFORMAT,
                        "%.200s has neither levels nor links, expected one of them to join its %d "
                        "devices",
                        r->source->what, (int)r->n_devices);
    if (links.json) {
        CLV_TRY(read_each(r, root, "links", true, read_link, err));
        return clv_routes_by_links(c, r->source->what, r->links, r->n_links, r->arena, err);
    }
    CLV_TRY(read_each(r, root, "levels", false, read_level, err));
    CLV_TRY(check_sizes(r, err));
    return clv_routes_by_levels(c, r->levels, r->n_levels, r->arena, err);
}

static clv_status read_cluster(reader *r, const clv_json_at *root, clv_cluster **ret,
                               clv_error *err)
{
    static const char *const keys[] = { "$schema", "version", "name", "devices",
                                        "levels",  "links",   NULL };
    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(clv_field_version(root, err));
    clv_cluster *c = CLV_NEW(r->arena, clv_cluster);
    if (!c)
        return nomem(err);
    CLV_TRY(clv_field_text(root, "name", r->arena, &c->name, err));
    CLV_TRY(clv_map_init(&r->kind_ids, r->arena, 0, err));
    CLV_TRY(clv_map_init(&r->device_ids, r->arena, 0, err));
    CLV_TRY(read_each(r, root, "devices", true, read_device, err));
    if (r->n_devices == 0)
        return clv_fail(err, CLV_EFORMAT, "%.200s: devices is empty, expected at least one device",
                        r->source->what);
    c->kinds = r->kinds;
    c->n_kinds = r->n_kinds;
    c->devices = r->devices;
    c->n_devices = r->n_devices;
    CLV_TRY(read_routes(r, root, c, err));
    *ret = c;
    return CLV_OK;
}

clv_status clv_cluster_parse(const clv_cluster_source *source, clv_arena *arena, clv_cluster **ret,
                             clv_error *err)
{
    clv_json *json;
    reader r = { .source = source, .arena = arena };
    CLV_TRY(clv_json_parse(source->text, source->n, source->what, &json, err));
    clv_json_at root = clv_json_root(json, source->what);
    clv_status status = read_cluster(&r, &root, ret, err);
    clv_json_free(json);
    return status;
}

clv_status clv_cluster_open(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            clv_cluster_source *ret, clv_error *err)
{
    const clv_config_search search = { NULL, configs_path, "clusters" };
    clv_cluster_source source = { .configs_path = configs_path };
    CLV_TRY(clv_config_locate(&search, "cluster", name_or_path, arena, &source.what, err));
    CLV_TRY(clv_read_file(source.what, FILE_MAX, arena, &source.text, &source.n, err));
    source.folder = clv_config_folder(source.what, arena);
    if (!source.folder)
        return nomem(err);
    *ret = source;
    return CLV_OK;
}

clv_status clv_cluster_load(const char *name_or_path, const char *configs_path, clv_arena *arena,
                            clv_cluster **ret, clv_error *err)
{
    clv_cluster_source source;
    CLV_TRY(clv_cluster_open(name_or_path, configs_path, arena, &source, err));
    return clv_cluster_parse(&source, arena, ret, err);
}

clv_status clv_cluster_load_times(clv_cluster *cluster, const char *configs_path, clv_arena *arena,
                                  clv_error *err)
{
    clv_device_kind *kinds = CLV_NEW_ARRAY(arena, clv_device_kind, cluster->n_kinds);
    if (!kinds)
        return nomem(err);
    for (int32_t i = 0; i < cluster->n_kinds; i++) {
        kinds[i] = cluster->kinds[i];
        CLV_TRY(clv_device_load_times(&kinds[i], configs_path, arena, err));
    }
    cluster->kinds = kinds;
    return CLV_OK;
}
