/* test_skeleton.c - the model of a folder of shards: all of it but the weights. */
#include "weights/sharded.h"

#include <unistd.h>

#include "proto/fingerprint.h"
#include "weights/skeleton.h"

static sharded s;
static void set_up(void) { s = sharded_new(); }
static void tear_down(void) { sharded_free(&s); }

TestSuite(skeleton, .init = set_up, .fini = tear_down);

/* The skeleton of folder "a": its bytes are those of the model but for [from, from + n), which are
 * 0.
 */
static void check_skeleton(const clv_onnx_file *whole, size_t from, size_t n)
{
    clv_weights_folder f = read_it(&s, "a");
    clv_error err = { 0 };
    clv_onnx_file *file;
    clv_model *model, *made;
    size_t size = whole->n;
    cr_assert_eq(clv_weights_skeleton_open(&f, s.arena, &file, &err), CLV_OK, "%s", err.message);
    const uint8_t *a = whole->bytes, *b = file->bytes;
    cr_assert_eq(size, file->n);
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(b[i], i >= from && i - from < n ? 0 : a[i], "byte %zu", i);
    cr_assert_eq(clv_onnx_read(whole, s.arena, &model, &err), CLV_OK);
    cr_assert_eq(clv_onnx_read(file, s.arena, &made, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_onnx_fingerprint(model), clv_onnx_fingerprint(made));
    clv_onnx_close(file);
}

/* None of those in the file has more elements than planning may look at. */
Test(skeleton, small_weights_are_in_it)
{
    for (int i = 0; i < 4; i++) {
        clv_weight_layout t = random_layout(&s, 3);
        shard_it(&s, &t, "a", i % 2 ? CLV_PARTS_SAFETENSORS : CLV_PARTS_EXTERNAL);
        check_skeleton(s.file, 0, 0);
        cr_assert_eq(system(clv_arena_printf(s.arena, "rm -r '%s'", at_path(&s, "a"))), 0);
    }
}

/* "big" in halves, "shape" twice, "kept" not cut. */
Test(skeleton, a_large_weight_is_a_hole)
{
    int64_t dims[] = { 80, 60 }, zero[] = { 0, 0 }, half[] = { 40, 60 }, middle[] = { 40, 0 };
    clv_box top = { 2, dims, zero, half }, bottom = { 2, dims, middle, half }, whole;
    const char *devices[] = { "x", "y" };
    clv_weight_shard shards[] = { { .weight = 0, .device = 0, .box = top },
                                  { .weight = 0, .device = 1, .box = bottom },
                                  { .weight = 1, .device = 0 },
                                  { .weight = 1, .device = 1 } };
    clv_weight_layout t = { .devices = devices, .n_devices = 2, .shards = shards, .n_shards = 4 };
    clv_shard_options o = { 0 };
    clv_onnx_file *file;
    clv_model *model;
    clv_error err = { 0 };
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    test_tensor *big = onnx_weight(g, "big", 1, "80,60");
    memset(big->raw_data.data, 7, big->raw_data.len);
    onnx_weight_ints(g, "shape", "2", (const int64_t[]){ 80, 60 });
    fill_raw(&s, onnx_weight(g, "kept", 1, "5000"));
    onnx_write(m, at_path(&s, "big.onnx"));
    onnx_free(m);
    cr_assert_eq(clv_onnx_open(at_path(&s, "big.onnx"), NULL, &file, &err), CLV_OK);
    cr_assert_eq(clv_onnx_read(file, s.arena, &model, &err), CLV_OK, "%s", err.message);
    clv_box_whole(1, (const int64_t[]){ 2 }, s.arena, &whole, NULL);
    shards[2].box = shards[3].box = whole;
    cr_assert_eq(clv_weights_shard(&(clv_onnx_model){ file, model }, &t, at_path(&s, "a"), &o,
                                   s.arena, &err),
                 CLV_OK, "%s", err.message);
    const uint8_t *all = file->bytes;
    const uint8_t *at = memmem(all, file->n, (const char[]){ 7, 7, 7, 7, 7, 7, 7, 7 }, 8);
    check_skeleton(file, (size_t)(at - all), 80 * 60 * 4);
    clv_onnx_close(file);
}

Test(skeleton, a_damaged_small_weight_is_reported)
{
    clv_weight_layout t = random_layout(&s, 1);
    clv_error err = { 0 };
    clv_onnx_file *file;
    size_t n;
    shard_it(&s, &t, "a", CLV_PARTS_EXTERNAL);
    clv_weights_folder f = read_it(&s, "a");
    char *name = clv_arena_printf(s.arena, "a/%s", f.files[0].name);
    char *text = file_text(s.folder, name, &n);
    for (size_t i = 0; i < n; i++)
        text[i] ^= 1;
    file_write(s.folder, name, text, n);
    free(text);
    cr_assert_eq(clv_weights_skeleton_open(&f, s.arena, &file, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "is damaged"), "said: %s", err.message);
}

Test(skeleton, a_rest_that_is_cut_short_or_gone_is_reported)
{
    clv_weight_layout t = random_layout(&s, 3);
    clv_error err = { 0 };
    clv_onnx_file *file;
    shard_it(&s, &t, "a", CLV_PARTS_EXTERNAL);
    clv_weights_folder f = read_it(&s, "a");
    cr_assert_eq(truncate(at_path(&s, "a/rest.bin"), 5), 0);
    cr_assert_eq(clv_weights_skeleton_open(&f, s.arena, &file, &err), CLV_EIO);
    cr_assert(strstr(err.message, "rest.bin is cut short"), "said: %s", err.message);
    cr_assert_eq(unlink(at_path(&s, "a/rest.bin")), 0);
    cr_assert_eq(clv_weights_skeleton_open(&f, s.arena, &file, &err), CLV_EIO);
    cr_assert(strstr(err.message, "No such file"), "said: %s", err.message);
}
