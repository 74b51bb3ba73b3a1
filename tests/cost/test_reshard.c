/* test_reshard.c - chains between layouts: right on real small tensors, and cheapest by the rules
 * that hold for shortest paths.
 */
#include "cost/reshard.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/route.h"
#include "cost/reshard_naive.h"
#include "notation/layout_text.h"
#include "support/effort.h"
#include "support/layout_sim.h"

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(reshard, .init = open_arena, .fini = close_arena);

#define MIB 1048576

/* Two levels, the outer one ten times slower, so that axes differ. */
static clv_cluster *two_levels(int32_t inner, int32_t outer)
{
    clv_cluster *c = sim_cluster(arena, inner * outer);
    clv_level levels[] = { { "near", inner, { 100e9, 1000, 1, CLV_ASSUMED } },
                           { "far", outer, { 10e9, 5000, 1, CLV_ASSUMED } } };
    cr_assert_eq(clv_routes_by_levels(c, levels, 2, arena, NULL), CLV_OK);
    return c;
}

static const clv_comms *comms_of(const char *text, clv_cluster *c)
{
    clv_mesh_form form;
    const clv_mesh *mesh = NULL;
    const clv_comms *comms = NULL;
    clv_error err = { .message = "" };
    cr_assert_eq(clv_mesh_form_parse(text, arena, &form, NULL), CLV_OK);
    int32_t n = form.size[0] * form.size[1] * form.size[2];
    c = c ? c : n > 2 ? two_levels(n / 2, 2) : sim_cluster(arena, n);
    cr_assert_eq(clv_mesh_make(&form, c, CLV_MESH_ALL_DEVICES, arena, &mesh, &err), CLV_OK, "%s",
                 err.message);
    cr_assert_eq(clv_comms_make(c, mesh, NULL, arena, &comms, &err), CLV_OK, "%s", err.message);
    return comms;
}

static clv_reshard *reshard_of(const clv_comms *comms, const clv_tensor_split *tensor,
                               const clv_slot *more, int32_t n_more)
{
    clv_reshard *r = NULL;
    clv_error err = { .message = "" };
    clv_reshard_tensor of = { tensor, more, n_more };
    cr_assert_eq(clv_reshard_make(comms, &of, arena, &r, &err), CLV_OK, "%s", err.message);
    return r;
}

static int64_t ns_of(clv_reshard *r, const clv_layout *from, const clv_layout *to)
{
    int64_t ns = -1;
    clv_error err = { .message = "" };
    cr_assert_eq(clv_reshard_ns(r, from, to, &ns, &err), CLV_OK, "%s", err.message);
    return ns;
}

/* Layouts in words: "0 1" is axis 0 on dimension 0 then axis 1 on dimension 1; '-' copies, '+' is a
 * sum. Axes on one dimension nest in the order of the axes; '<' turns that round. */
static clv_layout lay(const char *words)
{
    clv_layout l = CLV_LAYOUT_COPIES;
    bool back = words[0] == '<';
    int n = (int)strlen(words + back);
    for (int i = 0; i < n && n <= CLV_MESH_AXES_MAX; i++) {
        int a = back ? n - 1 - i : i;
        char c = words[back + a];
        if (c == '+') {
            l.dim[a] = CLV_AXIS_PARTIAL;
            l.reduce[a] = CLV_REDUCE_SUM;
        } else if (c != '-')
            clv_layout_split(&l, a, c - '0', 1);
    }
    return l;
}

static clv_chain chain_of(clv_reshard *r, const char *from, const char *to)
{
    clv_chain chain = { 0 };
    clv_error err = { .message = "" };
    clv_layout a = lay(from), b = lay(to);
    cr_assert_eq(clv_reshard_chain(r, &a, &b, arena, &chain, &err), CLV_OK, "%s", err.message);
    return chain;
}

