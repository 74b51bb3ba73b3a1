#include "weights/safetensors.h"

#include <limits.h>
#include <stdlib.h>

#include "base/utf8.h"

#define LENGTH_BYTES 8

static const char *type_name(clv_dtype dtype)
{
    switch ((int)dtype) {
    case CLV_DT_DOUBLE:
        return "F64";
    case CLV_DT_FLOAT:
        return "F32";
    case CLV_DT_FLOAT16:
        return "F16";
    case CLV_DT_BFLOAT16:
        return "BF16";
    case CLV_DT_FLOAT8E4M3FN:
        return "F8_E4M3";
    case CLV_DT_FLOAT8E5M2:
        return "F8_E5M2";
    case CLV_DT_INT64:
        return "I64";
    case CLV_DT_INT32:
        return "I32";
    case CLV_DT_INT16:
        return "I16";
    case CLV_DT_INT8:
        return "I8";
    case CLV_DT_UINT64:
        return "U64";
    case CLV_DT_UINT32:
        return "U32";
    case CLV_DT_UINT16:
        return "U16";
    case CLV_DT_UINT8:
        return "U8";
    case CLV_DT_BOOL:
        return "BOOL";
    default:
        return NULL;
    }
}

int clv_safetensors_rank(clv_dtype dtype)
{
    return type_name(dtype) ? -clv_dtype_bits(dtype) : 0; /* bytes come last */
}

typedef struct {
    int32_t rank, id;
} turn;

