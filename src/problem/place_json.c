#include "problem/place_json.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"

/* The published programs hold costs of one source for equal up to here. */
#define COST_TOLERANCE 1e-6
/* A description of more is a mistake: no machine has so many. */
#define DEVICES_MAX 4096
#define NODES_MAX   10000000
#define EDGES_MAX   100000000
/* Sums of so many such times are far from the largest double. */
#define TIME_MAX 1e15
/* Of all nodes together, so that sums fit 63 bits. */
#define BYTES_MAX INT64_C(1000000000000000000)

enum { ACCELERATOR, CPU, N_KINDS };

typedef struct {
    int64_t id;
    int32_t index;
} named;

typedef struct {
    int32_t from, to;
} edge;

typedef struct {
    clv_arena *arena;
    clv_place_problem *p;
    clv_place_kind *kinds;
    int64_t *id, *bytes;
    double *time, *send_cost;
    bool *backward, *has_cost;
    int32_t *class_of, *out_first, *out, *order;
    named *by_id;   /* sorted */
    named *classes; /* color and node; sorted */
    int32_t n_classes;
    edge *edges;
    int64_t all_bytes;
    const char *what; /* names the text in messages */
} reader;

static clv_status nomem(clv_error *err) { return clv_fail_nomem(err, "a workload"); }

/* -- fields -- */

static clv_status read_number(const clv_json_at *object, const char *key, double max, double *ret,
                              clv_error *err)
{
    clv_json_at at;
    CLV_TRY(clv_json_member(object, key, true, &at, err));
    return clv_json_number(&at, 0, max, ret, err);
}

static clv_status read_id(const clv_json_at *object, const char *key, int64_t *ret, clv_error *err)
{
    clv_json_at at;
    CLV_TRY(clv_json_member(object, key, true, &at, err));
    return clv_json_int(&at, INT64_MIN, INT64_MAX, ret, err);
}

/* The published files write true and false, or 1 and 0. */
static clv_status read_flag(const clv_json_at *object, const char *key, bool *ret, clv_error *err)
{
    clv_json_at at;
    int64_t number;
    CLV_TRY(clv_json_member(object, key, true, &at, err));
    if (clv_json_bool(&at, ret, NULL) == CLV_OK)
        return CLV_OK;
    if (clv_json_int(&at, 0, 1, &number, NULL) == CLV_OK) {
        *ret = number != 0;
        return CLV_OK;
    }
    return clv_json_bool(&at, ret, err);
}

static clv_status read_bytes(reader *r, const clv_json_at *node, int64_t *ret, clv_error *err)
{
    clv_json_at at;
    *ret = 0;
    CLV_TRY(clv_json_member(node, "size", false, &at, err));
    if (at.json)
        CLV_TRY(clv_json_rounded(&at, BYTES_MAX, true, ret, err));
    r->all_bytes += *ret;
    if (r->all_bytes <= BYTES_MAX)
        return CLV_OK;
    return clv_fail(err, CLV_ELIMIT, "%s: the nodes hold more than %.3g bytes in all", r->what,
                    (double)BYTES_MAX);
}

/* -- nodes -- */

static clv_status read_node(reader *r, const clv_json_at *at, int32_t v, clv_error *err)
{
    clv_json_at color;
    bool supported;
    double cpu, accelerator;
    int32_t n = r->p->n_nodes;
    CLV_TRY(read_id(at, "id", &r->id[v], err));
    CLV_TRY(read_number(at, "cpuLatency", TIME_MAX, &cpu, err));
    CLV_TRY(read_number(at, "fpgaLatency", TIME_MAX, &accelerator, err));
    CLV_TRY(read_flag(at, "supportedOnFpga", &supported, err));
    CLV_TRY(read_flag(at, "isBackwardNode", &r->backward[v], err));
    CLV_TRY(read_bytes(r, at, &r->bytes[v], err));
    CLV_TRY(clv_json_member(at, "colorClass", false, &color, err));
    if (color.json) {
        CLV_TRY(clv_json_int(&color, INT64_MIN, INT64_MAX, &r->classes[r->n_classes].id, err));
        r->classes[r->n_classes++].index = v;
    }
    r->time[(size_t)ACCELERATOR * (size_t)n + (size_t)v] =
        supported ? accelerator : CLV_PLACE_NEVER;
    r->time[(size_t)CPU * (size_t)n + (size_t)v] = cpu;
    r->by_id[v] = (named){ r->id[v], v };
    return CLV_OK;
}

