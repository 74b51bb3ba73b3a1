#include "cluster/timed_kernel.h"

#include <math.h>

#include "cluster/expert_load.h"

#define HEADS_OF_SHARE 64 /* kv_heads of so many heads: whole numbers for all groups in use */
#define GROUP_MAX      32 /* more heads to a head of keys: kernels read keys for each */

static const clv_timed_kind kinds[CLV_N_TIMED] = {
    [CLV_TIMED_PRODUCT] = { .name = "product",
                            .n_axes = 3,
                            .axes = { "m", "n", "k" },
                            .powers = { 1, 1, 1 },
                            .typed = true },
    [CLV_TIMED_PRODUCT_CACHED] = { .name = "product_cached",
                                   .n_axes = 3,
                                   .axes = { "m", "n", "k" },
                                   .powers = { 1, 1, 1 },
                                   .typed = true,
                                   .falls = true },
    [CLV_TIMED_CONVOLUTION] = { .name = "convolution",
                                .n_axes = 3,
                                .axes = { "places", "channels", "depth" },
                                .powers = { 1, 1, 1 },
                                .typed = true },
    /* scores are a square of keys */
    [CLV_TIMED_FULL] = { .name = "attention_full",
                         .n_axes = 3,
                         .axes = { "width", "heads", "keys" },
                         .powers = { 1, 1, 2 },
                         .typed = true },
    [CLV_TIMED_PREFILL] = { .name = "attention_prefill",
                            .n_axes = 4,
                            .axes = { "width", "kv_heads", "heads", "keys" },
                            .powers = { 1, 1, 1, 2 },
                            .typed = true },
    [CLV_TIMED_DECODE] = { .name = "attention_decode",
                           .n_axes = 3,
                           .axes = { "width", "heads", "keys" },
                           .powers = { 1, 1, 1 },
                           .typed = true },
    [CLV_TIMED_DECODE_GROUPED] = { .name = "attention_decode_grouped",
                                   .n_axes = 4,
                                   .axes = { "width", "group", "kv_heads", "keys" },
                                   .powers = { 1, 1, 1, 1 },
                                   .typed = true },
    [CLV_TIMED_DECODE_SHARED] = { .name = "attention_decode_shared",
                                  .n_axes = 3,
                                  .axes = { "width", "heads", "keys" },
                                  .powers = { 1, 1, 1 },
                                  .typed = true },
    [CLV_TIMED_EXPERTS] = { .name = "experts",
                            .n_axes = 4,
                            .axes = { "hidden", "intermediate", "hit", "rows" },
                            .powers = { 1, 1, 1, 1 },
                            .typed = true },
    [CLV_TIMED_EXPERTS_EVEN] = { .name = "experts_even",
                                 .n_axes = 4,
                                 .axes = { "hidden", "intermediate", "hit", "rows" },
                                 .powers = { 1, 1, 1, 1 },
                                 .typed = true },
    [CLV_TIMED_COLLECTIVE] = { .name = "collective",
                               .n_axes = 1,
                               .axes = { "bytes" },
                               .powers = { 1 } },
    [CLV_TIMED_MEMORY] = { .name = "memory", .n_axes = 1, .axes = { "bytes" }, .powers = { 1 } },
    [CLV_TIMED_START] = { .name = "start" },
};

const clv_timed_kind *clv_timed_kind_of(clv_timed kind) { return &kinds[kind]; }

const char *clv_timed_operation_name(clv_timed_operation operation)
{
    static const char *const names[CLV_N_TIMED_OPERATIONS] = { "all_reduce", "all_gather",
                                                               "reduce_scatter", "alltoall" };
    return names[operation];
}

clv_dtype clv_timed_dtype(clv_dtype dtype)
{
    static const clv_dtype stands_for[CLV_N_DTYPES] = {
        [CLV_DT_FLOAT16] = CLV_DT_BFLOAT16,
        [CLV_DT_FLOAT8E4M3FNUZ] = CLV_DT_FLOAT8E4M3FN,
        [CLV_DT_FLOAT8E5M2] = CLV_DT_FLOAT8E4M3FN,
        [CLV_DT_FLOAT8E5M2FNUZ] = CLV_DT_FLOAT8E4M3FN,
        [CLV_DT_UINT8] = CLV_DT_INT8,
        [CLV_DT_UINT4] = CLV_DT_INT4,
    };
    clv_dtype other = (unsigned)dtype < CLV_N_DTYPES ? stands_for[dtype] : CLV_DT_UNDEFINED;
    return other != CLV_DT_UNDEFINED ? other : dtype;
}

