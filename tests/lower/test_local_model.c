/* What one device of a mesh runs: as many nanoseconds as the strategy problem says, and a graph
 * like any other. */
#include "lower/local_model.h"

#include "cost/made_shards.h"
#include "cost/op_time.h"
#include "cost/shard_parted.h"
#include "cost/shard_path_bound.h"
#include "problem/intra_op_problem.h"

#define N_DEVICES 4

static clv_arena *arena;
static made *m;
static clv_device_kind kind;
static clv_device devices[N_DEVICES];
static clv_route routes[N_DEVICES * N_DEVICES];
static clv_cluster cluster;
static const clv_mesh *mesh;
static clv_resharder *resharder;
static clv_shard_problem *problem;
static clv_local_model *local;
static uint64_t state;

static void setup(void)
{
    arena = clv_arena_new(NULL, 0);
    m = made_new(arena);
    state = 1;
    kind = made_kind();
    for (int d = 0; d < N_DEVICES; d++) {
        devices[d] = (clv_device){ 0, "device" };
        for (int e = 0; e < N_DEVICES; e++)
            routes[d * N_DEVICES + e] =
                (clv_route){ .latency_ns = d == e ? 0 : 1000, .bytes_per_s = 1e11 };
    }
    cluster = (clv_cluster){ .name = "four",
                             .n_kinds = 1,
                             .n_devices = N_DEVICES,
                             .kinds = &kind,
                             .devices = devices,
                             .routes = routes };
}
static void teardown(void) { clv_arena_free(arena); }
TestSuite(local_model, .init = setup, .fini = teardown);

static int32_t below(int32_t n)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int32_t)((state >> 33) % (uint64_t)n);
}

/* x, a residual around two products, and their sum: x is read twice. */
static void mlp(void)
{
    made_input(m, "x", CLV_DT_FLOAT, "8,64,128");
    made_weight(m, "up", CLV_DT_FLOAT, "128,512");
    made_weight(m, "down", CLV_DT_FLOAT, "512,128");
    made_op(m, "MatMul", "x,up", "a");
    made_op(m, "Relu", "a", "b");
    made_op(m, "MatMul", "b,down", "c");
    made_op(m, "Add", "x,c", "y");
    made_op(m, "Softmax", "y", "z");
}

static clv_shard_tables *tables;

static void build(const char *form)
{
    made_build(m);
    mesh = made_mesh(m, &cluster, form);
    made_shards s = made_shards_of(m, &cluster, mesh, false, CLV_INTRA_OP_UNLIMITED);
    resharder = s.resharder;
    tables = s.tables;
    problem = s.problem;
}

static void make_local(const int32_t *answer)
{
    const clv_sharded_model sharded = { m->model, m->costs, problem, answer, resharder };
    clv_status s = clv_local_model_make(&sharded, arena, &local, &m->err);
    cr_assert_eq(s, CLV_OK, "%s", m->err.message);
}

static int64_t local_ns(void)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < local->model->main->n_ops; i++) {
        const clv_op_cost *c = &local->costs->of[i];
        sum += clv_op_time_ns(c, &kind, clv_op_workspace(c, &kind, 1));
    }
    return sum;
}

/* Order, readers and producers agree. */
static void expect_graph(void)
{
    const clv_graph *g = local->model->main;
    for (int32_t i = 0; i < g->n_ops; i++) {
        for (int32_t k = 0; k < g->ops[i].n_in; k++) {
            clv_tensor t = clv_op_input(g, &g->ops[i], k);
            bool listed = false;
            cr_assert_lt(g->tensors[t.i].producer.i, i);
            for (int32_t r = 0; r < g->tensors[t.i].n_readers; r++)
                listed |= g->readers_of[g->tensors[t.i].first_reader + r].i == i;
            cr_assert(listed);
        }
        for (int32_t k = 0; k < g->ops[i].n_out; k++)
            cr_assert_eq(g->tensors[clv_op_output(g, &g->ops[i], k).i].producer.i, i);
    }
}

