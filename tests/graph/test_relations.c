#include "graph/infer_bound.h"
#include "graph/symbol_sizes.h"
#include "rule_case.h"

/* What holds between the symbols of a graph, what follows from it, and what contradicts it. */

typedef struct {
    clv_arena *written, *arena;
    clv_model *model;
    clv_inference *found;
    clv_error err;
    char text[2048];
} world;

static void open_world(world *w, const char *text)
{
    *w = (world){ .written = clv_arena_new(NULL, 0), .arena = clv_arena_new(NULL, 0) };
    cr_assert_eq(case_model(text, w->written, w->arena, &w->model, &w->err), CLV_OK, "%s",
                 w->err.message);
}

static void close_world(world *w)
{
    clv_arena_free(w->arena);
    clv_arena_free(w->written);
}

/* The relations of the graph are `want`, with "; " between. */
static void relations_are(const char *text, const char *want)
{
    world w;
    open_world(&w, text);
    cr_assert_eq(clv_infer(w.model, NULL, 0, w.arena, &w.found, &w.err), CLV_OK, "%s\n%s", text,
                 w.err.message);
    size_t n = 0;
    for (int32_t i = 0; i < w.found->relations->n; i++) {
        char one[256];
        n = clv_add_words(
            w.text, sizeof w.text, n, "%s%s", i ? "; " : "",
            clv_relation_show(w.found->relations, &w.found->relations->at[i], one, sizeof one));
    }
    cr_expect_str_eq(w.text, want, "%s\n  has %s\n  not %s", text, w.text, want);
    close_world(&w);
}

/* With sizes as in "past=4 seq=1", the sizes that follow are `want`, or the sentence of the error.
 */
static void sizes_give(const char *text, const char *sizes, const char *want)
{
    world w;
    clv_binding given[8];
    int32_t n_given = 0;
    char copy[256];
    size_t n = 0;
    snprintf(copy, sizeof copy, "%s", sizes);
    for (char *rest = copy, *one; (one = strtok_r(rest, " ", &rest));)
        cr_assert_eq(clv_binding_parse(one, "it", &given[n_given++], NULL), CLV_OK);
    open_world(&w, text);
    if (clv_infer_bound(w.model, given, n_given, w.arena, &w.found, &w.err) != CLV_OK) {
        cr_expect_eq(w.err.status, CLV_EFORMAT);
        snprintf(w.text, sizeof w.text, "%s", w.err.message);
    } else {
        const clv_bindings *b = &w.found->bound;
        cr_expect_eq(b->n_given, n_given);
        for (int32_t i = b->n_given; i < b->n; i++)
            n = clv_add_words(w.text, sizeof w.text, n, "%s%.*s=%lld from %s", n ? "; " : "",
                              CLV_STR_ARG(b->at[i].symbol), (long long)b->at[i].value,
                              b->follows_from[i] ? b->follows_from[i] : "its name");
    }
    cr_expect_str_eq(w.text, want, "%s\n%s\n  gives %s\n  not   %s", text, sizes, w.text, want);
    close_world(&w);
}

/* -- found -- */

Test(relations, parts_that_are_joined_are_as_long_as_the_output_that_is_declared)
{
    relations_are("in p float[b,past]; in x float[b,seq]; y = Concat(p, x) axis=1;"
                  "out y:float[b,total]",
                  "total = past + seq");
    relations_are("in p float[b,past]; in x float[b,seq]; y = Concat(p, x, x) axis=1;"
                  "out y:float[b,total]",
                  "total = past + 2 * seq");
    relations_are("in p float[b,past]; in x float[b,3]; y = Concat(x, p, x) axis=-1;"
                  "out y:float[b,total]",
                  "total = past + 6");
    relations_are("in x float[b,n]; w k int64{0,1,0,0}; y = Pad(x, k); out y:float[b,longer]",
                  "longer = n + 1");
    relations_are("in x float[b,n]; w k int64{0,1,0,4}; y = Pad(x, k); out y:float[b,longer]",
                  "longer = n + 5");
}

Test(relations, an_output_by_another_name_is_the_same_size)
{
    relations_are("in x float[b,seq]; in m float[b,total]; y = Relu(x);"
                  "z = Relu(m); out y:float[b,total] z",
                  "total = seq");
    relations_are("in x float[b,seq]; y = Relu(x); out y:float[b,seq]", "");
    relations_are("in x float[b,seq]; y = Relu(x); out y:float[b,16]", "");
    relations_are("in x float[b,seq]; y = Relu(x); out y:float[b,?]", "");
}

