#include "weights/weight_layout_json.h"

#include "base/map.h"
#include "base/text_digest.h"

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
} reading;

static clv_status refuse(const clv_json_at *at, const char *what, clv_error *err)
{
    char path[256];
    return clv_fail(err, CLV_EFORMAT, "%s %s", clv_json_path(at, path, sizeof path), what);
}

static clv_status add_device(reading *r, const char *name, int32_t *ret, clv_error *err)
{
    int32_t id = r->n_devices;
    const char *copy = clv_arena_printf(r->arena, "%s", name);
    if (!copy || !CLV_PUSH_ROOM(r->arena, r->devices, r->n_devices, r->cap_devices))
        return clv_fail_nomem(err, "the devices of shards");
    CLV_TRY(clv_map_put(&r->device_ids, clv_str_of(copy), id, &id, err));
    if (id == r->n_devices)
        r->devices[r->n_devices++] = copy;
    *ret = id;
    return CLV_OK;
}

static clv_status read_devices(reading *r, const clv_json_at *root, clv_error *err)
{
    clv_json_at list, one = { 0 };
    int32_t n, id;
    const char *name;
    CLV_TRY(clv_json_member(root, "devices", false, &list, err));
    r->given = list.json != NULL;
    if (!r->given)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, err));
    for (int32_t i = 0; i < n; i++) {
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(clv_json_string(&one, &name, err));
        if (*name == '\0')
            return refuse(&one, "is empty, expected the name of a device", err);
        CLV_TRY(add_device(r, name, &id, err));
        if (id != i)
            return refuse(&one, "is a device that the list has already", err);
    }
    return CLV_OK;
}

static clv_status read_device(reading *r, const clv_json_at *shard, int32_t *ret, clv_error *err)
{
    clv_json_at at;
    const char *name;
    CLV_TRY(clv_json_member(shard, "device", true, &at, err));
    CLV_TRY(clv_json_string(&at, &name, err));
    if (*name == '\0')
        return refuse(&at, "is empty, expected the name of a device", err);
    if (!r->given)
        return add_device(r, name, ret, err);
    *ret = clv_map_get(&r->device_ids, clv_str_of(name));
    return *ret >= 0 ? CLV_OK : refuse(&at, "is no device of the list 'devices'", err);
}

/* Numbers of a list; *ret NULL where it is absent. */
static clv_status read_numbers(reading *r, const clv_json_at *shard, const char *key,
                               int32_t *ret_n, const int64_t **ret, clv_error *err)
{
    clv_json_at list, one = { 0 };
    *ret = NULL;
    CLV_TRY(clv_json_member(shard, key, false, &list, err));
    if (!list.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, ret_n, err));
    if (*ret_n > CLV_SPLIT_RANK_MAX)
        return refuse(&list, "has more numbers than there can be dimensions", err);
    int64_t *numbers = CLV_NEW_ARRAY(r->arena, int64_t, *ret_n);
    if (!numbers)
        return clv_fail_nomem(err, "a part of a weight");
    for (int32_t i = 0; i < *ret_n; i++) {
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(clv_json_int(&one, 0, DIM_MAX, &numbers[i], err));
    }
    *ret = numbers;
    return CLV_OK;
}

static clv_status read_box(reading *r, const clv_json_at *at, const clv_weight *w, clv_box *ret,
                           clv_error *err)
{
    const int64_t *view, *offset, *size;
    int32_t n_view = w->rank, n_offset = 0, n_size = 0;
    CLV_TRY(read_numbers(r, at, "view", &n_view, &view, err));
    CLV_TRY(read_numbers(r, at, "offsets", &n_offset, &offset, err));
    CLV_TRY(read_numbers(r, at, "dims", &n_size, &size, err));
    if (!offset != !size)
        return refuse(at, "has only one of 'offsets' and 'dims', expected both or neither", err);
    if (!view)
        view = w->dims;
    if (!offset)
        return clv_box_whole(n_view, view, r->arena, ret, err);
    if (n_offset != n_view || n_size != n_view)
        return refuse(at,
                      "has not as many 'offsets' and 'dims' as its weight, or its view, has "
                      "dimensions",
                      err);
    *ret = (clv_box){ n_view, view, offset, size };
    return CLV_OK;
}

