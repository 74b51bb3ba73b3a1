/* test_small_joint.c - small models have the best plan of stages and shards together, with its
 * proof: the search against brute force over every choice of strategies for every form of mesh,
 * each cut into stages by itself. That the stages of whole operators are the best ones
 * test_small_plans.c holds against brute force of its own; that the number of micro-batches is, is
 * held here against each number by itself.
 *
 * CLEAVE_EFFORT=100 makes 1,000 problems of each objective of it; CLEAVE_SEED another set.
 */
#include <stdio.h>

#include "cost/made_shards.h"
#include "joint/joint.h"
#include "joint/strategy_enumeration.h"
#include "lower/local_model.h"
#include "lower/stage_cluster.h"
#include "plan/plan.h"
#include "request/runtime_load.h"
#include "sharding/mesh_levels.h"
#include "stages/stages.h"
#include "support/effort.h"

#define DEVICES   6 /* at most */
#define OPS_MAX   4
#define BRUTE_MAX 3000 /* solutions of one strategy problem */
#define FORMS_MAX 12

static const int32_t order[DEVICES] = { 0, 1, 2, 3, 4, 5 };

typedef struct {
    uint32_t random;
    made *m;
    clv_device_kind kind;
    clv_port ports[2 * DEVICES];
    int32_t ports_of[DEVICES * DEVICES][2];
    clv_route routes[DEVICES * DEVICES];
    clv_device devices[DEVICES];
    clv_cluster cluster;
    clv_analysis analysis;
    clv_request req;
} small;

static int32_t draw(small *s, int32_t from, int32_t to)
{
    s->random = s->random * 1664525u + 1013904223u;
    return from + (int32_t)((s->random >> 8) % (uint32_t)(to - from + 1));
}

/* Each device has a port out and one in; all are joined alike. */
static void make_cluster(small *s)
{
    static const char *const names[DEVICES] = { "d0", "d1", "d2", "d3", "d4", "d5" };
    static const int32_t numbers[] = { 4, 4, 2, 3, 6 };
    int32_t n = numbers[draw(s, 0, 4)];
    clv_route link = { .name = "r",
                       .latency_ns = draw(s, 0, 3000),
                       .bytes_per_s = 1e9 * draw(s, 1, 50),
                       .n_ports = 2 };
    s->kind = made_kind();
    s->kind.launch_ns = draw(s, 0, 2000);
    s->kind.memory_bytes = draw(s, 0, 3) ? 1 << 24 : draw(s, 100000, 400000);
    for (int32_t d = 0; d < n; d++) {
        s->devices[d] = (clv_device){ 0, names[d] };
        s->ports[2 * d] = s->ports[2 * d + 1] = (clv_port){ "port", link.bytes_per_s };
        for (int32_t e = 0; e < n; e++) {
            int32_t *ports = s->ports_of[d * n + e];
            ports[0] = 2 * d;
            ports[1] = 2 * e + 1;
            link.ports = ports;
            s->routes[d * n + e] = d == e ? (clv_route){ .name = "r" } : link;
        }
    }
    s->cluster = (clv_cluster){ .name = "small",
                                .n_kinds = 1,
                                .n_devices = n,
                                .n_ports = 2 * n,
                                .kinds = &s->kind,
                                .devices = s->devices,
                                .ports = s->ports,
                                .routes = s->routes };
}

/* Products, sums and functions of each element, each of one of the last two tensors; of some models
 * the shape of the input at the end, which needs none of it. */
