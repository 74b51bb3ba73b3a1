/* test_place_json.c - workloads of the placement paper: what is read, and what is refused how.
 */
#include "problem/place_json.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "support/failing_alloc.h"
#include "support/run.h"

#define DEVICES              "\"maxSizePerFPGA\": 100, \"maxFPGAs\": 2, \"maxCPUs\": 1"
#define TIMES                "\"supportedOnFpga\": true, \"cpuLatency\": 5, \"fpgaLatency\": 1.5"
#define FORWARD              TIMES ", \"isBackwardNode\": false"
#define NODE(id)             "{\"id\": " #id ", " FORWARD "}"
#define BACKWARD(id)         "{\"id\": " #id ", " TIMES ", \"isBackwardNode\": true}"
#define EDGE(from, to, cost) "{\"sourceId\": " #from ", \"destId\": " #to ", \"cost\": " #cost "}"
#define WORKLOAD(devices, nodes, edges)                                                            \
    "{" devices ", \"nodes\": [" nodes "], \"edges\": [" edges "]}"
#define THREE NODE(10) ", " NODE(20) ", " NODE(30)

static clv_place_problem *read_ok(const char *text, clv_arena *arena)
{
    clv_place_problem *p = NULL;
    clv_error err = { 0 };
    clv_status s = clv_place_read_text(text, strlen(text), "w.json", arena, &p, &err);
    cr_assert_eq(s, CLV_OK, "%s: %s", text, err.message);
    cr_assert_not_null(p);
    return p;
}

static int32_t node_of(const clv_place_problem *p, int64_t id)
{
    for (int32_t v = 0; v < p->n_nodes; v++)
        if (p->id[v] == id)
            return v;
    cr_assert_fail("no node %lld", (long long)id);
    return -1;
}

static bool has_edge(const clv_place_problem *p, int64_t from, int64_t to)
{
    int32_t u = node_of(p, from), v = node_of(p, to);
    for (int32_t i = p->out_first[u]; i < p->out_first[u + 1]; i++)
        if (p->out[i] == v)
            return true;
    return false;
}

/* Arrays are whole, and order is one. */
static void is_sound(const clv_place_problem *p, clv_arena *arena)
{
    int32_t *place = CLV_NEW_ARRAY(arena, int32_t, p->n_nodes + 1);
    for (int32_t i = 0; i < p->n_nodes; i++)
        place[p->order[i]] = i + 1;
    cr_assert_eq(p->out_first[0], 0);
    cr_assert_eq(p->out_first[p->n_nodes], p->n_edges);
    for (int32_t u = 0; u < p->n_nodes; u++) {
        cr_assert(place[u] > 0, "node %d is in no place", u);
        cr_assert(p->class_of[u] >= 0 && p->class_of[u] < p->n_classes);
        cr_assert(p->out_first[u] < p->out_first[u + 1] || p->send_cost[u] == 0);
        for (int32_t i = p->out_first[u]; i < p->out_first[u + 1]; i++)
            cr_assert(place[p->out[i]] > place[u], "%d is read too late", u);
    }
}

/* -- what is read -- */

Test(place_json, the_plainest_workload)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p =
        read_ok(WORKLOAD(DEVICES, NODE(7) ", " NODE(3), EDGE(3, 7, 0.25)), arena);
    cr_assert_eq(p->n_nodes, 2);
    cr_assert_eq(p->n_edges, 1);
    cr_assert_eq(p->n_classes, 2);
    cr_assert_eq(p->n_kinds, 2);
    cr_assert_str_eq(p->kinds[0].name, "accelerator");
    cr_assert_str_eq(p->kinds[1].name, "cpu");
    cr_assert(p->kinds[0].pays && !p->kinds[1].pays);
    cr_assert_eq(p->kinds[0].count, 2);
    cr_assert_eq(p->kinds[1].count, 1);
    cr_assert_eq(p->kinds[0].capacity_bytes, 100);
    cr_assert_eq(p->kinds[1].capacity_bytes, CLV_PLACE_UNLIMITED);
    cr_assert(p->id[0] == 7 && p->id[1] == 3, "as the file lists them");
    cr_assert(p->time[0] == 1.5 && p->time[2] == 5);
    cr_assert(p->send_cost[0] == 0 && p->send_cost[1] == 0.25);
    cr_assert(p->bytes[0] == 0 && !p->backward[0] && p->class_of[0] != p->class_of[1]);
    cr_assert(has_edge(p, 3, 7) && !has_edge(p, 7, 3));
    is_sound(p, arena);
    clv_arena_free(arena);
}

