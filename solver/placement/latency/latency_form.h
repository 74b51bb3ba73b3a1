/* latency_form.h - what the solvers of the latency objective look up again and again, and the clock
 * that times a whole assignment.
 *
 * The clock says the same as clv_place_judge() but for rounding, and is made to be asked a hundred
 * thousand times a second: it takes nothing from an arena and sorts nothing.
 */
#ifndef CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_FORM_H
#define CLV_SOLVER_PLACEMENT_LATENCY_LATENCY_FORM_H

#include "problem/place_problem.h"

/* Lists of numbers, one after the other: those of i are at[first[i] .. first[i + 1]). */
typedef struct {
    int32_t *first, *at;
} clv_lists;

typedef struct {
    const clv_place_problem *p;
    bool contiguous;
    int32_t n_devices;
    int32_t *kind_of;     /* by device */
    int32_t *column_of;   /* by device: place among the devices that pay; -1: does not pay */
    int32_t n_columns;    /* devices that pay */
    clv_lists in;         /* by node: nodes it reads */
    clv_lists members;    /* by class: nodes, in the order of the problem */
    clv_lists up, down;   /* by class: other classes that it reads, that read it */
    clv_lists line;       /* by class: classes that must not stand before it (contiguous rules) */
    int64_t *class_bytes; /* by class */
    bool *class_fits;     /* [kind * n_classes + class]: every member runs there, and it has room */
} clv_latency_form;

clv_status clv_latency_form_new(const clv_place_problem *p, bool contiguous, clv_arena *arena,
                                clv_latency_form **ret, clv_error *err);

/* Sorts pairs (from[i], to[i]) into lists by from, each to once, none of a number to itself.
 * O(n + pairs). */
clv_status clv_lists_of(int32_t n, int32_t n_pairs, const int32_t *from, const int32_t *to,
                        clv_arena *arena, clv_lists *ret, clv_error *err);

/* When the last node ends, and the work behind it. */
typedef struct {
    double latency; /* INFINITY: pieces wait for each other */
    double work;    /* of all pieces with what they pay, and all other nodes: breaks ties */
} clv_latency_time;

typedef struct clv_latency_clock clv_latency_clock;

clv_status clv_latency_clock_new(const clv_latency_form *form, clv_arena *arena,
                                 clv_latency_clock **ret, clv_error *err);

/* device_of_class: a device for every class. O(nodes + edges * paying devices / 8). */
clv_latency_time clv_latency_clock_read(clv_latency_clock *clock, const int32_t *device_of_class);

/* Can the devices stand in a line, as contiguous rules want? O(classes' edges + devices^2 / 64). */
bool clv_latency_in_line(clv_latency_clock *clock, const int32_t *device_of_class);

#endif
