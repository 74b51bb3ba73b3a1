/* test_node_propagation.c - specs of one operator held against its rule: what is refused and in
 * which words, what follows for the outputs; and random specs against the elements that devices
 * really have.
 */
#include "annotations/node_propagation.h"

#include <criterion/criterion.h>

#include "graph/op_case.h"
#include "notation/spec_shards.h"
#include "support/resolve_one.h"
#include "support/spec_text.h"

static clv_arena *arena, *scratch;
static void open_arena(void)
{
    arena = clv_arena_new(NULL, 0);
    scratch = clv_arena_new(NULL, 0);
}
static void close_arena(void)
{
    clv_arena_free(arena);
    clv_arena_free(scratch);
}
TestSuite(node_propagation, .init = open_arena, .fini = close_arena);

/* -- one operator -- */

typedef struct {
    op_case c;
    clv_inference *found;
    clv_factors factors;
    clv_spec_operand in[8], out[8];
    clv_sharding_spec spec[16];
    clv_shards shards[16];
    clv_spec_node node;
} one_op;

static void open_op(one_op *o, int opset, const char *type, const char *inputs, const char *attrs,
                    const char *outputs)
{
    clv_error err = { .message = "" };

    memset(o, 0, sizeof *o);
    cr_assert_eq(case_run(&o->c, arena, "", opset, type, inputs, attrs, outputs, &o->found, &err),
                 CLV_OK, "%s", err.message);
    const clv_graph *g = o->found->main->graph;
    cr_assert_eq(resolve_one(o->found->main, (clv_op){ 0 }, arena, &o->factors, &err), CLV_OK, "%s",
                 err.message);
    o->node = (clv_spec_node){ clv_str_of(type), &o->factors, o->in, o->out, CLV_UNEVEN_CEIL };
    for (int32_t k = 0; k < o->factors.n_in + o->factors.n_out; k++) {
        bool is_in = k < o->factors.n_in;
        clv_tensor t = is_in ? clv_op_input(g, &g->ops[0], k)
                             : clv_op_output(g, &g->ops[0], k - o->factors.n_in);
        clv_spec_operand *x = is_in ? &o->in[k] : &o->out[k - o->factors.n_in];
        if (t.i >= 0)
            *x = (clv_spec_operand){ .name = clv_arena_printf(
                                         arena, "%.*s", CLV_STR_ARG(clv_tensor_at(g, t)->name)),
                                     .type = &o->found->main->of[t.i] };
    }
}

static void set_spec(one_op *o, clv_spec_operand *x, int32_t at, const clv_sharding_spec *spec)
{
    clv_error err = { .message = "" };

    o->spec[at] = *spec;
    cr_assert_eq(clv_spec_shards(spec,
                                 &(clv_tensor_split){ .rank = x->type->rank,
                                                      .dims = x->type->dims,
                                                      .dtype = x->type->dtype,
                                                      .policy = CLV_UNEVEN_CEIL },
                                 arena, &o->shards[at], &err),
                 CLV_OK, "%s", err.message);
    x->spec = &o->spec[at];
    x->shards = &o->shards[at];
    x->is_own = true;
}

/* Specs of inputs, then outputs, between semicolons; an empty one is none. */
static void set_specs(one_op *o, const char *specs)
{
    for (int32_t k = 0; *specs; k++) {
        size_t n = strcspn(specs, ";");
        char text[200];
        clv_spec_operand *x = k < o->factors.n_in ? &o->in[k] : &o->out[k - o->factors.n_in];
        snprintf(text, sizeof text, "%.*s", (int)n, specs);
        if (text[strspn(text, " ")]) {
            clv_sharding_spec spec = spec_text(text, x->name, arena);
            set_spec(o, x, k, &spec);
        }
        specs += n + (specs[n] == ';');
    }
}

static clv_node_outcome check_op(one_op *o)
{
    clv_node_outcome found = { 0 };
    clv_error err = { .message = "" };

    cr_assert_eq(clv_propagate_node(&o->node, scratch, arena, &found, &err), CLV_OK, "%s",
                 err.message);
    return found;
}

static void refused(int opset, const char *type, const char *inputs, const char *attrs,
                    const char *specs, const char *sentence)
{
    one_op o;

    open_op(&o, opset, type, inputs, attrs, "o");
    set_specs(&o, specs);
    clv_node_outcome found = check_op(&o);
    cr_assert(found.wrong, "%s with '%s' is not refused", type, specs);
    cr_expect_str_eq(found.wrong, sentence);
}

