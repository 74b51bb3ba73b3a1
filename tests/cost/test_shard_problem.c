/* The strategy problem of a model: what is shared between operators that are alike changes nothing.
 */
#include "cost/shard_problem.h"

#include "cost/made_shards.h"

#define N_DEVICES 8

static clv_arena *arena;
static made *m;
static made_servers servers;
static const clv_cluster *cluster;
static clv_op_classes classes;

static void setup(void)
{
    arena = clv_arena_new(NULL, 0);
    m = made_new(arena);
    cluster = made_servers_set(&servers, N_DEVICES, 4);
}
static void teardown(void) { clv_arena_free(arena); }
TestSuite(shard_problem, .init = setup, .fini = teardown);

/* Three layers, of which the last is wider; a weight that two operators read; a tensor of the same
 * shape that is returned. */
static void layers(void)
{
    made_input(m, "x", CLV_DT_FLOAT, "8,32,64");
    made_weight(m, "up0", CLV_DT_FLOAT, "64,256");
    made_weight(m, "down0", CLV_DT_FLOAT, "256,64");
    made_weight(m, "down1", CLV_DT_FLOAT, "256,64");
    made_weight(m, "up2", CLV_DT_FLOAT, "64,512");
    made_weight(m, "down2", CLV_DT_FLOAT, "512,64");
    made_op(m, "MatMul", "x,up0", "a0");
    made_op(m, "Relu", "a0", "b0");
    made_op(m, "MatMul", "b0,down0", "c0");
    made_op(m, "Add", "x,c0", "y0");
    made_op(m, "MatMul", "y0,up0", "a1");
    made_op(m, "Relu", "a1", "b1");
    made_op(m, "MatMul", "b1,down1", "c1");
    made_op(m, "Add", "y0,c1", "y1");
    made_op(m, "MatMul", "y1,up2", "a2");
    made_op(m, "Relu", "a2", "b2");
    made_op(m, "MatMul", "b2,down2", "c2");
    made_op(m, "Add", "y1,c2", "y2");
    made_op(m, "Add", "y2,y2", "twice");
    made_op(m, "Softmax", "y0", "side");
    made_build(m);
}

static clv_shard_problem *build(const char *form, bool share, int64_t limit)
{
    made_shards s = made_shards_of(m, cluster, made_mesh(m, cluster, form), share, limit);
    classes = *s.classes;
    return s.problem;
}

static void expect_same_nodes(const clv_shard_problem *one, const clv_shard_problem *two)
{
    const clv_intra_op_problem *p = one->problem, *q = two->problem;
    cr_assert_eq(p->n_nodes, q->n_nodes);
    for (int32_t v = 0; v < p->n_nodes; v++) {
        cr_assert_eq(p->first_choice[v + 1], q->first_choice[v + 1]);
        cr_assert_eq(p->first_span[v + 1], q->first_span[v + 1]);
        cr_assert_eq(!one->op_choice[v], !two->op_choice[v]);
        for (int32_t c = 0; c < clv_intra_op_n_choices(p, v); c++) {
            cr_expect_eq(p->cost[p->first_choice[v] + c], q->cost[q->first_choice[v] + c]);
            for (int32_t s = p->first_span[v]; s < p->first_span[v + 1]; s++) {
                cr_expect_eq(p->span_lo[s], q->span_lo[s]);
                cr_expect_eq(p->span_hi[s], q->span_hi[s]);
                cr_expect_eq(p->usage[p->span_usage[s] + c], q->usage[q->span_usage[s] + c]);
            }
            if (one->op_choice[v])
                cr_expect_arr_eq(&one->op_choice[v][c], &two->op_choice[v][c],
                                 sizeof **one->op_choice);
            else
                cr_expect(clv_layout_equal(&one->layout[v][c], &two->layout[v][c]));
        }
    }
}

static void expect_same_edges(const clv_intra_op_problem *p, const clv_intra_op_problem *q)
{
    cr_assert_eq(p->n_edges, q->n_edges);
    for (int32_t e = 0; e < p->n_edges; e++) {
        int32_t v = p->end[p->first_end[e]], u = p->end[p->first_end[e] + 1];
        cr_assert_eq(v, q->end[q->first_end[e]]);
        cr_assert_eq(u, q->end[q->first_end[e] + 1]);
        size_t n = (size_t)clv_intra_op_n_choices(p, v) * (size_t)clv_intra_op_n_choices(p, u);
        cr_expect_arr_eq(p->entry + p->first_entry[p->matrix_of[e]],
                         q->entry + q->first_entry[q->matrix_of[e]], n * sizeof *p->entry);
    }
}