/* -- points -- */

static bool are_positive(const clv_timed_point *p)
{
    for (int32_t a = 0; a < kinds[p->kind].n_axes; a++)
        if (!(p->at[a] > 0 && isfinite(p->at[a])))
            return false;
    return true;
}

bool clv_timed_full_of(const clv_kernel_shape *s, clv_dtype math, double keys, clv_timed_point *ret)
{
    *ret = (clv_timed_point){ CLV_TIMED_FULL,
                              clv_timed_dtype(math),
                              clv_timed_dtype(s->weights),
                              { (double)s->width, (double)s->batch * (double)s->heads, keys } };
    return are_positive(ret);
}

bool clv_timed_prefill_of(const clv_kernel_shape *s, clv_dtype math, double keys,
                          clv_timed_point *ret)
{
    double share = HEADS_OF_SHARE * (double)s->kv_heads / (double)s->heads;
    *ret =
        (clv_timed_point){ CLV_TIMED_PREFILL,
                           clv_timed_dtype(math),
                           clv_timed_dtype(s->weights),
                           { (double)s->width, share, (double)s->batch * (double)s->heads, keys } };
    return are_positive(ret);
}

bool clv_timed_decode_of(const clv_kernel_shape *s, clv_dtype math, clv_timed_point *ret)
{
    double batch = (double)s->batch, width = (double)s->width, keys = (double)s->keys;
    double group = s->kv_heads > 0 ? (double)s->heads / (double)s->kv_heads : 0;
    clv_timed_point p = { .dtype = clv_timed_dtype(math), .weights = clv_timed_dtype(s->weights) };
    p.at[0] = width;
    p.at[1] = batch * (double)s->heads;
    p.at[2] = keys;
    if (group < 1.5) {
        p.kind = CLV_TIMED_DECODE;
    } else if (group > GROUP_MAX) {
        p.kind = CLV_TIMED_DECODE_SHARED;
    } else {
        p.kind = CLV_TIMED_DECODE_GROUPED;
        p.at[1] = group;
        p.at[2] = batch * (double)s->kv_heads;
        p.at[3] = keys;
    }
    *ret = p;
    return group > 0 && are_positive(ret);
}

static bool experts_of(const clv_kernel_shape *s, clv_dtype math, clv_timed_point *ret)
{
    clv_expert_load load;
    if (!clv_expert_load_of(s, &load))
        return false;
    double per_hit = load.rows / load.hit;
    *ret =
        (clv_timed_point){ s->skew > 0 ? CLV_TIMED_EXPERTS : CLV_TIMED_EXPERTS_EVEN,
                           clv_timed_dtype(math),
                           clv_timed_dtype(s->weights),
                           { (double)s->hidden, (double)s->intermediate * (s->gated ? 1 : 2.0 / 3),
                             load.hit, per_hit > 1 ? per_hit : 1 } };
    return are_positive(ret);
}

bool clv_timed_point_of(const clv_kernel_shape *s, clv_dtype math, clv_timed_point *ret)
{
    if (s->kind == CLV_SHAPE_EXPERTS)
        return experts_of(s, math, ret);
    if (s->kind == CLV_SHAPE_ATTENTION)
        return s->queries == 1 ? clv_timed_decode_of(s, math, ret)
                               : clv_timed_prefill_of(s, math, (double)s->keys, ret);
    if (s->kind != CLV_SHAPE_PRODUCT)
        return false;
    *ret = (clv_timed_point){ s->taps > 1 ? CLV_TIMED_CONVOLUTION : CLV_TIMED_PRODUCT,
                              clv_timed_dtype(math),
                              clv_timed_dtype(s->weights),
                              { (double)s->batch * (double)s->m, (double)s->n, (double)s->k } };
    return are_positive(ret);
}

/* -- work -- */

