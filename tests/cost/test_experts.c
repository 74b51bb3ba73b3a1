/* test_experts.c - mixtures of experts: one operator, and experts written out, as kernels and in
 * parts; by measured times and by the roofline. */
#include <math.h>

#include "base/file.h"
#include "cluster/cluster_json.h"
#include "cluster/kernel_times.h"
#include "cost/kernel_costs.h"
#include "cost/op_time.h"
#include "cost/shard_cost.h"
#include "kernels/form.h"
#include "kernels/runtime_json.h"
#include "made.h"
#include "sharding/graph_factors.h"

static const char type[] = "com.microsoft:MoE";
static clv_arena *arena;
static made *m;

static void setup(void)
{
    arena = clv_arena_new(NULL, 0);
    m = made_new_of(arena, 160);
}

static void teardown(void) { clv_arena_free(arena); }

TestSuite(experts, .init = setup, .fini = teardown);

static const char *number(int64_t n) { return clv_arena_printf(arena, "%lld", (long long)n); }

static const char *pair(int64_t a, int64_t b)
{
    return clv_arena_printf(arena, "%lld,%lld", (long long)a, (long long)b);
}

static const char *name(const char *what, int32_t expert)
{
    return clv_arena_printf(arena, "%s%d", what, (int)expert);
}

static const clv_device_kind *h100(void)
{
    clv_cluster *c;
    const char *configs = TEST_SOURCE_DIR "/configs";
    cr_assert_eq(clv_cluster_load("dgx-h100", configs, arena, &c, NULL), CLV_OK);
    cr_assert_eq(clv_cluster_load_times(c, configs, arena, NULL), CLV_OK);
    return &c->kinds[0];
}

/* As parts of the kernels of an engine. */
static const clv_kernels *as_kernels(void)
{
    const char *text, *path = TEST_SOURCE_DIR "/configs/runtimes/engine.json";
    size_t n;
    clv_runtime *runtime;
    clv_kernels *kernels;
    cr_assert_eq(clv_read_file(path, 1 << 20, arena, &text, &n, NULL), CLV_OK);
    cr_assert_eq(clv_runtime_parse(text, n, path, arena, &runtime, &m->err), CLV_OK, "%s",
                 m->err.message);
    cr_assert_eq(clv_kernels_form(m->types, runtime, arena, &kernels, NULL), CLV_OK);
    cr_assert_eq(clv_types_stored(m->types, kernels, CLV_DT_UNDEFINED, arena, &m->types, NULL),
                 CLV_OK);
    cr_assert_eq(clv_costs_build(m->model, m->types, arena, &m->costs, NULL), CLV_OK);
    cr_assert_eq(clv_kernel_costs_apply(kernels, m->costs, arena, NULL), CLV_OK);
    return kernels;
}

static int32_t n_mixtures(const clv_kernels *kernels)
{
    int32_t n = 0;
    for (int32_t k = 0; k < kernels->n; k++)
        n += kernels->at[k].kind == CLV_KERNEL_EXPERTS;
    return n;
}

/* What the table says, and the data sheet's roofline allows. */
static double table_ns(const clv_device_kind *kind, const clv_kernel_shape *shape)
{
    const clv_roofline floor = { clv_device_matrix_rate(kind, CLV_DT_BFLOAT16) /
                                     kind->matrix_efficiency,
                                 kind->memory_bytes_per_s, kind->cache_bytes };
    double ns;
    cr_assert(clv_kernel_times_ns(kind->times, shape, CLV_DT_BFLOAT16, &floor, &ns));
    cr_assert(ns >= clv_roofline_ns(&floor, clv_kernel_shape_work(shape, CLV_DT_BFLOAT16)));
    return ns;
}

/* Mixtral 8x7B: 2 of 8 experts, 4096 to 14336 and back. */
static clv_kernel_shape mixtral(int64_t tokens)
{
    return (clv_kernel_shape){ .kind = CLV_SHAPE_EXPERTS,
                               .weights = CLV_DT_BFLOAT16,
                               .tokens = tokens,
                               .hidden = 4096,
                               .intermediate = 14336,
                               .experts = 8,
                               .top_k = 2,
                               .parts = 1,
                               .gated = true };
}

/* -- one operator -- */