Test(relations, operators_that_take_only_equal_dimensions_relate_them)
{
    relations_are("in x float[b,m]; in y float[n,4]; z = MatMul(x, y)", "n = m");
    relations_are("in x float[b,m]; in y float[64,4]; z = MatMul(x, y)", "m = 64");
    relations_are("in x float[b,m]; in y float[n,4]; z = Gemm(x, y)", "n = m");
    relations_are("in x float[b,m]; in y float[c,n]; z = Concat(x, y) axis=0", "n = m");
    relations_are("in x float[b,m]; in y float[c,n]; in p float[b,k];"
                  "s = Concat(p, x) axis=1; z = MatMul(s, y)",
                  "c = k + m");
}

Test(relations, what_may_stretch_relates_nothing)
{
    relations_are("in x float[b,m]; in y float[b,n]; z = Add(x, y)", "");
    relations_are("in x float[b,m,k]; in y float[c,k,n]; z = MatMul(x, y)", "");
    relations_are("in x float[b,m]; in y bool[b,n]; z = Where(y, x, x)", "");
}

Test(relations, values_that_are_shapes_are_added_like_shapes)
{
    relations_are("in p float[b,past]; in x float[b,seq]; w one int64(1);"
                  "sp = Shape(p); lp = Gather(sp, one); sx = Shape(x); lx = Gather(sx, one);"
                  "all = Add(lp, lx); w zero int64(0); r = Range(zero, all, one);"
                  "out r:int64[total]",
                  "total = past + seq");
    relations_are("in p float[b,past]; in x float[b,seq]; w one int64(1);"
                  "sp = Shape(p); lp = Gather(sp, one); sx = Shape(x); lx = Gather(sx, one);"
                  "all = Add(lp, lx); r = Range(lp, all, one); out r:int64[new]",
                  "new = seq");
    relations_are("in p float[b,past]; in x float[b,seq]; w one int64(1); w zero int64(0);"
                  "sp = Shape(p); lp = Gather(sp, one); sx = Shape(x); lx = Gather(sx, one);"
                  "all = Add(lp, lx); rest = Sub(all, lp); r = Range(zero, rest, one);"
                  "out r:int64[new]",
                  "new = seq");
    relations_are("in p float[b,past]; in x float[b,seq]; w one int64(1); w zero int64(0);"
                  "sp = Shape(p); lp = Gather(sp, one); sx = Shape(x); lx = Gather(sx, one);"
                  "rest = Sub(lx, lp); r = Range(zero, rest, one); out r:int64[new]",
                  "");
}

#define QKV  "in q float[b,8,seq,4]; in k float[b,2,seq,4]; in v float[b,2,seq,4];"
#define PAST "in pk float[b,2,past,4]; in pv float[b,2,past,4]; in m float[b,1,seq,total];"

Test(relations, attention_of_the_standard_adds_to_its_past)
{
    relations_are("opset 23;" QKV PAST "y, nk, nv = Attention(q, k, v, m, pk, pv);"
                  "out y nk:float[b,2,total,4] nv:float[b,2,total,4]",
                  "total = past + seq");
    relations_are("in q float[b,8,seq,4]; in k float[b,2,keys,4]; in v float[b,2,values,4];" PAST
                  "y, nk, nv = Attention(q, k, v, m, pk, pv); out y nk:float[b,2,total,4] nv",
                  "values = keys; total = past + keys");
}

#define PACKED "in q float[b,seq,16]; in k float[b,seq,16]; in v float[b,seq,16];"
#define CACHE  "in pk float[b,4,past,4]; in pv float[b,4,past,4];"

