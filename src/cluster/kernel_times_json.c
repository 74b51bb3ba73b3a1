#include "cluster/kernel_times_json.h"

#include <string.h>

#include "base/json.h"
#include "cluster/fields.h"

#define TABLES_MOST 1024
#define KNOTS_MOST  64
#define PLACES_MOST 100000
#define SIZE_MOST   1e15
#define LEAST_US    1e-6
#define MOST_US     3.6e9 /* an hour */
#define NS_PER_US   1e3

typedef struct {
    clv_arena *arena;
    clv_timed_table *tables;
    int32_t n, cap;
} reader;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "measured times"); }

/* -- what a table is of -- */

static clv_status read_kind(const clv_json_at *at, clv_timed *ret, clv_error *err)
{
    clv_json_at member;
    const char *name;
    char path[256];
    CLV_TRY(clv_json_member(at, "kernel", true, &member, err));
    CLV_TRY(clv_json_string(&member, &name, err));
    for (int k = 0; k < CLV_N_TIMED; k++)
        if (strcmp(clv_timed_kind_of((clv_timed)k)->name, name) == 0) {
            *ret = (clv_timed)k;
            return CLV_OK;
        }
    return clv_fail(err, CLV_EFORMAT,
                    "%s is '%.60s', expected product, product_cached, convolution, attention_full, "
                    "attention_prefill, attention_decode, "
                    "attention_decode_grouped, attention_decode_shared, experts, experts_even, "
                    "collective, memory or start",
                    clv_json_path(&member, path, sizeof path), name);
}

static clv_status read_dtype(const clv_json_at *at, const char *key, clv_dtype *ret, clv_error *err)
{
    clv_json_at member;
    const char *name;
    char path[256];
    CLV_TRY(clv_json_member(at, key, true, &member, err));
    CLV_TRY(clv_json_string(&member, &name, err));
    int t = 1;
    while (t < CLV_N_DTYPES && strcmp(clv_dtype_name((clv_dtype)t), name) != 0)
        t++;
    if (t == CLV_N_DTYPES || clv_dtype_bits((clv_dtype)t) == 0)
        return clv_fail(err, CLV_EFORMAT, "%s is '%.60s', expected an element type as BFLOAT16 is",
                        clv_json_path(&member, path, sizeof path), name);
    if (clv_timed_dtype((clv_dtype)t) != (clv_dtype)t)
        return clv_fail(err, CLV_EFORMAT, "%s is '%.60s', expected %s, which stands for it",
                        clv_json_path(&member, path, sizeof path), name,
                        clv_dtype_name(clv_timed_dtype((clv_dtype)t)));
    *ret = (clv_dtype)t;
    return CLV_OK;
}

static clv_status read_operation(const clv_json_at *at, clv_timed_operation *ret, clv_error *err)
{
    clv_json_at member;
    const char *name;
    char path[256];
    CLV_TRY(clv_json_member(at, "operation", true, &member, err));
    CLV_TRY(clv_json_string(&member, &name, err));
    for (int o = 0; o < CLV_N_TIMED_OPERATIONS; o++)
        if (strcmp(clv_timed_operation_name((clv_timed_operation)o), name) == 0) {
            *ret = (clv_timed_operation)o;
            return CLV_OK;
        }
    return clv_fail(err, CLV_EFORMAT,
                    "%s is '%.60s', expected all_reduce, all_gather, reduce_scatter or alltoall",
                    clv_json_path(&member, path, sizeof path), name);
}

static clv_status read_text(const clv_json_at *at, const char *key, bool required, clv_arena *arena,
                            const char **ret, clv_error *err)
{
    clv_json_at member;
    CLV_TRY(clv_json_member(at, key, required, &member, err));
    return member.json ? clv_field_text(at, key, arena, ret, err) : CLV_OK;
}

/* Its kind, and what says it from others of that kind. */
static clv_status read_subject(const clv_json_at *at, clv_arena *arena, clv_timed_table *t,
                               clv_error *err)
{
    static const char *const plain[] = { "kernel", "library", "source", "axes",
                                         "us",     "rows",    "error",  NULL };
    static const char *const typed[] = { "kernel", "dtype", "weights", "library", "source",
                                         "axes",   "us",    "rows",    "error",   NULL };
    static const char *const collective[] = { "kernel", "operation", "devices", "library", "source",
                                              "axes",   "us",        "rows",    "error",   NULL };
    clv_json_at member;
    int64_t devices = 0;
    CLV_TRY(read_kind(at, &t->kind, err));
    bool joins = t->kind == CLV_TIMED_COLLECTIVE, has_types = clv_timed_kind_of(t->kind)->typed;
    CLV_TRY(clv_json_keys(at, joins ? collective : has_types ? typed : plain, err));
    CLV_TRY(read_text(at, "library", joins, arena, &t->library, err));
    CLV_TRY(read_text(at, "source", false, arena, &t->source, err));
    if (has_types) {
        CLV_TRY(read_dtype(at, "dtype", &t->dtype, err));
        CLV_TRY(read_dtype(at, "weights", &t->weights, err));
    }
    if (joins) {
        CLV_TRY(read_operation(at, &t->operation, err));
        CLV_TRY(clv_json_member(at, "devices", true, &member, err));
        CLV_TRY(clv_json_int(&member, 2, 65536, &devices, err));
        t->devices = (int32_t)devices;
    }
    return CLV_OK;
}