static void add_operator(const clv_kernel_shape *w)
{
    made_input(m, "x", w->weights, pair(w->tokens, w->hidden));
    made_input(m, "router", w->weights, pair(w->tokens, w->experts));
    const char *up =
        clv_arena_printf(arena, "%d,%s", (int)w->experts, pair(w->intermediate, w->hidden));
    made_weight(m, "w1", w->weights, up);
    made_weight(
        m, "w2", w->weights,
        clv_arena_printf(arena, "%d,%s", (int)w->experts, pair(w->hidden, w->intermediate)));
    if (w->gated)
        made_weight(m, "w3", w->weights, up);
    made_op(m, type, w->gated ? "x,router,w1,,w2,,w3" : "x,router,w1,,w2", "y");
    made_attr_int(m, "k", w->top_k);
    made_output(m, "y");
    made_build(m);
}

Test(experts, one_operator_takes_what_was_measured)
{
    static const int64_t tokens[] = { 1, 16, 4096, 16384 };
    const clv_device_kind *kind = h100();
    double before = 0;
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        const clv_kernel_shape w = mixtral(tokens[i]);
        m = made_new(arena);
        add_operator(&w);
        (void)as_kernels();
        const clv_op_cost *cost = made_cost(m, "y");
        double ns = table_ns(kind, &w);
        cr_expect(cost->shape.tokens == w.tokens && cost->shape.hidden == 4096 &&
                  cost->shape.intermediate == 14336 && cost->shape.gated);
        cr_expect_eq(clv_op_time_ns(cost, kind, INT64_MAX), (int64_t)ceil(ns));
        cr_expect(ns > before, "more tokens take longer");
        before = ns;
    }
}

/* Two tokens go to four of eight experts: the others' weights are not read. */
Test(experts, read_the_weights_of_those_that_are_chosen)
{
    clv_kernel_shape w = mixtral(2);
    w.hidden = 64;
    w.intermediate = 32;
    add_operator(&w);
    const clv_op_cost *cost = made_cost(m, "y");
    cr_expect_eq(cost->read_bytes, 2 * (2 * 64 + 2 * 8 + 3 * 4 * 64 * 32));
    cr_expect_eq(cost->write_bytes, 2 * 2 * 64);
    cr_expect_eq(cost->workspace_bytes, 2 * (2 * 2) * (2 * 32 + 32), "rows of both first products");
}

Test(experts, packed_ones_are_counted_as_they_are_unpacked)
{
    made_input(m, "x", CLV_DT_BFLOAT16, "6,8");
    made_input(m, "router", CLV_DT_BFLOAT16, "6,4");
    made_weight(m, "w1", CLV_DT_UINT8, "4,32,4");
    made_weight(m, "s1", CLV_DT_BFLOAT16, "4,32");
    made_weight(m, "w2", CLV_DT_UINT8, "4,8,8");
    made_weight(m, "s2", CLV_DT_BFLOAT16, "4,8");
    made_op(m, "com.microsoft:QMoE", "x,router,w1,s1,,w2,s2", "y");
    made_attr_int(m, "k", 2);
    made_build(m);
    const clv_kernel_shape *w = &made_cost(m, "y")->shape;
    cr_expect(w->kind == CLV_SHAPE_EXPERTS && w->weights == CLV_DT_INT4 && w->gated);
    cr_expect(w->tokens == 6 && w->hidden == 8 && w->intermediate == 16 && w->experts == 4 &&
              w->top_k == 2);
}

/* -- parts -- */

/* The cost of an operator of which one factor is split in n. */
static clv_op_cost part_of(const char *tensor, const char *factor, int64_t n)
{
    clv_factors *all;
    clv_op op = made_writer(m, tensor);
    clv_op_cost part;
    int64_t parts[16];
    bool found = false;
    cr_assert_eq(clv_factors_all(m->model, m->types, arena, &all, &m->err), CLV_OK);
    const clv_factors *f = &all[op.i];
    for (int32_t i = 0; i < f->n_factors; i++) {
        bool this = strcmp(f->factors[i].name, factor) == 0;
        parts[i] = this ? n : 1;
        found |= this;
    }
    cr_assert(found, "no factor %s", factor);
    const clv_shard_op o = { m->types, op, m->costs, f };
    cr_assert_eq(clv_shard_cost(&o, parts, arena, &part, &m->err), CLV_OK);
    return part;
}

