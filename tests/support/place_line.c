/* place_line.c - the best contiguous placement as the paper finds it: over all pairs of ideals,
 * which are sets of classes that hold all that comes before them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/place_oracle.h"

#define STATES 256 /* how many devices of each kind are used: ORACLE_KINDS digits to base 4 */
#define DIGIT  4

typedef struct {
    const oracle_problem *p;
    const oracle_rules *rules;
    uint64_t before[ORACLE_NODES]; /* of a class: itself and all classes before it */
    uint64_t nodes[ORACLE_NODES];  /* of a class */
    uint64_t ideal[ORACLE_IDEALS], ideal_nodes[ORACLE_IDEALS];
    int n_ideals;
    double best[ORACLE_IDEALS][STATES]; /* least largest load that makes this ideal so; INFINITY */
} line;

static bool is_orphan(const line *l, int class)
{
    for (int v = 0; v < l->p->n; v++)
        if (l->p->class_of[v] == class && !l->p->backward[v])
            return false;
    return true;
}

/* class from comes before class to, and with it all that is before from. */
static bool put_before(line *l, int from, int to)
{
    uint64_t old = l->before[to];
    l->before[to] |= l->before[from];
    return l->before[to] != old;
}

static void find_before(line *l)
{
    const oracle_problem *p = l->p;
    for (int c = 0; c < p->n_classes; c++)
        l->before[c] = UINT64_C(1) << c;
    for (int v = 0; v < p->n; v++)
        l->nodes[p->class_of[v]] |= UINT64_C(1) << v;
    for (bool more = true; more;) {
        more = false;
        for (int e = 0; e < p->m; e++) {
            int u = p->from[e], v = p->to[e], a = p->class_of[u], b = p->class_of[v];
            if (!p->backward[u] && !p->backward[v])
                more |= put_before(l, a, b);
            else if (p->backward[u] && p->backward[v] && (is_orphan(l, a) || is_orphan(l, b)))
                more |= put_before(l, b, a);
        }
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    int nx = __builtin_popcountll(x), ny = __builtin_popcountll(y);
    return nx != ny ? nx - ny : x < y ? -1 : x > y;
}

/* false: there are too many. Smaller ones first. */
static bool find_ideals(line *l)
{
    l->n_ideals = 1; /* the empty one */
    for (int i = 0; i < l->n_ideals; i++)
        for (int c = 0; c < l->p->n_classes; c++) {
            uint64_t next = l->ideal[i] | l->before[c];
            bool known = false;
            for (int j = 0; j < l->n_ideals && !known; j++)
                known = l->ideal[j] == next;
            if (known)
                continue;
            if (l->n_ideals == ORACLE_IDEALS)
                return false;
            l->ideal[l->n_ideals++] = next;
        }
    qsort(l->ideal, (size_t)l->n_ideals, sizeof *l->ideal, compare);
    for (int i = 0; i < l->n_ideals; i++)
        for (int c = 0; c < l->p->n_classes; c++)
            l->ideal_nodes[i] |= l->ideal[i] >> c & 1 ? l->nodes[c] : 0;
    return true;
}

/* Of these nodes on a device of kind k; INFINITY when they cannot be there. */
static double load_of(const line *l, int k, uint64_t nodes)
{
    const oracle_problem *p = l->p;
    uint64_t charged = 0;
    long long bytes = 0;
    long double load = 0;
    for (int v = 0; v < p->n; v++) {
        if (!(nodes >> v & 1))
            continue;
        if (p->time[k][v] < 0)
            return (double)INFINITY;
        bytes += p->bytes[v];
        load += (long double)p->time[k][v];
    }
    for (int e = 0; e < p->m && p->kind[k].pays; e++) {
        int u = p->from[e];
        if ((nodes >> u & 1) == (nodes >> p->to[e] & 1) || charged >> u & 1)
            continue;
        charged |= UINT64_C(1) << u;
        load += (long double)p->cost[u];
    }
    bool fits = p->kind[k].capacity < 0 || bytes <= p->kind[k].capacity;
    bool light = l->rules->objective != ORACLE_FEWEST || l->rules->max_load <= 0 ||
                 (double)load <= l->rules->max_load;
    return fits && light ? (double)load : (double)INFINITY;
}

static int digit(int state, int k) { return state >> (2 * k) & (DIGIT - 1); }

/* A piece between ideals i and j on one more device of kind k. */
static void add_piece(line *l, int i, int j, int k, double load)
{
    for (int s = 0; s < STATES; s++) {
        if (isinf(l->best[i][s]) || digit(s, k) >= l->p->kind[k].count)
            continue;
        int next = s + (1 << (2 * k));
        double largest = load > l->best[i][s] ? load : l->best[i][s];
        if (largest < l->best[j][next])
            l->best[j][next] = largest;
    }
}

static bool read_optimum(const line *l, double *objective)
{
    const double *last = l->best[l->n_ideals - 1];
    bool found = false;
    *objective = 0;
    for (int s = 0; s < STATES; s++) {
        double value = last[s];
        if (isinf(value))
            continue;
        if (l->rules->objective == ORACLE_FEWEST) {
            value = 0;
            for (int k = 0; k < l->p->n_kinds; k++)
                value += digit(s, k);
        }
        *objective = found && *objective <= value ? *objective : value;
        found = true;
    }
    return found;
}

bool oracle_line(const oracle_problem *p, const oracle_rules *rules, double *objective)
{
    static line l; /* of a megabyte */
    memset(&l, 0, sizeof l);
    l.p = p;
    l.rules = rules;
    find_before(&l);
    *objective = -1;
    if (!find_ideals(&l))
        return false;
    for (int i = 0; i < l.n_ideals; i++)
        for (int s = 0; s < STATES; s++)
            l.best[i][s] = i == 0 && s == 0 ? 0 : (double)INFINITY;
    for (int i = 0; i < l.n_ideals; i++)
        for (int j = i + 1; j < l.n_ideals; j++)
            for (int k = 0; k < p->n_kinds && !(l.ideal[i] & ~l.ideal[j]); k++) {
                double load = load_of(&l, k, l.ideal_nodes[j] & ~l.ideal_nodes[i]);
                if (!isinf(load))
                    add_piece(&l, i, j, k, load);
            }
    return read_optimum(&l, objective);
}
