#include "plan/plan_json_read.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/map.h"
#include "graph/bindings.h"
#include "plan/plan_copies.h"
#include "plan/plan_json.h"
#include "plan/plan_json_annotations.h"
#include "plan/plan_json_batch.h"
#include "plan/plan_json_choice.h"
#include "plan/plan_json_profile.h"
#include "plan/plan_json_read_facts.h"
#include "plan/plan_json_read_mesh.h"
#include "plan/plan_mesh.h"

/* The document tree is held by whoever parsed it; all below copy from it. */

static clv_status read_fingerprint(const clv_json_at *root, clv_plan *plan, clv_error *err)
{
    clv_json_at at;
    const char *text = NULL;
    uint64_t value = 0;

    CLV_TRY(clv_json_member(root, "fingerprint", true, &at, err));
    CLV_TRY(clv_json_string(&at, &text, err));
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16 ||
        sscanf(text, "%16" SCNx64, &value) != 1)
        return clv_fail(err, CLV_EFORMAT, "%s: '%.40s' is not 16 digits of 0-9 and a-f",
                        CLV_PLAN_PATH(&at), text);
    plan->fingerprint = value;
    return CLV_OK;
}

static clv_status read_head(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                            clv_error *err)
{
    int32_t objective = 0, version = 0;
    clv_json_at at;

    CLV_TRY(clv_plan_require_int32(root, "schema_version", 0, INT32_MAX, &version, err));
    if (version < 1 || version > CLV_PLAN_JSON_VERSION)
        return clv_fail(err, CLV_EFORMAT, "%s: schema_version is %d, this program reads 1 to %d",
                        CLV_PLAN_PATH(root), (int)version, CLV_PLAN_JSON_VERSION);
    CLV_TRY(clv_plan_get_string(root, "model", arena, &plan->model, err));
    CLV_TRY(read_fingerprint(root, plan, err));
    CLV_TRY(clv_plan_get_string(root, "configuration", arena, &plan->configuration, err));
    CLV_TRY(clv_plan_get_string(root, "cluster", arena, &plan->cluster, err));
    CLV_TRY(clv_plan_get_string(root, "compiler", arena, &plan->compiler, err));
    CLV_TRY(clv_plan_get_string(root, "runtime", arena, &plan->runtime, err));
    CLV_TRY(clv_plan_require_word(root, "objective", clv_plan_objective_words, 2, &objective, err));
    plan->objective = (clv_objective)objective;
    CLV_TRY(clv_json_member(root, "available_memory_proportion", false, &at, err));
    if (at.json)
        CLV_TRY(clv_json_number(&at, 0, 1, &plan->proportion, err));
    if (at.json && !(plan->proportion > 0))
        return clv_fail(err, CLV_EFORMAT, "%s: 0 is not above 0; leave it out for the default",
                        CLV_PLAN_PATH(&at));
    return clv_plan_get_count(root, "state_tokens", &plan->state_tokens, err);
}

/* After the devices: short_device is one of them. */
static clv_status read_outcome(const clv_json_at *root, clv_plan *plan, clv_error *err)
{
    int32_t word = 0, last = plan->n_devices - 1;

    CLV_TRY(
        clv_plan_require_word(root, "outcome", clv_plan_outcome_words, CLV_N_OUTCOMES, &word, err));
    plan->outcome = (clv_outcome)word;
    CLV_TRY(plan->outcome == CLV_OOM
                ? clv_plan_require_int32(root, "short_device", 0, last, &plan->short_device, err)
                : clv_plan_get_int32(root, "short_device", 0, last, &plan->short_device, err));
    CLV_TRY(clv_plan_get_count(root, "short_bytes", &plan->short_bytes, err));
    CLV_TRY(clv_plan_get_count(root, "latency_ns", &plan->latency_ns, err));
    CLV_TRY(clv_plan_get_count(root, "period_ns", &plan->period_ns, err));
    CLV_TRY(clv_plan_get_count(root, "host_ns", &plan->host_ns, err));
    CLV_TRY(clv_plan_get_count(root, "max_latency_ns", &plan->max_latency_ns, err));
    return clv_plan_get_count(root, "first_token_ns", &plan->first_token_ns, err);
}