static void try_answers(int32_t n)
{
    const clv_intra_op_problem *p = problem->problem;
    int32_t *answer = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    clv_intra_op_value value;
    for (int32_t round = 0; round < n; round++) {
        for (int32_t v = 0; v < p->n_nodes; v++)
            answer[v] = round == 0 ? 0 : below(clv_intra_op_n_choices(p, v));
        cr_assert_eq(clv_intra_op_judge(p, answer, arena, &value, &m->err), CLV_OK);
        make_local(answer);
        cr_assert_eq((int64_t)value.cost, local_ns(), "answer %d: %lld and %lld ns", round,
                     (long long)value.cost, (long long)local_ns());
        expect_graph();
    }
}

Test(local_model, a_device_takes_as_long_as_the_strategies_cost)
{
    mlp();
    build("4");
    try_answers(300);
}

Test(local_model, on_two_axes_too)
{
    mlp();
    build("2x2");
    try_answers(300);
}

Test(local_model, without_a_split_it_is_the_model)
{
    mlp();
    build("2");
    int32_t *answer = CLV_NEW_ARRAY(arena, int32_t, problem->problem->n_nodes);
    make_local(answer);
    cr_assert_eq(local->model->main->n_ops, m->model->main->n_ops);
    cr_assert_eq(local->n_communications, 0);
    for (int32_t i = 0; i < local->model->main->n_ops; i++)
        cr_expect_eq(local->costs->of[i].flops, m->costs->of[i].flops);
    cr_assert_eq(local->costs->total.weight_bytes, m->costs->total.weight_bytes);
}

/* By hand: columns of `up`, rows of `down`, one sum behind it. */
Test(local_model, columns_then_rows_need_one_all_reduce)
{
    mlp();
    build("4");
    const clv_intra_op_problem *p = problem->problem;
    int32_t *answer = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    const clv_graph *g = m->model->main;
    for (int32_t i = 0; i < 3; i++) {
        int32_t node = problem->node_of_op[i];
        for (int32_t c = 0; c < clv_intra_op_n_choices(p, node); c++) {
            answer[node] = c;
            clv_layout out = clv_shard_made(problem, answer, clv_op_output(g, &g->ops[i], 0));
            if (i < 2 ? out.dim[0] == 2 : out.dim[0] == CLV_AXIS_PARTIAL)
                break;
        }
    }
    make_local(answer);
    cr_assert_eq(local->n_communications, 1);
    cr_assert_eq(local->communications[0].step.kind, CLV_STEP_ALL_REDUCE);
    cr_assert_eq(local->costs->total.weight_bytes, 2 * 128 * 512 * 4 / 4);
    cr_assert_eq(local->costs->of[0].flops, m->costs->of[0].flops / 4);
}

static bool reads(const clv_op_info *op, clv_tensor whole)
{
    const clv_graph *g = local->model->main;
    bool any = false;
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(g, op, k);
        any |= t.i >= 0 && local->tensor_of[t.i].i == whole.i;
    }
    return any;
}

/* Collectives are where lowering puts them, and no unit is without an operator of the model: a
 * stage of collectives alone would be none. */
static void expect_collectives_beside_operators(const clv_subgraphs *units)
{
    const clv_graph *g = local->model->main;
    for (int32_t u = 0; u < units->n; u++) {
        bool any = units->at[u].n == 0;
        for (int32_t k = 0; k < units->at[u].n; k++)
            any |= local->op_of[units->order[units->at[u].first + k].i].i >= 0;
        cr_assert(any, "unit %d of %d has collectives alone", (int)u, (int)units->n);
    }
    for (int32_t i = 0; i < g->n_ops; i++) {
        if (local->communication_of[i] < 0)
            continue;
        const clv_communication *c = &local->communications[local->communication_of[i]];
        int32_t with = local->costs->goes_with[i].i, of = local->op_of[with].i;
        cr_assert_eq(units->of[i], units->of[with]);
        if (c->reader.i >= 0)
            cr_assert(of == c->reader.i && reads(&g->ops[with], c->tensor));
        else
            cr_assert_eq(of, clv_tensor_at(m->model->main, c->tensor)->producer.i);
    }
}