Test(relations, masks_and_biases_of_attention_are_as_long_as_all_keys)
{
    relations_are(PACKED CACHE "in bias float[1,4,s,total];"
                               "y, nk, nv = ms:MultiHeadAttention(q, k, v, , , bias, pk, pv) "
                               "num_heads=4",
                  "s = seq; total = past + seq");
    relations_are(PACKED CACHE "in mask int32[b,s,total];"
                               "y, nk, nv = ms:MultiHeadAttention(q, k, v, , mask, , pk, pv) "
                               "num_heads=4",
                  "s = seq; total = past + seq");
    relations_are(PACKED CACHE "in mask int32[b,total];" /* of all keys, or of the new ones */
                               "y, nk, nv = ms:MultiHeadAttention(q, k, v, , mask, , pk, pv) "
                               "num_heads=4",
                  "");
    relations_are(PACKED CACHE "y, nk, nv = ms:MultiHeadAttention(q, k, v, , , , pk, pv) "
                               "num_heads=4; out y nk:float[b,4,total,4] nv",
                  "total = past + seq");
    relations_are("in x float[b,seq,16]; in w_ float[16,48]; in bias float[48];"
                  "in mask int32[b,total]; in p float[2,b,4,past,4];"
                  "y, n = ms:Attention(x, w_, bias, mask, p) num_heads=4",
                  "total = past + seq");
    relations_are("in x float[b,seq,16]; in w_ float[16,48]; in bias float[48];"
                  "in mask int32[b,total]; in p float[2,b,4,past,4];"
                  "y, n = ms:Attention(x, w_, bias, mask, p) num_heads=4 "
                  "past_present_share_buffer=1",
                  "");
}

#define GROUPS                                                                                     \
    "in q float[b,seq,32]; in k float[b,seq,16]; in v float[b,seq,16]; in mask int64[b,total];"    \
    "in used int32[b]; w one int64(1); sh = Shape(mask); t = Gather(sh, one);"                     \
    "total_ = Cast(t) to=6;"
#define GQA                                                                                        \
    GROUPS "in pk float[b,4,past,4]; in pv float[b,4,past,4];"                                     \
           "y, nk, nv = ms:GroupQueryAttention(q, k, v, pk, pv, used, total_) "                    \
           "num_heads=8 kv_num_heads=4;"

Test(relations, a_cache_whose_buffer_may_be_shared_leaves_room)
{
    relations_are(GQA, "total = past + seq, or at most past where past and present share a "
                       "buffer");
    relations_are(GROUPS "y, nk, nv = ms:GroupQueryAttention(q, k, v, , , used, total_) "
                         "num_heads=8 kv_num_heads=4",
                  "total = seq");
    relations_are(GQA "out y nk:float[b,4,past,4] nv:float[b,4,past,4]", "");
}

Test(relations, bodies_that_may_not_run_relate_nothing)
{
    relations_are("graph one; z = MatMul(x, y); out z; end; graph other; w z float{1}; out z; end;"
                  "in c bool[]; in x float[b,m]; in y float[n,4];"
                  "r = If(c) then_branch=@one else_branch=@other",
                  "");
}

/* -- followed and contradicted -- */

#define JOINED                                                                                     \
    "in p float[b,past]; in x float[b,seq]; y = Concat(p, x) axis=1; out y:float[b,total]"

Test(relations, one_size_that_is_left_follows)
{
    sizes_give(JOINED, "past=4095 seq=1", "total=4096 from past + seq");
    sizes_give(JOINED, "total=8 seq=1", "past=7 from total = past + seq");
    sizes_give(JOINED, "past=8", "");
    sizes_give(JOINED, "past=3 seq=1 total=4", "");
    sizes_give("in x float[b,m]; in y float[64,4]; z = MatMul(x, y)", "b=2",
               "m=64 from operators that read it");
    sizes_give("in x float[b,m]; in y float[b,n]; z = Add(x, y)", "m=4", "");
}

Test(relations, sizes_that_contradict_are_named)
{
    sizes_give(JOINED, "b=1 past=100 seq=1 total=9999",
               "total=9999 contradicts past=100 + seq=1: expected 101");
    sizes_give(JOINED, "past=100 total=40",
               "total=40 contradicts past=100 + seq: seq would be -60, expected a whole number of "
               "at least 1");
    sizes_give(JOINED, "past=100 total=100",
               "total=100 contradicts past=100 + seq: seq would be 0, expected a whole number of "
               "at least 1");
    sizes_give("in x float[b,m]; in y float[64,4]; z = MatMul(x, y)", "m=5",
               "m=5 contradicts operators that read it: expected 64");
    sizes_give("in p float[b,past]; in x float[b,seq]; y = Concat(p, x, x) axis=1;"
               "out y:float[b,total]",
               "past=2 total=5",
               "total=5 contradicts past=2 + 2 * seq: seq would be 1 and 1/2, expected a whole "
               "number of at least 1");
    sizes_give(JOINED, "past=9223372036854775807 seq=1",
               "total contradicts past=9223372036854775807 + seq=1: more than 64 bits hold");
}

