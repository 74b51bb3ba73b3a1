#include "calibrate/measured_json.h"

#include "base/json_out.h"
#include "calibrate/table_fit.h"

#define US_PER_NS    1e-3
#define DIGITS       3 /* of times: what the fit gives */
#define ERROR_DIGITS 2
#define ERROR_MOST   1e6 /* that a file may hold */

static void put_subject(clv_json_out *out, const clv_timed_table *t)
{
    clv_json_put_string(out, "kernel", clv_timed_kind_of(t->kind)->name);
    if (clv_timed_kind_of(t->kind)->typed) {
        clv_json_put_string(out, "dtype", clv_dtype_name(t->dtype));
        clv_json_put_string(out, "weights", clv_dtype_name(t->weights));
    }
    if (t->kind == CLV_TIMED_COLLECTIVE) {
        clv_json_put_string(out, "operation", clv_timed_operation_name(t->operation));
        clv_json_put_int(out, "devices", t->devices);
    }
    if (t->library)
        clv_json_put_string(out, "library", t->library);
    if (t->source)
        clv_json_put_string(out, "source", t->source);
}

static void put_error(clv_json_out *out, const char *key, double error)
{
    clv_json_put_number(out, key,
                        clv_round_digits(error < ERROR_MOST ? error : ERROR_MOST, ERROR_DIGITS));
}

/* On one line, whatever is around it. */
static void put_table(clv_json_out *out, const clv_timed_table *t)
{
    const clv_grid *grid = &t->table.grid;
    clv_json_open_object(out, NULL);
    out->pretty = false;
    put_subject(out, t);
    clv_json_open_object(out, "axes");
    for (int32_t a = 0; a < grid->n_axes; a++) {
        clv_json_open_array(out, clv_timed_kind_of(t->kind)->axes[a]);
        for (int32_t i = 0; i < grid->axes[a].n; i++)
            clv_json_put_number(out, NULL, grid->axes[a].knots[i]);
        clv_json_close_array(out);
    }
    clv_json_close_object(out);
    clv_json_open_array(out, "us");
    for (int32_t i = 0; i < grid->n; i++)
        clv_json_put_number(out, NULL, clv_round_digits(t->table.ns[i] * US_PER_NS, DIGITS));
    clv_json_close_array(out);
    clv_json_put_int(out, "rows", t->rows);
    if (t->median_error >= 0) {
        clv_json_open_object(out, "error");
        put_error(out, "median", t->median_error);
        put_error(out, "p95", t->p95_error);
        clv_json_close_object(out);
    }
    clv_json_close_object(out);
    out->pretty = true;
}

clv_status clv_measured_json(const clv_kernel_times *times, clv_arena *arena, const char **ret_text,
                             size_t *ret_n, clv_error *err)
{
    clv_json_out out;
    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_string(&out, "$schema", "../schema/measured.schema.json");
    clv_json_put_int(&out, "version", 1);
    clv_json_put_string(&out, "name", times->name);
    clv_json_put_string(&out, "source", times->source);
    clv_json_put_string(&out, "date", times->date);
    clv_json_open_array(&out, "tables");
    for (int32_t i = 0; i < times->n; i++)
        put_table(&out, &times->at[i]);
    clv_json_close_array(&out);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    *ret_text = out.text;
    *ret_n = out.n;
    return CLV_OK;
}
