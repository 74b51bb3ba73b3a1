/* test_intra_op_json.c - problems of the contest: what is read, and what is refused how. */
#include "problem/intra_op_json.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/effort.h"
#include "support/failing_alloc.h"
#include "support/run.h"

static clv_error err;

static const clv_intra_op_problem *read_ok(const char *text, clv_arena *arena)
{
    const clv_intra_op_problem *p = NULL;
    clv_status s = clv_intra_op_read_text(text, strlen(text), "p.json", arena, &p, &err);
    cr_assert_eq(s, CLV_OK, "%s: %s", text, err.message);
    return p;
}

static void refused(const char *text, const char *message)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = NULL;
    clv_status s = clv_intra_op_read_text(text, strlen(text), "p.json", arena, &p, &err);
    cr_expect_eq(s, CLV_EFORMAT, "%s gave %d", text, (int)s);
    cr_expect_null(p);
    cr_expect_str_eq(err.message, message, "%s: %s", text, err.message);
    clv_arena_free(arena);
}

static clv_int128 cost_of(const clv_intra_op_problem *p, const int32_t *choice_of, clv_arena *arena)
{
    clv_intra_op_value value;
    cr_assert_eq(clv_intra_op_judge(p, choice_of, arena, &value, &err), CLV_OK);
    return value.legal ? value.cost : -1;
}

/* Two nodes of 2 and 3 choices; the parts that tests change. */
#define PROBLEM(nodes, edges, more)                                                                \
    "{\"problem\":{\"nodes\":{" nodes "},\"edges\":{" edges "}" more "}}"
#define INTERVALS "\"intervals\":[[0,2],[1,3]]"
#define COSTS     "\"costs\":[[1,2],[3,4,5]]"
#define USAGES    "\"usages\":[[1,2],[3,4,5]]"
#define NODES     INTERVALS "," COSTS "," USAGES
#define ENDS      "\"nodes\":[[0,1]]"
#define ENTRIES   "\"costs\":[[0,10,20,30,40,50]]"
#define EDGES     ENDS "," ENTRIES

/* -- what is read -- */

Test(intra_op_json, the_example_of_the_contest)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = NULL;
    clv_status s = clv_intra_op_read_file(TEST_SOURCE_DIR "/tests/data/strategy/example.json",
                                          arena, &p, &err);
    cr_assert_eq(s, CLV_OK, "%s", err.message);
    cr_expect_str_eq(p->name, "example");
    cr_expect(p->n_nodes == 5 && p->n_edges == 5 && p->n_matrices == 5 && p->usage_limit == 50);
    clv_int128 best = -1;
    for (int32_t i = 0; i < 12; i++) { /* all solutions: 1 x 2 x 3 x 2 x 1 */
        clv_int128 cost = cost_of(p, (int32_t[]){ 0, i % 2, i / 2 % 3, i / 6, 0 }, arena);
        if (cost >= 0 && (best < 0 || cost < best))
            best = cost;
    }
    cr_expect(best == 445);
    clv_arena_free(arena);
}

/* The example of docs/formats/strategy.md, and what it says of it. */
Test(intra_op_json, the_example_of_the_docs)
{
    char *text = file_text(TEST_SOURCE_DIR "/docs/formats", "strategy.md", NULL);
    char *start = strstr(text, "```json\n"), *end = strstr(start + 8, "```");
    *end = '\0';
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = read_ok(start + 8, arena);
    cr_expect(cost_of(p, (int32_t[]){ 0, 0, 0 }, arena) == 40);
    cr_expect(cost_of(p, (int32_t[]){ 0, 0, 1 }, arena) == 42);
    cr_expect(cost_of(p, (int32_t[]){ 1, 0, 0 }, arena) == -1);
    clv_arena_free(arena);
    free(text);
}

