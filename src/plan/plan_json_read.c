#include "plan/plan_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/map.h"
#include "plan/plan_annotations.h"
#include "plan/plan_json_get.h"
#include "plan/plan_mesh.h"
#include "plan/plan_mesh_json.h"

/* Reading a plan file. People edit it (docs/formats/plan.md), so everything is checked and every
 * message says where. The document tree is held by clv_plan_read() alone; all below copy from it.
 */

static clv_status read_fingerprint(clv_plan_reader *r, const clv_json_at *root)
{
    clv_json_at at;
    const char *text = NULL;
    uint64_t value = 0;

    CLV_TRY(clv_json_member(root, "fingerprint", true, &at, r->err));
    CLV_TRY(clv_json_string(&at, &text, r->err));
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16 ||
        sscanf(text, "%16" SCNx64, &value) != 1)
        return clv_fail(r->err, CLV_EFORMAT, "%s: '%.40s' is not 16 digits of 0-9 and a-f",
                        SHOW(&at), text);
    r->plan->fingerprint = value;
    return CLV_OK;
}

static clv_status read_proportion(clv_plan_reader *r, const clv_json_at *root)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(root, "available_memory_proportion", false, &at, r->err));
    if (!at.json)
        return CLV_OK;
    CLV_TRY(clv_json_number(&at, 0, 1, &r->plan->proportion, r->err));
    if (r->plan->proportion > 0)
        return CLV_OK;
    return clv_fail(r->err, CLV_EFORMAT, "%s: 0 is not above 0; leave it out for the default",
                    SHOW(&at));
}

static clv_status read_head(clv_plan_reader *r, const clv_json_at *root)
{
    clv_plan *plan = r->plan;
    int32_t objective = 0;
    int64_t version = 0;

    CLV_TRY(clv_plan_get_int(r, root, "schema_version", true, 0, INT32_MAX, &version));
    if (version != CLV_PLAN_JSON_VERSION)
        return clv_fail(r->err, CLV_EFORMAT, "%s: schema_version is %d, this program reads %d",
                        SHOW(root), (int)version, CLV_PLAN_JSON_VERSION);
    CLV_TRY(clv_plan_get_string(r, root, "model", false, &plan->model));
    CLV_TRY(read_fingerprint(r, root));
    CLV_TRY(clv_plan_get_string(r, root, "configuration", false, &plan->configuration));
    CLV_TRY(clv_plan_get_string(r, root, "cluster", false, &plan->cluster));
    CLV_TRY(clv_plan_get_string(r, root, "compiler", false, &plan->compiler));
    CLV_TRY(clv_plan_get_word(r, root, "objective", (const char *[]){ "latency", "throughput" }, 2,
                              &objective));
    plan->objective = objective ? CLV_THROUGHPUT : CLV_LATENCY;
    return read_proportion(r, root);
}

/* After the devices: short_device is one of them. */
static clv_status read_outcome(clv_plan_reader *r, const clv_json_at *root)
{
    static const clv_outcome outcomes[] = { CLV_FITS, CLV_OOM, CLV_FAILED, CLV_INFEASIBLE };
    static const char *const words[] = { "fits", "out of memory", "failed", "rules conflict" };
    clv_plan *plan = r->plan;
    int32_t word = 0;

    CLV_TRY(clv_plan_get_word(r, root, "outcome", words, 4, &word));
    plan->outcome = outcomes[word];
    bool oom = plan->outcome == CLV_OOM;
    CLV_TRY(clv_plan_get_int32(r, root, "short_device", oom, 0, plan->n_devices - 1,
                               &plan->short_device));
    CLV_TRY(clv_plan_get_count(r, root, "short_bytes", &plan->short_bytes));
    CLV_TRY(clv_plan_get_count(r, root, "latency_ns", &plan->latency_ns));
    return clv_plan_get_count(r, root, "period_ns", &plan->period_ns);
}

/* -- operators -- */