static void cut_into_units(int32_t rounds)
{
    const clv_intra_op_problem *p = problem->problem;
    int32_t *answer = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    int32_t n_collectives = 0;
    for (int32_t round = 0; round < rounds; round++) {
        clv_subgraphs *units;
        for (int32_t v = 0; v < p->n_nodes; v++)
            answer[v] = below(clv_intra_op_n_choices(p, v));
        make_local(answer);
        n_collectives += local->n_communications;
        int32_t n = local->model->main->n_ops;
        clv_op *all = CLV_NEW_ARRAY(arena, clv_op, n);
        int32_t *mark = CLV_NEW_ARRAY(arena, int32_t, n);
        for (int32_t i = 0; i < n; i++) {
            all[i] = (clv_op){ i };
            mark[i] = below(3);
        }
        for (int32_t merged = 0; merged < 2; merged++) {
            cr_assert_eq(clv_subgraphs_build(local->costs, merged, arena, &units, &m->err), CLV_OK);
            expect_collectives_beside_operators(units);
            cr_assert_eq(clv_subgraphs_split(local->costs, units, mark, arena, &units, &m->err),
                         CLV_OK);
            expect_collectives_beside_operators(units);
        }
        cr_assert_eq(clv_subgraphs_of_nodes(local->costs, all, n, arena, &units, &m->err), CLV_OK);
        expect_collectives_beside_operators(units);
    }
    cr_assert_gt(n_collectives, rounds, "%d collectives are too few to say much", n_collectives);
}

Test(local_model, no_unit_is_collectives_alone)
{
    mlp();
    build("2x2");
    cut_into_units(200);
}

/* No operator of it reads two results, so that each is a candidate. */
Test(local_model, nor_is_one_of_a_chain)
{
    made_input(m, "x", CLV_DT_FLOAT, "8,64,128");
    made_weight(m, "up", CLV_DT_FLOAT, "128,512");
    made_weight(m, "down", CLV_DT_FLOAT, "512,128");
    made_op(m, "MatMul", "x,up", "a");
    made_op(m, "Relu", "a", "b");
    made_op(m, "MatMul", "b,down", "c");
    build("4");
    cut_into_units(200);
}

static int64_t cheapest(void)
{
    const clv_intra_op_problem *p = problem->problem;
    int32_t *answer = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes), v = 0;
    clv_intra_op_value value;
    int64_t least = INT64_MAX;
    while (v < p->n_nodes) { /* counts through all answers */
        cr_assert_eq(clv_intra_op_judge(p, answer, arena, &value, &m->err), CLV_OK);
        least = (int64_t)value.cost < least ? (int64_t)value.cost : least;
        for (v = 0; v < p->n_nodes && ++answer[v] == clv_intra_op_n_choices(p, v); v++)
            answer[v] = 0;
    }
    return least;
}

/* Dealt out to so many stages that the way alone counts, or to these. */
static clv_int128 path_ns_of(const clv_shard_path **way, int32_t stages)
{
    clv_int128 ns;
    cr_assert_eq(clv_shard_path_find(m->costs, &kind, arena, way, &m->err), CLV_OK);
    cr_assert_eq(clv_shard_path_bound_ns(tables, *way, stages, &ns, &m->err), CLV_OK);
    return ns;
}

static clv_int128 path_ns(const clv_shard_path **way) { return path_ns_of(way, 1000); }

/* The path leaves out the branch beside it: no answer of the whole costs less than the path's best.
 */
Test(local_model, the_longest_way_costs_no_more_than_the_whole)
{
    const clv_shard_path *way;
    mlp();
    made_op(m, "Sigmoid", "x", "gate");
    made_op(m, "Mul", "z,gate", "out");
    build("2");
    int64_t whole = cheapest();
    clv_int128 ns = path_ns(&way), least;
    cr_expect_eq(way->in[0], CLV_PATH_START);
    cr_expect_eq(way->in[5], CLV_PATH_OFF, "the gate is beside the way");
    cr_expect_eq(way->in[6], 0);
    cr_expect_leq(ns, whole);
    cr_expect_gt(ns, whole / 2);
    cr_assert_eq(clv_shard_least(tables, &least, &m->err), CLV_OK);
    cr_expect_leq(least, whole);
    cr_expect_gt(least, 0);
}