static clv_status check_new(const reader *r, const clv_json_at *at, const clv_timed_table *t,
                            clv_error *err)
{
    char path[256];
    for (int32_t i = 0; i < r->n; i++)
        if (clv_timed_tables_alike(&r->tables[i], t))
            return clv_fail(err, CLV_EFORMAT,
                            "%s is for the same kernels as tables[%d], expected one table for each",
                            clv_json_path(at, path, sizeof path), (int)i);
    return CLV_OK;
}

/* -- its numbers -- */

static clv_status read_knots(const clv_json_at *axes, const char *name, clv_arena *arena,
                             clv_axis *ret, clv_error *err)
{
    clv_json_at list, at = { 0 };
    int32_t n;
    char path[256];
    CLV_TRY(clv_json_member(axes, name, true, &list, err));
    CLV_TRY(clv_json_length(&list, &n, err));
    if (n < 1 || n > KNOTS_MOST)
        return clv_fail(err, CLV_EFORMAT, "%s has %d sizes, expected 1 to %d",
                        clv_json_path(&list, path, sizeof path), (int)n, KNOTS_MOST);
    double *knots = CLV_NEW_ARRAY(arena, double, n);
    if (!knots)
        return nomem(err);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, &at);
        CLV_TRY(clv_json_number(&at, LEAST_US, SIZE_MOST, &knots[i], err));
        if (i > 0 && knots[i] <= knots[i - 1])
            return clv_fail(err, CLV_EFORMAT, "%s is %g, expected more than the %g before it",
                            clv_json_path(&at, path, sizeof path), knots[i], knots[i - 1]);
    }
    ret->knots = knots;
    ret->n = n;
    return CLV_OK;
}

static clv_status read_axes(const clv_json_at *at, clv_timed timed, clv_arena *arena, clv_grid *ret,
                            clv_error *err)
{
    const clv_timed_kind *kind = clv_timed_kind_of(timed);
    const char *allowed[CLV_TIMED_AXES_MAX + 1] = { NULL };
    clv_json_at axes;
    char path[256];
    int64_t places = 1;
    memcpy(allowed, kind->axes, (size_t)kind->n_axes * sizeof *allowed);
    CLV_TRY(clv_json_member(at, "axes", true, &axes, err));
    CLV_TRY(clv_json_keys(&axes, allowed, err));
    ret->n_axes = kind->n_axes;
    for (int32_t a = 0; a < kind->n_axes; a++) {
        CLV_TRY(read_knots(&axes, kind->axes[a], arena, &ret->axes[a], err));
        if (strcmp(clv_json_key_at(&axes, a), kind->axes[a]) != 0)
            return clv_fail(err, CLV_EFORMAT, "%s has '%.60s' in place %d, expected '%s'",
                            clv_json_path(&axes, path, sizeof path), clv_json_key_at(&axes, a),
                            (int)a + 1, kind->axes[a]);
        ret->axes[a].power = kind->powers[a];
        places *= ret->axes[a].n;
    }
    if (places > PLACES_MOST)
        return clv_fail(err, CLV_ELIMIT, "%s are for %lld times, expected at most %d",
                        clv_json_path(&axes, path, sizeof path), (long long)places, PLACES_MOST);
    return clv_grid_init(ret, arena, err);
}

/* The place before i on an axis, if its time is longer; else -1. */
static int32_t longer_before(const clv_grid *grid, const double *ns, int32_t i)
{
    for (int32_t a = 0; a < grid->n_axes; a++) {
        const clv_axis *axis = &grid->axes[a];
        if (i / axis->stride % axis->n > 0 && ns[i - axis->stride] > ns[i])
            return i - axis->stride;
    }
    return -1;
}