static int compare_named(const void *a, const void *b)
{
    const named *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Classes are numbered in the order of their first nodes; a node without a color is one by itself.
 */
static clv_status number_classes(reader *r, clv_error *err)
{
    int32_t n = r->p->n_nodes, *first = CLV_NEW_ARRAY(r->arena, int32_t, n);
    if (!first)
        return nomem(err);
    qsort(r->classes, (size_t)r->n_classes, sizeof *r->classes, compare_named);
    for (int32_t v = 0; v < n; v++)
        first[v] = v;
    for (int32_t i = 1; i < r->n_classes; i++)
        if (r->classes[i].id == r->classes[i - 1].id)
            first[r->classes[i].index] = first[r->classes[i - 1].index];
    for (int32_t v = 0; v < n; v++)
        r->class_of[v] = first[v] == v ? r->p->n_classes++ : r->class_of[first[v]];
    return CLV_OK;
}

static clv_status read_nodes(reader *r, const clv_json_at *root, clv_error *err)
{
    clv_json_at list, at;
    CLV_TRY(clv_json_member(root, "nodes", true, &list, err));
    for (int32_t v = 0; v < r->p->n_nodes; v++) {
        at = clv_json_element(&list, v, v ? &at : NULL);
        CLV_TRY(read_node(r, &at, v, err));
    }
    qsort(r->by_id, (size_t)r->p->n_nodes, sizeof *r->by_id, compare_named);
    for (int32_t i = 1; i < r->p->n_nodes; i++) {
        if (r->by_id[i].id != r->by_id[i - 1].id)
            continue;
        char path[256];
        return clv_fail(err, CLV_EFORMAT, "%s[%d].id is %lld, which nodes[%d] has already",
                        clv_json_path(&list, path, sizeof path), r->by_id[i].index,
                        (long long)r->by_id[i].id, r->by_id[i - 1].index);
    }
    return number_classes(r, err);
}

/* -- edges -- */

static clv_status read_end(const reader *r, const clv_json_at *at, const char *key, int32_t *ret,
                           clv_error *err)
{
    named want = { 0 };
    int32_t low = 0, high = r->p->n_nodes;
    CLV_TRY(read_id(at, key, &want.id, err));
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (r->by_id[middle].id < want.id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < r->p->n_nodes && r->by_id[low].id == want.id) {
        *ret = r->by_id[low].index;
        return CLV_OK;
    }
    char path[256];
    return clv_fail(err, CLV_EFORMAT, "%s.%s is %lld, expected the id of a node",
                    clv_json_path(at, path, sizeof path), key, (long long)want.id);
}

static clv_status read_edge(reader *r, const clv_json_at *at, edge *ret, clv_error *err)
{
    char path[256];
    double cost;
    CLV_TRY(read_end(r, at, "sourceId", &ret->from, err));
    CLV_TRY(read_end(r, at, "destId", &ret->to, err));
    CLV_TRY(read_number(at, "cost", TIME_MAX, &cost, err));
    long long from = r->id[ret->from], to = r->id[ret->to];
    clv_json_path(at, path, sizeof path);
    if (from == to)
        return clv_fail(err, CLV_EFORMAT, "%s leads from node %lld to itself", path, from);
    if (r->backward[ret->from] && !r->backward[ret->to])
        return clv_fail(err, CLV_EFORMAT,
                        "%s leads from backward node %lld to forward node %lld, expected forward "
                        "nodes to come first",
                        path, from, to);
    if (r->has_cost[ret->from] && fabs(cost - r->send_cost[ret->from]) > COST_TOLERANCE)
        return clv_fail(err, CLV_EFORMAT,
                        "%s.cost is %.15g, and another edge of node %lld costs %.15g, expected "
                        "one cost for each source",
                        path, cost, from, r->send_cost[ret->from]);
    if (!r->has_cost[ret->from])
        r->send_cost[ret->from] = cost;
    r->has_cost[ret->from] = true;
    return CLV_OK;
}

/* By source in the order of the file, each reader once: what is said twice counts once. */
static clv_status list_edges(reader *r, int32_t n_edges, clv_error *err)
{
    int32_t n = r->p->n_nodes, *at = CLV_NEW_ARRAY(r->arena, int32_t, n + 1),
            *seen = CLV_NEW_ARRAY(r->arena, int32_t, n), *all;
    r->out = CLV_NEW_ARRAY(r->arena, int32_t, n_edges);
    all = CLV_NEW_ARRAY(r->arena, int32_t, n_edges);
    if (!r->out || !all || !at || !seen)
        return nomem(err);
    for (int32_t i = 0; i < n_edges; i++)
        at[r->edges[i].from + 1]++;
    for (int32_t v = 0; v < n; v++)
        at[v + 1] += at[v];
    for (int32_t i = n_edges - 1; i >= 0; i--)
        all[--at[r->edges[i].from + 1]] = r->edges[i].to;
    /* at[v + 1] is now where v's edges begin */
    for (int32_t v = 0; v < n; v++) {
        int32_t end = v + 1 < n ? at[v + 2] : n_edges;
        for (int32_t i = at[v + 1]; i < end; i++) {
            if (seen[all[i]] != v + 1)
                r->out[r->p->n_edges++] = all[i];
            seen[all[i]] = v + 1;
        }
        r->out_first[v + 1] = r->p->n_edges;
    }
    return CLV_OK;
}

static clv_status read_edges(reader *r, const clv_json_at *root, clv_error *err)
{
    clv_json_at list, at;
    int32_t n;
    CLV_TRY(clv_json_member(root, "edges", true, &list, err));
    CLV_TRY(clv_json_length(&list, &n, err));
    if (n > EDGES_MAX)
        return clv_fail(err, CLV_ELIMIT, "%s: there are %d edges, at most %d can be read", r->what,
                        n, EDGES_MAX);
    r->edges = CLV_NEW_ARRAY(r->arena, edge, n);
    if (!r->edges)
        return nomem(err);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(read_edge(r, &at, &r->edges[i], err));
    }
    return list_edges(r, n, err);
}