Test(intra_op_json, keys_may_come_in_any_order)
{
    static const char *const texts[] = {
        PROBLEM(NODES, EDGES, ",\"usage_limit\":7,\"name\":\"n\""),
        "{\"problem\":{\"usage_limit\":7,\"edges\":{" ENTRIES "," ENDS
        "},\"name\":\"n\",\"nodes\":{" USAGES "," COSTS "," INTERVALS "}}}",
        " {\n \"problem\" : { \"name\": \"n\", \"usage_limit\": 7.0, \"nodes\": {\n" COSTS
        ",\n" USAGES ",\n" INTERVALS "},\n \"edges\": {" EDGES "}\n}\n}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        const clv_intra_op_problem *p = read_ok(texts[i], arena);
        cr_expect_str_eq(p->name, "n");
        cr_expect_eq(p->usage_limit, 7);
        cr_expect(cost_of(p, (int32_t[]){ 1, 2 }, arena) == 2 + 5 + 50);
        cr_expect(cost_of(p, (int32_t[]){ 0, 1 }, arena) == 1 + 4 + 10);
        clv_arena_free(arena);
    }
}

Test(intra_op_json, edges_of_one_node_and_of_three)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p =
        read_ok(PROBLEM("\"costs\":[[0,0],[0],[0,0]],\"intervals\":[[0,0],[5,5],[0,1]],\"usages\":["
                        "[],[],[1,2]]",
                        "\"nodes\":[[2,1,0],[0]],\"costs\":[[1,2,4,8],[100,200]]", ""),
                arena);
    cr_expect_eq(p->usage_limit, CLV_INTRA_OP_UNLIMITED);
    cr_expect_str_eq(p->name, "");
    cr_expect_eq(p->first_span[3], 1, "empty intervals are no spans");
    cr_expect(cost_of(p, (int32_t[]){ 0, 0, 0 }, arena) == 101);
    cr_expect(cost_of(p, (int32_t[]){ 1, 0, 0 }, arena) == 202);
    cr_expect(cost_of(p, (int32_t[]){ 0, 0, 1 }, arena) == 104, "the last varies fastest");
    clv_arena_free(arena);
}

Test(intra_op_json, parallel_edges_and_no_edges)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = read_ok(
        PROBLEM(
            NODES,
            "\"nodes\":[[0,1],[0,1],[1,0]],\"costs\":[[0,1,2,3,4,5],[0,1,2,3,4,5.0],[0,1,2,3,4,5]]",
            ""),
        arena);
    cr_expect_eq(p->n_matrices, 2, "one a shape");
    cr_expect(cost_of(p, (int32_t[]){ 1, 0 }, arena) == 2 + 3 + 3 + 3 + 1);
    p = read_ok(PROBLEM(NODES, "\"nodes\":[],\"costs\":[]", ""), arena);
    cr_expect_eq(p->n_edges, 0);
    p = read_ok(
        PROBLEM("\"costs\":[],\"usages\":[],\"intervals\":[]", "\"nodes\":[],\"costs\":[]", ""),
        arena);
    cr_expect_eq(p->n_nodes, 0);
    clv_arena_free(arena);
}

Test(intra_op_json, numbers_up_to_64_bits)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = read_ok(
        PROBLEM("\"costs\":[[9223372036854775807],[1e18]],\"usages\":[[9223372036854775807],[1E0]],"
                "\"intervals\":[[-9223372036854775808,9223372036854775807],[-5,-4]]",
                "\"nodes\":[[0,1]],\"costs\":[[9223372036854775807]]",
                ",\"usage_limit\":9223372036854775807"),
        arena);
    clv_intra_op_value value;
    char text[CLV_INT128_TEXT];
    cr_assert_eq(clv_intra_op_judge(p, (int32_t[]){ 0, 0 }, arena, &value, &err), CLV_OK);
    cr_expect_str_eq(clv_int128_text(text, value.cost), "19446744073709551614");
    cr_expect_str_eq(value.why,
                     "at time -5 the nodes hold 9223372036854775808, which is 1 more than the "
                     "limit of 9223372036854775807");
    cr_expect_eq(value.nevers, 3);
    clv_arena_free(arena);
}

/* -- what is refused -- */