/* -- operators -- */

/* total: operators in the runs before this one. */
static clv_status read_device_run(const clv_json_at *run, const clv_plan *plan, int32_t *device_of,
                                  int64_t *total, clv_error *err)
{
    clv_json_at at[2];
    int64_t device = 0, count = 0;

    CLV_TRY(clv_plan_open_run(run, "device", at, err));
    CLV_TRY(clv_json_int(&at[0], 0, plan->n_devices - 1, &device, err));
    CLV_TRY(clv_plan_check_lead(&at[0], plan, (int32_t)device, err));
    CLV_TRY(clv_json_int(&at[1], 1, CLV_PLAN_JSON_OPS_MAX, &count, err));
    if (count > plan->n_ops - *total)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: the runs hold %" PRId64 " operators up to here, 'count' says %" PRId32,
                        CLV_PLAN_PATH(run), *total + count, plan->n_ops);
    for (int64_t i = 0; i < count; i++)
        device_of[*total + i] = (int32_t)device;
    *total += count;
    return CLV_OK;
}

static clv_status read_device_runs(const clv_json_at *operators, clv_plan *plan, clv_arena *arena,
                                   clv_error *err)
{
    clv_json_at list, run = { 0 };
    int32_t n = 0;
    int64_t total = 0;

    CLV_TRY(clv_json_member(operators, "device_runs", true, &list, err));
    int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, plan->n_ops);
    if (!device_of)
        return clv_fail_nomem(err, "a plan");
    CLV_TRY(clv_json_length(&list, &n, err));
    for (int32_t i = 0; i < n; i++) {
        run = clv_json_element(&list, i, i ? &run : NULL);
        CLV_TRY(read_device_run(&run, plan, device_of, &total, err));
    }
    if (total != plan->n_ops)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: the runs hold %" PRId64 " operators, 'count' says %" PRId32,
                        CLV_PLAN_PATH(&list), total, plan->n_ops);
    plan->device_of_op = device_of;
    return CLV_OK;
}

/* Runs do not overlap, so this is no more work than there are operators. */
static clv_status read_backward_runs(const clv_json_at *operators, clv_plan *plan, clv_arena *arena,
                                     clv_error *err)
{
    clv_json_at list, run = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_member(operators, "backward_runs", false, &list, err));
    if (!list.json)
        return CLV_OK;
    bool *backward = CLV_NEW_ARRAY(arena, bool, plan->n_ops);
    if (!backward)
        return clv_fail_nomem(err, "a plan");
    CLV_TRY(clv_json_length(&list, &n, err));
    for (int32_t i = 0; i < n; i++) {
        clv_json_at at[2];
        int64_t first = 0, count = 0;
        run = clv_json_element(&list, i, i ? &run : NULL);
        CLV_TRY(clv_plan_open_run(&run, "first", at, err));
        CLV_TRY(clv_json_int(&at[0], 0, CLV_PLAN_JSON_OPS_MAX, &first, err));
        CLV_TRY(clv_json_int(&at[1], 1, CLV_PLAN_JSON_OPS_MAX, &count, err));
        if (first + count > plan->n_ops)
            return clv_fail(err, CLV_EFORMAT,
                            "%s: ends behind operator %" PRId64 ", 'count' says %" PRId32,
                            CLV_PLAN_PATH(&run), first + count, plan->n_ops);
        for (int64_t op = first; op < first + count; op++) {
            if (backward[op])
                return clv_fail(err, CLV_EFORMAT, "%s: operator %" PRId64 " is in a run before it",
                                CLV_PLAN_PATH(&run), op);
            backward[op] = true;
        }
    }
    plan->backward_op = backward;
    return CLV_OK;
}