static const char *show_result(const clv_output_spec *r)
{
    const char *text = r->spec ? clv_spec_show(r->spec, arena) : "anywhere";

    if (r->why_none)
        text = r->why_none;
    if (r->n_summands > 1)
        text = clv_arena_printf(arena, "%s; %lld by %s", text, (long long)r->n_summands,
                                clv_reduce_name(r->reduce));
    return r->own_differs ? clv_arena_printf(arena, "%s; differs", text) : text;
}

static void follows(int opset, const char *type, const char *inputs, const char *attrs,
                    const char *specs, const char *expected)
{
    one_op o;

    open_op(&o, opset, type, inputs, attrs, "o");
    set_specs(&o, specs);
    clv_node_outcome found = check_op(&o);
    cr_assert_null(found.wrong, "%s with '%s': %s", type, specs, found.wrong);
    cr_expect_str_eq(show_result(&found.out[0]), expected, "%s with '%s': %s", type, specs,
                     show_result(&found.out[0]));
}

#define ADD_OF    13, "Add", "float[32,1024] float[32,1024]"
#define MATMUL_OF 13, "MatMul", "float[4,8] float[8,6]"
#define ADD       ADD_OF, ""
#define MATMUL    MATMUL_OF, ""

/* covers: A.043 A.044 */
Test(node_propagation, an_add_split_on_two_axes_is_refused)
{
    refused(
        ADD, "0*2 @ 0 1; 1*2 @ 0 1",
        "dimension 0 of 'i0' and dimension 0 of 'i1' are both d0 in the rule "
        "(d0,d1),(d0,d1)->(d0,d1) of Add and have to be split alike, but device 0 has 0 to 15 of "
        "the one and all 32 of the other");
    follows(ADD, "0*2 @ 0 1; 0*2 @ 0 1", "axis 0 in 2 on 0, 1");
    refused(
        ADD, "0*2 @ 0 1; 0*2 @ 1 0",
        "dimension 0 of 'i0' and dimension 0 of 'i1' are both d0 in the rule "
        "(d0,d1),(d0,d1)->(d0,d1) of Add and have to be split alike, but device 0 has 0 to 15 of "
        "the one and 16 to 31 of the other");
}

/* A node may say nothing of an input: it is cut as the others ask. */
static void taken(int opset, const char *type, const char *inputs, const char *specs, int32_t input,
                  const char *expected, const char *result)
{
    one_op o;
    open_op(&o, opset, type, inputs, "", "o");
    set_specs(&o, specs);
    clv_node_outcome found = check_op(&o);
    cr_assert_null(found.wrong, "%s", found.wrong);
    cr_assert(found.in.follows[input] && found.in.taken_as[input], "%s with '%s'", type, specs);
    cr_expect_str_eq(clv_spec_show(found.in.taken_as[input], arena), expected);
    cr_expect_str_eq(show_result(&found.out[0]), result);
}

/* covers: A.043 */
Test(node_propagation, a_silent_input_is_cut_as_the_others_ask)
{
    taken(ADD_OF, "0*2 @ 0 1;", 1, "axis 0 in 2 on 0, 1", "axis 0 in 2 on 0, 1");
    taken(ADD_OF, "; 0*2 1*2 @ 0 1 2 3", 0, "axis 0 in 2, axis 1 in 2 on 0-3",
          "axis 0 in 2, axis 1 in 2 on 0-3");
    taken(MATMUL_OF, "1*2 @ 0 1;", 1, "axis 0 in 2 on 0, 1", "whole on 0, 1; 2 by sum");
    taken(MATMUL_OF, "0*2 1*2 @ 0 1 2 3;", 1, "axis 0 in 2 on {0, 2}, {1, 3}",
          "axis 0 in 2 on {0, 1}, {2, 3}; 2 by sum");
    taken(13, "Add", "float[32,16] float[16]", "1*2 @ 0 1;", 1, "axis 0 in 2 on 0, 1",
          "axis 1 in 2 on 0, 1");
}

/* As a product before a reshape into heads has it, where no axis divides the heads: the columns of
 * each head are split, 25 pieces of 64 in 2. */