Test(intra_op_json, rows_that_do_not_fit_each_other)
{
    refused(PROBLEM(NODES, ENDS ",\"costs\":[[0,1,2,3,4]]", ""),
            "p.json: problem.edges.costs[0] has 5 entries, expected 2 x 3");
    refused(PROBLEM(NODES, ENDS ",\"costs\":[[0,1,2,3,4,5,6]]", ""),
            "p.json: problem.edges.costs[0] has 7 entries, expected 2 x 3");
    refused(PROBLEM(NODES, ENDS ",\"costs\":[[]]", ""),
            "p.json: problem.edges.costs[0] is empty, expected an entry for each pair of choices");
    refused(
        PROBLEM(NODES, "\"nodes\":[[0,1],[1]]," ENTRIES, ""),
        "p.json: problem.edges.nodes has 2 rows and problem.edges.costs 1, expected one of each "
        "for an edge");
    refused(PROBLEM(INTERVALS ",\"costs\":[[1,2],[]]," USAGES, EDGES, ""),
            "p.json: problem.nodes.costs[1] is empty, expected at least one choice");
    refused(
        PROBLEM(INTERVALS "," COSTS ",\"usages\":[[1,2],[3,4]]", EDGES, ""),
        "p.json: problem.nodes.usages[1] has 2 numbers, expected one for each of its 3 choices");
    refused(
        PROBLEM(INTERVALS "," COSTS ",\"usages\":[[1,2],[]]", EDGES, ""),
        "p.json: problem.nodes.usages[1] has 0 numbers, expected one for each of its 3 choices");
    refused(PROBLEM(INTERVALS "," COSTS ",\"usages\":[[1,2]]", EDGES, ""),
            "p.json: problem.nodes.usages has 1 rows, expected one for each of the 2 nodes of "
            "problem.nodes.costs");
    refused(PROBLEM("\"intervals\":[[0,2],[1,3],[1,3]]," COSTS "," USAGES, EDGES, ""),
            "p.json: problem.nodes.intervals has 3 rows, expected one for each of the 2 nodes of "
            "problem.nodes.costs");
    refused(PROBLEM("\"intervals\":[[0,2],[1]]," COSTS "," USAGES, EDGES, ""),
            "p.json: problem.nodes.intervals[1] has 1 numbers, expected 2: start and end");
    refused(PROBLEM("\"intervals\":[[0,2],[3,1]]," COSTS "," USAGES, EDGES, ""),
            "p.json: problem.nodes.intervals[1] is [3, 1], expected an end that is not before the "
            "start");
}

Test(intra_op_json, edges_to_nowhere)
{
    refused(PROBLEM(NODES, "\"nodes\":[[0,2]]," ENTRIES, ""),
            "p.json: problem.edges.nodes[0][1] is 2, expected one of the 2 nodes, from 0");
    refused(PROBLEM(NODES, "\"nodes\":[[0,4294967296]]," ENTRIES, ""),
            "p.json: problem.edges.nodes[0][1] is 4294967296, expected one of the 2 nodes, from 0");
    refused(PROBLEM(NODES, "\"nodes\":[[-1,0]]," ENTRIES, ""),
            "p.json: problem.edges.nodes[0][0] is -1, expected a whole number from 0 to "
            "9223372036854775807");
    refused(PROBLEM(NODES, "\"nodes\":[[1,1]]," ENTRIES, ""),
            "p.json: problem.edges.nodes[0] has node 1 twice, expected different nodes");
    refused(PROBLEM(NODES, "\"nodes\":[[]]," ENTRIES, ""),
            "p.json: problem.edges.nodes[0] is empty, expected at least one node");
}

#define WHOLE ", expected a whole number from 0 to 9223372036854775807"