static int by_turn(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static clv_status sort_wide_first(clv_part_files *p, int32_t *order, int32_t n, clv_error *err)
{
    clv_mark mark = clv_arena_mark(p->arena);
    turn *turns = CLV_NEW_ARRAY(p->arena, turn, n);
    if (!turns)
        return clv_fail_nomem(err, "the places of shards");
    for (int32_t i = 0; i < n; i++) {
        const clv_weight *w = &p->weights->at[p->places[order[i]].pub.weight];
        turns[i] = (turn){ clv_safetensors_rank(w->dtype), order[i] };
    }
    qsort(turns, (size_t)n, sizeof *turns, by_turn);
    for (int32_t i = 0; i < n; i++)
        order[i] = turns[i].id;
    clv_arena_rewind(p->arena, mark);
    return CLV_OK;
}

/* -- names -- */

/* A name as JSON has it, where U+FFFD stands for each byte that it cannot say: two names that
 * differ in those alone would be one key. */
static clv_status name_in_json(clv_arena *arena, clv_str name, clv_str *ret, clv_error *err)
{
    static const char unsaid[] = "\xef\xbf\xbd";
    const unsigned char *s = (const unsigned char *)name.at;
    size_t n = (size_t)name.n, at = 0;
    char *to = clv_arena_take_array(arena, n + 1, sizeof unsaid - 1);
    if (!to)
        return clv_fail_nomem(err, "the name of a shard");
    for (size_t i = 0; i < n;) {
        size_t size = s[i] ? (size_t)clv_utf8_char(s + i, n - i) : 0;
        memcpy(to + at, size ? name.at + i : unsaid, size ? size : sizeof unsaid - 1);
        at += size ? size : sizeof unsaid - 1;
        i += size ? size : 1;
    }
    *ret = (clv_str){ to, (int32_t)at };
    return CLV_OK;
}

/* The weight's name; where the set has several parts of it, each further one has its number. */
static clv_status name_boxes(clv_part_files *p, const int32_t *order, int32_t n, clv_str *ret,
                             clv_error *err)
{
    clv_map taken;
    CLV_TRY(clv_map_init(&taken, p->arena, n, err));
    for (int32_t i = 0; i < n; i++) {
        int32_t id = i;
        clv_str name, first;
        CLV_TRY(name_in_json(p->arena, p->weights->at[p->places[order[i]].pub.weight].name, &first,
                             err));
        name = first;
        CLV_TRY(clv_map_put(&taken, name, i, &id, err));
        for (int32_t k = 2; id != i || clv_str_is(name, "__metadata__"); k++) {
            char *text = clv_arena_printf(p->arena, "%.*s#%d", CLV_STR_ARG(first), k);
            if (!text)
                return clv_fail_nomem(err, "the name of a shard");
            name = clv_str_of(text);
            CLV_TRY(clv_map_put(&taken, name, i, &id, err));
        }
        ret[i] = name;
    }
    return CLV_OK;
}

static clv_status copy_name(clv_arena *arena, clv_str name, const char **ret, clv_error *err)
{
    *ret = clv_arena_str(arena, name);
    return *ret ? CLV_OK : clv_fail_nomem(err, "the name of a shard");
}

/* -- one file -- */

static clv_status put_tensor(clv_part_files *p, clv_json_out *out, clv_str name,
                             const clv_placed_box *place, int64_t begin, clv_error *err)
{
    const clv_weight *w = &p->weights->at[place->pub.weight];
    const char *type = type_name(w->dtype), *key;
    int64_t dims[CLV_SPLIT_RANK_MAX];
    int32_t rank = clv_box_dims(w, &place->pub.box, dims);
    if (!type && clv_dtype_bits(w->dtype) != 8) {
        rank = 1;
        dims[0] = place->pub.length;
    }
    CLV_TRY(copy_name(p->arena, name, &key, err));
    clv_json_open_object(out, key);
    clv_json_put_string(out, "dtype", type ? type : "U8");
    clv_json_open_array(out, "shape");
    for (int32_t d = 0; d < rank; d++)
        clv_json_put_int(out, NULL, dims[d]);
    clv_json_close_array(out);
    clv_json_open_array(out, "data_offsets");
    clv_json_put_int(out, NULL, begin);
    clv_json_put_int(out, NULL, begin + place->pub.length);
    clv_json_close_array(out);
    clv_json_close_object(out);
    return CLV_OK;
}

static clv_status put_metadata(clv_part_files *p, clv_json_out *out, const clv_str *names,
                               const int32_t *order, int32_t n, clv_error *err)
{
    clv_json_open_object(out, "__metadata__");
    clv_json_put_string(out, "format", "pt");
    for (int32_t i = 0; i < n; i++) {
        const clv_placed_box *place = &p->places[order[i]];
        const clv_weight *w = &p->weights->at[place->pub.weight];
        if (type_name(w->dtype))
            continue;
        const char *key = clv_arena_printf(p->arena, "dtype of %.*s", CLV_STR_ARG(names[i]));
        if (!key)
            return clv_fail_nomem(err, "the name of a shard");
        clv_json_put_string(out, key, clv_dtype_name(w->dtype));
    }
    clv_json_close_object(out);
    return CLV_OK;
}

static clv_status pad_head(clv_part_files *p, const clv_json_out *json, clv_part_output *f,
                           clv_error *err)
{
    size_t n = json->n > 0 && json->text[json->n - 1] == '\n' ? json->n - 1 : json->n;
    size_t whole = (LENGTH_BYTES + n + CLV_PART_ALIGN - 1) / CLV_PART_ALIGN * CLV_PART_ALIGN;
    char *head = clv_arena_take(p->arena, whole);
    if (!head)
        return clv_fail_nomem(err, "the header of a checkpoint");
    for (int i = 0; i < LENGTH_BYTES; i++)
        head[i] = (char)((uint64_t)(whole - LENGTH_BYTES) >> 8 * i & 0xff);
    memcpy(head + LENGTH_BYTES, json->text, n);
    memset(head + LENGTH_BYTES + n, ' ', whole - LENGTH_BYTES - n);
    f->head = head;
    f->n_head = whole;
    return CLV_OK;
}

static clv_status seal_file(clv_part_files *p, const char *path, const clv_str *names,
                            const int32_t *order, int32_t n, clv_error *err)
{
    clv_json_out out;
    int32_t file;
    int64_t end = 0;
    CLV_TRY(clv_part_file_new(p, path, &file, err));
    clv_json_begin(&out, p->arena, false);
    clv_json_open_object(&out, NULL);
    CLV_TRY(put_metadata(p, &out, names, order, n, err));
    for (int32_t i = 0; i < n; i++) {
        clv_placed_box *place = &p->places[order[i]];
        CLV_TRY(put_tensor(p, &out, names[i], place, end, err));
        place->pub.file = file;
        place->pub.offset = end; /* of the data; the header comes on top */
        end += place->pub.length;
    }
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    clv_part_output *f = &p->files[file];
    CLV_TRY(pad_head(p, &out, f, err));
    f->pub.bytes = (int64_t)f->n_head + end;
    for (int32_t i = 0; i < n; i++) {
        p->places[order[i]].pub.offset += (int64_t)f->n_head;
        p->places[order[i]].before = p->places[order[i]].pub.offset;
    }
    return CLV_OK;
}

/* -- the set -- */

/* How many of order[0 .. n) the next file takes: one at least. */
static int32_t count_for_file(const clv_part_files *p, const int32_t *order, int32_t n)
{
    int64_t bytes = 0;
    int32_t k = 0;
    for (; k < n; k++) {
        bytes += p->places[order[k]].pub.length;
        if (k > 0 && p->options.max_bytes > 0 && bytes > p->options.max_bytes)
            break;
    }
    return k;
}

static clv_status put_index(clv_part_files *p, const clv_part_set *set, const clv_str *names,
                            const int32_t *order, int32_t n, clv_error *err)
{
    clv_json_out out;
    int64_t total = 0;
    const char *path = clv_arena_printf(p->arena, "%s.safetensors.index.json", set->name), *key;
    if (!path)
        return clv_fail_nomem(err, "the index of a checkpoint");
    for (int32_t i = 0; i < n; i++)
        total += p->places[order[i]].pub.length;
    clv_json_begin(&out, p->arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_open_object(&out, "metadata");
    clv_json_put_int(&out, "total_size", total);
    clv_json_close_object(&out);
    clv_json_open_object(&out, "weight_map");
    for (int32_t i = 0; i < n; i++) {
        const char *file = p->files[p->places[order[i]].pub.file].pub.name;
        const char *slash = strrchr(file, '/');
        CLV_TRY(copy_name(p->arena, names[i], &key, err));
        clv_json_put_string(&out, key, slash ? slash + 1 : file);
    }
    clv_json_close_object(&out);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    return clv_part_file_text(p, path, &out, err);
}

clv_status clv_safetensors_seal(clv_part_files *p, const clv_part_set *set, int32_t *order,
                                int32_t n, clv_error *err)
{
    int32_t files = 0, number = 0;
    clv_str *names = CLV_NEW_ARRAY(p->arena, clv_str, n);
    if (!names)
        return clv_fail_nomem(err, "the names of shards");
    CLV_TRY(sort_wide_first(p, order, n, err));
    CLV_TRY(name_boxes(p, order, n, names, err));
    for (int32_t at = 0; at < n; at += count_for_file(p, order + at, n - at))
        files++;
    for (int32_t at = 0, k; at < n || number == 0; at += k) {
        k = count_for_file(p, order + at, n - at);
        number++;
        const char *path = files <= 1 ? clv_arena_printf(p->arena, "%s.safetensors", set->name)
                                      : clv_arena_printf(p->arena, "%s-%05d-of-%05d.safetensors",
                                                         set->name, number, files);
        if (!path)
            return clv_fail_nomem(err, "the files of shards");
        CLV_TRY(seal_file(p, path, names + at, order + at, k, err));
    }
    return files > 1 ? put_index(p, set, names, order, n, err) : CLV_OK;
}
