#include <inttypes.h>

#include "graph/graph.h"
#include "notation/placement_spec.h"

/* SPEC = "cuda:0" | {"single_split": ...} | {"mesh": ...} | {"composite": ...}. What a spec may be
 * is said by the helpers that make it; here their words get a place in the file.
 */

#define SHOW(at) clv_json_path((at), (char[256]){ 0 }, 256)

typedef struct {
    clv_arena *arena;
    clv_error *err;
} reader;

static clv_status read_spec(reader *r, const clv_json_at *at, const clv_placement_spec **ret);

/* "spec.json: spec.mesh: " and what the helper said. */
static clv_status place_words(reader *r, const clv_json_at *at, clv_status status,
                              const clv_error *inner)
{
    if (status == CLV_OK)
        return CLV_OK;
    if (status != CLV_EFORMAT)
        return clv_fail(r->err, status, "%s", inner->message);
    return clv_fail(r->err, status, "%s: %s", SHOW(at), inner->message);
}

static clv_status nomem(reader *r) { return clv_fail_nomem(r->err, "placement spec"); }

static clv_status read_device(reader *r, const clv_json_at *at, const clv_placement_spec **ret)
{
    const char *text = NULL;
    clv_error inner = { .message = "" };

    CLV_TRY(clv_json_string(at, &text, r->err));
    return place_words(r, at, clv_placement_spec_device(text, r->arena, ret, &inner), &inner);
}

/* -- single_split -- */

static clv_status read_dim(reader *r, const clv_json_at *object, clv_placement_dim *ret)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(object, "dim", true, &at, r->err));
    if (clv_json_is_string(&at))
        return clv_json_string(&at, &ret->name, r->err);
    return clv_json_int(&at, -CLV_RANK_MAX, CLV_RANK_MAX - 1, &ret->number, r->err);
}

static clv_status read_shards(reader *r, const clv_json_at *object, const clv_placement_spec ***ret,
                              int32_t *ret_n)
{
    clv_json_at list, at = { 0 };

    CLV_TRY(clv_json_member(object, "placements", true, &list, r->err));
    CLV_TRY(clv_json_length(&list, ret_n, r->err));
    *ret = CLV_NEW_ARRAY(r->arena, const clv_placement_spec *, *ret_n);
    if (!*ret)
        return nomem(r);
    for (int32_t i = 0; i < *ret_n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(read_spec(r, &at, &(*ret)[i]));
    }
    return CLV_OK;
}

static clv_status read_sizes(reader *r, const clv_json_at *object, int32_t n_shards, int64_t **ret)
{
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_member(object, "shard_sizes", false, &list, r->err));
    if (!list.json || clv_json_is_null(&list))
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, r->err));
    if (n != n_shards)
        return clv_fail(r->err, CLV_EFORMAT,
                        "%s has %" PRId32 " sizes, expected one for each of %" PRId32 " placements",
                        SHOW(&list), n, n_shards);
    *ret = CLV_NEW_ARRAY(r->arena, int64_t, n);
    if (!*ret)
        return nomem(r);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(clv_json_int(&at, 0, INT64_C(1) << 53, &(*ret)[i], r->err));
    }
    return CLV_OK;
}

static clv_status read_split(reader *r, const clv_json_at *at, const clv_placement_spec **ret)
{
    static const char *const keys[] = { "dim", "placements", "shard_sizes", NULL };
    clv_placement_dim dim = { 0 };
    const clv_placement_spec **shards = NULL;
    int64_t *sizes = NULL;
    int32_t n = 0;
    clv_error inner = { .message = "" };

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(read_dim(r, at, &dim));
    CLV_TRY(read_shards(r, at, &shards, &n));
    CLV_TRY(read_sizes(r, at, n, &sizes));
    return place_words(
        r, at, clv_placement_spec_single_split(dim, shards, n, sizes, r->arena, ret, &inner),
        &inner);
}

/* -- mesh -- */

typedef struct {
    int32_t rank, n; /* n: elements so far */
    int32_t shape[CLV_RANK_MAX];
    const clv_placement_spec **at;
    int32_t cap;
} mesh;

/* The lengths of the first list, the first list in it, ... All others are held against them. */
static clv_status find_shape(reader *r, const clv_json_at *top, mesh *m)
{
    clv_json_at at[2] = { *top }; /* paths need the one above: only lengths are read here */
    int64_t total = 1;

    while (clv_json_is_array(&at[0])) {
        int32_t n = 0;
        if (m->rank == CLV_RANK_MAX)
            return clv_fail(r->err, CLV_EFORMAT, "%s has over %d dimensions", SHOW(top),
                            CLV_RANK_MAX);
        CLV_TRY(clv_json_length(&at[0], &n, r->err));
        m->shape[m->rank++] = n;
        total *= n;
        if (n == 0 || total > CLV_PLACEMENT_PARTS_MAX)
            return clv_fail(r->err, CLV_EFORMAT,
                            n ? "%s has too many elements" : "%s has an empty list", SHOW(top));
        at[1] = clv_json_element(&at[0], 0, NULL);
        at[0] = (clv_json_at){ NULL, top->key, -1, at[1].json };
    }
    m->at = CLV_NEW_ARRAY(r->arena, const clv_placement_spec *, total);
    m->cap = (int32_t)total;
    return m->at ? CLV_OK : nomem(r);
}

