/* test_folder.c - shards in files: each has the elements that its box says, the folder says where
 * everything is, and after any number of reshards the original comes back byte for byte.
 */
#include "weights/layout_file.h"
#include "weights/sharded.h"

static sharded s;

static void set_up(void) { s = sharded_new(); }
static void tear_down(void) { sharded_free(&s); }

TestSuite(folder, .init = set_up, .fini = tear_down);

static unsigned bit(const uint8_t *bytes, int64_t i) { return bytes[i / 8] >> (i % 8) & 1; }

/* Is element e of the tensor in the box? By taking its index apart. */
static bool is_in(const clv_box *b, int64_t e)
{
    for (int32_t d = b->rank - 1; d >= 0; e /= b->view[d], d--) {
        int64_t at = e % b->view[d];
        if (at < b->offset[d] || at >= b->offset[d] + b->size[d])
            return false;
    }
    return true;
}

static void check_shard(const clv_weights_folder *f, int32_t i)
{
    const clv_weight_shard *t = &f->layout.shards[i];
    const clv_shard_place *p = &f->places[i];
    int bits = clv_dtype_bits(s.weights.at[t->weight].dtype);
    size_t n;
    char *file = file_text(f->path, f->files[p->file].name, &n);
    const uint8_t *bytes = (const uint8_t *)file + p->offset;
    int64_t k = 0;
    for (int64_t e = 0; e < s.weights.at[t->weight].elems; e++)
        for (int b = 0; b < bits && is_in(&t->box, e); b++, k++)
            cr_assert_eq(bit(bytes, k), bit(s.bytes[t->weight], e * bits + b),
                         "weight %d, element %d", t->weight, (int)e);
    cr_assert_eq(p->length, (k + 7) / 8);
    cr_assert(f->kind != CLV_PARTS_EXTERNAL || p->length == 0 || p->offset % 4096 == 0);
    free(file);
}

static void check_files(const clv_weights_folder *f)
{
    for (int32_t i = 0; i < f->layout.n_shards; i++)
        check_shard(f, i);
}

/* covers: D.018 D.019 D.021 D.023 D.024 D.028 D.039
 * One call cuts a whole model; each device's file and the metadata hold what the spec says. */
Test(folder, every_shard_has_the_elements_of_its_box)
{
    for (int k = 0; k < 12; k++) {
        clv_weight_layout t = random_layout(&s, 1 + (int32_t)below(&s, 7));
        char *dir = clv_arena_printf(s.arena, "s%d", k);
        shard_it(&s, &t, dir, k % 2 ? CLV_PARTS_SAFETENSORS : CLV_PARTS_EXTERNAL);
        clv_weights_folder f = read_it(&s, dir);
        cr_assert_eq(f.layout.n_shards, t.n_shards);
        check_files(&f);
        is_original(&s, dir);
    }
}

/* covers: D.022 D.030 D.032 D.033 D.034
 * From any devices to any others, three times; then everything in one place, and sharded anew. */
Test(folder, three_reshards_and_collect_give_the_original)
{
    for (int k = 0; k < 8; k++) {
        clv_error err = { 0 };
        char *line = clv_arena_printf(s.arena, "cd '%s' && rm -rf a b c d", s.folder);
        cr_assert_eq(system(line), 0);
        clv_weight_layout a = random_layout(&s, 8), b = random_layout(&s, 3);
        clv_weight_layout c = random_layout(&s, 5), d = random_layout(&s, 8);
        shard_it(&s, &a, "a", CLV_PARTS_EXTERNAL);
        cr_assert_eq(reshard_to(&s, "a", &b, "b", &err), CLV_OK, "%s", err.message);
        cr_assert_eq(reshard_to(&s, "b", &c, "c", &err), CLV_OK, "%s", err.message);
        cr_assert_eq(reshard_to(&s, "c", &d, "d", &err), CLV_OK, "%s", err.message);
        clv_weights_folder f = read_it(&s, "d");
        check_files(&f);
        is_original(&s, "d");
    }
}

/* The list of transfers: what a new shard is made of is what it has, and what stays does not move.
 */
