#include "run/profile.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"

#define PROFILE_MAX ((size_t)1 << 30) /* bytes; an event has some 500 */
/* Times of nodes are events of category "Node" whose name is the node's with this behind it. */
#define SUFFIX "_kernel_time"

typedef struct {
    clv_arena *arena;
    clv_map ids;
    clr_node_time *at;
    int32_t n, cap;
} node_list;

static clv_status read_text(const clv_json_at *event, const char *key, const char **ret,
                            clv_error *err)
{
    clv_json_at member;

    *ret = "";
    CLV_TRY(clv_json_member(event, key, false, &member, err));
    return member.json && clv_json_is_string(&member) ? clv_json_string(&member, ret, err) : CLV_OK;
}

static clv_status add_time(node_list *l, clv_str name, const char *op_type, double seconds,
                           clv_error *err)
{
    int32_t id = l->n;

    CLV_TRY(clv_map_put_key(&l->ids, name.at, (size_t)name.n, l->n, &id, err));
    if (id == l->n) {
        if (!CLV_PUSH_ROOM(l->arena, l->at, l->n, l->cap))
            return clv_fail_nomem(err, "a profile");
        l->at[l->n++] = (clr_node_time){ clv_arena_str(l->arena, name),
                                         clv_arena_printf(l->arena, "%s", op_type), 0, 0 };
        if (!l->at[id].name || !l->at[id].op_type)
            return clv_fail_nomem(err, "a profile");
    }
    l->at[id].seconds += seconds;
    l->at[id].runs++;
    return CLV_OK;
}

static clv_status read_event(node_list *l, const clv_json_at *event, clv_error *err)
{
    const char *category, *name, *op_type = "";
    clv_json_at args, duration;
    double us = 0;

    if (!clv_json_is_object(event))
        return CLV_OK;
    CLV_TRY(read_text(event, "cat", &category, err));
    CLV_TRY(read_text(event, "name", &name, err));
    size_t n = strlen(name), suffix = strlen(SUFFIX);
    if (strcmp(category, "Node") != 0 || n <= suffix || strcmp(name + n - suffix, SUFFIX) != 0)
        return CLV_OK;
    CLV_TRY(clv_json_member(event, "dur", true, &duration, err));
    CLV_TRY(clv_json_number(&duration, 0, 1e18, &us, err));
    CLV_TRY(clv_json_member(event, "args", false, &args, err));
    if (args.json)
        CLV_TRY(read_text(&args, "op_name", &op_type, err));
    return add_time(l, (clv_str){ name, (int32_t)(n - suffix) }, op_type, us * 1e-6, err);
}

static clv_status read_events(node_list *l, const clv_json_at *root, clv_error *err)
{
    clv_json_at event = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_length(root, &n, err));
    CLV_TRY(clv_map_init(&l->ids, l->arena, 64, err));
    for (int32_t i = 0; i < n; i++) {
        event = clv_json_element(root, i, i ? &event : NULL);
        CLV_TRY(read_event(l, &event, err));
    }
    return CLV_OK;
}

/* The runtime does not report that it could not write all of its profile: then the last line is not
 * the end of the list. A name with a quote, which the runtime writes as it is, makes no JSON
 * either, of a profile that is whole. */
static clv_status parse_json(const char *path, const char *text, size_t n, clv_json **ret,
                             clv_error *err)
{
    static const char end[] = "\n]\n";
    size_t length = sizeof end - 1;
    clv_status status = clv_json_parse(text, n, path, ret, err);

    if (status == CLV_EFORMAT && (n < length || memcmp(text + n - length, end, length) != 0))
        return clv_fail(err, CLV_EIO,
                        "cannot write %s: the profile ends after %zu bytes; is the disk full? "
                        "TMPDIR=FOLDER writes it elsewhere",
                        path, n);
    return status;
}

clv_status clr_profile_parse(const char *path, clv_str text, clv_arena *arena, clr_node_times *ret,
                             clv_error *err)
{
    node_list list = { .arena = arena };
    clv_json *json = NULL;

    CLV_TRY(parse_json(path, text.at, (size_t)text.n, &json, err));
    clv_json_at root = clv_json_root(json, path);
    clv_status status = read_events(&list, &root, err);
    clv_json_free(json);
    if (status == CLV_OK)
        *ret = (clr_node_times){ list.at, list.n };
    return status;
}

clv_status clr_profile_read(const char *path, clv_arena *arena, clr_node_times *ret, clv_error *err)
{
    const char *text = NULL;
    size_t n = 0;

    CLV_TRY(clv_read_file(path, PROFILE_MAX, arena, &text, &n, err));
    return clr_profile_parse(path, (clv_str){ text, (int32_t)n }, arena, ret, err);
}
