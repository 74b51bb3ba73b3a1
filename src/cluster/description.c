#include "cluster/description.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "cluster/config_file.h"
#include "cluster/device_file.h"
#include "cluster/fields.h"
#include "cluster/kernel_times.h"

/* The cluster is read as for a plan, which finds what is wrong; then its files are walked once more
 * for all that has a value and a source, whatever its key is.
 */

#define FILE_MAX ((size_t)16 << 20) /* of a device */

typedef struct {
    clv_described_number *at;
    int32_t n, cap;
} numbers;

typedef struct {
    const clv_cluster_source *source;
    clv_arena *arena;
    clv_described_cluster *to;
    clv_map link_ids, number_ids; /* of links, which may be many */
    int32_t kinds_cap, links_cap, n_numbers;
    numbers *of_links;
    int32_t of_links_cap;
} reader;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a description"); }

/* -- numbers -- */

static clv_status read_value(const clv_json_at *at, clv_arena *arena, const char **ret,
                             clv_error *err)
{
    double number;
    char text[32];
    if (clv_json_is_string(at))
        return clv_json_copy_string(at, arena, ret, err);
    CLV_TRY(clv_json_number(at, -1e300, 1e300, &number, err));
    snprintf(text, sizeof text, "%.15g", number);
    *ret = clv_arena_printf(arena, "%s", text);
    return *ret ? CLV_OK : nomem(err);
}

/* "matrix", "FLOAT" -> "matrix FLOAT". */
static const char *name_below(const char *above, const char *key, clv_arena *arena)
{
    return *above ? clv_arena_printf(arena, "%s %s", above, key)
                  : clv_arena_printf(arena, "%s", key);
}

/* *ret_is: it has a value and a source. */
static clv_status read_number(const clv_json_at *at, const char *name, clv_arena *arena,
                              clv_described_number *ret, bool *ret_is, clv_error *err)
{
    clv_json_at value, source;
    *ret_is = false;
    CLV_TRY(clv_json_member(at, "value", false, &value, err));
    CLV_TRY(clv_json_member(at, "source", false, &source, err));
    if (!value.json || !source.json)
        return CLV_OK;
    ret->name = name;
    CLV_TRY(read_value(&value, arena, &ret->value, err));
    CLV_TRY(clv_json_copy_string(&source, arena, &ret->source, err));
    *ret_is = true;
    return CLV_OK;
}

/* All below an object; JSON is nested 64 deep at most. */
static clv_status read_numbers(const clv_json_at *object, const char *above, clv_arena *arena,
                               numbers *to, clv_error *err)
{
    for (clv_json_at at = clv_json_next_member(object, NULL); at.json;
         at = clv_json_next_member(object, &at)) {
        clv_described_number number;
        bool is_number;
        if (!clv_json_is_object(&at))
            continue;
        const char *name = name_below(above, at.key, arena);
        if (!name)
            return nomem(err);
        CLV_TRY(read_number(&at, name, arena, &number, &is_number, err));
        if (!is_number) {
            CLV_TRY(read_numbers(&at, name, arena, to, err));
            continue;
        }
        if (!CLV_PUSH_ROOM(arena, to->at, to->n, to->cap))
            return nomem(err);
        to->at[to->n++] = number;
    }
    return CLV_OK;
}

const clv_described_number *clv_described_find(const clv_described_number *at, int32_t n,
                                               const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (strcmp(at[i].name, name) == 0)
            return &at[i];
    return NULL;
}

/* -- kinds -- */

static clv_status numbers_of_file(const char *path, clv_arena *arena, numbers *to, clv_error *err)
{
    const char *text;
    size_t n;
    clv_json *json;
    CLV_TRY(clv_read_file(path, FILE_MAX, arena, &text, &n, err));
    CLV_TRY(clv_json_parse(text, n, path, &json, err));
    clv_json_at root = clv_json_root(json, path);
    clv_status status =
        clv_json_is_object(&root) ? read_numbers(&root, "", arena, to, err) : CLV_OK;
    clv_json_free(json);
    return status;
}

/* How many tables have that source, and whether one before i has it. */
static int32_t count_tables(const clv_kernel_times *times, const char *source, int32_t i,
                            bool *ret_before)
{
    int32_t n = 0;
    *ret_before = false;
    for (int32_t k = 0; k < times->n; k++) {
        const char *other = times->at[k].source ? times->at[k].source : times->source;
        if (strcmp(other, source) != 0)
            continue;
        *ret_before |= k < i;
        n++;
    }
    return n;
}

