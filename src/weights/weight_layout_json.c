#include "weights/weight_layout_json.h"

#include "base/map.h"

#define DIM_MAX INT64_C(9007199254740992) /* 2^53: what JSON's numbers hold exactly */

typedef struct {
    clv_arena *arena;
    const clv_weight_list *weights;
    clv_map weight_ids, device_ids;
    bool *seen; /* weights of the file */
    const char **devices;
    clv_weight_shard *shards;
    int32_t n_devices, cap_devices, n_shards, cap_shards;
    bool given; /* the file lists its devices */
    clv_error *err;
} reading;

static clv_status bad(const reading *r, const clv_json_at *at, const char *what)
{
    char path[256];
    return clv_fail(r->err, CLV_EFORMAT, "%s %s", clv_json_path(at, path, sizeof path), what);
}

static clv_status add_device(reading *r, const char *name, int32_t *ret)
{
    int32_t id = r->n_devices;
    const char *copy = clv_arena_printf(r->arena, "%s", name);
    if (!copy || !CLV_PUSH_ROOM(r->arena, r->devices, r->n_devices, r->cap_devices))
        return clv_fail_nomem(r->err, "the devices of shards");
    CLV_TRY(clv_map_put(&r->device_ids, clv_str_of(copy), id, &id, r->err));
    if (id == r->n_devices)
        r->devices[r->n_devices++] = copy;
    *ret = id;
    return CLV_OK;
}

static clv_status read_devices(reading *r, const clv_json_at *root)
{
    clv_json_at list, one = { 0 };
    int32_t n, id;
    const char *name;
    CLV_TRY(clv_json_member(root, "devices", false, &list, r->err));
    r->given = list.json != NULL;
    if (!r->given)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, r->err));
    for (int32_t i = 0; i < n; i++) {
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(clv_json_string(&one, &name, r->err));
        if (*name == '\0')
            return bad(r, &one, "is empty, expected the name of a device");
        CLV_TRY(add_device(r, name, &id));
        if (id != i)
            return bad(r, &one, "is a device that the list has already");
    }
    return CLV_OK;
}

static clv_status read_device(reading *r, const clv_json_at *shard, int32_t *ret)
{
    clv_json_at at;
    const char *name;
    CLV_TRY(clv_json_member(shard, "device", true, &at, r->err));
    CLV_TRY(clv_json_string(&at, &name, r->err));
    if (*name == '\0')
        return bad(r, &at, "is empty, expected the name of a device");
    if (!r->given)
        return add_device(r, name, ret);
    *ret = clv_map_get(&r->device_ids, clv_str_of(name));
    return *ret >= 0 ? CLV_OK : bad(r, &at, "is no device of the list 'devices'");
}

/* Numbers of a list; *ret NULL where it is absent. */
static clv_status read_numbers(reading *r, const clv_json_at *shard, const char *key,
                               int32_t *ret_n, const int64_t **ret)
{
    clv_json_at list, one = { 0 };
    *ret = NULL;
    CLV_TRY(clv_json_member(shard, key, false, &list, r->err));
    if (!list.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, ret_n, r->err));
    if (*ret_n > CLV_SPLIT_RANK_MAX)
        return bad(r, &list, "has more numbers than there can be dimensions");
    int64_t *numbers = CLV_NEW_ARRAY(r->arena, int64_t, *ret_n);
    if (!numbers)
        return clv_fail_nomem(r->err, "a part of a weight");
    for (int32_t i = 0; i < *ret_n; i++) {
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(clv_json_int(&one, 0, DIM_MAX, &numbers[i], r->err));
    }
    *ret = numbers;
    return CLV_OK;
}

static clv_status read_box(reading *r, const clv_json_at *at, const clv_weight *w, clv_box *ret)
{
    const int64_t *view, *offset, *size;
    int32_t n_view = w->rank, n_offset = 0, n_size = 0;
    CLV_TRY(read_numbers(r, at, "view", &n_view, &view));
    CLV_TRY(read_numbers(r, at, "offsets", &n_offset, &offset));
    CLV_TRY(read_numbers(r, at, "dims", &n_size, &size));
    if (!offset != !size)
        return bad(r, at, "has only one of 'offsets' and 'dims', expected both or neither");
    if (!view)
        view = w->dims;
    if (!offset)
        return clv_box_whole(n_view, view, r->arena, ret, r->err);
    if (n_offset != n_view || n_size != n_view)
        return bad(r, at,
                   "has not as many 'offsets' and 'dims' as its weight, or its view, has "
                   "dimensions");
    *ret = (clv_box){ n_view, view, offset, size };
    return CLV_OK;
}

