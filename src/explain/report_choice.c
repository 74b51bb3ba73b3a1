#include "explain/report_choice.h"

#include <math.h>

#include "base/units.h"
#include "explain/table.h"

#define COUNTS_SHOWN 8

static const char *cell_rate(clv_text *text, const clv_plan_alternative *a)
{
    if (a->period_ns <= 0)
        return NULL;
    return clv_text_keep(text,
                         clv_show_number((char[32]){ 0 }, 1e9 * a->copies / (double)a->period_ns));
}

/* How far it is at most from the best plan of its form. */
static const char *cell_gap(clv_text *text, const clv_plan *plan, const clv_plan_alternative *a)
{
    double ns = plan->objective == CLV_THROUGHPUT ? (double)a->period_ns / a->copies
                                                  : (double)a->latency_ns;
    double gap = ns > 0 ? 1 - (double)a->bound_ns / ns : 0;
    if (a->bound_ns <= 0 || ns <= 0)
        return NULL;
    const char *cell = clv_arena_printf(text->arena, gap >= 0.0005 ? "%.1f %%" : "0 %%",
                                        gap > 0 ? ceil(gap * 1e3) / 10 : 0);
    text->failed |= !cell;
    return cell ? cell : "";
}

/* An external compiler does not say how full memory is. */
static bool knows_memory(const clv_plan *plan)
{
    bool any = false;
    for (int32_t i = 0; i < plan->n_alternatives; i++)
        any |= plan->alternatives[i].peak_bytes >= 0;
    return any;
}

static void put_table(const clv_plan *plan, clv_text *text)
{
    static const char *const titles[] = { "plans",   ">devices", ">latency", ">runs/s",
                                          ">memory", ">gap",     "by" };
    static const char *const without[] = {
        "plans", ">devices", ">latency", ">runs/s", ">gap", "by"
    };
    bool memory = knows_memory(plan);
    clv_table table = clv_table_of(memory ? titles : without, memory ? 7 : 6);
    table.whole_names = true; /* options are to be copied */

    for (int32_t i = 0; i < plan->n_alternatives; i++) {
        const clv_plan_alternative *a = &plan->alternatives[i];
        const char *cells[7];
        int32_t n = 0;
        cells[n++] = clv_cell_name(text, a->form);
        cells[n++] = clv_cell_count(text, a->devices);
        cells[n++] = clv_cell_time(text, a->latency_ns);
        cells[n++] = cell_rate(text, a);
        if (memory)
            cells[n++] = clv_cell_memory(text, a->peak_bytes);
        cells[n++] = cell_gap(text, plan, a);
        cells[n++] = i == 0 ? "chosen" : clv_cell_name(text, a->options);
        clv_table_row(&table, text, cells);
    }
    clv_table_write(&table, text);
}

/* "1 device 828 us, 2 devices 782 us, 8 devices 724 us" */
static void put_counts(const clv_plan *plan, clv_text *text)
{
    int32_t first = plan->n_counts > COUNTS_SHOWN ? plan->n_counts - COUNTS_SHOWN : 0;
    const char *all = "";

    if (plan->n_counts == 0)
        return;
    for (int32_t i = first; all && i < plan->n_counts; i++)
        all =
            clv_arena_printf(text->arena, "%s%s%d device%s %s", all, i > first ? ", " : "",
                             (int)plan->counts[i].devices, plan->counts[i].devices == 1 ? "" : "s",
                             clv_show_time((char[32]){ 0 }, plan->counts[i].ns));
    text->failed |= !all;
    if (all)
        clv_text_labelled(text, "by devices", "%s", all);
}

void clv_report_choice(const clv_plan *plan, clv_text *text)
{
    if (plan->n_alternatives <= 1)
        return;
    clv_text_printf(text, "\n");
    put_table(plan, text);
    if (plan->why_chosen)
        clv_text_labelled(text, "chosen", "%s", plan->why_chosen);
    put_counts(plan, text);
}
