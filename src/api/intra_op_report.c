#include "api/intra_op_report.h"

#include "base/json_out.h"
#include "explain/text.h"

/* -- for people -- */

static void write_solution(clv_text *text, const clv_intra_op_problem *p,
                           const clv_intra_op_result *r)
{
    char cost[CLV_INT128_TEXT], bound[CLV_INT128_TEXT], peak[CLV_INT128_TEXT];
    clv_text_printf(text, "cost %s, %s\n", clv_int128_text(cost, r->value.cost),
                    clv_end_words(r->solve.end));
    bool is_wide = clv_solve_gap(&r->solve) > CLV_GAP_WIDE;
    clv_text_printf(text, "bound %s%s%s%s, %sgap %.3g %%%s, found by %s, %.3f s\n",
                    clv_int128_text(bound, r->solve.bound.whole), r->solve.bound_by[0] ? " (" : "",
                    r->solve.bound_by, r->solve.bound_by[0] ? ")" : "",
                    is_wide ? clv_tone_begin(text, CLV_TONE_LOOK) : "",
                    100 * clv_solve_gap(&r->solve), is_wide ? clv_tone_end(text) : "",
                    r->solve.found_by, r->solve.seconds);
    clv_text_printf(text, "memory peak %s at time %lld", clv_int128_text(peak, r->value.peak),
                    (long long)r->value.peak_at);
    if (p->usage_limit > 0)
        clv_text_printf(text, ", %.1f %% of the limit",
                        100 * (double)r->value.peak / (double)p->usage_limit);
    clv_text_printf(text, "\n");
    if (r->value.nevers > 0)
        clv_text_printf(text, "%lld of its costs are 10^18 or more, which stands for never\n",
                        (long long)r->value.nevers);
}

static clv_status write_text(const clv_intra_op_problem *p, const clv_intra_op_result *r,
                             const char *file, cleave_report *report, clv_error *err)
{
    clv_arena *arena = report->arena;
    clv_text text = { .arena = arena, .form = report->form };
    const char *name = clv_show_name(arena, clv_str_of(file));
    if (!name)
        return clv_fail_nomem(err, "a report");
    clv_text_printf(&text, "%s: %d nodes, %d edges, %d choices, ", name, p->n_nodes, p->n_edges,
                    p->first_choice[p->n_nodes]);
    if (p->usage_limit == CLV_INTRA_OP_UNLIMITED)
        clv_text_printf(&text, "no memory limit\n");
    else
        clv_text_printf(&text, "memory limit %lld\n", (long long)p->usage_limit);
    if (r->solve.found) {
        write_solution(&text, p, r);
    } else {
        clv_text_printf(
            &text, "%s, %s, %.3f s\n",
            clv_toned(&text, CLV_TONE_BAD,
                      r->solve.end == CLV_END_INFEASIBLE ? "no solution" : "no solution found"),
            clv_end_words(r->solve.end), r->solve.seconds);
        if (r->solve.why[0])
            clv_text_printf(&text, "%s\n", r->solve.why);
    }
    report->text = clv_text_end(&text);
    return report->text ? CLV_OK : clv_fail_nomem(err, "a report");
}

/* -- for programs -- */

/* As text: readers of JSON that know doubles alone would round it. */
static void write_int128(clv_json_out *out, const char *key, bool known, clv_int128 value)
{
    char digits[CLV_INT128_TEXT];
    clv_json_put_string(out, key, known ? clv_int128_text(digits, value) : NULL);
}

static clv_status write_json(const clv_intra_op_problem *p, const clv_intra_op_result *r,
                             const char *file, cleave_report *report, clv_error *err)
{
    clv_json_out out;
    bool held = r->solve.found && r->value.peak > 0;
    clv_json_begin(&out, report->arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_string(&out, "problem", file);
    clv_json_put_string(&out, "name", p->name);
    clv_json_put_int(&out, "nodes", p->n_nodes);
    clv_json_put_int(&out, "edges", p->n_edges);
    clv_json_put_int(&out, "choices", p->first_choice[p->n_nodes]);
    write_int128(&out, "usage_limit", p->usage_limit != CLV_INTRA_OP_UNLIMITED, p->usage_limit);
    clv_json_put_string(&out, "status", clv_end_name(r->solve.end));
    write_int128(&out, "cost", r->solve.found, r->value.cost);
    write_int128(&out, "bound", r->solve.end != CLV_END_INFEASIBLE, r->solve.bound.whole);
    if (r->solve.found)
        clv_json_put_number(&out, "gap", clv_solve_gap(&r->solve));
    else
        clv_json_put_null(&out, "gap");
    write_int128(&out, "peak", r->solve.found, r->value.peak);
    write_int128(&out, "peak_at", held, r->value.peak_at);
    clv_json_put_int(&out, "nevers", r->solve.found ? r->value.nevers : 0);
    clv_json_put_number(&out, "seconds", r->solve.seconds);
    clv_json_put_string(&out, "found_by", r->solve.found ? r->solve.found_by : "");
    clv_json_put_string(&out, "bound_by", r->solve.bound_by);
    clv_json_put_string(&out, "reason", r->solve.found ? "" : r->solve.why);
    clv_json_put_ints(&out, "solution", r->solve.solution, r->solve.found ? p->n_nodes : 0);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    report->json = out.text;
    report->json_size = out.n;
    return CLV_OK;
}

clv_status clv_intra_op_solution_report(const clv_intra_op_problem *p, const clv_intra_op_result *r,
                                        const char *file, cleave_report *report, clv_error *err)
{
    CLV_TRY(write_text(p, r, file, report, err));
    return write_json(p, r, file, report, err);
}