Test(node_propagation, a_factor_is_taken_apart_where_specs_cut_within_it)
{
    follows(13, "MatMul", "float[4,6] float[6,12]", "", "; 1*1:4,3:3 @ 0 1 2",
            "axis 1 in 1*3 of 4*3 on 0-2");
    follows(13, "MatMul", "float[4,12] float[12,6]", "", "1*1:4,3:3 @ 0 1 2; 0*1:4,3:3 @ 0 1 2",
            "whole on 0-2; 3 by sum");
    follows(13, "Relu", "float[4,12]", "", "1*2:4,3:3 @ 0 1 2 3 4 5",
            "axis 1 in 2*3 of 4*3 on 0-5");
}

/* covers: A.043 A.061 */
Test(node_propagation, a_product_wants_its_k_split_alike)
{
    refused(
        MATMUL, "1*2 @ 0 1; 1*2 @ 0 1",
        "dimension 1 of 'i0' and dimension 0 of 'i1' are both k in the rule (m,k),(k,n)->(m,n) of "
        "MatMul and have to be split alike, but device 0 has 0 to 3 of the one and all 8 of the "
        "other");
    follows(MATMUL, "0*2 @ 0 1; @ 0 1", "axis 0 in 2 on 0, 1");
    follows(MATMUL, "@ 0 1; 1*2 @ 0 1", "axis 1 in 2 on 0, 1");
    follows(MATMUL, "0*2 @ 0+1 2+3; 1*2 @ 0+2 1+3", "axis 0 in 2, axis 1 in 2 on 0-3");
}

/* covers: A.049 A.058 */
Test(node_propagation, partial_results_are_said_to_need_a_reduction)
{
    follows(MATMUL, "1*2 @ 0 1; 0*2 @ 0 1", "whole on 0, 1; 2 by sum");
    follows(MATMUL, "0*2 1*2 @ 0 1 2 3; 0*2 @ 0+2 1+3", "axis 0 in 2 on {0, 1}, {2, 3}; 2 by sum");
    follows(13, "ReduceMax", "float[4,8]", "axes=[1] keepdims=1", "1*4 @ 0 1 2 3",
            "whole on 0-3; 4 by max");
    follows(13, "ReduceMax", "float[4,8]", "axes=[1] keepdims=0", "0*2 @ 0 1",
            "axis 0 in 2 on 0, 1");
}

/* covers: A.043 */
Test(node_propagation, what_must_be_whole_is_named_with_its_rule)
{
    refused(
        13, "Softmax", "float[4,8]", "axis=1", "1*2 @ 0 1",
        "dimension 1 of 'i0' is split, but by the rule (a0,n!)->(a0,n!) of Softmax every device "
        "needs all 8 of n");
    follows(13, "Softmax", "float[4,8]", "axis=1", "0*2 @ 0 1", "axis 0 in 2 on 0, 1");
    refused(11, "DynamicQuantizeLinear", "float[4,8]", "", "0*2 @ 0 1",
            "dimension 0 of 'i0' is split, but DynamicQuantizeLinear takes its scale from all "
            "elements: it is not split");
    refused(
        13, "ReduceMean", "float[4,10]", "axes=[1]", "1*4 @ 0 1 2 3",
        "dimension 1 of 'i0' has parts of 3 and 1, but by the rule (a0,a1)->(a0,_) of ReduceMean "
        "they must be of one size");
}

/* covers: A.043 A.053 A.054 A.055 A.056 */
Test(node_propagation, broadcast_inputs_meet_on_the_devices_that_have_both)
{
    const char *in = "float[8,1] float[1,6]";

    follows(13, "Add", in, "", "0*2 @ 0+1 2+3; 1*2 @ 0+2 1+3", "axis 0 in 2, axis 1 in 2 on 0-3");
    refused(
        13, "Add", in, "", "0*2 @ 0 1; 1*2 @ 0 1",
        "its inputs are split into 4 combinations of parts by the rule (d0,_),(_,d1)->(d0,d1) of "
        "Add, but only 2 of them are together on a device");
    refused(13, "Add", in, "", "0*2 @ 0 1; 1*2 @ 2 3",
            "'i1' is on none of the devices that have parts of its other inputs, where the rule "
            "(d0,_),(_,d1)->(d0,d1) of Add needs them together");
    follows(13, "Add", in, "", "0*2 @ 0 1;", "axis 0 in 2 on 0, 1");
    follows(13, "Add", "float[8,6] float[1,6]", "", "0*2 @ 0 1; @ 0 1 2 3", "axis 0 in 2 on 0, 1");
}

