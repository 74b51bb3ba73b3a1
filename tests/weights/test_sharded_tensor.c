/* test_sharded_tensor.c - new tensors that are sharded from the start, and their elements. */
#include "weights/sharded_tensor.h"

#include "placement_helpers.h"

static clv_arena *arena;
static clv_error err;

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    err = (clv_error){ .message = "" };
}
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(sharded_tensor, .init = set_up, .fini = tear_down);

#define ROWS                                                                                       \
    "{\"single_split\":{\"dim\":\"out\",\"placements\":[\"rank:0/cuda:0\",\"rank:1/cuda:1\"]}}"

static clv_status make(const char *spec, clv_dtype dtype, clv_weight_fill fill, int32_t rank,
                       const int64_t *dims, clv_sharded_tensor *ret)
{
    static const char *const names[] = { "out", "in" };
    clv_placement_file *file = CLV_NEW(arena, clv_placement_file);
    clv_sharded_options options = { { "tensor 'w'", rank, dims, names }, dtype, fill, true, false };

    *file = file_of(spec, arena);
    return clv_sharded_tensor_new(file->spec, &file->devices, &options, arena, ret, &err);
}

/* covers: D.020 D.024 D.025 */
Test(sharded_tensor, metadata_of_an_empty_one)
{
    const int64_t dims[] = { 5, 4 };
    clv_sharded_tensor t;
    const char *text = NULL;

    cr_assert_eq(make(ROWS, CLV_DT_FLOAT16, CLV_FILL_NOT, 2, dims, &t), CLV_OK, "%s", err.message);
    cr_assert_eq(t.parts.n, 2);
    cr_expect_eq(t.bytes[0], 3 * 4 * 2);
    cr_expect_eq(t.bytes[1], 2 * 4 * 2);
    cr_assert_eq(clv_sharded_tensor_json(&t, arena, &text, &err), CLV_OK);
    clv_json *json = NULL;
    cr_assert_eq(clv_json_parse(text, strlen(text), "t", &json, &err), CLV_OK, "%s", err.message);
    clv_json_at root = clv_json_root(json, "t"), shards, shard, device;
    int32_t n = 0;
    const char *name = NULL;
    cr_assert_eq(clv_json_member(&root, "shards", true, &shards, &err), CLV_OK);
    cr_assert_eq(clv_json_length(&shards, &n, &err), CLV_OK);
    cr_expect_eq(n, 2);
    shard = clv_json_element(&shards, 0, NULL);
    shard = clv_json_element(&shards, 1, &shard);
    cr_assert_eq(clv_json_member(&shard, "device", true, &device, &err), CLV_OK);
    cr_assert_eq(clv_json_string(&device, &name, &err), CLV_OK);
    cr_expect_str_eq(name, "rank:1/cuda:1");
    clv_json_free(json);
    cr_expect(strstr(text, "\"requires_grad\": true"), "%s", text);
    cr_expect(strstr(text, "\"fill\": \"empty\""));
    cr_expect(strstr(text, "\"names\""));
}

static void expect_bytes(clv_dtype dtype, clv_weight_fill fill, int64_t elems, const void *want,
                         size_t n)
{
    const int64_t dims[] = { elems };
    unsigned char got[64];
    clv_sharded_tensor t;

    memset(got, 0xee, sizeof got);
    cr_assert_eq(make("\"cpu\"", dtype, fill, 1, dims, &t), CLV_OK, "%s", err.message);
    cr_assert_eq(t.bytes[0], (int64_t)n, "%s", clv_dtype_name(dtype));
    clv_sharded_tensor_fill(&t, 0, got);
    cr_expect(memcmp(got, want, n) == 0, "%s of %s", clv_fill_name(fill), clv_dtype_name(dtype));
    cr_expect_eq(got[n], 0xee);
}

/* covers: D.020 */
Test(sharded_tensor, ones_and_zeros)
{
    expect_bytes(CLV_DT_FLOAT, CLV_FILL_ONES, 2, (const float[]){ 1, 1 }, 8);
    expect_bytes(CLV_DT_FLOAT, CLV_FILL_ZEROS, 2, (const float[]){ 0, 0 }, 8);
    expect_bytes(CLV_DT_FLOAT, CLV_FILL_NOT, 1, "\xee\xee\xee\xee", 4);
    expect_bytes(CLV_DT_DOUBLE, CLV_FILL_ONES, 2, (const double[]){ 1, 1 }, 16);
    expect_bytes(CLV_DT_COMPLEX64, CLV_FILL_ONES, 2, (const float[]){ 1, 0, 1, 0 }, 16);
    expect_bytes(CLV_DT_COMPLEX128, CLV_FILL_ONES, 1, (const double[]){ 1, 0 }, 16);
    expect_bytes(CLV_DT_INT64, CLV_FILL_ONES, 2, (const int64_t[]){ 1, 1 }, 16);
    expect_bytes(CLV_DT_INT32, CLV_FILL_ONES, 3, (const int32_t[]){ 1, 1, 1 }, 12);
    expect_bytes(CLV_DT_UINT16, CLV_FILL_ONES, 1, (const uint16_t[]){ 1 }, 2);
    expect_bytes(CLV_DT_BOOL, CLV_FILL_ONES, 3, "\1\1\1", 3);
    expect_bytes(CLV_DT_FLOAT16, CLV_FILL_ONES, 2, "\x00\x3c\x00\x3c", 4);
    expect_bytes(CLV_DT_BFLOAT16, CLV_FILL_ONES, 2, "\x80\x3f\x80\x3f", 4);
    expect_bytes(CLV_DT_FLOAT8E4M3FN, CLV_FILL_ONES, 2, "\x38\x38", 2);
    expect_bytes(CLV_DT_INT4, CLV_FILL_ONES, 3, "\x11\x01", 2);
    expect_bytes(CLV_DT_UINT2, CLV_FILL_ONES, 7, "\x55\x15", 2);
    expect_bytes(CLV_DT_FLOAT, CLV_FILL_ONES, 0, "", 0);
}

/* covers: D.017 D.020 */
Test(sharded_tensor, what_cannot_be_is_reported)
{
    const int64_t dims[] = { 4, 4 }, huge[] = { INT64_MAX, INT64_MAX }, none[] = { 0, INT64_MAX };
    clv_sharded_tensor t;

    cr_expect_eq(make(ROWS, CLV_DT_STRING, CLV_FILL_NOT, 2, dims, &t), CLV_EFORMAT);
    cr_expect_str_eq(err.message, "tensor 'w': is of type STRING, expected one of a fixed size");
    cr_expect_eq(make(ROWS, CLV_DT_FLOAT, CLV_FILL_NOT, 0, NULL, &t), CLV_EFORMAT);
    cr_expect_eq(make(ROWS, CLV_DT_FLOAT, CLV_FILL_NOT, 2, huge, &t), CLV_ELIMIT);
    cr_assert_eq(make(ROWS, CLV_DT_FLOAT, CLV_FILL_NOT, 2, none, &t), CLV_OK);
    cr_expect_eq(t.bytes[1], 0);
}