Test(relations, sizes_with_a_sum_on_both_sides_are_compared)
{
    static const char both[] = "in a float[b,m]; in c float[b,n]; in d float[o,4];"
                               "in e float[q,4]; s = Concat(a, c) axis=1;"
                               "t = Concat(d, e) axis=0; z = MatMul(s, t)";
    relations_are(both, "m + n = o + q");
    sizes_give(both, "m=1 n=2 o=2", "q=1 from m + n = o + q");
    sizes_give(both, "m=1 n=2 o=2 q=2", "m=1 + n=2 contradicts o=2 + q=2: 3 is not 4");
}

#define CHAIN                                                                                      \
    "in p float[b,past]; in x float[b,seq]; y = Concat(p, x) axis=1; in o float[b,one];"           \
    "in t float[b,total]; u = Concat(t, o) axis=1; out y:float[b,total] u:float[b,more]"

Test(relations, what_follows_makes_more_follow)
{
    relations_are(CHAIN, "total = past + seq; more = total + one");
    sizes_give(CHAIN, "past=3 seq=2 one=1", "total=5 from past + seq; more=6 from total + one");
    sizes_give(CHAIN, "past=3 seq=2 one=1 more=9",
               "more=9 contradicts total=5 + one=1: expected 6; total=5 follows from past + seq");
}

Test(relations, a_shared_buffer_may_be_longer_than_what_is_attended_to)
{
    sizes_give(GQA, "b=1 past=100 seq=1", "total=101 from past + seq");
    sizes_give(GQA, "b=1 total=101 seq=1", "past=100 from total = past + seq");
    sizes_give(GQA, "b=1 past=4096 seq=1 total=101", "");
    sizes_give(GQA, "b=1 past=4096 total=101", "");
    sizes_give(GQA, "b=1 past=100 seq=1 total=9999",
               "total=9999 contradicts past=100 + seq=1: expected 101, or 1 to 100 where past and "
               "present share a buffer");
    sizes_give(GQA, "b=1 past=4 seq=16 total=12",
               "total=12 contradicts past=4 + seq=16: expected 20");
    sizes_give(GQA, "b=1 past=20 seq=16 total=12",
               "total=12 contradicts past=20 + seq=16: expected 36, or 16 to 20 where past and "
               "present share a buffer");
}

Test(relations, attention_says_what_contradicts_in_each_form)
{
    sizes_give("opset 23;" QKV PAST "y, nk, nv = Attention(q, k, v, m, pk, pv);"
               "out y nk:float[b,2,total,4] nv:float[b,2,total,4]",
               "b=1 past=100 seq=1 total=9999",
               "total=9999 contradicts past=100 + seq=1: expected 101");
    sizes_give(PACKED CACHE "in bias float[1,4,seq,total];"
                            "y, nk, nv = ms:MultiHeadAttention(q, k, v, , , bias, pk, pv) "
                            "num_heads=4",
               "b=1 past=100 seq=1 total=9999",
               "total=9999 contradicts past=100 + seq=1: expected 101");
    sizes_give("in x float[b,seq,16]; in w_ float[16,48]; in bias float[48];"
               "in mask int32[b,total]; in p float[2,b,4,past,4];"
               "y, n = ms:Attention(x, w_, bias, mask, p) num_heads=4",
               "b=1 past=100 seq=1 total=9999",
               "total=9999 contradicts past=100 + seq=1: expected 101");
}

/* -- asked for -- */

/* The symbols that are asked for where all are marked, with those that follow in brackets. */
static void asks(const char *text, const char *sizes, const char *want)
{
    world w;
    clv_binding given[8];
    clv_bindings bound = { .at = given };
    char copy[256];
    size_t n = 0;
    snprintf(copy, sizeof copy, "%s", sizes);
    for (char *rest = copy, *one; (one = strtok_r(rest, " ", &rest));)
        cr_assert_eq(clv_binding_parse(one, "it", &given[bound.n++], NULL), CLV_OK);
    bound.n_given = bound.n;
    open_world(&w, text);
    clv_symbol_need *needs = CLV_NEW_ARRAY(w.arena, clv_symbol_need, w.model->n_symbols);
    clv_relations *relations;
    for (int32_t i = 0; i < w.model->n_symbols; i++)
        needs[i].asked = true;
    cr_assert_eq(clv_infer_relations(w.model, w.arena, &relations, &w.err), CLV_OK);
    cr_assert_eq(clv_bindings_asked(w.model, relations, &bound, w.arena, needs, &w.err), CLV_OK,
                 "%s", w.err.message);
    for (int32_t i = 0; i < w.model->n_symbols; i++)
        if (needs[i].asked || needs[i].follows_from)
            n = clv_add_words(w.text, sizeof w.text, n, "%s%.*s%s%s%s", n ? ", " : "",
                              CLV_STR_ARG(w.model->symbols[i]), needs[i].asked ? "" : " (",
                              needs[i].asked ? "" : needs[i].follows_from,
                              needs[i].asked ? "" : ")");
    cr_expect_str_eq(w.text, want, "%s\n  asks for %s\n  not      %s", text, w.text, want);
    close_world(&w);
}

