/* balance.h - first plans: ways to cut the list of units into runs, one a device.
 *
 * All of them keep the order of the units, so their quotient graph is a chain and always legal.
 */
#ifndef CLV_SOLVER_PARTITION_BALANCE_H
#define CLV_SOLVER_PARTITION_BALANCE_H

#include "problem/rules.h"
#include "problem/sums.h"

/* By family of tags: the tag seen last, the position behind the last unit with it, and that behind
 * the last unit with another one. */
typedef struct {
    int32_t tag, behind, behind_other;
} clv_last_tag;

/* What the runs are cut for. Prefix sums are made once and shared by all cuts. */
typedef struct {
    const clv_partition_problem *p;
    int64_t *weight; /* n_units + 1: of all units before */
    int64_t *held;  /* n_units + 1: weights and what units hold all the time, of all units before */
    int64_t *time;  /* [kind * (n_units + 1) + position] */
    double *spread; /* by device: where it comes if each kind is spread evenly, 0 to 1 */
    int64_t *fan; /* n_units + 1: of all units before, what clv_line_learn_fans() learned; else 0 */
    int64_t *cut_bytes; /* n_units + 1: of nets that cross this position */
    int32_t *cut_nets;
    bool *reach;      /* scratch, [(device + 1) * (n_units + 1)] */
    int32_t *from;    /* scratch, the same */
    int64_t *wire;    /* scratch, [device * (n_units + 1)]: boundary times */
    int64_t *arrival; /* scratch, n_nets */
    int64_t *cost;    /* scratch, 2 * (n_units + 1) */
    int32_t *window;  /* scratch, n_units + 1; the next one too */
    int64_t *start_ns;
    int32_t *low, *high; /* scratch, device + 1: where a run can end at all */
    /* Rules that the cuts by time and latency keep to, as far as runs can: a run holds only units
     * that may be on its device, and at the stage that is its number, none that must be apart, and
     * no boundary is inside a group. NULL: they do not look. */
    const clv_rules *rules;
    int32_t *start;     /* scratch, as wire: the earliest start of a run that ends here */
    int32_t *apart;     /* scratch, n_units + 1: the same for all devices */
    clv_last_tag *seen; /* scratch, by family */
    bool *inside;       /* n_units + 1: this position is inside a group */
} clv_line;

/* held_bytes: as in clv_partition_judge, or NULL. */
clv_status clv_line_new(const clv_partition_problem *p, const int64_t *held_bytes, clv_arena *arena,
                        clv_line **ret, clv_error *err);

/* Sums up the times of the problem again, which have changed. O(units * kinds). */
void clv_line_retime(clv_line *line);

/* Learns from an assignment how long each unit keeps a port of its device busy for readers on other
 * devices than the first of them: a mask that all layers read, say. Later cuts keep the sum of a
 * run within their period, so that what is sent to many devices comes from several. O(units +
 * readers * hops + devices^2). CLV_ENOMEM. */
clv_status clv_line_learn_fans(clv_line *line, const int32_t *device_of, clv_arena *scratch,
                               clv_error *err);

/* The documented first plan (B.016, B.042): a run ends with the unit that brings it to the average
 * weight or above; at most n_devices - 1 cuts. May leave devices empty; with use_all the heaviest
 * runs are halved until there are as many as devices or units. O(units + devices^2). */
void clv_cut_by_weight(const clv_line *line, bool use_all, int32_t *device_of);

typedef struct {
    const int32_t *order;          /* devices in the order of the runs */
    const int64_t *capacity_bytes; /* by device, for weights; NULL: no limit */
    bool use_all;                  /* no device of order stays empty (where units are enough) */
    bool with_held;                /* capacity is for what units hold all the time, too */
    bool short_runs; /* by time: where a unit's fan makes the period long, no run has to take as
                        long as that: as short as they can be within it */
} clv_cut_options;

/* Smallest period of any such cut, exactly but for what fans teach: binary search on the period,
 * each answer in O(units * devices). A net that skips over a run counts on each boundary it
 * crosses, so the cut is the best one where nets reach the next run only. False when none is within
 * the capacities. */
bool clv_cut_by_time(const clv_line *line, const clv_cut_options *options, int32_t *device_of);

/* Least latency: compute one device after the other, and at each boundary the delay that its
 * transfers make, less what the next device does while the one before is still at work. Each
 * boundary is looked at by itself, a few units to both sides. Among equal ones the smallest period,
 * to a precision that keeps this O(units * devices * 40) and cheap. */
bool clv_cut_by_latency(const clv_line *line, const clv_cut_options *options, int32_t *device_of);

/* The delay of a boundary between two devices at each position, as there; row: n_units + 1.
 * O(units * 64 readers). */
void clv_line_delays(const clv_line *line, int32_t from, int32_t to, int64_t *row);

/* Have two boundaries between devices the same delays? */
bool clv_line_same_boundary(const clv_line *line, int32_t from, int32_t to, int32_t other_from,
                            int32_t other_to);

/* Least latency, the order of the devices left open but for those of one kind and capacity, which
 * come as numbered: what is next to what decides where parts of a cluster are left. order of the
 * options is not looked at, nor are rules. *found: false also where there are too many kinds and
 * devices. CLV_ENOMEM. O(ways to use some devices of each class * units * classes^2), with a limit
 * of steps. */
clv_status clv_cut_by_kinds(const clv_line *line, const clv_cut_options *options,
                            clv_arena *scratch, int32_t *device_of, bool *found, clv_error *err);

#endif