static clv_status read_shard(reading *r, const clv_json_at *at, int32_t weight, clv_error *err)
{
    static const char *const keys[] = { "device", "view",   "offsets", "dims", "file",
                                        "offset", "length", "xxh3",    NULL };
    clv_weight_shard s = { .weight = weight };
    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(read_device(r, at, &s.device, err));
    CLV_TRY(read_box(r, at, &r->weights->at[weight], &s.box, err));
    if (!CLV_PUSH_ROOM(r->arena, r->shards, r->n_shards, r->cap_shards))
        return clv_fail_nomem(err, "the shards of a model");
    r->shards[r->n_shards++] = s;
    return CLV_OK;
}

/* Where the file has them, they have to be the model's: else it is for another one. */
static clv_status check_dims(reading *r, const clv_json_at *at, const clv_weight *w, clv_error *err)
{
    clv_json_at dims, dtype;
    const int64_t *got;
    const char *name;
    int32_t n = 0;
    CLV_TRY(clv_json_member(at, "dims", false, &dims, err));
    CLV_TRY(read_numbers(r, at, "dims", &n, &got, err));
    bool same = !got || n == w->rank;
    for (int32_t d = 0; got && same && d < n; d++)
        same = got[d] == w->dims[d];
    if (!same)
        return refuse(&dims, "are not the dimensions of the model's weight", err);
    CLV_TRY(clv_json_member(at, "dtype", false, &dtype, err));
    if (!dtype.json)
        return CLV_OK;
    CLV_TRY(clv_json_string(&dtype, &name, err));
    return strcmp(name, clv_dtype_name(w->dtype)) == 0
               ? CLV_OK
               : refuse(&dtype, "is not the type of the model's weight", err);
}

static clv_status read_weight(reading *r, const clv_json_at *at, clv_error *err)
{
    static const char *const keys[] = { "name", "dtype", "dims", "payload", "shards", NULL };
    clv_json_at name, list, one = { 0 };
    const char *text;
    int32_t n;
    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(clv_json_member(at, "name", true, &name, err));
    CLV_TRY(clv_json_string(&name, &text, err));
    int32_t id = clv_map_get(&r->weight_ids, clv_str_of(text));
    if (id < 0)
        return refuse(&name, "is no weight of the model", err);
    if (r->seen[id])
        return refuse(&name, "is a weight that the list has already", err);
    r->seen[id] = true;
    CLV_TRY(check_dims(r, at, &r->weights->at[id], err));
    CLV_TRY(clv_json_member(at, "shards", true, &list, err));
    CLV_TRY(clv_json_length(&list, &n, err));
    for (int32_t i = 0; i < n; i++) {
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(read_shard(r, &one, id, err));
    }
    return CLV_OK;
}

static clv_status read_root(reading *r, const clv_json_at *root, clv_error *err)
{
    static const char *const keys[] = { "schema_version", "kind",    "devices", "files",
                                        "original",       "weights", CLV_TEXT_DIGEST, NULL };
    clv_json_at list, one = { 0 };
    int32_t n;
    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(read_devices(r, root, err));
    CLV_TRY(clv_json_member(root, "weights", true, &list, err));
    CLV_TRY(clv_json_length(&list, &n, err));
    for (int32_t i = 0; i < n; i++) {
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(read_weight(r, &one, err));
    }
    return CLV_OK;
}

clv_status clv_weight_layout_of_json(const clv_json_at *root, const clv_weight_list *weights,
                                     clv_arena *arena, clv_weight_layout *ret, clv_error *err)
{
    reading r = { .arena = arena, .weights = weights };
    r.seen = CLV_NEW_ARRAY(arena, bool, weights->n);
    if (!r.seen)
        return clv_fail_nomem(err, "the shards of a model");
    CLV_TRY(clv_map_init(&r.device_ids, arena, 0, err));
    CLV_TRY(clv_map_init(&r.weight_ids, arena, weights->n, err));
    for (int32_t i = 0; i < weights->n; i++)
        CLV_TRY(clv_map_put(&r.weight_ids, weights->at[i].name, i, NULL, err));
    CLV_TRY(read_root(&r, root, err));
    *ret = (clv_weight_layout){ r.devices, r.n_devices, r.n_shards, r.shards };
    return CLV_OK;
}
