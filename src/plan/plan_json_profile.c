#include "plan/plan_json_profile.h"

#include "plan/plan_json.h"

static void put_result(clv_json_out *out, const char *key, const clv_plan_result *r)
{
    if (!r->form)
        return;
    clv_json_open_object(out, key);
    clv_json_put_string(out, "form", r->form);
    clv_json_put_int(out, "devices", r->devices);
    clv_plan_put_count(out, "objective_ns", r->objective_ns);
    clv_json_close_object(out);
}

void clv_plan_put_profile(clv_json_out *out, const clv_plan *plan)
{
    const clv_plan_profile *p = plan->profile;
    if (!p)
        return;
    clv_json_open_object(out, "profile");
    clv_json_put_string(out, "name", p->name);
    if (p->command) {
        clv_json_put_string(out, "command", p->command);
        clv_json_put_int(out, "servers", p->servers);
    }
    if (p->layers)
        clv_json_put_string(out, "layers", p->layers);
    put_result(out, "with", &p->with);
    put_result(out, "without", &p->without);
    if (clv_plan_profile_price(p) >= 0)
        clv_json_put_number(out, "price", clv_plan_profile_price(p));
    clv_json_close_object(out);
}

static clv_status read_result(const clv_json_at *profile, const char *key, clv_arena *arena,
                              clv_plan_result *ret, clv_error *err)
{
    static const char *const keys[] = { "form", "devices", "objective_ns", NULL };
    clv_json_at at;

    CLV_TRY(clv_json_member(profile, key, false, &at, err));
    if (!at.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&at, keys, err));
    CLV_TRY(clv_plan_require_string(&at, "form", arena, &ret->form, err));
    CLV_TRY(
        clv_plan_require_int32(&at, "devices", 1, CLV_PLAN_JSON_DEVICES_MAX, &ret->devices, err));
    return clv_plan_get_count(&at, "objective_ns", &ret->objective_ns, err);
}

clv_status clv_plan_read_profile(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                 clv_error *err)
{
    static const char *const keys[] = { "name", "command", "servers", "layers",
                                        "with", "without", "price",   NULL };
    clv_json_at at;
    clv_plan_profile *p;

    CLV_TRY(clv_json_member(root, "profile", false, &at, err));
    if (!at.json)
        return CLV_OK;
    p = CLV_NEW(arena, clv_plan_profile);
    if (!p)
        return clv_fail_nomem(err, "a plan");
    CLV_TRY(clv_json_keys(&at, keys, err));
    CLV_TRY(clv_plan_require_string(&at, "name", arena, &p->name, err));
    CLV_TRY(clv_plan_get_string(&at, "command", arena, &p->command, err));
    if (p->command)
        CLV_TRY(
            clv_plan_require_int32(&at, "servers", 1, CLV_PLAN_JSON_DEVICES_MAX, &p->servers, err));
    CLV_TRY(clv_plan_get_string(&at, "layers", arena, &p->layers, err));
    CLV_TRY(read_result(&at, "with", arena, &p->with, err));
    CLV_TRY(read_result(&at, "without", arena, &p->without, err));
    plan->profile = p;
    return CLV_OK;
}
