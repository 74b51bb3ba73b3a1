#include "proto/onnx.pb-c.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/tensor_data.h"

#include "proto/everything.h"
#include "proto/opened.h"
#include "support/damaged.h"

static clv_tensor_data *found(const opened *o)
{
    clv_tensor_data *data = NULL;
    clv_error err = { CLV_OK, "" };
    clv_status s = clv_tensor_data_find(o->file, o->model, o->arena, &data, &err);
    cr_assert_eq(s, CLV_OK, "said: %s", err.message);
    return data;
}

static const uint8_t *decoded(const opened *o, const clv_tensor_data *data)
{
    const void *bytes = NULL;
    clv_error err = { CLV_OK, "" };
    clv_status s = clv_tensor_data_decode(o->file, data, o->arena, &bytes, &err);
    cr_assert_eq(s, CLV_OK, "said: %s", err.message);
    return bytes;
}

/* -- where -- */

Test(tensor_data, finds_each_weight_by_its_index)
{
    test_onnx *m = everything();
    test_graph *g = onnx_main(m);
    test_tensor *raw = onnx_weight(g, "raw", 2, "3");
    memcpy(raw->raw_data.data, "xyz", 3);
    onnx_weight_external(g, "far", 1, "5", "w.bin", 64, 20);
    onnx_weight(g, "nothing", 1, "0,4");
    onnx_weight(g, "bare", 1, "0")->has_raw_data = false;
    opened o = open_built(m);
    const clv_graph *main_graph = o.model->main;
    clv_tensor_data *data = found(&o);
    for (int32_t i = 0; i < main_graph->n_weights; i++) {
        const clv_tensor_data *d = &data[i];
        cr_assert(clv_str_eq(d->name, main_graph->weights[i].name));
        cr_assert(d->rank == main_graph->weights[i].rank &&
                  d->elems == main_graph->weights[i].elems);
        if (clv_str_is(d->name, "raw")) {
            cr_assert_eq(d->kind, CLV_DATA_RAW);
            cr_assert(d->bytes == 3 && d->length == 3);
            cr_assert_arr_eq(o.bytes + d->offset, "xyz", 3);
        } else if (clv_str_is(d->name, "far")) {
            cr_assert_eq(d->kind, CLV_DATA_ABSENT, "no folder is known");
            cr_assert(clv_str_is(d->location, "w.bin") && d->offset == 64 && d->length == 20);
            cr_assert_null(d->path);
        } else if (clv_str_is(d->name, "s")) {
            cr_assert_eq(d->kind, CLV_DATA_NONE);
        } else if (clv_str_is(d->name, "nothing") || clv_str_is(d->name, "bare")) {
            cr_assert(d->offset > 0 && (size_t)d->offset <= o.n);
            cr_assert(d->kind == CLV_DATA_RAW && d->bytes == 0 && d->length == 0);
        } else if (clv_str_is(d->name, "ints")) {
            cr_assert_eq(d->kind, CLV_DATA_TYPED);
        } else if (clv_str_is(d->name, "floats")) { /* packed 32-bit numbers are raw as they are */
            const float want[] = { 0.5f, -2 };
            cr_assert_eq(d->kind, CLV_DATA_RAW);
            cr_assert_arr_eq(o.bytes + d->offset, want, sizeof want);
        }
    }
    close_opened(&o);
}

