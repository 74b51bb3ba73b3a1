#include "weights/weights_folder_json.h"

#include <stdio.h>

#include "base/json.h"
#include "base/json_out.h"
#include "base/map.h"
#include "base/text_digest.h"
#include "weights/weight_layout_json.h"

#define VERSION   2                         /* 1 has no digest */
#define BYTES_MAX INT64_C(9007199254740992) /* 2^53: what JSON's numbers hold exactly */

static const char *const kind_names[] = { "external", "safetensors", "ranges" };

/* -- writing -- */

static void put_checksum(clv_json_out *out, clv_checksum sum)
{
    char text[CLV_CHECKSUM_TEXT];
    clv_json_put_string(out, "xxh3", clv_checksum_text(text, sum));
}

static void put_longs(clv_json_out *out, const char *key, const int64_t *at, int32_t n)
{
    clv_json_open_array(out, key);
    for (int32_t i = 0; i < n; i++)
        clv_json_put_int(out, NULL, at[i]);
    clv_json_close_array(out);
}

/* sum NULL: none, each shard has its own */
static void put_file(clv_json_out *out, const char *key, const clv_weights_file *f,
                     const clv_checksum *sum)
{
    clv_json_open_object(out, key);
    clv_json_put_string(out, "file", f->name);
    clv_json_put_int(out, "bytes", f->bytes);
    if (sum)
        put_checksum(out, *sum);
    clv_json_close_object(out);
}

static void put_original(clv_json_out *out, const clv_weights_folder *f)
{
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)f->fingerprint);
    clv_json_open_object(out, "original");
    clv_json_put_string(out, "fingerprint", text);
    clv_json_open_array(out, "files");
    for (int32_t i = 0; i < f->n_originals; i++) {
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "file", f->originals[i].name);
        clv_json_put_int(out, "bytes", f->originals[i].bytes);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    put_file(out, "rest", &f->rest, &f->rest_checksum);
    clv_json_close_object(out);
}

static void put_shard(clv_json_out *out, const clv_weights_folder *f, const clv_weight *w,
                      int32_t shard)
{
    const clv_weight_shard *s = &f->layout.shards[shard];
    const clv_shard_place *place = &f->places[shard];
    bool own_view = w->rank != s->box.rank;
    for (int32_t d = 0; d < w->rank && !own_view; d++)
        own_view = w->dims[d] != s->box.view[d];
    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "device", f->layout.devices[s->device]);
    if (own_view)
        put_longs(out, "view", s->box.view, s->box.rank);
    put_longs(out, "offsets", s->box.offset, s->box.rank);
    put_longs(out, "dims", s->box.size, s->box.rank);
    clv_json_put_string(out, "file", f->files[place->file].name);
    clv_json_put_int(out, "offset", place->offset);
    clv_json_put_int(out, "length", place->length);
    put_checksum(out, place->checksum);
    clv_json_close_object(out);
}

/* Its shards begin at *shard, which moves past them. */
static void put_weight(clv_json_out *out, const clv_weights_folder *f, int32_t weight,
                       int32_t *shard)
{
    const clv_weight *w = &f->weights.at[weight];
    const clv_original_place *p = &f->payloads[weight];
    clv_json_open_object(out, NULL);
    clv_json_put_str(out, "name", w->name);
    clv_json_put_string(out, "dtype", clv_dtype_name(w->dtype));
    put_longs(out, "dims", w->dims, w->rank);
    if (p->file >= 0) {
        clv_json_open_object(out, "payload");
        clv_json_put_string(out, "file", f->originals[p->file].name);
        clv_json_put_int(out, "offset", p->offset);
        clv_json_put_int(out, "length", p->length);
        clv_json_close_object(out);
    }
    clv_json_open_array(out, "shards");
    for (; *shard < f->layout.n_shards && f->layout.shards[*shard].weight == weight; (*shard)++)
        put_shard(out, f, w, *shard);
    clv_json_close_array(out);
    clv_json_close_object(out);
}

clv_status clv_folder_json_text(const clv_weights_folder *f, clv_arena *arena, const char **ret,
                                size_t *ret_n, clv_error *err)
{
    clv_json_out out;
    int32_t shard = 0;
    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", VERSION);
    clv_json_put_string(&out, "kind", kind_names[f->kind]);
    clv_json_open_array(&out, "devices");
    for (int32_t i = 0; i < f->layout.n_devices; i++)
        clv_json_put_string(&out, NULL, f->layout.devices[i]);
    clv_json_close_array(&out);
    clv_json_open_array(&out, "files");
    for (int32_t i = 0; i < f->n_files; i++)
        put_file(&out, NULL, &f->files[i], NULL);
    clv_json_close_array(&out);
    put_original(&out, f);
    clv_json_open_array(&out, "weights");
    for (int32_t w = 0; w < f->weights.n; w++)
        put_weight(&out, f, w, &shard);
    clv_json_close_array(&out);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    return clv_text_digest_add(out.text, out.n, arena, ret, ret_n, err);
}