Test(experts, parts_of_one_operator_are_smaller_mixtures)
{
    const clv_kernel_shape w = mixtral(64);
    add_operator(&w);
    clv_op_cost by_tokens = part_of("y", "t", 4), by_experts = part_of("y", "e", 4),
                by_columns = part_of("y", "i", 4);
    cr_expect(by_tokens.shape.tokens == 16 && by_tokens.shape.parts == 1 &&
              by_tokens.shape.intermediate == 14336);
    cr_expect(by_experts.shape.tokens == 64 && by_experts.shape.parts == 4 &&
              by_experts.shape.experts == 8 && by_experts.shape.intermediate == 14336);
    cr_expect(by_columns.shape.tokens == 64 && by_columns.shape.parts == 1 &&
              by_columns.shape.intermediate == 3584);
    (void)as_kernels();
    const clv_device_kind *kind = h100();
    by_experts = part_of("y", "e", 4);
    cr_expect_eq(clv_op_time_ns(&by_experts, kind, INT64_MAX),
                 (int64_t)ceil(table_ns(kind, &by_experts.shape)));
}

/* -- written out -- */

typedef struct {
    int32_t written; /* experts that there are, of those that are chosen from */
    bool wide;       /* the last one has twice the columns */
    bool shown;      /* the model returns what the first one computes */
    bool added;      /* something else is added behind them */
} variant;

/* What an expert computes of `in`: down[e]. */
static void add_mlp(const clv_kernel_shape *w, const char *in, int32_t e, bool wide)
{
    int64_t inner = w->intermediate * (wide ? 2 : 1);
    made_weight(m, name("a", e), w->weights, pair(w->hidden, inner));
    made_weight(m, name("b", e), w->weights, pair(inner, w->hidden));
    made_op(m, "MatMul", clv_arena_printf(arena, "%s,a%d", in, (int)e), name("up", e));
    made_op(m, "Sigmoid", name("up", e), name("sigmoid", e));
    made_op(m, "Mul", clv_arena_printf(arena, "up%d,sigmoid%d", (int)e, (int)e), name("act", e));
    if (w->gated) {
        made_weight(m, name("v", e), w->weights, pair(w->hidden, inner));
        made_op(m, "MatMul", clv_arena_printf(arena, "%s,v%d", in, (int)e), name("value", e));
        made_op(m, "Mul", clv_arena_printf(arena, "act%d,value%d", (int)e, (int)e),
                name("inner", e));
    }
    made_op(m, "MatMul",
            clv_arena_printf(arena, "%s%d,b%d", w->gated ? "inner" : "act", (int)e, (int)e),
            name("down", e));
}

static void add_expert(const clv_kernel_shape *w, int32_t e, bool wide)
{
    add_mlp(w, "x", e, wide);
    made_ints(m, name("from", e), number(e));
    made_ints(m, name("to", e), number(e + 1));
    made_op(m, "Slice", clv_arena_printf(arena, "gates,from%d,to%d,one", (int)e, (int)e),
            name("gate", e));
    made_op(m, "Mul", clv_arena_printf(arena, "down%d,gate%d", (int)e, (int)e), name("part", e));
}

static void add_router(const clv_kernel_shape *w)
{
    made_input(m, "x", w->weights, pair(w->tokens, w->hidden));
    made_weight(m, "wr", w->weights, pair(w->hidden, w->experts));
    made_ints(m, "zero", "0");
    made_ints(m, "one", "1");
    made_ints(m, "k", number(w->top_k));
    made_op(m, "MatMul", "x,wr", "logits");
    made_op(m, "Softmax", "logits", "scores");
    made_op(m, "TopK", "scores,k", "chosen,which");
    made_op(m, "ReduceSum", "chosen,one", "all");
    made_op(m, "Div", "chosen,all", "shares");
}

/* As torch.onnx writes the sum over experts of a dense dispatch. */
static void add_written(const clv_kernel_shape *w, const variant *v)
{
    add_router(w);
    made_weight(m, "zeros", w->weights, pair(w->tokens, w->experts));
    made_op(m, "ScatterElements", "zeros,which,shares", "gates");
    made_attr_int(m, "axis", 1);
    for (int32_t e = 0; e < v->written; e++) {
        add_expert(w, e, v->wide && e == v->written - 1);
        if (e > 0)
            made_op(
                m, "Add",
                clv_arena_printf(arena, "%s,part%d", e > 1 ? name("sum", e - 1) : "part0", (int)e),
                name("sum", e));
    }
    const char *sum = name("sum", v->written - 1);
    if (v->shown)
        made_output(m, "down0");
    if (v->added)
        made_op(m, "Add", clv_arena_printf(arena, "%s,x", sum), "residual");
    made_output(m, v->added ? "residual" : sum);
    made_build(m);
}

