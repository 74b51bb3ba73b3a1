#include "solver/partition/chain_order_dp.h"

#include <string.h>

#include "solver/partition/device_class.h"

/* Steps: cells, positions and classes; some tenths of a second. */
#define STEPS_MAX INT64_C(30000000)
/* Boundaries between devices whose delays differ. */
#define ROWS_MAX 16
/* A choice is the length of a run and the class before it. */
#define CLASS_BITS 2
#define LENGTH_MAX (UINT16_MAX >> CLASS_BITS)
#define NEVER      CLV_SUM_MAX

typedef struct {
    const clv_unit_chain *chain;
    const clv_cut_options *o;
    int32_t n, n_classes, n_cells, n_kept; /* positions - 1; cells whose costs are kept */
    clv_device_class class[CLV_CLASSES_MAX];
    int32_t stride[CLV_CLASSES_MAX];
    int32_t *device[CLV_CLASSES_MAX]; /* by class, as numbered */
    int8_t *row_of;                   /* [from * n_devices + to] */
    int64_t *delay_ns;                /* [row * (n + 1) + position] */
    int32_t n_rows;
    int64_t *cost_ns;  /* [(cell % n_kept * n_classes + class) * (n + 1) + position] */
    uint16_t *choice;  /* [(cell * n_classes + class) * (n + 1) + position] */
    int64_t *begin_ns; /* n + 1: of one run */
    uint8_t *before;   /* n + 1: the class of the run that gives it */
    int32_t *window;   /* n + 1 */
} table;

static int64_t *cost_row(const table *c, int32_t cell, int32_t class)
{
    return c->cost_ns +
           ((ptrdiff_t)(cell % c->n_kept) * c->n_classes + class) * ((ptrdiff_t)c->n + 1);
}

static uint16_t *choice_row(const table *c, int32_t cell, int32_t class)
{
    return c->choice + ((ptrdiff_t)cell * c->n_classes + class) * ((ptrdiff_t)c->n + 1);
}

/* Devices of a class that the cell uses. */
static int32_t n_used_of(const table *c, int32_t cell, int32_t class)
{
    return cell / c->stride[class] % (c->class[class].n + 1);
}

/* The device of the last run. */
static int32_t last_device(const table *c, int32_t cell, int32_t class)
{
    return c->device[class][n_used_of(c, cell, class) - 1];
}

/* -- opening -- */

/* Cells, and whether all of it is few enough. */
static bool count_cells(table *c)
{
    int64_t cells = 1, most = (int64_t)c->n_classes * (c->n + 1);
    for (int32_t k = 0; k < c->n_classes && cells * most <= STEPS_MAX; k++) {
        c->stride[k] = (int32_t)cells;
        c->n_kept = (int32_t)cells + 1;
        cells *= c->class[k].n + 1;
    }
    c->n_cells = (int32_t)cells;
    return c->n_classes > 0 && c->n <= LENGTH_MAX && cells * most <= STEPS_MAX;
}

/* Finds the rows of delays, and which of them each pair of devices has. False: there are too many.
 */
static bool find_rows(table *c)
{
    const clv_partition_problem *p = c->chain->p;
    int32_t from[ROWS_MAX], to[ROWS_MAX], n = p->n_devices;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            int32_t row = 0;
            if (a == b)
                continue;
            while (row < c->n_rows && !clv_boundary_is_same(c->chain, a, b, from[row], to[row]))
                row++;
            if (row == ROWS_MAX)
                return false;
            from[row] = a;
            to[row] = b;
            c->n_rows += row == c->n_rows;
            c->row_of[a * n + b] = (int8_t)row;
        }
    for (int32_t row = 0; row < c->n_rows; row++)
        clv_boundary_delays(c->chain, from[row], to[row],
                            c->delay_ns + (ptrdiff_t)row * (c->n + 1));
    return true;
}

static clv_status open_table(table *c, clv_arena *scratch, bool *ret_few, clv_error *err)
{
    const clv_partition_problem *p = c->chain->p;
    ptrdiff_t n = c->n + 1;
    c->n_classes = clv_device_classes_find(p, c->class);
    *ret_few = count_cells(c);
    if (!*ret_few)
        return CLV_OK;
    c->row_of = CLV_NEW_ARRAY(scratch, int8_t, (ptrdiff_t)p->n_devices * p->n_devices);
    c->delay_ns = CLV_NEW_ARRAY(scratch, int64_t, n * ROWS_MAX);
    c->cost_ns = CLV_NEW_ARRAY(scratch, int64_t, n * c->n_kept * c->n_classes);
    c->choice = CLV_NEW_ARRAY(scratch, uint16_t, n * c->n_cells * c->n_classes);
    c->begin_ns = CLV_NEW_ARRAY(scratch, int64_t, n);
    c->before = CLV_NEW_ARRAY(scratch, uint8_t, n);
    c->window = CLV_NEW_ARRAY(scratch, int32_t, n);
    bool enough = c->row_of && c->delay_ns && c->cost_ns && c->choice && c->begin_ns && c->before &&
                  c->window;
    for (int32_t k = 0; k < c->n_classes; k++) {
        c->device[k] = CLV_NEW_ARRAY(scratch, int32_t, c->class[k].n);
        enough = enough && c->device[k];
        for (int32_t d = 0, at = 0; enough && d < p->n_devices; d++)
            if (p->kind_of[d] == c->class[k].kind &&
                p->capacity_bytes[d] == c->class[k].capacity_bytes)
                c->device[k][at++] = d;
    }
    if (!enough)
        return clv_fail_nomem(err, "cuts by kinds");
    *ret_few = find_rows(c);
    return CLV_OK;
}