static clv_status read_operators(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                 clv_error *err)
{
    static const char *const keys[] = { "count", "device_runs", "backward_runs", "split_runs",
                                        NULL };
    clv_json_at operators;

    CLV_TRY(clv_json_member(root, "operators", true, &operators, err));
    CLV_TRY(clv_json_keys(&operators, keys, err));
    CLV_TRY(
        clv_plan_require_int32(&operators, "count", 0, CLV_PLAN_JSON_OPS_MAX, &plan->n_ops, err));
    CLV_TRY(read_device_runs(&operators, plan, arena, err));
    CLV_TRY(read_backward_runs(&operators, plan, arena, err));
    return clv_plan_read_splits(&operators, plan, arena, err);
}

/* -- devices -- */

static clv_status read_device(const clv_json_at *at, const clv_plan *plan, clv_arena *arena,
                              clv_plan_device *d, clv_error *err)
{
    static const char *const keys[] = { "name",
                                        "kind",
                                        "stage",
                                        "operators",
                                        "weight_bytes",
                                        "activation_bytes",
                                        "state_bytes",
                                        "workspace_bytes",
                                        "in_flight_bytes",
                                        "peak_bytes",
                                        "capacity_bytes",
                                        "reserved_bytes",
                                        "buffer_bytes",
                                        "headroom_bytes",
                                        "flops",
                                        "busy_ns",
                                        "sharding_nodes",
                                        NULL };

    CLV_TRY(clv_json_keys(at, keys, err));
    d->n_ops = -1; /* not given: as the runs have it */
    CLV_TRY(clv_plan_require_string(at, "name", arena, &d->name, err));
    CLV_TRY(clv_plan_get_string(at, "kind", arena, &d->kind, err));
    CLV_TRY(clv_plan_require_int32(at, "stage", -1, plan->n_stages - 1, &d->stage, err));
    CLV_TRY(clv_plan_get_int32(at, "operators", 0, CLV_PLAN_JSON_OPS_MAX, &d->n_ops, err));
    CLV_TRY(clv_plan_get_known_count(at, "weight_bytes", &d->weight_bytes, err));
    CLV_TRY(clv_plan_get_known_count(at, "activation_bytes", &d->activation_bytes, err));
    CLV_TRY(clv_plan_get_known_count(at, "state_bytes", &d->state_bytes, err));
    CLV_TRY(clv_plan_get_known_count(at, "workspace_bytes", &d->workspace_bytes, err));
    CLV_TRY(clv_plan_get_known_count(at, "in_flight_bytes", &d->in_flight_bytes, err));
    CLV_TRY(clv_plan_get_known_count(at, "peak_bytes", &d->peak_bytes, err));
    CLV_TRY(clv_plan_get_known_count(at, "capacity_bytes", &d->capacity_bytes, err));
    CLV_TRY(clv_plan_get_known_count(at, "reserved_bytes", &d->reserved_bytes, err));
    CLV_TRY(clv_plan_get_known_count(at, "buffer_bytes", &d->buffer_bytes, err));
    CLV_TRY(clv_plan_get_known_count(at, "headroom_bytes", &d->headroom_bytes, err));
    CLV_TRY(clv_plan_get_known_count(at, "flops", &d->flops, err));
    CLV_TRY(clv_plan_get_known_count(at, "busy_ns", &d->busy_ns, err));
    return clv_json_copy_texts(at, "sharding_nodes", arena, &d->sharding_nodes,
                               &d->n_sharding_nodes, err);
}

/* Their names are keys for people and for the annotation's device list: none empty, none twice. */
static clv_status read_devices(const clv_json_at *list, clv_plan *plan, clv_arena *arena,
                               clv_error *err)
{
    clv_json_at at = { 0 };
    clv_map names;
    int32_t n = 0;

    CLV_TRY(clv_json_length(list, &n, err));
    if (n < 1 || n > CLV_PLAN_JSON_DEVICES_MAX)
        return clv_fail(err, CLV_EFORMAT, "%s: has %d elements, expected 1 to %d",
                        CLV_PLAN_PATH(list), (int)n, (int)CLV_PLAN_JSON_DEVICES_MAX);
    plan->devices = CLV_NEW_ARRAY(arena, clv_plan_device, n);
    if (!plan->devices)
        return clv_fail_nomem(err, "a plan");
    plan->n_devices = n;
    CLV_TRY(clv_map_init(&names, arena, n, err));
    for (int32_t d = 0; d < n; d++) {
        int32_t id = d;
        at = clv_json_element(list, d, d ? &at : NULL);
        CLV_TRY(read_device(&at, plan, arena, &plan->devices[d], err));
        const char *name = plan->devices[d].name;
        if (!*name)
            return clv_fail(err, CLV_EFORMAT, "%s.name: is empty, each device has a name",
                            CLV_PLAN_PATH(&at));
        CLV_TRY(clv_map_put(&names, clv_str_of(name), d, &id, err));
        if (id != d)
            return clv_fail(err, CLV_EFORMAT, "%s.name: '%.80s' is also devices[%d]",
                            CLV_PLAN_PATH(&at), name, (int)id);
    }
    return CLV_OK;
}

