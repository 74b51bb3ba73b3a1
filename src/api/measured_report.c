#include "api/measured_report.h"

#include <stdio.h>

#include "base/json_out.h"
#include "explain/table.h"

/* -- for people -- */

static void write_head(clv_text *text, const clv_measured_report *r)
{
    int32_t numbers = 0;
    for (int32_t i = 0; i < r->times->n; i++)
        numbers += r->times->at[i].table.grid.n;
    clv_text_printf(text, "%s: %d tables of %d times, %s %d measured times of %s\n",
                    clv_cell_str(text, clv_str_of(r->device)), (int)r->times->n, (int)numbers,
                    r->fitted ? "fitted to" : "held against", (int)r->rows,
                    clv_cell_str(text, clv_str_of(r->folder)));
    if (r->path)
        clv_text_printf(text, "written to %s\n", clv_cell_str(text, clv_str_of(r->path)));
    clv_text_printf(text, "%s\n\n",
                    r->fitted ? "errors on every fifth row, of tables that were fitted without it"
                              : "errors on all rows that a table is for");
}

/* A part as per cent. */
static const char *cell_part(clv_text *text, double part, int digits)
{
    char shown[32];
    snprintf(shown, sizeof shown, "%.*f %%", digits, 100 * part);
    return clv_text_keep(text, shown);
}

static void write_row(clv_table *table, clv_text *text, const clv_measured_error *e)
{
    char types[64];
    snprintf(types, sizeof types, "%s%s%s", clv_dtype_name(e->dtype),
             e->dtype == e->weights ? "" : ", ",
             e->dtype == e->weights ? "" : clv_dtype_name(e->weights));
    const char *of = e->dtype != CLV_DT_UNDEFINED ? types : e->library ? e->library : "";
    const char *cells[] = { clv_timed_kind_of(e->kind)->name, clv_cell_str(text, clv_str_of(of)),
                            clv_cell_count(text, e->rows),    cell_part(text, e->median, 1),
                            cell_part(text, e->p95, 1),       cell_part(text, e->worst, 0) };
    clv_table_row(table, text, cells);
}

static clv_status write_text(const clv_measured_report *r, cleave_report *report, clv_error *err)
{
    static const char *const titles[] = { "kernel", "of", ">rows", ">median", ">95 %", ">worst" };
    clv_text text = { .arena = report->arena, .form = report->form };
    clv_table table = clv_table_of(titles, 6);
    table.whole_names = true;
    write_head(&text, r);
    for (int32_t i = 0; i < r->errors->n; i++)
        write_row(&table, &text, &r->errors->at[i]);
    clv_table_write(&table, &text);
    report->text = clv_text_end(&text);
    return report->text ? CLV_OK : clv_fail_nomem(err, "a report");
}

/* -- for programs -- */

static void put_error(clv_json_out *out, const clv_measured_error *e)
{
    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "kernel", clv_timed_kind_of(e->kind)->name);
    if (e->dtype != CLV_DT_UNDEFINED) {
        clv_json_put_string(out, "dtype", clv_dtype_name(e->dtype));
        clv_json_put_string(out, "weights", clv_dtype_name(e->weights));
    }
    if (e->library)
        clv_json_put_string(out, "library", e->library);
    clv_json_put_int(out, "rows", e->rows);
    clv_json_put_number(out, "median", e->median);
    clv_json_put_number(out, "p95", e->p95);
    clv_json_put_number(out, "worst", e->worst);
    clv_json_close_object(out);
}

clv_status clv_report_measured(const clv_measured_report *r, cleave_report *report, clv_error *err)
{
    clv_json_out out;
    CLV_TRY(write_text(r, report, err));
    clv_json_begin(&out, report->arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_string(&out, "device", r->device);
    clv_json_put_string(&out, "folder", r->folder);
    clv_json_put_string(&out, "measured", r->path);
    clv_json_put_bool(&out, "fitted", r->fitted);
    clv_json_put_int(&out, "rows", r->rows);
    clv_json_put_int(&out, "tables", r->times->n);
    clv_json_open_array(&out, "errors");
    for (int32_t i = 0; i < r->errors->n; i++)
        put_error(&out, &r->errors->at[i]);
    clv_json_close_array(&out);
    clv_json_put_number(&out, "seconds", r->seconds);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    report->json = out.text;
    report->json_size = out.n;
    return CLV_OK;
}