Test(place_json, flags_are_bools_or_0_and_1)
{
    static const char text[] =
        "{\"maxSizePerFPGA\": 17185374208.0, \"maxFPGAs\": 1, \"maxCPUs\": 0, \"nodes\": ["
        "{\"id\": 1, \"supportedOnFpga\": 1, \"cpuLatency\": 5, \"fpgaLatency\": 1, "
        "\"isBackwardNode\": 0, \"size\": 62500864.0, \"name\": \"a \\u00e9\", \"layerId\": 4},"
        "{\"id\": 2, \"supportedOnFpga\": 0, \"cpuLatency\": 5, \"fpgaLatency\": 1, "
        "\"isBackwardNode\": 1},"
        "{\"id\": 3, \"supportedOnFpga\": false, \"cpuLatency\": 5, \"fpgaLatency\": 0, "
        "\"isBackwardNode\": true}],"
        "\"edges\": [{\"sourceId\": 1, \"destId\": 2, \"cost\": 0, \"size\": 12.5}]}";
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p = read_ok(text, arena);
    cr_assert_eq(p->kinds[0].capacity_bytes, INT64_C(17185374208));
    cr_assert(p->time[0] == 1 && p->time[1] == CLV_PLACE_NEVER && p->time[2] == CLV_PLACE_NEVER);
    cr_assert(p->time[3] == 5 && p->time[4] == 5 && p->time[5] == 5);
    cr_assert(!p->backward[0] && p->backward[1] && p->backward[2]);
    cr_assert_eq(p->bytes[0], 62500864);
    is_sound(p, arena);
    clv_arena_free(arena);
}

#define IN_CLASS(id, class) "{\"id\": " #id ", " FORWARD ", \"colorClass\": " #class "}"

Test(place_json, nodes_of_one_colour_are_a_class_and_others_are_alone)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p =
        read_ok(WORKLOAD(DEVICES,
                         IN_CLASS(1, 2147483000) ", " IN_CLASS(2, 0) ", " NODE(3) ", " IN_CLASS(
                             4, 2147483000) ", " NODE(5) ", " IN_CLASS(0, 0),
                         ""),
                arena);
    cr_assert_eq(p->n_classes, 4);
    cr_assert_eq(p->class_of[0], p->class_of[3]);
    cr_assert_eq(p->class_of[1], p->class_of[5]);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            cr_assert((p->class_of[i] == p->class_of[j]) ==
                      ((i == 3 && j == 0) || (i == 5 && j == 1)));
    is_sound(p, arena);
    clv_arena_free(arena);
}

/* Also where they are listed apart, and where profiling left a difference that means nothing. */
Test(place_json, a_source_has_one_cost)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p = read_ok(
        WORKLOAD(DEVICES, THREE, EDGE(10, 20, 3) ", " EDGE(20, 30, 1) ", " EDGE(10, 30, 3.0000001)),
        arena);
    cr_assert_eq(p->send_cost[0], 3);
    cr_assert_eq(p->send_cost[1], 1);
    cr_assert_eq(p->send_cost[2], 0);
    cr_assert(has_edge(p, 10, 20) && has_edge(p, 10, 30) && has_edge(p, 20, 30));
    is_sound(p, arena);
    clv_arena_free(arena);
}

Test(place_json, an_edge_said_twice_counts_once)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p =
        read_ok(WORKLOAD(DEVICES, THREE,
                         EDGE(10, 20, 1) ", " EDGE(20, 30, 1) ", " EDGE(10, 30, 1) ", " EDGE(
                             10, 20, 1) ", " EDGE(20, 30, 1)),
                arena);
    cr_assert_eq(p->n_edges, 3);
    cr_assert(has_edge(p, 10, 20) && has_edge(p, 10, 30) && has_edge(p, 20, 30));
    is_sound(p, arena);
    clv_arena_free(arena);
}

Test(place_json, parts_of_bytes_are_rounded_the_safe_way)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p =
        read_ok(WORKLOAD("\"maxSizePerFPGA\": 99.5, \"maxFPGAs\": 1, \"maxCPUs\": 0",
                         "{\"id\": 1, " FORWARD ", \"size\": 2.25}", ""),
                arena);
    cr_assert_eq(p->kinds[0].capacity_bytes, 99);
    cr_assert_eq(p->bytes[0], 3);
    clv_arena_free(arena);
}