static clv_status read_shard(reading *r, const clv_json_at *at, int32_t weight)
{
    static const char *const keys[] = { "device", "view",   "offsets", "dims", "file",
                                        "offset", "length", "xxh3",    NULL };
    clv_weight_shard s = { .weight = weight };
    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(read_device(r, at, &s.device));
    CLV_TRY(read_box(r, at, &r->weights->at[weight], &s.box));
    if (!CLV_PUSH_ROOM(r->arena, r->shards, r->n_shards, r->cap_shards))
        return clv_fail_nomem(r->err, "the shards of a model");
    r->shards[r->n_shards++] = s;
    return CLV_OK;
}

/* Where the file tells them, they have to be the model's: else it is for another one. */
static clv_status check_dims(reading *r, const clv_json_at *at, const clv_weight *w)
{
    clv_json_at dims, dtype;
    const int64_t *got;
    const char *name;
    int32_t n = 0;
    CLV_TRY(clv_json_member(at, "dims", false, &dims, r->err));
    CLV_TRY(read_numbers(r, at, "dims", &n, &got));
    bool same = !got || n == w->rank;
    for (int32_t d = 0; got && same && d < n; d++)
        same = got[d] == w->dims[d];
    if (!same)
        return bad(r, &dims, "are not the dimensions of the model's weight");
    CLV_TRY(clv_json_member(at, "dtype", false, &dtype, r->err));
    if (!dtype.json)
        return CLV_OK;
    CLV_TRY(clv_json_string(&dtype, &name, r->err));
    return strcmp(name, clv_dtype_name(w->dtype)) == 0
               ? CLV_OK
               : bad(r, &dtype, "is not the type of the model's weight");
}

static clv_status read_weight(reading *r, const clv_json_at *at)
{
    static const char *const keys[] = { "name", "dtype", "dims", "payload", "shards", NULL };
    clv_json_at name, list, one = { 0 };
    const char *text;
    int32_t n;
    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(clv_json_member(at, "name", true, &name, r->err));
    CLV_TRY(clv_json_string(&name, &text, r->err));
    int32_t id = clv_map_get(&r->weight_ids, clv_str_of(text));
    if (id < 0)
        return bad(r, &name, "is no weight of the model");
    if (r->seen[id])
        return bad(r, &name, "is a weight that the list has already");
    r->seen[id] = true;
    CLV_TRY(check_dims(r, at, &r->weights->at[id]));
    CLV_TRY(clv_json_member(at, "shards", true, &list, r->err));
    CLV_TRY(clv_json_length(&list, &n, r->err));
    for (int32_t i = 0; i < n; i++) {
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(read_shard(r, &one, id));
    }
    return CLV_OK;
}

static clv_status read_all(reading *r, const clv_json_at *root)
{
    static const char *const keys[] = { "schema_version", "kind",    "devices", "files",
                                        "original",       "weights", NULL };
    clv_json_at list, one = { 0 };
    int32_t n;
    CLV_TRY(clv_json_keys(root, keys, r->err));
    CLV_TRY(read_devices(r, root));
    CLV_TRY(clv_json_member(root, "weights", true, &list, r->err));
    CLV_TRY(clv_json_length(&list, &n, r->err));
    for (int32_t i = 0; i < n; i++) {
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(read_weight(r, &one));
    }
    return CLV_OK;
}

clv_status clv_weight_layout_of_json(const clv_json_at *root, const clv_weight_list *weights,
                                     clv_arena *arena, clv_weight_layout *ret, clv_error *err)
{
    reading r = { .arena = arena, .weights = weights, .err = err };
    r.seen = CLV_NEW_ARRAY(arena, bool, weights->n);
    if (!r.seen)
        return clv_fail_nomem(err, "the shards of a model");
    CLV_TRY(clv_map_init(&r.device_ids, arena, 0, err));
    CLV_TRY(clv_map_init(&r.weight_ids, arena, weights->n, err));
    for (int32_t i = 0; i < weights->n; i++)
        CLV_TRY(clv_map_put(&r.weight_ids, weights->at[i].name, i, NULL, err));
    CLV_TRY(read_all(&r, root));
    *ret = (clv_weight_layout){ r.devices, r.n_devices, r.n_shards, r.shards };
    return CLV_OK;
}

clv_status clv_weight_layout_read(const char *text, size_t n, const char *name,
                                  const clv_weight_list *weights, clv_arena *arena,
                                  clv_weight_layout *ret, clv_error *err)
{
    clv_json *json;
    clv_weight_layout layout;
    CLV_TRY(clv_json_parse(text, n, name, &json, err));
    clv_json_at root = clv_json_root(json, name);
    clv_status status = clv_weight_layout_of_json(&root, weights, arena, &layout, err);
    clv_json_free(json);
    CLV_TRY(status);
    CLV_TRY(clv_weight_layout_check(&layout, weights, arena, err));
    *ret = layout;
    return CLV_OK;
}
