#include "cluster/kernel_times.h"

#include <math.h>
#include <string.h>

#define NS_PER_S   1e9
#define WIDE_BYTES 2 /* of an activation before it is quantised */

double clv_roofline_ns(const clv_roofline *floor, clv_kernel_work work)
{
    double rest = work.bytes - work.streamed - (double)floor->cache_bytes;
    double moves = (work.streamed + (rest > 0 ? rest : 0)) / floor->bytes_per_s;
    double computes = work.flops / floor->flops_per_s;
    return NS_PER_S * (computes > moves ? computes : moves);
}

bool clv_timed_tables_alike(const clv_timed_table *a, const clv_timed_table *b)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->weights == b->weights &&
           a->operation == b->operation && a->devices == b->devices &&
           (a->kind != CLV_TIMED_COLLECTIVE || strcmp(a->library, b->library) == 0);
}

const clv_timed_table *clv_timed_table_find(const clv_kernel_times *times, clv_timed kind,
                                            clv_dtype dtype, clv_dtype weights)
{
    for (int32_t i = times->first[kind]; i < times->n; i++) {
        const clv_timed_table *t = &times->at[i];
        if (t->kind == kind && t->dtype == dtype && t->weights == weights)
            return t;
    }
    return NULL;
}

/* The kind that stands for one that is not measured. */
static clv_timed like(clv_timed kind)
{
    return kind == CLV_TIMED_EXPERTS        ? CLV_TIMED_EXPERTS_EVEN
           : kind == CLV_TIMED_EXPERTS_EVEN ? CLV_TIMED_EXPERTS
           : kind == CLV_TIMED_CONVOLUTION  ? CLV_TIMED_PRODUCT
                                            : kind;
}

/* Of attention over keys of 8 bits it is these that make the time: queries of any type. */
static bool point_ns(const clv_kernel_times *times, const clv_timed_point *p, double *ret)
{
    bool attends = p->kind >= CLV_TIMED_FULL && p->kind <= CLV_TIMED_DECODE_SHARED;
    const clv_timed_table *t = clv_timed_table_find(times, p->kind, p->dtype, p->weights);
    if (!t)
        t = clv_timed_table_find(times, like(p->kind), p->dtype, p->weights);
    if (!t && attends && p->weights == CLV_DT_FLOAT8E4M3FN && p->dtype == CLV_DT_FLOAT8E4M3FN)
        t = clv_timed_table_find(times, p->kind, CLV_DT_BFLOAT16, p->weights);
    if (t)
        *ret = clv_time_table_ns(&t->table, p->at);
    return t != NULL;
}

/* -- attention -- */

static bool prefill_ns(const clv_kernel_times *times, const clv_kernel_shape *s, clv_dtype math,
                       double keys, double *ret)
{
    clv_timed_point p;
    return clv_timed_prefill_of(s, math, keys, &p) && point_ns(times, &p, ret);
}

static bool full_ns(const clv_kernel_times *times, const clv_kernel_shape *s, clv_dtype math,
                    double keys, double *ret)
{
    clv_timed_point p;
    return clv_timed_full_of(s, math, keys, &p) && point_ns(times, &p, ret);
}

static bool decode_ns(const clv_kernel_times *times, const clv_kernel_shape *s, clv_dtype math,
                      double *ret)
{
    clv_timed_point p;
    return clv_timed_decode_of(s, math, &p) && point_ns(times, &p, ret);
}

static bool attention_ns(const clv_kernel_times *times, const clv_kernel_shape *s, clv_dtype math,
                         double *ret)
{
    double q = (double)s->queries, keys = (double)s->keys, all, among, one;
    if (s->heads < 1 || s->kv_heads < 1 || s->queries < 1 || s->keys < 1)
        return false;
    if (s->queries == 1)
        return decode_ns(times, s, math, ret);
    if (!s->causal && full_ns(times, s, math, sqrt(q * keys), ret))
        return true;
    if (s->queries >= s->keys && (s->queries > s->keys || !s->causal))
        return prefill_ns(times, s, math, sqrt(2 * q * keys), ret);
    if (!prefill_ns(times, s, math, s->causal ? keys : sqrt(2) * keys, &all))
        return false;
    if (s->queries < s->keys) {
        all *= s->causal ? (q * keys - q * (q - 1) / 2) / (keys * (keys + 1) / 2) : q / keys;
        if (prefill_ns(times, s, math, q, &among) && among > all)
            all = among;
        if (decode_ns(times, s, math, &one) && one > all)
            all = one;
    }
    *ret = all;
    return true;
}

