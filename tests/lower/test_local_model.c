/* What one device of a mesh runs: as many nanoseconds as the strategy problem says, and a graph
 * like any other. */
#include "lower/local_model.h"

#include "cost/made_shards.h"
#include "cost/op_time.h"
#include "problem/intra_op_problem.h"

#define N_DEVICES 4

static clv_arena *arena;
static made *m;
static made_servers servers;
static const clv_cluster *cluster;
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
    cluster = made_servers_set(&servers, N_DEVICES, N_DEVICES);
}
static void teardown(void) { clv_arena_free(arena); }
TestSuite(local_model, .init = setup, .fini = teardown);

static int32_t below(int32_t n)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int32_t)((state >> 33) % (uint64_t)n);
}

static void build(const char *form)
{
    made_build(m);
    mesh = made_mesh(m, cluster, form);
    made_shards s = made_shards_of(m, cluster, mesh, false, CLV_INTRA_OP_UNLIMITED);
    resharder = s.resharder;
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
        sum += clv_op_time_ns(c, &servers.kind,
                              clv_op_workspace(c->workspace_bytes, &servers.kind, 1));
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
    made_mlp(m);
    build("4");
    try_answers(300);
}

Test(local_model, on_two_axes_too)
{
    made_mlp(m);
    build("2x2");
    try_answers(300);
}

Test(local_model, without_a_split_it_is_the_model)
{
    made_mlp(m);
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
    made_mlp(m);
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
    made_mlp(m);
    build("2x2");
    cut_into_units(200);
}

/* No operator of it reads two results, so that each is a candidate. */
Test(local_model, nor_is_one_of_a_chain)
{
    made_two_products(m);
    build("4");
    cut_into_units(200);
}
