#include "plan/plan_json_batch.h"

#include "plan/plan_json.h"

static void put_tried(clv_json_out *out, const clv_plan_batch *b)
{
    clv_json_open_object(out, NULL);
    clv_plan_put_count(out, "size", b->size);
    clv_json_put_string(out, "outcome", clv_plan_outcome_words[b->outcome]);
    if (b->form)
        clv_json_put_string(out, "form", b->form);
    clv_json_put_int(out, "devices", b->devices);
    if (b->latency_ns > 0)
        clv_plan_put_count(out, "latency_ns", b->latency_ns);
    if (b->ns > 0) {
        clv_plan_put_count(out, "ns", b->ns);
        clv_json_put_number(out, "samples_per_s", clv_plan_samples_per_s(b));
    }
    clv_plan_put_known_count(out, "peak_bytes", b->peak_bytes);
    if (b->outcome == CLV_OOM)
        clv_plan_put_count(out, "short_bytes", b->short_bytes);
    clv_json_close_object(out);
}

void clv_plan_put_batch(clv_json_out *out, const clv_plan *plan)
{
    if (!plan->batch_symbol)
        return;
    clv_json_open_object(out, "batch");
    clv_json_put_string(out, "symbol", plan->batch_symbol);
    clv_plan_put_count(out, "size", plan->batch);
    clv_json_put_string(out, "why", plan->why_batch);
    clv_json_open_array(out, "tried");
    for (int32_t i = 0; i < plan->n_batches; i++)
        put_tried(out, &plan->batches[i]);
    clv_json_close_array(out);
    clv_json_close_object(out);
}

/* From 1 on. */
static clv_status read_size(const clv_json_at *object, int64_t *ret, clv_error *err)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(object, "size", true, &at, err));
    CLV_TRY(clv_plan_read_count(&at, ret, err));
    return *ret > 0 ? CLV_OK
                    : clv_fail(err, CLV_EFORMAT, "%s: a batch of 0, expected at least 1",
                               CLV_PLAN_PATH(&at));
}

static clv_status read_tried(const clv_json_at *at, clv_arena *arena, clv_plan_batch *ret,
                             clv_error *err)
{
    static const char *const keys[] = { "size",        "outcome", "form",          "devices",
                                        "latency_ns",  "ns",      "samples_per_s", "peak_bytes",
                                        "short_bytes", NULL };
    int32_t word = 0;

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(read_size(at, &ret->size, err));
    CLV_TRY(
        clv_plan_require_word(at, "outcome", clv_plan_outcome_words, CLV_N_OUTCOMES, &word, err));
    ret->outcome = (clv_outcome)word;
    CLV_TRY(clv_plan_get_string(at, "form", arena, &ret->form, err));
    CLV_TRY(
        clv_plan_require_int32(at, "devices", 0, CLV_PLAN_JSON_DEVICES_MAX, &ret->devices, err));
    CLV_TRY(clv_plan_get_count(at, "latency_ns", &ret->latency_ns, err));
    CLV_TRY(clv_plan_get_count(at, "ns", &ret->ns, err));
    CLV_TRY(clv_plan_get_known_count(at, "peak_bytes", &ret->peak_bytes, err));
    return clv_plan_get_count(at, "short_bytes", &ret->short_bytes, err);
}

clv_status clv_plan_read_batch(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                               clv_error *err)
{
    static const char *const keys[] = { "symbol", "size", "why", "tried", NULL };
    clv_json_at batch, at = { 0 };
    clv_plan_list list;

    CLV_TRY(clv_json_member(root, "batch", false, &batch, err));
    if (!batch.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&batch, keys, err));
    CLV_TRY(clv_plan_require_string(&batch, "symbol", arena, &plan->batch_symbol, err));
    CLV_TRY(read_size(&batch, &plan->batch, err));
    CLV_TRY(clv_plan_require_string(&batch, "why", arena, &plan->why_batch, err));
    CLV_TRY(clv_plan_get_list(&batch, "tried", sizeof *plan->batches, arena, &list, err));
    for (int32_t i = 0; i < list.n; i++) {
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        CLV_TRY(read_tried(&at, arena, (clv_plan_batch *)list.room + i, err));
    }
    plan->batches = list.room;
    plan->n_batches = list.n;
    return CLV_OK;
}