Test(tensor_data, external_data_is_a_range_of_a_file_in_the_folder)
{
    char folder[] = "/tmp/clv_data_XXXXXX", path[64], model_path[64], real[4096];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/w.bin", folder);
    snprintf(model_path, sizeof model_path, "%s/m.onnx", folder);
    FILE *f = fopen(path, "wb");
    for (int i = 0; i < 100; i++)
        putc(i, f);
    fclose(f);
    test_onnx *m = onnx_new(8, 17);
    onnx_weight_external(onnx_main(m), "a", 1, "5", "w.bin", 64, 20);
    onnx_weight_external(onnx_main(m), "b", 2, "9", "./w.bin", -1, -1);
    onnx_weight_external(onnx_main(m), "c", 2, "9", "gone.bin", -1, -1);
    onnx_weight_external(onnx_main(m), "d", 2, "30", "w.bin", 70, -1);
    onnx_write(m, model_path);
    onnx_free(m);
    opened o = { .arena = clv_arena_new(NULL, 0) };
    cr_assert_eq(clv_onnx_open(model_path, NULL, &o.file, NULL), CLV_OK);
    cr_assert_eq(clv_onnx_read(o.file, o.arena, &o.model, NULL), CLV_OK);
    clv_tensor_data *data = found(&o);
    cr_assert_not_null(realpath(path, real));
    cr_assert_eq(data[0].kind, CLV_DATA_EXTERNAL);
    cr_assert(data[0].offset == 64 && data[0].length == 20 && data[0].bytes == 20);
    cr_assert_str_eq(data[0].path, real);
    cr_assert_eq(data[1].kind, CLV_DATA_EXTERNAL);
    cr_assert(data[1].offset == 0 && data[1].length == 9);
    cr_assert_eq(data[1].file.number, data[0].file.number, "another name of the same file");
    cr_assert_eq(data[2].kind, CLV_DATA_ABSENT);
    cr_assert(data[3].path == data[0].path && data[3].offset == 70);

    const void *bytes;
    cr_assert_eq(clv_tensor_data_decode(o.file, &data[0], o.arena, &bytes, NULL), CLV_EUSAGE);
    /* The file may shrink between reading the model and looking again. */
    clv_error err = { CLV_OK, "" };
    cr_assert_eq(truncate(path, 80), 0);
    cr_assert_eq(clv_tensor_data_find(o.file, o.model, o.arena, &data, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "80 bytes"), "said: %s", err.message);
    unlink(path);
    unlink(model_path);
    rmdir(folder);
    clv_onnx_close(o.file);
    clv_arena_free(o.arena);
}

/* -- decoding -- */

/* A tensor of a type with its numbers in int32_data, whatever they are. */
static test_onnx *with_int32s(int dtype, const char *dims, int32_t *numbers, size_t n)
{
    test_onnx *m = onnx_new(8, 17);
    test_tensor *t = onnx_weight(onnx_main(m), "w", dtype, dims);
    t->has_raw_data = false;
    t->n_int32_data = n;
    t->int32_data = numbers;
    return m;
}

typedef struct {
    clv_dtype dtype;
    const char *dims;
    int32_t numbers[4];
    size_t n;
    const char *bytes;
    size_t n_bytes;
} int32_case;

/* What each type packs to is the standard's word: two's complement, and the first of two 4-bit
 * elements in the low half of a byte. */
static const int32_case cases[] = {
    { CLV_DT_INT32, "2", { -2, 0x01020304 }, 2, "\xfe\xff\xff\xff\4\3\2\1", 8 },
    { CLV_DT_INT8, "3", { -1, 127, -128 }, 3, "\xff\x7f\x80", 3 },
    { CLV_DT_UINT8, "2", { 255, 1 }, 2, "\xff\1", 2 },
    { CLV_DT_INT16, "2", { -2, 258 }, 2, "\xfe\xff\2\1", 4 },
    { CLV_DT_UINT16, "1", { 65535 }, 1, "\xff\xff", 2 },
    { CLV_DT_BOOL, "3", { 1, 0, 256 }, 3, "\1\0\1", 3 },
    { CLV_DT_FLOAT16, "2", { 0x3c00, 0xc000 }, 2, "\0\x3c\0\xc0", 4 }, /* 1, -2 */
    { CLV_DT_BFLOAT16, "1", { 0x3f80 }, 1, "\x80\x3f", 2 },
    { CLV_DT_FLOAT8E4M3FN, "2", { 0x38, 0xb8 }, 2, "\x38\xb8", 2 },
    { CLV_DT_FLOAT8E5M2, "1", { 0x7b }, 1, "\x7b", 1 },
    { CLV_DT_INT4, "3", { 0x21, 0x0f }, 2, "\x21\x0f", 2 },
    { CLV_DT_UINT4, "4", { 0x21, 0xf3 }, 2, "\x21\xf3", 2 },
    { CLV_DT_UINT2, "5", { 0xe4, 1 }, 2, "\xe4\1", 2 },
};

Test(tensor_data, numbers_of_int32_data_are_packed_as_their_type_wants)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t numbers[4];
        memcpy(numbers, cases[i].numbers, sizeof numbers);
        opened o = open_built(with_int32s((int)cases[i].dtype, cases[i].dims, numbers, cases[i].n));
        clv_tensor_data *data = found(&o);
        cr_assert_eq(data[0].kind, CLV_DATA_TYPED);
        cr_assert_eq(data[0].bytes, (int64_t)cases[i].n_bytes);
        cr_assert_arr_eq(decoded(&o, data), cases[i].bytes, cases[i].n_bytes, "type %s",
                         clv_dtype_name(cases[i].dtype));
        close_opened(&o);
    }
}