static const char *kinds(const clv_chain *chain)
{
    static char text[200];
    text[0] = 0;
    for (int32_t i = 0; i < chain->n; i++) {
        strcat(text, i ? ", " : "");
        strcat(text, clv_step_name(chain->steps[i].kind));
    }
    return text;
}

static clv_tensor_split tensor_of(int32_t rank, const int64_t *dims, clv_uneven_policy policy)
{
    return (clv_tensor_split){ .rank = rank, .dims = dims, .dtype = CLV_DT_INT8, .policy = policy };
}

/* -- chains on real tensors -- */

static void try_chain(clv_reshard *r, int32_t from, int32_t to)
{
    static sim s;
    const clv_layouts *all = clv_reshard_layouts(r);
    clv_chain chain = { 0 };
    char a[CLV_LAYOUT_TEXT], b[CLV_LAYOUT_TEXT];
    int64_t sum = 0, pair;
    const char *wrong = NULL;

    cr_assert_eq(clv_reshard_chain(r, &all->at[from], &all->at[to], arena, &chain, NULL), CLV_OK);
    sim_lay_out(&s, all->mesh, &all->tensor, &all->at[from]);
    for (int32_t i = 0; !wrong && i < chain.n; i++) {
        const clv_step *step = &chain.steps[i];
        wrong = sim_step(&s, step->kind, step->axes, &step->to, &pair);
        sum += step->ns;
    }
    wrong = wrong ? wrong : sim_check(&s);
    cr_assert_null(wrong, "%s: %s from %s to %s", wrong, kinds(&chain),
                   clv_layout_show(a, &all->at[from], all->mesh, all->tensor.rank),
                   clv_layout_show(b, &all->at[to], all->mesh, all->tensor.rank));
    cr_assert(clv_layout_equal(&s.layout, &all->at[to]));
    cr_assert_eq(sum, chain.ns);
    cr_assert_eq(chain.ns, ns_of(r, &all->at[from], &all->at[to]));
    cr_assert_eq(from == to, chain.n == 0);
    cr_assert_geq(chain.peak,
                  all->bytes[from] > all->bytes[to] ? all->bytes[from] : all->bytes[to]);
}

static void try_pairs(const char *mesh, const clv_tensor_split *tensor, const clv_slot *more,
                      int32_t n_more)
{
    clv_reshard *r = reshard_of(comms_of(mesh, NULL), tensor, more, n_more);
    for (int32_t i = 0; i < clv_reshard_layouts(r)->n; i++)
        for (int32_t j = 0; j < clv_reshard_layouts(r)->n; j++) {
            if (j == 0) /* what is worked out the first time stays */
                ns_of(r, &clv_reshard_layouts(r)->at[i], &clv_reshard_layouts(r)->at[j]);
            if (TEST_IS_SANITIZED && (i + j) % 5 != 0)
                continue;
            clv_mark mark = clv_arena_mark(arena);
            try_chain(r, i, j);
            clv_arena_rewind(arena, mark);
        }
}

static const char *const meshes[] = { "2", "4", "2x2", "2x3", "2x2x2" };
#define N_MESHES 5

/* covers: C.006 C.009 E.051 A.042 */
Test(reshard, every_chain_between_even_layouts_gives_the_target)
{
    const int64_t dims[] = { 12, 6, 2 };
    for (int m = 0; m < N_MESHES; m++)
        for (int32_t rank = 1; rank <= 3; rank++) {
            clv_tensor_split t = tensor_of(rank, dims, CLV_UNEVEN_REFUSE);
            try_pairs(meshes[m], &t, NULL, 0);
        }
}

/* covers: A.021 */
Test(reshard, every_chain_between_uneven_layouts_gives_the_target)
{
    const int64_t dims[] = { 7, 5, 3 };
    for (int m = 0; m < N_MESHES; m++)
        for (int32_t rank = 1; rank <= 3; rank++)
            for (int p = CLV_UNEVEN_CEIL; p <= CLV_UNEVEN_BALANCED; p++) {
                clv_tensor_split t = tensor_of(rank, dims, (clv_uneven_policy)p);
                try_pairs(meshes[m], &t, NULL, 0);
            }
}

