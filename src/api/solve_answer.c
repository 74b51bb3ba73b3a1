#include "api/solve_answer.h"

#include "base/json.h"
#include "explain/text.h"

const char *clv_solve_end_word(clv_intra_op_end end)
{
    switch (end) {
    case CLV_SOLVED_OPTIMAL:
        return "optimal";
    case CLV_SOLVED_ENOUGH: /* asked for by the library itself only */
    case CLV_SOLVED_GAP:
        return "gap";
    case CLV_SOLVED_DEADLINE:
        return "deadline";
    case CLV_SOLVED_SEARCHED:
        return "searched";
    case CLV_SOLVED_STOPPED:
        return "stopped";
    case CLV_SOLVED_INFEASIBLE:
        break;
    }
    return "infeasible";
}

static const char *end_sentence(clv_intra_op_end end)
{
    switch (end) {
    case CLV_SOLVED_OPTIMAL:
        return "proven optimal";
    case CLV_SOLVED_ENOUGH: /* asked for by the library itself only */
    case CLV_SOLVED_GAP:
        return "near enough, as asked";
    case CLV_SOLVED_DEADLINE:
        return "stopped at the deadline";
    case CLV_SOLVED_SEARCHED:
        return "searched to the end of the budget";
    case CLV_SOLVED_STOPPED:
        return "stopped";
    case CLV_SOLVED_INFEASIBLE:
        break;
    }
    return "proven infeasible";
}

double clv_solve_gap(const clv_intra_op_result *r)
{
    clv_int128 left = r->value.cost - r->bound;
    return left > 0 ? (double)left / (double)r->value.cost : 0;
}

/* -- for people -- */

static void put_limit(clv_text *text, const clv_intra_op_problem *p)
{
    if (p->usage_limit == CLV_INTRA_OP_UNLIMITED)
        clv_text_printf(text, "no memory limit\n");
    else
        clv_text_printf(text, "memory limit %lld\n", (long long)p->usage_limit);
}

static void put_peak(clv_text *text, const clv_intra_op_problem *p, const clv_intra_op_value *value)
{
    char peak[CLV_INT128_TEXT];
    clv_text_printf(text, "memory peak %s at time %lld", clv_int128_text(peak, value->peak),
                    (long long)value->peak_at);
    if (p->usage_limit > 0)
        clv_text_printf(text, ", %.1f %% of the limit",
                        100 * (double)value->peak / (double)p->usage_limit);
    clv_text_printf(text, "\n");
}

static void put_answer(clv_text *text, const clv_intra_op_problem *p, const clv_intra_op_result *r)
{
    char cost[CLV_INT128_TEXT], bound[CLV_INT128_TEXT];
    clv_text_printf(text, "cost %s, %s\n", clv_int128_text(cost, r->value.cost),
                    end_sentence(r->end));
    clv_text_printf(text, "bound %s%s%s%s, gap %.3g %%, found by %s, %.3f s\n",
                    clv_int128_text(bound, r->bound), r->bound_by[0] ? " (" : "", r->bound_by,
                    r->bound_by[0] ? ")" : "", 100 * clv_solve_gap(r), r->found_by, r->seconds);
    put_peak(text, p, &r->value);
    if (r->value.nevers > 0)
        clv_text_printf(text, "%lld of its costs are 10^18 or more, which stands for never\n",
                        (long long)r->value.nevers);
}

clv_status clv_solve_text(const clv_intra_op_problem *p, const clv_intra_op_result *r,
                          const char *file, clv_arena *arena, const char **ret, clv_error *err)
{
    clv_text text = { .arena = arena };
    const char *name = clv_show_name(arena, clv_str_of(file));
    if (!name)
        return clv_fail_nomem(err, "a report");
    clv_text_printf(&text, "%s: %d nodes, %d edges, %d choices, ", name, p->n_nodes, p->n_edges,
                    p->first_choice[p->n_nodes]);
    put_limit(&text, p);
    if (r->found) {
        put_answer(&text, p, r);
    } else {
        clv_text_printf(&text, "no answer%s, %s, %.3f s\n",
                        r->end == CLV_SOLVED_INFEASIBLE ? "" : " found", end_sentence(r->end),
                        r->seconds);
        if (r->why[0])
            clv_text_printf(&text, "%s\n", r->why);
    }
    *ret = clv_text_end(&text);
    return *ret ? CLV_OK : clv_fail_nomem(err, "a report");
}

/* -- for programs -- */

/* As text: readers of JSON that know doubles alone would round it. */
static void put_wide(clv_json_out *out, const char *key, bool known, clv_int128 value)
{
    char digits[CLV_INT128_TEXT];
    clv_json_put_string(out, key, known ? clv_int128_text(digits, value) : NULL);
}

clv_status clv_solve_json(const clv_intra_op_problem *p, const clv_intra_op_result *r,
                          const char *file, clv_arena *arena, const char **ret, size_t *ret_n,
                          clv_error *err)
{
    clv_json_out out;
    bool held = r->found && r->value.peak > 0;
    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_put_string(&out, "problem", file);
    clv_json_put_string(&out, "name", p->name);
    clv_json_put_int(&out, "nodes", p->n_nodes);
    clv_json_put_int(&out, "edges", p->n_edges);
    clv_json_put_int(&out, "choices", p->first_choice[p->n_nodes]);
    put_wide(&out, "usage_limit", p->usage_limit != CLV_INTRA_OP_UNLIMITED, p->usage_limit);
    clv_json_put_string(&out, "status", clv_solve_end_word(r->end));
    put_wide(&out, "cost", r->found, r->value.cost);
    put_wide(&out, "bound", r->end != CLV_SOLVED_INFEASIBLE, r->bound);
    if (r->found)
        clv_json_put_number(&out, "gap", clv_solve_gap(r));
    else
        clv_json_put_null(&out, "gap");
    put_wide(&out, "peak", r->found, r->value.peak);
    put_wide(&out, "peak_at", held, r->value.peak_at);
    clv_json_put_int(&out, "nevers", r->found ? r->value.nevers : 0);
    clv_json_put_number(&out, "seconds", r->seconds);
    clv_json_put_string(&out, "found_by", r->found ? r->found_by : "");
    clv_json_put_string(&out, "bound_by", r->bound_by);
    clv_json_put_string(&out, "reason", r->found ? "" : r->why);
    clv_json_put_ints(&out, "solution", r->choice_of, r->found ? p->n_nodes : 0);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    *ret = out.text;
    *ret_n = out.n;
    return CLV_OK;
}
