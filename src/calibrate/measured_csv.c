#include "calibrate/measured_csv.h"

#include <string.h>

#include "base/map.h"

/* A file is read column by column into a record of all columns there are, and the record becomes a
 * row in the way of its file. */

#define NS_PER_US 1e3
#define LEAST_US  1e-3 /* no clock says less */
#define MOST_US   3.6e9
#define SIZE_MOST 1e12 /* of a size: sums and products of a few still are doubles */

typedef enum {
    DTYPE,
    KV_DTYPE,
    LIBRARY,
    OPERATION,
    DISTRIBUTION,
    GATED,
    M,
    N,
    K,
    BATCH,
    SEQUENCE,
    HEADS,
    KV_HEADS,
    HEAD_SIZE,
    DEVICES,
    ELEMENTS,
    BYTES,
    TOKENS,
    HIDDEN,
    INTERMEDIATE,
    TOP_K,
    EXPERTS,
    TENSOR_PARALLEL,
    EXPERT_PARALLEL,
    US,
    HEIGHT,
    WIDTH,
    IN_CHANNELS,
    OUT_CHANNELS,
    KERNEL,
    STRIDE,
    N_COLUMNS
} column;

#define FIRST_SIZE M /* texts stand before it */

static const char *const names[N_COLUMNS] = {
    "dtype",
    "kv_dtype",
    "library",
    "operation",
    "distribution",
    "gated",
    "m",
    "n",
    "k",
    "batch",
    "sequence",
    "heads",
    "kv_heads",
    "head_size",
    "devices",
    "elements",
    "bytes",
    "tokens",
    "hidden",
    "intermediate",
    "top_k",
    "experts",
    "tensor_parallel",
    "expert_parallel",
    "us",
    "height",
    "width",
    "in_channels",
    "out_channels",
    "kernel",
    "stride",
};

#define BIT(c) (UINT32_C(1) << (c))
#define ATTENTION                                                                                  \
    (BIT(DTYPE) | BIT(KV_DTYPE) | BIT(BATCH) | BIT(SEQUENCE) | BIT(HEADS) | BIT(KV_HEADS) |        \
     BIT(HEAD_SIZE) | BIT(US))

static const struct {
    const char *name;
    uint32_t needs, may;
} files[CLV_N_MEASURED_FILES] = {
    [CLV_MEASURED_PRODUCTS] = { "gemm.csv", BIT(DTYPE) | BIT(M) | BIT(N) | BIT(K) | BIT(US), 0 },
    [CLV_MEASURED_CONVOLUTIONS] = { "convolution.csv",
                                    BIT(DTYPE) | BIT(BATCH) | BIT(HEIGHT) | BIT(WIDTH) |
                                        BIT(IN_CHANNELS) | BIT(OUT_CHANNELS) | BIT(KERNEL) |
                                        BIT(STRIDE) | BIT(US),
                                    0 },
    [CLV_MEASURED_FULL] = { "attention_full.csv", ATTENTION, 0 },
    [CLV_MEASURED_PREFILL] = { "attention_prefill.csv", ATTENTION, 0 },
    [CLV_MEASURED_DECODE] = { "attention_decode.csv", ATTENTION, 0 },
    [CLV_MEASURED_COLLECTIVES] = { "collectives.csv",
                                   BIT(LIBRARY) | BIT(OPERATION) | BIT(DEVICES) | BIT(BYTES) |
                                       BIT(US),
                                   BIT(DTYPE) | BIT(ELEMENTS) },
    [CLV_MEASURED_EXPERTS] = { "moe.csv",
                               BIT(DTYPE) | BIT(TOKENS) | BIT(HIDDEN) | BIT(INTERMEDIATE) |
                                   BIT(TOP_K) | BIT(EXPERTS) | BIT(TENSOR_PARALLEL) |
                                   BIT(EXPERT_PARALLEL) | BIT(DISTRIBUTION) | BIT(US),
                               BIT(GATED) },
};

typedef struct {
    clv_measured_file file;
    clv_lines lines;
    clv_arena *arena;
    column order[N_COLUMNS]; /* of the file's columns */
    int32_t n_columns;
    clv_map said; /* rows, without their times */
    const char *last_library;
    clv_str text[N_COLUMNS];
    int64_t size[N_COLUMNS];
    double us;
} reader;

const char *clv_measured_file_name(clv_measured_file file) { return files[file].name; }

/* -- columns -- */

static clv_status add_column(reader *r, clv_str name, clv_error *err)
{
    uint32_t known = files[r->file].needs | files[r->file].may;
    int c = 0;
    while (c < N_COLUMNS && !(known & BIT(c) && clv_str_is(name, names[c])))
        c++;
    if (c == N_COLUMNS)
        return clv_fail_line(&r->lines, err, "has the unknown column '%.*s', expected those of %s",
                             name.n < 60 ? (int)name.n : 60, name.at, files[r->file].name);
    for (int32_t i = 0; i < r->n_columns; i++)
        if (r->order[i] == (column)c)
            return clv_fail_line(&r->lines, err, "has the column '%s' twice", names[c]);
    r->order[r->n_columns++] = (column)c;
    return CLV_OK;
}

