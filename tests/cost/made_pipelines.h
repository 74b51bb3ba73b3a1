/* made_pipelines.h - a strategy problem with its critical path, and random models and stages, for
 * tests of what plans take at least.
 */
#ifndef CLV_TESTS_COST_MADE_PIPELINES_H
#define CLV_TESTS_COST_MADE_PIPELINES_H

#include "cost/made_shards.h"
#include "cost/shard_path_bound.h"
#include "problem/intra_op_problem.h"

#define N_DEVICES 4

static clv_arena *arena;
static made *m;
static made_servers servers;
static const clv_cluster *cluster;
static clv_shard_problem *problem;
static clv_shard_tables *tables;

static inline void setup(void)
{
    arena = clv_arena_new(NULL, 0);
    m = made_new(arena);
    cluster = made_servers_set(&servers, N_DEVICES, N_DEVICES);
}
static inline void teardown(void) { clv_arena_free(arena); }

static inline void build(const char *form)
{
    made_build(m);
    made_shards s =
        made_shards_of(m, cluster, made_mesh(m, cluster, form), false, CLV_INTRA_OP_UNLIMITED);
    tables = s.tables;
    problem = s.problem;
}

/* Dealt out to so many stages that the way alone counts, or to these. */
static inline clv_int128 path_ns_of(const clv_shard_path **way, int32_t stages)
{
    clv_int128 ns;
    cr_assert_eq(clv_shard_path_find(m->costs, &servers.kind, arena, way, &m->err), CLV_OK);
    cr_assert_eq(clv_shard_path_bound_ns(tables, *way, stages, &ns, &m->err), CLV_OK);
    return ns;
}

static inline clv_int128 path_ns(const clv_shard_path **way) { return path_ns_of(way, 1000); }

static inline int64_t least_ns(int32_t op)
{
    const clv_op_table *table;
    cr_assert_eq(clv_shard_table_of(tables, (clv_op){ op }, &table, &m->err), CLV_OK);
    return table->least_ns;
}

static inline uint32_t drawn(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static inline void random_graph(uint32_t *seed, int32_t n, const char *dims)
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
static inline void draw_stages(uint32_t *seed, int32_t stages, int32_t *stage_of)
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

#endif