/* 2^53 + 1 is no double. */
Test(place_json, large_sizes_are_read_to_the_byte)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p = read_ok(
        WORKLOAD("\"maxSizePerFPGA\": 9007199254740993, \"maxFPGAs\": 1, \"maxCPUs\": 0",
                 "{\"id\": 1, " FORWARD ", \"size\": 9007199254740993}, "
                 "{\"id\": 2, " FORWARD ", \"size\": 90071992547409930.5e-1, \"name\": \"\\\"7\"}, "
                 "{\"id\": 3, " FORWARD ", \"size\": 123456789012345678}",
                 ""),
        arena);
    cr_assert_eq(p->kinds[0].capacity_bytes, INT64_C(9007199254740993));
    cr_assert_eq(p->bytes[0], INT64_C(9007199254740993));
    cr_assert_eq(p->bytes[1], INT64_C(9007199254740994), "rounded up");
    cr_assert_eq(p->bytes[2], INT64_C(123456789012345678));
    clv_arena_free(arena);
}

Test(place_json, no_nodes_are_a_workload_too)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p = read_ok(WORKLOAD(DEVICES, "", ""), arena);
    cr_assert(p->n_nodes == 0 && p->n_edges == 0 && p->n_classes == 0);
    clv_arena_free(arena);
}

Test(place_json, the_result_does_not_need_the_text)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    char text[] = WORKLOAD(DEVICES, THREE, EDGE(30, 10, 2)), what[] = "gone";
    clv_place_problem *p = NULL;
    cr_assert_eq(clv_place_read_text(text, strlen(text), what, arena, &p, NULL), CLV_OK);
    memset(text, 'x', sizeof text);
    memset(what, 'x', sizeof what);
    cr_assert_str_eq(p->kinds[0].name, "accelerator");
    cr_assert(has_edge(p, 30, 10));
    clv_arena_free(arena);
}

typedef struct {
    const char *file;
    int32_t nodes, edges, classes, accelerators;
} published;

Test(place_json, published_workloads)
{
    static const published files[] = {
        { "throughput/LayerGraphs/bert24_inference.json", 32, 55, 32, 6 },
        { "throughput/LayerGraphs/bert24_training.json", 64, 110, 32, 6 },
        { "throughput/LayerGraphs/gnmt_inference.json", 96, 122, 96, 6 },
        { "latency/LayerGraphs/bert24_inference.json", 32, 55, 32, 5 },
    };
    clv_arena *arena = clv_arena_new(NULL, 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text = file_text(TEST_SOURCE_DIR "/tests/data/placement", files[i].file, NULL);
        cr_assert_not_null(text, "%s", files[i].file);
        clv_place_problem *p = read_ok(text, arena);
        free(text);
        cr_expect_eq(p->n_nodes, files[i].nodes);
        cr_expect_eq(p->n_edges, files[i].edges);
        cr_expect_eq(p->n_classes, files[i].classes, "%d", p->n_classes);
        cr_expect_eq(p->kinds[0].count, files[i].accelerators);
        is_sound(p, arena);
    }
    clv_arena_free(arena);
}

/* The example of docs/formats/workload.md. */
Test(place_json, the_documented_example)
{
    char *text = file_text(TEST_SOURCE_DIR "/docs/formats", "workload.md", NULL);
    cr_assert_not_null(text);
    char *start = strstr(text, "```json\n");
    cr_assert_not_null(start);
    start += strlen("```json\n");
    *strstr(start, "```") = '\0';
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p = read_ok(start, arena);
    cr_assert(p->n_nodes == 2 && has_edge(p, 1, 2));
    clv_arena_free(arena);
    free(text);
}

/* -- what is refused -- */

typedef struct {
    char what[48], text[1500];
    clv_status status;
    char said[3][48]; /* all of them are in the message */
} bad_text;

#define IN(devices)   WORKLOAD(devices, NODE(1), "")
#define ONE(node)     WORKLOAD(DEVICES, NODE(10) ", " node, "")
#define JOINED(edges) WORKLOAD(DEVICES, THREE, edges)
#define EDGE_OF(keys) JOINED("{" keys "}")