static clv_status read_header(reader *r, clv_error *err)
{
    if (!clv_next_line(&r->lines))
        return clv_fail(err, CLV_EFORMAT, "%.200s is empty, expected a line of columns",
                        r->lines.text->what);
    uint32_t missing = files[r->file].needs;
    for (clv_str rest = r->lines.line, name; clv_next_field(&rest, ',', &name);)
        CLV_TRY(add_column(r, name, err));
    for (int32_t i = 0; i < r->n_columns; i++)
        missing &= ~BIT(r->order[i]);
    for (int c = 0; c < N_COLUMNS; c++)
        if (missing & BIT(c))
            return clv_fail_line(&r->lines, err, "has no column '%s'", names[c]);
    return CLV_OK;
}

static clv_status no_value(const reader *r, column c, const char *expected, clv_error *err)
{
    clv_str t = r->text[c];
    return clv_fail_line(&r->lines, err, "%s is '%.*s', expected %s", names[c],
                         t.n < 60 ? (int)t.n : 60, t.n ? t.at : "", expected);
}

static clv_status read_fields(reader *r, clv_error *err)
{
    clv_str rest = r->lines.line, ignored;
    int32_t n = 0;
    for (; n < r->n_columns && clv_next_field(&rest, ',', &r->text[r->order[n]]); n++) {
        column c = r->order[n];
        if (c == US &&
            (!clv_scan_number(r->text[c], &r->us) || r->us < LEAST_US || r->us > MOST_US))
            return no_value(r, c, "microseconds from 0.001 to an hour", err);
        if (c >= FIRST_SIZE && c != US &&
            (!clv_scan_int(r->text[c], &r->size[c]) || r->size[c] < 1 ||
             (double)r->size[c] > SIZE_MOST))
            return no_value(r, c, "a whole number from 1 to 10^12", err);
    }
    if (n < r->n_columns || clv_next_field(&rest, ',', &ignored))
        return clv_fail_line(&r->lines, err,
                             "has %s than %d columns, expected as many as the "
                             "first line has",
                             n < r->n_columns ? "fewer" : "more", (int)r->n_columns);
    return CLV_OK;
}

/* What a row says besides its time, the same in any order of columns. Columns behind that of the
 * time came later: where a file has none of them its rows have the hashes that they always had, and
 * errors are of the same rows left out. */
static clv_status check_new(reader *r, uint64_t *ret_hash, clv_error *err)
{
    uint64_t hash = CLV_HASH_INIT;
    int32_t line;
    size_t n = 0;
    char *key = clv_arena_take(r->arena, (size_t)r->lines.line.n + N_COLUMNS);
    if (!key)
        return clv_fail_nomem(err, "measured times");
    for (int c = 0; c < N_COLUMNS; c++) {
        if (c == US || (c > US && r->text[c].n == 0))
            continue;
        if (r->text[c].n > 0)
            memcpy(key + n, r->text[c].at, (size_t)r->text[c].n);
        n += (size_t)r->text[c].n;
        key[n++] = ',';
    }
    CLV_TRY(clv_map_put(&r->said, (clv_str){ key, (int32_t)n }, r->lines.number, &line, err));
    if (line != r->lines.number)
        return clv_fail_line(&r->lines, err, "measures the same as line %d", (int)line);
    hash = clv_hash(hash, key, n);
    *ret_hash = clv_hash(hash, r->text[US].at, (size_t)r->text[US].n);
    return CLV_OK;
}

/* -- rows -- */

typedef struct {
    const char *name;
    clv_dtype math, weights;
} type_name;

static const type_name types[] = {
    { "bfloat16", CLV_DT_BFLOAT16, CLV_DT_BFLOAT16 },
    { "float16", CLV_DT_BFLOAT16, CLV_DT_BFLOAT16 },
    { "fp8", CLV_DT_FLOAT8E4M3FN, CLV_DT_FLOAT8E4M3FN },
    { "nvfp4", CLV_DT_FLOAT4E2M1, CLV_DT_FLOAT4E2M1 },
    { "int8_wo", CLV_DT_BFLOAT16, CLV_DT_INT8 },
    { "int4_wo", CLV_DT_BFLOAT16, CLV_DT_INT4 },
    { "tf32", CLV_DT_FLOAT, CLV_DT_FLOAT }, /* what a device's rate for FLOAT means */
    { "float32", CLV_DT_UNDEFINED, CLV_DT_UNDEFINED },
};

