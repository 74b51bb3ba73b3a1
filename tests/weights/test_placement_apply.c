/* test_placement_apply.c - placement specs for the weights of a model, by name. */
#include "notation/placement_name.h"
#include "placement_helpers.h"
#include "support/placement_text.h"
#include "weights/placement_apply.h"

static clv_arena *arena;
static clv_error err;

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    err = (clv_error){ .message = "" };
}
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(placement_apply, .init = set_up, .fini = tear_down);

/* Weights from "name rows columns" or "name rows". */
static clv_weight_list weights_of(const char *const *texts, int32_t n)
{
    clv_weight *at = CLV_NEW_ARRAY(arena, clv_weight, n);
    for (int32_t i = 0; i < n; i++) {
        char *name = clv_arena_take(arena, 64);
        int64_t *dims = CLV_NEW_ARRAY(arena, int64_t, 2);
        int got = sscanf(texts[i], "%63s %" SCNd64 " %" SCNd64, name, &dims[0], &dims[1]);
        int64_t elems = (got > 1 ? dims[0] : 1) * (got > 2 ? dims[1] : 1);
        at[i] = (clv_weight){ clv_str_of(name), CLV_DT_FLOAT, got - 1, dims, elems, 4 * elems };
    }
    return (clv_weight_list){ at, n };
}

/* The three layers of the RFC's module, each nn.Linear(20, 20). */
static const char *const nets[] = { "net1.weight 20 20", "net1.bias 20",      "net2.weight 20 20",
                                    "net2.bias 20",      "net3.weight 20 20", "net3.bias 20" };
enum { N_NETS = 6 };

/* "net1.weight: cuda:0 [0,0]+[10,20]; ...", a line for each weight that has shards. */
static const char *show_layout(const clv_weight_list *weights, const clv_weight_layout *t)
{
    enum { SIZE = 4096 };
    char *text = clv_arena_take(arena, SIZE);
    size_t n = 0;
    for (int32_t i = 0; i < t->n_shards; i++) {
        const clv_weight_shard *s = &t->shards[i];
        if (i == 0 || t->shards[i - 1].weight != s->weight)
            n = clv_add_words(text, SIZE, n, "%s%.*s:", i ? "\n" : "",
                              CLV_STR_ARG(weights->at[s->weight].name));
        n = clv_add_words(text, SIZE, n, " %s", t->devices[s->device]);
        for (int32_t d = 0; d < s->box.rank; d++) {
            cr_assert_eq(s->box.view[d], weights->at[s->weight].dims[d]);
            n = clv_add_words(text, SIZE, n, "%s%" PRId64 "+%" PRId64, d ? "," : " ",
                              s->box.offset[d], s->box.size[d]);
        }
    }
    return text;
}

static const char *show_notes(const clv_placement_notes *notes)
{
    const char *text = "";
    for (int32_t i = 0; i < notes->n; i++)
        text = clv_arena_printf(arena, "%s%s%s", text, i ? "\n" : "", notes->at[i]);
    return text;
}

static clv_status apply(const char *text, const char *const *weights, int32_t n,
                        const char **ret_layout, const char **ret_notes)
{
    clv_placement_file file;
    clv_weight_list list = weights_of(weights, n);
    clv_weight_layout layout = { 0 };
    clv_placement_notes notes = { 0 };

    cr_assert_eq(placement_text_read(text, strlen(text), "s.json", arena, &file, &err), CLV_OK,
                 "%s", err.message);
    CLV_TRY(clv_placement_file_apply(&file, &list, arena, &layout, &notes, &err));
    /* boxes that are apart or the same, cover their weights, and no device has one twice */
    cr_expect_eq(clv_weight_layout_check(&layout, &list, arena, &err), CLV_OK, "%s", err.message);
    *ret_layout = show_layout(&list, &layout);
    *ret_notes = show_notes(&notes);
    return CLV_OK;
}

static void expect_layout(const char *text, const char *const *weights, int32_t n, const char *want,
                          const char *want_notes)
{
    const char *layout = "", *notes = "";
    cr_assert_eq(apply(text, weights, n, &layout, &notes), CLV_OK, "%s", err.message);
    cr_expect_str_eq(layout, want, "%s", layout);
    cr_expect_str_eq(notes, want_notes, "%s", notes);
}