Test(tensor_data, wide_numbers_are_in_lists_of_their_own)
{
    static int64_t ints[] = { -1, INT64_C(0x0102030405060708) };
    static uint64_t wide[] = { UINT64_MAX, 7 };
    static double doubles[] = { 0.5, -3 };
    test_onnx *m = onnx_new(8, 17);
    test_tensor *t[3];
    static const int types[] = { CLV_DT_UINT32, CLV_DT_UINT64, CLV_DT_DOUBLE };
    onnx_weight_ints(onnx_main(m), "ints", "2", ints);
    for (int i = 0; i < 3; i++) {
        t[i] = onnx_weight(onnx_main(m), i == 0 ? "u32" : i == 1 ? "u64" : "f64", types[i], "2");
        t[i]->has_raw_data = false;
        t[i]->n_uint64_data = i < 2 ? 2 : 0;
        t[i]->uint64_data = wide;
    }
    t[2]->n_double_data = 2;
    t[2]->double_data = doubles;
    opened o = open_built(m);
    clv_tensor_data *data = found(&o);
    cr_assert_arr_eq(decoded(&o, &data[0]), ints, sizeof ints);
    cr_assert_arr_eq(decoded(&o, &data[1]), "\xff\xff\xff\xff\7\0\0\0", 8);
    cr_assert_arr_eq(decoded(&o, &data[2]), wide, sizeof wide);
    cr_assert_arr_eq(decoded(&o, &data[3]), doubles, sizeof doubles);
    close_opened(&o);
}

/* Floats that are not packed, each a field of its own: no range, so they are gathered. */
Test(tensor_data, numbers_in_pieces_are_put_together)
{
    static const uint8_t model[] = { 8,  8, 66,  2, 16, 17, 58, 20, 42, 18, 8, 3, /* dims [3] */
                                     16, 1,                                       /* FLOAT */
                                     66, 1, 'w',                                  /* name */
                                     37, 1, 2,   3, 4,       /* float_data, one */
                                     34, 4, 5,   6, 7,  8 }; /* float_data, packed */
    uint8_t *bytes = malloc(sizeof model + 5);
    memcpy(bytes, model, sizeof model);
    memcpy(bytes + sizeof model, "\x25\x9\xa\xb\xc", 5);
    bytes[7] = 25;
    bytes[9] = 23;
    opened o = open_bytes(bytes, sizeof model + 5);
    clv_tensor_data *data = found(&o);
    cr_assert_eq(data[0].kind, CLV_DATA_TYPED);
    cr_assert_arr_eq(decoded(&o, data), "\1\2\3\4\5\6\7\x8\x9\xa\xb\xc", 12);
    close_opened(&o);
}

/* The reader counts long lists of numbers by their bytes only; decoding finds what is missing. */
Test(tensor_data, a_long_list_of_the_wrong_length_is_refused_when_it_is_decoded)
{
    enum { N = 100000 };
    int64_t *ints = calloc(N + 1, sizeof *ints);
    for (int by = -1; by <= 1; by++) {
        test_onnx *m = onnx_new(8, 17);
        test_tensor *t = onnx_weight(onnx_main(m), "w", 7, "100000");
        t->has_raw_data = false;
        t->int64_data = ints;
        t->n_int64_data = (size_t)(N + by);
        opened o = open_built(m);
        clv_tensor_data *data = found(&o);
        const void *bytes;
        clv_error err = { CLV_OK, "" };
        clv_status s = clv_tensor_data_decode(o.file, data, o.arena, &bytes, &err);
        cr_assert_eq(s, by ? CLV_EFORMAT : CLV_OK);
        cr_assert(!by || strstr(err.message, "100000 elements of INT64"), "said: %s", err.message);
        close_opened(&o);
    }
    free(ints);
}

static void find_and_decode(const clv_onnx_file *file, const clv_model *model, clv_arena *arena)
{
    clv_tensor_data *data;
    cr_assert_eq(clv_tensor_data_find(file, model, arena, &data, NULL), CLV_OK);
    for (int32_t w = 0; w < model->main->n_weights; w++) {
        const void *packed;
        clv_status s = clv_tensor_data_decode(file, &data[w], arena, &packed, NULL);
        cr_assert_eq(s == CLV_EUSAGE,
                     data[w].kind != CLV_DATA_RAW && data[w].kind != CLV_DATA_TYPED);
    }
}

/* Whatever can still be read has its weights found and decoded. */
Test(tensor_data, damaged_models_do_no_harm)
{
    test_damage_each_byte(everything(), find_and_decode);
}
