#include "plan/plan_json.h"
#include "plan/plan_json_get.h"
#include "problem/micro.h"

/* What a plan file tells besides its decisions: transfers, the pipeline, how the plan was found,
 * rules.
 */

static clv_status read_transfer(clv_plan_reader *r, const clv_json_at *at, clv_plan_transfer *t)
{
    static const char *const keys[] = { "tensor", "from", "to", "bytes", "ns", NULL };
    int32_t last = r->plan->n_devices - 1;

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(clv_plan_get_string(r, at, "tensor", true, &t->tensor));
    CLV_TRY(clv_plan_get_int32(r, at, "from", true, 0, last, &t->from));
    CLV_TRY(clv_plan_get_int32(r, at, "to", true, 0, last, &t->to));
    if (t->from == t->to)
        return clv_fail(r->err, CLV_EFORMAT, "%s: goes from device %d to itself", SHOW(at),
                        (int)t->to);
    CLV_TRY(clv_plan_get_fact(r, at, "bytes", &t->bytes));
    return clv_plan_get_fact(r, at, "ns", &t->ns);
}

clv_status clv_plan_read_transfers(clv_plan_reader *r, const clv_json_at *root)
{
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_member(root, "transfers", false, &list, r->err));
    if (!list.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, r->err));
    r->plan->transfers = CLV_NEW_ARRAY(r->arena, clv_plan_transfer, n);
    if (!r->plan->transfers)
        return clv_fail_nomem(r->err, "a plan");
    r->plan->n_transfers = n;
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(read_transfer(r, &at, &r->plan->transfers[i]));
    }
    return CLV_OK;
}

/* Why the search stopped and what it proved; the gap follows from that. */
static clv_status read_proof(clv_plan_reader *r, const clv_json_at *search)
{
    clv_json_at at;
    double gap;

    CLV_TRY(clv_plan_get_string(r, search, "stopped", false, &r->plan->stopped));
    CLV_TRY(clv_json_member(search, "gap", false, &at, r->err));
    if (at.json)
        CLV_TRY(clv_json_number(&at, 0, 1, &gap, r->err));
    CLV_TRY(clv_json_member(search, "bound_ns", false, &at, r->err));
    if (!at.json || clv_json_is_null(&at))
        return CLV_OK;
    return clv_plan_get_count(r, search, "bound_ns", &r->plan->bound_ns);
}

clv_status clv_plan_read_search(clv_plan_reader *r, const clv_json_at *root)
{
    static const char *const keys[] = { "name",     "judged", "fitting", "stopped",
                                        "bound_ns", "gap",    NULL };
    clv_plan *plan = r->plan;
    clv_json_at at;

    CLV_TRY(clv_json_member(root, "search", false, &at, r->err));
    if (!at.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&at, keys, r->err));
    CLV_TRY(clv_plan_get_string(r, &at, "name", false, &plan->search));
    CLV_TRY(clv_plan_get_int32(r, &at, "judged", false, 0, INT32_MAX, &plan->n_judged));
    CLV_TRY(clv_plan_get_int32(r, &at, "fitting", false, 0, plan->n_judged, &plan->n_fitting));
    return read_proof(r, &at);
}

static clv_status read_rule(clv_plan_reader *r, const clv_json_at *at, clv_plan_rule *rule)
{
    static const char *const keys[] = { "name", "why", "says", "state", NULL };
    static const char *const states[] = { "in force", "unused", "conflict", "left out" };
    int32_t word = 0;

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(clv_plan_get_string(r, at, "name", false, &rule->name));
    CLV_TRY(clv_plan_get_string(r, at, "why", false, &rule->why));
    CLV_TRY(clv_plan_get_string(r, at, "says", true, &rule->says));
    CLV_TRY(clv_plan_get_word(r, at, "state", states, 4, &word));
    rule->state = states[word];
    return CLV_OK;
}

clv_status clv_plan_read_rules(clv_plan_reader *r, const clv_json_at *root)
{
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_member(root, "rules", false, &list, r->err));
    if (!list.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, r->err));
    r->plan->rules = CLV_NEW_ARRAY(r->arena, clv_plan_rule, n);
    if (!r->plan->rules)
        return clv_fail_nomem(r->err, "a plan");
    r->plan->n_rules = n;
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(read_rule(r, &at, &r->plan->rules[i]));
    }
    return CLV_OK;
}

/* What follows from other numbers is not kept. */
clv_status clv_plan_read_pipeline(clv_plan_reader *r, const clv_json_at *root)
{
    static const char *const keys[] = { "microbatches", "chosen", "fill_ns", "drain_ns",
                                        "run_ns",       "bubble", NULL };
    static const clv_micro_reason reasons[] = { CLV_MICRO_GIVEN, CLV_MICRO_FILLED,
                                                CLV_MICRO_MEMORY };
    clv_plan *plan = r->plan;
    clv_json_at pipeline, at;
    int32_t word = 0;
    int64_t run = 0;
    double bubble;

    CLV_TRY(clv_json_member(root, "pipeline", false, &pipeline, r->err));
    if (!pipeline.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&pipeline, keys, r->err));
    CLV_TRY(clv_plan_get_int32(r, &pipeline, "microbatches", true, 1, CLV_MICRO_MAX,
                               &plan->microbatches));
    CLV_TRY(clv_plan_get_word(r, &pipeline, "chosen",
                              (const char *[]){ "given", "filled", "memory" }, 3, &word));
    plan->why_microbatches = reasons[word];
    CLV_TRY(clv_plan_get_fact(r, &pipeline, "fill_ns", &plan->fill_ns));
    CLV_TRY(clv_plan_get_fact(r, &pipeline, "drain_ns", &plan->drain_ns));
    CLV_TRY(clv_plan_get_count(r, &pipeline, "run_ns", &run));
    CLV_TRY(clv_json_member(&pipeline, "bubble", false, &at, r->err));
    return at.json ? clv_json_number(&at, 0, 1, &bubble, r->err) : CLV_OK;
}
