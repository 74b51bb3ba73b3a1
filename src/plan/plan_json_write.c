#include "plan/plan_json_write.h"

#include <inttypes.h>
#include <stdio.h>

#include "plan/plan_json.h"
#include "plan/plan_json_annotations.h"
#include "plan/plan_json_batch.h"
#include "plan/plan_json_choice.h"
#include "plan/plan_json_profile.h"
#include "plan/plan_json_write_mesh.h"
#include "plan/plan_mesh.h"

static void put_known(clv_json_out *out, const char *key, const char *value)
{
    if (value)
        clv_json_put_string(out, key, value);
}

static void put_list(clv_json_out *out, const char *key, const char *const *at, int32_t n)
{
    clv_json_open_array(out, key);
    for (int32_t i = 0; i < n; i++)
        clv_json_put_string(out, NULL, at[i] ? at[i] : "");
    clv_json_close_array(out);
}

static void put_head(clv_json_out *out, const clv_plan *plan)
{
    char fingerprint[24];

    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, plan->fingerprint);
    clv_json_put_int(out, "schema_version", CLV_PLAN_JSON_VERSION);
    put_known(out, "model", plan->model);
    clv_json_put_string(out, "fingerprint", fingerprint);
    put_known(out, "configuration", plan->configuration);
    put_known(out, "cluster", plan->cluster);
    put_known(out, "compiler", plan->compiler);
    put_known(out, "runtime", plan->runtime);
    clv_json_put_string(out, "objective", clv_plan_objective_words[plan->objective]);
    if (plan->proportion > 0)
        clv_json_put_number(out, "available_memory_proportion", plan->proportion);
    if (plan->state_tokens > 0)
        clv_plan_put_count(out, "state_tokens", plan->state_tokens);
    clv_json_put_string(out, "outcome", clv_plan_outcome_words[plan->outcome]);
    if (plan->outcome == CLV_OOM) {
        clv_json_put_int(out, "short_device", plan->short_device);
        clv_plan_put_count(out, "short_bytes", plan->short_bytes);
    }
    if (plan->latency_ns > 0)
        clv_plan_put_count(out, "latency_ns", plan->latency_ns);
    if (plan->period_ns > 0)
        clv_plan_put_count(out, "period_ns", plan->period_ns);
    if (plan->host_ns > 0)
        clv_plan_put_count(out, "host_ns", plan->host_ns);
    if (plan->max_latency_ns > 0)
        clv_plan_put_count(out, "max_latency_ns", plan->max_latency_ns);
    if (plan->first_token_ns > 0)
        clv_plan_put_count(out, "first_token_ns", plan->first_token_ns);
}

static void put_pipeline(clv_json_out *out, const clv_plan *plan)
{
    if (plan->microbatches < 1)
        return;
    clv_json_open_object(out, "pipeline");
    clv_json_put_int(out, "microbatches", plan->microbatches);
    clv_json_put_string(out, "chosen", clv_plan_micro_words[plan->why_microbatches]);
    clv_plan_put_known_count(out, "fill_ns", plan->fill_ns);
    clv_plan_put_known_count(out, "drain_ns", plan->drain_ns);
    if (clv_plan_has_run(plan)) {
        clv_plan_put_count(out, "run_ns", clv_plan_run_ns(plan));
        clv_json_put_number(out, "bubble", clv_plan_bubble(plan));
    }
    clv_json_close_object(out);
}

/* Runs over the nodes in file order: [device, count], and [first, count] of the backward ones. */
static void put_operators(clv_json_out *out, const clv_plan *plan)
{
    clv_json_open_object(out, "operators");
    clv_json_put_int(out, "count", plan->n_ops);
    clv_json_open_array(out, "device_runs");
    for (int32_t first = 0, i = 1; i <= plan->n_ops; i++) {
        if (i < plan->n_ops && plan->device_of_op[i] == plan->device_of_op[first])
            continue;
        clv_plan_put_numbers(out, NULL, (int64_t[]){ plan->device_of_op[first], i - first }, 2);
        first = i;
    }
    clv_json_close_array(out);
    if (plan->backward_op) {
        clv_json_open_array(out, "backward_runs");
        for (int32_t first = 0, end; first < plan->n_ops; first = end + 1) {
            for (end = first; end < plan->n_ops && plan->backward_op[end]; end++)
                continue;
            if (end > first)
                clv_plan_put_numbers(out, NULL, (int64_t[]){ first, end - first }, 2);
        }
        clv_json_close_array(out);
    }
    clv_plan_put_splits(out, plan);
    clv_json_close_object(out);
}