static void make_model(small *s)
{
    static const char *const names[OPS_MAX + 1] = { "x", "a", "b", "c", "d" };
    static const char *const weights[OPS_MAX] = { "w0", "w1", "w2", "w3" };
    bool read[OPS_MAX + 1] = { false };
    int32_t n = draw(s, 2, OPS_MAX);
    made_input(s->m, "x", CLV_DT_FLOAT, "64,128");
    for (int32_t i = 0; i < n; i++) {
        char in[8];
        int32_t a = i - draw(s, 0, i > 0), b = draw(s, 0, i), kind = draw(s, 0, 3);
        read[a] = true;
        snprintf(in, sizeof in, "%s", names[a]);
        if (kind == 0) {
            made_weight(s->m, weights[i], CLV_DT_FLOAT, "128,128");
            snprintf(in, sizeof in, "%s,%s", names[a], weights[i]);
        }
        if (kind == 1) {
            read[b] = true;
            snprintf(in, sizeof in, "%s,%s", names[a], names[b]);
        }
        made_op(s->m,
                kind == 0   ? "MatMul"
                : kind == 1 ? "Add"
                : kind == 2 ? "Relu"
                            : "Softmax",
                clv_arena_printf(s->m->arena, "%s", in), names[i + 1]);
    }
    for (int32_t i = 1; i <= n; i++)
        if (!read[i])
            made_output(s->m, names[i]);
    if (draw(s, 0, 2) == 0) {
        made_op(s->m, "Shape", "x", "shape");
        made_output(s->m, "shape");
    }
    made_build(s->m);
}

typedef struct {
    const char *name;
    int32_t width; /* of 64 rows */
    bool is_read;
} part;

/* Of a by itself, or of a and b. */
static int32_t width_of(const char *type, int32_t a, int32_t b)
{
    if (strcmp(type, "MatMul") == 0)
        return a == 128 ? 128 : 0;
    if (strcmp(type, "Add") == 0 || strcmp(type, "Reshape") == 0)
        return a == b ? a : 0;
    if (strcmp(type, "Concat") == 0)
        return a + b <= 128 ? a + b : 0;
    if (strcmp(type, "Split") == 0)
        return a > 32 ? a / 2 : 0;
    return a;
}

/* What cannot be is a function of each element; a is reshaped to the shape of b. */
static void add_branching_op(small *s, int32_t i, part *parts, int32_t *n)
{
    static const char *const types[] = { "MatMul",  "Add",   "Relu",   "Softmax",
                                         "Flatten", "Split", "Concat", "Reshape" };
    part *a = &parts[draw(s, 0, *n - 1)], *b = &parts[draw(s, 0, *n - 1)];
    const char *type = types[draw(s, 0, 7)];
    type = width_of(type, a->width, b->width) > 0 ? type : "Relu";
    bool reads_both = strcmp(type, "Add") == 0 || strcmp(type, "Concat") == 0;
    bool is_split = strcmp(type, "Split") == 0, is_product = strcmp(type, "MatMul") == 0;
    bool is_reshape = strcmp(type, "Reshape") == 0;
    const char *own = clv_arena_printf(s->m->arena, "w%d", (int)i);
    const char *out = clv_arena_printf(s->m->arena, is_split ? "t%d,h%d" : "t%d", (int)i, (int)i);
    const char *in = is_product || is_reshape ? clv_arena_printf(s->m->arena, "%s,%s", a->name, own)
                     : reads_both ? clv_arena_printf(s->m->arena, "%s,%s", a->name, b->name)
                                  : a->name;
    if (is_product)
        made_weight(s->m, own, CLV_DT_FLOAT, "128,128");
    if (is_reshape)
        made_op(s->m, "Shape", b->name, own);
    made_op(s->m, type, in, out);
    if (is_split)
        made_attr_int(s->m, "num_outputs", 2);
    if (is_split || strcmp(type, "Concat") == 0)
        made_attr_int(s->m, "axis", 1);
    a->is_read = true;
    b->is_read |= reads_both || is_reshape;
    for (int32_t k = 0; k < (is_split ? 2 : 1); k++)
        parts[(*n)++] = (part){ clv_arena_printf(s->m->arena, k ? "h%d" : "t%d", (int)i),
                                width_of(type, a->width, b->width), false };
}

/* Of any tensors so far, so that branches go on side by side: products, sums, functions of each
 * element, views, halves and what joins two tensors. What nobody reads is returned, but for some
 * halves, and some of the rest, inputs too. */
