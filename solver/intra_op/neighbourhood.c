/* neighbourhood.c - see neighbourhood.h. */
#include "solver/intra_op/neighbourhood.h"

#include "solver/common/random.h"

/* A row is nearly full above this share of its limit. */
#define CLV_NEIGHBOURHOOD_TIGHT 0.97
/* Draws for a seed in a row before any node will do. */
#define CLV_NEIGHBOURHOOD_DRAWS 64
/* One step in so many takes any node of the frontier; the others take the oldest, which makes
 * neighbourhoods round and their tables small. */
#define CLV_NEIGHBOURHOOD_STRAY 4

clv_status clv_neighbourhood_new(const clv_pairwise *f, clv_arena *arena, clv_neighbourhood *ret,
                                 clv_error *err)
{
    clv_neighbourhood g = { .f = f,
                            .node = CLV_NEW_ARRAY(arena, int32_t, f->n),
                            .seen = CLV_NEW_ARRAY(arena, uint32_t, f->n) };
    if (!g.node || !g.seen)
        return clv_fail_nomem(err, "a search");
    *ret = g;
    return CLV_OK;
}

static void clear(clv_neighbourhood *g)
{
    g->n = 0;
    if (++g->stamp != 0)
        return;
    for (int32_t v = 0; v < g->f->n; v++) /* once in 2^32 neighbourhoods */
        g->seen[v] = 0;
    g->stamp = 1;
}

static void add(clv_neighbourhood *g, int32_t v)
{
    if (g->seen[v] == g->stamp)
        return;
    g->seen[v] = g->stamp;
    g->node[g->n++] = v;
}

/* node[0 .. n - 1] are seeds; those behind `done` are the frontier. */
static void spread(clv_neighbourhood *g, int32_t size, uint64_t *random)
{
    const clv_pairwise *f = g->f;
    for (int32_t done = 0; done < g->n && g->n < size; done++) {
        if (clv_random_below(random, CLV_NEIGHBOURHOOD_STRAY) == 0) {
            int32_t other = done + clv_random_below(random, g->n - done);
            int32_t t = g->node[done];
            g->node[done] = g->node[other];
            g->node[other] = t;
        }
        int32_t v = g->node[done], first = f->first_arc[v], n = f->first_arc[v + 1] - first;
        if (n == 0)
            continue;
        int32_t from = clv_random_below(random, n); /* a hub's neighbours may not all find room */
        for (int32_t i = 0; i < n && g->n < size; i++)
            add(g, f->arc[first + (from + i) % n].to);
    }
}

/* Unconnected parts: more seeds until the size is met, or by chance none is new. */
static void add_parts(clv_neighbourhood *g, int32_t size, uint64_t *random)
{
    for (int32_t draw = 0; draw < CLV_NEIGHBOURHOOD_DRAWS && g->n < size; draw++) {
        add(g, clv_random_below(random, g->f->n));
        spread(g, size, random);
    }
}

void clv_neighbourhood_grow(clv_neighbourhood *g, int32_t size, int32_t n_seeds, uint64_t *random)
{
    clear(g);
    for (int32_t i = 0; i < n_seeds && g->n < size; i++)
        add(g, clv_random_below(random, g->f->n));
    spread(g, size, random);
    add_parts(g, size, random);
}

static bool holds_in(const clv_pairwise *f, int32_t v, int32_t row)
{
    for (int32_t s = f->first_span[v]; s < f->first_span[v + 1]; s++)
        if (f->span[s].lo <= row && row < f->span[s].hi)
            return true;
    return false;
}

void clv_neighbourhood_grow_tight(clv_neighbourhood *g, const clv_search_state *s, int32_t size,
                                  int32_t n_seeds, uint64_t *random)
{
    /* A nearly full row by chance; -1 without one. */
    const clv_pairwise *f = s->f;
    int32_t from = f->n_rows > 0 ? clv_random_below(random, f->n_rows) : 0, row = -1;
    for (int32_t i = 0; i < f->n_rows && row < 0; i++) {
        int32_t r = from + i < f->n_rows ? from + i : from + i - f->n_rows;
        if ((double)s->load[r] > CLV_NEIGHBOURHOOD_TIGHT * (double)f->limit[r])
            row = r;
    }
    clear(g);
    for (int32_t i = 0; i < n_seeds && g->n < size; i++) {
        int32_t v = clv_random_below(random, g->f->n);
        for (int32_t t = 0; row >= 0 && t < CLV_NEIGHBOURHOOD_DRAWS && !holds_in(g->f, v, row); t++)
            v = clv_random_below(random, g->f->n);
        add(g, v);
    }
    spread(g, size, random);
    add_parts(g, size, random);
}

void clv_neighbourhood_grow_from(clv_neighbourhood *g, const int32_t *from, int32_t n_from,
                                 int32_t size, int32_t n_seeds, uint64_t *random)
{
    clear(g);
    for (int32_t i = 0; i < n_seeds && g->n < size; i++)
        add(g, from[clv_random_below(random, n_from)]);
    spread(g, size, random);
}

void clv_neighbourhood_differing(clv_neighbourhood *g, const int32_t *a, const int32_t *b)
{
    clear(g);
    for (int32_t v = 0; v < g->f->n; v++)
        if (a[v] != b[v])
            add(g, v);
}

void clv_neighbourhood_all(clv_neighbourhood *g)
{
    clear(g);
    for (int32_t v = 0; v < g->f->n; v++)
        add(g, v);
}
