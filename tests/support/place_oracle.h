/* place_oracle.h - small placement problems, judged and solved in the plainest way there is.
 *
 * A second opinion on src/problem/place_problem.h. Written from the words of
 * docs/formats/workload.md and of the published programs, and from none of our code: fixed arrays,
 * long sums, every assignment tried. A maker of random problems comes with it.
 */
#ifndef CLV_TESTS_PLACE_ORACLE_H
#define CLV_TESTS_PLACE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#define ORACLE_NODES   64
#define ORACLE_EDGES   256
#define ORACLE_KINDS   4
#define ORACLE_DEVICES 16

typedef struct {
    int count;
    long long capacity; /* bytes; below 0: no limit */
    bool pays;
} oracle_kind;

/* Nodes in any order; edges between them without a cycle, none twice. */
typedef struct {
    int n, m, n_classes, n_kinds;
    oracle_kind kind[ORACLE_KINDS];
    double time[ORACLE_KINDS][ORACLE_NODES]; /* below 0: not on this kind */
    long long bytes[ORACLE_NODES];
    double cost[ORACLE_NODES];
    bool backward[ORACLE_NODES];
    int class_of[ORACLE_NODES];
    int from[ORACLE_EDGES], to[ORACLE_EDGES];
} oracle_problem;

typedef enum { ORACLE_THROUGHPUT, ORACLE_LATENCY, ORACLE_FEWEST } oracle_objective;

typedef struct {
    oracle_objective objective;
    bool contiguous;
    double max_load; /* ORACLE_FEWEST alone; 0: any */
} oracle_rules;

typedef struct {
    bool legal;
    const char *why; /* static words when it is not */
    double objective, max_load, latency;
    double loads[ORACLE_DEVICES];
    int n_used;
} oracle_value;

int oracle_devices(const oracle_problem *p);
int oracle_kind_of(const oracle_problem *p, int device); /* -1 when there is no such device */

/* With a device number that does not exist, or a node where it cannot be, only legal and why are
 * set. latency is INFINITY where pieces wait for each other. */
oracle_value oracle_judge(const oracle_problem *p, const oracle_rules *rules, const int *device_of);

/* The best of all assignments, one of each set that differs by names of equal devices; false when
 * none is legal. With plain, really all of them, and none is left out early. */
bool oracle_best(const oracle_problem *p, const oracle_rules *rules, bool plain, double *objective,
                 int *device_of);

/* The same by the published dynamic program, for problems too large for that: contiguous,
 * throughput or fewest devices, and at most ORACLE_IDEALS sets of classes that hold all that comes
 * before them; otherwise (and then *objective is below 0) it gives up. */
#define ORACLE_IDEALS 600
bool oracle_line(const oracle_problem *p, const oracle_rules *rules, double *objective);

/* A problem and rules for it, the same for the same seed on every machine. At most most_nodes
 * nodes, and about most_assignments ways to assign its classes. Numbers are such that sums of them
 * are exact, unless rough. */
void oracle_make(uint64_t seed, int most_nodes, double most_assignments, bool rough,
                 oracle_problem *p, oracle_rules *rules);

/* Any assignment: nodes anywhere, or classes together, or along the edges, where most are legal.
 * The problem has a device. */
void oracle_assign(uint64_t *random, const oracle_problem *p, int *device_of);

/* The generator that oracle_make() uses: 0 .. n - 1. */
int oracle_below(uint64_t *state, int n);

#endif