static void make_branching_model(small *s)
{
    part parts[2 * OPS_MAX + 2] = { { "x", 128, true }, { "y", 128, true } };
    int32_t n = draw(s, 1, 2), n_ops = draw(s, 2, OPS_MAX);
    for (int32_t t = 0; t < n; t++)
        made_input(s->m, parts[t].name, CLV_DT_FLOAT, "64,128");
    for (int32_t i = 0; i < n_ops; i++)
        add_branching_op(s, i, parts, &n);
    for (int32_t t = 0; t < n; t++)
        if (parts[t].is_read ? draw(s, 0, 4) == 0 : parts[t].name[0] == 't' || draw(s, 0, 1) == 0)
            made_output(s->m, parts[t].name);
    if (draw(s, 0, 2) == 0) {
        made_op(s->m, "Shape", parts[draw(s, 0, n - 1)].name, "shape");
        made_output(s->m, "shape");
    }
    made_build(s->m);
}

/* -- brute force -- */

/* The strategy problem of a form of mesh; its meshes are the devices of the stages. */
typedef struct {
    made_shards shards;
    clv_cluster *stages;
    int64_t n_solutions;
} form_problem;

typedef struct {
    form_problem forms[FORMS_MAX];
    int32_t n_forms;
    int64_t best_ns; /* INT64_MAX: no plan fits */
} brute;

/* What it takes; INT64_MAX where it does not fit. */
static int64_t take_plan(const clv_plan *plan, brute *b)
{
    int64_t ns = clv_plan_objective_ns(plan);
    if (plan->outcome != CLV_FITS)
        return INT64_MAX;
    cr_assert_str_eq(plan->stopped, "optimal");
    b->best_ns = ns < b->best_ns ? ns : b->best_ns;
    return ns;
}

/* Which solution it is, counted as try_form() counts them. */
static int64_t rank_of(const clv_intra_op_problem *p, const int32_t *solution)
{
    int64_t rank = 0;
    for (int32_t v = p->n_nodes - 1; v >= 0; v--)
        rank = rank * clv_intra_op_n_choices(p, v) + solution[v];
    return rank;
}

/* What the search says that the plans of each solution take at least; -1 where it says that none
 * has room. */
static const clv_int128 *floors_of(small *s, const form_problem *f)
{
    const clv_enumeration all = { .of = { f->shards.problem, s->m->costs, f->stages,
                                          f->shards.resharder, s->req.microbatches > 1 },
                                  .latency = s->req.search.objective == CLV_LATENCY,
                                  .below = INT64_MAX,
                                  .most = BRUTE_MAX };
    clv_int128 *floors = CLV_NEW_ARRAY(s->m->arena, clv_int128, f->n_solutions);
    clv_strategy_list list;
    for (int64_t i = 0; i < f->n_solutions; i++)
        floors[i] = -1;
    cr_assert_eq(clv_strategies_enumerate(&all, s->m->arena, &list, &s->m->err), CLV_OK);
    for (int32_t i = 0; i < list.n; i++)
        floors[rank_of(f->shards.problem->problem, list.solution[i])] = list.floor[i];
    return floors;
}

/* The best stages of one choice of strategies: what they take. */
static int64_t cut(small *s, const form_problem *f, const int32_t *solution, brute *b)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_sharded_model sharded = { s->m->model, s->m->costs, f->shards.problem, solution,
                                        f->shards.resharder };
    clv_local_model *local;
    clv_inference inference = *s->analysis.inference;
    clv_plan *plan;
    cr_assert_eq(clv_local_model_make(&sharded, arena, &local, &s->m->err), CLV_OK);
    clv_analysis analysis = { .inference = &inference,
                              .costs = local->costs,
                              .types = local->types };
    inference.main = local->types;
    cr_assert_eq(clv_subgraphs_build(local->costs, true, arena, &analysis.units, NULL), CLV_OK);
    clv_request req = s->req;
    req.model = local->model;
    req.cluster = f->stages;
    req.max_share = s->cluster.n_devices;
    req.terse = true;
    cr_assert_eq(clv_stages_plan(&req, &analysis, arena, &plan, &s->m->err), CLV_OK, "%s",
                 s->m->err.message);
    int64_t ns = take_plan(plan, b);
    clv_arena_free(arena);
    return ns;
}

