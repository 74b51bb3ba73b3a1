#include "notation/placement_json.h"

#include <inttypes.h>

#include "graph/graph.h"

/* SPEC = "cuda:0" | {"single_split": ...} | {"mesh": ...} | {"composite": ...}. What a spec may be
 * is said by the helpers that make it; here their words get a place in the file.
 */

#define SHOW(at) clv_json_path((at), (char[256]){ 0 }, 256)

clv_status clv_placement_spec_read(const clv_json_at *at, clv_arena *arena,
                                   const clv_placement_spec **ret, clv_error *err);

/* "spec.json: spec.mesh: " and what the helper said. */
static clv_status add_place(const clv_json_at *at, clv_status status, const clv_error *inner,
                            clv_error *err)
{
    if (status == CLV_OK)
        return CLV_OK;
    if (status != CLV_EFORMAT)
        return clv_fail(err, status, "%s", inner->message);
    return clv_fail(err, status, "%s: %s", SHOW(at), inner->message);
}

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "placement spec"); }

/* -- single_split -- */

static clv_status read_shards(const clv_json_at *object, clv_arena *arena,
                              clv_placement_shards *ret, clv_error *err)
{
    const clv_placement_spec **specs = NULL;
    clv_json_at list, at = { 0 };

    CLV_TRY(clv_json_member(object, "placements", true, &list, err));
    CLV_TRY(clv_json_length(&list, &ret->n, err));
    specs = CLV_NEW_ARRAY(arena, const clv_placement_spec *, ret->n);
    if (!specs)
        return nomem(err);
    ret->at = specs;
    for (int32_t i = 0; i < ret->n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(clv_placement_spec_read(&at, arena, &specs[i], err));
    }
    return CLV_OK;
}

static clv_status read_sizes(const clv_json_at *object, clv_arena *arena, clv_placement_shards *ret,
                             clv_error *err)
{
    clv_json_at list, at = { 0 };
    int64_t *sizes = NULL;
    int32_t n = 0;

    CLV_TRY(clv_json_member(object, "shard_sizes", false, &list, err));
    if (!list.json || clv_json_is_null(&list))
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, err));
    if (n != ret->n)
        return clv_fail(err, CLV_EFORMAT,
                        "%s has %" PRId32 " sizes, expected one for each of %" PRId32 " placements",
                        SHOW(&list), n, ret->n);
    sizes = CLV_NEW_ARRAY(arena, int64_t, n);
    if (!sizes)
        return nomem(err);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(clv_json_int(&at, 0, INT64_C(1) << 53, &sizes[i], err));
    }
    ret->sizes = sizes;
    return CLV_OK;
}

static clv_status read_split(const clv_json_at *at, clv_arena *arena,
                             const clv_placement_spec **ret, clv_error *err)
{
    static const char *const keys[] = { "dim", "placements", "shard_sizes", NULL };
    clv_placement_dim dim = { 0 };
    clv_placement_shards shards = { 0 };
    clv_json_at dim_at;
    clv_error inner = { .message = "" };

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(clv_json_member(at, "dim", true, &dim_at, err));
    if (clv_json_is_string(&dim_at))
        CLV_TRY(clv_json_string(&dim_at, &dim.name, err));
    else
        CLV_TRY(clv_json_int(&dim_at, -CLV_RANK_MAX, CLV_RANK_MAX - 1, &dim.number, err));
    CLV_TRY(read_shards(at, arena, &shards, err));
    CLV_TRY(read_sizes(at, arena, &shards, err));
    return add_place(at, clv_placement_spec_single_split(dim, &shards, arena, ret, &inner), &inner,
                     err);
}

/* -- mesh -- */

typedef struct {
    int32_t rank, n; /* n: elements so far */
    int32_t shape[CLV_RANK_MAX];
    const clv_placement_spec **at;
    int32_t cap;
} mesh;

