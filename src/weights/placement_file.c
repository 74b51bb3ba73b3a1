#include "weights/placement_file.h"

#include <inttypes.h>

#include "graph/graph.h"
#include "notation/placement_json.h"
#include "notation/placement_name.h"

#define SHOW(at)    clv_json_path((at), (char[256]){ 0 }, 256)

#define DEVICES_MAX 65536 /* as in a cluster file */

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "placement spec"); }

/* -- rules -- */

typedef struct {
    clv_placement_rule *at;
    int32_t n, cap;
    clv_map *of;
    clv_arena *arena;
} rule_list;

static clv_status add_rule(rule_list *r, clv_str name, const clv_placement_spec *spec,
                           clv_error *err)
{
    int32_t id = 0;

    if (r->n == CLV_PLACEMENT_PARTS_MAX)
        return clv_fail(err, CLV_ELIMIT, "the placement spec has over %d names",
                        CLV_PLACEMENT_PARTS_MAX);
    CLV_TRY(clv_map_put(r->of, name, r->n, &id, err));
    if (id != r->n)
        return clv_fail(err, CLV_EFORMAT,
                        "the placement spec has two specs for '%.*s', expected one",
                        CLV_STR_ARG(name));
    if (!CLV_PUSH_ROOM(r->arena, r->at, r->n, r->cap))
        return nomem(err);
    r->at[r->n++] = (clv_placement_rule){ name, spec };
    return CLV_OK;
}

static clv_status add_rules(rule_list *r, clv_str prefix, const clv_placement_spec *spec,
                            clv_error *err)
{
    if (spec->kind != CLV_PLACEMENT_SPEC_COMPOSITE)
        return add_rule(r, prefix, spec, err);
    for (int32_t i = 0; i < spec->n; i++) {
        clv_str name;
        CLV_TRY(clv_placement_name_join(prefix, spec->entries[i].name, r->arena, &name, err));
        CLV_TRY(add_rules(r, name, spec->entries[i].spec, err));
    }
    return CLV_OK;
}

static clv_status index_rules(clv_placement_file *file, clv_arena *arena, clv_error *err)
{
    rule_list r = { .of = &file->rule_of, .arena = arena };

    CLV_TRY(clv_map_init(&file->rule_of, arena, file->spec->n, err));
    CLV_TRY(add_rules(&r, (clv_str){ "", 0 }, file->spec, err));
    file->rules = r.at;
    file->n_rules = r.n;
    return clv_placement_devices_of(file->spec, arena, &file->devices, err);
}

/* -- reading -- */

/* An order of the user's, and devices that no spec names. */
static clv_status read_devices(const clv_json_at *root, clv_arena *arena, clv_placement_file *file,
                               clv_error *err)
{
    clv_json_at list, at = { 0 };
    clv_placement_devices own;
    clv_remote_device *devices = NULL;
    clv_error inner = { .message = "" };
    int32_t n = 0;

    CLV_TRY(clv_json_member(root, "devices", false, &list, err));
    if (!list.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, err));
    if (n > DEVICES_MAX)
        return clv_fail(err, CLV_ELIMIT, "%s has %" PRId32 " devices, expected at most %d",
                        SHOW(&list), n, DEVICES_MAX);
    devices = CLV_NEW_ARRAY(arena, clv_remote_device, n);
    if (!devices)
        return nomem(err);
    for (int32_t i = 0; i < n; i++) {
        const char *text = NULL;
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(clv_json_string(&at, &text, err));
        if (clv_remote_device_parse(text, arena, &devices[i], &inner) != CLV_OK)
            return clv_fail(err, inner.status, "%s: %s", SHOW(&at), inner.message);
    }
    if (clv_placement_devices_list(devices, n, arena, &own, &inner) != CLV_OK)
        return clv_fail(err, inner.status, "%s: %s", SHOW(&list), inner.message);
    for (int32_t i = 0; i < file->devices.n; i++)
        if (clv_placement_devices_find(&own, &file->devices.at[i]) < 0) {
            const char *name = clv_remote_device_print(&file->devices.at[i], arena);
            return clv_fail(err, CLV_EFORMAT, "%s has no '%.100s', which the spec names",
                            SHOW(&list), name ? name : "");
        }
    file->devices = own;
    return CLV_OK;
}

