/* test_place.c - cleave place: what it answers, writes and refuses, and how it is stopped. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/search_command.h"

#define WORKLOADS TEST_SOURCE_DIR "/tests/data/placement"
#define BERT      WORKLOADS "/throughput/LayerGraphs/bert24_inference.json"
#define TRAINING  WORKLOADS "/throughput/LayerGraphs/bert24_training.json"
#define LATENCY   WORKLOADS "/latency/LayerGraphs/bert24_inference.json"
/* As printed by the program published with the paper. */
#define BERT_OPTIMUM     "17.78990625"
#define TRAINING_OPTIMUM "41.7458125"

#define NODE(id, bytes)                                                                            \
    "{\"id\": " #id ", \"supportedOnFpga\": 1, \"cpuLatency\": 9, \"fpgaLatency\": 4, "            \
    "\"isBackwardNode\": 0, \"size\": " #bytes "}"
#define SMALL(bytes, edges)                                                                        \
    "{\"maxSizePerFPGA\": 10, \"maxFPGAs\": 2, \"maxCPUs\": 0, \"nodes\": [" NODE(                 \
        1, bytes) ", " NODE(2, bytes) "], \"edges\": [" edges "]}"
#define EDGE(from, to) "{\"sourceId\": " #from ", \"destId\": " #to ", \"cost\": 1}"

static char *folder;

static void write_text(const char *name, const char *text)
{
    file_write(folder, name, text, strlen(text));
}

/* slow.json: 1000 nodes in 40 chains, of which nobody proves the best placement in a minute. */
static const char make_slow[] =
    "import json\n"
    "state = 1\n"
    "def any_of(low, high):\n"
    "    global state\n"
    "    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64\n"
    "    return low + (state >> 33) % (high - low)\n"
    "nodes = [{'id': v, 'supportedOnFpga': True, 'cpuLatency': 500, 'isBackwardNode': False,\n"
    "          'fpgaLatency': any_of(50, 999) / 7, 'size': any_of(1, 50)} for v in range(1000)]\n"
    "edges = [{'sourceId': v - 1, 'destId': v, 'cost': any_of(1, 60) / 7}\n"
    "         for v in range(1, 1000) if v % 25]\n"
    "with open('slow.json', 'w') as f:\n"
    "    json.dump({'maxSizePerFPGA': 3600, 'maxFPGAs': 8, 'maxCPUs': 1, 'nodes': nodes,\n"
    "               'edges': edges}, f)\n";

static void set_up(void)
{
    folder = folder_new();
    write_text("make_slow.py", make_slow);
    write_text("small.json", SMALL(5, EDGE(1, 2)));
    write_text("large.json", SMALL(11, EDGE(1, 2)));
    write_text("cycle.json", SMALL(5, EDGE(1, 2) ", " EDGE(2, 1)));
    write_text("packed.json",
               "{\"maxSizePerFPGA\": 10, \"maxFPGAs\": 2, \"maxCPUs\": 0, \"nodes\": [" NODE(
                   1, 6) ", " NODE(2, 6) ", " NODE(3, 6) "], \"edges\": []}");
}

static void tear_down(void) { folder_free(folder); }

TestSuite(place, .init = set_up, .fini = tear_down);

static run_result place(int code, const char *arguments)
{
    return run_cleave(folder, code, "place", arguments);
}

static void says(int code, const char *arguments, const char *words)
{
    run_says(folder, code, "place", arguments, words);
}

static void refused(int code, const char *arguments, const char *words)
{
    run_refused(folder, code, "place", arguments, words);
}

static void is_valid(const char *schema, const char *file) { run_is_valid(folder, schema, file); }

static void is_true(const char *problem, const char *solution)
{
    run_is_true(folder, "place_judge.py", problem, solution);
}

/* -- what it gives -- */

Test(place, reports_objective_bound_gap_and_why_it_ended)
{
    run_result r = place(0, BERT);
    cr_expect(strstr(r.out, "32 nodes, 55 edges, 7 devices"), "%s", r.out);
    cr_expect(strstr(r.out, "throughput, contiguous: " BERT_OPTIMUM ", proven optimal"), "%s",
              r.out);
    cr_expect(strstr(r.out, "bound 17.78990"), "%s", r.out);
    cr_expect(strstr(r.out, ", gap "), "%s", r.out);
    cr_expect(strstr(r.out, "accelerator"), "%s", r.out);
    cr_expect_str_empty(r.err, "news are for terminals: %s", r.err);
    run_free(&r);
    says(0, TRAINING " --contiguous --objective throughput", TRAINING_OPTIMUM ", proven optimal");
}