static clv_status read_times(const clv_json_at *at, clv_timed kind, const clv_grid *grid,
                             clv_arena *arena, const double **ret, clv_error *err)
{
    clv_json_at list, us = { 0 };
    int32_t n;
    char path[256];
    CLV_TRY(clv_json_member(at, "us", true, &list, err));
    CLV_TRY(clv_json_length(&list, &n, err));
    if (n != grid->n)
        return clv_fail(err, CLV_EFORMAT,
                        "%s has %d times, expected %d, as many as axes have places",
                        clv_json_path(&list, path, sizeof path), (int)n, (int)grid->n);
    double *ns = CLV_NEW_ARRAY(arena, double, n);
    if (!ns)
        return nomem(err);
    for (int32_t i = 0; i < n; i++) {
        us = clv_json_element(&list, i, &us);
        CLV_TRY(clv_json_number(&us, LEAST_US, MOST_US, &ns[i], err));
        ns[i] *= NS_PER_US;
        int32_t before = clv_timed_kind_of(kind)->falls ? -1 : longer_before(grid, ns, i);
        if (before >= 0)
            return clv_fail(err, CLV_EFORMAT,
                            "%s is %g, expected at least the %g of us[%d], where one size is less",
                            clv_json_path(&us, path, sizeof path), ns[i] / NS_PER_US,
                            ns[before] / NS_PER_US, (int)before);
    }
    *ret = ns;
    return CLV_OK;
}

/* How it was made; for people. */
static clv_status read_making(const clv_json_at *at, clv_timed_table *t, clv_error *err)
{
    static const char *const keys[] = { "median", "p95", NULL };
    clv_json_at rows, errors, member;
    int64_t n = 0;
    CLV_TRY(clv_json_member(at, "rows", false, &rows, err));
    if (rows.json)
        CLV_TRY(clv_json_int(&rows, 1, INT32_MAX, &n, err));
    t->rows = (int32_t)n;
    t->median_error = t->p95_error = -1;
    CLV_TRY(clv_json_member(at, "error", false, &errors, err));
    if (!errors.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&errors, keys, err));
    CLV_TRY(clv_json_member(&errors, "median", true, &member, err));
    CLV_TRY(clv_json_number(&member, 0, 1e6, &t->median_error, err));
    CLV_TRY(clv_json_member(&errors, "p95", true, &member, err));
    return clv_json_number(&member, 0, 1e6, &t->p95_error, err);
}

static clv_status read_table(reader *r, const clv_json_at *at, clv_error *err)
{
    clv_timed_table t = { .kind = CLV_TIMED_START };
    clv_grid grid = { .n_axes = 0 };
    const double *ns = NULL;
    CLV_TRY(read_subject(at, r->arena, &t, err));
    CLV_TRY(check_new(r, at, &t, err));
    CLV_TRY(read_axes(at, t.kind, r->arena, &grid, err));
    CLV_TRY(read_times(at, t.kind, &grid, r->arena, &ns, err));
    CLV_TRY(read_making(at, &t, err));
    CLV_TRY(clv_time_table_init(&grid, ns, r->arena, &t.table, err));
    if (!CLV_PUSH_ROOM(r->arena, r->tables, r->n, r->cap))
        return nomem(err);
    r->tables[r->n++] = t;
    return CLV_OK;
}

static clv_status read_file(const clv_json_at *root, clv_arena *arena, clv_kernel_times *ret,
                            clv_error *err)
{
    static const char *const keys[] = { "$schema", "version", "name", "source",
                                        "date",    "tables",  NULL };
    reader r = { .arena = arena };
    clv_json_at list, at = { 0 };
    int32_t n;
    char path[256];
    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(clv_field_version(root, err));
    CLV_TRY(clv_field_text(root, "name", arena, &ret->name, err));
    CLV_TRY(clv_field_text(root, "source", arena, &ret->source, err));
    CLV_TRY(clv_field_text(root, "date", arena, &ret->date, err));
    CLV_TRY(clv_json_member(root, "tables", true, &list, err));
    CLV_TRY(clv_json_length(&list, &n, err));
    if (n < 1 || n > TABLES_MOST)
        return clv_fail(err, CLV_EFORMAT, "%s has %d tables, expected 1 to %d",
                        clv_json_path(&list, path, sizeof path), (int)n, TABLES_MOST);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, &at);
        CLV_TRY(read_table(&r, &at, err));
    }
    ret->at = r.tables;
    ret->n = r.n;
    for (int32_t kind = 0; kind < CLV_N_TIMED; kind++)
        ret->first[kind] = n;
    for (int32_t i = n; i-- > 0;)
        ret->first[r.tables[i].kind] = i;
    return CLV_OK;
}

clv_status clv_kernel_times_parse(const char *text, size_t n, const char *what, clv_arena *arena,
                                  clv_kernel_times **ret, clv_error *err)
{
    clv_json *json;
    clv_kernel_times *times = CLV_NEW(arena, clv_kernel_times);
    if (!times)
        return nomem(err);
    CLV_TRY(clv_json_parse(text, n, what, &json, err));
    clv_json_at root = clv_json_root(json, what);
    clv_status status = read_file(&root, arena, times, err);
    clv_json_free(json);
    if (status == CLV_OK)
        *ret = times;
    return status;
}
