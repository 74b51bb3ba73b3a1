/* stretches.h - what runs between two units through which all paths lead, for bounds of the
 * latency.
 *
 * Prices are set by bound_latency.c; all times below include them: a unit pays the price of a byte
 * of its kind of device for what it holds there.
 */
#ifndef CLV_SOLVER_PARTITION_STRETCHES_H
#define CLV_SOLVER_PARTITION_STRETCHES_H

#include "solver/partition/bound.h"
#include "solver/partition/trunk.h"

/* What parting a stretch costs more than not, and how many devices more it may use. */
typedef struct {
    double cost;
    int32_t devices;
} clv_parting;

typedef struct {
    const clv_partition_problem *p;
    clv_trunk trunk;
    bool *used;    /* n_kinds: some device has it */
    double *price; /* n_kinds: ns for a byte */
    double *gift; /* n_kinds: ns for a device that has units through which all paths lead; negative:
                     a price */
    double *room; /* n_kinds: bytes for weights on all its devices */
    double *demand;  /* n_kinds: such devices that there must be */
    double *supply;  /* n_kinds: that there are */
    int64_t *live;   /* n_units: bytes beside weights while it runs */
    int64_t *weight; /* n_units: weights, and what it holds all the time */
    uint64_t *past;  /* places: bit k: place - 1 - k must run before, as far as the word tells */
    int8_t *only;    /* places: the one kind that the unit may be on; -1: any. NULL: any for all */
    double *near; /* n_nets: when it is written, in this stretch, on the device of its first unit */
    double *far;  /* n_nets: on another device */
    double *sent; /* n_nets: the same, that fast links alone may lead to; where is_slow */
    double *whole, *split; /* n_kinds: what a stretch takes on one device, and parted, its last unit
                              on the kind */
    double *least, *next;  /* [kind * n_devices + how many are parted]: up to this stretch */
    int16_t *choice; /* [stretch * kinds * devices + as least]: kind of the device before; SAME;
                        FIRST. NULL: not wanted */
    int32_t n_stretches;
    clv_parting *partings;
    int32_t n_partings, least_partings;
    bool by_kind;
    double latency_ns, bytes_ns;           /* the fastest link */
    double slow_latency_ns, slow_bytes_ns; /* see clv_stretch_slow() */
    bool is_slow, is_one_link;
    /* [kind * n_kinds + kind]: the fastest link from one to the other, each of its numbers; NULL:
     * as any link. */
    double *direct_latency_ns, *direct_bytes_ns;
    int32_t least_devices; /* that units of the trunk are on */
} clv_stretches;

/* Places first + 1 .. last; the unit at first has just ended, or is -1: the start of all. */
typedef struct {
    int32_t first, last;
    bool parted; /* every path is sent, over a slow link too; else nothing is counted for sending */
    bool is_end; /* the end of all units counts, not that of the last one */
    bool is_known; /* the unit at first ran on a device of the kind */
    int32_t kind;
    /* And so did places before + 1 .. first, on the device of the unit at before, and took
     * whole_ns: what they write is there so much earlier. 0: nothing is known of them. */
    int32_t before;
    double whole_ns;
} clv_stretch;

/* near: width of the trunk. All lives in scratch. CLV_ENOMEM. O(units * 64 + nets' readers). */
clv_status clv_stretches_open(const clv_partition_problem *p, const clv_bound_options *options,
                              int32_t near, clv_arena *scratch, clv_stretches *ret, clv_error *err);

/* Fills whole: the stretch on one device of each kind. O(units in it * kinds). */
void clv_stretch_whole(clv_stretches *b, const clv_stretch *s);

/* Fills split: when it ends at the earliest on more than one device, by the kind of its last unit.
 * O((units in it * 64 + nets' readers) * kinds). */
void clv_stretch_split(clv_stretches *b, const clv_stretch *s);

/* From now on the last unit of a parted stretch is where each way from the first one's device has
 * some link with so much latency at least, and some, maybe another, with so many ns a byte;
 * is_one_link: one that has both. What is between the two may be reached by faster ones. 0: any
 * link is. */
void clv_stretch_slow(clv_stretches *b, double latency_ns, double bytes_ns, bool is_one_link);

/* How many devices more than one it may use: 0 where it cannot be parted. At the ends of the trunk,
 * where there is no other unit through which all paths lead, only what is beside the one there is
 * can be elsewhere. */
int32_t clv_stretch_devices(const clv_stretch *s);

#endif