/* Measured times have one source a file, and some tables have their own. */
static clv_status add_times(const clv_kernel_times *times, clv_arena *arena, numbers *to,
                            clv_error *err)
{
    for (int32_t i = 0; i < times->n; i++) {
        const char *source = times->at[i].source ? times->at[i].source : times->source;
        bool before;
        int32_t n = count_tables(times, source, i, &before);
        if (before)
            continue;
        const char *value = clv_arena_printf(arena, "%d table%s", (int)n, n == 1 ? "" : "s");
        if (!value || !CLV_PUSH_ROOM(arena, to->at, to->n, to->cap))
            return nomem(err);
        to->at[to->n++] = (clv_described_number){ "measured times", value, source };
    }
    return CLV_OK;
}

static clv_status find_kind(const reader *r, const clv_json_at *at, clv_described_kind *ret,
                            clv_error *err)
{
    const clv_config_search search = { r->source->folder, r->source->configs_path, "devices" };
    if (clv_json_is_object(at)) {
        ret->name = ret->kind->name;
        return CLV_OK;
    }
    CLV_TRY(clv_json_copy_string(at, r->arena, &ret->name, err));
    return clv_config_find(&search, ret->name, r->arena, &ret->file, err);
}

static clv_status read_kind(reader *r, const clv_json_at *at, const clv_device_kind *kind,
                            clv_error *err)
{
    clv_described_cluster *to = r->to;
    clv_described_kind new = { .kind = kind };
    numbers all = { 0 };
    CLV_TRY(find_kind(r, at, &new, err));
    CLV_TRY(new.file                 ? numbers_of_file(new.file, r->arena, &all, err)
            : clv_json_is_object(at) ? read_numbers(at, "", r->arena, &all, err)
                                     : CLV_OK);
    if (kind->times)
        CLV_TRY(add_times(kind->times, r->arena, &all, err));
    new.numbers = all.at;
    new.n_numbers = all.n;
    if (!CLV_PUSH_ROOM(r->arena, to->kinds, to->n_kinds, r->kinds_cap))
        return nomem(err);
    to->kinds[to->n_kinds++] = new;
    return CLV_OK;
}

static clv_described_kind *described(const clv_described_cluster *to, const clv_device_kind *kind)
{
    for (int32_t i = 0; i < to->n_kinds; i++)
        if (to->kinds[i].kind == kind)
            return &to->kinds[i];
    return NULL;
}

/* Entries are in the order of the devices. */
static clv_status read_kinds(reader *r, const clv_json_at *root, clv_error *err)
{
    const clv_cluster *c = r->to->cluster;
    clv_json_at list, at = { 0 }, kind, count;
    int32_t n, device = 0;
    CLV_TRY(clv_json_member(root, "devices", true, &list, err));
    CLV_TRY(clv_json_length(&list, &n, err));
    for (int32_t i = 0; i < n && device < c->n_devices; i++) {
        const clv_device_kind *of = clv_device_kind_of(c, device);
        int64_t devices = 1;
        at = clv_json_element(&list, i, &at);
        CLV_TRY(clv_json_member(&at, "kind", true, &kind, err));
        CLV_TRY(clv_json_member(&at, "count", false, &count, err));
        if (count.json)
            CLV_TRY(clv_json_int(&count, 1, CLV_DEVICES_MAX, &devices, err));
        if (!described(r->to, of))
            CLV_TRY(read_kind(r, &kind, of, err));
        described(r->to, of)->n_devices += (int32_t)devices;
        device += (int32_t)devices;
    }
    return CLV_OK;
}

/* -- levels and links -- */

/* Adds a number to a link, unless one like it is there: of a thousand links many have it. */
static clv_status add_to_link(reader *r, int32_t link, const clv_described_number *number,
                              clv_error *err)
{
    numbers *to = &r->of_links[link];
    int32_t id;
    const char *key = clv_arena_printf(r->arena, "%d\n%s\n%s\n%s", (int)link, number->name,
                                       number->value, number->source);
    if (!key)
        return nomem(err);
    CLV_TRY(clv_map_put(&r->number_ids, clv_str_of(key), r->n_numbers, &id, err));
    if (id != r->n_numbers)
        return CLV_OK;
    r->n_numbers++;
    if (!CLV_PUSH_ROOM(r->arena, to->at, to->n, to->cap))
        return nomem(err);
    to->at[to->n++] = *number;
    return CLV_OK;
}