static clv_status read_run(clv_plan_reader *r, const clv_json_at *run, int32_t *device_of,
                           int64_t *at)
{
    clv_json_at device_at, count_at;
    int64_t device = 0, count = 0;
    int32_t n = 0, n_ops = r->plan->n_ops;

    CLV_TRY(clv_json_length(run, &n, r->err));
    if (n != 2)
        return clv_fail(r->err, CLV_EFORMAT, "%s: has %d elements, a run is [device, count]",
                        SHOW(run), (int)n);
    device_at = clv_json_element(run, 0, NULL);
    count_at = clv_json_element(run, 1, &device_at);
    CLV_TRY(clv_json_int(&device_at, 0, r->plan->n_devices - 1, &device, r->err));
    CLV_TRY(clv_plan_check_lead(r, &device_at, (int32_t)device));
    CLV_TRY(clv_json_int(&count_at, 1, CLV_PLAN_JSON_OPS_MAX, &count, r->err));
    if (count > n_ops - *at)
        return clv_fail(r->err, CLV_EFORMAT,
                        "%s: the runs hold %" PRId64 " operators up to here, 'count' says %" PRId32,
                        SHOW(run), *at + count, n_ops);
    for (int64_t i = 0; i < count; i++)
        device_of[*at + i] = (int32_t)device;
    r->ops_on[device] += (int32_t)count;
    *at += count;
    return CLV_OK;
}

static clv_status read_runs(clv_plan_reader *r, const clv_json_at *list, int32_t *device_of)
{
    clv_json_at run = { 0 };
    int32_t n = 0;
    int64_t total = 0;

    CLV_TRY(clv_json_length(list, &n, r->err));
    for (int32_t i = 0; i < n; i++) {
        run = clv_json_element(list, i, i ? &run : NULL);
        CLV_TRY(read_run(r, &run, device_of, &total));
    }
    if (total == r->plan->n_ops)
        return CLV_OK;
    return clv_fail(r->err, CLV_EFORMAT,
                    "%s: the runs hold %" PRId64 " operators, 'count' says %" PRId32, SHOW(list),
                    total, r->plan->n_ops);
}

static clv_status read_backward_run(clv_plan_reader *r, const clv_json_at *run, bool *backward)
{
    clv_json_at first_at, count_at;
    int64_t first = 0, count = 0;
    int32_t n = 0, n_ops = r->plan->n_ops;

    CLV_TRY(clv_json_length(run, &n, r->err));
    if (n != 2)
        return clv_fail(r->err, CLV_EFORMAT, "%s: has %d elements, a run is [first, count]",
                        SHOW(run), (int)n);
    first_at = clv_json_element(run, 0, NULL);
    count_at = clv_json_element(run, 1, &first_at);
    CLV_TRY(clv_json_int(&first_at, 0, CLV_PLAN_JSON_OPS_MAX, &first, r->err));
    CLV_TRY(clv_json_int(&count_at, 1, CLV_PLAN_JSON_OPS_MAX, &count, r->err));
    if (first + count > n_ops)
        return clv_fail(r->err, CLV_EFORMAT,
                        "%s: ends behind operator %" PRId64 ", 'count' says %" PRId32, SHOW(run),
                        first + count, n_ops);
    for (int64_t i = first; i < first + count; i++) {
        if (backward[i])
            return clv_fail(r->err, CLV_EFORMAT, "%s: operator %" PRId64 " is in a run before it",
                            SHOW(run), i);
        backward[i] = true;
    }
    return CLV_OK;
}

/* Runs do not overlap, so this is no more work than there are operators. */
static clv_status read_backward(clv_plan_reader *r, const clv_json_at *list)
{
    clv_json_at run = { 0 };
    int32_t n = 0;
    bool *backward = CLV_NEW_ARRAY(r->arena, bool, r->plan->n_ops);

    if (!backward)
        return clv_fail_nomem(r->err, "a plan");
    CLV_TRY(clv_json_length(list, &n, r->err));
    for (int32_t i = 0; i < n; i++) {
        run = clv_json_element(list, i, i ? &run : NULL);
        CLV_TRY(read_backward_run(r, &run, backward));
    }
    r->plan->backward_op = backward;
    return CLV_OK;
}

