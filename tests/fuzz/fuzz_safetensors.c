/* fuzz_safetensors.c - weights of any names, types and shapes as checkpoints of safetensors: each
 * header is JSON with a name for each tensor, and says where bytes lie as the format asks for it:
 * one behind the other, from 0 to the end, as many as type and shape have.
 *
 * The first byte is how large files may get, the second whether weights are halved; then each
 * weight: type, rank, dims, length of its name, name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "weights/part_write.h"

#define N_WEIGHTS 12
#define RANK_MAX  3
#define NAME_MAX  15
#define HEAD_N    8

static void must(bool yes)
{
    if (!yes)
        abort();
}

typedef struct {
    const uint8_t *at, *end;
} input;

static uint8_t take(input *in) { return in->at < in->end ? *in->at++ : 0; }

/* -- making -- */

static bool make_weight(input *in, int64_t *dims, clv_weight *ret)
{
    *ret = (clv_weight){ .dtype = (clv_dtype)(take(in) % CLV_N_DTYPES), .dims = dims, .elems = 1 };
    ret->rank = take(in) % (RANK_MAX + 1);
    for (int32_t d = 0; d < ret->rank; d++)
        ret->elems *= dims[d] = take(in);
    size_t n = take(in) % (NAME_MAX + 1), left = (size_t)(in->end - in->at);
    n = n < left ? n : left;
    ret->name = (clv_str){ (const char *)in->at, (int32_t)n };
    in->at += n;
    return clv_dtype_bits(ret->dtype) > 0 && clv_dtype_bytes(ret->dtype, ret->elems, &ret->bytes);
}

static void add(clv_part_files *p, int32_t weight, bool halve, clv_arena *arena)
{
    const clv_weight *w = &p->weights->at[weight];
    clv_box box;
    int32_t id = -1;
    must(clv_box_whole(w->rank, w->dims, arena, &box, NULL) == CLV_OK);
    if (!halve || w->rank == 0 || w->dims[0] < 2) {
        must(clv_part_files_add(p, 0, weight, &box, &id, NULL) == CLV_OK);
        return;
    }
    int64_t size[RANK_MAX], offset[RANK_MAX] = { 0 };
    memcpy(size, w->dims, (size_t)w->rank * sizeof *size);
    box.size = size;
    box.offset = offset;
    size[0] = w->dims[0] / 2;
    must(clv_part_files_add(p, 0, weight, &box, &id, NULL) == CLV_OK);
    offset[0] = size[0];
    size[0] = w->dims[0] - offset[0];
    must(clv_part_files_add(p, 0, weight, &box, &id, NULL) == CLV_OK);
}

/* -- reading, as another program would -- */

static int64_t type_bits(const char *name)
{
    static const struct {
        const char *name;
        int bits;
    } types[] = { { "F64", 64 }, { "F32", 32 }, { "F16", 16 }, { "BF16", 16 }, { "F8_E4M3", 8 },
                  { "I64", 64 }, { "I32", 32 }, { "I16", 16 }, { "I8", 8 },    { "F8_E5M2", 8 },
                  { "U64", 64 }, { "U32", 32 }, { "U16", 16 }, { "U8", 8 },    { "BOOL", 8 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].bits;
    abort();
}

static int64_t int_of(const clv_json_at *array, int32_t i)
{
    clv_json_at at = clv_json_element(array, i, NULL);
    int64_t value = -1;
    must(at.json && clv_json_int(&at, 0, INT64_C(1) << 53, &value, NULL) == CLV_OK);
    return value;
}

/* Returns where its bytes end. */
static int64_t check_tensor(const clv_json_at *tensor, int64_t begin)
{
    clv_json_at dtype, shape, offsets;
    const char *type = "";
    int32_t rank = 0, n = 0;
    must(clv_json_member(tensor, "dtype", true, &dtype, NULL) == CLV_OK);
    must(clv_json_member(tensor, "shape", true, &shape, NULL) == CLV_OK);
    must(clv_json_member(tensor, "data_offsets", true, &offsets, NULL) == CLV_OK);
    must(clv_json_string(&dtype, &type, NULL) == CLV_OK);
    must(clv_json_length(&shape, &rank, NULL) == CLV_OK);
    must(clv_json_length(&offsets, &n, NULL) == CLV_OK && n == 2);
    int64_t bits = type_bits(type), end = int_of(&offsets, 1);
    for (int32_t d = 0; d < rank; d++)
        bits *= int_of(&shape, d);
    must(int_of(&offsets, 0) == begin && end - begin == bits / 8);
    return end;
}

/* Returns how many tensors it has. */
static int32_t check_file(const clv_part_output *f)
{
    uint64_t n = 0;
    clv_json *json = NULL;
    clv_error err = { 0 };
    int64_t end = 0;
    int32_t tensors = 0;
    must(f->n_head > HEAD_N && f->n_head % HEAD_N == 0);
    for (int i = 0; i < HEAD_N; i++)
        n |= (uint64_t)(uint8_t)f->head[i] << 8 * i;
    must(n == f->n_head - HEAD_N && f->head[HEAD_N] == '{');
    must(clv_json_parse(f->head + HEAD_N, n, "header", &json, &err) == CLV_OK);
    clv_json_at root = clv_json_root(json, "header");
    for (clv_json_at at = clv_json_next_member(&root, NULL); at.json;
         at = clv_json_next_member(&root, &at))
        if (strcmp(at.key, "__metadata__") != 0) {
            end = check_tensor(&at, end);
            tensors++;
        }
    must(f->pub.bytes == (int64_t)f->n_head + end);
    clv_json_free(json);
    return tensors;
}

static void check_index(const clv_part_output *f, int32_t n_tensors)
{
    clv_json *json = NULL;
    clv_json_at map;
    clv_error err = { 0 };
    int32_t n = 0;
    must(clv_json_parse(f->head, f->n_head, "index", &json, &err) == CLV_OK);
    clv_json_at root = clv_json_root(json, "index");
    must(clv_json_member(&root, "weight_map", true, &map, NULL) == CLV_OK);
    while (clv_json_key_at(&map, n))
        n++;
    must(n == n_tensors);
    clv_json_free(json);
}

static void check_all(const clv_part_files *p)
{
    int32_t tensors = 0;
    for (int32_t i = 0; i < p->n_files; i++)
        if (strstr(p->files[i].pub.name, ".index.json"))
            check_index(&p->files[i], tensors);
        else
            tensors += check_file(&p->files[i]);
    must(tensors == p->n_places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int64_t dims[N_WEIGHTS][RANK_MAX];
    clv_weight at[N_WEIGHTS];
    clv_weight_list weights = { at, 0 };
    input in = { data, data + size };
    clv_parts_options o = { .kind = CLV_PARTS_SAFETENSORS, .max_bytes = take(&in) * INT64_C(64) };
    bool halve = take(&in) % 2 == 1;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_part_files *p = NULL;
    int32_t set = -1, i = 0;
    must(arena != NULL);
    for (; i < N_WEIGHTS && in.at < in.end; i++)
        weights.n += make_weight(&in, dims[weights.n], &at[weights.n]);
    must(clv_part_files_new(NULL, &weights, &o, arena, &p, NULL) == CLV_OK); /* it only seals */
    must(clv_part_files_open(p, "gpu0/model", &set, NULL) == CLV_OK && set == 0);
    for (i = 0; i < weights.n; i++)
        add(p, i, halve, arena);
    must(clv_part_files_seal(p, NULL) == CLV_OK);
    check_all(p);
    clv_arena_free(arena);
    return 0;
}
