#include "api/place_answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/units.h"
#include "explain/table.h"

/* What one device got. */
typedef struct {
    double load;
    int64_t bytes;
    int32_t nodes;
} share;

static const char *objective_word(clv_place_objective objective)
{
    switch (objective) {
    case CLV_PLACE_THROUGHPUT:
        return "throughput";
    case CLV_PLACE_LATENCY:
        return "latency";
    case CLV_PLACE_DEVICES:
        break;
    }
    return "devices";
}

static const char *end_word(clv_place_end end)
{
    switch (end) {
    case CLV_END_OPTIMAL:
        return "optimal";
    case CLV_END_GAP:
        return "gap";
    case CLV_END_DEADLINE:
        return "deadline";
    case CLV_END_SEARCHED:
        return "searched";
    case CLV_END_STOPPED:
        return "stopped";
    case CLV_END_INFEASIBLE:
        break;
    }
    return "infeasible";
}

static const char *end_sentence(clv_place_end end)
{
    switch (end) {
    case CLV_END_OPTIMAL:
        return "proven optimal";
    case CLV_END_GAP:
        return "near enough, as asked";
    case CLV_END_DEADLINE:
        return "stopped at the deadline";
    case CLV_END_SEARCHED:
        return "searched to the end of the budget";
    case CLV_END_STOPPED:
        return "stopped";
    case CLV_END_INFEASIBLE:
        break;
    }
    return "proven infeasible";
}

static double gap_of(const clv_place_result *r)
{
    double left = r->value.objective - r->bound;
    return r->value.objective > 0 && left > 0 ? left / r->value.objective : 0;
}

/* By device; the judge's loads. */
static clv_status share_out(const clv_place_problem *p, const clv_place_options *o,
                            const clv_place_result *r, clv_arena *arena, share **ret,
                            clv_error *err)
{
    clv_place_value value;
    int32_t n = clv_place_devices(p);
    share *shares = CLV_NEW_ARRAY(arena, share, n);
    double *loads = CLV_NEW_ARRAY(arena, double, n);
    if (!shares || !loads)
        return clv_fail_nomem(err, "a report");
    CLV_TRY(clv_place_judge(p, &o->rules, r->device_of, arena, &value, loads, err));
    for (int32_t v = 0; v < p->n_nodes; v++) {
        shares[r->device_of[v]].nodes++;
        shares[r->device_of[v]].bytes += p->bytes[v];
    }
    for (int32_t d = 0; d < n; d++)
        shares[d].load = loads[d];
    *ret = shares;
    return CLV_OK;
}

/* -- for people -- */

static void put_head(clv_text *text, const clv_place_options *o, const clv_place_result *r)
{
    clv_text_printf(text, "%s, %s: ", objective_word(o->rules.objective),
                    o->rules.contiguous ? "contiguous" : "free");
    if (!r->found) {
        clv_text_printf(text, "%s%s%s, %.3f s\n",
                        r->end == CLV_END_INFEASIBLE ? "no answer, " : "no answer found, ",
                        end_sentence(r->end), "", r->seconds);
        if (r->why[0])
            clv_text_printf(text, "%s\n", r->why);
        return;
    }
    clv_text_printf(text, "%.15g, %s\n", r->value.objective, end_sentence(r->end));
    /* nobody wants to see what rounding leaves between two equal numbers */
    double gap = r->end == CLV_END_OPTIMAL ? 0 : gap_of(r);
    clv_text_printf(text, "bound %.12g%s%s%s, gap %.2g %%, found by %s, %.3f s\n", r->bound,
                    r->bound_by[0] ? " (" : "", r->bound_by, r->bound_by[0] ? ")" : "", 100 * gap,
                    r->found_by, r->seconds);
}

static void put_devices(clv_text *text, const clv_place_problem *p, const share *shares)
{
    static const char *const titles[] = { "device", ">load", ">nodes", ">memory", ">of" };
    clv_table table = clv_table_of(titles, 5);
    clv_text_printf(text, "\n");
    for (int32_t k = 0, d = 0; k < p->n_kinds; k++) {
        for (int32_t i = 0; i < p->kinds[k].count; i++, d++) {
            char name[64], load[40], nodes[20], bytes[32], room[32] = "-";
            if (shares[d].nodes == 0)
                continue;
            snprintf(name, sizeof name, "%d %s", d, p->kinds[k].name);
            snprintf(load, sizeof load, "%.9g", shares[d].load);
            snprintf(nodes, sizeof nodes, "%d", shares[d].nodes);
            clv_show_bytes(bytes, shares[d].bytes);
            if (p->kinds[k].capacity_bytes >= 0)
                clv_show_bytes(room, p->kinds[k].capacity_bytes);
            const char *cells[] = { clv_text_keep(text, name), clv_text_keep(text, load),
                                    clv_text_keep(text, nodes), clv_text_keep(text, bytes),
                                    clv_text_keep(text, room) };
            clv_table_row(&table, text, cells);
        }
    }
    clv_table_write(&table, text);
}