/* Its place among those of r->to: a new one where none is alike. */
static clv_status place_link(reader *r, const clv_described_link *link, const char *key,
                             int32_t *ret, clv_error *err)
{
    clv_described_cluster *to = r->to;
    CLV_TRY(clv_map_put(&r->link_ids, clv_str_of(key), to->n_links, ret, err));
    if (*ret < to->n_links)
        return CLV_OK;
    if (!CLV_PUSH_ROOM(r->arena, to->links, to->n_links, r->links_cap) ||
        !CLV_PUSH_ROOM(r->arena, r->of_links, to->n_links, r->of_links_cap))
        return nomem(err);
    r->of_links[to->n_links] = (numbers){ 0 };
    to->links[to->n_links++] = *link;
    return CLV_OK;
}

static clv_status read_link(reader *r, const clv_json_at *at, bool is_level, clv_error *err)
{
    clv_described_link link = { 0 };
    clv_json_at both;
    numbers of_it = { 0 };
    int64_t size = 0;
    int32_t id;
    CLV_TRY(clv_field_text(at, "name", r->arena, &link.name, err));
    CLV_TRY(clv_field_link_speed(at, &link.speed, err));
    CLV_TRY(clv_json_member(at, "both_ways", false, &both, err));
    if (both.json)
        CLV_TRY(clv_json_bool(&both, &link.both_ways, err));
    if (is_level) {
        clv_json_at size_at;
        CLV_TRY(clv_json_member(at, "size", true, &size_at, err));
        CLV_TRY(clv_json_int(&size_at, 1, CLV_DEVICES_MAX, &size, err));
        int32_t below = r->to->n_links ? r->to->links[r->to->n_links - 1].n_devices : 1;
        link.n_devices = below * (int32_t)size;
    }
    CLV_TRY(read_numbers(at, "", r->arena, &of_it, err));
    const clv_described_number *latency = clv_described_find(of_it.at, of_it.n, "latency");
    link.latency = latency ? latency->value : "";
    const char *key = clv_arena_printf(
        r->arena, "%d\n%s\n%.17g\n%lld\n%.17g\n%d", is_level ? (int)r->to->n_links : -1, link.name,
        link.speed.peak_bytes_per_s, (long long)link.speed.latency_ns, link.speed.efficiency,
        (int)link.both_ways);
    if (!key)
        return nomem(err);
    CLV_TRY(place_link(r, &link, key, &id, err));
    r->to->links[id].n_links += !is_level;
    for (int32_t i = 0; i < of_it.n; i++)
        CLV_TRY(add_to_link(r, id, &of_it.at[i], err));
    return CLV_OK;
}

static clv_status read_links(reader *r, const clv_json_at *root, const char *key, clv_error *err)
{
    clv_json_at list, at = { 0 };
    int32_t n;
    CLV_TRY(clv_json_member(root, key, false, &list, err));
    if (!list.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, err));
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, &at);
        CLV_TRY(read_link(r, &at, strcmp(key, "levels") == 0, err));
    }
    return CLV_OK;
}

static clv_status read_description(reader *r, const clv_json_at *root, clv_error *err)
{
    CLV_TRY(clv_map_init(&r->link_ids, r->arena, 0, err));
    CLV_TRY(clv_map_init(&r->number_ids, r->arena, 0, err));
    CLV_TRY(read_kinds(r, root, err));
    CLV_TRY(read_links(r, root, "levels", err));
    CLV_TRY(read_links(r, root, "links", err));
    for (int32_t i = 0; i < r->to->n_links; i++) {
        r->to->links[i].numbers = r->of_links[i].at;
        r->to->links[i].n_numbers = r->of_links[i].n;
    }
    return CLV_OK;
}

clv_status clv_cluster_describe(const clv_cluster_source *source, const char *name, bool with_times,
                                clv_arena *arena, clv_described_cluster *ret, clv_error *err)
{
    clv_cluster *cluster;
    clv_json *json;
    CLV_TRY(clv_cluster_parse(source, arena, &cluster, err));
    if (with_times)
        CLV_TRY(clv_cluster_load_times(cluster, source->configs_path, arena, err));
    clv_described_cluster to = { .name = name ? name : cluster->name,
                                 .file = source->what,
                                 .cluster = cluster };
    reader r = { .source = source, .arena = arena, .to = &to };
    CLV_TRY(clv_json_parse(source->text, source->n, source->what, &json, err));
    clv_json_at root = clv_json_root(json, source->what);
    clv_status status = read_description(&r, &root, err);
    clv_json_free(json);
    if (status == CLV_OK)
        *ret = to;
    return status;
}