Test(reshard, every_chain_between_fused_and_unequal_layouts_gives_the_target)
{
    const int64_t dims[] = { 12, 5 }, unequal[] = { 1, 3 };
    const clv_slot slots[] = { { 0, 2, 1 }, { 0, 4, 1 } };
    for (int m = 0; m < N_MESHES; m++) {
        clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_CEIL);
        try_pairs(meshes[m], &t, slots, 2);
        t.share[0] = m == 1 ? NULL : unequal;
        try_pairs(meshes[m], &t, slots, 1);
    }
}

/* 5 heads of 3. covers: A.021 */
Test(reshard, every_chain_between_layouts_of_whole_units_gives_the_target)
{
    const int64_t dims[] = { 15, 4 };
    const clv_slot slots[] = { { 0, 1, 3 }, { 0, 5, 1 } };
    for (int m = 0; m < N_MESHES; m++) {
        clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_CEIL);
        try_pairs(meshes[m], &t, slots, 2);
    }
}

/* -- what holds for every cost -- */

typedef struct {
    int32_t n;
    int64_t *ns;
} table;

static table table_of(clv_reshard *r)
{
    const clv_layouts *all = clv_reshard_layouts(r);
    table t = { all->n, CLV_NEW_ARRAY(arena, int64_t, all->n * all->n) };
    for (int32_t i = 0; i < t.n; i++) {
        for (int32_t j = 0; j < t.n; j++)
            t.ns[i * t.n + j] = ns_of(r, &all->at[i], &all->at[j]);
    }
    return t;
}

static void check_laws(const table *t)
{
    for (int32_t i = 0; i < t->n; i++) {
        cr_assert_eq(t->ns[i * t->n + i], 0);
        for (int32_t j = 0; j < t->n; j++) {
            cr_assert_geq(t->ns[i * t->n + j], 0);
            for (int32_t k = 0; k < t->n; k++)
                cr_assert_leq(t->ns[i * t->n + k], t->ns[i * t->n + j] + t->ns[j * t->n + k]);
        }
    }
}

Test(reshard, costs_are_never_negative_zero_for_equal_layouts_and_no_way_round_is_cheaper)
{
    const int64_t dims[] = { 4096, 1023, 64 };
    for (int m = 0; m < N_MESHES; m++)
        for (int32_t rank = 1; rank <= (m == 4 ? 2 : 3); rank++) {
            clv_tensor_split t = tensor_of(rank, dims, CLV_UNEVEN_CEIL);
            table a = table_of(reshard_of(comms_of(meshes[m], NULL), &t, NULL, 0));
            check_laws(&a);
        }
}

Test(reshard, wider_elements_are_never_cheaper)
{
    const int64_t dims[] = { 512, 96, 33 };
    const clv_dtype wider[] = { CLV_DT_INT4, CLV_DT_INT8, CLV_DT_FLOAT16, CLV_DT_FLOAT,
                                CLV_DT_DOUBLE };
    const clv_comms *comms = comms_of("2x4", NULL);
    table before = { 0 };
    for (int i = 0; i < 5; i++) {
        clv_tensor_split t = tensor_of(3, dims, CLV_UNEVEN_CEIL);
        t.dtype = wider[i];
        table now = table_of(reshard_of(comms, &t, NULL, 0));
        for (int32_t k = 0; i > 0 && k < now.n * now.n; k++)
            cr_assert_geq(now.ns[k], before.ns[k]);
        before = now;
    }
}

/* The sizes of a real model grow costs as well, at equal divisibility. */
Test(reshard, longer_tensors_are_never_cheaper)
{
    const clv_comms *comms = comms_of("2x2x2", NULL);
    table before = { 0 };
    for (int64_t size = 64; size <= 1 << 20; size *= 4) {
        const int64_t dims[] = { size, 64 };
        clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_REFUSE);
        table now = table_of(reshard_of(comms, &t, NULL, 0));
        for (int32_t k = 0; before.n == now.n && k < now.n * now.n; k++)
            cr_assert_geq(now.ns[k], before.ns[k]);
        before = now;
    }
}