/* Kahn; ties by the order of the file. */
static clv_status sort_nodes(reader *r, const char *what, clv_error *err)
{
    int32_t n = r->p->n_nodes, n_order = 0, *waits = CLV_NEW_ARRAY(r->arena, int32_t, n);
    if (!waits)
        return nomem(err);
    for (int32_t i = 0; i < r->p->n_edges; i++)
        waits[r->out[i]]++;
    for (int32_t v = 0; v < n; v++)
        if (waits[v] == 0)
            r->order[n_order++] = v;
    for (int32_t done = 0; done < n_order; done++)
        for (int32_t i = r->out_first[r->order[done]]; i < r->out_first[r->order[done] + 1]; i++)
            if (--waits[r->out[i]] == 0)
                r->order[n_order++] = r->out[i];
    if (n_order == n)
        return CLV_OK;
    /* From a node that waits back to one it waits for, n times, ends on the cycle itself. */
    int32_t v = 0, *from = CLV_NEW_ARRAY(r->arena, int32_t, n);
    if (!from)
        return nomem(err);
    for (int32_t u = 0; u < n; u++)
        for (int32_t i = r->out_first[u]; waits[u] > 0 && i < r->out_first[u + 1]; i++)
            from[r->out[i]] = u;
    while (waits[v] == 0)
        v++;
    for (int32_t i = 0; i < n; i++)
        v = from[v];
    return clv_fail(err, CLV_EFORMAT, "%s: node %lld is on a cycle of edges, expected none", what,
                    (long long)r->id[v]);
}

/* -- devices -- */

