/* segments.h - critical paths of what runs between two cut vertices, for bounds of the latency.
 *
 * The cut vertices of the backbone, through which all paths lead, divide it into segments. A
 * segment runs whole on one device, one unit after another, or it is split: its two ends are on
 * different devices, and something is sent on every path between them. Here is what each takes at
 * least, by longest paths (the critical path method, Kelley, Walker 1959). bound_latency.h and
 * segment_dp.h choose for each segment.
 *
 * Prices are Lagrange multipliers of bound_latency.h; all times below include them: a unit pays the
 * price of a byte of its kind of device for what it holds there.
 */
#ifndef CLV_SOLVER_PARTITION_SEGMENTS_H
#define CLV_SOLVER_PARTITION_SEGMENTS_H

#include "solver/partition/backbone.h"
#include "solver/partition/bound.h"
#include "solver/partition/link_speed.h"

/* What splitting a segment costs more than not, and how many devices more it may use. */
typedef struct {
    double ns;
    int32_t devices;
} clv_split_cost;

typedef struct {
    const clv_partition_problem *p;
    clv_backbone backbone;
    bool *used;                /* n_kinds: some device has it */
    double *price_ns_per_byte; /* n_kinds: multiplier of its memory */
    double *reward_ns;     /* n_kinds: ns for a device that has cut vertices; negative: a price */
    double *room_bytes;    /* n_kinds: for weights, on all its devices */
    double *demand;        /* n_kinds: devices with cut vertices that there must be */
    double *supply;        /* n_kinds: that there are */
    int64_t *live_bytes;   /* n_units: beside weights while it runs */
    int64_t *weight_bytes; /* n_units: weights, and what it holds all the time */
    uint64_t *past;        /* places: bit k: place - 1 - k must run before, within the word */
    int8_t *only; /* places: the one kind that the unit may be on; -1: any. NULL: any for all */
    /* n_nets: when it is written, in the segment at hand */
    double *near_ns; /* on the device of the first unit */
    double *far_ns;  /* on another device */
    double *sent_ns; /* on another one that fast links alone may lead to; where is_slow */
    /* n_kinds: what a segment takes on one device, and split, its last unit on the kind */
    double *whole_ns, *split_ns;
    clv_split_cost *split_costs; /* scratch: of all segments */
    int32_t n_split_costs, least_splits;
    bool by_kind;           /* more than one kind, and few enough steps to keep them apart */
    clv_link_speed fastest; /* of any link */
    clv_link_speed slow;    /* see clv_segments_set_slow_link() */
    bool is_slow;           /* slow is slower than fastest */
    /* [kind * n_kinds + kind]: the fastest link from one to the other; NULL: as any link. */
    clv_link_speed *direct;
    int32_t least_devices; /* that units of the backbone are on */
} clv_segments;

/* Places first + 1 .. last; the unit at first has just ended, or is -1: the start of all. */
typedef struct {
    int32_t first, last;
    bool is_split; /* every path is sent, over a slow link too; else nothing is counted for that */
    bool is_end;   /* the end of all units counts, not that of the last one */
    bool is_known; /* the unit at first ran on a device of the kind */
    int32_t kind;
    /* And so did places before + 1 .. first, on the device of the unit at before, and took
     * before_ns: what they write is there so much earlier. 0: nothing is known of them. */
    int32_t before;
    double before_ns;
} clv_segment;

static inline double clv_lesser_ns(double a, double b) { return a < b ? a : b; }
static inline double clv_larger_ns(double a, double b) { return a > b ? a : b; }

/* near: width of the backbone. All lives in scratch. CLV_ENOMEM. O(units * 64 + nets' readers). */
clv_status clv_segments_open(const clv_partition_problem *p, const clv_bound_options *options,
                             int32_t near, clv_arena *scratch, clv_segments *ret, clv_error *err);

/* Fills whole_ns: the segment on one device of each kind. O(units in it * kinds). */
void clv_segment_time_whole(clv_segments *b, const clv_segment *s);

/* Fills split_ns: when it ends at the earliest on more than one device, by the kind of its last
 * unit. O((units in it * 64 + nets' readers) * kinds). */
void clv_segment_time_split(clv_segments *b, const clv_segment *s);

/* Slow links on the way: from now on every route between the devices of the two ends of a split
 * segment has a link with at least this latency, and a link, maybe another, with at least this time
 * of a byte; is_one: one link has both. Units between the ends may be reached over faster links.
 * All 0: no such link. */
void clv_segments_set_slow_link(clv_segments *b, clv_link_speed slow);

/* How many devices more than one it may use: 0 where it cannot be split. At the ends of the
 * backbone, where there is no other cut vertex, only what is beside the one there is can be
 * elsewhere. */
int32_t clv_segment_extra_devices(const clv_segment *s);

#endif