static clv_status read_type(const reader *r, column c, clv_dtype *ret_math, clv_dtype *ret_weights,
                            clv_error *err)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (clv_str_is(r->text[c], types[i].name)) {
            *ret_math = types[i].math;
            *ret_weights = types[i].weights;
            return CLV_OK;
        }
    return no_value(r, c, "bfloat16, float16, tf32, float32, fp8, nvfp4, int8_wo or int4_wo", err);
}

/* What is computed, and the type of its first operand. */
typedef struct {
    clv_kernel_shape shape;
    clv_dtype math;
} kernel;

static clv_status read_product(const reader *r, kernel *ret, clv_error *err)
{
    ret->shape = (clv_kernel_shape){
        .kind = CLV_SHAPE_PRODUCT, .batch = 1, .m = r->size[M], .n = r->size[N], .k = r->size[K]
    };
    return read_type(r, DTYPE, &ret->math, &ret->shape.weights, err);
}

/* Results along one side of an image whose borders are filled up with half a kernel. */
static int64_t places_along(const reader *r, int64_t side)
{
    int64_t filled = side + 2 * (r->size[KERNEL] / 2);
    return filled < r->size[KERNEL] ? 0 : (filled - r->size[KERNEL]) / r->size[STRIDE] + 1;
}

static clv_status read_convolution(const reader *r, kernel *ret, clv_error *err)
{
    int64_t taps = 0, depth = 0, places = 0;
    if (__builtin_mul_overflow(r->size[KERNEL], r->size[KERNEL], &taps) ||
        __builtin_mul_overflow(taps, r->size[IN_CHANNELS], &depth) ||
        __builtin_mul_overflow(places_along(r, r->size[HEIGHT]), places_along(r, r->size[WIDTH]),
                               &places) ||
        __builtin_mul_overflow(places, r->size[BATCH], &places))
        return no_value(r, KERNEL, "a kernel and an image with fewer than 2^63 elements", err);
    ret->shape = (clv_kernel_shape){ .kind = CLV_SHAPE_PRODUCT,
                                     .batch = 1,
                                     .m = places,
                                     .n = r->size[OUT_CHANNELS],
                                     .k = depth,
                                     .taps = taps };
    return read_type(r, DTYPE, &ret->math, &ret->shape.weights, err);
}

static clv_status read_attention(const reader *r, kernel *ret, clv_error *err)
{
    clv_dtype ignored;
    bool decode = r->file == CLV_MEASURED_DECODE;
    if (r->size[KV_HEADS] > r->size[HEADS])
        return no_value(r, KV_HEADS, "no more than heads", err);
    ret->shape = (clv_kernel_shape){ .kind = CLV_SHAPE_ATTENTION,
                                     .batch = r->size[BATCH],
                                     .heads = r->size[HEADS],
                                     .kv_heads = r->size[KV_HEADS],
                                     .queries = decode ? 1 : r->size[SEQUENCE],
                                     .keys = r->size[SEQUENCE],
                                     .width = r->size[HEAD_SIZE],
                                     .causal = r->file == CLV_MEASURED_PREFILL };
    CLV_TRY(read_type(r, DTYPE, &ret->math, &ignored, err));
    return read_type(r, KV_DTYPE, &ignored, &ret->shape.weights, err);
}

static clv_status read_distribution(const reader *r, double *ret_skew, clv_error *err)
{
    static const char law[] = "power_law_";
    const int32_t n = sizeof law - 1;
    clv_str t = r->text[DISTRIBUTION];
    *ret_skew = 0;
    if (clv_str_is(t, "balanced"))
        return CLV_OK;
    if (t.n > n && memcmp(t.at, law, (size_t)n) == 0 &&
        clv_scan_number((clv_str){ t.at + n, t.n - n }, ret_skew) && *ret_skew > 0 &&
        *ret_skew <= 4)
        return CLV_OK;
    return no_value(r, DISTRIBUTION, "balanced or power_law_X, X above 0 and at most 4", err);
}

/* Where no column says it. Of the models that serving engines are measured with, those of Nemotron
 * 3 (22 of 512 experts, or rows of 2688) square what is above 0, and have no gate. */
static bool has_gate(const reader *r)
{
    if (r->text[GATED].n > 0)
        return clv_str_is(r->text[GATED], "1");
    return r->size[HIDDEN] != 2688 && r->size[TOP_K] != 22;
}