/* Without partial results and copies, what goes there can come back, over links that are alike in
 * both directions. */
Test(reshard, exchanges_cost_the_same_both_ways)
{
    const int64_t dims[] = { 64, 32, 16 };
    const char *pairs[][2] = {
        { "01-", "10-" }, { "0--", "1--" }, { "00-", "<00-" }, { "01-", "12-" }, { "012", "120" }
    };
    clv_tensor_split t = tensor_of(3, dims, CLV_UNEVEN_REFUSE);
    clv_reshard *r = reshard_of(comms_of("2x2x2", NULL), &t, NULL, 0);
    for (int i = 0; i < 5; i++) {
        clv_layout a = lay(pairs[i][0]), b = lay(pairs[i][1]);
        cr_assert_gt(ns_of(r, &a, &b), 0);
        cr_assert_eq(ns_of(r, &a, &b), ns_of(r, &b, &a), "%s and %s", pairs[i][0], pairs[i][1]);
    }
}

/* -- chains that people know -- */

/* covers: C.017 */
Test(reshard, the_product_with_a_column_split_needs_the_rows_gathered)
{
    /* X W with ((4,1),(1,1)), then V with ((1,1),(1,4)): rows on 4 devices, wanted whole */
    const int64_t dims[] = { 1024, 1024 };
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_REFUSE);
    clv_reshard *r = reshard_of(comms_of("4", sim_cluster(arena, 4)), &t, NULL, 0);
    clv_chain chain = chain_of(r, "0", "-");
    cr_assert_str_eq(kinds(&chain), "all-gather");
    cr_assert_eq(chain.steps[0].sent, 3 * 256 * 1024);
    cr_assert_eq(chain.steps[0].held, MIB);
    cr_assert_eq(chain.peak, MIB + MIB / 4);
}

/* covers: C.018 */
Test(reshard, gathering_costs_the_same_along_any_dimension)
{
    const int64_t dims[] = { 64, 64, 64 };
    clv_tensor_split t = tensor_of(3, dims, CLV_UNEVEN_REFUSE);
    clv_reshard *r = reshard_of(comms_of("4", NULL), &t, NULL, 0);
    clv_layout whole = lay("-"), first = lay("0"), second = lay("1"), third = lay("2");
    cr_assert_gt(ns_of(r, &first, &whole), 0);
    cr_assert_eq(ns_of(r, &first, &whole), ns_of(r, &second, &whole));
    cr_assert_eq(ns_of(r, &first, &whole), ns_of(r, &third, &whole));
}

Test(reshard, each_change_takes_the_step_that_is_made_for_it)
{
    const int64_t dims[] = { 1024, 1024 };
    const struct {
        const char *from, *to, *steps;
    } known[] = {
        { "0", "0", "" },           { "-", "0", "slice" },      { "-", "+", "neutral" },
        { "0", "-", "all-gather" }, { "+", "-", "all-reduce" }, { "+", "0", "reduce-scatter" },
        { "0", "1", "all-to-all" },
    };
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_REFUSE);
    clv_reshard *r = reshard_of(comms_of("4", sim_cluster(arena, 4)), &t, NULL, 0);
    for (int i = 0; i < 7; i++) {
        clv_chain chain = chain_of(r, known[i].from, known[i].to);
        cr_assert_str_eq(kinds(&chain), known[i].steps, "%s to %s: %s", known[i].from, known[i].to,
                         kinds(&chain));
    }
    r = reshard_of(comms_of("2x2", sim_cluster(arena, 4)), &t, NULL, 0);
    clv_chain chain = chain_of(r, "00", "<00");
    cr_assert_str_eq(kinds(&chain), "permute");
}