static void gives(const char *workload, const char *options, const char *words)
{
    char arguments[600];
    snprintf(arguments, sizeof arguments, "%s %s --json --deadline 20 > a.json; cat a.json",
             workload, options);
    says(0, arguments, words);
    is_valid("place", "a.json");
    is_true(workload, "a.json");
}

Test(place, prints_one_object_that_is_true)
{
    gives(BERT, "", "\"objective\": " BERT_OPTIMUM ",");
    gives(BERT, "--free --gap 0.5", "\"contiguous\": false");
    gives(BERT, "--objective devices", "\"objective_name\": \"devices\"");
    gives(BERT, "--objective devices --max-load 40", "\"max_load\": 40");
    gives(LATENCY, "--objective latency --gap 50%", "\"objective_name\": \"latency\"");
    gives(TRAINING, "--contiguous --seed 7", "\"objective\": " TRAINING_OPTIMUM ",");
    gives("small.json", "", "\"objective\": 5,");
    gives("small.json", "--objective devices", "\"objective\": 1,");
    gives("small.json", "--objective devices --max-load 5", "\"objective\": 2,");
}

static search_command command(void)
{
    return (search_command){ folder,       "place",     "workload", "place_judge.py",
                             "small.json", "slow.json", "0.5" };
}

Test(place, writes_what_it_would_print)
{
    const search_command c = command();
    search_writes_what_it_would_print(&c, BERT, "proven optimal");
}

/* -- no solution -- */

Test(place, what_fits_nowhere_is_said_and_exits_with_3)
{
    run_result r = place(3, "large.json --json -o o.json");
    cr_expect(strstr(r.out, "\"status\": \"infeasible\""), "%s", r.out);
    cr_expect(strstr(r.out, "\"objective\": null"), "%s", r.out);
    write_text("a.json", r.out);
    run_free(&r);
    is_valid("place", "a.json");
    r = run_in(folder, "ls o.json");
    cr_expect_neq(r.code, 0, "nothing is written");
    run_free(&r);
    says(3, "large.json", "node 1 ");
    says(3, "large.json", "11 bytes");
    says(3, "packed.json", "infeasible"); /* each fits, and two on one device do not */
    says(3, "small.json --objective devices --max-load 3", "infeasible");
    refused(3, "large.json -q", "11 bytes");
}

/* -- bad input -- */

Test(place, bad_files_are_refused)
{
    write_text("empty.json", "");
    write_text("other.json", "{\"nodes\": []}");
    refused(65, "cycle.json", "cycle.json: node ");
    refused(65, "empty.json", "empty.json is empty");
    refused(65, "other.json", "maxFPGAs");
    refused(65, TEST_SOURCE_DIR "/configs/clusters/cpu-2.json", "cpu-2.json");
    refused(74, "nowhere.json", "could not open nowhere.json");
    refused(74, ".", "not a regular file");
    run_result r = run_in(folder, "%s place cycle.json --json", TEST_CLEAVE);
    cr_expect_eq(r.code, 65);
    write_text("a.json", r.out);
    run_free(&r);
    is_valid("result", "a.json");
}

Test(place, wrong_requests_are_refused)
{
    const search_command c = command();
    search_refuses_wrong_requests(&c);
    refused(2, "small.json --objective speed", "'throughput' or 'latency' or 'devices'");
    refused(2, "small.json --contiguous --free", "exclude each other");
    refused(2, "small.json --max-load 3", "--max-load goes with --objective devices");
    refused(2, "small.json --objective devices --max-load 0", "above 0");
    refused(2, "small.json --objective devices --max-load nan", "above 0");
}

/* -- an end before the end -- */

static void makes_slow(void)
{
    run_result r = run_in(folder, "python3 make_slow.py");
    cr_assert_eq(r.code, 0, "%s", r.err);
    run_free(&r);
}

Test(place, a_deadline_gives_the_best_so_far)
{
    const search_command c = command();
    makes_slow();
    search_ends_at_a_deadline(&c);
}

Test(place, a_signal_gives_the_best_so_far)
{
    const search_command c = command();
    makes_slow();
    search_ends_at_a_signal(&c, "INT", 130);
    search_ends_at_a_signal(&c, "TERM", 143);
}

/* Whether there is a solution yet or not. */
Test(place, a_program_that_is_there_is_not_denied)
{
    makes_slow();
    run_result r = run_in(folder,
                          "python3 " TEST_SOURCE_DIR "/tests/support/stop.py 15 TERM "
                          "\"os.path.exists('o.mps')\" %s place slow.json --mps o.mps",
                          TEST_CLEAVE);
    cr_expect_eq(r.code, 143, "%d: %s", r.code, r.err);
    cr_expect(!strstr(r.err, "nothing was written"), "%s", r.err);
    run_free(&r);
}
