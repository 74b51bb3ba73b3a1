#include "explain/report_time.h"

#include <stdlib.h>
#include <string.h>

#include "explain/report_devices.h"
#include "explain/table.h"

#define KERNELS_SHOWN 10
#define KINDS_MAX     16 /* of kernels and of collectives there are fewer */

/* Kernels that are added up, or one of several that are alike. */
typedef struct {
    const clv_plan_kernel *first;
    int32_t n;
    int64_t ns[CLV_N_TIME_CAUSES], basis_ns[CLV_N_BASES];
} total;

static int64_t sum_of(const int64_t *ns, int32_t n)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum = ns[i] > INT64_MAX - sum ? INT64_MAX : sum + ns[i];
    return sum;
}

static int64_t time_of(const total *t) { return sum_of(t->ns, CLV_N_TIME_CAUSES); }

static void add_all(int64_t *to, const int64_t *from, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        to[i] = sum_of((int64_t[]){ to[i], from[i] }, 2);
}

static void add(total *t, const clv_plan_kernel *k)
{
    t->first = t->first ? t->first : k;
    t->n++;
    add_all(t->ns, k->ns, CLV_N_TIME_CAUSES);
    add_all(t->basis_ns, k->basis_ns, CLV_N_BASES);
}

static int32_t largest(const int64_t *ns, int32_t n)
{
    int32_t most = 0;
    for (int32_t i = 1; i < n; i++)
        most = ns[i] > ns[most] ? i : most;
    return most;
}

static const char *cell_share(clv_text *text, int64_t part, int64_t whole)
{
    const char *cell =
        whole > 0 ? clv_arena_printf(text->arena, "%.1f %%", 100 * (double)part / (double)whole)
                  : "";
    text->failed |= !cell;
    return cell ? cell : "";
}

/* What most of it rests on, and how much that is where it is not all. */
static const char *cell_basis(clv_text *text, const int64_t *basis_ns)
{
    int64_t all = sum_of(basis_ns, CLV_N_BASES);
    int32_t most = largest(basis_ns, CLV_N_BASES);
    const char *name = clv_basis_name((clv_basis)most);
    if (all == 0)
        return "";
    if (basis_ns[most] > all - all / 200) /* of what is shown as 100 % */
        return name;
    const char *cell = clv_arena_printf(text->arena, "%.0f %% %s",
                                        100 * (double)basis_ns[most] / (double)all, name);
    text->failed |= !cell;
    return cell ? cell : "";
}

/* -- by device -- */

/* How long a device has for one run; 0: not known. */
static int64_t run_of(const clv_plan *plan)
{
    return plan->objective == CLV_THROUGHPUT && plan->period_ns > 0 ? plan->period_ns
                                                                    : plan->latency_ns;
}

/* -- by kind -- */