Test(intra_op_json, numbers_that_are_none)
{
    refused(PROBLEM(NODES, ENDS ",\"costs\":[[0,10,20,30,40,9223372036854775808]]", ""),
            "p.json: problem.edges.costs[0][5] is 9223372036854775808" WHOLE);
    refused(PROBLEM(NODES, ENDS ",\"costs\":[[0,10,20.5,30,40,50]]", ""),
            "p.json: problem.edges.costs[0][2] is 20.5" WHOLE);
    refused(PROBLEM(NODES, ENDS ",\"costs\":[[0,10,-20,30,40,50]]", ""),
            "p.json: problem.edges.costs[0][2] is -20" WHOLE);
    refused(PROBLEM(NODES, ENDS ",\"costs\":[[0,10,\"20\",30,40,50]]", ""),
            "p.json: problem.edges.costs[0][2] is a string" WHOLE);
    refused(PROBLEM(INTERVALS ",\"costs\":[[1,-2],[3,4,5]]," USAGES, EDGES, ""),
            "p.json: problem.nodes.costs[0][1] is -2" WHOLE);
    refused(PROBLEM(INTERVALS "," COSTS ",\"usages\":[[1,2],[3,4,-5]]", EDGES, ""),
            "p.json: problem.nodes.usages[1][2] is -5" WHOLE);
    refused(PROBLEM("\"intervals\":[[0,1.5],[1,3]]," COSTS "," USAGES, EDGES, ""),
            "p.json: problem.nodes.intervals[0][1] is 1.5, expected a whole number from "
            "-9223372036854775808 to 9223372036854775807");
    refused(PROBLEM(NODES, EDGES, ",\"usage_limit\":-1"),
            "p.json: problem.usage_limit is -1" WHOLE);
    refused(PROBLEM(NODES, EDGES, ",\"usage_limit\":null"),
            "p.json: problem.usage_limit is null" WHOLE);
    refused(PROBLEM(NODES, EDGES, ",\"usage_limit\":1e30"),
            "p.json: problem.usage_limit is 1e30" WHOLE);
}

Test(intra_op_json, keys_that_are_missing_unknown_or_twice_there)
{
    refused("{}", "p.json has no key 'problem', which is required");
    refused("[]", "p.json is an array, expected an object");
    refused("{\"problem\":[]}", "p.json: problem is an array, expected an object");
    refused("{\"problem\":{}}", "p.json: problem has no key 'nodes', which is required");
    refused("{\"problem\":{\"nodes\":{" NODES "}}}",
            "p.json: problem has no key 'edges', which is required");
    refused(PROBLEM(INTERVALS "," COSTS, EDGES, ""),
            "p.json: problem.nodes has no key 'usages', which is required");
    refused(PROBLEM(NODES, ENTRIES, ""),
            "p.json: problem.edges has no key 'nodes', which is required");
    refused(PROBLEM(NODES, EDGES, ",\"usage_limits\":3"),
            "p.json: problem has the unknown key 'usage_limits', expected only 'nodes', 'edges', "
            "'name', 'usage_limit'");
    refused(PROBLEM(NODES "," COSTS, EDGES, ""),
            "p.json: problem.nodes has the key 'costs' twice, expected once");
    refused(PROBLEM(NODES, EDGES, ",\"name\":7"),
            "p.json: problem.name is a number, expected a string");
    refused(PROBLEM(NODES, EDGES, "") " x",
            "p.json: line 1, byte 155: not JSON: 'x', expected nothing behind the value");
}

Test(intra_op_json, any_beginning_of_a_text_is_refused)
{
    static const char text[] = PROBLEM(NODES, EDGES, ",\"usage_limit\":7");
    for (size_t n = 0; n < sizeof text - 1; n++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        const clv_intra_op_problem *p = NULL;
        char *copy = malloc(n ? n : 1);
        memcpy(copy, text, n);
        cr_assert_eq(clv_intra_op_read_text(copy, n, "p.json", arena, &p, &err), CLV_EFORMAT, "%zu",
                     n);
        cr_assert(!p && err.message[0]);
        free(copy);
        clv_arena_free(arena);
    }
}

Test(intra_op_json, files_that_cannot_be_read)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    const clv_intra_op_problem *p = NULL;
    cr_expect_eq(clv_intra_op_read_file("/nowhere.json", arena, &p, &err), CLV_EIO);
    cr_expect(strstr(err.message, "could not open /nowhere.json"), "%s", err.message);
    cr_expect_eq(clv_intra_op_read_file("/", arena, &p, &err), CLV_EIO);
    cr_expect_str_eq(err.message, "/ is not a regular file");
    cr_expect_null(p);
    clv_arena_free(arena);
}