/* "weight": ["out", "in"]. */
static clv_status read_dim_names(const clv_json_at *all, const clv_json_at *at, clv_arena *arena,
                                 clv_placement_dim_names *ret, clv_error *err)
{
    const char **dims = NULL;
    int32_t n = 0;

    CLV_TRY(clv_json_copy_texts(all, at->key, arena, &dims, &n, err));
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k <= i; k++)
            if (!*dims[i] || (k < i && strcmp(dims[i], dims[k]) == 0))
                return clv_fail(err, CLV_EFORMAT,
                                *dims[i] ? "%s has '%.80s' twice, expected a name for each "
                                           "dimension"
                                         : "%s has an empty name%.0s",
                                SHOW(at), dims[i]);
    if (n > CLV_RANK_MAX)
        return clv_fail(err, CLV_EFORMAT, "%s has over %d names", SHOW(at), CLV_RANK_MAX);
    *ret = (clv_placement_dim_names){ .dims = dims, .n = n };
    return clv_placement_name_join((clv_str){ "", 0 }, at->key, arena, &ret->name, err);
}

static clv_status read_names(const clv_json_at *root, clv_arena *arena, clv_placement_file *file,
                             clv_error *err)
{
    clv_json_at all;
    clv_placement_dim_names *names = NULL;
    int32_t n = 0, cap = 0, id = 0;

    CLV_TRY(clv_json_member(root, "names", false, &all, err));
    if (!all.json)
        return CLV_OK;
    if (!clv_json_is_object(&all))
        return clv_fail(err, CLV_EFORMAT, "%s is no object, expected names of weights", SHOW(&all));
    for (clv_json_at at = clv_json_next_member(&all, NULL); at.json;
         at = clv_json_next_member(&all, &at)) {
        if (!CLV_PUSH_ROOM(arena, names, n, cap))
            return nomem(err);
        CLV_TRY(read_dim_names(&all, &at, arena, &names[n], err));
        CLV_TRY(clv_map_put(&file->names_of, names[n].name, n, &id, err));
        if (id != n)
            return clv_fail(err, CLV_EFORMAT, "%s is given twice", SHOW(&at));
        n++;
    }
    file->names = names;
    file->n_names = n;
    return CLV_OK;
}

/* One of two words; absent: the first. */
static clv_status read_choice(const clv_json_at *root, const char *key, const char *const word[2],
                              bool *ret, clv_error *err)
{
    clv_json_at at;
    const char *text = NULL;

    CLV_TRY(clv_json_member(root, key, false, &at, err));
    if (!at.json)
        return CLV_OK;
    CLV_TRY(clv_json_string(&at, &text, err));
    *ret = strcmp(text, word[1]) == 0;
    if (*ret || strcmp(text, word[0]) == 0)
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT, "%s is '%.80s', expected '%s' or '%s'", SHOW(&at), text,
                    word[0], word[1]);
}

static const char *const cannot_apply[] = { "refuse", "skip" };
static const char *const others[] = { "leave", "copy" };

clv_status clv_placement_file_of_json(const clv_json_at *root, clv_arena *arena,
                                      clv_placement_file *ret, clv_error *err)
{
    static const char *const keys[] = { "$schema",      "spec",   "devices", "names",
                                        "cannot_apply", "others", NULL };
    clv_json_at at;
    clv_placement_file file = { 0 };
    clv_error inner = { .message = "" };

    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(clv_json_member(root, "spec", true, &at, err));
    CLV_TRY(clv_placement_spec_read(&at, arena, &file.spec, err));
    CLV_TRY(clv_map_init(&file.names_of, arena, 0, err));
    clv_status status = index_rules(&file, arena, &inner);
    if (status != CLV_OK)
        return clv_fail(err, status, "%s: %s", SHOW(&at), inner.message);
    CLV_TRY(read_devices(root, arena, &file, err));
    CLV_TRY(read_names(root, arena, &file, err));
    CLV_TRY(read_choice(root, "cannot_apply", cannot_apply, &file.skip, err));
    CLV_TRY(read_choice(root, "others", others, &file.copy_others, err));
    *ret = file;
    return CLV_OK;
}
