/* profile.c - what the runtime's profile says of the time of each node: events of category "Node"
 * whose name is the node's with "_kernel_time" behind it. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "run/report.h"

#define PROFILE_MAX ((size_t)1 << 30) /* bytes; an event has some 500 */
#define SUFFIX      "_kernel_time"

typedef struct {
    clv_arena *arena;
    clv_map ids;
    clr_node_time *at;
    int32_t n, cap;
    clv_error *err;
} reading;

static clv_status text_of(reading *r, const clv_json_at *event, const char *key, const char **ret)
{
    clv_json_at member;

    *ret = "";
    CLV_TRY(clv_json_member(event, key, false, &member, r->err));
    return member.json && clv_json_is_string(&member) ? clv_json_string(&member, ret, r->err)
                                                      : CLV_OK;
}

static clv_status add(reading *r, clv_str name, const char *op_type, double seconds)
{
    int32_t id = r->n;

    CLV_TRY(clv_map_put_key(&r->ids, name.at, (size_t)name.n, r->n, &id, r->err));
    if (id == r->n) {
        if (!CLV_PUSH_ROOM(r->arena, r->at, r->n, r->cap))
            return clv_fail_nomem(r->err, "a profile");
        r->at[r->n++] = (clr_node_time){ clv_arena_printf(r->arena, "%.*s", CLV_STR_ARG(name)),
                                         clv_arena_printf(r->arena, "%s", op_type), 0, 0 };
        if (!r->at[id].name || !r->at[id].op_type)
            return clv_fail_nomem(r->err, "a profile");
    }
    r->at[id].seconds += seconds;
    r->at[id].runs++;
    return CLV_OK;
}

static clv_status read_event(reading *r, const clv_json_at *event)
{
    const char *category, *name, *op_type = "";
    clv_json_at args, duration;
    double us = 0;

    if (!clv_json_is_object(event))
        return CLV_OK;
    CLV_TRY(text_of(r, event, "cat", &category));
    CLV_TRY(text_of(r, event, "name", &name));
    size_t n = strlen(name), suffix = strlen(SUFFIX);
    if (strcmp(category, "Node") != 0 || n <= suffix || strcmp(name + n - suffix, SUFFIX) != 0)
        return CLV_OK;
    CLV_TRY(clv_json_member(event, "dur", true, &duration, r->err));
    CLV_TRY(clv_json_number(&duration, 0, 1e18, &us, r->err));
    CLV_TRY(clv_json_member(event, "args", false, &args, r->err));
    if (args.json)
        CLV_TRY(text_of(r, &args, "op_name", &op_type));
    return add(r, (clv_str){ name, (int32_t)(n - suffix) }, op_type, us * 1e-6);
}

static clv_status read_events(reading *r, const clv_json_at *root)
{
    clv_json_at event = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_length(root, &n, r->err));
    CLV_TRY(clv_map_init(&r->ids, r->arena, 64, r->err));
    for (int32_t i = 0; i < n; i++) {
        event = clv_json_element(root, i, i ? &event : NULL);
        CLV_TRY(read_event(r, &event));
    }
    return CLV_OK;
}

/* Its last line is the end of the list. A name with a quote, which the runtime writes as it is,
 * makes no JSON either, of a profile that is whole. */
static bool is_cut_off(const char *text, size_t n)
{
    static const char end[] = "\n]\n";
    size_t length = sizeof end - 1;
    return n < length || memcmp(text + n - length, end, length) != 0;
}

/* The runtime does not tell that it could not write all of its profile. */
static clv_status parse_profile(const char *path, const char *text, size_t n, clv_json **ret,
                                clv_error *err)
{
    clv_status status = clv_json_parse(text, n, path, ret, err);

    if (status == CLV_EFORMAT && is_cut_off(text, n))
        return clv_fail(err, CLV_EIO,
                        "cannot write %s: the profile ends after %zu bytes; is the disk full? "
                        "TMPDIR=FOLDER writes it elsewhere",
                        path, n);
    return status;
}

clv_status clr_profile_read(const char *path, clv_arena *arena, clr_node_times *ret, clv_error *err)
{
    reading r = { .arena = arena, .err = err };
    const char *text = NULL;
    size_t n = 0;
    clv_json *json = NULL;

    CLV_TRY(clv_read_file(path, PROFILE_MAX, arena, &text, &n, err));
    CLV_TRY(parse_profile(path, text, n, &json, err));
    clv_json_at root = clv_json_root(json, path);
    clv_status status = read_events(&r, &root);
    clv_json_free(json);
    if (status == CLV_OK)
        *ret = (clr_node_times){ r.at, r.n };
    return status;
}
