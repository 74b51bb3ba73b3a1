/* What pipelines take at least: all less what stages may share, and from cut to cut; against
 * pipelines of random models, with the best choices and stages that descent finds. */
#include "cost/made_pipelines.h"
#include "cost/shard_cost.h"
#include "cost/shard_parted.h"
#include "cost/shard_parted_problem.h"
#include "support/effort.h"

#define STAGES_MAX  4
#define TENSORS_MAX 64
#define NODES_MAX   64

static clv_cluster linked;        /* stages, each as a device */
static const clv_cluster *meshes; /* those, or NULL: nothing takes time to be sent */

static void begin(void)
{
    setup();
    linked = *cluster;
    meshes = NULL;
}
TestSuite(shard_pipeline, .init = begin, .fini = teardown);

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

/* The tensors that an operator reads, each once, as they are there. */
static int32_t inputs_of(int32_t op, const int64_t *there, int32_t *in)
{
    const clv_graph *g = m->model->main;
    int32_t n = 0;
    for (int32_t k = 0; k < g->ops[op].n_in; k++) {
        int32_t t = clv_op_input(g, &g->ops[op], k).i, at = n;
        bool again = false;
        for (int32_t i = 0; i < n; i++)
            again |= in[i] == t;
        if (again)
            continue;
        for (; at > 0 && there[in[at - 1]] > there[t]; at--)
            in[at] = in[at - 1];
        in[at] = t;
        n++;
    }
    return n;
}

/* How long a tensor is on its way to another stage; there are no meshes: no time. */
static int64_t sent_ns(const int32_t *choice, int32_t t, int32_t reader)
{
    const clv_types *types = problem->types;
    clv_layout layout = clv_shard_home(problem, choice, (clv_tensor){ t });
    for (int32_t k = 0; problem->node_of_tensor[t] < 0 && k < m->model->main->ops[reader].n_in; k++)
        if (clv_op_input(m->model->main, &m->model->main->ops[reader], k).i == t)
            layout = clv_shard_need(problem, choice, (clv_op){ reader }, k);
    int64_t bytes = clv_part_bytes(problem->mesh, &layout, &types->of[t], types->bytes[t]);
    return meshes ? clv_transfer_ns(meshes, 0, 1, bytes) : 0;
}

/* What an operator brings to where its result lies, or to its only reader. */
static int64_t behind_ns(const int32_t *choice, int32_t op)
{
    const clv_graph *g = m->model->main;
    const clv_tensor_info *result = clv_tensor_at(g, clv_op_output(g, &g->ops[op], 0));
    int32_t node = problem->node_of_op[op];
    int32_t home = problem->node_of_tensor[clv_op_output(g, &g->ops[op], 0).i];
    if (home >= 0)
        return edges_ns(choice, node, home);
    return result->n_readers == 0
               ? 0
               : edges_ns(choice, node, problem->node_of_op[g->readers_of[result->first_reader].i]);
}

/* A pipeline of these choices: each stage does its operators in order, brings what it made to where
 * it lies at once, and what it needs to where it is needed as soon as it has it. */
