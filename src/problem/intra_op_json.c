/* intra_op_json.c - what is large goes into the draft as it comes: matrices, costs and usages of
 * nodes. Of all rows the lengths are kept, to be checked against each other when all is known; then
 * spans and edges are made. */
#include "problem/intra_op_json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/chunk_list.h"
#include "base/json_pull_int.h"
#include "problem/intra_op_draft.h"

#define NAME_SIZE 256 /* of a problem; what is longer is cut */

/* Short rows that are kept until the end: intervals, ends of edges. */
typedef struct {
    clv_chunk_list values, ends; /* int64_t; int64_t, by row: how many values up to its end */
    const int64_t *value, *end;  /* the same, once joined */
    int32_t n;                   /* rows */
} rows;

/* Of long rows only how long they are. */
typedef struct {
    clv_chunk_list lengths; /* int32_t */
    const int32_t *length;
    int32_t n;
} counts;

typedef struct {
    clv_json_pull j;
    clv_arena *arena, *scratch; /* of the problem; of the reading */
    clv_intra_op_draft *draft;
    clv_json_ints row; /* the one at hand */
    rows intervals, ends;
    counts costs, usages;
    clv_chunk_list matrices; /* int32_t, by edge */
    const int32_t *matrix_of;
    int32_t n_matrices; /* rows of edges.costs */
    int32_t *seen;      /* by node: the last edge that had it, plus 1 */
    int32_t *node;      /* of the edge at hand; room for so many */
    int64_t node_room;
    int64_t limit;
    char name[NAME_SIZE];
} reader;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a strategy problem"); }

/* -- lists as they come -- */

static clv_status count_row(const reader *r, int32_t *n, clv_error *err)
{
    char path[320];
    if (*n == INT32_MAX - 1)
        return clv_fail(err, CLV_ELIMIT, "%s: expected at most 2^31 - 2 rows",
                        clv_json_pull_path(&r->j, path, sizeof path));
    ++*n;
    return CLV_OK;
}

static clv_status append_row(reader *r, rows *list, clv_error *err)
{
    CLV_TRY(count_row(r, &list->n, err));
    int64_t *value = clv_chunk_list_add(&list->values, (size_t)r->row.n);
    int64_t *end = value ? clv_chunk_list_add(&list->ends, 1) : NULL;
    if (!end)
        return nomem(err);
    if (r->row.n > 0)
        memcpy(value, r->row.at, (size_t)r->row.n * sizeof *value);
    *end = (int64_t)list->values.n;
    return CLV_OK;
}

static clv_status read_interval(reader *r, clv_error *err)
{
    char path[320];
    CLV_TRY(clv_json_pull_ints(&r->j, INT64_MIN, INT64_MAX, &r->row, err));
    if (r->row.n != 2)
        return clv_fail(err, CLV_EFORMAT, "%s has %d numbers, expected 2: start and end",
                        clv_json_pull_path(&r->j, path, sizeof path), r->row.n);
    if (r->row.at[1] < r->row.at[0])
        return clv_fail(err, CLV_EFORMAT,
                        "%s is [%lld, %lld], expected an end that is not before the start",
                        clv_json_pull_path(&r->j, path, sizeof path), (long long)r->row.at[0],
                        (long long)r->row.at[1]);
    return append_row(r, &r->intervals, err);
}

static clv_status read_ends(reader *r, clv_error *err)
{
    CLV_TRY(clv_json_pull_ints(&r->j, 0, INT64_MAX, &r->row, err));
    return append_row(r, &r->ends, err);
}

/* A row of amounts, of which the length is kept. */
static clv_status read_amounts(reader *r, counts *list, clv_error *err)
{
    CLV_TRY(clv_json_pull_ints(&r->j, 0, INT64_MAX, &r->row, err));
    CLV_TRY(count_row(r, &list->n, err));
    int32_t *length = clv_chunk_list_add(&list->lengths, 1);
    if (!length)
        return nomem(err);
    *length = r->row.n;
    return CLV_OK;
}