/* covers: D.012 D.013 D.015 */
Test(placement_apply, first_composite_of_the_rfc)
{
    expect_layout("{\"spec\":{\"composite\":{\"net1\":\"cuda:0\",\"net2\":\"cuda:1\",\"net3\":"
                  "\"cuda:0\"}}}",
                  nets, N_NETS,
                  "net1.weight: cuda:0 0+20,0+20\nnet1.bias: cuda:0 0+20\n"
                  "net2.weight: cuda:1 0+20,0+20\nnet2.bias: cuda:1 0+20\n"
                  "net3.weight: cuda:0 0+20,0+20\nnet3.bias: cuda:0 0+20",
                  "");
}

#define ROWS(a, b) "{\"single_split\":{\"dim\":0,\"placements\":[\"" a "\",\"" b "\"]}}"

/* The RFC's second example names the weights of net1 and net2 alone, so that their biases have no
 * spec; net3 as a whole is split, its bias too.
 * covers: D.014 D.015 D.016 */
Test(placement_apply, second_composite_of_the_rfc)
{
    expect_layout(
        "{\"spec\":{\"composite\":{"
        "\"net1\":{\"composite\":{\"weight\":" ROWS(
            "cuda:0", "cuda:1") "}},"
                                "\"net2\":{\"composite\":{\"weight\":" ROWS(
                                    "cuda:0", "cuda:1") "}},"
                                                        "\"net3\":" ROWS("cuda:2", "cuda:3") "}}}",
        nets, N_NETS,
        "net1.weight: cuda:0 0+10,0+20 cuda:1 10+10,0+20\n"
        "net2.weight: cuda:0 0+10,0+20 cuda:1 10+10,0+20\n"
        "net3.weight: cuda:2 0+10,0+20 cuda:3 10+10,0+20\n"
        "net3.bias: cuda:2 0+10 cuda:3 10+10",
        "2 weights are without a spec, not sharded: 'net1.bias' is the first");
}

/* covers: D.015 D.016 */
Test(placement_apply, longest_name_wins)
{
    static const char *const weights[] = { "enc.0.fc.weight 2 2", "enc.0.fc.bias 2", "enc.1.w 2",
                                           "dec.w 2" };
    expect_layout("{\"spec\":{\"composite\":{\"enc.0.fc.weight\":\"cuda:3\",\"enc\":\"cuda:1\","
                  "\"enc.0\":\"cuda:2\",\"dec\":\"cuda:0\"}}}",
                  weights, 4,
                  "enc.0.fc.weight: cuda:3 0+2,0+2\nenc.0.fc.bias: cuda:2 0+2\n"
                  "enc.1.w: cuda:1 0+2\ndec.w: cuda:0 0+2",
                  "");
}

/* covers: D.015 */
Test(placement_apply, names_are_whole_words_with_any_separator)
{
    static const char *const weights[] = { "/net1/weight 4", "net1.sub/bias 4", "net10.weight 4",
                                           "net1 4" };
    expect_layout("{\"spec\":{\"composite\":{\"net1\":\"cuda:0\",\"/net1/sub\":\"cuda:1\"}}}",
                  weights, 4,
                  "/net1/weight: cuda:0 0+4\nnet1.sub/bias: cuda:1 0+4\nnet1: cuda:0 0+4",
                  "1 weight is without a spec, not sharded: 'net10.weight'");
}

/* covers: D.016 */
Test(placement_apply, names_that_fit_nothing_are_reported)
{
    static const char *const weights[] = { "a.w 4", "a.b 4" };
    expect_layout("{\"spec\":{\"composite\":{\"a\":\"cuda:0\",\"a.w\":\"cuda:1\",\"a.b\":"
                  "\"cuda:1\",\"c\":\"cuda:0\"}},\"names\":{\"z\":[\"i\"]}}",
                  weights, 2, "a.w: cuda:1 0+4\na.b: cuda:1 0+4",
                  "'a' of the placement spec never counts: all its weights have longer names in "
                  "it\n"
                  "'c' of the placement spec is no weight of the model and has none below it\n"
                  "dimensions are named for 'z', but no weight with a spec has or ends in that "
                  "name");
}