/* A device has operators exactly when it has a stage, and as many as the runs give it. n: those, of
 * its mesh. */
static clv_status check_device(const clv_json_at *at, clv_plan_device *d, int32_t n, clv_error *err)
{
    if (d->n_ops < 0)
        d->n_ops = n;
    if (d->n_ops != n)
        return clv_fail(err, CLV_EFORMAT,
                        "%s.operators: is %d, the runs give the device %d; correct it or leave it "
                        "out",
                        CLV_PLAN_PATH(at), (int)d->n_ops, (int)n);
    if (n == 0 && d->stage != -1)
        return clv_fail(err, CLV_EFORMAT, "%s.stage: is %d, a device without operators has -1",
                        CLV_PLAN_PATH(at), (int)d->stage);
    if (n > 0 && d->stage == -1)
        return clv_fail(err, CLV_EFORMAT, "%s.stage: is -1, but the device has %d operators",
                        CLV_PLAN_PATH(at), (int)n);
    return CLV_OK;
}

static clv_status read_placement(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                 clv_error *err)
{
    clv_json_at list, at = { 0 };
    int32_t *original;

    CLV_TRY(
        clv_plan_require_int32(root, "stages", 0, CLV_PLAN_JSON_DEVICES_MAX, &plan->n_stages, err));
    CLV_TRY(clv_json_member(root, "devices", true, &list, err));
    CLV_TRY(read_devices(&list, plan, arena, err));
    CLV_TRY(clv_plan_read_copies(root, plan, arena, err));
    CLV_TRY(clv_plan_read_mesh(root, plan, arena, err));
    CLV_TRY(read_operators(root, plan, arena, err));
    CLV_TRY(clv_plan_originals(plan, arena, &original, err));
    int32_t *ops_on = CLV_NEW_ARRAY(arena, int32_t, plan->n_devices);
    bool *has_device = CLV_NEW_ARRAY(arena, bool, plan->n_stages);
    if (!ops_on || !has_device)
        return clv_fail_nomem(err, "a plan");
    for (int32_t i = 0; i < plan->n_ops; i++) {
        int32_t d = plan->device_of_op[i];
        if (original[d] != d)
            return clv_fail(err, CLV_EFORMAT,
                            "%s.operators.device_runs: operator %d is on device %d of a further "
                            "copy, expected %d, which stands for it",
                            CLV_PLAN_PATH(root), (int)i, (int)d, (int)original[d]);
        ops_on[d]++;
    }
    for (int32_t d = 0; d < plan->n_devices; d++) {
        int32_t lead = clv_plan_lead(plan, original[d]), stage = plan->devices[d].stage;
        at = clv_json_element(&list, d, d ? &at : NULL);
        CLV_TRY(check_device(&at, &plan->devices[d], lead < 0 ? 0 : ops_on[lead], err));
        if (stage >= 0)
            has_device[stage] = true;
    }
    for (int32_t s = 0; s < plan->n_stages; s++)
        if (!has_device[s])
            return clv_fail(err, CLV_EFORMAT, "%s: stages is %d, but no device has stage %d",
                            CLV_PLAN_PATH(root), (int)plan->n_stages, (int)s);
    return CLV_OK;
}

/* -- the whole -- */