Test(intra_op_json, survives_running_out_of_memory)
{
    static const char text[] = PROBLEM(NODES, EDGES, ",\"usage_limit\":7");
    bool done = false;
    for (size_t limit = 1; !done; limit += 64) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        const clv_intra_op_problem *p = NULL;
        clv_status s = arena ? clv_intra_op_read_text(text, sizeof text - 1, "p", arena, &p, NULL)
                             : CLV_ENOMEM;
        done = s == CLV_OK;
        cr_assert(done || s == CLV_ENOMEM, "limit %zu gave %d", limit, (int)s);
        cr_assert_eq(done, p != NULL);
        cr_assert(limit < 1 << 20);
        clv_arena_free(arena);
    }
    done = false;
    for (long calls = 1; !done; calls++) {
        failing f = { .fail_at = calls };
        clv_alloc alloc = failing_alloc(&f);
        clv_arena *arena = clv_arena_new(&alloc, 0);
        const clv_intra_op_problem *p = NULL;
        done =
            arena && clv_intra_op_read_text(text, sizeof text - 1, "p", arena, &p, NULL) == CLV_OK;
        cr_assert_eq(done, p != NULL);
        clv_arena_free(arena);
        cr_assert_eq(f.live, 0);
        cr_assert(calls < 1000);
    }
}

/* -- large files -- */

/* 20,000 edges that share 50 matrices of 40 x 40: 50 MB of text, 640 kB of matrices. */
static void write_large(const char *path)
{
    enum { SIDE = 40, MATRICES = 50, EDGES_N = 20000 };
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs("{\"problem\":{\"edges\":{\"costs\":[", f);
    for (int e = 0; e < EDGES_N; e++) {
        for (int i = 0; i < SIDE * SIDE; i++)
            fprintf(f, "%c%d", i ? ',' : '[', (e % MATRICES) * 7 + i % 10);
        fputs(e + 1 < EDGES_N ? "]," : "]", f);
    }
    fputs("],\"nodes\":[", f);
    for (int e = 0; e < EDGES_N; e++)
        fprintf(f, "%s[%d,%d]", e ? "," : "", e % 9, 9);
    fputs("]},\"nodes\":{\"costs\":[", f);
    for (int v = 0; v < 10; v++)
        for (int i = 0; i < SIDE; i++)
            fprintf(f, "%s%d%s", i ? "," : v ? ",[" : "[", i, i + 1 < SIDE ? "" : "]");
    fputs(
        "],\"usages\":[[],[],[],[],[],[],[],[],[],[]],\"intervals\":[[0,0],[0,0],[0,0],[0,0],[0,0],"
        "[0,0],[0,0],[0,0],[0,0],[0,0]]}}}",
        f);
    cr_assert_eq(fclose(f), 0);
}

Test(intra_op_json, a_large_file_is_not_held)
{
    if (TEST_IS_SANITIZED)
        cr_skip_test("a question of peaks, and slow");
    char *folder = folder_new(), path[4096];
    snprintf(path, sizeof path, "%s/large.json", folder);
    write_large(path);
    failing f = { 0 };
    clv_alloc alloc = failing_alloc(&f);
    clv_arena *arena = clv_arena_new(&alloc, 0);
    const clv_intra_op_problem *p = NULL;
    cr_assert_eq(clv_intra_op_read_file(path, arena, &p, &err), CLV_OK, "%s", err.message);
    cr_expect_eq(p->n_matrices, 50);
    cr_expect_lt(clv_arena_peak(arena), (size_t)4 << 20, "%zu", clv_arena_peak(arena));
    int32_t choice_of[10] = { 0 };
    clv_int128 want = 0;
    for (int e = 0; e < 20000; e++)
        want += e % 50 * 7;
    cr_expect(cost_of(p, choice_of, arena) == want);
    clv_arena_free(arena);
    folder_free(folder);
}