static clv_status read_operators(clv_plan_reader *r, const clv_json_at *root)
{
    static const char *const keys[] = { "count", "device_runs", "backward_runs", "split_runs",
                                        NULL };
    clv_json_at operators, runs;

    CLV_TRY(clv_json_member(root, "operators", true, &operators, r->err));
    CLV_TRY(clv_json_keys(&operators, keys, r->err));
    CLV_TRY(clv_plan_get_int32(r, &operators, "count", true, 0, CLV_PLAN_JSON_OPS_MAX,
                               &r->plan->n_ops));
    CLV_TRY(clv_json_member(&operators, "device_runs", true, &runs, r->err));
    int32_t *device_of = CLV_NEW_ARRAY(r->arena, int32_t, r->plan->n_ops);
    r->ops_on = CLV_NEW_ARRAY(r->arena, int32_t, r->plan->n_devices);
    if (!device_of || !r->ops_on)
        return clv_fail_nomem(r->err, "a plan");
    CLV_TRY(read_runs(r, &runs, device_of));
    r->plan->device_of_op = device_of;
    CLV_TRY(clv_json_member(&operators, "backward_runs", false, &runs, r->err));
    if (runs.json)
        CLV_TRY(read_backward(r, &runs));
    CLV_TRY(clv_json_member(&operators, "split_runs", false, &runs, r->err));
    return clv_plan_read_splits(r, &runs);
}

/* -- devices -- */

static clv_status read_device(clv_plan_reader *r, const clv_json_at *at, clv_plan_device *d)
{
    static const char *const keys[] = { "name",
                                        "kind",
                                        "stage",
                                        "operators",
                                        "weight_bytes",
                                        "activation_bytes",
                                        "workspace_bytes",
                                        "in_flight_bytes",
                                        "peak_bytes",
                                        "capacity_bytes",
                                        "flops",
                                        "busy_ns",
                                        "sharding_nodes",
                                        NULL };

    CLV_TRY(clv_json_keys(at, keys, r->err));
    d->n_ops = -1; /* not given: the runs say */
    CLV_TRY(clv_plan_get_string(r, at, "name", true, &d->name));
    CLV_TRY(clv_plan_get_string(r, at, "kind", false, &d->kind));
    CLV_TRY(clv_plan_get_int32(r, at, "stage", true, -1, r->plan->n_stages - 1, &d->stage));
    CLV_TRY(clv_plan_get_int32(r, at, "operators", false, 0, CLV_PLAN_JSON_OPS_MAX, &d->n_ops));
    CLV_TRY(clv_plan_get_fact(r, at, "weight_bytes", &d->weight_bytes));
    CLV_TRY(clv_plan_get_fact(r, at, "activation_bytes", &d->activation_bytes));
    CLV_TRY(clv_plan_get_fact(r, at, "workspace_bytes", &d->workspace_bytes));
    CLV_TRY(clv_plan_get_fact(r, at, "in_flight_bytes", &d->in_flight_bytes));
    CLV_TRY(clv_plan_get_fact(r, at, "peak_bytes", &d->peak_bytes));
    CLV_TRY(clv_plan_get_fact(r, at, "capacity_bytes", &d->capacity_bytes));
    CLV_TRY(clv_plan_get_fact(r, at, "flops", &d->flops));
    CLV_TRY(clv_plan_get_fact(r, at, "busy_ns", &d->busy_ns));
    return clv_json_copy_texts(at, "sharding_nodes", r->arena, &d->sharding_nodes,
                               &d->n_sharding_nodes, r->err);
}