/* A dimension that is fused of two is cut by its rule's factors, however the spec counts them. */
Test(node_propagation, fused_dimensions_follow_a_reshape)
{
    const char *join = "float[4,6] int64[1]{24}", *split = "float[24] int64[2]{4,6}";

    follows(14, "Reshape", join, "", "0*2 @ 0 1;", "axis 0 in 2*1 of 4*6 on 0, 1");
    follows(14, "Reshape", join, "", "1*3 @ 0 1 2;", "axis 0 in 1*3 of 4*6 on 0-2");
    follows(14, "Reshape", split, "", "0*2 @ 0 1;", "axis 0 in 2 on 0, 1");
    follows(14, "Reshape", split, "", "0*8 @ 0 1 2 3 4 5 6 7;", "axis 0 in 4, axis 1 in 2 on 0-7");
    follows(14, "Reshape", split, "", "0*2:2,1:2,3:6 @ 0 1 2 3 4 5;",
            "axis 0 in 2, axis 1 in 3 on 0-5");
    refused(14, "Reshape", split, "", "0*5 @ 0 1 2 3 4;",
            "dimension 0 of 'i0' is cut within what belongs together: by the rule "
            "(f0*f1),(_)->(f0,f1) of Reshape its parts are runs of one of its factors");
}

/* covers: A.045 */
Test(node_propagation, an_output_may_be_delivered_otherwise)
{
    follows(MATMUL, "0*2 @ 0 1; @ 0 1; 0*2 @ 0 1", "axis 0 in 2 on 0, 1");
    follows(MATMUL, "0*2 @ 0 1; @ 0 1; 0*2 @ 1 0", "axis 0 in 2 on 0, 1; differs");
    follows(MATMUL, "0*2 @ 0 1; @ 0 1; 1*2 @ 0 1", "axis 0 in 2 on 0, 1; differs");
    follows(MATMUL, "1*2 @ 0 1; 0*2 @ 0 1; 1*2 @ 0 1", "whole on 0, 1; 2 by sum; differs");
    follows(MATMUL, ";; 1*2 @ 0 1", "anywhere; differs");
}

/* covers: A.047 A.048 A.049 */
Test(node_propagation, inputs_without_specs_are_whole_wherever_they_are_wanted)
{
    follows(MATMUL, ";", "anywhere");
    follows(MATMUL, "0*2 @ 3 1;", "axis 0 in 2 on 3, 1");
    follows(MATMUL, "; 1*3 @ 0 1 2", "axis 1 in 3 on 0-2");
}

/* Empty parts of an uneven axis hold nothing that could be missing. */
Test(node_propagation, uneven_parts_follow_by_the_policy)
{
    follows(13, "Neg", "float[9]", "", "0*8 @ 0 1 2 3 4 5 6 7", "axis 0 in 5 on 0-4");
    follows(13, "Neg", "float[10]", "", "0*4 @ 0 1 2 3; 0*4 @ 0 1 2 3", "axis 0 in 4 on 0-3");
    follows(13, "Neg", "float[9]", "", "0*8 @ 0 1 2 3 4 5 6 7; 0*5 @ 0 1 2 3 4",
            "axis 0 in 5 on 0-4");
}

Test(node_propagation, a_halo_must_be_found_with_the_neighbours)
{
    const char *in = "float[1,1,8] float[1,1,5]", *pads = "pads=[2,2]";

    follows(11, "Conv", in, pads, "2*4 @ 0 1 2 3;", "axis 2 in 4 on 0-3");
    refused(11, "Conv", in, pads, "2*8 @ 0 1 2 3 4 5 6 7;",
            "dimension 2 of 'i0' has a part of 1, but by the rule (_,_,y0),(_,_,_)->(_,_,y0) of "
            "Conv a device needs 2 before and 2 after its own, from its neighbours alone");
}

Test(node_propagation, a_shape_is_known_wherever_its_input_is)
{
    follows(15, "Shape", "float[4,6]", "", "0*2 @ 0 1", "anywhere");
}

/* -- random specs against elements -- */