static int64_t whole_ns(const clv_device_kind *kind)
{
    int64_t ns = 0;
    for (int32_t i = 0; i < m->model->main->n_ops; i++)
        if (m->costs->of[i].shape.kind == CLV_SHAPE_EXPERTS)
            ns += clv_op_time_ns(&m->costs->of[i], kind, INT64_MAX);
    return ns;
}

Test(experts, written_out_cost_as_one_kernel)
{
    const clv_device_kind *kind = h100();
    for (int32_t gated = 0; gated < 2; gated++) {
        clv_kernel_shape w = mixtral(16);
        w.gated = gated;
        m = made_new_of(arena, 160);
        add_written(&w, &(variant){ .written = 8, .added = true });
        const clv_kernels *kernels = as_kernels();
        clv_op_cost sum = { .starts = 0 };
        cr_assert_eq(n_mixtures(kernels), 1);
        const clv_kernel *k = &kernels->at[kernels->of[made_writer(m, "down3").i]];
        for (int32_t i = 0; i < k->n; i++) {
            const clv_op_cost *one = &m->costs->of[kernels->members[k->first + i].i];
            sum.flops += one->flops;
            sum.read_bytes += one->read_bytes;
            sum.write_bytes += one->write_bytes;
            sum.starts += one->starts;
            sum.workspace_bytes = one->workspace_bytes > sum.workspace_bytes ? one->workspace_bytes
                                                                             : sum.workspace_bytes;
        }
        int64_t matrices = gated ? 3 : 2, rows = 16 * 2, hidden = 4096, inner = 14336;
        cr_expect_eq(sum.flops, 2 * rows * matrices * hidden * inner, "2 of 8 experts a token");
        cr_expect_eq(sum.read_bytes, 2 * (8 * matrices * hidden * inner +
                                          rows * ((matrices - 1) * hidden + inner)));
        cr_expect_eq(sum.write_bytes, 2 * rows * (inner + hidden));
        cr_expect(fabs(sum.starts - 1) < 1e-9);
        cr_expect_eq(sum.workspace_bytes, 2 * rows * (gated ? 3 : 2) * inner);
        cr_expect(kernels->inside[clv_op_output(m->model->main,
                                                clv_op_at(m->model->main, made_writer(m, "up0")), 0)
                                      .i]);
        cr_expect_neq(kernels->of[made_writer(m, "residual").i],
                      kernels->of[made_writer(m, "down0").i], "what is added is not of it");
        double ns = table_ns(kind, &w);
        cr_expect(fabs((double)whole_ns(kind) - ns) <= 8.0 * 3, "%lld of %g",
                  (long long)whole_ns(kind), ns);
    }
}

Test(experts, a_part_of_all_products_is_a_smaller_mixture)
{
    const clv_device_kind *kind = h100();
    clv_kernel_shape w = mixtral(64);
    add_written(&w, &(variant){ .written = 8 });
    (void)as_kernels();
    int64_t ns = 0;
    for (int32_t e = 0; e < 8; e++) {
        const clv_op_cost up = part_of(name("up", e), "n", 4),
                          value = part_of(name("value", e), "n", 4),
                          down = part_of(name("down", e), "k", 4);
        cr_expect(up.shape.intermediate == 3584 && up.shape.hidden == 4096);
        cr_expect(down.shape.intermediate == 3584 && down.shape.hidden == 4096);
        cr_expect_eq(up.flops, 2 * 16 * (int64_t)4096 * 3584, "64 * 2 / 8 rows");
        ns += clv_op_time_ns(&up, kind, INT64_MAX) + clv_op_time_ns(&value, kind, INT64_MAX) +
              clv_op_time_ns(&down, kind, INT64_MAX);
    }
    w.intermediate = 3584;
    cr_expect(fabs((double)ns - table_ns(kind, &w)) <= 8.0 * 3);
    const clv_op_cost rows = part_of("up0", "m", 4);
    cr_expect(rows.shape.tokens == 16 && rows.shape.intermediate == 14336);
}