/* Names are keys for people and for the annotation's device list: none empty, none twice. */
static clv_status check_name(clv_plan_reader *r, clv_map *names, const clv_json_at *at,
                             int32_t device)
{
    const char *name = r->plan->devices[device].name;
    int32_t id = device;

    if (!*name)
        return clv_fail(r->err, CLV_EFORMAT, "%s.name: is empty, each device has a name", SHOW(at));
    CLV_TRY(clv_map_put(names, clv_str_of(name), device, &id, r->err));
    if (id != device)
        return clv_fail(r->err, CLV_EFORMAT, "%s.name: '%.80s' is also devices[%d]", SHOW(at), name,
                        (int)id);
    return CLV_OK;
}

static clv_status read_devices(clv_plan_reader *r, const clv_json_at *list)
{
    clv_json_at at = { 0 };
    clv_map names;
    int32_t n = 0;

    CLV_TRY(clv_json_length(list, &n, r->err));
    if (n < 1 || n > CLV_PLAN_JSON_DEVICES_MAX)
        return clv_fail(r->err, CLV_EFORMAT, "%s: has %d elements, expected 1 to %d", SHOW(list),
                        (int)n, (int)CLV_PLAN_JSON_DEVICES_MAX);
    r->plan->devices = CLV_NEW_ARRAY(r->arena, clv_plan_device, n);
    if (!r->plan->devices)
        return clv_fail_nomem(r->err, "a plan");
    r->plan->n_devices = n;
    CLV_TRY(clv_map_init(&names, r->arena, n, r->err));
    for (int32_t d = 0; d < n; d++) {
        at = clv_json_element(list, d, d ? &at : NULL);
        CLV_TRY(read_device(r, &at, &r->plan->devices[d]));
        CLV_TRY(check_name(r, &names, &at, d));
    }
    return CLV_OK;
}

/* A device has operators exactly when it has a stage, and as many as the runs give it. */
static clv_status check_device(clv_plan_reader *r, const clv_json_at *at, int32_t device)
{
    clv_plan_device *d = &r->plan->devices[device];
    int32_t lead = clv_plan_lead(r->plan, device), n = lead < 0 ? 0 : r->ops_on[lead];

    if (d->n_ops < 0)
        d->n_ops = n;
    if (d->n_ops != n)
        return clv_fail(r->err, CLV_EFORMAT,
                        "%s.operators: is %d, the runs give the device %d; correct it or leave it "
                        "out",
                        SHOW(at), (int)d->n_ops, (int)n);
    if (n == 0 && d->stage != -1)
        return clv_fail(r->err, CLV_EFORMAT, "%s.stage: is %d, a device without operators has -1",
                        SHOW(at), (int)d->stage);
    if (n > 0 && d->stage == -1)
        return clv_fail(r->err, CLV_EFORMAT, "%s.stage: is -1, but the device has %d operators",
                        SHOW(at), (int)n);
    return CLV_OK;
}

static clv_status check_stages(clv_plan_reader *r, const clv_json_at *root)
{
    const clv_plan *plan = r->plan;
    bool *seen = CLV_NEW_ARRAY(r->arena, bool, plan->n_stages);

    if (!seen)
        return clv_fail_nomem(r->err, "a plan");
    for (int32_t d = 0; d < plan->n_devices; d++)
        if (plan->devices[d].stage >= 0)
            seen[plan->devices[d].stage] = true;
    for (int32_t s = 0; s < plan->n_stages; s++)
        if (!seen[s])
            return clv_fail(r->err, CLV_EFORMAT, "%s: stages is %d, but no device has stage %d",
                            SHOW(root), (int)plan->n_stages, (int)s);
    return CLV_OK;
}

