/* What plans take at least along the critical path, against schedules of random models. */
#include "cost/made_pipelines.h"

TestSuite(shard_path, .init = setup, .fini = teardown);

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

/* The path leaves out the branch beside it: no answer of the whole costs less than the path's best.
 */
Test(shard_path, the_longest_way_costs_no_more_than_the_whole)
{
    const clv_shard_path *way;
    made_mlp(m);
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

/* Four equal experts between two cuts: on two stages two of them wait for each other. */
Test(shard_path, what_is_beside_the_way_is_dealt_out)
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
Test(shard_path, two_stages_part_one_window)
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

/* What each layer makes of the first operator's result waits for it and is read late: it leaves the
 * windows of the layers as they are, and lies in none but near the first. */
Test(shard_path, what_runs_beside_a_long_window_is_known)
{
    enum { N_LAYERS = 12, OPS_OF_LAYER = 5 };
    const clv_shard_path *way;
    m = made_new(arena);
    made_input(m, "x", CLV_DT_FLOAT, "64,512");
    made_weight(m, "w", CLV_DT_FLOAT, "512,512");
    made_op(m, "Relu", "x", "in");
    made_op(m, "Relu", "in", "c0");
    for (int32_t i = 0; i < N_LAYERS; i++) {
        made_op(m, "MatMul", "c0,w", clv_arena_printf(arena, "k%d", i));
        for (int32_t b = 0; b < 2; b++)
            made_op(m, "MatMul", clv_arena_printf(arena, "c%d,w", i),
                    clv_arena_printf(arena, "b%d_%d", i, b));
        made_op(m, "Add", clv_arena_printf(arena, "b%d_0,b%d_1", i, i),
                clv_arena_printf(arena, "s%d", i));
        made_op(m, "Add", clv_arena_printf(arena, "s%d,k%d", i, i),
                clv_arena_printf(arena, "c%d", i + 1));
    }
    made_op(m, "Relu", clv_arena_printf(arena, "c%d", N_LAYERS), "out");
    build("2");
    path_ns(&way);
    cr_expect_gt(way->n_windows, N_LAYERS / 2);
    cr_expect_gt(way->n_beside, N_LAYERS / 2);
    cr_expect_lt(way->n_beside, N_LAYERS);
    int32_t n = 0;
    for (int32_t i = 0; i < m->model->main->n_ops; i++) {
        n += way->beside[i];
        cr_expect(!way->beside[i] || i % OPS_OF_LAYER == 2, "operator %d", i);
    }
    cr_expect_eq(way->n_beside, n);
    cr_expect(way->beside[2 + OPS_OF_LAYER * (N_LAYERS - 1)]);
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

Test(shard_path, no_schedule_is_done_before_the_windows)
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

/* A chain is its own path, and what the walk finds is the best of all its answers. */
Test(shard_path, the_longest_way_of_a_chain_costs_what_its_best_answer_does)
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