bool clv_kernel_times_ns(const clv_kernel_times *times, const clv_kernel_shape *shape,
                         clv_dtype math, const clv_roofline *floor, double *ret)
{
    clv_timed_point p;
    double ns;
    bool known = shape->kind == CLV_SHAPE_ATTENTION
                     ? attention_ns(times, shape, math, &ns)
                     : clv_timed_point_of(shape, math, &p) && point_ns(times, &p, &ns);
    if (!known)
        return false;
    double least = floor ? clv_roofline_ns(floor, clv_kernel_shape_work(shape, math)) : 0;
    *ret = ns > least ? ns : least;
    return true;
}

/* -- collectives -- */

/* Of just so many devices: the fastest library. */
static bool fastest_ns(const clv_kernel_times *times, const clv_timed_collective *what,
                       int32_t devices, double *ret)
{
    double bytes = what->bytes > 0 ? (double)what->bytes : 1, best = INFINITY;
    for (int32_t i = times->first[CLV_TIMED_COLLECTIVE]; i < times->n; i++) {
        const clv_timed_table *t = &times->at[i];
        if (t->kind != CLV_TIMED_COLLECTIVE || t->operation != what->operation ||
            t->devices != devices)
            continue;
        double ns = clv_time_table_ns(&t->table, &bytes);
        best = ns < best ? ns : best;
    }
    if (isfinite(best))
        *ret = best;
    return isfinite(best);
}

bool clv_collective_ns(const clv_kernel_times *times, const clv_timed_collective *what, double *ret)
{
    int32_t below = 0, above = 0;
    double low, high;
    for (int32_t i = times->first[CLV_TIMED_COLLECTIVE]; i < times->n; i++) {
        const clv_timed_table *t = &times->at[i];
        if (t->kind != CLV_TIMED_COLLECTIVE || t->operation != what->operation)
            continue;
        if (t->devices <= what->devices && t->devices > below)
            below = t->devices;
        if (t->devices >= what->devices && (above == 0 || t->devices < above))
            above = t->devices;
    }
    if (below == 0 || above == 0 || !fastest_ns(times, what, below, &low) ||
        !fastest_ns(times, what, above, &high))
        return false;
    double part = below == above
                      ? 0
                      : log2((double)what->devices / below) / log2((double)above / (double)below);
    *ret = low * pow(high / low, part);
    return true;
}

/* -- what is bound by memory -- */

bool clv_memory_ns(const clv_kernel_times *times, double bytes, double *ret)
{
    const clv_timed_table *t =
        clv_timed_table_find(times, CLV_TIMED_MEMORY, CLV_DT_UNDEFINED, CLV_DT_UNDEFINED);
    if (t)
        *ret = clv_time_table_ns(&t->table, &bytes);
    return t != NULL;
}

bool clv_start_ns(const clv_kernel_times *times, double *ret)
{
    const clv_timed_table *t =
        clv_timed_table_find(times, CLV_TIMED_START, CLV_DT_UNDEFINED, CLV_DT_UNDEFINED);
    if (t)
        *ret = t->table.ns[0];
    return t != NULL;
}

double clv_quantising_ns(const clv_kernel_times *times, clv_dtype math, clv_dtype weights,
                         double elems)
{
    double start, passes, nothing;
    const clv_timed_table *t = clv_timed_table_find(times, CLV_TIMED_PRODUCT, clv_timed_dtype(math),
                                                    clv_timed_dtype(weights));
    if (!t || clv_dtype_bits(math) > 8 || !clv_start_ns(times, &start))
        return 0;
    double bytes = elems * (2 * WIDE_BYTES + clv_dtype_bits(math) / 8.0);
    double least = t->table.ns[0] - start; /* no time falls along an axis */
    if (least > 0 && clv_memory_ns(times, bytes, &passes) && clv_memory_ns(times, 1, &nothing))
        return least + passes - nothing;
    return least > 0 ? least : 0;
}