/* Of each expert the tokens that chose it, as many as there are when the model runs, gathered and
 * added back, as torch.onnx writes the loop of Hugging Face's Mixtral. */
static void add_gathered(const clv_kernel_shape *w)
{
    add_router(w);
    made_ints(m, "experts", number(w->experts));
    made_ints(m, "off_on", "0,1");
    made_weight(m, "sum", w->weights, pair(w->tokens, w->hidden));
    made_op(m, "OneHot", "which,experts,off_on", "hot");
    made_op(m, "Transpose", "hot", "mask");
    made_attr_ints(m, "perm", "2,1,0");
    for (int32_t e = 0; e < w->experts; e++) {
        int i = (int)e;
        made_ints(m, name("e", e), number(e));
        made_op(m, "Gather", clv_arena_printf(arena, "mask,e%d", i), name("row", e));
        made_op(m, "Squeeze", clv_arena_printf(arena, "row%d,zero", i), name("own", e));
        made_op(m, "NonZero", name("own", e), name("places", e));
        made_op(m, "Transpose", name("places", e), name("hit", e));
        made_op(m, "Gather", clv_arena_printf(arena, "hit%d,zero", i), name("choice", e));
        made_attr_int(m, "axis", 1);
        made_op(m, "Gather", clv_arena_printf(arena, "hit%d,one", i), name("token", e));
        made_attr_int(m, "axis", 1);
        made_op(m, "Squeeze", clv_arena_printf(arena, "token%d,one", i), name("tokens", e));
        made_op(m, "Gather", clv_arena_printf(arena, "x,tokens%d", i), name("in", e));
        add_mlp(w, name("in", e), e, false);
        made_op(m, "Concat", clv_arena_printf(arena, "token%d,choice%d", i, i), name("at", e));
        made_attr_int(m, "axis", 1);
        made_op(m, "GatherND", clv_arena_printf(arena, "shares,at%d", i), name("share", e));
        made_op(m, "Unsqueeze", clv_arena_printf(arena, "share%d,one", i), name("gate", e));
        made_op(m, "Mul", clv_arena_printf(arena, "down%d,gate%d", i, i), name("part", e));
        made_op(m, "Shape", name("part", e), name("size", e));
        made_op(m, "Expand", clv_arena_printf(arena, "token%d,size%d", i, i), name("index", e));
        made_op(m, "ScatterElements",
                clv_arena_printf(arena, "%s,index%d,part%d", e ? name("sum", e - 1) : "sum", i, i),
                name("sum", e));
        made_attr_int(m, "axis", 0);
        made_attr_str(m, "reduction", "add");
    }
    made_op(m, "Add", clv_arena_printf(arena, "%s,x", name("sum", (int32_t)w->experts - 1)),
            "residual");
    made_output(m, "residual");
    made_build(m);
}

Test(experts, that_gather_their_tokens_cost_as_those_that_see_all)
{
    const clv_device_kind *kind = h100();
    const clv_kernel_shape w = mixtral(16);
    m = made_new_of(arena, 320);
    add_gathered(&w);
    cr_expect_eq(made_cost(m, "up0")->flops, 0, "as an operator its rows are open");
    int32_t open = m->costs->n_unsized;
    const clv_kernels *kernels = as_kernels();
    cr_assert_eq(n_mixtures(kernels), 1);
    int32_t of = kernels->of[made_writer(m, "down0").i];
    cr_expect(kernels->of[made_writer(m, "in7").i] == of &&
              kernels->of[made_writer(m, "sum7").i] == of &&
              kernels->of[made_writer(m, "residual").i] != of);
    cr_expect(fabs((double)whole_ns(kind) - table_ns(kind, &w)) <= 8.0 * 3);
    cr_expect(open > 0 && m->costs->n_unsized == 0, "its rows are those that are chosen");
}

Test(experts, that_are_no_mixture_stay_products)
{
    static const variant none[] = { { .written = 7 },
                                    { .written = 8, .wide = true },
                                    { .written = 8, .shown = true } };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        const clv_kernel_shape w = mixtral(16);
        m = made_new_of(arena, 160);
        add_written(&w, &none[i]);
        cr_expect_eq(n_mixtures(as_kernels()), 0, "variant %d", (int)i);
        cr_expect_eq(made_cost(m, "up0")->shape.kind, CLV_SHAPE_PRODUCT);
    }
}