/* A sum over both axes of 2 x 8: inside, across, inside. */
Test(reshard, a_sum_over_slow_and_fast_links_is_made_in_three_parts)
{
    const int64_t dims[] = { 1 << 24 };
    clv_tensor_split t = tensor_of(1, dims, CLV_UNEVEN_REFUSE);
    clv_reshard *r = reshard_of(comms_of("2x8", two_levels(8, 2)), &t, NULL, 0);
    clv_chain chain = chain_of(r, "++", "--");
    double bytes = 1 << 24;
    double best = 2 * (7.0 / 8 * bytes / 100 + 3000) + (bytes / 8 / 10 + 2 * 5000);
    cr_assert_leq((double)chain.ns, best + 4, "%lld ns, %.0f by hand", (long long)chain.ns, best);
}

/* Two nodes of two: what has to cross goes over both links at once, each copy taking its half. */
Test(reshard, copies_share_the_work_of_a_slow_link)
{
    const int64_t dims[] = { 1 << 20, 2 };
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_REFUSE);
    clv_reshard *r = reshard_of(comms_of("2x2", two_levels(2, 2)), &t, NULL, 0);
    clv_chain chain = chain_of(r, "0-", "--");
    clv_layout from = lay("0-"), to = lay("--");
    clv_naive naive;
    cr_assert_str_eq(kinds(&chain), "slice, all-gather");
    cr_assert_eq(clv_reshard_naive(r, &from, &to, &naive, NULL), CLV_OK);
    cr_assert_gt(naive.ns, chain.ns * 3 / 2);
}

Test(reshard, partial_results_of_two_kinds_do_not_become_one_another)
{
    const int64_t dims[] = { 1024 };
    clv_tensor_split t = tensor_of(1, dims, CLV_UNEVEN_REFUSE);
    clv_reshard *r = reshard_of(comms_of("4", NULL), &t, NULL, 0);
    clv_layout sum = lay("+"), most = lay("+"), whole = lay("-");
    clv_chain chain;
    most.reduce[0] = CLV_REDUCE_MAX;
    cr_assert_eq(ns_of(r, &sum, &most), ns_of(r, &sum, &whole));
    cr_assert_gt(ns_of(r, &sum, &most), 0);
    cr_assert_eq(ns_of(r, &most, &most), 0);
    cr_assert_eq(clv_reshard_chain(r, &sum, &most, arena, &chain, NULL), CLV_OK);
    cr_assert_str_eq(kinds(&chain), "all-reduce, neutral");
    cr_assert(clv_layout_equal(&chain.steps[1].to, &most));
}

/* -- naive rules -- */

static clv_naive naive_of(clv_reshard *r, const clv_layout *from, const clv_layout *to)
{
    clv_naive naive = { 0 };
    cr_assert_eq(clv_reshard_naive(r, from, to, &naive, NULL), CLV_OK);
    return naive;
}

/* covers: E.052 E.053 E.054 E.055 E.056 */
Test(reshard, the_naive_rules_are_known_and_never_cheaper)
{
    const int64_t dims[] = { 1024, 1024 };
    const struct {
        const char *from, *to, *rule;
        bool saves;
    } known[] = {
        { "--", "0-", "broadcast, tile", true },  { "0-", "--", "all-gather", false },
        { "0-", "1-", "all-gather, tile", true }, { "01", "10", "permute", false },
        { "01", "01", "nothing", false },         { "+-", "0-", "all-reduce, tile", true },
        { "++", "--", "all-reduce", false },
    };
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_REFUSE);
    clv_reshard *r = reshard_of(comms_of("2x2", sim_cluster(arena, 4)), &t, NULL, 0);
    const clv_layouts *all = clv_reshard_layouts(r);
    for (int i = 0; i < 7; i++) {
        clv_layout a = lay(known[i].from), b = lay(known[i].to);
        clv_naive naive = naive_of(r, &a, &b);
        cr_assert_str_eq(naive.rule, known[i].rule);
        cr_assert_eq(naive.ns > ns_of(r, &a, &b), known[i].saves, "%s to %s", known[i].from,
                     known[i].to);
    }
    for (int32_t i = 0; i < all->n; i++)
        for (int32_t j = 0; j < all->n; j++)
            cr_assert_geq(naive_of(r, &all->at[i], &all->at[j]).ns,
                          ns_of(r, &all->at[i], &all->at[j]));
}