static clv_status read_level(reader *r, const clv_json_at *at, int32_t level, mesh *m)
{
    clv_json_at element = { 0 };
    int32_t n = 0;

    if (level == m->rank && !clv_json_is_array(at))
        return read_spec(r, at, &m->at[m->n++]);
    if (level == m->rank || !clv_json_is_array(at))
        return clv_fail(r->err, CLV_EFORMAT, "%s is %s, expected lists in lists, all as deep",
                        SHOW(at), clv_json_is_array(at) ? "a list" : "a placement");
    CLV_TRY(clv_json_length(at, &n, r->err));
    if (n != m->shape[level])
        return clv_fail(r->err, CLV_EFORMAT,
                        "%s has %" PRId32 " elements, expected %" PRId32
                        " as in the first list of its level",
                        SHOW(at), n, m->shape[level]);
    for (int32_t i = 0; i < n; i++) {
        element = clv_json_element(at, i, i ? &element : NULL);
        CLV_TRY(read_level(r, &element, level + 1, m));
    }
    return CLV_OK;
}

static clv_status read_mesh(reader *r, const clv_json_at *at, const clv_placement_spec **ret)
{
    mesh m = { 0 };
    clv_error inner = { .message = "" };

    if (!clv_json_is_array(at))
        return clv_fail(r->err, CLV_EFORMAT, "%s is no list, expected lists in lists of placements",
                        SHOW(at));
    CLV_TRY(find_shape(r, at, &m));
    CLV_TRY(read_level(r, at, 0, &m));
    return place_words(r, at, clv_placement_spec_mesh(m.at, m.rank, m.shape, r->arena, ret, &inner),
                       &inner);
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

static clv_status read_composite(reader *r, const clv_json_at *at, const clv_placement_spec **ret)
{
    clv_placement_entry *entries = NULL;
    clv_error inner = { .message = "" };
    int32_t n = 0;

    if (!clv_json_is_object(at))
        return clv_fail(r->err, CLV_EFORMAT, "%s is no object, expected names with a spec each",
                        SHOW(at));
    entries = CLV_NEW_ARRAY(r->arena, clv_placement_entry, count_members(at));
    if (!entries)
        return nomem(r);
    for (clv_json_at m = clv_json_next_member(at, NULL); m.json; m = clv_json_next_member(at, &m)) {
        entries[n].name = m.key;
        CLV_TRY(read_spec(r, &m, &entries[n].spec));
        n++;
    }
    return place_words(r, at, clv_placement_spec_composite(entries, n, r->arena, ret, &inner),
                       &inner);
}

/* -- any -- */

static clv_status read_spec(reader *r, const clv_json_at *at, const clv_placement_spec **ret)
{
    static const char *const kinds[] = { "single_split", "mesh", "composite", NULL };
    static clv_status (*const read[])(reader *, const clv_json_at *,
                                      const clv_placement_spec **) = { read_split, read_mesh,
                                                                       read_composite };
    clv_json_at member;

    if (clv_json_is_string(at))
        return read_device(r, at, ret);
    if (!clv_json_is_object(at))
        return clv_fail(r->err, CLV_EFORMAT,
                        "%s is no placement, expected a device such as \"cuda:0\", or an object "
                        "with single_split, mesh or composite",
                        SHOW(at));
    CLV_TRY(clv_json_keys(at, kinds, r->err));
    if (count_members(at) != 1)
        return clv_fail(r->err, CLV_EFORMAT,
                        "%s has %" PRId32 " keys, expected one of single_split, mesh and composite",
                        SHOW(at), count_members(at));
    for (int i = 0; kinds[i]; i++) {
        CLV_TRY(clv_json_member(at, kinds[i], false, &member, r->err));
        if (member.json)
            return read[i](r, &member, ret);
    }
    return clv_fail(r->err, CLV_EINTERNAL, "%s: no kind of placement", SHOW(at));
}

clv_status clv_placement_spec_read(const clv_json_at *at, clv_arena *arena,
                                   const clv_placement_spec **ret, clv_error *err)
{
    reader r = { arena, err };

    return read_spec(&r, at, ret);
}

/* -- writing -- */

static void put_device(clv_json_out *out, const char *key, const clv_remote_device *device)
{
    const char *text = clv_remote_device_print(device, out->arena);

    out->failed |= text == NULL;
    clv_json_put_string(out, key, text);
}

static void put_split(clv_json_out *out, const clv_placement_spec *spec)
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
static void put_level(clv_json_out *out, const char *key, const clv_placement_spec *spec,
                      int32_t level, int32_t *next)
{
    if (level == spec->rank) {
        clv_placement_spec_write(out, key, spec->at[(*next)++]);
        return;
    }
    clv_json_open_array(out, key);
    for (int32_t i = 0; i < spec->shape[level]; i++)
        put_level(out, NULL, spec, level + 1, next);
    clv_json_close_array(out);
}

void clv_placement_spec_write(clv_json_out *out, const char *key, const clv_placement_spec *spec)
{
    int32_t next = 0;

    if (spec->kind == CLV_PLACEMENT_SPEC_DEVICE) {
        put_device(out, key, &spec->device);
        return;
    }
    clv_json_open_object(out, key);
    if (spec->kind == CLV_PLACEMENT_SPEC_SPLIT) {
        put_split(out, spec);
    } else if (spec->kind == CLV_PLACEMENT_SPEC_MESH) {
        put_level(out, "mesh", spec, 0, &next);
    } else {
        clv_json_open_object(out, "composite");
        for (int32_t i = 0; i < spec->n; i++)
            clv_placement_spec_write(out, spec->entries[i].name, spec->entries[i].spec);
        clv_json_close_object(out);
    }
    clv_json_close_object(out);
}