/* The lengths of the first list, the first list in it, ... All others are held against them. */
static clv_status find_shape(const clv_json_at *top, clv_arena *arena, mesh *m, clv_error *err)
{
    clv_json_at at[2] = { *top }; /* paths need the one above: only lengths are read here */
    int64_t total = 1;

    while (clv_json_is_array(&at[0])) {
        int32_t n = 0;
        if (m->rank == CLV_RANK_MAX)
            return clv_fail(err, CLV_EFORMAT, "%s has over %d dimensions", SHOW(top), CLV_RANK_MAX);
        CLV_TRY(clv_json_length(&at[0], &n, err));
        m->shape[m->rank++] = n;
        total *= n;
        if (n == 0 || total > CLV_PLACEMENT_PARTS_MAX)
            return clv_fail(err, CLV_EFORMAT,
                            n ? "%s has too many elements" : "%s has an empty list", SHOW(top));
        at[1] = clv_json_element(&at[0], 0, NULL);
        at[0] = (clv_json_at){ NULL, top->key, -1, at[1].json };
    }
    m->at = CLV_NEW_ARRAY(arena, const clv_placement_spec *, total);
    m->cap = (int32_t)total;
    return m->at ? CLV_OK : nomem(err);
}

static clv_status read_level(const clv_json_at *at, int32_t level, clv_arena *arena, mesh *m,
                             clv_error *err)
{
    clv_json_at element = { 0 };
    int32_t n = 0;

    if (level == m->rank && !clv_json_is_array(at))
        return clv_placement_spec_read(at, arena, &m->at[m->n++], err);
    if (level == m->rank || !clv_json_is_array(at))
        return clv_fail(err, CLV_EFORMAT, "%s is %s, expected lists in lists, all as deep",
                        SHOW(at), clv_json_is_array(at) ? "a list" : "a placement");
    CLV_TRY(clv_json_length(at, &n, err));
    if (n != m->shape[level])
        return clv_fail(err, CLV_EFORMAT,
                        "%s has %" PRId32 " elements, expected %" PRId32
                        " as in the first list of its level",
                        SHOW(at), n, m->shape[level]);
    for (int32_t i = 0; i < n; i++) {
        element = clv_json_element(at, i, i ? &element : NULL);
        CLV_TRY(read_level(&element, level + 1, arena, m, err));
    }
    return CLV_OK;
}

static clv_status read_mesh(const clv_json_at *at, clv_arena *arena, const clv_placement_spec **ret,
                            clv_error *err)
{
    mesh m = { 0 };
    clv_error inner = { .message = "" };

    if (!clv_json_is_array(at))
        return clv_fail(err, CLV_EFORMAT, "%s is no list, expected lists in lists of placements",
                        SHOW(at));
    CLV_TRY(find_shape(at, arena, &m, err));
    CLV_TRY(read_level(at, 0, arena, &m, err));
    return add_place(at, clv_placement_spec_mesh(m.at, m.rank, m.shape, arena, ret, &inner), &inner,
                     err);
}

/* -- composite -- */

static int32_t count_members(const clv_json_at *at)
{
    int32_t n = 0;
    clv_json_at member = clv_json_next_member(at, NULL);

    for (; member.json; member = clv_json_next_member(at, &member))
        n++;
    return n;
}

static clv_status read_composite(const clv_json_at *at, clv_arena *arena,
                                 const clv_placement_spec **ret, clv_error *err)
{
    clv_placement_entry *entries = NULL;
    clv_error inner = { .message = "" };
    int32_t n = 0;

    if (!clv_json_is_object(at))
        return clv_fail(err, CLV_EFORMAT, "%s is no object, expected names with a spec each",
                        SHOW(at));
    entries = CLV_NEW_ARRAY(arena, clv_placement_entry, count_members(at));
    if (!entries)
        return nomem(err);
    for (clv_json_at m = clv_json_next_member(at, NULL); m.json; m = clv_json_next_member(at, &m)) {
        entries[n].name = m.key;
        CLV_TRY(clv_placement_spec_read(&m, arena, &entries[n].spec, err));
        n++;
    }
    return add_place(at, clv_placement_spec_composite(entries, n, arena, ret, &inner), &inner, err);
}