static clv_status read_cost(reader *r, clv_error *err)
{
    char path[320];
    CLV_TRY(read_amounts(r, &r->costs, err));
    if (r->row.n == 0)
        return clv_fail(err, CLV_EFORMAT, "%s is empty, expected at least one choice",
                        clv_json_pull_path(&r->j, path, sizeof path));
    return clv_intra_op_draft_node(r->draft, r->row.n, r->row.at, err);
}

static clv_status read_usage(reader *r, clv_error *err)
{
    int64_t at;
    CLV_TRY(read_amounts(r, &r->usages, err));
    return clv_intra_op_draft_usages(r->draft, r->row.n, r->row.at, &at, err);
}

static clv_status read_matrix(reader *r, clv_error *err)
{
    char path[320];
    CLV_TRY(clv_json_pull_ints(&r->j, 0, INT64_MAX, &r->row, err));
    if (r->row.n == 0)
        return clv_fail(err, CLV_EFORMAT, "%s is empty, expected an entry for each pair of choices",
                        clv_json_pull_path(&r->j, path, sizeof path));
    CLV_TRY(count_row(r, &r->n_matrices, err));
    int32_t *matrix = clv_chunk_list_add(&r->matrices, 1);
    if (!matrix)
        return nomem(err);
    return clv_intra_op_draft_matrix(r->draft, r->row.n, r->row.at, matrix, err);
}

/* An array, each element by read_one. */
static clv_status read_list(reader *r, clv_status (*read_one)(reader *, clv_error *),
                            clv_error *err)
{
    bool more;
    CLV_TRY(clv_json_pull_array(&r->j, err));
    for (;;) {
        CLV_TRY(clv_json_pull_next(&r->j, &more, err));
        if (!more)
            return CLV_OK;
        CLV_TRY(read_one(r, err));
    }
}

/* -- the objects -- */

static clv_status read_nodes(reader *r, clv_error *err)
{
    static const char *const keys[] = { "intervals", "costs", "usages", NULL };
    CLV_TRY(clv_json_pull_object(&r->j, err));
    for (int key;;) {
        CLV_TRY(clv_json_pull_key(&r->j, keys, 7, &key, err));
        if (key < 0)
            return CLV_OK;
        CLV_TRY(read_list(r, key == 0 ? read_interval : key == 1 ? read_cost : read_usage, err));
    }
}

static clv_status read_edges(reader *r, clv_error *err)
{
    static const char *const keys[] = { "nodes", "costs", NULL };
    CLV_TRY(clv_json_pull_object(&r->j, err));
    for (int key;;) {
        CLV_TRY(clv_json_pull_key(&r->j, keys, 3, &key, err));
        if (key < 0)
            return CLV_OK;
        CLV_TRY(read_list(r, key == 0 ? read_ends : read_matrix, err));
    }
}

static clv_status read_problem(reader *r, clv_error *err)
{
    enum { NODES, EDGES, NAME, LIMIT };
    static const char *const keys[] = { "nodes", "edges", "name", "usage_limit", NULL };
    CLV_TRY(clv_json_pull_object(&r->j, err));
    for (int key;;) {
        CLV_TRY(clv_json_pull_key(&r->j, keys, 1 << NODES | 1 << EDGES, &key, err));
        if (key < 0)
            return CLV_OK;
        if (key == NODES)
            CLV_TRY(read_nodes(r, err));
        else if (key == EDGES)
            CLV_TRY(read_edges(r, err));
        else if (key == NAME)
            CLV_TRY(clv_json_pull_string(&r->j, r->name, sizeof r->name, err));
        else
            CLV_TRY(clv_json_pull_int(&r->j, 0, INT64_MAX, &r->limit, err));
    }
}

static clv_status read_document(reader *r, clv_error *err)
{
    static const char *const keys[] = { "problem", NULL };
    CLV_TRY(clv_json_pull_object(&r->j, err));
    for (int key;;) {
        CLV_TRY(clv_json_pull_key(&r->j, keys, 1, &key, err));
        if (key < 0)
            return clv_json_pull_end(&r->j, err);
        CLV_TRY(read_problem(r, err));
    }
}

/* -- when all is known -- */

static clv_status join_rows(rows *list, clv_error *err)
{
    list->value = clv_chunk_list_join(&list->values, 0);
    list->end = clv_chunk_list_join(&list->ends, 0);
    return list->value && list->end ? CLV_OK : nomem(err);
}