Test(folder, any_number_of_threads_write_the_same_bytes)
{
    static const clv_parts_kind kinds[] = { CLV_PARTS_EXTERNAL, CLV_PARTS_SAFETENSORS };
    clv_error err = { 0 };
    for (int i = 0; i < 2; i++) {
        clv_weight_layout t = random_layout(&s, 5), u = random_layout(&s, 3);
        for (int32_t threads = 1; threads < 12; threads += 5) {
            clv_shard_options o = { .kind = kinds[i], .threads = threads, .max_bytes = 9000 };
            const char *one = at_path(&s, threads == 1 ? "a" : "c");
            const char *two = at_path(&s, threads == 1 ? "b" : "d");
            cr_assert_eq(
                clv_weights_shard(&(clv_onnx_model){ s.file, s.model }, &t, one, &o, s.arena, &err),
                CLV_OK);
            clv_weights_folder f = read_it(&s, threads == 1 ? "a" : "c");
            cr_assert_eq(clv_weights_reshard(&f, &u, two, &o, s.arena, &err), CLV_OK);
            if (threads > 1)
                cr_assert_eq(system(clv_arena_printf(s.arena,
                                                     "cd '%s' && diff -r a c && diff -r b d && "
                                                     "rm -r c d",
                                                     s.folder)),
                             0);
        }
        is_original(&s, "b");
        cr_assert_eq(system(clv_arena_printf(s.arena, "cd '%s' && rm -r a b", s.folder)), 0);
    }
}

Test(folder, transfers_add_up)
{
    for (int k = 0; k < 20; k++) {
        char *dir = clv_arena_printf(s.arena, "s%d", k);
        clv_weight_layout a = random_layout(&s, 1 + (int32_t)below(&s, 6));
        clv_weight_layout b = random_layout(&s, 1 + (int32_t)below(&s, 6));
        clv_reshard_plan plan;
        int64_t before = 0, after = 0, sent = 0, received = 0;
        shard_it(&s, &a, dir, CLV_PARTS_EXTERNAL);
        clv_weights_folder f = read_it(&s, dir);
        cr_assert_eq(clv_reshard_plan_make(&f, &b, s.arena, &plan, NULL), CLV_OK);
        for (int32_t i = 0; i < f.layout.n_shards; i++)
            before += f.places[i].length;
        for (int32_t i = 0; i < plan.n_devices; i++) {
            before -= plan.devices[i].before_bytes;
            after += plan.devices[i].after_bytes;
            sent += plan.devices[i].sent_bytes;
            received += plan.devices[i].received_bytes;
            cr_assert_leq(plan.devices[i].before_bytes + plan.devices[i].after_bytes,
                          plan.peak_bytes);
        }
        cr_assert_eq(before, 0);
        cr_assert(sent == plan.moved_bytes && received == plan.moved_bytes);
        /* Nibbles are rounded up in each transfer. */
        cr_assert(plan.moved_bytes + plan.kept_bytes >= after &&
                  plan.moved_bytes + plan.kept_bytes <= after + plan.n_transfers);
        cr_assert_eq(clv_reshard_plan_make(&f, &a, s.arena, &plan, NULL), CLV_OK);
        cr_assert_eq(plan.moved_bytes, 0, "the same layout again moves something");
    }
}

/* covers: D.037
 * No device is to have the weight, so its bytes are kept where they are and not looked at. */
Test(folder, a_weight_without_shards_is_kept)
{
    clv_weight_layout t = random_layout(&s, 2);
    shard_it(&s, &t, "a", CLV_PARTS_EXTERNAL);
    clv_weights_folder f = read_it(&s, "a");
    for (int32_t i = 0; i < f.layout.n_shards; i++)
        cr_assert_neq(f.layout.shards[i].weight, W_KEPT);
    cr_assert_str_eq(clv_arena_printf(s.arena, "%.*s", CLV_STR_ARG(f.weights.at[W_KEPT].name)),
                     "kept");
}

/* covers: D.029 D.040
 * The parts alone: a source and a sink of one's own, without any file. */
typedef struct {
    uint8_t got[4][4096];
    int64_t n[4];
} shelf;

static clv_status give(void *ctx, int32_t weight, int64_t first, int64_t n, uint8_t *to,
                       clv_error *err)
{
    (void)ctx, (void)weight, (void)err;
    for (int64_t i = 0; i < n; i++)
        to[i] = (uint8_t)(first + i);
    return CLV_OK;
}

static clv_status keep(void *ctx, int32_t id, const uint8_t *bytes, size_t n, int64_t at,
                       clv_error *err)
{
    shelf *to = ctx;
    (void)err;
    memcpy(to->got[id] + at, bytes, n);
    to->n[id] = at + (int64_t)n;
    return CLV_OK;
}