/* False: it has more solutions than anybody wants to see. */
static bool add_form(small *s, const clv_mesh_form *form, brute *b)
{
    form_problem *f = &b->forms[b->n_forms++];
    const clv_mesh *mesh;
    int32_t n = 1;
    for (int32_t a = 0; a < form->n_axes; a++)
        n *= form->size[a];
    cr_assert_eq(clv_mesh_make(form, &s->cluster, (clv_mesh_devices){ order, n }, s->m->arena,
                               &mesh, &s->m->err),
                 CLV_OK);
    cr_assert_eq(clv_stage_cluster_make(&s->cluster,
                                        (clv_mesh_devices){ order, s->cluster.n_devices }, n,
                                        s->m->arena, &f->stages, NULL),
                 CLV_OK);
    f->shards = made_shards_of(s->m, &s->cluster, mesh, true, CLV_INTRA_OP_UNLIMITED);
    const clv_intra_op_problem *p = f->shards.problem->problem;
    f->n_solutions = 1;
    for (int32_t v = 0; v < p->n_nodes && f->n_solutions <= BRUTE_MAX; v++)
        f->n_solutions *= clv_intra_op_n_choices(p, v);
    return f->n_solutions <= BRUTE_MAX;
}

/* Of all devices first: most often it is they who have too many solutions. */
static bool list_forms(small *s, brute *b)
{
    const clv_mesh_form *forms;
    clv_link_levels levels;
    int32_t n;
    for (int32_t devices = s->cluster.n_devices; devices > 1; devices--) {
        if (s->cluster.n_devices % devices != 0)
            continue;
        cr_assert_eq(clv_mesh_levels(&s->cluster, (clv_mesh_devices){ order, devices }, s->m->arena,
                                     &levels, NULL),
                     CLV_OK);
        cr_assert_eq(clv_mesh_forms(&levels, 2, s->m->arena, &forms, &n, NULL), CLV_OK);
        cr_assert_leq(b->n_forms + n, FORMS_MAX);
        for (int32_t i = 0; i < n; i++)
            if (!add_form(s, &forms[i], b))
                return false;
    }
    return true;
}

static void try_form(small *s, const form_problem *f, brute *b)
{
    const clv_intra_op_problem *p = f->shards.problem->problem;
    const clv_int128 *floors =
        s->analysis.kernels ? NULL : floors_of(s, f); /* of the file's order */
    int32_t *solution = CLV_NEW_ARRAY(s->m->arena, int32_t, p->n_nodes);
    for (int64_t rank = 0; rank < f->n_solutions; rank++) {
        int64_t ns = cut(s, f, solution, b);
        cr_assert(!floors || floors[rank] <= ns, "floor %lld of a plan that takes %lld",
                  (long long)floors[rank], (long long)ns);
        cr_assert(!floors || floors[rank] >= 0 || ns == INT64_MAX, "a plan without room takes %lld",
                  (long long)ns);
        for (int32_t v = 0; v < p->n_nodes && ++solution[v] == clv_intra_op_n_choices(p, v); v++)
            solution[v] = 0;
    }
}

static void try_all(small *s, brute *b)
{
    clv_request whole = s->req;
    clv_plan *plan;
    b->best_ns = INT64_MAX;
    for (int32_t i = 0; i < b->n_forms; i++)
        try_form(s, &b->forms[i], b);
    whole.max_share = 1;
    cr_assert_eq(clv_stages_plan(&whole, &s->analysis, s->m->arena, &plan, &s->m->err), CLV_OK);
    take_plan(plan, b);
}

/* -- the search -- */