static void put_devices(clv_json_out *out, const clv_plan *plan)
{
    clv_json_open_array(out, "devices");
    for (int32_t i = 0; i < plan->n_devices; i++) {
        const clv_plan_device *d = &plan->devices[i];
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "name", d->name ? d->name : "");
        put_known(out, "kind", d->kind);
        clv_json_put_int(out, "stage", d->stage);
        clv_json_put_int(out, "operators", d->n_ops);
        clv_plan_put_known_count(out, "weight_bytes", d->weight_bytes);
        clv_plan_put_known_count(out, "activation_bytes", d->activation_bytes);
        if (d->state_bytes > 0)
            clv_plan_put_known_count(out, "state_bytes", d->state_bytes);
        clv_plan_put_known_count(out, "workspace_bytes", d->workspace_bytes);
        if (plan->microbatches > 1 || d->in_flight_bytes > 0)
            clv_plan_put_known_count(out, "in_flight_bytes", d->in_flight_bytes);
        clv_plan_put_known_count(out, "peak_bytes", d->peak_bytes);
        clv_plan_put_known_count(out, "capacity_bytes", d->capacity_bytes);
        clv_plan_put_known_count(out, "reserved_bytes", d->reserved_bytes);
        clv_plan_put_known_count(out, "buffer_bytes", d->buffer_bytes);
        clv_plan_put_known_count(out, "headroom_bytes", d->headroom_bytes);
        clv_plan_put_known_count(out, "flops", d->flops);
        clv_plan_put_known_count(out, "busy_ns", d->busy_ns);
        put_list(out, "sharding_nodes", d->sharding_nodes, d->n_sharding_nodes);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static void put_transfers(clv_json_out *out, const clv_plan *plan)
{
    if (!plan->transfers)
        return;
    clv_json_open_array(out, "transfers");
    for (int32_t i = 0; i < plan->n_transfers; i++) {
        const clv_plan_transfer *t = &plan->transfers[i];
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "tensor", t->tensor ? t->tensor : "");
        clv_json_put_int(out, "from", t->from);
        clv_json_put_int(out, "to", t->to);
        clv_plan_put_known_count(out, "bytes", t->bytes);
        clv_plan_put_known_count(out, "ns", t->ns);
        clv_json_put_string(out, "basis", clv_basis_name(t->basis));
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static clv_status put_host_copies_of(clv_json_out *out, const char *key,
                                     const clv_plan_host_copy *at, int32_t n, clv_error *err)
{
    clv_json_open_array(out, key);
    for (int32_t i = 0; i < n; i++) {
        int64_t *devices = CLV_NEW_ARRAY(out->arena, int64_t, at[i].n_devices);
        if (!devices)
            return clv_fail_nomem(err, "a plan");
        for (int32_t k = 0; k < at[i].n_devices; k++)
            devices[k] = at[i].devices[k];
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "tensor", at[i].tensor);
        clv_plan_put_numbers(out, "devices", devices, at[i].n_devices);
        clv_plan_put_count(out, "bytes", at[i].bytes);
        clv_plan_put_count(out, "ns", at[i].ns);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    return CLV_OK;
}

static clv_status put_host_copies(clv_json_out *out, const clv_plan *plan, clv_error *err)
{
    const clv_plan_host_copies *copies = plan->host_copies;

    if (!copies)
        return CLV_OK;
    clv_json_open_object(out, "host_copies");
    clv_plan_put_count(out, "inputs_ns", copies->inputs_ns);
    clv_plan_put_count(out, "outputs_ns", copies->outputs_ns);
    clv_json_put_string(out, "basis", clv_basis_name(copies->basis));
    CLV_TRY(put_host_copies_of(out, "inputs", copies->inputs, copies->n_inputs, err));
    CLV_TRY(put_host_copies_of(out, "outputs", copies->outputs, copies->n_outputs, err));
    clv_json_close_object(out);
    return CLV_OK;
}

#define KERNELS_MAX 100000 /* of more the list would be many times as large as the rest */

static void put_kernels(clv_json_out *out, const clv_plan *plan)
{
    if (plan->n_kernels == 0 || plan->n_kernels > KERNELS_MAX)
        return;
    clv_json_open_array(out, "kernels");
    for (int32_t i = 0; i < plan->n_kernels; i++) {
        const clv_plan_kernel *k = &plan->kernels[i];
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "name", k->name);
        clv_json_put_string(out, "kind", k->kind);
        clv_json_put_int(out, "device", k->device);
        clv_json_put_int(out, "operators", k->n_ops);
        clv_plan_put_numbers(out, "ns", k->ns, CLV_N_TIME_CAUSES);
        clv_plan_put_numbers(out, "basis_ns", k->basis_ns, CLV_N_BASES);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static void put_search(clv_json_out *out, const clv_plan *plan)
{
    double gap = clv_plan_gap(plan);

    clv_json_open_object(out, "search");
    put_known(out, "name", plan->search);
    clv_json_put_int(out, "judged", plan->n_judged);
    clv_json_put_int(out, "fitting", plan->n_fitting);
    put_known(out, "stopped", plan->stopped);
    if (gap >= 0) {
        clv_plan_put_count(out, "bound_ns", plan->bound_ns);
        clv_json_put_number(out, "gap", gap);
    } else if (plan->outcome == CLV_FITS && plan->stopped) {
        clv_json_put_null(out, "bound_ns");
    }
    clv_json_close_object(out);
}

static void put_rules(clv_json_out *out, const clv_plan *plan)
{
    if (plan->n_rules == 0)
        return;
    put_known(out, "conflict", plan->conflict);
    clv_json_open_array(out, "rules");
    for (int32_t i = 0; i < plan->n_rules; i++) {
        const clv_plan_rule *rule = &plan->rules[i];
        clv_json_open_object(out, NULL);
        put_known(out, "name", rule->name);
        put_known(out, "why", rule->why);
        clv_json_put_string(out, "says", rule->says ? rule->says : "");
        clv_json_put_string(out, "state", rule->state);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

clv_status clv_plan_write(const clv_plan *plan, clv_arena *arena, const char **ret_text,
                          size_t *ret_n, clv_error *err)
{
    clv_json_out out;

    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    put_head(&out, plan);
    put_pipeline(&out, plan);
    clv_json_put_int(&out, "stages", plan->n_stages);
    clv_plan_put_copies(&out, plan);
    clv_plan_put_mesh(&out, plan);
    put_operators(&out, plan);
    if (!clv_plan_has_mesh(plan)) /* else they follow */
        clv_plan_put_annotations(&out, plan);
    put_devices(&out, plan);
    put_transfers(&out, plan);
    CLV_TRY(put_host_copies(&out, plan, err));
    clv_plan_put_collectives(&out, plan);
    put_kernels(&out, plan);
    clv_plan_put_found(&out, plan);
    put_search(&out, plan);
    clv_plan_put_choice(&out, plan);
    clv_plan_put_profile(&out, plan);
    clv_plan_put_batch(&out, plan);
    put_rules(&out, plan);
    put_list(&out, "bindings", plan->bindings, plan->n_bindings);
    put_list(&out, "open_tensors", plan->open_tensors, plan->n_open_tensors);
    put_list(&out, "unknown_operators", plan->unknown_ops, plan->n_unknown_ops);
    put_list(&out, "notes", plan->notes, plan->n_notes);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    *ret_text = out.text;
    *ret_n = out.n;
    return CLV_OK;
}

/* -- what decides, alone -- */

static clv_status drop_reports(clv_plan *plan, clv_arena *arena, clv_error *err)
{
    clv_plan_collective *c = CLV_NEW_ARRAY(arena, clv_plan_collective, plan->n_collectives);

    if (!c)
        return clv_fail_nomem(err, "a plan");
    for (int32_t i = 0; i < plan->n_collectives; i++) {
        c[i] = plan->collectives[i];
        c[i].bytes = c[i].ns = CLV_PLAN_UNKNOWN;
    }
    if (plan->collectives)
        plan->collectives = c;
    plan->cluster = plan->compiler = plan->runtime = NULL;
    plan->proportion = plan->overlap = 0;
    plan->state_tokens = 0;
    plan->short_bytes = plan->latency_ns = plan->period_ns = plan->host_ns = 0;
    plan->first_token_ns = plan->max_latency_ns = 0;
    return CLV_OK;
}

clv_status clv_plan_put_decisions(clv_json_out *out, const char *key, const clv_plan *plan,
                                  clv_error *err)
{
    clv_plan p = *plan;

    CLV_TRY(drop_reports(&p, out->arena, err));
    clv_json_open_object(out, key);
    put_head(out, &p);
    clv_json_put_int(out, "stages", p.n_stages);
    clv_plan_put_copies(out, &p);
    clv_plan_put_mesh(out, &p);
    put_operators(out, &p);
    if (!clv_plan_has_mesh(&p))
        clv_plan_put_annotations(out, &p);
    clv_json_open_array(out, "devices");
    for (int32_t i = 0; i < p.n_devices; i++) {
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "name", p.devices[i].name ? p.devices[i].name : "");
        clv_json_put_int(out, "stage", p.devices[i].stage);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    clv_plan_put_collectives(out, &p);
    put_list(out, "bindings", p.bindings, p.n_bindings);
    clv_json_close_object(out);
    return CLV_OK;
}