Test(shard_problem, sharing_changes_nothing)
{
    static const char *const forms[] = { "2", "8", "2x4", "4x2", "2x2x2" };
    layers();
    for (int32_t i = 0; i < 5; i++) {
        const clv_shard_problem *one = build(forms[i], false, CLV_INTRA_OP_UNLIMITED);
        const clv_shard_problem *two = build(forms[i], true, CLV_INTRA_OP_UNLIMITED);
        expect_same_nodes(one, two);
        expect_same_edges(one->problem, two->problem);
    }
}

/* Operators of equal shapes are alike, whatever they are called and read; others are not. */
Test(shard_problem, layers_repeat)
{
    layers();
    build("2", true, CLV_INTRA_OP_UNLIMITED);
    for (int32_t i = 0; i < 4; i++)
        cr_expect_eq(classes.of[i], classes.of[i + 4], "operator %d", i);
    for (int32_t i = 8; i < 11; i++)
        cr_expect_neq(classes.of[i], classes.of[i - 8], "operator %d", i);
    cr_expect_eq(classes.of[11], classes.of[3]);
    cr_expect_eq(classes.of[12], classes.of[3], "both inputs may be one tensor");
    for (int32_t i = 0; i < m->model->main->n_ops; i++)
        cr_expect_lt(classes.of[i], classes.n);
}

/* A weight that two operators read counts in the first, though the two are alike. */
Test(shard_problem, a_weight_counts_once)
{
    layers();
    const clv_shard_problem *s = build("2", true, CLV_INTRA_OP_UNLIMITED);
    const clv_intra_op_problem *p = s->problem;
    int32_t first = s->node_of_op[0], second = s->node_of_op[4];
    cr_expect_eq(classes.of[0], classes.of[4]);
    cr_expect_eq(p->usage[p->span_usage[p->first_span[first]]], 64 * 256 * 4);
    cr_expect_eq(p->first_span[second], p->first_span[second + 1]);
}

/* What a tensor or operator holds in its first choice, all of it; -1: nothing at that moment. */
static int64_t held(const clv_intra_op_problem *p, int32_t node, int64_t moment)
{
    for (int32_t s = p->first_span[node]; s < p->first_span[node + 1]; s++)
        if (p->span_lo[s] <= moment && moment < p->span_hi[s])
            return p->usage[p->span_usage[s]];
    return -1;
}

static int32_t node_made(const clv_shard_problem *s, const char *name)
{
    const clv_graph *g = m->model->main;
    return s->node_of_tensor[clv_op_output(g, clv_op_at(g, made_writer(m, name)), 0).i];
}

/* Inputs are there when a device begins, outputs when it is done, weights at both; a view of an
 * output is no more memory. */
Test(shard_problem, memory_is_of_the_begin_and_of_the_end)
{
    made_input(m, "x", CLV_DT_FLOAT, "64,64");
    made_weight(m, "w", CLV_DT_FLOAT, "64,16");
    made_op(m, "MatMul", "x,w", "y");
    made_op(m, "Relu", "y", "z");
    made_op(m, "Flatten", "z", "v");
    made_output(m, "z");
    made_output(m, "v");
    made_build(m);
    const clv_shard_problem *s = build("2", true, CLV_INTRA_OP_UNLIMITED);
    const clv_intra_op_problem *p = s->problem;
    int32_t z = node_made(s, "z"), v = node_made(s, "v");
    cr_expect_eq(held(p, s->node_of_op[0], 0), (64 * 64 + 64 * 16) * 4);
    cr_expect_eq(held(p, s->node_of_op[0], 1), 64 * 16 * 4);
    cr_expect_eq(held(p, z, 0), -1);
    cr_expect_eq(held(p, z, 1), 64 * 16 * 4);
    cr_expect_eq(held(p, v, 0), -1);
    cr_expect_eq(held(p, v, 1), -1);
}

Test(shard_problem, a_limit_may_be_another_one)
{
    clv_shard_problem *other;
    layers();
    const clv_shard_problem *s = build("2x2", true, 1000);
    cr_assert_eq(clv_shard_problem_limit(s, 500, arena, &other, &m->err), CLV_OK);
    cr_expect_eq(other->problem->usage_limit, 500);
    cr_expect_eq(s->problem->usage_limit, 1000);
    expect_same_nodes(s, other);
    expect_same_edges(s->problem, other->problem);
}