static clv_status read_bindings(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                clv_error *err)
{
    clv_json_at list, at = { 0 };
    clv_binding binding;
    char path[256];
    CLV_TRY(clv_json_copy_texts(root, "bindings", arena, &plan->bindings, &plan->n_bindings, err));
    CLV_TRY(clv_json_member(root, "bindings", false, &list, err));
    for (int32_t i = 0; i < plan->n_bindings; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(clv_binding_parse(plan->bindings[i], clv_json_path(&at, path, sizeof path),
                                  &binding, err));
    }
    return CLV_OK;
}

static clv_status read_plan(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                            clv_error *err)
{
    static const char *const keys[] = { "schema_version",
                                        "model",
                                        "fingerprint",
                                        "configuration",
                                        "cluster",
                                        "compiler",
                                        "runtime",
                                        "objective",
                                        "available_memory_proportion",
                                        "state_tokens",
                                        "outcome",
                                        "short_device",
                                        "short_bytes",
                                        "latency_ns",
                                        "period_ns",
                                        "host_ns",
                                        "max_latency_ns",
                                        "first_token_ns",
                                        "stages",
                                        "operators",
                                        "devices",
                                        "transfers",
                                        "host_copies",
                                        "kernels",
                                        "search",
                                        "choice",
                                        "profile",
                                        "batch",
                                        "bindings",
                                        "open_tensors",
                                        "unknown_operators",
                                        "notes",
                                        "annotations",
                                        "rules",
                                        "conflict",
                                        "pipeline",
                                        "copies",
                                        "mesh",
                                        "collectives",
                                        "found",
                                        "uneven_parts",
                                        "partial_sums",
                                        NULL };

    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(read_head(root, plan, arena, err));
    CLV_TRY(read_placement(root, plan, arena, err));
    CLV_TRY(clv_plan_read_annotations(root, plan, arena, err));
    CLV_TRY(read_outcome(root, plan, err));
    CLV_TRY(clv_plan_read_pipeline(root, plan, err));
    CLV_TRY(clv_plan_read_transfers(root, plan, arena, err));
    CLV_TRY(clv_plan_read_host_copies(root, plan, arena, err));
    CLV_TRY(clv_plan_read_collectives(root, plan, arena, err));
    CLV_TRY(clv_plan_read_kernels(root, plan, arena, err));
    CLV_TRY(clv_plan_read_found(root, plan, arena, err));
    CLV_TRY(clv_plan_read_search(root, plan, arena, err));
    CLV_TRY(clv_plan_read_choice(root, plan, arena, err));
    CLV_TRY(clv_plan_read_profile(root, plan, arena, err));
    CLV_TRY(clv_plan_read_batch(root, plan, arena, err));
    CLV_TRY(read_bindings(root, plan, arena, err));
    CLV_TRY(clv_json_copy_texts(root, "open_tensors", arena, &plan->open_tensors,
                                &plan->n_open_tensors, err));
    CLV_TRY(clv_json_copy_texts(root, "unknown_operators", arena, &plan->unknown_ops,
                                &plan->n_unknown_ops, err));
    CLV_TRY(clv_plan_get_string(root, "conflict", arena, &plan->conflict, err));
    CLV_TRY(clv_plan_read_rules(root, plan, arena, err));
    return clv_json_copy_texts(root, "notes", arena, &plan->notes, &plan->n_notes, err);
}

clv_status clv_plan_read_at(const clv_json_at *at, clv_arena *arena, clv_plan **ret, clv_error *err)
{
    clv_plan *plan = CLV_NEW(arena, clv_plan);

    if (!plan)
        return clv_fail_nomem(err, "a plan");
    CLV_TRY(read_plan(at, plan, arena, err));
    *ret = plan;
    return CLV_OK;
}

clv_status clv_plan_read(const char *text, size_t n, const char *what, clv_arena *arena,
                         clv_plan **ret, clv_error *err)
{
    clv_json *json = NULL;

    CLV_TRY(clv_json_parse(text, n, what, &json, err));
    clv_json_at root = clv_json_root(json, what);
    clv_status status = clv_plan_read_at(&root, arena, ret, err);
    clv_json_free(json);
    return status;
}