/* What is drawn: a model, and who forms kernels; NULL: each operator is one. */
typedef struct {
    void (*model)(small *);
    const char *runtime;
} drawn;

static const clv_runtime *runtime_of(const char *name, clv_arena *arena)
{
    clv_runtime *runtime = NULL;
    clv_error err = { 0 };
    if (name)
        cr_assert_eq(clv_runtime_load(name, TEST_SOURCE_DIR "/configs", arena, &runtime, &err),
                     CLV_OK, "%s", err.message);
    return runtime;
}

static small *make_small_of(const drawn *of, uint32_t seed, clv_objective objective,
                            clv_arena *arena)
{
    small *s = CLV_NEW(arena, small);
    s->random = seed * 2654435761u;
    s->m = made_new(arena);
    make_cluster(s);
    of->model(s);
    const clv_runtime *runtime = runtime_of(of->runtime, arena);
    cr_assert_eq(clv_analyse(&(clv_analysed){ s->m->model, NULL, 0, runtime, CLV_DT_UNDEFINED,
                                              CLV_DT_UNDEFINED, false },
                             arena, &s->analysis, &s->m->err),
                 CLV_OK);
    if (runtime) { /* what brute force tries has the same kernels */
        s->m->types = (clv_types *)s->analysis.types;
        s->m->costs = s->analysis.costs;
    }
    s->req = (clv_request){ .model = s->m->model,
                            .model_name = "small",
                            .cluster = &s->cluster,
                            .copies = 1,
                            .search = { .objective = objective },
                            .jobs = 1 };
    return s;
}

static small *make_small(uint32_t seed, clv_objective objective, clv_arena *arena)
{
    return make_small_of(&(drawn){ make_model, NULL }, seed, objective, arena);
}

/* No plan is better than the best, no bound above it, and what is called proven is. */
static void check_claims(const clv_plan *plan, const brute *b, uint32_t seed)
{
    bool fits = plan->outcome == CLV_FITS;
    int64_t ns = clv_plan_objective_ns(plan);
    cr_expect(!fits || ns >= b->best_ns, "seed %u: %lld, brute force %lld", seed, (long long)ns,
              (long long)b->best_ns);
    cr_expect(!fits || plan->bound_ns <= b->best_ns, "seed %u: bound %lld, brute force %lld", seed,
              (long long)plan->bound_ns, (long long)b->best_ns);
    cr_expect(strcmp(plan->stopped, "optimal") != 0 || (fits && ns == b->best_ns),
              "seed %u: optimal at %lld, brute force %lld", seed, (long long)ns,
              (long long)b->best_ns);
    cr_expect(strcmp(plan->stopped, "infeasible") != 0 || b->best_ns == INT64_MAX,
              "seed %u: infeasible, brute force %lld", seed, (long long)b->best_ns);
}

/* False: brute force would take too long. */
static bool check(const drawn *of, uint32_t seed, clv_objective objective)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    small *s = make_small_of(of, seed, objective, arena);
    clv_plan *plan;
    brute b = { .n_forms = 0 };
    s->req.microbatches = seed % 3 ? 0 : 4;
    if (seed % 2)
        s->kind.memory_bytes = draw(s, 15000, 130000);
    bool is_small = list_forms(s, &b);
    if (is_small) {
        try_all(s, &b);
        cr_assert_eq(clv_joint_plan(&s->req, &s->analysis, arena, &plan, &s->m->err), CLV_OK, "%s",
                     s->m->err.message);
        int64_t ns = clv_plan_objective_ns(plan);
        if (s->analysis.kernels) { /* searched, not to the end: what it says has to be true */
            check_claims(plan, &b, seed);
            clv_arena_free(arena);
            return is_small;
        }
        cr_expect_eq(plan->outcome == CLV_FITS, b.best_ns < INT64_MAX, "seed %u", seed);
        if (plan->outcome == CLV_FITS) {
            cr_expect_eq(ns, b.best_ns, "seed %u: %lld, brute force %lld", seed, (long long)ns,
                         (long long)b.best_ns);
            cr_expect_leq(plan->bound_ns, b.best_ns, "seed %u: bound %lld, brute force %lld", seed,
                          (long long)plan->bound_ns, (long long)b.best_ns);
            cr_expect_str_eq(plan->stopped, "optimal", "seed %u: %s, %lld, bound %lld", seed,
                             plan->stopped, (long long)ns, (long long)plan->bound_ns);
        } else {
            cr_expect_str_eq(plan->stopped, "infeasible", "seed %u: %s", seed, plan->stopped);
        }
    }
    clv_arena_free(arena);
    return is_small;
}