Test(relations, sums_are_not_asked_for_where_their_parts_are)
{
    asks(JOINED, "", "b, past, seq, total (past + seq)");
    asks(JOINED, "total=9", "b, past, seq (total = past + seq)");
    asks(CHAIN, "", "b, past, seq, one, total (past + seq), more (total + one)");
    asks(GQA, "", "b, seq, total (past + seq), past");
    asks("in x float[b,m]; in y float[b,n]; z = Add(x, y)", "b=1", "m, n");
}

Test(relations, the_table_of_sums_knows_equal_sums_and_no_negative_ones)
{
    clv_str names[] = { clv_str_of("a"), clv_str_of("b"), clv_str_of("c"), clv_str_of("d"),
                        clv_str_of("e") };
    clv_model model = { .symbols = names, .n_symbols = 5 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_symbol_sums s;
    clv_dim a = clv_dim_symbol(0), b = clv_dim_symbol(1), all = 0;
    cr_assert_eq(clv_symbol_sums_init(&s, &model, arena, NULL), CLV_OK);
    clv_dim ab = clv_symbol_sums_add(&s, a, b);
    cr_expect(clv_dim_is_symbol(ab));
    cr_expect_eq(clv_symbol_sums_add(&s, b, a), ab);
    cr_expect_eq(clv_symbol_sums_sub(&s, ab, b), a);
    cr_expect_eq(clv_symbol_sums_sub(&s, ab, ab), 0);
    cr_expect_eq(clv_symbol_sums_sub(&s, a, b), CLV_DIM_UNKNOWN, "it may be negative");
    cr_expect_eq(clv_symbol_sums_sub(&s, a, 1), CLV_DIM_UNKNOWN);
    cr_expect_eq(clv_symbol_sums_add(&s, clv_symbol_sums_add(&s, a, 3), -3), a);
    cr_expect_eq(clv_symbol_sums_add(&s, clv_symbol_sums_add(&s, a, INT64_MAX), 1),
                 CLV_DIM_UNKNOWN);
    cr_expect_eq(clv_symbol_sums_add(&s, a, CLV_DIM_UNKNOWN), CLV_DIM_UNKNOWN);
    cr_expect_eq(clv_symbol_sums_add(NULL, a, b), CLV_DIM_UNKNOWN);
    cr_expect_eq(clv_symbol_sums_add(&s, 2, 3), 5);
    for (int32_t i = 0; i < CLV_SUM_TERMS; i++)
        all = clv_symbol_sums_add(&s, all, clv_dim_symbol(i));
    cr_expect(clv_dim_is_symbol(all));
    cr_expect_eq(clv_symbol_sums_add(&s, all, clv_dim_symbol(4)), CLV_DIM_UNKNOWN, "too long");
    clv_arena_free(arena);
}

/* No memory at any moment is said, and nothing is kept that is not freed. */
Test(relations, short_memory_is_reported)
{
    for (size_t limit = 1; limit < 200000; limit = limit * 5 / 4 + 64) {
        clv_arena *written = clv_arena_new(NULL, 0), *arena = clv_arena_new(NULL, limit);
        clv_binding given[] = { { clv_str_of("past"), 3 }, { clv_str_of("seq"), 2 } };
        clv_inference *found;
        clv_model *model;
        clv_error err;
        clv_status status = arena ? case_model(CHAIN, written, arena, &model, &err) : CLV_ENOMEM;
        if (status == CLV_OK)
            status = clv_infer_bound(model, given, 2, arena, &found, &err);
        cr_expect(status == CLV_OK || status == CLV_ENOMEM, "%zu: %d", limit, status);
        clv_arena_free(arena);
        clv_arena_free(written);
    }
}
