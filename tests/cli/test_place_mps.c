/* test_place_mps.c - --mps: what another solver makes of it is what we say. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/placement/small_placement.h"
#include "support/run.h"

static char *folder;

static void set_up(void) { folder = folder_new(); }
static void tear_down(void) { folder_free(folder); }

TestSuite(place_mps, .init = set_up, .fini = tear_down, .timeout = 300);

static void write_nodes(FILE *f, const clv_place_problem *p)
{
    for (int32_t v = 0; v < p->n_nodes; v++)
        fprintf(f,
                "%s{\"id\": %d, \"cpuLatency\": %.17g, \"fpgaLatency\": %.17g, "
                "\"supportedOnFpga\": %d, \"isBackwardNode\": %d, \"colorClass\": %d, "
                "\"size\": %d}",
                v ? "," : "", (int)v, p->time[p->n_nodes + v], p->time[v] < 0 ? 1 : p->time[v],
                p->time[v] >= 0, p->backward[v], (int)p->class_of[v], (int)p->bytes[v]);
}

static void write_workload(const clv_place_problem *p)
{
    char path[200];
    int64_t room = p->kinds[0].capacity_bytes;
    snprintf(path, sizeof path, "%s/w.json", folder);
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fprintf(f, "{\"maxFPGAs\": %d, \"maxCPUs\": %d, \"maxSizePerFPGA\": %lld, \"nodes\": [",
            (int)p->kinds[0].count, (int)p->kinds[1].count, (long long)(room < 0 ? 1000 : room));
    write_nodes(f, p);
    fprintf(f, "], \"edges\": [");
    for (int32_t u = 0, n = 0; u < p->n_nodes; u++)
        for (int32_t i = p->out_first[u]; i < p->out_first[u + 1]; i++)
            fprintf(f, "%s{\"sourceId\": %d, \"destId\": %d, \"cost\": %.17g}", n++ ? "," : "",
                    (int)u, (int)p->out[i], p->send_cost[u]);
    fprintf(f, "]}\n");
    fclose(f);
}

static double number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    cr_assert(at, "no %s in %s", key, text);
    return strtod(at + strlen(key), NULL);
}

/* What glpsol finds; INFINITY: no solution. */
static double glpsol_optimum(void)
{
    run_result r = run_in(folder, "glpsol --freemps p.mps -w p.sol");
    cr_assert_eq(r.code, 0, "%s%s", r.out, r.err);
    char *solution = file_text(folder, "p.sol", NULL), kind;
    double objective = INFINITY;
    cr_assert_not_null(solution);
    const char *line = strstr(solution, "\ns mip ");
    cr_assert(line && sscanf(line, "\ns mip %*d %*d %c %lf", &kind, &objective) == 2);
    free(solution);
    run_free(&r);
    return kind == 'o' ? objective : INFINITY;
}

static void check(const clv_place_problem *p, bool contiguous, clv_arena *arena)
{
    clv_place_rules rules = { CLV_PLACE_THROUGHPUT, contiguous, 0 };
    double best = small_best(p, &rules, arena), theirs = glpsol_optimum();
    run_result r =
        run_in(folder, "%s place w.json %s --json", TEST_CLEAVE, contiguous ? "" : "--free");
    cr_assert_eq(isinf(best), isinf(theirs));
    cr_assert(r.code == (isinf(best) ? 3 : 0) || (!contiguous && r.code == 3), "%d: %s", r.code,
              r.err);
    if (r.code == 0) {
        double ours = number_behind(r.out, "\"objective\": ");
        cr_assert_float_eq(theirs, best, 1e-6, "%g, not %g", theirs, best);
        cr_assert_geq(ours, best - 1e-9);
        cr_assert_leq(number_behind(r.out, "\"bound\": "), theirs + 1e-6);
        if (contiguous)
            cr_assert_float_eq(ours, theirs, 1e-6, "%g, not %g", ours, theirs);
    }
    run_free(&r);
}

/* Where glpsol (Debian: glpk-utils) is installed. The programs themselves are solved by
 * tests/solver/placement/test_mip_formulation.c, their text is read by
 * tests/solver/common/test_ilp.c. */
Test(place_mps, glpsol_finds_our_optimum)
{
    const small_size size = { 7, 5, 3, 1 };
    run_result has = run_in(folder, "command -v glpsol");
    for (uint64_t seed = 0; seed < 40; seed++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_place_problem *p = small_placement(seed, &size, arena);
        bool contiguous = seed % 2;
        write_workload(p);
        run_result r = run_in(folder, "%s place w.json %s --mps p.mps", TEST_CLEAVE,
                              contiguous ? "" : "--free");
        cr_assert(r.code == 0 || r.code == 3, "%d: %s", r.code, r.err);
        char *text = file_text(folder, "p.mps", NULL);
        cr_assert(text && strncmp(text, contiguous ? "NAME contiguous" : "NAME free", 9) == 0);
        free(text);
        run_free(&r);
        if (has.code == 0)
            check(p, contiguous, arena);
        clv_arena_free(arena);
    }
    run_free(&has);
}

static void refused(const char *arguments, const char *words)
{
    run_result r = run_in(folder, "%s place %s", TEST_CLEAVE, arguments);
    cr_expect_eq(r.code, 2, "%s: %d", arguments, r.code);
    cr_expect(strstr(r.err, words), "%s: %s", arguments, r.err);
    run_free(&r);
}

Test(place_mps, is_refused_where_it_says_nothing_or_overwrites)
{
    const small_size size = { 7, 5, 3, 1 };
    clv_arena *arena = clv_arena_new(NULL, 0);
    write_workload(small_placement(3, &size, arena));
    refused("w.json --objective latency --mps p.mps", "--mps goes with");
    refused("w.json --mps w.json", "is the input itself");
    refused("w.json -o p --mps p", "is also");
    cr_assert_eq(folder_count(folder), 1);
    run_result r = run_in(folder, "%s place w.json --mps none/p.mps", TEST_CLEAVE);
    cr_assert_eq(r.code, 74, "%d %s", r.code, r.err);
    run_free(&r);
    clv_arena_free(arena);
}