static int64_t pipeline_ns(const int32_t *choice, const int32_t *stage_of)
{
    const clv_graph *g = m->model->main;
    const clv_intra_op_problem *p = problem->problem;
    int64_t free_at[STAGES_MAX] = { 0 }, there[TENSORS_MAX] = { 0 }, last = 0;
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t node = problem->node_of_op[i], in[4], n = inputs_of(i, there, in);
        int64_t *now = &free_at[stage_of[i]];
        for (int32_t k = 0; k < n; k++) {
            int32_t home = problem->node_of_tensor[in[k]], maker = g->tensors[in[k]].producer.i;
            bool is_sent = maker >= 0 && stage_of[maker] != stage_of[i];
            int64_t here = there[in[k]] + (is_sent ? sent_ns(choice, in[k], i) : 0);
            *now = here > *now ? here : *now;
            *now += home >= 0 ? edges_ns(choice, home, node) : 0;
        }
        *now += p->cost[p->first_choice[node] + choice[node]] + behind_ns(choice, i);
        there[clv_op_output(g, &g->ops[i], 0).i] = *now;
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

/* May an operator be on a stage, as its neighbours are? */
static bool may_be_on(const int32_t *stage_of, int32_t op, int32_t stage)
{
    const clv_graph *g = m->model->main;
    const clv_tensor_info *result = clv_tensor_at(g, clv_op_output(g, &g->ops[op], 0));
    for (int32_t k = 0; k < g->ops[op].n_in; k++) {
        int32_t p = clv_tensor_at(g, clv_op_input(g, &g->ops[op], k))->producer.i;
        if (p >= 0 && stage_of[p] > stage)
            return false;
    }
    for (int32_t r = 0; r < result->n_readers; r++)
        if (stage_of[g->readers_of[result->first_reader + r].i] < stage)
            return false;
    return true;
}

/* The fastest pipeline by descent over choices, and over the stage of one operator after the other.
 */
static int64_t descend_both(int32_t *choice, int32_t *stage_of, int32_t stages)
{
    int64_t least = descend(choice, stage_of);
    for (int32_t turn = 0; turn < 2; turn++) {
        for (int32_t i = 0; i < m->model->main->n_ops; i++)
            for (int32_t s = 0, best = stage_of[i]; s < stages; s++) {
                if (!may_be_on(stage_of, i, s))
                    continue;
                stage_of[i] = s;
                int64_t ns = pipeline_ns(choice, stage_of);
                best = ns < least ? s : best;
                least = ns < least ? ns : least;
                stage_of[i] = best;
            }
        int64_t ns = descend(choice, stage_of);
        least = ns < least ? ns : least;
    }
    return least;
}

/* What solutions cost at least, by descent from many: the optimum or a little more, so that what
 * is tested is no easier. */
static int64_t one_stage_ns(uint32_t *seed)
{
    static const int32_t one_stage[32] = { 0 };
    int32_t choice[NODES_MAX];
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

Test(shard_pipeline, no_pipeline_saves_more_than_is_said)
{
    uint32_t seed = 11;
    int32_t n_tight = 0;
    for (int32_t round = 0; round < 40; round++) {
        const clv_shard_path *way;
        clv_int128 saved;
        int32_t stage_of[16], choice[NODES_MAX], n = 3 + (int32_t)drawn(&seed, 7);
        random_graph(&seed, n, "1024,1024");
        build("2");
        cr_assert_leq(problem->problem->n_nodes, NODES_MAX);
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

/* -- from cut to cut -- */

static clv_int128 pipeline_bound(const clv_shard_path *way, int32_t stages)
{
    clv_pipeline_bound bound;
    const clv_pipeline_stages of = { stages, meshes };
    cr_assert_eq(clv_shard_pipeline_bound_ns(problem, way, &of, arena, &bound, &m->err), CLV_OK);
    return bound.ns;
}

/* At times nothing takes time to be sent, or next to none. */
static void draw_link(uint32_t *seed)
{
    static const double rates[] = { 1e9, 1e10, 1e11, 1e12 };
    meshes = drawn(seed, 3) ? &linked : NULL;
    static clv_route between[N_DEVICES * N_DEVICES];
    double rate = rates[drawn(seed, 4)];
    int64_t latency_ns = drawn(seed, 2) ? 1000 : 0;
    for (int32_t i = 0; i < N_DEVICES * N_DEVICES; i++)
        between[i] = (clv_route){ .latency_ns = latency_ns, .bytes_per_s = rate };
    linked.routes = between;
}

/* Blocks one behind the other: branches of one or two operators from the tensor before, one of them
 * longest, with their sum, and at times with what one of the blocks before made. */
static int32_t random_blocks(uint32_t *seed, const char *dims)
{
    static const char *const types[] = { "Softmax", "Transpose", "Relu" };
    int32_t n_blocks = 2 + (int32_t)drawn(seed, 2), n_ops = 1;
    m = made_new(arena);
    made_input(m, "x", CLV_DT_FLOAT, dims);
    made_op(m, "Relu", "x", "c0");
    for (int32_t i = 0; i < n_blocks; i++) {
        const char *sum = NULL;
        int32_t n = 1 + (int32_t)drawn(seed, 3);
        for (int32_t k = 0; k < n; k++) {
            const char *to = clv_arena_printf(arena, "c%d", i);
            for (int32_t depth = drawn(seed, 2) ? 1 : 2; depth > 0; depth--, n_ops++) {
                const char *from = to;
                to = clv_arena_printf(arena, "b%d_%d_%d", i, k, depth);
                made_op(m, types[drawn(seed, 3)], from, to);
            }
            sum = sum ? clv_arena_printf(arena, "%s,%s", sum, to) : to;
        }
        if (n == 1 || drawn(seed, 3) == 0)
            sum = clv_arena_printf(arena, "%s,c%d", sum, (int32_t)drawn(seed, (uint32_t)i + 1));
        made_op(m, "Sum", sum, clv_arena_printf(arena, "c%d", i + 1));
        n_ops++;
    }
    made_op(m, "Relu", clv_arena_printf(arena, "c%d", n_blocks), "out");
    return n_ops + 1;
}

Test(shard_pipeline, no_pipeline_is_faster_than_from_cut_to_cut)
{
    uint32_t seed = 5;
    int32_t n_better = 0, n_exact = 0, rounds = (int32_t)test_effort(24);
    for (int32_t round = 0; round < rounds; round++) {
        const clv_shard_path *way;
        int32_t stage_of[32], choice[NODES_MAX];
        random_blocks(&seed, drawn(&seed, 2) ? "1024,1024" : "64,64");
        draw_link(&seed);
        build("2");
        cr_assert_leq(problem->problem->n_nodes, NODES_MAX);
        int64_t whole = one_stage_ns(&seed);
        for (int32_t stages = 1; stages <= 3; stages++) {
            clv_int128 path = path_ns_of(&way, stages), bound = pipeline_bound(way, stages);
            cr_assert_leq((int64_t)bound, whole, "round %d, %d stages", round, stages);
            n_exact += stages == 1 && bound == whole;
            n_better += stages > 1 && bound > path;
            for (int32_t t = 0; t < 12; t++) {
                draw_stages(&seed, stages, stage_of);
                draw_choices(&seed, choice);
                cr_assert_geq(descend_both(choice, stage_of, stages), (int64_t)bound,
                              "round %d, %d stages", round, stages);
            }
        }
    }
    cr_expect_gt(n_exact, rounds / 2, "one stage is mostly solved, %d times", n_exact);
    cr_expect_gt(n_better, rounds / 2, "mostly more is said than the path says, %d times",
                 n_better);
}

Test(shard_pipeline, nor_of_any_graph)
{
    uint32_t seed = 13;
    for (uint64_t round = 0; round < test_effort(30); round++) {
        const clv_shard_path *way;
        int32_t stage_of[16], choice[NODES_MAX];
        random_graph(&seed, 3 + (int32_t)drawn(&seed, 7), "1024,1024");
        draw_link(&seed);
        build("2");
        (void)path_ns(&way);
        for (int32_t stages = 1; stages <= 3; stages++) {
            clv_int128 bound = pipeline_bound(way, stages);
            for (int32_t t = 0; t < 12; t++) {
                draw_stages(&seed, stages, stage_of);
                draw_choices(&seed, choice);
                cr_assert_geq(descend_both(choice, stage_of, stages), (int64_t)bound,
                              "round %d, %d stages", (int)round, stages);
            }
        }
    }
}

/* Two pairs of branches, each between two cuts, at two stages: one pair is on one stage. What is
 * alike is found once, and a cut in between is passed by no edge. */
Test(shard_pipeline, from_cut_to_cut_one_pair_is_parted)
{
    const clv_shard_path *way;
    m = made_new(arena);
    made_input(m, "x", CLV_DT_FLOAT, "64,512");
    made_op(m, "Relu", "x", "in");
    made_op(m, "Relu", "in", "c0");
    for (int32_t pair = 0; pair < 2; pair++) {
        const char *from = clv_arena_printf(arena, "c%d", pair);
        made_op(m, "Softmax", from, clv_arena_printf(arena, "b%d_0", pair));
        made_op(m, "Softmax", from, clv_arena_printf(arena, "b%d_1", pair));
        made_op(m, "Add", clv_arena_printf(arena, "b%d_0,b%d_1", pair, pair),
                clv_arena_printf(arena, "c%d", pair + 1));
    }
    made_op(m, "Relu", "c2", "out");
    build("2");
    int64_t alone = (int64_t)path_ns(&way);
    cr_expect_eq((int64_t)pipeline_bound(way, 1), alone + 2 * least_ns(2));
    cr_expect_eq((int64_t)pipeline_bound(way, 2), alone + least_ns(2));
    cr_expect_eq((int64_t)pipeline_bound(way, 3), alone);
    cr_expect_eq((int64_t)pipeline_bound(way, 20), alone);
}

/* -- strategies for stages -- */

/* Where stages change, what is dealt out counts as its share and what is sent counts; the choices
 * are the same ones. */
Test(shard_pipeline, strategies_for_stages_count_shares)
{
    const clv_shard_path *way;
    clv_shard_problem *shared;
    clv_pipeline_bound bound;
    m = made_new(arena);
    meshes = &linked;
    made_input(m, "x", CLV_DT_FLOAT, "1024,1024");
    made_op(m, "Relu", "x", "in");
    made_op(m, "Relu", "in", "c0");
    for (int32_t i = 0; i < 4; i++)
        made_op(m, "Softmax", "c0", clv_arena_printf(arena, "b%d", i));
    made_op(m, "Sum", "b0,b1,b2,b3", "c1");
    made_op(m, "Relu", "c1", "out");
    build("2");
    (void)path_ns(&way);
    const clv_pipeline_stages two = { 2, &linked };
    cr_assert_eq(clv_shard_pipeline_bound_ns(problem, way, &two, arena, &bound, &m->err), CLV_OK);
    cr_assert_eq(bound.parted.n, 1);
    cr_expect_eq(bound.parted.at[0].parts, 2);
    cr_expect_eq(bound.parted.at[0].part.n_nodes, 4);
    cr_assert_not_null(bound.parted.at[0].sent_ns);
    cr_assert_eq(clv_shard_parted_problem(problem, &bound.parted, arena, &shared, &m->err), CLV_OK);
    const clv_intra_op_problem *p = problem->problem, *q = shared->problem;
    int32_t choice[NODES_MAX] = { 0 }, from = bound.parted.at[0].part.begin;
    cr_assert_leq(p->n_nodes, NODES_MAX);
    for (int32_t v = 0; v < p->n_nodes; v++)
        choice[v] = clv_intra_op_n_choices(p, v) - 1;
    int64_t all = 0;
    for (int32_t i = 0; i < 4; i++) {
        int32_t v = bound.parted.at[0].part.node[i];
        all += p->cost[p->first_choice[v] + choice[v]] + edges_ns(choice, from, v);
        all += behind_ns(choice, i + 2);
    }
    int64_t sent = bound.parted.at[0].sent_ns[choice[from]];
    cr_expect_gt(sent, 0);
    int64_t less = (int64_t)(clv_intra_op_cost(p, choice) - clv_intra_op_cost(q, choice));
    cr_expect_leq(less, all / 2 - sent / 2 + 16, "each half is rounded down");
    cr_expect_geq(less, all / 2 - sent / 2 - 1);
}