static clv_status read_placement(clv_plan_reader *r, const clv_json_at *root)
{
    clv_json_at list, at = { 0 };

    CLV_TRY(clv_plan_get_int32(r, root, "stages", true, 0, CLV_PLAN_JSON_DEVICES_MAX,
                               &r->plan->n_stages));
    CLV_TRY(clv_json_member(root, "devices", true, &list, r->err));
    CLV_TRY(read_devices(r, &list));
    CLV_TRY(clv_plan_read_mesh(r, root));
    CLV_TRY(read_operators(r, root));
    for (int32_t d = 0; d < r->plan->n_devices; d++) {
        at = clv_json_element(&list, d, d ? &at : NULL);
        CLV_TRY(check_device(r, &at, d));
    }
    return check_stages(r, root);
}

/* -- the whole -- */

static clv_status read_annotations(clv_plan_reader *r, const clv_json_at *root)
{
    clv_json_at list;

    CLV_TRY(clv_json_member(root, "annotations", false, &list, r->err));
    return list.json ? clv_plan_read_annotations(&list, r->plan, r->arena, r->err) : CLV_OK;
}

static clv_status check_keys(clv_plan_reader *r, const clv_json_at *root)
{
    static const char *const keys[] = { "schema_version",
                                        "model",
                                        "fingerprint",
                                        "configuration",
                                        "cluster",
                                        "compiler",
                                        "objective",
                                        "available_memory_proportion",
                                        "outcome",
                                        "short_device",
                                        "short_bytes",
                                        "latency_ns",
                                        "period_ns",
                                        "stages",
                                        "operators",
                                        "devices",
                                        "transfers",
                                        "search",
                                        "bindings",
                                        "open_tensors",
                                        "unknown_operators",
                                        "notes",
                                        "annotations",
                                        "rules",
                                        "conflict",
                                        "pipeline",
                                        "mesh",
                                        "collectives",
                                        "found",
                                        "uneven_parts",
                                        "partial_sums",
                                        NULL };

    return clv_json_keys(root, keys, r->err);
}

static clv_status read_plan(clv_plan_reader *r, const clv_json_at *root)
{
    clv_plan *plan = r->plan;

    CLV_TRY(check_keys(r, root));
    CLV_TRY(read_head(r, root));
    CLV_TRY(read_placement(r, root));
    CLV_TRY(read_annotations(r, root));
    CLV_TRY(read_outcome(r, root));
    CLV_TRY(clv_plan_read_pipeline(r, root));
    CLV_TRY(clv_plan_read_transfers(r, root));
    CLV_TRY(clv_plan_read_collectives(r, root));
    CLV_TRY(clv_plan_read_found(r, root));
    CLV_TRY(clv_plan_read_search(r, root));
    CLV_TRY(clv_json_copy_texts(root, "bindings", r->arena, &plan->bindings, &plan->n_bindings,
                                r->err));
    CLV_TRY(clv_json_copy_texts(root, "open_tensors", r->arena, &plan->open_tensors,
                                &plan->n_open_tensors, r->err));
    CLV_TRY(clv_json_copy_texts(root, "unknown_operators", r->arena, &plan->unknown_ops,
                                &plan->n_unknown_ops, r->err));
    CLV_TRY(clv_plan_get_string(r, root, "conflict", false, &plan->conflict));
    CLV_TRY(clv_plan_read_rules(r, root));
    return clv_json_copy_texts(root, "notes", r->arena, &plan->notes, &plan->n_notes, r->err);
}

clv_status clv_plan_read(const char *text, size_t n, const char *what, clv_arena *arena,
                         clv_plan **ret, clv_error *err)
{
    clv_json *json = NULL;
    clv_plan_reader r = { .arena = arena, .plan = CLV_NEW(arena, clv_plan), .err = err };

    if (!r.plan)
        return clv_fail_nomem(err, "a plan");
    CLV_TRY(clv_json_parse(text, n, what, &json, err));
    clv_json_at root = clv_json_root(json, what);
    clv_status status = read_plan(&r, &root);
    if (status == CLV_OK)
        *ret = r.plan;
    clv_json_free(json);
    return status;
}