/* -- the dynamic programme -- */

/* Positions at which the runs of so many devices can end. */
static int32_t first_end(int32_t n_used) { return n_used; }

static int32_t last_end(const table *c, int32_t n_used)
{
    int32_t n_devices = c->chain->p->n_devices, needed = c->n < n_devices ? c->n : n_devices;
    return c->n - (c->o->use_all ? needed - n_used : 0);
}

/* For each position at which a run of a class may begin: when it begins, less the time of all units
 * before on that class, so that adding the time of all units up to its end gives its end. n_used:
 * with the run's device. */
static void find_begins(table *c, int32_t cell, int32_t n_used, int32_t class)
{
    int32_t before = cell - c->stride[class], device = last_device(c, cell, class);
    int32_t first = first_end(n_used - 1), last = last_end(c, n_used - 1);
    const int64_t *time = c->chain->time_ns + (ptrdiff_t)c->class[class].kind * (c->n + 1);
    for (int32_t i = first; i <= last; i++)
        c->begin_ns[i] = n_used == 1 && i == 0 ? 0 : NEVER;
    for (int32_t k = 0; k < c->n_classes; k++) {
        if (n_used_of(c, before, k) == 0)
            continue;
        const int64_t *cost = cost_row(c, before, k);
        size_t link =
            (size_t)last_device(c, before, k) * (size_t)c->chain->p->n_devices + (size_t)device;
        const int64_t *delay = c->delay_ns + (ptrdiff_t)c->row_of[link] * (c->n + 1);
        for (int32_t i = first; i <= last; i++) {
            int64_t at = cost[i] < NEVER ? cost[i] + delay[i] - time[i] : NEVER;
            c->before[i] = at < c->begin_ns[i] ? (uint8_t)k : c->before[i];
            c->begin_ns[i] = at < c->begin_ns[i] ? at : c->begin_ns[i];
        }
    }
}

/* The costs of a cell whose last run is on the class. O(positions). */
static void extend_by_class(table *c, int32_t cell, int32_t n_used, int32_t class)
{
    const int64_t *time = c->chain->time_ns + (ptrdiff_t)c->class[class].kind * (c->n + 1);
    const int64_t *weight = c->o->with_held ? c->chain->held_bytes : c->chain->weight_bytes;
    int32_t device = last_device(c, cell, class), head = 0, tail = 0;
    int64_t room = c->o->capacity_bytes ? c->o->capacity_bytes[device] : INT64_MAX;
    int32_t last = last_end(c, n_used), next = first_end(n_used - 1);
    int64_t *cost = cost_row(c, cell, class);
    uint16_t *choice = choice_row(c, cell, class);
    find_begins(c, cell, n_used, class);
    for (int32_t i = first_end(n_used); i <= last; i++) {
        for (; next < i; next++) {
            while (head < tail && c->begin_ns[c->window[tail - 1]] > c->begin_ns[next])
                tail--;
            c->window[tail++] = next;
        }
        while (head < tail && weight[i] - weight[c->window[head]] > room)
            head++;
        int32_t start = head < tail ? c->window[head] : i;
        bool is_run = start < i && c->begin_ns[start] < NEVER;
        cost[i] = is_run ? c->begin_ns[start] + time[i] : NEVER;
        choice[i] = (uint16_t)((i - start) << CLASS_BITS | c->before[start]);
    }
}

/* Solves the table. *ret_cell and *ret_class: where all ends first; false: there is none. */
static bool solve_table(table *c, int32_t *ret_cell, int32_t *ret_class)
{
    int64_t best = NEVER;
    for (int32_t cell = 1; cell < c->n_cells; cell++) {
        int32_t n_used = 0;
        for (int32_t k = 0; k < c->n_classes; k++)
            n_used += n_used_of(c, cell, k);
        if (n_used > c->n)
            continue;
        for (int32_t k = 0; k < c->n_classes; k++) {
            if (n_used_of(c, cell, k) == 0)
                continue;
            extend_by_class(c, cell, n_used, k);
            if (last_end(c, n_used) == c->n && cost_row(c, cell, k)[c->n] < best) {
                best = cost_row(c, cell, k)[c->n];
                *ret_cell = cell;
                *ret_class = k;
            }
        }
    }
    return best < NEVER;
}

static void read_runs(const table *c, int32_t cell, int32_t class, int32_t *device_of)
{
    for (int32_t end = c->n; end > 0;) {
        uint16_t choice = choice_row(c, cell, class)[end];
        int32_t first = end - (choice >> CLASS_BITS), device = last_device(c, cell, class);
        for (int32_t u = first; u < end; u++)
            device_of[u] = device;
        cell -= c->stride[class];
        class = choice & ((1 << CLASS_BITS) - 1);
        end = first;
    }
}

clv_status clv_cut_any_order(const clv_unit_chain *chain, const clv_cut_options *options,
                             clv_arena *scratch, int32_t *device_of, bool *found, clv_error *err)
{
    clv_mark mark = clv_arena_mark(scratch);
    table c = { .chain = chain, .o = options, .n = chain->p->n_units };
    int32_t cell = 0, class = 0;
    bool is_few;
    *found = false;
    CLV_TRY(open_table(&c, scratch, &is_few, err));
    *found = is_few && solve_table(&c, &cell, &class);
    if (*found)
        read_runs(&c, cell, class, device_of);
    clv_arena_rewind(scratch, mark);
    return CLV_OK;
}