/* -- reading -- */

typedef struct {
    clv_arena *arena;
    clv_weights_folder *f;
    clv_map files, originals;
    clv_weights_file *file_at;
    clv_original_file *original_at;
    clv_weight *weight_at;
    clv_original_place *payload_at;
    clv_shard_place *place_at;
    int32_t n_places;
} reading;

static clv_status refuse(const clv_json_at *at, const char *what, clv_error *err)
{
    char path[256];
    return clv_fail(err, CLV_EFORMAT, "%s %s", clv_json_path(at, path, sizeof path), what);
}

static clv_status read_int(const clv_json_at *object, const char *key, int64_t *ret, clv_error *err)
{
    clv_json_at at;
    CLV_TRY(clv_json_member(object, key, true, &at, err));
    return clv_json_int(&at, 0, BYTES_MAX, ret, err);
}

static clv_status read_name(const clv_json_at *object, reading *r, const char **ret, clv_error *err)
{
    clv_json_at at;
    CLV_TRY(clv_json_member(object, "file", true, &at, err));
    CLV_TRY(clv_json_copy_string(&at, r->arena, ret, err));
    return clv_name_stays_inside(*ret)
               ? CLV_OK
               : refuse(&at, "leads out of the folder, expected the name of a file in it", err);
}

static clv_status read_checksum(const clv_json_at *object, clv_checksum *ret, clv_error *err)
{
    clv_json_at at;
    const char *text;
    CLV_TRY(clv_json_member(object, "xxh3", true, &at, err));
    CLV_TRY(clv_json_string(&at, &text, err));
    return clv_checksum_parse(text, ret) ? CLV_OK : refuse(&at, "is not 32 hex digits", err);
}

/* sum NULL: none is there */
static clv_status read_file(const clv_json_at *at, reading *r, clv_weights_file *ret,
                            clv_checksum *sum, clv_error *err)
{
    static const char *const with[] = { "file", "bytes", "xxh3", NULL };
    static const char *const without[] = { "file", "bytes", NULL };
    CLV_TRY(clv_json_keys(at, sum ? with : without, err));
    CLV_TRY(read_name(at, r, &ret->name, err));
    CLV_TRY(read_int(at, "bytes", &ret->bytes, err));
    return sum ? read_checksum(at, sum, err) : CLV_OK;
}

/* Names of a list, each once. */
static clv_status add_name(const clv_json_at *at, clv_map *names, const char *name, int32_t i,
                           clv_error *err)
{
    int32_t id = i;
    CLV_TRY(clv_map_put(names, clv_str_of(name), i, &id, err));
    return id == i ? CLV_OK : refuse(at, "names a file that the list has already", err);
}

static clv_status read_files(const clv_json_at *root, reading *r, clv_error *err)
{
    clv_json_at list, one = { 0 };
    CLV_TRY(clv_json_member(root, "files", true, &list, err));
    CLV_TRY(clv_json_length(&list, &r->f->n_files, err));
    r->f->files = r->file_at = CLV_NEW_ARRAY(r->arena, clv_weights_file, r->f->n_files);
    if (!r->file_at)
        return clv_fail_nomem(err, "the files of shards");
    CLV_TRY(clv_map_init(&r->files, r->arena, r->f->n_files, err));
    for (int32_t i = 0; i < r->f->n_files; i++) {
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(read_file(&one, r, &r->file_at[i], NULL, err));
        CLV_TRY(add_name(&one, &r->files, r->file_at[i].name, i, err));
    }
    return CLV_OK;
}