/* -- refusals and limits -- */

Test(reshard, layouts_of_other_tensors_are_refused)
{
    const int64_t dims[] = { 1024, 3 };
    int64_t ns = -1;
    clv_error err;
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_REFUSE);
    clv_reshard *r = reshard_of(comms_of("4", NULL), &t, NULL, 0);
    clv_layout whole = lay("-"), odd = lay("1"), fused = lay("0");
    cr_assert_eq(clv_reshard_ns(r, &whole, &odd, &ns, &err), CLV_EUSAGE);
    cr_assert_str_eq(err.message, "dimension 1 has 3 elements, axis tp would make 4 parts");
    fused.outer[0] = 2;
    cr_assert_eq(clv_reshard_ns(r, &whole, &fused, &ns, &err), CLV_EUSAGE);
    cr_assert_str_eq(err.message, "layout {tp@2, -} splits a factor that is not among those known");
    cr_assert_eq(ns, -1);
}

Test(reshard, sizes_at_the_end_of_64_bits_are_counted_without_overflow)
{
    const int64_t dims[] = { INT64_C(1) << 40, INT64_C(1) << 22 };
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_REFUSE);
    t.dtype = CLV_DT_DOUBLE;
    clv_reshard *r = reshard_of(comms_of("2x2", NULL), &t, NULL, 0);
    table costs = table_of(r);
    for (int32_t i = 0; i < costs.n * costs.n; i++)
        cr_assert(costs.ns[i] >= 0 && costs.ns[i] <= CLV_COMM_NS_MAX);
    clv_layout a = lay("++"), b = lay("--");
    cr_assert_gt(ns_of(r, &a, &b), INT64_C(1) << 50);
}

Test(reshard, scalars_and_empty_tensors_cost_what_they_must)
{
    const int64_t none[] = { 0, 8 };
    clv_tensor_split t = tensor_of(0, NULL, CLV_UNEVEN_REFUSE);
    clv_reshard *r = reshard_of(comms_of("2x2", NULL), &t, NULL, 0);
    cr_assert_eq(clv_reshard_layouts(r)->n, 4);
    clv_layout sum = lay("++"), whole = lay("--");
    cr_assert_gt(ns_of(r, &sum, &whole), 0);
    t = tensor_of(2, none, CLV_UNEVEN_REFUSE);
    r = reshard_of(comms_of("2x2", NULL), &t, NULL, 0);
    cr_assert_eq(ns_of(r, &sum, &whole), 0);
}

Test(reshard, a_step_has_what_is_sent_and_held)
{
    const int64_t dims[] = { 1024, 1024 };
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_REFUSE);
    const clv_comms *comms = comms_of("2x2", sim_cluster(arena, 4));
    clv_reshard *r = reshard_of(comms, &t, NULL, 0);
    clv_chain chain = chain_of(r, "-+", "-0");
    const clv_step *step = &chain.steps[0];
    cr_assert_str_eq(clv_step_name(step->kind), "reduce-scatter");
    cr_assert_str_eq(clv_algorithm_name(step->by), "ring");
    cr_assert(step->sent == 512 << 10 && step->held == 512 << 10);
    cr_assert_eq((step->ns + 50) / 100, 5253);
    chain = chain_of(r, "--", "-0");
    step = &chain.steps[0];
    cr_assert_str_eq(clv_step_name(step->kind), "slice");
    cr_assert(step->ns == 0 && step->held == 512 << 10);
}
