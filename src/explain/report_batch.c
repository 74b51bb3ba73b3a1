#include "explain/report_batch.h"

#include "base/units.h"
#include "explain/table.h"

static const char *cell_rate(clv_text *text, const clv_plan_batch *b)
{
    if (b->outcome != CLV_FITS || b->ns <= 0)
        return NULL;
    return clv_text_keep(text, clv_show_number((char[32]){ 0 }, clv_plan_samples_per_s(b)));
}

static const char *cell_outcome(const clv_plan *plan, const clv_plan_batch *b)
{
    switch (b->outcome) {
    case CLV_FITS:
        return b->size == plan->batch ? "chosen" : "fits";
    case CLV_OOM:
        return "does not fit";
    case CLV_LATE:
        return "too slow";
    case CLV_FAILED:
    case CLV_INFEASIBLE:
        break;
    }
    return "no plan";
}

void clv_report_batch(const clv_plan *plan, clv_text *text)
{
    static const char *const titles[] = { "batches", ">devices", ">latency", ">samples/s",
                                          ">memory", "form",     "result" };
    clv_table table = clv_table_of(titles, 7);

    if (!plan->batch_symbol)
        return;
    for (int32_t i = 0; i < plan->n_batches; i++) {
        const clv_plan_batch *b = &plan->batches[i];
        clv_table_row(&table, text,
                      (const char *[]){
                          clv_cell_count(text, b->size), clv_cell_count(text, b->devices),
                          b->latency_ns > 0 ? clv_cell_time(text, b->latency_ns) : NULL,
                          cell_rate(text, b), clv_cell_memory(text, b->peak_bytes),
                          b->form ? clv_cell_name(text, b->form) : NULL, cell_outcome(plan, b) });
    }
    clv_text_printf(text, "\n");
    clv_table_write(&table, text);
    clv_text_labelled(text, "batch", "%s: %s", clv_cell_name(text, plan->batch_symbol),
                      clv_cell_name(text, plan->why_batch));
}