Test(folder, storage_of_ones_own)
{
    static shelf to;
    int64_t dims[2] = { 16, 16 }, offset[2] = { 0, 8 }, size[2] = { 16, 8 };
    clv_weight w = { .dtype = CLV_DT_UINT8, .rank = 2, .dims = dims, .elems = 256, .bytes = 256 };
    clv_box box = { 2, dims, offset, size };
    const clv_box *boxes[1] = { &box };
    clv_weight_source source = { .read = give };
    clv_box_sink sink = { keep, &to };
    clv_weight_cut cut = { 0, &w, boxes, 1 };
    clv_stream *stream;
    cr_assert_eq(clv_stream_new(1, 1 << 16, s.arena, &stream, NULL), CLV_OK);
    cr_assert_eq(clv_stream_weight(stream, &cut, &source, &sink, NULL), CLV_OK);
    cr_assert_eq(to.n[0], 128);
    for (int i = 0; i < 128; i++)
        cr_assert_eq(to.got[0][i], (uint8_t)(i / 8 * 16 + 8 + i % 8));
}

/* covers: D.020 D.035 D.037
 * Sizes, type and spec are enough: shards of zeros or ones are made though the file that the
 * weights are in is not there. */
Test(folder, shards_are_made_without_reading_weights)
{
    static const float one = 1.0f;
    clv_error err = { 0 };
    cr_assert_eq(rename(at_path(&s, "data"), at_path(&s, "away")), 0);
    clv_onnx_close(s.file);
    cr_assert_eq(clv_onnx_open(at_path(&s, "m.onnx"), NULL, &s.file, NULL), CLV_OK);
    cr_assert_eq(clv_onnx_read(s.file, s.arena, &s.model, NULL), CLV_OK);
    clv_weight_layout t = random_layout(&s, 3);
    for (int k = 0; k < 2; k++) {
        const char *dir = k ? "ones" : "zeros";
        clv_shard_options o = { .fill = k ? CLV_FILL_ONES : CLV_FILL_ZEROS };
        cr_assert_eq(clv_weights_shard(&(clv_onnx_model){ s.file, s.model }, &t, at_path(&s, dir),
                                       &o, s.arena, &err),
                     CLV_OK, "%s", err.message);
        clv_weights_folder f = read_it(&s, dir);
        for (int32_t i = 0; i < f.layout.n_shards; i++) {
            const clv_shard_place *p = &f.places[i];
            char *file = file_text(f.path, f.files[p->file].name, NULL);
            int32_t weight = f.layout.shards[i].weight;
            for (int64_t at = 0; at < p->length; at++)
                cr_assert(k || file[p->offset + at] == 0);
            for (int64_t at = 0; weight == W_RAW && k && at < p->length; at += 4)
                cr_assert_eq(memcmp(file + p->offset + at, &one, 4), 0);
            for (int64_t at = 0; weight == W_OUT && k && at < p->length; at += 2)
                cr_assert_eq(memcmp(file + p->offset + at, "\0\x3c", 2), 0);
            for (int64_t at = 0; weight == W_NIBBLES && k && at + 1 < p->length; at++)
                cr_assert_eq(file[p->offset + at], 0x11);
            free(file);
        }
    }
    clv_shard_options o = { 0 };
    cr_assert_eq(clv_weights_shard(&(clv_onnx_model){ s.file, s.model }, &t, at_path(&s, "no"), &o,
                                   s.arena, &err),
                 CLV_EIO);
}

/* -- what is refused -- */

static void refuse_layout(clv_weight_layout *t, const char *words)
{
    clv_error err = { 0 };
    clv_shard_options o = { 0 };
    clv_status status = clv_weights_shard(&(clv_onnx_model){ s.file, s.model }, t,
                                          at_path(&s, "no"), &o, s.arena, &err);
    cr_assert_eq(status, CLV_EFORMAT);
    cr_assert(strstr(err.message, words), "said: %s", err.message);
    cr_assert_eq(folder_count(s.folder), 2, "something stays");
}

/* covers: D.026 */
Test(folder, a_layout_with_a_gap_or_an_overlap_is_refused)
{
    int64_t dims[3] = { 6, 8, 5 }, zero[3] = { 0 }, half[3] = { 3, 8, 5 }, three[3] = { 3, 0, 0 };
    clv_box first = { 3, dims, zero, half }, second = { 3, dims, three, half };
    clv_box whole = { 3, dims, zero, dims };
    clv_weight_layout t = random_layout(&s, 4);
    t.n_shards = 0;
    add_shard(&s, &t, W_RAW, 0, &second);
    refuse_layout(&t, "weight 'raw': element [0, 0, 0] is in no shard, expected exactly one");
    add_shard(&s, &t, W_RAW, 1, &whole);
    refuse_layout(&t, "weight 'raw': element [3, 0, 0] is in more than one shard");
    t.n_shards = 1;
    add_shard(&s, &t, W_RAW, 0, &second);
    refuse_layout(&t, "device 'rank:0/cuda:0' has the same part twice, expected once");
    t.n_shards = 0;
    add_shard(&s, &t, W_OUT, 1, &first);
    refuse_layout(&t, "its view does not have the 16448 elements of the weight");
}

