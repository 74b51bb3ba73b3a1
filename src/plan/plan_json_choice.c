#include "plan/plan_json_choice.h"

#include "plan/plan_json.h"

static void put_alternative(clv_json_out *out, const clv_plan_alternative *a)
{
    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "form", a->form);
    clv_json_put_string(out, "options", a->options);
    clv_json_put_int(out, "devices", a->devices);
    clv_json_put_int(out, "copies", a->copies);
    clv_plan_put_count(out, "latency_ns", a->latency_ns);
    clv_plan_put_count(out, "period_ns", a->period_ns);
    clv_plan_put_known_count(out, "peak_bytes", a->peak_bytes);
    if (a->bound_ns > 0)
        clv_plan_put_count(out, "bound_ns", a->bound_ns);
    clv_json_close_object(out);
}

void clv_plan_put_choice(clv_json_out *out, const clv_plan *plan)
{
    if (plan->n_alternatives == 0)
        return;
    clv_json_open_object(out, "choice");
    if (plan->why_chosen)
        clv_json_put_string(out, "why", plan->why_chosen);
    clv_json_open_array(out, "alternatives");
    for (int32_t i = 0; i < plan->n_alternatives; i++)
        put_alternative(out, &plan->alternatives[i]);
    clv_json_close_array(out);
    clv_json_open_array(out, "by_devices");
    for (int32_t i = 0; i < plan->n_counts; i++) {
        clv_json_open_object(out, NULL);
        clv_json_put_int(out, "devices", plan->counts[i].devices);
        clv_plan_put_count(out, "ns", plan->counts[i].ns);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    clv_json_close_object(out);
}

static clv_status read_alternative(const clv_json_at *at, clv_arena *arena,
                                   clv_plan_alternative *ret, clv_error *err)
{
    static const char *const keys[] = { "form",       "options",    "devices",
                                        "copies",     "latency_ns", "period_ns",
                                        "peak_bytes", "bound_ns",   NULL };

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(clv_plan_require_string(at, "form", arena, &ret->form, err));
    CLV_TRY(clv_plan_require_string(at, "options", arena, &ret->options, err));
    CLV_TRY(
        clv_plan_require_int32(at, "devices", 1, CLV_PLAN_JSON_DEVICES_MAX, &ret->devices, err));
    CLV_TRY(clv_plan_require_int32(at, "copies", 1, CLV_PLAN_JSON_DEVICES_MAX, &ret->copies, err));
    CLV_TRY(clv_plan_get_count(at, "latency_ns", &ret->latency_ns, err));
    CLV_TRY(clv_plan_get_count(at, "period_ns", &ret->period_ns, err));
    CLV_TRY(clv_plan_get_known_count(at, "peak_bytes", &ret->peak_bytes, err));
    return clv_plan_get_count(at, "bound_ns", &ret->bound_ns, err);
}

static clv_status read_count(const clv_json_at *at, clv_plan_count *ret, clv_error *err)
{
    static const char *const keys[] = { "devices", "ns", NULL };

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(
        clv_plan_require_int32(at, "devices", 1, CLV_PLAN_JSON_DEVICES_MAX, &ret->devices, err));
    return clv_plan_get_count(at, "ns", &ret->ns, err);
}

clv_status clv_plan_read_choice(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                clv_error *err)
{
    static const char *const keys[] = { "why", "alternatives", "by_devices", NULL };
    clv_json_at choice, at = { 0 };
    clv_plan_list list;

    CLV_TRY(clv_json_member(root, "choice", false, &choice, err));
    if (!choice.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&choice, keys, err));
    CLV_TRY(clv_plan_get_string(&choice, "why", arena, &plan->why_chosen, err));
    CLV_TRY(
        clv_plan_get_list(&choice, "alternatives", sizeof *plan->alternatives, arena, &list, err));
    for (int32_t i = 0; i < list.n; i++) {
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        CLV_TRY(read_alternative(&at, arena, (clv_plan_alternative *)list.room + i, err));
    }
    plan->alternatives = list.room;
    plan->n_alternatives = list.n;
    CLV_TRY(clv_plan_get_list(&choice, "by_devices", sizeof *plan->counts, arena, &list, err));
    for (int32_t i = 0; i < list.n; i++) {
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        CLV_TRY(read_count(&at, (clv_plan_count *)list.room + i, err));
    }
    plan->counts = list.room;
    plan->n_counts = list.n;
    return CLV_OK;
}