/* More time first; then as in the plan. */
static int by_time(const void *a, const void *b)
{
    const total *x = a, *y = b;
    int64_t x_ns = time_of(x), y_ns = time_of(y);
    if (x_ns != y_ns)
        return x_ns < y_ns ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static int32_t find_kinds(const clv_plan *plan, total kinds[static KINDS_MAX])
{
    int32_t n = 0;
    for (int32_t i = 0; i < plan->n_kernels; i++) {
        const clv_plan_kernel *k = &plan->kernels[i];
        int32_t at = 0;
        while (at < n && strcmp(kinds[at].first->kind, k->kind) != 0)
            at++;
        if (at == KINDS_MAX)
            continue;
        if (at == n)
            kinds[n++] = (total){ .n = 0 };
        add(&kinds[at], k);
    }
    qsort(kinds, (size_t)n, sizeof *kinds, by_time);
    return n;
}

/* -- both -- */

typedef struct {
    const clv_plan *plan;
    clv_text *text;
    clv_table table;
    bool waits; /* for the host: a column more */
} causes;

/* By cause, in a row; idle and host "": of kinds, which have neither. NULL: there was no memory. */
static void put_causes(causes *c, const char *name, const total *t, const char *idle,
                       const char *host, int64_t all)
{
    const char *cells[8] = { name };
    bool of_kind = idle && !*idle;
    for (int32_t i = 0; i < CLV_N_TIME_CAUSES; i++)
        cells[1 + i] = t->ns[i] > 0 || !of_kind ? clv_cell_time(c->text, t->ns[i]) : "";
    cells[5] = idle;
    cells[6] = host;
    cells[c->waits ? 7 : 6] = clv_cell_time(c->text, all);
    clv_table_row(&c->table, c->text, cells);
}

static void put_devices(causes *c)
{
    const clv_plan *plan = c->plan;
    total *of = CLV_NEW_ARRAY(c->text->arena, total, plan->n_devices);
    c->text->failed |= !of;
    for (int32_t i = 0; of && i < plan->n_kernels; i++)
        add(&of[plan->kernels[i].device], &plan->kernels[i]);
    for (int32_t d = 0; of && d < plan->n_devices; d++) {
        int64_t run = run_of(plan), known = time_of(&of[d]) + plan->host_ns;
        if (!clv_report_is_shown(plan, d))
            continue;
        put_causes(c, clv_report_devices_name(plan, d, c->text), &of[d],
                   clv_cell_time(c->text, run > known ? run - known : 0),
                   clv_cell_time(c->text, plan->host_ns), run > known ? run : known);
    }
}

/* Where time goes: of devices, then of kinds of kernels on all of them. */
static void put_time(const clv_plan *plan, const total *kinds, int32_t n, clv_text *text)
{
    static const char *const titles[] = { "time",           ">compute", ">memory", ">launch",
                                          ">communication", ">idle",    ">all" };
    static const char *const with_host[] = { "time",           ">compute", ">memory", ">launch",
                                             ">communication", ">idle",    ">host",   ">all" };
    bool waits = plan->host_ns > 0;
    causes c = { plan, text, clv_table_of(waits ? with_host : titles, waits ? 8 : 7), waits };
    put_devices(&c);
    for (int32_t i = 0; i < n; i++)
        put_causes(&c, clv_cell_name(text, kinds[i].first->kind), &kinds[i], "", "",
                   time_of(&kinds[i]));
    clv_text_printf(text, "\n");
    clv_table_write(&c.table, text);
}

static void put_kinds(const total *kinds, int32_t n, int64_t all, clv_text *text)
{
    static const char *const titles[] = { "kernels", ">number", ">share", "rests on" };
    clv_table table = clv_table_of(titles, 4);
    for (int32_t i = 0; i < n; i++)
        clv_table_row(&table, text,
                      (const char *[]){ clv_cell_name(text, kinds[i].first->kind),
                                        clv_cell_count(text, kinds[i].n),
                                        cell_share(text, time_of(&kinds[i]), all),
                                        cell_basis(text, kinds[i].basis_ns) });
    clv_text_printf(text, "\n");
    clv_table_write(&table, text);
}

/* -- the dearest -- */

/* Alike but for their names, as layers repeat: 0. */
static int compare_kernels(const clv_plan_kernel *x, const clv_plan_kernel *y)
{
    for (int32_t c = 0; c < CLV_N_TIME_CAUSES; c++)
        if (x->ns[c] != y->ns[c])
            return x->ns[c] < y->ns[c] ? 1 : -1;
    if (x->n_ops != y->n_ops)
        return x->n_ops < y->n_ops ? 1 : -1;
    return strcmp(x->kind, y->kind);
}

static int by_likeness(const void *a, const void *b)
{
    const clv_plan_kernel *x = *(const clv_plan_kernel *const *)a;
    const clv_plan_kernel *y = *(const clv_plan_kernel *const *)b;
    int order = compare_kernels(x, y);
    return order ? order : (x > y) - (x < y);
}

/* Groups of alike kernels, the ones that take most time together first. */
static int32_t find_groups(const clv_plan *plan, clv_arena *arena, total **ret)
{
    int32_t n = plan->n_kernels, n_groups = 0;
    const clv_plan_kernel **at = CLV_NEW_ARRAY(arena, const clv_plan_kernel *, n);
    total *groups = CLV_NEW_ARRAY(arena, total, n);
    if (!at || !groups)
        return -1;
    for (int32_t i = 0; i < n; i++)
        at[i] = &plan->kernels[i];
    qsort(at, (size_t)n, sizeof *at, by_likeness);
    for (int32_t i = 0; i < n; i++) {
        n_groups += i == 0 || compare_kernels(at[i - 1], at[i]) != 0;
        add(&groups[n_groups - 1], at[i]);
    }
    qsort(groups, (size_t)n_groups, sizeof *groups, by_time);
    *ret = groups;
    return n_groups;
}

static void put_dearest(const clv_plan *plan, int64_t all, clv_text *text)
{
    static const char *const titles[] = { "dearest kernels", "kind",   ">number",
                                          ">each",           ">share", "bound by" };
    clv_table table = clv_table_of(titles, 6);
    total *groups = NULL;
    int32_t n = find_groups(plan, text->arena, &groups);
    text->failed |= n < 0;
    for (int32_t i = 0; i < n && i < KERNELS_SHOWN; i++) {
        const total *g = &groups[i];
        int32_t cause = largest(g->ns, CLV_N_TIME_CAUSES);
        clv_table_row(
            &table, text,
            (const char *[]){ clv_cell_name(text, g->first->name),
                              clv_cell_short(text, g->first->kind), clv_cell_count(text, g->n),
                              clv_cell_time(text, sum_of(g->first->ns, CLV_N_TIME_CAUSES)),
                              cell_share(text, time_of(g), all),
                              clv_time_cause_name((clv_time_cause)cause) });
    }
    clv_text_printf(text, "\n");
    clv_table_write(&table, text);
}

/* -- all -- */

static total sum_kernels(const clv_plan *plan)
{
    total all = { .n = 0 };
    for (int32_t i = 0; i < plan->n_kernels; i++)
        add(&all, &plan->kernels[i]);
    return all;
}

void clv_report_time(const clv_plan *plan, clv_text *text)
{
    total all = sum_kernels(plan);
    if (plan->n_kernels == 0)
        return;
    total kinds[KINDS_MAX];
    int32_t n = find_kinds(plan, kinds);
    put_time(plan, kinds, n, text);
    put_kinds(kinds, n, time_of(&all), text);
    put_dearest(plan, time_of(&all), text);
}

void clv_report_basis(const clv_plan *plan, clv_text *text)
{
    total all = sum_kernels(plan);
    int32_t n_kernels = 0, n_ops = 0;
    for (int32_t i = 0; i < plan->n_kernels; i++) {
        n_kernels += plan->kernels[i].n_ops > 0;
        n_ops += plan->kernels[i].n_ops;
    }
    if (plan->n_kernels == 0)
        return;
    clv_text_printf(text, "kernels     %d of %d operators that take time, by runtime %s\n",
                    (int)n_kernels, (int)n_ops, clv_cell_short(text, plan->runtime));
    const char *before = "rests on    ";
    for (int32_t b = CLV_N_BASES; b-- > 0;)
        if (all.basis_ns[b] > 0) {
            clv_text_printf(text, "%s%s %s", before, clv_basis_name((clv_basis)b),
                            cell_share(text, all.basis_ns[b], time_of(&all)));
            before = ", ";
        }
    clv_text_printf(text, " of the time\n");
}