#define DEVICES  4
#define ELEMENTS 64

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* A spec that is legal by itself: up to two axes, devices in any order, groups at times. */
static clv_sharding_spec random_spec(const clv_type *type, const char *name, uint32_t *state)
{
    clv_sharded_dim *dims = CLV_NEW_ARRAY(arena, clv_sharded_dim, 2);
    clv_simple_sharding *simple = CLV_NEW_ARRAY(arena, clv_simple_sharding, 2);
    int64_t *device = CLV_NEW_ARRAY(arena, int64_t, DEVICES);
    int64_t *member = CLV_NEW_ARRAY(arena, int64_t, 2 * DEVICES);
    clv_device_group *groups = CLV_NEW_ARRAY(arena, clv_device_group, DEVICES);
    clv_sharding_spec spec = { name, device, 0, groups, 0, dims, 0 };
    int32_t parts = 1, first = (int32_t)(next_random(state) % (uint32_t)type->rank);

    for (int32_t i = 0; i < 2 && i < type->rank && next_random(state) % 3; i++) {
        simple[i] = (clv_simple_sharding){ CLV_DIM_UNKNOWN, NULL, 2 };
        dims[spec.n_dims++] = (clv_sharded_dim){ (first + i) % type->rank, &simple[i], 1 };
        parts *= 2;
    }
    int32_t turn = next_random(state) % 4 ? 0 : (int32_t)(next_random(state) % DEVICES);
    for (int32_t i = 0; i < parts; i++) {
        bool group = parts < DEVICES && next_random(state) % 4;
        bool apart = next_random(state) % 2;
        device[spec.n_device++] = group ? -(int64_t)i - 1 : (i + turn) % DEVICES;
        member[2 * i] = apart || parts == 1 ? (i + turn) % DEVICES : 2 * i % DEVICES;
        member[2 * i + 1] = apart || parts == 1 ? (i + turn + 2) % DEVICES : (2 * i + 1) % DEVICES;
        if (group)
            groups[spec.n_groups++] = (clv_device_group){ -(int64_t)i - 1, member + 2 * i, 2 };
    }
    return spec;
}

/* By device the elements of a tensor, row-major. */
static void elements(const clv_type *type, const clv_shards *shards, bool ret[DEVICES][ELEMENTS])
{
    int64_t n = 1;

    memset(ret, 0, sizeof(bool) * DEVICES * ELEMENTS);
    for (int32_t i = 0; i < type->rank; i++)
        n *= type->dims[i];
    for (int32_t s = 0; s < shards->n; s++)
        for (int64_t e = 0; e < n; e++) {
            bool in = true;
            int64_t rest = e;
            for (int32_t i = shards->rank - 1; i >= 0; i--) {
                int64_t at = rest % shards->dims[i] - shards->at[s].offset[i];
                in = in && at >= 0 && at < shards->at[s].size[i];
                rest /= shards->dims[i];
            }
            ret[shards->at[s].device][e] |= in;
        }
}

typedef struct {
    bool in[2][DEVICES][ELEMENTS], out[DEVICES][ELEMENTS];
} sets;

static void all_sets(const one_op *o, const clv_node_outcome *found, sets *ret)
{
    clv_shards shards;

    for (int32_t k = 0; k < o->factors.n_in && k < 2; k++)
        if (o->in[k].spec)
            elements(o->in[k].type, o->in[k].shards, ret->in[k]);
    if (found->wrong)
        return;
    cr_assert(found->out[0].spec);
    cr_assert_eq(clv_spec_shards(found->out[0].spec,
                                 &(clv_tensor_split){ .rank = o->out[0].type->rank,
                                                      .dims = o->out[0].type->dims,
                                                      .dtype = CLV_DT_FLOAT,
                                                      .policy = CLV_UNEVEN_CEIL },
                                 arena, &shards, NULL),
                 CLV_OK);
    elements(o->out[0].type, &shards, ret->out);
}

static bool any(const bool *set, int n)
{
    for (int i = 0; i < n; i++)
        if (set[i])
            return true;
    return false;
}

/* Two inputs of one shape: alike on every device that has both, and nothing missing. */
static bool add_is_good(const sets *s, int n, bool ret[DEVICES][ELEMENTS])
{
    bool all[ELEMENTS] = { false };

    for (int d = 0; d < DEVICES; d++) {
        if (!any(s->in[0][d], n) || !any(s->in[1][d], n))
            continue;
        for (int e = 0; e < n; e++) {
            if (s->in[0][d][e] != s->in[1][d][e])
                return false;
            ret[d][e] = s->in[0][d][e];
            all[e] |= ret[d][e];
        }
    }
    for (int e = 0; e < n; e++)
        if (!all[e])
            return false;
    return true;
}

enum { M = 4, K = 4, N = 6 };