Test(placement_apply, others_may_be_copied_to_all)
{
    static const char *const weights[] = { "a 4", "b 3", "c 2" };
    expect_layout("{\"spec\":{\"composite\":{\"a\":\"cuda:0\"}},\"devices\":[\"cuda:1\","
                  "\"cuda:0\"],\"others\":\"copy\"}",
                  weights, 3, "a: cuda:0 0+4\nb: cuda:1 0+3 cuda:0 0+3\nc: cuda:1 0+2 cuda:0 0+2",
                  "2 weights are without a spec, copied to every device: 'b' is the first");
}

#define COLUMNS "{\"single_split\":{\"dim\":1,\"placements\":[\"cuda:0\",\"cuda:1\"]}}"

/* covers: D.017 */
Test(placement_apply, a_spec_that_cannot_apply_is_refused_or_skipped)
{
    const char *layout = "", *notes = "";

    cr_expect_eq(
        apply("{\"spec\":{\"composite\":{\"net1\":" COLUMNS "}}}", nets, 2, &layout, &notes),
        CLV_EFORMAT);
    cr_expect_str_eq(err.message, "weight 'net1.bias': its single_split is of dim 1, but it has 1 "
                                  "dimension");
    expect_layout("{\"spec\":{\"composite\":{\"net1\":" COLUMNS ",\"net2\":\"cuda:2\"}},"
                  "\"cannot_apply\":\"skip\"}",
                  nets, 4,
                  "net1.weight: cuda:0 0+20,0+10 cuda:1 0+20,10+10\n"
                  "net1.bias: cuda:0 0+20 cuda:1 0+20\n"
                  "net2.weight: cuda:2 0+20,0+20\nnet2.bias: cuda:2 0+20",
                  "weight 'net1.bias': its single_split is of dim 1, but it has 1 dimension: it is "
                  "whole on 2 devices");
}

#define BY_NAME "{\"single_split\":{\"dim\":\"out\",\"placements\":[\"cuda:0\",\"cuda:1\"]}}"

/* covers: D.004 */
Test(placement_apply, dimensions_go_by_the_names_of_the_file)
{
    static const char *const weights[] = { "net1.weight 4 2", "net2.weight 2 4", "net2.bias 4" };
    expect_layout("{\"spec\":" BY_NAME ",\"names\":{\"weight\":[\"out\",\"in\"],"
                  "\"net2/weight\":[\"in\",\"out\"],\"bias\":[\"out\"]}}",
                  weights, 3,
                  "net1.weight: cuda:0 0+2,0+2 cuda:1 2+2,0+2\n"
                  "net2.weight: cuda:0 0+2,0+2 cuda:1 0+2,2+2\n"
                  "net2.bias: cuda:0 0+2 cuda:1 2+2",
                  "");
    const char *layout = "", *notes = "";
    cr_expect_eq(apply("{\"spec\":" BY_NAME ",\"names\":{\"weight\":[\"out\"]}}", weights, 1,
                       &layout, &notes),
                 CLV_EFORMAT);
    cr_expect_str_eq(err.message, "weight 'net1.weight': 'weight' names 1 dimension, but it has 2");
    cr_expect_eq(apply("{\"spec\":" BY_NAME "}", weights, 1, &layout, &notes), CLV_EFORMAT);
    cr_expect(strstr(err.message, "its dimensions have no names"), "%s", err.message);
}

/* Empty parts are nothing to keep; the device is there all the same. covers: D.009 */
Test(placement_apply, empty_parts_are_left_out)
{
    static const char *const weights[] = { "w 2", "none 0", "scalar" };
    expect_layout(
        "{\"spec\":{\"composite\":{\"scalar\":\"cuda:1\",\"w\":{\"single_split\":{\"dim\":"
        "0,\"placements\":[\"cuda:0\",\"cuda:1\",\"cuda:2\"]}},\"none\":\"cuda:0\"}}}",
        weights, 3, "w: cuda:0 0+1 cuda:1 1+1\nscalar: cuda:1", "");
}