clv_status clv_place_text(const clv_place_problem *p, const clv_place_options *options,
                          const clv_place_result *result, const char *workload, clv_arena *arena,
                          const char **ret, clv_error *err)
{
    clv_text text = { .arena = arena };
    share *shares;
    const char *name = clv_show_name(arena, clv_str_of(workload));
    if (!name)
        return clv_fail_nomem(err, "a report");
    clv_text_printf(&text, "%s: %d nodes, %d edges, %d devices\n", name, p->n_nodes, p->n_edges,
                    clv_place_devices(p));
    put_head(&text, options, result);
    if (result->found) {
        CLV_TRY(share_out(p, options, result, arena, &shares, err));
        if (result->value.n_used > 0)
            put_devices(&text, p, shares);
    }
    *ret = clv_text_end(&text);
    return *ret ? CLV_OK : clv_fail_nomem(err, "a report");
}

/* -- for programs -- */

/* null where there is none, or where it is infinite. */
static void put_value(clv_json_out *out, const char *key, bool known, double value)
{
    if (known)
        clv_json_put_number(out, key, value); /* writes null for infinity */
    else
        clv_json_put_null(out, key);
}

static void put_answer(clv_json_out *out, const clv_place_problem *p, const clv_place_result *r,
                       const share *shares)
{
    clv_json_open_array(out, "devices");
    for (int32_t k = 0, d = 0; k < p->n_kinds; k++) {
        for (int32_t i = 0; i < p->kinds[k].count; i++, d++) {
            clv_json_open_object(out, NULL);
            clv_json_put_int(out, "device", d);
            clv_json_put_string(out, "kind", p->kinds[k].name);
            clv_json_put_number(out, "load", r->found ? shares[d].load : 0);
            clv_json_put_int(out, "bytes", r->found ? shares[d].bytes : 0);
            clv_json_put_int(out, "nodes", r->found ? shares[d].nodes : 0);
            clv_json_close_object(out);
        }
    }
    clv_json_close_array(out);
    clv_json_open_object(out, "assignment");
    for (int32_t v = 0; r->found && v < p->n_nodes; v++) {
        char id[24];
        snprintf(id, sizeof id, "%" PRId64, p->id[v]);
        clv_json_put_int(out, id, r->device_of[v]);
    }
    clv_json_close_object(out);
}

clv_status clv_place_json(const clv_place_problem *p, const clv_place_options *options,
                          const clv_place_result *result, const char *workload, clv_arena *arena,
                          const char **ret, size_t *ret_n, clv_error *err)
{
    clv_json_out out;
    share *shares = NULL;
    if (result->found)
        CLV_TRY(share_out(p, options, result, arena, &shares, err));
    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_string(&out, "workload", workload);
    clv_json_put_string(&out, "objective_name", objective_word(options->rules.objective));
    clv_json_put_bool(&out, "contiguous", options->rules.contiguous);
    put_value(&out, "max_load", options->rules.max_load > 0, options->rules.max_load);
    clv_json_put_string(&out, "status", end_word(result->end));
    put_value(&out, "objective", result->found, result->value.objective);
    put_value(&out, "bound", true, result->bound);
    put_value(&out, "gap", result->found, gap_of(result));
    put_value(&out, "time_per_sample", result->found, result->value.max_load);
    put_value(&out, "latency", result->found, result->value.latency);
    clv_json_put_number(&out, "seconds", result->seconds);
    clv_json_put_string(&out, "found_by", result->found_by);
    clv_json_put_string(&out, "bound_by", result->bound_by);
    clv_json_put_string(&out, "reason", result->found ? "" : result->why);
    put_answer(&out, p, result, shares);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    *ret = out.text;
    *ret_n = out.n;
    return CLV_OK;
}
