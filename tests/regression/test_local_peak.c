/* Memory of a device of a mesh, for random strategies: what the built-in compiler says of its
 * program, against tensors laid out element by element and counted operator by operator.
 */
#include "compile/builtin.h"
#include "cost/made_shards.h"
#include "lower/local_model.h"
#include "lower/stage_cluster.h"
#include "problem/intra_op_problem.h"
#include "support/layout_sim.h"

#define ANSWERS 60
#define ALIGN   256

static clv_arena *arena;
static made *m;
static clv_cluster *cluster, *stages;
static const clv_mesh *mesh;
static clv_resharder *resharder;
static clv_shard_problem *problem;
static clv_local_model *local;
static clv_subgraphs *units;
static uint64_t state;

static void setup(void)
{
    arena = clv_arena_new(NULL, 0);
    m = made_new(arena);
    state = 1;
}
static void teardown(void) { clv_arena_free(arena); }
TestSuite(local_peak, .init = setup, .fini = teardown);

static int32_t below(int32_t n)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int32_t)((state >> 33) % (uint64_t)n);
}

static void build(const char *form)
{
    clv_mesh_form shape;
    static const int32_t order[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    made_build(m);
    mesh = sim_mesh(arena, form);
    cluster = sim_cluster(arena, mesh->n_devices);
    for (int32_t k = 0; k < cluster->n_kinds; k++) {
        clv_device_kind *kind = (clv_device_kind *)&cluster->kinds[k];
        kind->memory_bytes = 1 << 30;
        kind->memory_bytes_per_s = 1e11;
        kind->matrix_efficiency = kind->vector_efficiency = kind->memory_efficiency = 1;
        kind->matrix_per_s[CLV_DT_FLOAT] = kind->vector_per_s[CLV_DT_FLOAT] = 1e12;
        kind->workspace_proportion = 1;
    }
    cr_assert_eq(clv_mesh_form_parse(form, arena, &shape, &m->err), CLV_OK);
    cr_assert_eq(clv_stage_cluster_make(cluster, (clv_mesh_devices){ order, cluster->n_devices },
                                        mesh->n_devices, arena, &stages, &m->err),
                 CLV_OK);
    made_shards s = made_shards_of(m, cluster, mesh, false, CLV_INTRA_OP_UNLIMITED);
    resharder = s.resharder;
    problem = s.problem;
}

static int64_t aligned(int64_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

/* Of the fullest device, counted. Every element must be somewhere. */
static int64_t counted_bytes(clv_tensor part)
{
    static sim s;
    clv_tensor whole = local->tensor_of[part.i];
    const clv_type *type = &m->types->of[whole.i];
    clv_tensor_split split;
    int64_t most = 0, all = 0;
    cr_assert(clv_split_of_type(type, &split));
    sim_lay_out(&s, mesh, &split, &local->layout_of[part.i]);
    for (int32_t d = 0; d < mesh->n_devices; d++) {
        int64_t n = 0;
        for (int32_t e = 0; e < s.n_elems; e++)
            n += s.has[d][e];
        most = n > most ? n : most;
        all += n;
    }
    cr_assert_geq(all, s.n_elems);
    return most * 4; /* all are FLOAT */
}

/* What shares memory: a reshape and its input. */
static clv_tensor owner_of(clv_tensor t)
{
    const clv_graph *g = local->model->main;
    for (;;) {
        clv_op op = g->tensors[t.i].producer;
        if (op.i < 0 || !clv_str_is(g->ops[op.i].type, "Reshape"))
            return t;
        t = clv_op_input(g, &g->ops[op.i], 0);
    }
}

/* Operator by operator in the order of the units, every tensor from its writer to its last reader.
 */
static int64_t most_alive(void)
{
    const clv_graph *g = local->model->main;
    int32_t *first = CLV_NEW_ARRAY(arena, int32_t, g->n_tensors);
    int32_t *last = CLV_NEW_ARRAY(arena, int32_t, g->n_tensors);
    int64_t most = 0;
    for (int32_t t = 0; t < g->n_tensors; t++)
        first[t] = last[t] = -1;
    for (int32_t at = 0; at < g->n_ops; at++) {
        const clv_op_info *op = &g->ops[units->order[at].i];
        for (int32_t k = 0; k < op->n_in + op->n_out; k++) {
            clv_tensor t =
                k < op->n_in ? clv_op_input(g, op, k) : clv_op_output(g, op, k - op->n_in);
            if (g->tensors[t.i].role == CLV_TENSOR_WEIGHT)
                continue;
            int32_t o = owner_of(t).i;
            if (first[o] < 0)
                first[o] = g->tensors[o].role == CLV_TENSOR_INPUT ? 0 : at;
            last[o] = at > last[o] ? at : last[o];
            if (g->tensors[t.i].is_output)
                last[o] = g->n_ops - 1;
        }
    }
    for (int32_t at = 0; at < g->n_ops; at++) {
        int64_t alive = 0;
        for (int32_t t = 0; t < g->n_tensors; t++)
            if (first[t] >= 0 && first[t] <= at && at <= last[t])
                alive += aligned(counted_bytes((clv_tensor){ t }));
        most = alive > most ? alive : most;
    }
    return most;
}

static int64_t weights(void)
{
    const clv_graph *g = local->model->main;
    int64_t sum = 0;
    for (int32_t t = 0; t < g->n_tensors; t++)
        if (g->tensors[t].role == CLV_TENSOR_WEIGHT)
            sum += g->tensors[t].n_readers > 0 ? counted_bytes((clv_tensor){ t }) : 0;
    return sum;
}

static void compare(int32_t round)
{
    clv_compiler *c;
    clv_verdict v;
    clv_compile_report report;
    clv_workload workload = { local->model, local->types, local->costs, units, stages };
    int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, units->n);
    cr_assert_eq(clv_builtin_open(&workload, 1, NULL, &c, NULL), CLV_OK);
    clv_assignment all_on_one = { device_of, 0, NULL };
    cr_assert_eq(
        c->compile(c, &(clv_compile_worker){ 0, arena, NULL }, &all_on_one, &v, &report, NULL),
        CLV_OK);
    const clv_device_report *d = &report.devices[0];
    cr_assert_eq(d->weight_bytes, weights(), "solution %d", round);
    cr_assert_eq(d->activation_bytes, most_alive(), "solution %d", round);
    cr_assert_geq(d->peak_bytes, aligned(d->weight_bytes) + d->activation_bytes);
    clv_compiler_close(c);
}

static void try_solutions(void)
{
    const clv_intra_op_problem *p = problem->problem;
    int32_t *solution = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    for (int32_t round = 0; round < ANSWERS; round++) {
        for (int32_t v = 0; v < p->n_nodes; v++)
            solution[v] = round == 0 ? 0 : below(clv_intra_op_n_choices(p, v));
        const clv_sharded_model sharded = { m->model, m->costs, problem, solution, resharder };
        cr_assert_eq(clv_local_model_make(&sharded, arena, &local, &m->err), CLV_OK, "%s",
                     m->err.message);
        for (int32_t i = 0; i < local->model->main->n_ops; i++)
            local->costs->of[i].workspace_bytes = 0; /* tensors alone */
        cr_assert_eq(clv_subgraphs_build(local->costs, true, arena, &units, &m->err), CLV_OK);
        compare(round);
    }
}

/* A sum around two products, and heads: views, transpositions, tensors that are read twice. */
static void layer(void)
{
    made_input(m, "x", CLV_DT_FLOAT, "4,6,8");
    made_weight(m, "up", CLV_DT_FLOAT, "8,20");
    made_weight(m, "down", CLV_DT_FLOAT, "20,8");
    made_weight(m, "q", CLV_DT_FLOAT, "8,8");
    made_op(m, "MatMul", "x,up", "a");
    made_op(m, "Relu", "a", "b");
    made_op(m, "MatMul", "b,down", "c");
    made_op(m, "Add", "x,c", "y");
    made_op(m, "MatMul", "y,q", "k");
    made_op(m, "Transpose", "k", "t");
    made_attr_ints(m, "perm", "0,2,1");
    made_op(m, "MatMul", "k,t", "s");
    made_op(m, "Softmax", "s", "p");
    made_op(m, "MatMul", "p,y", "z");
    made_op(m, "Add", "z,y", "out");
}

Test(local_peak, on_one_axis)
{
    layer();
    build("4");
    try_solutions();
}

Test(local_peak, on_two_axes)
{
    layer();
    build("2x2");
    try_solutions();
}

/* 4, 6, 8 and 20 in three parts. */
Test(local_peak, of_uneven_parts)
{
    layer();
    build("3");
    try_solutions();
}