static clv_status read_layout(const char *text, clv_weight_layout *ret, clv_error *err)
{
    clv_layout_file file = { text, strlen(text), "l.json" };
    clv_placement_notes notes = { 0 };
    return clv_layout_file_read(&file, &s.weights, s.arena, ret, &notes, err);
}

static void refuse_json(const char *text, const char *words)
{
    clv_error err = { 0 };
    clv_weight_layout t;
    cr_assert_eq(read_layout(text, &t, &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, words), "said: %s", err.message);
}

/* covers: D.025 */
Test(folder, a_bad_layout_file_is_refused_with_a_reason)
{
    refuse_json("{}", "weights");
    refuse_json("{\"weights\": [{\"name\": \"none\", \"shards\": []}]}",
                "is no weight of the model");
    refuse_json(
        "{\"weights\": [{\"name\": \"raw\", \"shards\": [{\"device\": \"a\", \"offsets\": [0]}]}]}",
        "has only one of 'offsets' and 'dims'");
    refuse_json(
        "{\"weights\": [{\"name\": \"raw\", \"shards\": [{\"device\": \"a\", \"offsets\": [0], "
        "\"dims\": [1]}]}]}",
        "has not as many 'offsets' and 'dims'");
    refuse_json(
        "{\"devices\": [\"a\"], \"weights\": [{\"name\": \"raw\", \"shards\": [{\"device\": "
        "\"b\"}]}]}",
        "is no device of the list");
    refuse_json("{\"devices\": [\"a\", \"a\"], \"weights\": []}",
                "is a device that the list has already");
    refuse_json("{\"weights\": [{\"name\": \"raw\", \"dims\": [6, 8], \"shards\": []}]}",
                "are not the dimensions of the model's weight");
    refuse_json(
        "{\"weights\": [{\"name\": \"raw\", \"shards\": []}, {\"name\": \"raw\", \"shards\": []}]}",
        "is a weight that the list has already");
}

Test(folder, a_layout_may_name_views_and_whole_weights)
{
    static const char text[] =
        "{\"weights\": [{\"name\": \"out\", \"shards\": ["
        "{\"device\": \"a\", \"view\": [4, 16, 257], \"offsets\": [0, 0, 0], \"dims\": [4, 8, "
        "257]},"
        "{\"device\": \"b\", \"view\": [4, 16, 257], \"offsets\": [0, 8, 0], \"dims\": [4, 8, "
        "257]}]},"
        "{\"name\": \"scalar\", \"shards\": [{\"device\": \"b\"}, {\"device\": \"c\"}]}]}";
    clv_error err = { 0 };
    clv_weight_layout t;
    cr_assert_eq(read_layout(text, &t, &err), CLV_OK, "%s", err.message);
    cr_assert(t.n_devices == 3 && t.n_shards == 4);
    shard_it(&s, &t, "a", CLV_PARTS_EXTERNAL);
    clv_weights_folder f = read_it(&s, "a");
    check_files(&f);
    is_original(&s, "a");
}

/* What is in no shard of the old folder, or in none of the new layout, cannot be resharded. */
Test(folder, a_layout_of_other_weights_is_refused)
{
    clv_weight_layout a = random_layout(&s, 2), b = random_layout(&s, 2);
    clv_error err = { 0 };
    clv_box whole;
    shard_it(&s, &a, "a", CLV_PARTS_EXTERNAL);
    clv_box_whole(1, s.weights.at[W_KEPT].dims, s.arena, &whole, NULL);
    add_shard(&s, &b, W_KEPT, 0, &whole);
    cr_assert_eq(reshard_to(&s, "a", &b, "b", &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "weight 'kept' has no shards"), "said: %s", err.message);
    b.n_shards = 0;
    cr_assert_eq(reshard_to(&s, "a", &b, "b", &err), CLV_EFORMAT);
    cr_assert(strstr(err.message, "weight 'raw' has shards, but none in the new layout"));
}