/* -- any -- */

clv_status clv_placement_spec_read(const clv_json_at *at, clv_arena *arena,
                                   const clv_placement_spec **ret, clv_error *err)
{
    static const char *const kinds[] = { "single_split", "mesh", "composite", NULL };
    static clv_status (*const read[])(const clv_json_at *, clv_arena *, const clv_placement_spec **,
                                      clv_error *) = { read_split, read_mesh, read_composite };
    clv_error inner = { .message = "" };
    const char *text = NULL;
    clv_json_at member;

    if (clv_json_is_string(at)) {
        CLV_TRY(clv_json_string(at, &text, err));
        return add_place(at, clv_placement_spec_device(text, arena, ret, &inner), &inner, err);
    }
    if (!clv_json_is_object(at))
        return clv_fail(err, CLV_EFORMAT,
                        "%s is no placement, expected a device such as \"cuda:0\", or an object "
                        "with single_split, mesh or composite",
                        SHOW(at));
    CLV_TRY(clv_json_keys(at, kinds, err));
    if (count_members(at) != 1)
        return clv_fail(err, CLV_EFORMAT,
                        "%s has %" PRId32 " keys, expected one of single_split, mesh and composite",
                        SHOW(at), count_members(at));
    for (int i = 0; kinds[i]; i++) {
        CLV_TRY(clv_json_member(at, kinds[i], false, &member, err));
        if (member.json)
            return read[i](&member, arena, ret, err);
    }
    return clv_fail(err, CLV_EINTERNAL, "%s: no kind of placement", SHOW(at));
}

/* -- writing -- */

static void write_split(clv_json_out *out, const clv_placement_spec *spec)
{
    clv_json_open_object(out, "single_split");
    if (spec->dim.name)
        clv_json_put_string(out, "dim", spec->dim.name);
    else
        clv_json_put_int(out, "dim", spec->dim.number);
    clv_json_open_array(out, "placements");
    for (int32_t i = 0; i < spec->n; i++)
        clv_placement_spec_write(out, NULL, spec->at[i]);
    clv_json_close_array(out);
    if (spec->sizes) {
        clv_json_open_array(out, "shard_sizes");
        for (int32_t i = 0; i < spec->n; i++)
            clv_json_put_int(out, NULL, spec->sizes[i]);
        clv_json_close_array(out);
    }
    clv_json_close_object(out);
}

/* The block of the mesh from element *next on; levels below are lists in it. */
static void write_level(clv_json_out *out, const char *key, const clv_placement_spec *spec,
                        int32_t level, int32_t *next)
{
    if (level == spec->rank) {
        clv_placement_spec_write(out, key, spec->at[(*next)++]);
        return;
    }
    clv_json_open_array(out, key);
    for (int32_t i = 0; i < spec->shape[level]; i++)
        write_level(out, NULL, spec, level + 1, next);
    clv_json_close_array(out);
}

void clv_placement_spec_write(clv_json_out *out, const char *key, const clv_placement_spec *spec)
{
    int32_t next = 0;

    if (spec->kind == CLV_PLACEMENT_SPEC_DEVICE) {
        const char *text = clv_remote_device_print(&spec->device, out->arena);
        out->failed |= text == NULL;
        clv_json_put_string(out, key, text);
        return;
    }
    clv_json_open_object(out, key);
    if (spec->kind == CLV_PLACEMENT_SPEC_SPLIT) {
        write_split(out, spec);
    } else if (spec->kind == CLV_PLACEMENT_SPEC_MESH) {
        write_level(out, "mesh", spec, 0, &next);
    } else {
        clv_json_open_object(out, "composite");
        for (int32_t i = 0; i < spec->n; i++)
            clv_placement_spec_write(out, spec->entries[i].name, spec->entries[i].spec);
        clv_json_close_object(out);
    }
    clv_json_close_object(out);
}