/* Blocks of 16 elements of 4 bits have a scale of 8 bits. */
static double bytes_of(clv_dtype dtype)
{
    double bytes = clv_dtype_bits(dtype) / 8.0;
    return dtype == CLV_DT_FLOAT4E2M1 ? bytes + 1.0 / 16 : bytes;
}

/* What is narrower is only an operand: results have 16 bits at least. */
static double result_bytes(clv_dtype dtype)
{
    return clv_dtype_bits(dtype) > 16 ? clv_dtype_bits(dtype) / 8.0 : 2;
}

/* used: how often each element of the first operand is, once for each column aside. */
static clv_kernel_work product_work(const clv_timed_point *p, double batch, double used)
{
    double m = p->at[0], n = p->at[1], k = p->at[2], second = batch * n * k * bytes_of(p->weights);
    return (clv_kernel_work){ 2 * m * n * k,
                              m * k / used * bytes_of(p->dtype) + second +
                                  m * n * result_bytes(p->dtype),
                              p->kind == CLV_TIMED_PRODUCT ? second : 0 };
}

typedef struct {
    double width, heads, kv_heads, queries, keys; /* heads: batch times */
    double seen;                                  /* pairs of a query and a key, in a head */
} attention;

static clv_kernel_work attention_work(const attention *a, const clv_timed_point *p)
{
    return (clv_kernel_work){
        4 * a->heads * a->seen * a->width,
        a->width * (2 * a->kv_heads * a->keys * bytes_of(p->weights) +
                    2 * a->heads * a->queries * result_bytes(p->dtype)),
        0,
    };
}

static clv_kernel_work experts_work(const clv_timed_point *p)
{
    double weights = 3 * p->at[0] * p->at[1] * p->at[2];
    return (clv_kernel_work){ 2 * p->at[3] * weights, weights * bytes_of(p->weights), 0 };
}

/* kv_heads as there are, from the sizes of each kind. */
static attention attention_of(const clv_timed_point *p)
{
    const double *at = p->at;
    if (p->kind == CLV_TIMED_FULL)
        return (attention){ at[0], at[1], at[1], at[2], at[2], at[2] * at[2] };
    if (p->kind == CLV_TIMED_PREFILL)
        return (attention){ at[0], at[2], at[2] * at[1] / HEADS_OF_SHARE,
                            at[3], at[3], at[3] * (at[3] + 1) / 2 };
    if (p->kind == CLV_TIMED_DECODE_GROUPED)
        return (attention){ at[0], at[1] * at[2], at[2], 1, at[3], at[3] };
    /* where heads share keys, at least one head of them for all */
    return (attention){ at[0], at[1], p->kind == CLV_TIMED_DECODE ? at[1] : 1, 1, at[2], at[2] };
}

clv_kernel_work clv_timed_point_work(const clv_timed_point *p)
{
    if (p->kind == CLV_TIMED_PRODUCT || p->kind == CLV_TIMED_PRODUCT_CACHED)
        return product_work(p, 1, 1);
    if (p->kind == CLV_TIMED_CONVOLUTION) /* the kernel's size is not known: at least the rest */
        return product_work(p, 1, INFINITY);
    if (p->kind <= CLV_TIMED_DECODE_SHARED) {
        attention a = attention_of(p);
        return attention_work(&a, p);
    }
    if (p->kind <= CLV_TIMED_EXPERTS_EVEN)
        return experts_work(p);
    return (clv_kernel_work){ 0, p->kind == CLV_TIMED_START ? 0 : p->at[0], 0 };
}

clv_kernel_work clv_kernel_shape_work(const clv_kernel_shape *s, clv_dtype math)
{
    clv_timed_point p;
    double batch = (double)s->batch;
    if (!clv_timed_point_of(s, math, &p))
        return (clv_kernel_work){ 0 };
    if (s->kind == CLV_SHAPE_PRODUCT)
        return product_work(&p, batch, s->taps > 1 ? (double)s->taps : 1);
    if (s->kind == CLV_SHAPE_ATTENTION) {
        attention a = { (double)s->width,   batch * (double)s->heads, batch * (double)s->kv_heads,
                        (double)s->queries, (double)s->keys,          0 };
        a.seen = a.queries * a.keys * clv_shape_seen(s);
        return attention_work(&a, &p);
    }
    return experts_work(&p);
}