static void check_all(void (*model)(small *), const char *runtime, clv_objective objective)
{
    const drawn of = { model, runtime };
    const char *from = getenv("CLEAVE_SEED");
    uint32_t seed = from ? (uint32_t)strtoul(from, NULL, 10) : 1;
    for (uint64_t left = test_effort(10); left > 0; seed++)
        left -= check(&of, seed, objective);
}

Test(small_joint, has_the_least_latency) { check_all(make_model, NULL, CLV_LATENCY); }

Test(small_joint, has_the_least_period) { check_all(make_model, NULL, CLV_THROUGHPUT); }

Test(small_joint, has_the_least_latency_of_branches)
{
    check_all(make_branching_model, NULL, CLV_LATENCY);
}

Test(small_joint, has_the_least_period_of_branches)
{
    check_all(make_branching_model, NULL, CLV_THROUGHPUT);
}

Test(small_joint, says_what_is_true_of_latency_of_kernels)
{
    check_all(make_model, "engine", CLV_LATENCY);
    check_all(make_branching_model, "engine", CLV_LATENCY);
}

Test(small_joint, says_what_is_true_of_period_of_kernels)
{
    check_all(make_model, "engine", CLV_THROUGHPUT);
    check_all(make_branching_model, "engine", CLV_THROUGHPUT);
}

static const clv_plan *plan_within(small *s, int64_t memory_bytes)
{
    clv_plan *plan;
    clv_request req = s->req;
    req.memory_bytes = memory_bytes;
    cr_assert_eq(clv_joint_plan(&req, &s->analysis, s->m->arena, &plan, &s->m->err), CLV_OK);
    return plan;
}

/* Inputs that are gone before outputs are made, and outputs that share memory. */
static void make_shrinking_model(small *s)
{
    static const struct {
        const char *op[3][3]; /* type, inputs, output */
        const char *out[3];
    } models[] = {
        { { { "ReduceMean", "x", "y" }, { "MatMul", "y,w", "z" } }, { "z" } },
        { { { "Relu", "x", "a" }, { "ReduceMean", "a", "y" }, { "Flatten", "a", "z" } },
          { "a", "y", "z" } },
        { { { "ReduceMean", "x", "y" }, { "Flatten", "x", "z" } }, { "y", "z" } },
        { { { "Relu", "x", "y" }, { "Relu", "y", "z" } }, { "y", "z" } },
    };
    int32_t kind = draw(s, 0, 3);
    made_input(s->m, "x", CLV_DT_FLOAT, "256,256");
    if (kind == 0)
        made_weight(s->m, "w", CLV_DT_FLOAT, "1,256");
    for (int32_t i = 0; i < 3 && models[kind].op[i][0]; i++) {
        const char *const *op = models[kind].op[i];
        made_op(s->m, op[0], op[1], op[2]);
        if (strcmp(op[0], "ReduceMean") == 0)
            made_attr_ints(s->m, "axes", "1");
    }
    for (int32_t i = 0; i < 3 && models[kind].out[i]; i++)
        made_output(s->m, models[kind].out[i]);
    made_build(s->m);
}