/* The same by products: every device agrees with itself on k, all m * k * n are somewhere. */
static bool product_is_good(const sets *s, bool ret[DEVICES][ELEMENTS])
{
    static bool all[M][N][K];

    memset(all, 0, sizeof all);
    for (int d = 0; d < DEVICES; d++) {
        const bool *a = s->in[0][d], *b = s->in[1][d];
        if (!any(a, M * K) || !any(b, K * N))
            continue;
        for (int k = 0; k < K; k++) {
            bool in_a = false, in_b = false;
            for (int m = 0; m < M; m++)
                in_a |= a[m * K + k];
            for (int n = 0; n < N; n++)
                in_b |= b[k * N + n];
            if (in_a != in_b)
                return false;
            for (int m = 0; m < M; m++)
                for (int n = 0; n < N; n++)
                    if (a[m * K + k] && b[k * N + n])
                        all[m][n][k] = ret[d][m * N + n] = true;
        }
    }
    for (int i = 0; i < M * N * K; i++)
        if (!((bool *)all)[i])
            return false;
    return true;
}

/* Whether a device has several parts that are no box together: then a set of elements does not say
 * which of them belong together. */
static bool twice(const clv_shards *shards)
{
    for (int32_t i = 0; i < shards->n; i++)
        for (int32_t j = 0; j < i; j++)
            if (shards->at[i].device == shards->at[j].device)
                return true;
    return false;
}

/* covers: A.043 A.049 A.055 A.061 */
Test(node_propagation, random_specs_are_judged_as_their_elements_are, .timeout = 120)
{
    int n_good[2] = { 0, 0 };

    for (uint32_t seed = 1; seed <= 6000; seed++) {
        bool is_add = seed % 2, want[DEVICES][ELEMENTS] = { { false } };
        uint32_t state = seed * 2654435761u;
        one_op o;
        sets s = { 0 };
        clv_mark mark = clv_arena_mark(arena);
        if (is_add)
            open_op(&o, 13, "Add", "float[4,6] float[4,6]", "", "o");
        else
            open_op(&o, 13, "MatMul", "float[4,4] float[4,6]", "", "o");
        for (int32_t k = 0; k < 2; k++) {
            clv_sharding_spec spec = random_spec(o.in[k].type, o.in[k].name, &state);
            if (k == 1 && is_add && next_random(&state) % 2)
                spec = o.spec[0];
            set_spec(&o, &o.in[k], k, &spec);
        }
        if (!twice(&o.shards[0]) && !twice(&o.shards[1])) {
            clv_node_outcome found = check_op(&o);
            all_sets(&o, &found, &s);
            bool good = is_add ? add_is_good(&s, 24, want) : product_is_good(&s, want);
            cr_assert_eq(good, found.wrong == NULL, "seed %u: %s", seed, found.wrong);
            if (good)
                cr_assert_arr_eq(s.out, want, sizeof want, "seed %u", seed);
            n_good[is_add] += good;
        }
        clv_arena_rewind(arena, mark);
    }
    cr_expect_gt(n_good[0], 50, "%d products", n_good[0]);
    cr_expect_gt(n_good[1], 50, "%d sums", n_good[1]);
}

/* A reshape keeps each element where it is in the row of all. */
Test(node_propagation, random_specs_of_a_reshape_keep_their_elements, .timeout = 120)
{
    static const char *const shapes[][2] = { { "float[4,6] int64[3]{2,2,6}", "o" },
                                             { "float[24] int64[2]{4,6}", "o" },
                                             { "float[2,3,4] int64[2]{6,4}", "o" },
                                             { "float[2,4,3] int64[1]{24}", "o" } };
    int n_good = 0;

    for (uint32_t seed = 1; seed <= 2000; seed++) {
        uint32_t state = seed * 2654435761u;
        one_op o;
        sets s = { 0 };
        clv_mark mark = clv_arena_mark(arena);
        open_op(&o, 14, "Reshape", shapes[seed % 4][0], "", shapes[seed % 4][1]);
        clv_sharding_spec spec = random_spec(o.in[0].type, o.in[0].name, &state);
        set_spec(&o, &o.in[0], 0, &spec);
        clv_node_outcome found = check_op(&o);
        if (!found.wrong && !found.out[0].why_none) {
            all_sets(&o, &found, &s);
            cr_assert_arr_eq(s.out, s.in[0], sizeof s.out, "seed %u", seed);
            n_good++;
        }
        clv_arena_rewind(arena, mark);
    }
    cr_expect_gt(n_good, 1000, "%d", n_good);
}
