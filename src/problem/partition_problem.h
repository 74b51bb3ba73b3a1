/* partition_problem.h - the partition problem as numbers: units on devices. Knows no model and no
 * file.
 *
 * Units are in topological order: nets lead from a unit to later ones only. An assignment gives
 * each unit a device. It is legal when the devices that have units form no cycle: the quotient
 * graph of groups is acyclic, so each group can run as one stage.
 */
#ifndef CLV_PROBLEM_PARTITION_PROBLEM_H
#define CLV_PROBLEM_PARTITION_PROBLEM_H

#include <stdbool.h>

#include "base/arena.h"

typedef enum { CLV_LATENCY, CLV_THROUGHPUT } clv_objective;

typedef struct {
    int32_t n_units, n_devices, n_kinds, n_nets;
    const int32_t *kind_of;        /* n_devices */
    const int64_t *capacity_bytes; /* n_devices: what tensors may use */
    const int64_t *weight_bytes;   /* n_units: for balance; weights shared by two units count in the
                                      first */
    const int64_t *flops;          /* n_units */
    const int64_t *time_ns;        /* [kind * n_units + unit] */
    /* A net is one tensor, written by a unit and read by later ones; sent once to each device. One
     * of 0 bytes is never sent: it only says that its readers come later. */
    const int32_t *net_from; /* n_nets, ascending */
    const int64_t *net_bytes;
    const int32_t *net_first;      /* n_nets + 1, into net_to */
    const int32_t *net_to;         /* ascending in each net, never the writer itself */
    const int32_t *unit_first_net; /* n_units + 1: nets written by a unit */
    const int32_t *reads_first;    /* n_units + 1, into reads: nets read by a unit */
    const int32_t *reads;          /* in each unit by first use */
    /* n_nets: known before the run, so its readers come later but wait for nothing; NULL: none. */
    const bool *net_known;
    /* Operators of a unit run one after another, so a net may be there before its unit ends, and a
     * unit may run for a while before it needs one. With NULL for the three, a unit needs all it
     * reads at its start, and what it writes is there at its end. */
    const int32_t *net_reads; /* n_nets: the first so many of its unit's reads come before it */
    /* [kind * n_nets + net]: from its unit's start until it is there, at the unit's end at last */
    const int64_t *net_ready_ns;
    /* [kind * reads + i]: from the unit's start until reads[i] is needed */
    const int64_t *read_after_ns;
    /* [from * n_devices + to] */
    const int64_t *link_latency_ns;
    const double *link_bytes_per_s;
    /* What a transfer over a link occupies, alone, for as long as it takes: ports link_ports[i] for
     * i in link_first_port[link] .. link_first_port[link + 1]. NULL: each link is a port of its
     * own. */
    int32_t n_ports;
    const int32_t *link_first_port; /* n_devices * n_devices + 1, or NULL */
    const int32_t *link_ports;
    const struct clv_rules *rules; /* of a user (rules.h); NULL: none */
} clv_partition_problem;

typedef enum {
    CLV_FITS,
    CLV_OOM,
    CLV_FAILED, /* the compiler crashed, hung or answered nonsense; says nothing about memory */
    /* of a plan only, never a verdict: */
    CLV_INFEASIBLE, /* no plan satisfies all rules */
    CLV_LATE        /* it fits, and its latency is above what is allowed */
} clv_outcome;

typedef struct {
    clv_outcome outcome;
    int32_t device;      /* OOM: the one that lacks most */
    int64_t short_bytes; /* OOM: how much it lacks; sum over devices in total_short_bytes */
    int64_t total_short_bytes;
    int64_t latency_ns; /* one sample, start to end */
    int64_t period_ns;  /* steady state: one sample leaves each period */
    char reason[160];   /* FAILED */
    int64_t share_ns;   /* with a given number of micro-batches: the time of all, from the first's
                           start to the last's end, divided by it; set by the search, not by judges */
} clv_verdict;

typedef struct {
    const int32_t *device_of; /* n_units */
    double proportion;        /* available memory proportion, (0, 1]; 0: each device's default */
    int64_t *busy_ns; /* n_devices, set to -1 by who asks, or NULL: where a compiler that measures
                         writes how long each device computes for a sample */
} clv_assignment;

/* The only judge of assignments: compiles each and says what came of it. Either n at a time, in
 * parallel; verdict k belongs to assignment k, whatever finished first. Or, where it takes long and
 * the search looks ahead, one queue: start() never waits, and take() gives the verdicts in the
 * order of the starts, so that what is done with them does not depend on who finished first. */
typedef struct {
    clv_status (*judge)(void *ctx, const clv_assignment *assignments, int32_t n,
                        clv_verdict *verdicts, clv_error *err);
    /* At most lookahead of them are started and not taken, and none when judge() is called. What
     * the assignment points to stays until its verdict is taken or all are dropped. */
    clv_status (*start)(void *ctx, const clv_assignment *assignment, clv_error *err);
    clv_status (*take)(void *ctx, clv_verdict *verdict, clv_error *err); /* waits for the oldest */
    /* All that were started and not taken, but for the oldest n_kept; nothing of them runs then. */
    void (*drop)(void *ctx, int32_t n_kept);
    int32_t lookahead; /* 0: the three may be NULL; never depends on the number of threads either */
    void *ctx;
    int32_t batch; /* how many are worth giving at once; never depends on the number of threads */
    int32_t n_before; /* of somebody else, begun before all of these: part of the first batch */
    /* n_units: whatever the assignment, at least so many bytes besides weights are in use at once
     * on the device of a unit. NULL: not known. */
    const int64_t *live_bytes;
    /* n_units: so many bytes of a unit besides weights are in use on its device all the time that
     * other units run there; live_bytes of those does not count them. NULL: not known. */
    const int64_t *held_bytes;
    /* Times are never below those of clv_partition_estimate() where the available memory proportion
     * is a device's default or at most this. 0: not known, so nothing is known of what is best. */
    double bounded_at;
} clv_partition_judge;

#endif