/* A plan that takes so much memory is found where there is no more. */
Test(small_joint, has_the_same_plan_within_its_own_peak)
{
    for (uint32_t seed = 1; seed <= test_effort(1000); seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        small *s = make_small_of(&(drawn){ seed % 2 ? make_model : make_shrinking_model, NULL },
                                 seed, CLV_LATENCY, arena);
        const clv_plan *free_plan = plan_within(s, INT64_C(1) << 40), *tight;
        int64_t peak = 1;
        cr_assert_eq(free_plan->outcome, CLV_FITS);
        for (int32_t d = 0; d < free_plan->n_devices; d++)
            if (free_plan->devices[d].peak_bytes > peak)
                peak = free_plan->devices[d].peak_bytes;
        tight = plan_within(s, peak);
        cr_expect_eq(tight->outcome, CLV_FITS, "seed %u: %s within %lld bytes", seed,
                     tight->stopped, (long long)peak);
        cr_expect_eq(clv_plan_objective_ns(tight), clv_plan_objective_ns(free_plan), "seed %u",
                     seed);
        clv_arena_free(arena);
    }
}

static int64_t least_memory(small *s)
{
    int64_t low = 1, high = INT64_C(1) << 22;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (plan_within(s, middle)->outcome == CLV_FITS)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* A tenth below the least memory that is enough, up to a fifth above it. */
Test(small_joint, has_a_proof_near_the_least_memory)
{
    for (uint32_t seed = 31; seed < 31 + test_effort(6); seed++)
        for (int i = 0; i < 2; i++) {
            clv_arena *arena = clv_arena_new(NULL, 0);
            small *s = make_small_of(&(drawn){ seed % 2 ? make_model : make_branching_model, NULL },
                                     seed, i ? CLV_THROUGHPUT : CLV_LATENCY, arena);
            s->req.terse = true;
            s->req.microbatches = seed % 3 ? 0 : 4;
            int64_t least = least_memory(s);
            for (int64_t at = 90; at <= 120; at += 5) {
                const clv_plan *plan = plan_within(s, least * at / 100);
                cr_expect(strcmp(plan->stopped, "optimal") == 0 ||
                              strcmp(plan->stopped, "infeasible") == 0,
                          "seed %u, objective %d: %s within %lld %% of %lld bytes", seed, i,
                          plan->stopped, (long long)at, (long long)least);
            }
            clv_arena_free(arena);
        }
}

/* Within so little memory that what is in flight counts. False: nothing fits. */
static bool check_numbers(small *s, uint32_t seed)
{
    int64_t best_ns = INT64_MAX;
    s->kind.memory_bytes = draw(s, 20000, 300000);
    const clv_plan *plan = plan_within(s, s->kind.memory_bytes);
    for (int32_t n = 1; n < s->cluster.n_devices; n *= 2) {
        const clv_plan *of_n;
        s->req.microbatches = n;
        of_n = plan_within(s, s->kind.memory_bytes);
        if (of_n->outcome == CLV_FITS && clv_plan_objective_ns(of_n) < best_ns)
            best_ns = clv_plan_objective_ns(of_n);
    }
    if (plan->outcome != CLV_FITS) {
        cr_expect_eq(best_ns, INT64_MAX, "seed %u: none fits, with another number %lld", seed,
                     (long long)best_ns);
        return best_ns < INT64_MAX;
    }
    cr_expect_leq(clv_plan_objective_ns(plan), best_ns,
                  "seed %u, %lld B: %lld a sample (%s), with another number %lld", seed,
                  (long long)s->kind.memory_bytes, (long long)clv_plan_objective_ns(plan),
                  plan->stopped, (long long)best_ns);
    cr_expect_leq(plan->bound_ns, best_ns, "seed %u: bound %lld", seed, (long long)plan->bound_ns);
    return true;
}

/* Where the number of micro-batches is open, the plan is as good as that of any that is given. */
Test(small_joint, has_the_best_number_of_microbatches)
{
    uint64_t left = test_effort(30);
    for (uint32_t seed = 1; left > 0; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        left -= check_numbers(make_small(seed, CLV_THROUGHPUT, arena), seed);
        clv_arena_free(arena);
    }
}
