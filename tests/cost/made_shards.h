/* made_shards.h - the strategy problem of a made model on a mesh, for tests from cost/ on. */
#ifndef CLV_TESTS_COST_MADE_SHARDS_H
#define CLV_TESTS_COST_MADE_SHARDS_H

#include "cost/made.h"
#include "cost/shard_problem.h"
#include "sharding/graph_factors.h"

/* All of it in the model's arena. */
typedef struct {
    clv_op_classes *classes;
    clv_resharder *resharder;
    clv_shard_tables *tables;
    clv_shard_problem *problem;
} made_shards;

/* Of 1 GiB, and a teraFLOP a second for floats. */
static inline clv_device_kind made_kind(void)
{
    clv_device_kind kind = { .name = "a",
                             .memory_bytes = 1 << 30,
                             .memory_bytes_per_s = 1e11,
                             .matrix_efficiency = 1,
                             .vector_efficiency = 1,
                             .memory_efficiency = 1,
                             .launch_ns = 500,
                             .workspace_proportion = 1 };
    kind.matrix_per_s[CLV_DT_FLOAT] = kind.vector_per_s[CLV_DT_FLOAT] = 1e12;
    return kind;
}

/* Devices of that kind on servers: links of 1 us and 100 GB/s within one, of 5 us and 10 GB/s from
 * one to the other. It stays where it is, for it points into itself. */
#define MADE_DEVICES 8
typedef struct {
    clv_device_kind kind;
    clv_device devices[MADE_DEVICES];
    clv_route routes[MADE_DEVICES * MADE_DEVICES];
    clv_cluster cluster;
} made_servers;

static inline const clv_cluster *made_servers_set(made_servers *s, int32_t n, int32_t in_server)
{
    s->kind = made_kind();
    for (int32_t d = 0; d < n; d++) {
        s->devices[d] = (clv_device){ 0, "device" };
        for (int32_t e = 0; e < n; e++) {
            bool near = d / in_server == e / in_server;
            s->routes[d * n + e] = (clv_route){ .latency_ns = d == e ? 0
                                                              : near ? 1000
                                                                     : 5000,
                                                .bytes_per_s = near ? 1e11 : 1e10 };
        }
    }
    s->cluster = (clv_cluster){ .name = "made",
                                .n_kinds = 1,
                                .n_devices = n,
                                .kinds = &s->kind,
                                .devices = s->devices,
                                .routes = s->routes };
    return &s->cluster;
}

/* Of x, "c". */
static inline void made_two_products(made *m)
{
    made_input(m, "x", CLV_DT_FLOAT, "8,64,128");
    made_weight(m, "up", CLV_DT_FLOAT, "128,512");
    made_weight(m, "down", CLV_DT_FLOAT, "512,128");
    made_op(m, "MatMul", "x,up", "a");
    made_op(m, "Relu", "a", "b");
    made_op(m, "MatMul", "b,down", "c");
}

/* x, a residual around two products, and their sum: x is read twice. */
static inline void made_mlp(made *m)
{
    made_two_products(m);
    made_op(m, "Add", "x,c", "y");
    made_op(m, "Softmax", "y", "z");
}

/* A mesh "2x4" of the first devices. */
static inline const clv_mesh *made_mesh(made *m, const clv_cluster *cluster, const char *form)
{
    static const int32_t order[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    const clv_mesh *mesh;
    clv_mesh_form shape;
    int32_t n = 1;
    cr_assert_eq(clv_mesh_form_parse(form, m->arena, &shape, &m->err), CLV_OK, "%s",
                 m->err.message);
    for (int32_t a = 0; a < shape.n_axes; a++)
        n *= shape.size[a];
    cr_assert_leq(n, 8);
    cr_assert_eq(
        clv_mesh_make(&shape, cluster, (clv_mesh_devices){ order, n }, m->arena, &mesh, &m->err),
        CLV_OK);
    return mesh;
}

/* The model must be built. share: what is alike is looked at once. */
static inline made_shards made_shards_of(made *m, const clv_cluster *cluster, const clv_mesh *mesh,
                                         bool share, int64_t limit)
{
    made_shards s = { .classes = CLV_NEW(m->arena, clv_op_classes) };
    clv_factors *factors;
    cr_assert_eq(clv_resharder_new(mesh, cluster, NULL, m->arena, &s.resharder, &m->err), CLV_OK);
    cr_assert_eq(clv_factors_all(m->model, m->types, m->arena, &factors, &m->err), CLV_OK);
    cr_assert_eq(clv_op_classes_make(m->types, factors, m->costs, m->arena, s.classes, &m->err),
                 CLV_OK);
    clv_shard_space space = { .types = m->types,
                              .factors = factors,
                              .costs = m->costs,
                              .classes = share ? s.classes : NULL,
                              .cluster = cluster,
                              .mesh = mesh,
                              .resharder = s.resharder };
    cr_assert_eq(clv_shard_tables_new(&space, m->arena, &s.tables, &m->err), CLV_OK);
    cr_assert_eq(clv_shard_problem_build(s.tables, limit, m->arena, &s.problem, &m->err), CLV_OK,
                 "%s", m->err.message);
    return s;
}

#endif