static int64_t least_ns(int32_t op)
{
    const clv_op_table *table;
    cr_assert_eq(clv_shard_table_of(tables, (clv_op){ op }, &table, &m->err), CLV_OK);
    return table->least_ns;
}

/* Four equal experts between two cuts: on two stages two of them wait for each other. */
Test(local_model, what_is_beside_the_way_is_dealt_out)
{
    const clv_shard_path *way;
    m = made_new(arena);
    made_input(m, "x", CLV_DT_FLOAT, "64,512");
    made_op(m, "Relu", "x", "in");
    made_op(m, "Relu", "in", "a");
    for (int32_t e = 0; e < 4; e++) {
        made_weight(m, clv_arena_printf(arena, "w%d", e), CLV_DT_FLOAT, "512,512");
        made_op(m, "MatMul", clv_arena_printf(arena, "a,w%d", e),
                clv_arena_printf(arena, "e%d", e));
    }
    made_op(m, "Sum", "e0,e1,e2,e3", "s");
    made_op(m, "Relu", "s", "out");
    build("2");
    int64_t alone = (int64_t)path_ns(&way), whole = 0;
    for (int32_t i = 0; i < 8; i++)
        whole += least_ns(i);
    cr_assert_eq(way->n_windows, 3, "before the second Relu, experts, behind the Sum");
    cr_expect_eq(way->window[1].begin, 1);
    cr_expect_eq(way->window[1].end, 6);
    cr_expect_eq(way->window[1].n, 4);
    cr_expect_geq((int64_t)path_ns_of(&way, 1), whole);
    cr_expect_geq((int64_t)path_ns_of(&way, 2), whole - 2 * least_ns(2));
    cr_expect_eq((int64_t)path_ns_of(&way, 4), alone, "one each");
    cr_expect_gt((int64_t)path_ns_of(&way, 3), alone);
}

/* A pipeline does not come back to a stage that it has left: of two pairs of branches, each between
 * two cuts, one pair at most runs on two stages. */
Test(local_model, two_stages_part_one_window)
{
    const clv_shard_path *way;
    m = made_new(arena);
    made_input(m, "x", CLV_DT_FLOAT, "64,512");
    made_op(m, "Relu", "x", "in");
    made_op(m, "Relu", "in", "c0");
    for (int32_t pair = 0; pair < 2; pair++) {
        for (int32_t i = 0; i < 2; i++) {
            const char *name = clv_arena_printf(arena, "w%d_%d", pair, i);
            made_weight(m, name, CLV_DT_FLOAT, "512,512");
            made_op(m, "MatMul", clv_arena_printf(arena, "c%d,%s", pair, name),
                    clv_arena_printf(arena, "b%d_%d", pair, i));
        }
        made_op(m, "Add", clv_arena_printf(arena, "b%d_0,b%d_1", pair, pair),
                clv_arena_printf(arena, "c%d", pair + 1));
    }
    made_op(m, "Relu", "c2", "out");
    build("2");
    int64_t alone = (int64_t)path_ns(&way);
    cr_assert_eq(way->n_windows, 4);
    cr_expect_eq((int64_t)path_ns_of(&way, 3), alone, "three stages may part both");
    cr_expect_eq((int64_t)path_ns_of(&way, 2), alone + least_ns(2));
    cr_expect_geq((int64_t)path_ns_of(&way, 1), alone + 2 * least_ns(2));
}

/* Whatever graph: no pipeline of so many stages, each operator at its least time and nothing sent,
 * is done sooner than the bound says where nothing can be split. */
static int64_t makespan(int32_t stages, const int32_t *stage_of, const int32_t *order)
{
    const clv_graph *g = m->model->main;
    int64_t free_at[4] = { 0 }, end[16] = { 0 }, last = 0;
    for (int32_t k = 0; k < g->n_ops; k++) {
        int32_t i = order[k];
        int64_t start = free_at[stage_of[i] % stages];
        for (int32_t n = 0; n < g->ops[i].n_in; n++) {
            clv_tensor t = clv_op_input(g, &g->ops[i], n);
            int32_t p = clv_tensor_at(g, t)->producer.i;
            if (p >= 0 && end[p] > start)
                start = end[p];
        }
        free_at[stage_of[i] % stages] = end[i] = start + least_ns(i);
        last = end[i] > last ? end[i] : last;
    }
    return last;
}