static clv_status check_count(const reader *r, const char *key, int32_t n, clv_error *err)
{
    if (n == r->costs.n)
        return CLV_OK;
    return clv_fail(
        err, CLV_EFORMAT,
        "%.200s: problem.nodes.%s has %d rows, expected one for each of the %d nodes of "
        "problem.nodes.costs",
        r->j.what, key, n, r->costs.n);
}

/* at: of the node's row in the draft's usages. */
static clv_status make_span(reader *r, int32_t v, int64_t at, clv_error *err)
{
    int32_t n = r->costs.length[v], n_usages = r->usages.length[v];
    const int64_t *interval = r->intervals.value + 2 * (int64_t)v;
    bool holds = interval[0] < interval[1];
    if (n_usages != n && (holds || n_usages > 0))
        return clv_fail(err, CLV_EFORMAT,
                        "%.200s: problem.nodes.usages[%d] has %d numbers, expected one for each of "
                        "its %d choices",
                        r->j.what, v, n_usages, n);
    if (!holds)
        return CLV_OK;
    return clv_intra_op_draft_hold(r->draft, v, interval[0], interval[1], at, err);
}

static clv_status make_spans(reader *r, clv_error *err)
{
    int64_t at = 0;
    r->costs.length = clv_chunk_list_join(&r->costs.lengths, 0);
    r->usages.length = clv_chunk_list_join(&r->usages.lengths, 0);
    if (!r->costs.length || !r->usages.length)
        return nomem(err);
    CLV_TRY(join_rows(&r->intervals, err));
    CLV_TRY(check_count(r, "usages", r->usages.n, err));
    CLV_TRY(check_count(r, "intervals", r->intervals.n, err));
    for (int32_t v = 0; v < r->costs.n; v++) {
        CLV_TRY(make_span(r, v, at, err));
        at += r->usages.length[v];
    }
    return CLV_OK;
}

static clv_status check_ends(const reader *r, int32_t e, const int64_t *end, int64_t k,
                             clv_error *err)
{
    if (k == 0)
        return clv_fail(err, CLV_EFORMAT,
                        "%.200s: problem.edges.nodes[%d] is empty, expected at least one node",
                        r->j.what, e);
    for (int64_t i = 0; i < k; i++) {
        if (end[i] >= r->costs.n)
            return clv_fail(err, CLV_EFORMAT,
                            "%.200s: problem.edges.nodes[%d][%lld] is %lld, expected one of the %d "
                            "nodes, from 0",
                            r->j.what, e, (long long)i, (long long)end[i], r->costs.n);
        if (r->seen[end[i]] == e + 1)
            return clv_fail(err, CLV_EFORMAT,
                            "%.200s: problem.edges.nodes[%d] has node %lld twice, expected "
                            "different nodes",
                            r->j.what, e, (long long)end[i]);
        r->seen[end[i]] = e + 1;
    }
    return CLV_OK;
}

/* As many entries as the choices of its nodes say? */
static clv_status check_shape(const reader *r, int32_t e, const int64_t *end, int64_t k,
                              clv_error *err)
{
    int64_t has = clv_intra_op_draft_entries(r->draft, r->matrix_of[e]), n = 1;
    char shape[100];
    size_t at = 0;
    for (int64_t i = 0; i < k; i++) {
        int64_t choices = r->costs.length[end[i]];
        n = n <= has ? n * choices : n; /* beyond, any product is wrong and might be too large */
        if (at < sizeof shape)
            at += (size_t)snprintf(shape + at, sizeof shape - at, "%s%lld", i ? " x " : "",
                                   (long long)choices);
    }
    if (n == has)
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT,
                    "%.200s: problem.edges.costs[%d] has %lld entries, expected %s", r->j.what, e,
                    (long long)has, shape);
}