static const bad_text bad[] = {
    /* text */
    { "empty", "", CLV_EFORMAT, { "empty" } },
    { "not JSON", "digraph {}", CLV_EFORMAT, { "line 1", "'d'" } },
    { "cut off", "{" DEVICES ", \"nodes\": [", CLV_EFORMAT, { "the end" } },
    { "NaN", EDGE_OF("\"sourceId\": 10, \"destId\": 20, \"cost\": NaN"), CLV_EFORMAT, { "'N'" } },
    { "Infinity", IN("\"maxSizePerFPGA\": Infinity"), CLV_EFORMAT, { "'I'" } },
    { "minus infinity", IN("\"maxSizePerFPGA\": -Infinity"), CLV_EFORMAT, { "line 1" } },
    { "behind it", IN(DEVICES) "]", CLV_EFORMAT, { "']'", "nothing behind" } },
    { "a key twice", IN(DEVICES ", \"maxCPUs\": 1"), CLV_EFORMAT, { "'maxCPUs' twice" } },
    { "an array", "[]", CLV_EFORMAT, { "object" } },
    /* devices */
    { "no memory size", IN("\"maxFPGAs\": 2, \"maxCPUs\": 1"), CLV_EFORMAT, { "maxSizePerFPGA" } },
    { "no accelerators", IN("\"maxSizePerFPGA\": 2, \"maxCPUs\": 1"), CLV_EFORMAT, { "maxFPGAs" } },
    { "no CPUs", IN("\"maxSizePerFPGA\": 2, \"maxFPGAs\": 1"), CLV_EFORMAT, { "maxCPUs" } },
    { "no device",
      IN("\"maxSizePerFPGA\": 2, \"maxFPGAs\": 0, \"maxCPUs\": 0"),
      CLV_EFORMAT,
      { "maxFPGAs", "maxCPUs", "0" } },
    { "negative count",
      IN("\"maxSizePerFPGA\": 2, \"maxFPGAs\": -1, \"maxCPUs\": 2"),
      CLV_EFORMAT,
      { "maxFPGAs", "-1" } },
    { "half a device",
      IN("\"maxSizePerFPGA\": 2, \"maxFPGAs\": 1.5, \"maxCPUs\": 2"),
      CLV_EFORMAT,
      { "maxFPGAs", "1.5" } },
    { "huge count",
      IN("\"maxSizePerFPGA\": 2, \"maxFPGAs\": 1e300, \"maxCPUs\": 2"),
      CLV_EFORMAT,
      { "maxFPGAs", "1e+300" } },
    { "count as text",
      IN("\"maxSizePerFPGA\": 2, \"maxFPGAs\": 1, \"maxCPUs\": \"2\""),
      CLV_EFORMAT,
      { "maxCPUs", "\"2\"" } },
    { "negative memory",
      IN("\"maxSizePerFPGA\": -2, \"maxFPGAs\": 1, \"maxCPUs\": 1"),
      CLV_EFORMAT,
      { "maxSizePerFPGA", "-2" } },
    { "memory that is not finite",
      IN("\"maxSizePerFPGA\": 1e999, \"maxFPGAs\": 1, \"maxCPUs\": 1"),
      CLV_EFORMAT,
      { "maxSizePerFPGA", "finite" } },
    /* nodes */
    { "no nodes", "{" DEVICES ", \"edges\": []}", CLV_EFORMAT, { "nodes" } },
    { "nodes not a list", "{" DEVICES ", \"nodes\": {}, \"edges\": []}", CLV_EFORMAT, { "nodes" } },
    { "node not an object", ONE("7"), CLV_EFORMAT, { "nodes[1]", "7", "object" } },
    { "no id", ONE("{" FORWARD "}"), CLV_EFORMAT, { "nodes[1]", "id" } },
    { "no time",
      ONE("{\"id\": 1, \"supportedOnFpga\": true, \"fpgaLatency\": 1, \"isBackwardNode\": 0}"),
      CLV_EFORMAT,
      { "nodes[1]", "cpuLatency" } },
    { "no accelerator time",
      ONE("{\"id\": 1, \"supportedOnFpga\": true, \"cpuLatency\": 1, \"isBackwardNode\": 0}"),
      CLV_EFORMAT,
      { "nodes[1]", "fpgaLatency" } },
    { "no word on support",
      ONE("{\"id\": 1, \"fpgaLatency\": 1, \"cpuLatency\": 1, \"isBackwardNode\": 0}"),
      CLV_EFORMAT,
      { "nodes[1]", "supportedOnFpga" } },
    { "time as text",
      ONE("{\"id\": 1, \"supportedOnFpga\": true, \"cpuLatency\": \"5ms\", \"fpgaLatency\": 1, "
          "\"isBackwardNode\": 0}"),
      CLV_EFORMAT,
      { "nodes[1].cpuLatency", "5ms", "number" } },
    { "negative time",
      ONE("{\"id\": 1, \"supportedOnFpga\": true, \"cpuLatency\": 5, \"fpgaLatency\": -0.5, "
          "\"isBackwardNode\": 0}"),
      CLV_EFORMAT,
      { "nodes[1].fpgaLatency", "-0.5" } },
    { "time that is not finite",
      ONE("{\"id\": 1, \"supportedOnFpga\": true, \"cpuLatency\": 1e400, \"fpgaLatency\": 1, "
          "\"isBackwardNode\": 0}"),
      CLV_EFORMAT,
      { "nodes[1].cpuLatency", "finite" } },
    { "half an id",
      ONE("{\"id\": 1.5, " FORWARD "}"),
      CLV_EFORMAT,
      { "nodes[1].id", "1.5", "whole" } },
    { "id as text", ONE("{\"id\": \"a\", " FORWARD "}"), CLV_EFORMAT, { "nodes[1].id", "\"a\"" } },
    { "an id twice", ONE(NODE(10)), CLV_EFORMAT, { "nodes[1].id", "10" } },
    { "backward as text",
      ONE("{\"id\": 1, " TIMES ", \"isBackwardNode\": \"yes\"}"),
      CLV_EFORMAT,
      { "nodes[1].isBackwardNode", "yes" } },
    { "backward 2",
      ONE("{\"id\": 1, " TIMES ", \"isBackwardNode\": 2}"),
      CLV_EFORMAT,
      { "nodes[1].isBackwardNode", "2" } },
    { "colour as text",
      ONE("{\"id\": 1, " FORWARD ", \"colorClass\": \"red\"}"),
      CLV_EFORMAT,
      { "nodes[1].colorClass", "red" } },
    { "negative size",
      ONE("{\"id\": 1, " FORWARD ", \"size\": -4}"),
      CLV_EFORMAT,
      { "nodes[1].size", "-4" } },
    { "no word on its pass",
      ONE("{\"id\": 1, " TIMES "}"),
      CLV_EFORMAT,
      { "nodes[1]", "isBackwardNode" } },
    { "huge sizes",
      ONE("{\"id\": 1, " FORWARD ", \"size\": 9e17}, {\"id\": 2, " FORWARD ", \"size\": 9e17}"),
      CLV_ELIMIT,
      { "bytes", "1e+18" } },
    { "huge size",
      ONE("{\"id\": 1, " FORWARD ", \"size\": 1e300}"),
      CLV_EFORMAT,
      { "nodes[1].size", "1e+300" } },
    { "huge time",
      ONE("{\"id\": 1, \"supportedOnFpga\": true, \"cpuLatency\": 1e300, \"fpgaLatency\": 1, "
          "\"isBackwardNode\": 0}"),
      CLV_EFORMAT,
      { "nodes[1].cpuLatency", "1e+300" } },
    { "size as a list",
      ONE("{\"id\": 1, " FORWARD ", \"size\": [4]}"),
      CLV_EFORMAT,
      { "nodes[1].size" } },
    /* edges */
    { "no edges", "{" DEVICES ", \"nodes\": []}", CLV_EFORMAT, { "edges" } },
    { "edges not a list", "{" DEVICES ", \"nodes\": [], \"edges\": 3}", CLV_EFORMAT, { "edges" } },
    { "no source",
      EDGE_OF("\"destId\": 20, \"cost\": 1"),
      CLV_EFORMAT,
      { "edges[0]", "sourceId" } },
    { "no destination",
      EDGE_OF("\"sourceId\": 20, \"cost\": 1"),
      CLV_EFORMAT,
      { "edges[0]", "destId" } },
    { "no cost", EDGE_OF("\"sourceId\": 20, \"destId\": 30"), CLV_EFORMAT, { "edges[0]", "cost" } },
    { "cost as text",
      EDGE_OF("\"sourceId\": 20, \"destId\": 30, \"cost\": \"a lot\""),
      CLV_EFORMAT,
      { "edges[0].cost", "a lot", "number" } },
    { "negative cost", JOINED(EDGE(10, 20, -0.125)), CLV_EFORMAT, { "edges[0].cost", "-0.125" } },
    { "infinite cost", JOINED(EDGE(10, 20, 1e999)), CLV_EFORMAT, { "edges[0].cost", "finite" } },
    { "from nowhere",
      JOINED(EDGE(10, 20, 1) ", " EDGE(40, 20, 1)),
      CLV_EFORMAT,
      { "edges[1].sourceId", "40" } },
    { "to nowhere", JOINED(EDGE(10, 21, 1)), CLV_EFORMAT, { "edges[0].destId", "21" } },
    { "to itself", JOINED(EDGE(20, 20, 1)), CLV_EFORMAT, { "edges[0]", "20", "itself" } },
    { "two costs of a source",
      JOINED(EDGE(10, 20, 1) ", " EDGE(10, 30, 1.5)),
      CLV_EFORMAT,
      { "edges[1].cost", "1.5", "10" } },
    { "back to forward",
      WORKLOAD(DEVICES, NODE(10) ", " BACKWARD(20), EDGE(20, 10, 1)),
      CLV_EFORMAT,
      { "20", "10", "backward" } },
    { "a cycle of two", JOINED(EDGE(10, 20, 1) ", " EDGE(20, 10, 1)), CLV_EFORMAT, { "cycle" } },
    { "a cycle",
      WORKLOAD(DEVICES, THREE ", " NODE(40),
               EDGE(40, 10, 1) ", " EDGE(10, 20, 1) ", " EDGE(20, 30, 1) ", " EDGE(30, 10, 1)),
      CLV_EFORMAT,
      { "cycle" } },
};