static uint32_t drawn(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static void random_graph(uint32_t *seed, int32_t n, const char *dims)
{
    m = made_new(arena);
    made_input(m, "t0", CLV_DT_FLOAT, dims);
    for (int32_t i = 1; i <= n; i++) {
        int32_t back = (int32_t)drawn(seed, 3), a = i - 1 - back % i;
        int32_t b = (int32_t)drawn(seed, (uint32_t)i);
        made_op(m, drawn(seed, 2) ? "Add" : "Pow", clv_arena_printf(arena, "t%d,t%d", a, b),
                clv_arena_printf(arena, "t%d", i));
    }
}

/* None is before that of an input. */
static void draw_stages(uint32_t *seed, int32_t stages, int32_t *stage_of)
{
    const clv_graph *g = m->model->main;
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t first = 0;
        for (int32_t k = 0; k < g->ops[i].n_in; k++) {
            int32_t p = clv_tensor_at(g, clv_op_input(g, &g->ops[i], k))->producer.i;
            first = p >= 0 && stage_of[p] > first ? stage_of[p] : first;
        }
        bool stays = drawn(seed, 2) == 0;
        stage_of[i] = stays ? first : first + (int32_t)drawn(seed, (uint32_t)(stages - first));
    }
}

Test(local_model, no_schedule_is_done_before_the_windows)
{
    uint32_t seed = 7;
    for (int32_t round = 0; round < 60; round++) {
        const clv_shard_path *way;
        int32_t n = 2 + (int32_t)drawn(&seed, 9), stage_of[16], order[16];
        random_graph(&seed, n, "3,5");
        build("2");
        for (int32_t stages = 1; stages <= 3; stages++) {
            clv_int128 bound = path_ns_of(&way, stages);
            for (int32_t i = 0; i < n; i++)
                order[i] = i;
            for (int32_t t = 0; t < 400; t++) {
                draw_stages(&seed, stages, stage_of);
                cr_assert_geq(makespan(stages, stage_of, order), (int64_t)bound,
                              "round %d, %d stages", round, stages);
            }
        }
    }
}

/* -- what a pipeline saves -- */

/* Of all edges between two nodes. */
static int64_t edges_ns(const int32_t *choice, int32_t a, int32_t b)
{
    const clv_intra_op_problem *p = problem->problem;
    int64_t sum = 0;
    for (int32_t e = 0; e < p->n_edges; e++) {
        const int32_t *end = p->end + p->first_end[e];
        if (end[0] == a && end[1] == b)
            sum += p->entry[p->first_entry[p->matrix_of[e]] +
                            choice[a] * (int64_t)clv_intra_op_n_choices(p, b) + choice[b]];
    }
    return sum;
}

/* A pipeline of these choices, nothing sent: each stage does its operators in order, brings what it
 * made to where it lies at once, and what it needs to where it is needed as soon as it has it. */
static int64_t pipeline_ns(const int32_t *choice, const int32_t *stage_of)
{
    const clv_graph *g = m->model->main;
    const clv_intra_op_problem *p = problem->problem;
    int64_t free_at[4] = { 0 }, there[32] = { 0 }, last = 0;
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t node = problem->node_of_op[i], in[2], n = 0;
        int64_t *now = &free_at[stage_of[i]];
        for (int32_t k = 0; k < g->ops[i].n_in; k++) {
            int32_t t = clv_op_input(g, &g->ops[i], k).i;
            if (n == 0 || in[0] != t)
                in[n++] = t;
        }
        bool turn = n == 2 && there[in[1]] < there[in[0]];
        for (int32_t k = 0; k < n; k++) {
            int32_t t = in[turn ? 1 - k : k], home = problem->node_of_tensor[t];
            int32_t maker = g->tensors[t].producer.i;
            int32_t from = home >= 0 ? home : maker >= 0 ? problem->node_of_op[maker] : -1;
            *now = there[t] > *now ? there[t] : *now;
            *now += from >= 0 ? edges_ns(choice, from, node) : 0;
        }
        *now += p->cost[p->first_choice[node] + choice[node]];
        int32_t result = clv_op_output(g, &g->ops[i], 0).i, home = problem->node_of_tensor[result];
        *now += home >= 0 ? edges_ns(choice, node, home) : 0;
        there[result] = *now;
        last = *now > last ? *now : last;
    }
    return last;
}

