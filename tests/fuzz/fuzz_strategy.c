/* fuzz_strategy.c - any bytes as a strategy problem: refused in a sentence, or whole; then the
 * judge says what sums over every moment say, and the solver's solutions and bounds hold against
 * all solutions there are. */
#include <stdlib.h>
#include <string.h>

#include "problem/intra_op_json.h"
#include "solver/intra_op/solve.h"

#define MEMORY_MAX    ((size_t)256 << 20)
#define SOLUTIONS_MAX 512 /* of a problem, for all of them to be tried */
#define NODES_MAX     16
#define SOLVE_LOOKS   64 /* of the solver at its clock, then it is stopped */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool yes)
{
    if (!yes)
        abort();
}

static void is_node_whole(const clv_intra_op_problem *p, int32_t v)
{
    int32_t n = clv_intra_op_n_choices(p, v);
    must(n >= 1 && p->first_span[v] <= p->first_span[v + 1]);
    for (int32_t i = 0; i < n; i++)
        must(p->cost[p->first_choice[v] + i] >= 0);
    for (int32_t s = p->first_span[v]; s < p->first_span[v + 1]; s++) {
        must(p->span_lo[s] < p->span_hi[s]);
        for (int32_t i = 0; i < n; i++)
            must(p->usage[p->span_usage[s] + i] >= 0);
    }
}

static void is_edge_whole(const clv_intra_op_problem *p, int32_t e)
{
    int32_t m = p->matrix_of[e];
    int64_t n = 1;
    must(m >= 0 && m < p->n_matrices && p->first_end[e] < p->first_end[e + 1]);
    for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++) {
        must(p->end[i] >= 0 && p->end[i] < p->n_nodes);
        n *= clv_intra_op_n_choices(p, p->end[i]);
    }
    must(p->first_entry[m + 1] - p->first_entry[m] == n);
    for (int64_t i = p->first_entry[m]; i < p->first_entry[m + 1]; i++)
        must(p->entry[i] >= 0);
}

static void is_whole(const clv_intra_op_problem *p)
{
    must(p->first_choice[0] == 0 && p->first_span[0] == 0 && p->first_end[0] == 0);
    must(p->usage_limit >= 0 || p->usage_limit == CLV_INTRA_OP_UNLIMITED);
    for (int32_t v = 0; v < p->n_nodes; v++)
        is_node_whole(p, v);
    for (int32_t e = 0; e < p->n_edges; e++)
        is_edge_whole(p, e);
}

static clv_int128 held_at(const clv_intra_op_problem *p, const int32_t *choice_of, int64_t time)
{
    clv_int128 sum = 0;
    for (int32_t v = 0; v < p->n_nodes; v++)
        for (int32_t s = p->first_span[v]; s < p->first_span[v + 1]; s++)
            if (p->span_lo[s] <= time && time < p->span_hi[s])
                sum += p->usage[p->span_usage[s] + choice_of[v]];
    return sum;
}

/* The cost of a solution, -1 of one that is over the limit. */
static clv_int128 cost_of(const clv_intra_op_problem *p, const int32_t *choice_of)
{
    clv_int128 cost = 0;
    for (int32_t s = 0; s < p->first_span[p->n_nodes]; s++) /* peaks are where spans begin */
        if (p->usage_limit >= 0 && held_at(p, choice_of, p->span_lo[s]) > p->usage_limit)
            return -1;
    for (int32_t v = 0; v < p->n_nodes; v++)
        cost += p->cost[p->first_choice[v] + choice_of[v]];
    for (int32_t e = 0; e < p->n_edges; e++) {
        int64_t at = 0;
        for (int32_t i = p->first_end[e]; i < p->first_end[e + 1]; i++)
            at = at * clv_intra_op_n_choices(p, p->end[i]) + choice_of[p->end[i]];
        cost += p->entry[p->first_entry[p->matrix_of[e]] + at];
    }
    return cost;
}

/* How many solutions there are, or a number above SOLUTIONS_MAX. */
static int32_t n_solutions(const clv_intra_op_problem *p)
{
    int64_t n = 1;
    for (int32_t v = 0; v < p->n_nodes && n <= SOLUTIONS_MAX; v++)
        n *= clv_intra_op_n_choices(p, v);
    return n <= SOLUTIONS_MAX ? (int32_t)n : SOLUTIONS_MAX + 1;
}

/* The least cost of all solutions, -1 where none is legal; the judge agrees on each. */
static clv_int128 best_of_all(const clv_intra_op_problem *p, int32_t n, clv_arena *arena)
{
    clv_int128 best = -1;
    for (int32_t solution = 0; solution < n; solution++) {
        int32_t choice_of[NODES_MAX] = { 0 }, left = solution;
        clv_intra_op_value value;
        for (int32_t v = 0; v < p->n_nodes; v++) {
            choice_of[v] = left % clv_intra_op_n_choices(p, v);
            left /= clv_intra_op_n_choices(p, v);
        }
        clv_int128 cost = cost_of(p, choice_of);
        must(clv_intra_op_judge(p, choice_of, arena, &value, NULL) == CLV_OK);
        must(value.legal == (cost >= 0) && (!value.legal || value.cost == cost));
        must(value.legal || value.why[0]);
        if (cost >= 0 && (best < 0 || cost < best))
            best = cost;
    }
    return best;
}

static bool is_enough(void *ctx) { return ++*(int *)ctx > SOLVE_LOOKS; }

/* Whatever a solution says of itself is so, whenever it is asked for. */
static void solver_is_honest(const clv_intra_op_problem *p, clv_arena *arena, clv_int128 best)
{
    int looks = 0;
    clv_intra_op_options options = { .solve.jobs = 1,
                                     .solve.stop = is_enough,
                                     .solve.stop_ctx = &looks };
    clv_intra_op_result r;
    clv_status status = clv_intra_op_solve(p, &options, arena, &r, NULL);
    must(status == CLV_OK || status == CLV_ENOMEM);
    if (status != CLV_OK)
        return;
    must(!r.solve.found || (best >= 0 && cost_of(p, r.solve.solution) == r.value.cost));
    must(r.solve.found || r.solve.end != CLV_END_OPTIMAL);
    must(r.solve.end != CLV_END_INFEASIBLE || (best < 0 && !r.solve.found && r.solve.why[0]));
    must(best < 0 || r.solve.bound.whole <= best);
    must(r.solve.end != CLV_END_OPTIMAL || r.value.cost == best);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, MEMORY_MAX);
    const clv_intra_op_problem *p = NULL;
    clv_error err = { 0 };
    must(arena != NULL);
    clv_status status = clv_intra_op_read_text((const char *)data, size, "fuzz", arena, &p, &err);
    must((status == CLV_OK) == (p != NULL));
    must(status == CLV_OK || status == CLV_EFORMAT || status == CLV_ELIMIT || status == CLV_ENOMEM);
    must(status == CLV_OK || (err.message[0] && memchr(err.message, '\0', sizeof err.message)));
    if (p)
        is_whole(p);
    if (p && p->n_nodes <= NODES_MAX && n_solutions(p) <= SOLUTIONS_MAX)
        solver_is_honest(p, arena, best_of_all(p, n_solutions(p), arena));
    clv_arena_free(arena);
    return 0;
}