static clv_status read_originals(const clv_json_at *original, reading *r, clv_error *err)
{
    static const char *const keys[] = { "file", "bytes", NULL };
    clv_json_at list, one = { 0 };
    CLV_TRY(clv_json_member(original, "files", true, &list, err));
    CLV_TRY(clv_json_length(&list, &r->f->n_originals, err));
    r->f->originals = r->original_at =
        CLV_NEW_ARRAY(r->arena, clv_original_file, r->f->n_originals);
    if (!r->original_at)
        return clv_fail_nomem(err, "the files of a model");
    if (r->f->n_originals == 0)
        return refuse(&list, "is empty, expected the model's file first", err);
    CLV_TRY(clv_map_init(&r->originals, r->arena, r->f->n_originals, err));
    for (int32_t i = 0; i < r->f->n_originals; i++) {
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(clv_json_keys(&one, keys, err));
        CLV_TRY(read_name(&one, r, &r->original_at[i].name, err));
        CLV_TRY(read_int(&one, "bytes", &r->original_at[i].bytes, err));
        CLV_TRY(add_name(&one, &r->originals, r->original_at[i].name, i, err));
    }
    if (strchr(r->original_at[0].name, '/'))
        return refuse(&list, "begins with a name in a folder, expected the model's file", err);
    return CLV_OK;
}

static clv_status read_original(const clv_json_at *root, reading *r, clv_error *err)
{
    static const char *const keys[] = { "fingerprint", "files", "rest", NULL };
    clv_json_at original, at;
    clv_checksum print;
    const char *text;
    char wide[CLV_CHECKSUM_TEXT];
    CLV_TRY(clv_json_member(root, "original", true, &original, err));
    CLV_TRY(clv_json_keys(&original, keys, err));
    CLV_TRY(clv_json_member(&original, "fingerprint", true, &at, err));
    CLV_TRY(clv_json_string(&at, &text, err));
    snprintf(wide, sizeof wide, "%016d%s", 0, text);
    if (strlen(text) != 16 || !clv_checksum_parse(wide, &print))
        return refuse(&at, "is not 16 hex digits", err);
    r->f->fingerprint = print.low;
    CLV_TRY(read_originals(&original, r, err));
    CLV_TRY(clv_json_member(&original, "rest", true, &at, err));
    return read_file(&at, r, &r->f->rest, &r->f->rest_checksum, err);
}

static clv_status read_dtype(const clv_json_at *weight, clv_dtype *ret, clv_error *err)
{
    clv_json_at at;
    const char *text;
    CLV_TRY(clv_json_member(weight, "dtype", true, &at, err));
    CLV_TRY(clv_json_string(&at, &text, err));
    for (int i = 1; i < CLV_N_DTYPES; i++)
        if (strcmp(clv_dtype_name((clv_dtype)i), text) == 0) {
            *ret = (clv_dtype)i;
            return CLV_OK;
        }
    return refuse(&at, "is no type of elements", err);
}

static clv_status read_dims(const clv_json_at *weight, reading *r, clv_weight *w, clv_error *err)
{
    clv_json_at list, one = { 0 };
    bool empty = false, fits = true;
    CLV_TRY(clv_json_member(weight, "dims", true, &list, err));
    CLV_TRY(clv_json_length(&list, &w->rank, err));
    if (w->rank > CLV_RANK_MAX)
        return refuse(&list, "has more dimensions than a tensor may have", err);
    int64_t *dims = CLV_NEW_ARRAY(r->arena, int64_t, w->rank);
    if (!dims)
        return clv_fail_nomem(err, "the weights of a model");
    w->dims = dims;
    w->elems = 1;
    for (int32_t d = 0; d < w->rank; d++) {
        one = clv_json_element(&list, d, d ? &one : NULL);
        CLV_TRY(clv_json_int(&one, 0, BYTES_MAX, &dims[d], err));
        empty = empty || dims[d] == 0;
    }
    for (int32_t d = 0; d < w->rank && !empty && fits; d++)
        fits = !__builtin_mul_overflow(w->elems, dims[d], &w->elems);
    w->elems = empty ? 0 : w->elems;
    if (!fits || !clv_dtype_bytes(w->dtype, w->elems, &w->bytes))
        return refuse(&list, "has more elements than a file can hold", err);
    return CLV_OK;
}

static clv_status read_payload(const clv_json_at *weight, reading *r, clv_original_place *ret,
                               clv_error *err)
{
    static const char *const keys[] = { "file", "offset", "length", NULL };
    clv_json_at at;
    const char *name;
    ret->file = -1;
    CLV_TRY(clv_json_member(weight, "payload", false, &at, err));
    if (!at.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&at, keys, err));
    CLV_TRY(read_name(&at, r, &name, err));
    ret->file = clv_map_get(&r->originals, clv_str_of(name));
    if (ret->file < 0)
        return refuse(&at, "is in a file that original.files does not have", err);
    CLV_TRY(read_int(&at, "offset", &ret->offset, err));
    return read_int(&at, "length", &ret->length, err);
}