/* 2048 weights of 4 bits and 128 bytes of scales beside them. */
Test(shard_problem, parts_have_their_share_of_what_is_stored_beside_them)
{
    const int64_t dims[] = { 32, 64 };
    const clv_type type = {
        .kind = CLV_TYPE_TENSOR, .dtype = CLV_DT_INT4, .rank = 2, .dims = dims
    };
    const clv_mesh *mesh = made_mesh(m, cluster, "4");
    clv_layout split = CLV_LAYOUT_COPIES;
    split.dim[0] = 1;
    cr_expect_eq(clv_part_bytes(mesh, &CLV_LAYOUT_COPIES, &type, 1024), 1024);
    cr_expect_eq(clv_part_bytes(mesh, &CLV_LAYOUT_COPIES, &type, 1024 + 128), 1024 + 128);
    cr_expect_eq(clv_part_bytes(mesh, &split, &type, 1024), 256);
    cr_expect_eq(clv_part_bytes(mesh, &split, &type, 1024 + 128), 256 + 32);
}

/* -- parts of sums -- */

/* The best of all solutions, one by one: a counter whose digits are the choices. */
static int32_t *best_of_all(const clv_intra_op_problem *p)
{
    int32_t *at = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes), v = 0;
    int32_t *best = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    clv_int128 least = clv_intra_op_cost(p, at);
    while (v < p->n_nodes) {
        clv_int128 cost = clv_intra_op_cost(p, at);
        if (cost < least) {
            least = cost;
            memcpy(best, at, (size_t)p->n_nodes * sizeof *at);
        }
        for (v = 0; v < p->n_nodes && ++at[v] == clv_intra_op_n_choices(p, v); v++)
            at[v] = 0;
    }
    return best;
}

/* Is the tensor parts of a sum where it is made? */
static bool is_made_in_parts(const clv_shard_problem *s, const int32_t *solution, const char *name)
{
    const clv_graph *g = m->model->main;
    const clv_tensor t = clv_op_output(g, clv_op_at(g, made_writer(m, name)), 0);
    const clv_layout layout = clv_shard_made(s, solution, t);
    return clv_layout_partial_axes(&layout) != 0;
}

/* As its only reader takes it. */
static bool is_read_in_parts(const clv_shard_problem *s, const int32_t *solution,
                             const char *reader, int32_t k)
{
    const clv_layout need = clv_shard_need(s, solution, made_writer(m, reader), k);
    return clv_layout_partial_axes(&need) != 0;
}

/* Two long products, of which one is scaled, and a bias. Split along their sums, each leaves parts;
 * all are added up on each device, and reduced once. */
Test(shard_problem, parts_of_sums_are_added_before_they_are_reduced)
{
    made_input(m, "x", CLV_DT_FLOAT, "1,1048576");
    made_input(m, "z", CLV_DT_FLOAT, "1,1048576");
    made_input(m, "r", CLV_DT_FLOAT, "1,1");
    made_weight(m, "v", CLV_DT_FLOAT, "1048576,3");
    made_weight(m, "w", CLV_DT_FLOAT, "1048576,3");
    made_weight(m, "c", CLV_DT_FLOAT, "3");
    made_op(m, "MatMul", "x,v", "a");
    made_op(m, "MatMul", "z,w", "b");
    made_op(m, "Mul", "r,b", "s");
    made_op(m, "Sum", "a,s,c", "y");
    made_op(m, "Relu", "y", "p");
    made_build(m);
    const clv_shard_problem *s = build("2", true, CLV_INTRA_OP_UNLIMITED);
    const int32_t *best = best_of_all(s->problem);
    cr_expect(is_made_in_parts(s, best, "a"));
    cr_expect(is_made_in_parts(s, best, "b"));
    cr_expect(is_read_in_parts(s, best, "s", 1));
    cr_expect_not(is_read_in_parts(s, best, "s", 0), "what scales parts is whole");
    cr_expect(is_made_in_parts(s, best, "s"));
    cr_expect(is_read_in_parts(s, best, "y", 0));
    cr_expect(is_read_in_parts(s, best, "y", 1));
    cr_expect_not(is_read_in_parts(s, best, "y", 2), "a weight is added once");
    cr_expect(is_made_in_parts(s, best, "y"));
    cr_expect_not(is_read_in_parts(s, best, "p", 0), "there they are reduced");
    /* nothing is sent between the products and the sum, and the sum is no faster for it */
    const clv_op_choice *choice = clv_shard_choice(s, best, made_writer(m, "y"));
    int32_t node = s->node_of_op[made_writer(m, "y").i];
    const int64_t *cost = s->problem->cost + s->problem->first_choice[node];
    cr_expect_eq(s->factors[made_writer(m, "y").i].factors[choice->factor[0]].kind,
                 CLV_FACTOR_SUMMANDS);
    cr_expect_eq(cost[best[node]], cost[0]);
}
