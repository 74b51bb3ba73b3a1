/* chains_on_chains.c - loads of all runs, then the best last run by place and devices used. */
#include "solver/placement/noncontiguous/chains_on_chains.h"

#include <string.h>

#define BLOCKS_MAX 2000
#define STEPS_MAX  2e8
#define NEVER      INT64_MAX

/* uses: how many devices of each kind, as one number; one more of a kind is + weight[kind]. */
typedef struct {
    const clv_contraction *b;
    const int32_t *order;
    int32_t n, n_uses;
    int32_t *weight;
    int64_t *load;  /* [(kind * n + first) * n + last] */
    int64_t *least; /* [uses * (n + 1) + end] */
    int32_t *from;  /* the same: where the last run begins, and its kind */
    int32_t *kind;
    int32_t *count; /* by net */
} chains;

static size_t load_at(const chains *r, int32_t kind, int32_t first, int32_t last)
{
    return ((size_t)kind * (size_t)r->n + (size_t)first) * (size_t)r->n + (size_t)last;
}

static size_t at(const chains *r, int32_t uses, int32_t end)
{
    return (size_t)uses * ((size_t)r->n + 1) + (size_t)end;
}

/* Loads of the runs that begin here, on one kind. */
static void compute_loads(chains *r, int32_t kind, int32_t first)
{
    const clv_contraction *b = r->b;
    const clv_place_kind *k = &b->p->kinds[kind];
    int64_t time = 0, cut = 0, bytes = 0;
    memset(r->count, 0, (size_t)b->n_nets * sizeof *r->count);
    for (int32_t last = first; last < r->n; last++) {
        int32_t block = r->order[last];
        int64_t t = clv_block_time(b, kind, block);
        bytes += b->bytes[block];
        if (t == CLV_BLOCK_NEVER || (k->capacity_bytes >= 0 && bytes > k->capacity_bytes)) {
            for (; last < r->n; last++)
                r->load[load_at(r, kind, first, last)] = NEVER;
            return;
        }
        time += t;
        for (int32_t a = b->at_first[block]; a < b->at_first[block + 1] && k->pays; a++) {
            int32_t net = b->at[a];
            cut += r->count[net] == 0 ? b->net_cost[net] : 0;
            r->count[net]++;
            cut -=
                r->count[net] == b->net_first[net + 1] - b->net_first[net] ? b->net_cost[net] : 0;
        }
        r->load[load_at(r, kind, first, last)] = time + cut;
    }
}

static int32_t used_of(const chains *r, int32_t uses, int32_t kind)
{
    return uses / r->weight[kind] % (r->b->p->kinds[kind].count + 1);
}

/* The best last run that ends before `end`, with these uses. */
static void solve_state(chains *r, int32_t uses, int32_t end)
{
    size_t here = at(r, uses, end);
    r->least[here] = NEVER;
    for (int32_t k = 0; k < r->b->n_kinds; k++) {
        if (used_of(r, uses, k) == 0)
            continue;
        int32_t before = uses - r->weight[k];
        for (int32_t first = end; first >= 0; first--) { /* first == end: it stays empty */
            int64_t load = first < end ? r->load[load_at(r, k, first, end - 1)] : 0;
            if (load >= r->least[here] && !r->b->p->kinds[k].pays)
                break; /* only more with more blocks */
            int64_t most = r->least[at(r, before, first)];
            most = most > load ? most : load;
            if (most >= r->least[here])
                continue;
            r->least[here] = most;
            r->from[here] = first;
            r->kind[here] = k;
        }
    }
}

static void trace_back(const chains *r, int32_t *device_of)
{
    int32_t uses = r->n_uses - 1, end = r->n;
    while (end > 0) {
        size_t here = at(r, uses, end);
        int32_t kind = r->kind[here], device = used_of(r, uses, kind) - 1;
        for (int32_t k = 0; k < kind; k++)
            device += r->b->p->kinds[k].count;
        for (int32_t i = r->from[here]; i < end; i++)
            device_of[r->order[i]] = device;
        end = r->from[here];
        uses -= r->weight[kind];
    }
}

static bool solve_runs(chains *r, int32_t *device_of)
{
    for (int32_t k = 0; k < r->b->n_kinds; k++)
        for (int32_t first = 0; first < r->n; first++)
            compute_loads(r, k, first);
    for (int32_t end = 0; end <= r->n; end++)
        r->least[at(r, 0, end)] = end == 0 ? 0 : NEVER;
    for (int32_t uses = 1; uses < r->n_uses; uses++)
        for (int32_t end = 0; end <= r->n; end++)
            solve_state(r, uses, end);
    if (r->least[at(r, r->n_uses - 1, r->n)] == NEVER)
        return false;
    trace_back(r, device_of);
    return true;
}

clv_status clv_chains_on_chains(const clv_contraction *b, const int32_t *order, clv_arena *arena,
                                int32_t *device_of, bool *found, clv_error *err)
{
    double uses = 1;
    *found = false;
    for (int32_t k = 0; k < b->n_kinds; k++)
        uses *= b->p->kinds[k].count + 1;
    if (b->n == 0 || b->n > BLOCKS_MAX || uses * b->n * b->n * b->n_kinds > STEPS_MAX)
        return CLV_OK;
    clv_mark mark = clv_arena_mark(arena);
    chains r = { .b = b, .order = order, .n = b->n, .n_uses = (int32_t)uses };
    size_t n = (size_t)b->n, cells = (size_t)r.n_uses * (n + 1);
    r.weight = CLV_NEW_ARRAY(arena, int32_t, b->n_kinds);
    r.load = CLV_NEW_ARRAY(arena, int64_t, (size_t)b->n_kinds * n * n);
    r.least = CLV_NEW_ARRAY(arena, int64_t, cells);
    r.from = CLV_NEW_ARRAY(arena, int32_t, cells);
    r.kind = CLV_NEW_ARRAY(arena, int32_t, cells);
    r.count = CLV_NEW_ARRAY(arena, int32_t, b->n_nets);
    if (!r.weight || !r.load || !r.least || !r.from || !r.kind || !r.count)
        return clv_fail_nomem(err, "cutting a line into runs");
    for (int32_t k = 0, w = 1; k < b->n_kinds; w *= b->p->kinds[k++].count + 1)
        r.weight[k] = w;
    *found = solve_runs(&r, device_of);
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