/* Whatever allocation fails, it is said, and nothing is given. */
Test(placement_apply, no_memory_is_reported)
{
    static const char text[] =
        "{\"spec\":{\"composite\":{\"net1\":{\"single_split\":{\"dim\":\"out\",\"placements\":"
        "[\"cuda:0\",{\"mesh\":[\"w/cuda:1\",\"cuda:2\"]}]}},\"net2\":{\"composite\":{\"weight\":"
        "\"cuda:3\"}},\"none\":\"cpu\"}},\"names\":{\"weight\":[\"out\",\"in\"]},"
        "\"cannot_apply\":\"skip\",\"others\":\"copy\"}";
    clv_weight_list list = weights_of(nets, N_NETS);
    int refused = 0;
    bool done = false;

    for (size_t limit = 64; !done; limit += 64) {
        clv_arena *small = clv_arena_new(NULL, limit);
        clv_placement_file file = { 0 };
        clv_weight_layout layout = { 0 };
        clv_placement_notes notes = { 0 };
        const char *again = NULL;
        clv_status s = placement_text_read(text, strlen(text), "s", small, &file, &err);
        if (s == CLV_OK)
            s = clv_placement_file_apply(&file, &list, small, &layout, &notes, &err);
        if (s == CLV_OK)
            s = placement_text_write(&file, small, &again, &err);
        cr_assert(s == CLV_OK || s == CLV_ENOMEM, "%s", err.message);
        refused += s == CLV_ENOMEM;
        done = s == CLV_OK;
        clv_arena_free(small);
    }
    cr_expect_gt(refused, 1);
}

/* The example of the format's page, as it stands there. covers: D.003 D.012 */
Test(placement_apply, the_page_shows_what_is_so)
{
    static const char *const weights[] = { "net1.weight 4 2",  "net1.bias 4",  "net2.weight 4 4",
                                           "net3.weight 20 2", "net3.bias 20", "other 3" };
    static const char path[] = TEST_SOURCE_DIR "/docs/formats/placement-spec.md";
    char *page = clv_arena_take(arena, 65536);
    FILE *f = fopen(path, "r");

    cr_assert_not_null(f);
    page[fread(page, 1, 65535, f)] = '\0';
    fclose(f);
    char *text = strstr(page, "```json\n") + 8;
    *strstr(text, "```") = '\0';
    expect_layout(text, weights, 6,
                  "net1.weight: cuda:0 0+2,0+2 cuda:1 2+2,0+2\n"
                  "net1.bias: cuda:0 0+4\n"
                  "net2.weight: rank:0/cuda:0 0+2,0+2 rank:0/cuda:1 0+2,2+2 "
                  "rank:1/cuda:0 2+2,0+2 rank:1/cuda:1 2+2,2+2\n"
                  "net3.weight: cuda:2 0+15,0+2 cuda:3 15+5,0+2\n"
                  "net3.bias: cuda:2 0+15 cuda:3 15+5\n"
                  "other: cuda:0 0+3 cuda:1 0+3 cuda:2 0+3 cuda:3 0+3 rank:0/cuda:0 0+3 "
                  "rank:0/cuda:1 0+3 rank:1/cuda:0 0+3 rank:1/cuda:1 0+3",
                  "1 weight is without a spec, copied to every device: 'other'");
}

Test(placement_apply, words_of_names)
{
    clv_map map;
    int32_t id = 0;
    static const char *const known[] = { "a", "a.b", "b.c", "" };

    cr_assert_eq(clv_map_init(&map, arena, 4, &err), CLV_OK);
    for (int32_t i = 0; i < 4; i++)
        cr_assert_eq(clv_map_put(&map, clv_str_of(known[i]), i, &id, &err), CLV_OK);
    clv_str name = clv_str_of("a.bc.d");
    cr_expect(clv_placement_name_up(&name) && clv_str_is(name, "a.bc"));
    cr_expect(clv_placement_name_up(&name) && clv_str_is(name, "a"));
    cr_expect(clv_placement_name_up(&name) && clv_str_is(name, ""));
    cr_expect(!clv_placement_name_up(&name));
    cr_expect_eq(clv_placement_name_longest_suffix(&map, clv_str_of("a.b.c")), 2);
    cr_expect_eq(clv_placement_name_longest_suffix(&map, clv_str_of("xb.c")), -1);
}