static clv_status make_edge(reader *r, int32_t e, clv_error *err)
{
    int64_t first = e ? r->ends.end[e - 1] : 0, k = r->ends.end[e] - first;
    const int64_t *end = r->ends.value + first;
    CLV_TRY(check_ends(r, e, end, k, err));
    CLV_TRY(check_shape(r, e, end, k, err));
    if (k > r->node_room) {
        r->node_room = k;
        r->node = CLV_NEW_ARRAY(r->scratch, int32_t, k);
        if (!r->node)
            return nomem(err);
    }
    for (int64_t i = 0; i < k; i++)
        r->node[i] = (int32_t)end[i];
    return clv_intra_op_draft_edge(r->draft, (int32_t)k, r->node, r->matrix_of[e], err);
}

static clv_status make_edges(reader *r, clv_error *err)
{
    if (r->ends.n != r->n_matrices)
        return clv_fail(err, CLV_EFORMAT,
                        "%.200s: problem.edges.nodes has %d rows and problem.edges.costs %d, "
                        "expected one of each for an edge",
                        r->j.what, r->ends.n, r->n_matrices);
    CLV_TRY(join_rows(&r->ends, err));
    r->matrix_of = clv_chunk_list_join(&r->matrices, 0);
    r->seen = CLV_NEW_ARRAY(r->scratch, int32_t, r->costs.n);
    if (!r->matrix_of || !r->seen)
        return nomem(err);
    for (int32_t e = 0; e < r->ends.n; e++)
        CLV_TRY(make_edge(r, e, err));
    return CLV_OK;
}

/* -- the doors -- */

static void begin_rows(rows *list, clv_arena *arena)
{
    clv_chunk_list_init(&list->values, arena, sizeof(int64_t));
    clv_chunk_list_init(&list->ends, arena, sizeof(int64_t));
}

static clv_status read_all(reader *r, clv_error *err)
{
    r->limit = CLV_INTRA_OP_UNLIMITED;
    r->row.arena = r->scratch;
    begin_rows(&r->intervals, r->scratch);
    begin_rows(&r->ends, r->scratch);
    clv_chunk_list_init(&r->costs.lengths, r->scratch, sizeof(int32_t));
    clv_chunk_list_init(&r->usages.lengths, r->scratch, sizeof(int32_t));
    clv_chunk_list_init(&r->matrices, r->scratch, sizeof(int32_t));
    CLV_TRY(clv_intra_op_draft_new(r->arena, &r->draft, err));
    CLV_TRY(read_document(r, err));
    CLV_TRY(make_spans(r, err));
    return make_edges(r, err);
}

/* The scratch is given back before matrices are moved together: the two are the largest there are.
 */
static clv_status finish(reader *r, clv_status status, const clv_intra_op_problem **ret,
                         clv_error *err)
{
    clv_arena_free(r->scratch);
    if (status != CLV_OK)
        return status;
    return clv_intra_op_draft_freeze(r->draft, r->name, r->limit, ret, err);
}

clv_status clv_intra_op_read_text(const char *text, size_t n, const char *what, clv_arena *arena,
                                  const clv_intra_op_problem **ret, clv_error *err)
{
    reader r = { .arena = arena };
    r.scratch = clv_arena_new(clv_arena_alloc(arena), 0);
    if (!r.scratch)
        return nomem(err);
    clv_json_pull_text(&r.j, text, n, what);
    return finish(&r, read_all(&r, err), ret, err);
}

clv_status clv_intra_op_read_file(const char *path, clv_arena *arena,
                                  const clv_intra_op_problem **ret, clv_error *err)
{
    struct stat st;
    reader r = { .arena = arena, .scratch = clv_arena_new(clv_arena_alloc(arena), 0) };
    clv_status status = r.scratch ? CLV_OK : nomem(err);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang us */
    if (fd < 0)
        status = clv_fail(err, CLV_EIO, "could not open %s: %s", path, strerror(errno));
    else if (fstat(fd, &st) != 0)
        status = clv_fail(err, CLV_EIO, "could not read %s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        status = clv_fail(err, CLV_EIO, "%s is not a regular file", path);
    else /* only a hint: reading works without */
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    if (status == CLV_OK)
        status = clv_json_pull_file(&r.j, fd, path, r.scratch, err);
    if (status == CLV_OK)
        status = read_all(&r, err);
    if (fd >= 0)
        close(fd);
    return finish(&r, status, ret, err);
}