static void draw_choices(uint32_t *seed, int32_t *choice)
{
    const clv_intra_op_problem *p = problem->problem;
    for (int32_t v = 0; v < p->n_nodes; v++)
        choice[v] = (int32_t)drawn(seed, (uint32_t)clv_intra_op_n_choices(p, v));
}

/* From any choices those of one node after the other that make the pipeline fastest. */
static int64_t descend(int32_t *choice, const int32_t *stage_of)
{
    const clv_intra_op_problem *p = problem->problem;
    int64_t least = pipeline_ns(choice, stage_of);
    for (int32_t turn = 0; turn < 2; turn++)
        for (int32_t v = 0; v < p->n_nodes; v++)
            for (int32_t c = 0, best = choice[v]; c < clv_intra_op_n_choices(p, v); c++) {
                choice[v] = c;
                int64_t ns = pipeline_ns(choice, stage_of);
                best = ns < least ? c : best;
                least = ns < least ? ns : least;
                choice[v] = best;
            }
    return least;
}

/* What solutions cost at least, by descent from many: the optimum or a little more, so that what
 * is tested is no easier. */
static int64_t one_stage_ns(uint32_t *seed)
{
    static const int32_t one_stage[16] = { 0 };
    int32_t choice[64];
    int64_t least = INT64_MAX;
    for (int32_t i = 0; i < 12; i++) {
        draw_choices(seed, choice);
        int64_t ns = descend(choice, one_stage);
        clv_intra_op_value value;
        cr_assert_eq(clv_intra_op_judge(problem->problem, choice, arena, &value, &m->err), CLV_OK);
        cr_assert_eq(ns, (int64_t)value.cost, "one stage does all of it");
        least = ns < least ? ns : least;
    }
    return least;
}

Test(local_model, no_pipeline_saves_more_than_is_said)
{
    uint32_t seed = 11;
    int32_t n_tight = 0;
    for (int32_t round = 0; round < 40; round++) {
        const clv_shard_path *way;
        clv_int128 saved;
        int32_t stage_of[16], choice[64], n = 3 + (int32_t)drawn(&seed, 7);
        random_graph(&seed, n, "1024,1024");
        build("2");
        cr_assert_leq(problem->problem->n_nodes, 64);
        int64_t whole = one_stage_ns(&seed);
        (void)path_ns(&way);
        for (int32_t stages = 1; stages <= 3; stages++) {
            cr_assert_eq(clv_shard_parted_ns(problem, way, stages, arena, &saved, &m->err), CLV_OK);
            cr_assert_geq((int64_t)saved, 0);
            n_tight += stages > 1 && saved < whole / 2;
            for (int32_t t = 0; t < 20; t++) {
                draw_stages(&seed, stages, stage_of);
                draw_choices(&seed, choice);
                cr_assert_geq(descend(choice, stage_of), whole - (int64_t)saved,
                              "round %d, %d stages", round, stages);
            }
        }
    }
    cr_expect_gt(n_tight, 20, "mostly something is said");
}

/* A chain is its own path, and what the walk finds is the best of all its answers. */
Test(local_model, the_longest_way_of_a_chain_costs_what_its_best_answer_does)
{
    static const char *const forms[] = { "2", "4", "2x2" };
    for (int32_t i = 0; i < 3; i++) {
        const clv_shard_path *way;
        m = made_new(arena);
        made_input(m, "x", CLV_DT_FLOAT, i == 1 ? "8,64,128" : "2,512,16");
        made_weight(m, "up", CLV_DT_FLOAT, i == 1 ? "128,512" : "16,512");
        made_weight(m, "down", CLV_DT_FLOAT, "512,128");
        made_op(m, "MatMul", "x,up", "a");
        made_op(m, "MatMul", "a,down", "b");
        made_op(m, "Softmax", "b", "c");
        build(forms[i]);
        cr_expect_eq((int64_t)path_ns(&way), cheapest(), "mesh %s", forms[i]);
    }
}
