#include "solver/placement/portfolio.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "solver/placement/common/contraction.h"
#include "solver/placement/contiguous/contiguous.h"
#include "solver/placement/contiguous/order_dp.h"
#include "solver/placement/fewest_devices.h"
#include "solver/placement/latency/enumerate_assignments.h"
#include "solver/placement/latency/latency.h"
#include "solver/placement/mip/mip_search.h"
#include "solver/placement/noncontiguous/noncontiguous.h"

/* Objective and bound are the same within this part: what rounding to ticks can lose is far less
 * (2^-56 of all work, for each node). */
#define PROOF_PART 1e-9

/* More nodes have a line of filled devices as a first solution for latency, too. */
#define FILL_NODES 5000

/* -- what is infeasible at once -- */

static bool fits_somewhere(const clv_contraction *b, int32_t u)
{
    for (int32_t k = 0; k < b->n_kinds; k++) {
        const clv_place_kind *kind = &b->p->kinds[k];
        if (kind->count > 0 && clv_block_time(b, k, u) != CLV_BLOCK_NEVER &&
            (kind->capacity_bytes < 0 || b->bytes[u] <= kind->capacity_bytes))
            return true;
    }
    return false;
}

static void prove_infeasible(clv_place_search *s, const char *fmt, ...) CLV_PRINTF(2, 3);
static void prove_infeasible(clv_place_search *s, const char *fmt, ...)
{
    clv_solve_result *r = &s->result->solve;
    va_list args;
    clv_place_raise(s, "memory", INFINITY);
    va_start(args, fmt);
    clv_words(r->why, sizeof r->why, fmt, args);
    va_end(args);
}

/* A block that no device can take, or more bytes than all devices hold. */
static void check_memory(clv_place_search *s, const clv_contraction *b)
{
    const clv_place_problem *p = s->p;
    clv_int128 bytes = clv_place_bytes(p), room = clv_place_room(p);
    char all[CLV_INT128_TEXT], most[CLV_INT128_TEXT];
    for (int32_t v = 0; v < p->n_nodes; v++) {
        if (fits_somewhere(b, b->block_of[v]))
            continue;
        prove_infeasible(
            s,
            "node %lld and what must be with it hold %lld bytes and fit no device that "
            "can run them",
            (long long)p->id[v], (long long)b->bytes[b->block_of[v]]);
        return;
    }
    if (room != CLV_PLACE_UNLIMITED && bytes > room)
        prove_infeasible(s, "all nodes hold %s bytes, and all devices %s",
                         clv_int128_text(all, bytes), clv_int128_text(most, room));
}

/* -- the methods -- */

/* Everything on one device, of each kind: a solution at once. */
static clv_status try_one_device(clv_place_search *s, clv_arena *arena, clv_error *err)
{
    const clv_place_problem *p = s->p;
    int32_t device = 0, *device_of = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes);
    if (!device_of)
        return clv_fail_nomem(err, "a placement");
    for (int32_t k = 0; k < p->n_kinds; device += p->kinds[k++].count) {
        if (p->kinds[k].count == 0)
            continue;
        for (int32_t v = 0; v < p->n_nodes; v++)
            device_of[v] = device;
        CLV_TRY(clv_place_offer(s, "one device", device_of, err));
    }
    return CLV_OK;
}

/* Where there are few assignments: what no other method may prove. */
static clv_status try_all(clv_place_search *s, clv_enumeration_effort effort, clv_arena *arena,
                          clv_error *err)
{
    clv_latency_tables *tables;
    if (clv_place_over(s))
        return CLV_OK;
    CLV_TRY(clv_latency_tables_new(s->p, s->options->rules.contiguous, arena, &tables, err));
    return clv_enumerate_assignments(s, tables, effort, arena, err);
}

static clv_status run_methods(clv_place_search *s, clv_arena *arena, clv_error *err)
{
    const clv_place_rules *rules = &s->options->rules;
    bool devices = rules->objective == CLV_PLACE_DEVICES;
    clv_contraction *b;
    CLV_TRY(clv_contraction_new(s->p, rules, arena, &b, err));
    check_memory(s, b);
    if (clv_place_over(s))
        return CLV_OK;
    CLV_TRY(try_one_device(s, arena, err));
    if (devices)
        clv_place_raise(s, "one device", s->p->n_nodes > 0 ? 1 : 0);
    if (!s->options->late_enumeration)
        CLV_TRY(try_all(s, CLV_ENUMERATE_SOME, arena, err));
    if (clv_place_over(s))
        return CLV_OK;
    if (rules->objective == CLV_PLACE_LATENCY) {
        if (s->p->n_nodes > FILL_NODES) /* small ones have better first solutions */
            CLV_TRY(clv_greedy_fill(s, b, arena, err));
        return clv_latency_solve(s, arena, err);
    }
    if (rules->contiguous)
        CLV_TRY(clv_contiguous_solve(s, b, arena, err));
    else
        CLV_TRY(devices ? clv_fewest_devices_solve(s, arena, err)
                        : clv_noncontiguous_solve(s, b, arena, err));
    CLV_TRY(try_all(s, CLV_ENUMERATE_LAST, arena, err));
    if (devices || clv_place_over(s))
        return CLV_OK;
    CLV_TRY(clv_mip_raise_bound(s, b, arena, err));
    return clv_mip_improve(s, b, arena, err);
}

static void close_search(clv_place_search *s)
{
    clv_solve_result *r = &s->result->solve;
    clv_incumbent_close(&s->incumbent);
    if (r->end == CLV_END_INFEASIBLE && !r->why[0])
        snprintf(r->why, sizeof r->why, "no assignment keeps all rules");
    if (r->end == CLV_END_OPTIMAL && !clv_objval_less(r->bound, r->value))
        r->bound = r->value; /* rounding */
}

clv_status clv_place_solve(const clv_place_problem *p, const clv_place_options *options,
                           clv_arena *arena, clv_place_result *ret, clv_error *err)
{
    assert(p && options && arena && ret);
    clv_place_result result = { .value = { 0 } };
    clv_place_search s = { .p = p,
                           .options = options,
                           .result = &result,
                           .solve_part = clv_place_solve,
                           .judge_arena = clv_arena_new(clv_arena_alloc(arena), 0) };
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    clv_status status = scratch && s.judge_arena ? CLV_OK : clv_fail_nomem(err, "a placement");
    if (status == CLV_OK)
        status = clv_incumbent_open(&s.incumbent, &options->solve, p->n_nodes, arena, &result.solve,
                                    err);
    s.incumbent.proof_part = PROOF_PART;
    clv_place_find_step(&s);
    if (status == CLV_OK)
        status = run_methods(&s, scratch, err);
    if (status == CLV_OK) {
        close_search(&s);
        *ret = result;
    }
    clv_arena_free(scratch);
    clv_arena_free(s.judge_arena);
    return status;
}