ParameterizedTestParameters(place_json, is_refused_in_a_sentence_that_helps)
{
    return cr_make_param_array(bad_text, (void *)bad, sizeof bad / sizeof *bad);
}

ParameterizedTest(bad_text *b, place_json, is_refused_in_a_sentence_that_helps)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p = NULL;
    clv_error err = { 0 };
    clv_status s = clv_place_read_text(b->text, strlen(b->text), "w.json", arena, &p, &err);
    cr_assert_eq(s, b->status, "%s: %d %s", b->what, (int)s, err.message);
    cr_assert_null(p, "a failed call leaves its result alone");
    cr_expect(s == CLV_ELIMIT || strstr(err.message, "w.json") == err.message, "%s: said: %s",
              b->what, err.message);
    for (int i = 0; i < 3; i++)
        cr_expect(strstr(err.message, b->said[i]), "%s: '%s' is not in: %s", b->what, b->said[i],
                  err.message);
    cr_expect(!strchr(err.message, '\n'), "%s: one sentence: %s", b->what, err.message);
    clv_arena_free(arena);
}

/* The message of a cycle names a node that is on it, not one that leads to it. */
Test(place_json, a_cycle_is_named_by_its_nodes)
{
    static const char text[] =
        WORKLOAD(DEVICES, NODE(88) ", " NODE(77) ", " NODE(11) ", " NODE(12),
                 EDGE(77, 11, 1) ", " EDGE(11, 12, 1) ", " EDGE(12, 11, 1) ", " EDGE(12, 88, 1));
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_place_problem *p = NULL;
    clv_error err = { 0 };
    cr_assert_eq(clv_place_read_text(text, sizeof text - 1, "w", arena, &p, &err), CLV_EFORMAT);
    cr_expect(strstr(err.message, "11") || strstr(err.message, "12"), "%s", err.message);
    cr_expect(!strstr(err.message, "77") && !strstr(err.message, "88"), "%s", err.message);
    clv_arena_free(arena);
}