static clv_status read_experts(const reader *r, kernel *ret, clv_error *err)
{
    clv_str gated = r->text[GATED];
    clv_kernel_shape s = { .kind = CLV_SHAPE_EXPERTS,
                           .tokens = r->size[TOKENS],
                           .hidden = r->size[HIDDEN],
                           .intermediate = r->size[INTERMEDIATE] / r->size[TENSOR_PARALLEL],
                           .experts = r->size[EXPERTS],
                           .top_k = r->size[TOP_K],
                           .parts = r->size[EXPERT_PARALLEL],
                           .gated = has_gate(r) };
    if (gated.n > 0 && !clv_str_is(gated, "0") && !clv_str_is(gated, "1"))
        return no_value(r, GATED, "0 or 1", err);
    if (s.intermediate < 1)
        return no_value(r, TENSOR_PARALLEL, "no more than intermediate", err);
    CLV_TRY(read_distribution(r, &s.skew, err));
    CLV_TRY(read_type(r, DTYPE, &ret->math, &s.weights, err));
    ret->shape = s;
    return CLV_OK;
}

/* Names of libraries come in long runs. */
static clv_status keep_library(reader *r, clv_measured_row *row, clv_error *err)
{
    clv_str t = r->text[LIBRARY];
    bool is_name = t.n >= 1 && t.n <= 100;
    for (int32_t i = 0; is_name && i < t.n; i++)
        is_name = t.at[i] >= ' ' && t.at[i] <= '~';
    if (!is_name)
        return no_value(r, LIBRARY, "a name of 1 to 100 ASCII characters", err);
    if (!r->last_library || !clv_str_is(t, r->last_library))
        r->last_library = clv_arena_str(r->arena, t);
    row->library = r->last_library;
    return r->last_library ? CLV_OK : clv_fail_nomem(err, "measured times");
}

static clv_status read_collective(reader *r, clv_measured_row *row, clv_error *err)
{
    int o = 0;
    while (o < CLV_N_TIMED_OPERATIONS &&
           !clv_str_is(r->text[OPERATION], clv_timed_operation_name((clv_timed_operation)o)))
        o++;
    if (o == CLV_N_TIMED_OPERATIONS)
        return no_value(r, OPERATION, "all_reduce, all_gather, reduce_scatter or alltoall", err);
    if (r->size[DEVICES] < 2 || r->size[DEVICES] > 65536)
        return no_value(r, DEVICES, "2 to 65536", err);
    row->operation = (clv_timed_operation)o;
    row->devices = (int32_t)r->size[DEVICES];
    row->point =
        (clv_timed_point){ .kind = CLV_TIMED_COLLECTIVE, .at = { (double)r->size[BYTES] } };
    return keep_library(r, row, err);
}

static clv_status read_kernel(const reader *r, clv_timed_point *ret, clv_error *err)
{
    kernel k;
    clv_status status = r->file == CLV_MEASURED_PRODUCTS       ? read_product(r, &k, err)
                        : r->file == CLV_MEASURED_CONVOLUTIONS ? read_convolution(r, &k, err)
                        : r->file == CLV_MEASURED_EXPERTS      ? read_experts(r, &k, err)
                                                               : read_attention(r, &k, err);
    if (status != CLV_OK)
        return status;
    if (k.math == CLV_DT_UNDEFINED || k.shape.weights == CLV_DT_UNDEFINED)
        return CLV_OK; /* no table has such rows */
    double keys = (double)k.shape.keys;
    bool known = r->file == CLV_MEASURED_PREFILL ? clv_timed_prefill_of(&k.shape, k.math, keys, ret)
                 : r->file == CLV_MEASURED_FULL  ? clv_timed_full_of(&k.shape, k.math, keys, ret)
                                                 : clv_timed_point_of(&k.shape, k.math, ret);
    return known ? CLV_OK
                 : clv_fail_line(&r->lines, err,
                                 "has sizes that contradict each other, expected top_k and "
                                 "expert_parallel of at most experts, and at most 1024 experts");
}

static clv_status read_row(reader *r, clv_measured_row *row, clv_error *err)
{
    CLV_TRY(read_fields(r, err));
    CLV_TRY(check_new(r, &row->hash, err));
    row->ns = r->us * NS_PER_US;
    return r->file == CLV_MEASURED_COLLECTIVES ? read_collective(r, row, err)
                                               : read_kernel(r, &row->point, err);
}

clv_status clv_measured_csv(clv_measured_file file, const clv_file_text *text, clv_arena *arena,
                            clv_measured_rows *rows, clv_error *err)
{
    reader r = { .file = file, .lines = { .text = text }, .arena = arena };
    CLV_TRY(clv_map_init(&r.said, arena, 0, err));
    CLV_TRY(read_header(&r, err));
    while (clv_next_line(&r.lines)) {
        clv_measured_row row = { .ns = 0 };
        CLV_TRY(read_row(&r, &row, err));
        if (row.point.kind != CLV_TIMED_COLLECTIVE && row.point.dtype == CLV_DT_UNDEFINED)
            continue;
        if (!CLV_PUSH_ROOM(arena, rows->at, rows->n, rows->cap))
            return clv_fail_nomem(err, "measured times");
        rows->at[rows->n++] = row;
    }
    return CLV_OK;
}