static clv_status read_devices(reader *r, const clv_json_at *root, const char *what, clv_error *err)
{
    clv_json_at at;
    int64_t count, bytes;
    CLV_TRY(clv_json_member(root, "maxFPGAs", true, &at, err));
    CLV_TRY(clv_json_int(&at, 0, DEVICES_MAX, &count, err));
    CLV_TRY(clv_json_member(root, "maxSizePerFPGA", true, &at, err));
    CLV_TRY(clv_json_rounded(&at, BYTES_MAX, false, &bytes, err));
    r->kinds[ACCELERATOR] = (clv_place_kind){
        .name = "accelerator", .count = (int32_t)count, .capacity_bytes = bytes, .pays = true
    };
    CLV_TRY(clv_json_member(root, "maxCPUs", true, &at, err));
    CLV_TRY(clv_json_int(&at, 0, DEVICES_MAX, &count, err));
    r->kinds[CPU] = (clv_place_kind){ .name = "cpu",
                                      .count = (int32_t)count,
                                      .capacity_bytes = CLV_PLACE_UNLIMITED };
    if (clv_place_devices(r->p) == 0)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: maxFPGAs and maxCPUs are 0, expected a device at least", what);
    return CLV_OK;
}

/* -- the call -- */

static clv_status allocate(reader *r, clv_error *err)
{
    clv_place_problem *p = r->p;
    int32_t n = p->n_nodes;
    p->n_kinds = N_KINDS;
    p->kinds = r->kinds = CLV_NEW_ARRAY(r->arena, clv_place_kind, N_KINDS);
    p->id = r->id = CLV_NEW_ARRAY(r->arena, int64_t, n);
    p->bytes = r->bytes = CLV_NEW_ARRAY(r->arena, int64_t, n);
    p->time = r->time = CLV_NEW_ARRAY(r->arena, double, (size_t)n *N_KINDS);
    p->send_cost = r->send_cost = CLV_NEW_ARRAY(r->arena, double, n);
    p->backward = r->backward = CLV_NEW_ARRAY(r->arena, bool, n);
    p->class_of = r->class_of = CLV_NEW_ARRAY(r->arena, int32_t, n);
    p->out_first = r->out_first = CLV_NEW_ARRAY(r->arena, int32_t, n + 1);
    p->order = r->order = CLV_NEW_ARRAY(r->arena, int32_t, n);
    r->has_cost = CLV_NEW_ARRAY(r->arena, bool, n);
    r->by_id = CLV_NEW_ARRAY(r->arena, named, n);
    r->classes = CLV_NEW_ARRAY(r->arena, named, n);
    bool all = r->kinds && r->id && r->bytes && r->time && r->send_cost && r->backward &&
               r->class_of && r->out_first && r->order && r->has_cost && r->by_id && r->classes;
    return all ? CLV_OK : nomem(err);
}

static clv_status read_workload(reader *r, const clv_json_at *root, const char *what,
                                clv_error *err)
{
    clv_json_at list;
    CLV_TRY(clv_json_member(root, "nodes", true, &list, err));
    CLV_TRY(clv_json_length(&list, &r->p->n_nodes, err));
    if (r->p->n_nodes > NODES_MAX)
        return clv_fail(err, CLV_ELIMIT, "%s: there are %d nodes, at most %d can be read", what,
                        r->p->n_nodes, NODES_MAX);
    CLV_TRY(allocate(r, err));
    CLV_TRY(read_devices(r, root, what, err));
    CLV_TRY(read_nodes(r, root, err));
    CLV_TRY(read_edges(r, root, err));
    CLV_TRY(sort_nodes(r, what, err));
    r->p->out = r->out;
    return CLV_OK;
}

clv_status clv_place_read_text(const char *text, size_t n, const char *what, clv_arena *arena,
                               clv_place_problem **ret, clv_error *err)
{
    clv_json *json;
    reader r = { .arena = arena, .p = CLV_NEW(arena, clv_place_problem), .what = what };
    if (!r.p)
        return nomem(err);
    CLV_TRY(clv_json_parse(text, n, what, &json, err));
    clv_json_at root = clv_json_root(json, what);
    clv_status status = read_workload(&r, &root, what, err);
    clv_json_free(json);
    if (status == CLV_OK)
        *ret = r.p;
    return status;
}
