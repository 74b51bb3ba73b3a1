/* component_shares.h - what the components of a placement can do with a share of the devices: each
 * is solved with some numbers of them, as a resource allocation problem asks for (Ibaraki, Katoh
 * 1988, "Resource Allocation Problems").
 *
 * Paying devices are dealt out in shares, as many as there are devices: of n shares a kind gives
 * count * n / shares of its devices, rounded down. So parts whose shares add up to all of them at
 * most have devices of their own; with one kind that pays, a share is a device.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_COMPONENT_SHARES_H
#define CLV_SOLVER_PLACEMENT_LATENCY_COMPONENT_SHARES_H

#include "solver/placement/common/place_search.h"
#include "solver/placement/latency/components.h"

/* One solve of a part. */
typedef struct clv_component_share clv_component_share;
struct clv_component_share {
    clv_component_share *next;
    int32_t given, used; /* shares: that it had; that are enough for its solution */
    double value;        /* INFINITY: no solution */
    double bound;        /* no solution with these shares is below */
    bool brief;
    int32_t *device_of; /* by node of the part: as in the whole, if its shares were the first */
};

/* Equal parts, and what is known of each of them. */
typedef struct {
    const clv_place_problem *p;
    int32_t n_copies;
    int32_t most; /* shares that are as good as all: more devices could not have nodes */
    int64_t bytes;
    double least;       /* no solution is below */
    double alone;       /* latency on one device that does not pay; INFINITY: impossible */
    int32_t alone_on;   /* that device */
    bool alone_is_best; /* no other solution without paying devices can be better */
    double whole;       /* latency in one piece on one device that pays; INFINITY: impossible */
    clv_component_share *solved; /* with different shares, the last one first */
    int32_t low, high;           /* for a caller's test: shares that are not enough, that are */
    clv_component_share *taken;  /* the same: NULL if alone or packed */
    bool packed;
} clv_component_group;

typedef struct {
    clv_place_search *search;
    const clv_place_problem *p;
    clv_arena *arena;
    clv_components parts;
    clv_component_group *groups;
    int32_t *first;   /* by kind: its first device */
    int32_t n_shares; /* devices that pay */
    int32_t packing;  /* the only kind that pays, if any; -1: none, or several */
    int32_t n_free;   /* kinds that do not pay and have devices */
    double bound;     /* of the whole */
    double end_s;     /* when solves end, in the run's time; INFINITY: no deadline */
    int64_t budget;   /* for solves */
    clv_place_kind *kinds;
    bool enough; /* of the solve at hand: as good as the bound of the whole */
} clv_component_shares;

/* Everything but solves; groups are not made where there is one part. O(nodes * kinds + edges). */
clv_status clv_component_shares_new(clv_place_search *search, clv_arena *arena,
                                    clv_component_shares *ret, clv_error *err);

/* Devices that a kind gives for so many shares. */
int32_t clv_component_shares_devices(const clv_component_shares *s, int32_t kind, int32_t shares);

/* Can a solve be paid for, and is there time? */
bool clv_component_shares_may_solve(const clv_component_shares *s);

/* Solves a part with so many shares and keeps it, in place of a former solve with as many. Ends
 * early at what is as good as the bound of the whole. Brief: some seconds at most. */
clv_status clv_component_shares_solve(clv_component_shares *s, clv_component_group *g,
                                      int32_t shares, bool brief, clv_error *err);

/* A former solve with so many shares; NULL: there is none. */
clv_component_share *clv_component_shares_solved(const clv_component_group *g, int32_t shares);

#endif