Test(place_json, any_beginning_of_a_text_is_refused)
{
    static const char text[] = WORKLOAD(DEVICES, THREE, EDGE(10, 20, 1) ", " EDGE(20, 30, 2));
    for (size_t n = 0; n < sizeof text - 1; n++) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        clv_place_problem *p = NULL;
        clv_error err = { 0 };
        cr_assert_eq(clv_place_read_text(text, n, "w", arena, &p, &err), CLV_EFORMAT, "%zu", n);
        cr_assert(!p && err.message[0]);
        clv_arena_free(arena);
    }
}

Test(place_json, survives_running_out_of_memory)
{
    static const char text[] = WORKLOAD(DEVICES, THREE ", " IN_CLASS(5, 2) ", " IN_CLASS(6, 2),
                                        EDGE(10, 20, 1) ", " EDGE(20, 30, 2));
    bool done = false;
    for (size_t limit = 1; !done; limit += 8) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        clv_place_problem *p = NULL;
        clv_status s =
            arena ? clv_place_read_text(text, sizeof text - 1, "w", arena, &p, NULL) : CLV_ENOMEM;
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
        clv_place_problem *p = NULL;
        done = arena && clv_place_read_text(text, sizeof text - 1, "w", arena, &p, NULL) == CLV_OK;
        cr_assert_eq(done, p != NULL);
        clv_arena_free(arena);
        cr_assert_eq(f.live, 0);
        cr_assert(calls < 1000);
    }
}
