/* kernel_times.h - what kernels take on a device, by tables of measured times.
 *
 * kernel_times_json.h reads them, src/calibrate fits them. Everything is const: any thread may ask.
 */
#ifndef CLV_CLUSTER_KERNEL_TIMES_H
#define CLV_CLUSTER_KERNEL_TIMES_H

#include "cluster/timed_kernel.h"

typedef struct {
    clv_timed kind;
    clv_dtype dtype, weights;       /* UNDEFINED where the kind is not typed */
    clv_timed_operation operation;  /* of a collective */
    int32_t devices;                /* of a collective; 0 */
    const char *library;            /* what was timed: "nccl 2.29.2" */
    const char *source;             /* NULL: the file's */
    int32_t rows;                   /* measured, that it was fitted to */
    double median_error, p95_error; /* of rows left out, parts of 1; negative: not known */
    clv_time_table table;
} clv_timed_table;

typedef struct clv_kernel_times {
    const char *name, *source, *date;
    int32_t n;
    const clv_timed_table *at;  /* no two for the same; of collectives one for each library */
    int32_t first[CLV_N_TIMED]; /* by kind: no table before this one is of it; 0 is always true */
} clv_kernel_times;

/* Data-sheet peaks: nothing is faster, whatever a table says. */
typedef struct {
    double flops_per_s;  /* of the matrix units for the kernel's types */
    double bytes_per_s;  /* of memory */
    int64_t cache_bytes; /* that may be there already: not counted */
} clv_roofline;

/* max(flops / peak, (streamed + other bytes - cache) / bandwidth). */
double clv_roofline_ns(const clv_roofline *floor, clv_kernel_work work);

/* Of a kernel in a captured graph, its own start included, nanoseconds. False where nothing is
 * measured for its kind and types. math: the type of the first operand; clv_timed_dtype() stands
 * for it. floor may be NULL.
 *
 * Attention with fewer queries than keys takes the part of attention with as many queries as keys
 * that it has of the scores; at least attention among the queries alone, and at least one query
 * with all keys. Without a causal mask it takes as long as with as many queries as keys and as many
 * scores; where that is not measured, twice as many scores are computed as in causal attention: as
 * long as that over sqrt(2) times the keys. O(2^axes). */
bool clv_kernel_times_ns(const clv_kernel_times *times, const clv_kernel_shape *shape,
                         clv_dtype math, const clv_roofline *floor, double *ret);

/* The fastest library's, nanoseconds. bytes: of the whole buffer, as nccl-tests count. A number of
 * devices between two that were measured is interpolated between their logarithms. False for
 * others. O(tables). */
typedef struct {
    clv_timed_operation operation;
    int32_t devices;
    int64_t bytes;
} clv_timed_collective;
bool clv_collective_ns(const clv_kernel_times *times, const clv_timed_collective *what,
                       double *ret);

/* A kernel that reads and writes bytes and does little else, its start included; and the start of
 * one alone. False where not measured. */
bool clv_memory_ns(const clv_kernel_times *times, double bytes, double *ret);
bool clv_start_ns(const clv_kernel_times *times, double *ret);

/* What of the measured time of a product goes into bringing its first operand, of 16 bits, to 8
 * bits or fewer, as engines call it: of the smallest product all but the start of a kernel, and
 * what it takes to read the operand for its largest element and again, and to write it. 0 for wider
 * types, and where not measured. Products without it, by PyTorch on H100 and H200
 * (tests/data/measured), are 6 % off in the middle from 512 rows on. elems: of the first operand.
 * O(tables). */
double clv_quantising_ns(const clv_kernel_times *times, clv_dtype math, clv_dtype weights,
                         double elems);

/* Whether two tables are for the same kernels. */
bool clv_timed_tables_alike(const clv_timed_table *a, const clv_timed_table *b);

/* The table of a kind and types; NULL. O(tables of the kind) where times->first says where they
 * are, as in a file that has them side by side. */
const clv_timed_table *clv_timed_table_find(const clv_kernel_times *times, clv_timed kind,
                                            clv_dtype dtype, clv_dtype weights);

#endif
