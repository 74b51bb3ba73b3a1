#include "api/place_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/json_out.h"
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
    static const cleave_objective public_of[] = { [CLV_PLACE_THROUGHPUT] = CLEAVE_THROUGHPUT,
                                                  [CLV_PLACE_LATENCY] = CLEAVE_LATENCY,
                                                  [CLV_PLACE_DEVICES] = CLEAVE_DEVICES };
    return cleave_objective_name(public_of[objective]);
}

/* By device; the judge's loads. */
static clv_status share_out(const clv_place_problem *p, const clv_place_result *r, clv_arena *arena,
                            share **ret, clv_error *err)
{
    int32_t n = clv_place_devices(p);
    share *shares = CLV_NEW_ARRAY(arena, share, n);
    double *loads = CLV_NEW_ARRAY(arena, double, n);
    if (!shares || !loads)
        return clv_fail_nomem(err, "a report");
    CLV_TRY(clv_place_loads(p, r->solve.solution, arena, loads, err));
    for (int32_t v = 0; v < p->n_nodes; v++) {
        shares[r->solve.solution[v]].nodes++;
        shares[r->solve.solution[v]].bytes += p->bytes[v];
    }
    for (int32_t d = 0; d < n; d++)
        shares[d].load = loads[d];
    *ret = shares;
    return CLV_OK;
}

/* -- for people -- */

static void write_head(clv_text *text, const clv_place_rules *rules, const clv_place_result *r)
{
    clv_text_printf(text, "%s, %s: ", objective_word(rules->objective),
                    rules->contiguous ? "contiguous" : "free");
    if (!r->solve.found) {
        clv_text_printf(
            text, "%s, %s, %.3f s\n",
            clv_toned(text, CLV_TONE_BAD,
                      r->solve.end == CLV_END_INFEASIBLE ? "no solution" : "no solution found"),
            clv_end_words(r->solve.end), r->solve.seconds);
        if (r->solve.why[0])
            clv_text_printf(text, "%s\n", r->solve.why);
        return;
    }
    clv_text_printf(text, "%.15g, %s\n", r->value.objective, clv_end_words(r->solve.end));
    /* nobody wants to see what rounding leaves between two equal numbers */
    double gap = r->solve.end == CLV_END_OPTIMAL ? 0 : clv_solve_gap(&r->solve);
    bool is_wide = gap > CLV_GAP_WIDE;
    clv_text_printf(text, "bound %.12g%s%s%s, %sgap %.2g %%%s, found by %s, %.3f s\n",
                    r->solve.bound.real, r->solve.bound_by[0] ? " (" : "", r->solve.bound_by,
                    r->solve.bound_by[0] ? ")" : "",
                    is_wide ? clv_tone_begin(text, CLV_TONE_LOOK) : "", 100 * gap,
                    is_wide ? clv_tone_end(text) : "", r->solve.found_by, r->solve.seconds);
}

static void write_devices(clv_text *text, const clv_place_problem *p, const share *shares)
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

static clv_status write_text(const clv_place_solved *s, const share *shares, cleave_report *report,
                             clv_error *err)
{
    clv_arena *arena = report->arena;
    clv_text text = { .arena = arena, .form = report->form };
    const char *name = clv_show_name(arena, clv_str_of(s->name));
    if (!name)
        return clv_fail_nomem(err, "a report");
    clv_text_printf(&text, "%s: %d nodes, %d edges, %d devices\n", name, s->problem->n_nodes,
                    s->problem->n_edges, clv_place_devices(s->problem));
    write_head(&text, s->rules, s->result);
    if (s->result->solve.found && s->result->value.n_used > 0)
        write_devices(&text, s->problem, shares);
    report->text = clv_text_end(&text);
    return report->text ? CLV_OK : clv_fail_nomem(err, "a report");
}

/* -- for programs -- */

/* null where there is none, or where it is infinite. */
static void write_value(clv_json_out *out, const char *key, bool known, double value)
{
    if (known)
        clv_json_put_number(out, key, value); /* writes null for infinity */
    else
        clv_json_put_null(out, key);
}

static void write_solution(clv_json_out *out, const clv_place_problem *p, const clv_place_result *r,
                           const share *shares)
{
    clv_json_open_array(out, "devices");
    for (int32_t k = 0, d = 0; k < p->n_kinds; k++) {
        for (int32_t i = 0; i < p->kinds[k].count; i++, d++) {
            clv_json_open_object(out, NULL);
            clv_json_put_int(out, "device", d);
            clv_json_put_string(out, "kind", p->kinds[k].name);
            clv_json_put_number(out, "load", r->solve.found ? shares[d].load : 0);
            clv_json_put_int(out, "bytes", r->solve.found ? shares[d].bytes : 0);
            clv_json_put_int(out, "nodes", r->solve.found ? shares[d].nodes : 0);
            clv_json_close_object(out);
        }
    }
    clv_json_close_array(out);
    clv_json_open_object(out, "assignment");
    for (int32_t v = 0; r->solve.found && v < p->n_nodes; v++) {
        char id[24];
        snprintf(id, sizeof id, "%" PRId64, p->id[v]);
        clv_json_put_int(out, id, r->solve.solution[v]);
    }
    clv_json_close_object(out);
}

static clv_status write_json(const clv_place_solved *s, const share *shares, cleave_report *report,
                             clv_error *err)
{
    clv_json_out out;
    const clv_place_result *result = s->result;
    clv_json_begin(&out, report->arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_string(&out, "workload", s->name);
    clv_json_put_string(&out, "objective_name", objective_word(s->rules->objective));
    clv_json_put_bool(&out, "contiguous", s->rules->contiguous);
    write_value(&out, "max_load", s->rules->max_load > 0, s->rules->max_load);
    clv_json_put_string(&out, "status", clv_end_name(result->solve.end));
    write_value(&out, "objective", result->solve.found, result->value.objective);
    write_value(&out, "bound", true, result->solve.bound.real);
    write_value(&out, "gap", result->solve.found, clv_solve_gap(&result->solve));
    write_value(&out, "time_per_sample", result->solve.found, result->value.max_load);
    write_value(&out, "latency", result->solve.found, result->value.latency);
    clv_json_put_number(&out, "seconds", result->solve.seconds);
    clv_json_put_string(&out, "found_by", result->solve.found_by);
    clv_json_put_string(&out, "bound_by", result->solve.bound_by);
    clv_json_put_string(&out, "reason", result->solve.found ? "" : result->solve.why);
    write_solution(&out, s->problem, result, shares);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    report->json = out.text;
    report->json_size = out.n;
    return CLV_OK;
}

clv_status clv_place_solution_report(const clv_place_solved *s, cleave_report *report,
                                     clv_error *err)
{
    share *shares = NULL;
    if (s->result->solve.found)
        CLV_TRY(share_out(s->problem, s->result, report->arena, &shares, err));
    CLV_TRY(write_text(s, shares, report, err));
    return write_json(s, shares, report, err);
}
