/* fuzz_workload.c - any bytes as a workload: refused in a sentence, or whole; and then two judges
 * that share no code say the same of any assignment. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problem/place_json.h"
#include "solver/placement/portfolio.h"
#include "tests/support/place_convert.h"

#define MEMORY_MAX  ((size_t)256 << 20)
#define ASSIGNMENTS 8
#define SOLVE_NODES 12
#define SOLVE_LOOKS 64 /* of the solver at the clock, then it is stopped */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool yes)
{
    if (!yes)
        abort();
}

static void is_node_whole(const clv_place_problem *p, int32_t v, const int32_t *place)
{
    must(p->class_of[v] >= 0 && p->class_of[v] < p->n_classes);
    must(p->bytes[v] >= 0 && p->send_cost[v] >= 0 && isfinite(p->send_cost[v]));
    must(p->out_first[v] <= p->out_first[v + 1]);
    must(p->send_cost[v] == 0 || p->out_first[v] < p->out_first[v + 1]);
    for (int32_t k = 0; k < p->n_kinds; k++) {
        double time = p->time[(size_t)k * (size_t)p->n_nodes + (size_t)v];
        must(isfinite(time) && (time >= 0 || time == CLV_PLACE_NEVER));
    }
    for (int32_t i = p->out_first[v]; i < p->out_first[v + 1]; i++) {
        must(place[p->out[i]] > place[v]);
        must(!p->backward[v] || p->backward[p->out[i]]);
    }
}

static void is_whole(const clv_place_problem *p, clv_arena *arena)
{
    int32_t *place = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes + 1); /* 0: in no place yet */
    must(place && clv_place_devices(p) > 0);
    must(p->out_first[0] == 0 && p->out_first[p->n_nodes] == p->n_edges);
    for (int32_t i = 0; i < p->n_nodes; i++) {
        must(p->order[i] >= 0 && p->order[i] < p->n_nodes && place[p->order[i]] == 0);
        place[p->order[i]] = i + 1;
    }
    for (int32_t v = 0; v < p->n_nodes; v++)
        is_node_whole(p, v, place);
}

/* Sums of the same numbers in another order. */
static bool close_to(double a, double b) { return a == b || fabs(a - b) <= 1e-12 * fabs(b); }

static void judges_agree(const clv_place_problem *p, clv_arena *arena, uint64_t random)
{
    static oracle_problem of;
    int device_of[ORACLE_NODES];
    if (!oracle_of(p, &of))
        return;
    for (int i = 0; i < ASSIGNMENTS; i++) {
        oracle_rules rules = { (oracle_objective)(i % 3), i % 2, 0 };
        clv_place_rules same = placement_rules(&rules);
        clv_place_value value;
        oracle_assign(&random, &of, device_of);
        oracle_value want = oracle_judge(&of, &rules, device_of);
        must(clv_place_judge(p, &same, device_of, arena, &value, NULL) == CLV_OK);
        must(value.legal == want.legal);
        must(want.legal || value.why[0]);
        must(!want.legal ||
             (close_to(value.objective, want.objective) && close_to(value.latency, want.latency)));
    }
}

static bool is_enough(void *ctx) { return ++*(int *)ctx > SOLVE_LOOKS; }

/* Whatever a solution says of itself is so, whenever it is asked for. */
static void solver_is_honest(const clv_place_problem *p, clv_arena *arena, size_t size)
{
    static oracle_problem of;
    int looks = 0;
    oracle_rules rules = { (oracle_objective)(size % 3), size / 3 % 2, 0 };
    clv_place_options options = { .rules = placement_rules(&rules),
                                  .solve.stop = is_enough,
                                  .solve.stop_ctx = &looks };
    clv_place_result r;
    if (p->n_nodes > SOLVE_NODES || !oracle_of(p, &of))
        return;
    clv_status status = clv_place_solve(p, &options, arena, &r, NULL);
    must(status == CLV_OK || status == CLV_ENOMEM);
    if (status != CLV_OK || !r.solve.found)
        return;
    oracle_value value = oracle_judge(&of, &rules, r.solve.solution);
    must(value.legal && close_to(r.value.objective, value.objective));
    must(r.solve.bound.real <= r.value.objective);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, MEMORY_MAX);
    clv_place_problem *p = NULL;
    clv_error err = { 0 };
    must(arena != NULL);
    clv_status status = clv_place_read_text((const char *)data, size, "fuzz", arena, &p, &err);
    must((status == CLV_OK) == (p != NULL));
    must(status == CLV_OK || status == CLV_EFORMAT || status == CLV_ELIMIT || status == CLV_ENOMEM);
    must(status == CLV_OK || (err.message[0] && memchr(err.message, '\0', sizeof err.message)));
    if (p) {
        is_whole(p, arena);
        judges_agree(p, arena, size);
        solver_is_honest(p, arena, size);
    }
    clv_arena_free(arena);
    return 0;
}