static clv_status read_places(const clv_json_at *weight, reading *r, clv_error *err)
{
    clv_json_at list, one = { 0 };
    int32_t n;
    CLV_TRY(clv_json_member(weight, "shards", true, &list, err));
    CLV_TRY(clv_json_length(&list, &n, err));
    for (int32_t i = 0; i < n; i++) {
        clv_shard_place *p = &r->place_at[r->n_places++];
        const char *name;
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(read_name(&one, r, &name, err));
        p->file = clv_map_get(&r->files, clv_str_of(name));
        if (p->file < 0)
            return refuse(&one, "is in a file that files does not have", err);
        CLV_TRY(read_int(&one, "offset", &p->offset, err));
        CLV_TRY(read_int(&one, "length", &p->length, err));
        CLV_TRY(read_checksum(&one, &p->checksum, err));
    }
    return CLV_OK;
}

static clv_status read_weights(const clv_json_at *root, reading *r, clv_error *err)
{
    clv_json_at list, one = { 0 };
    int32_t n;
    CLV_TRY(clv_json_member(root, "weights", true, &list, err));
    CLV_TRY(clv_json_length(&list, &n, err));
    r->weight_at = CLV_NEW_ARRAY(r->arena, clv_weight, n);
    r->payload_at = CLV_NEW_ARRAY(r->arena, clv_original_place, n);
    if (!r->weight_at || !r->payload_at)
        return clv_fail_nomem(err, "the weights of a model");
    for (int32_t i = 0; i < n; i++) {
        clv_json_at name;
        const char *text;
        clv_weight *w = &r->weight_at[i];
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(clv_json_member(&one, "name", true, &name, err));
        CLV_TRY(clv_json_copy_string(&name, r->arena, &text, err));
        w->name = clv_str_of(text);
        CLV_TRY(read_dtype(&one, &w->dtype, err));
        CLV_TRY(read_dims(&one, r, w, err));
        CLV_TRY(read_payload(&one, r, &r->payload_at[i], err));
    }
    r->f->weights = (clv_weight_list){ r->weight_at, n };
    r->f->payloads = r->payload_at;
    CLV_TRY(clv_weight_layout_of_json(root, &r->f->weights, r->arena, &r->f->layout, err));
    r->f->places = r->place_at = CLV_NEW_ARRAY(r->arena, clv_shard_place, r->f->layout.n_shards);
    if (!r->place_at)
        return clv_fail_nomem(err, "the places of shards");
    for (int32_t i = 0; i < n; i++) {
        one = clv_json_element(&list, i, i ? &one : NULL);
        CLV_TRY(read_places(&one, r, err));
    }
    return CLV_OK;
}

static clv_status read_root(const clv_json_at *root, reading *r, clv_error *err)
{
    static const char *const keys[] = { "schema_version", "kind",    "devices",       "files",
                                        "original",       "weights", CLV_TEXT_DIGEST, NULL };
    clv_json_at at;
    int64_t version = 0;
    const char *kind;
    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(clv_json_member(root, "schema_version", true, &at, err));
    CLV_TRY(clv_json_int(&at, 1, VERSION, &version, err));
    r->f->version = (int32_t)version;
    CLV_TRY(clv_json_member(root, "kind", true, &at, err));
    CLV_TRY(clv_json_string(&at, &kind, err));
    if (strcmp(kind, kind_names[CLV_PARTS_RANGES]) == 0)
        return refuse(&at, "is 'ranges': such a folder has no weights of its own", err);
    if (strcmp(kind, kind_names[0]) != 0 && strcmp(kind, kind_names[1]) != 0)
        return refuse(&at, "is not 'external' or 'safetensors'", err);
    r->f->kind = strcmp(kind, kind_names[0]) == 0 ? CLV_PARTS_EXTERNAL : CLV_PARTS_SAFETENSORS;
    CLV_TRY(read_files(root, r, err));
    CLV_TRY(read_original(root, r, err));
    return read_weights(root, r, err);
}

clv_status clv_folder_json_read(const char *text, size_t n, const char *name, clv_arena *arena,
                                clv_weights_folder *ret, clv_error *err)
{
    reading r = { .arena = arena, .f = ret };
    clv_json *json;
    CLV_TRY(clv_json_parse(text, n, name, &json, err));
    clv_json_at root = clv_json_root(json, name);
    clv_status status = read_root(&root, &r, err);
    clv_json_free(json);
    return status;
}
