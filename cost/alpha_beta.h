/* alpha_beta.h - the alpha-beta model of communication (Hockney 1994): b bytes take alpha + beta b,
 * a line, and the best of several algorithms the lower envelope of their lines.
 */
#ifndef CLV_COST_ALPHA_BETA_H
#define CLV_COST_ALPHA_BETA_H

#include <stdint.h>

typedef enum {
    CLV_BY_RING,
    CLV_BY_HALVING,   /* distances halved (doubled) from round to round; also for odd numbers */
    CLV_BY_TREE,      /* whole tensors, in as few rounds as can be */
    CLV_BY_DIRECT,    /* each to each, and each device by itself in a permutation */
    CLV_BY_HIERARCHY, /* inside groups of neighbours, and across them */
    CLV_BY_LIBRARY    /* as a library was measured to do it */
} clv_algorithm;

const char *clv_algorithm_name(clv_algorithm by); /* "ring", "halving", ... */

typedef struct {
    int64_t latency_ns; /* alpha */
    double ns_per_byte; /* beta */
    clv_algorithm by;
    int32_t inner; /* CLV_BY_HIERARCHY: so many neighbours are inside; else 0 */
} clv_line;

/* The most that any time here is, so that sums of a few do not overflow. */
#define CLV_COMM_NS_MAX (INT64_MAX / 4)

/* Of two times that are not negative, at most CLV_COMM_NS_MAX. */
static inline int64_t clv_comm_add_ns(int64_t a, int64_t b)
{
    return a > CLV_COMM_NS_MAX - b ? CLV_COMM_NS_MAX : a + b;
}

/* The time is the lowest line's; none: nothing is ever sent. Where it was measured, at sizes of
 * CLV_POINTS_FROM bytes and by twos, it is what was measured, interpolated between logarithms;
 * below as for the first, beyond the last in proportion. Lines are then near it. */
#define CLV_LINES_MAX   8
#define CLV_POINTS_MAX  23
#define CLV_POINTS_FROM INT64_C(256)
typedef struct {
    int32_t n, n_points;
    clv_line at[CLV_LINES_MAX];
    double ns[CLV_POINTS_MAX]; /* n_points, rising */
} clv_curve;

/* Rounded up; 0 for 0 bytes, at most CLV_COMM_NS_MAX. Never less for more bytes. O(lines), or
 * O(1). */
int64_t clv_curve_ns(const clv_curve *curve, int64_t bytes);
/* The line that is lowest there; NULL when there is none. */
const clv_line *clv_curve_line(const clv_curve *curve, int64_t bytes);

/* Lines found so far, more than are kept in the end. */
#define CLV_LINES_TRIED 96
typedef struct {
    int32_t n;
    clv_line at[CLV_LINES_TRIED];
} clv_lines;

/* Adds a line; the worst may be lost when there is no room. O(lines). */
void clv_lines_add(clv_lines *lines, clv_line line);
/* Leaves the lower envelope: those that are lowest somewhere, by latency, CLV_LINES_MAX at most.
 * O(lines). */
void clv_lines_prune(clv_lines *lines);

#endif
