#include "plan/plan_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/map.h"
#include "base/units.h"
#include "plan/plan_annotations.h"
#include "problem/micro.h"

/* Reading a plan file. People edit it (docs/formats/plan.md), so everything is checked and every
 * message says where. The document tree is held by clv_plan_read() alone; all below copy from it.
 */

typedef struct {
    clv_arena *arena;
    clv_plan *plan;
    int32_t *ops_on; /* operators of each device, from the runs */
    clv_error *err;
} reader;

#define SHOW(at) clv_json_path((at), (char[256]){ 0 }, 256)

static clv_status get_string(reader *r, const clv_json_at *object, const char *key, bool required,
                             const char **ret)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(object, key, required, &at, r->err));
    return at.json ? clv_json_copy_string(&at, r->arena, ret, r->err) : CLV_OK;
}

/* A count, or as text when it is above 2^53. Absent: *ret stays. */
static clv_status get_int(reader *r, const clv_json_at *object, const char *key, bool required,
                          int64_t min, int64_t max, int64_t *ret)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(object, key, required, &at, r->err));
    if (!at.json)
        return CLV_OK;
    if (max > CLV_PLAN_JSON_INT_MAX && clv_json_is_string(&at)) {
        const char *text = NULL;
        CLV_TRY(clv_json_string(&at, &text, r->err));
        clv_status status =
            clv_parse_int(text, SHOW(&at), CLV_PLAN_JSON_INT_MAX + 1, max, ret, r->err);
        if (status != CLV_OK && r->err) /* a wrong request on a command line, a wrong file here */
            r->err->status = CLV_EFORMAT;
        return status == CLV_OK ? CLV_OK : CLV_EFORMAT;
    }
    if (max > CLV_PLAN_JSON_INT_MAX)
        max = CLV_PLAN_JSON_INT_MAX;
    return clv_json_int(&at, min, max, ret, r->err);
}

static clv_status get_int32(reader *r, const clv_json_at *object, const char *key, bool required,
                            int64_t min, int64_t max, int32_t *ret)
{
    int64_t value = *ret;

    CLV_TRY(get_int(r, object, key, required, min, max, &value));
    *ret = (int32_t)value;
    return CLV_OK;
}

static clv_status get_count(reader *r, const clv_json_at *object, const char *key, int64_t *ret)
{
    return get_int(r, object, key, false, 0, INT64_MAX, ret);
}

static clv_status get_fact(reader *r, const clv_json_at *object, const char *key, int64_t *ret)
{
    *ret = CLV_PLAN_UNKNOWN;
    return get_count(r, object, key, ret);
}

static clv_status get_list(reader *r, const clv_json_at *object, const char *key, const char ***ret,
                           int32_t *ret_n)
{
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_member(object, key, false, &list, r->err));
    if (!list.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, r->err));
    const char **texts = CLV_NEW_ARRAY(r->arena, const char *, n);
    if (!texts)
        return clv_fail_nomem(r->err, "a plan");
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(clv_json_copy_string(&at, r->arena, &texts[i], r->err));
    }
    *ret = texts;
    *ret_n = n;
    return CLV_OK;
}

/* One of two to four words. */
static clv_status get_word(reader *r, const clv_json_at *object, const char *key,
                           const char *const *words, int32_t n, int32_t *ret)
{
    clv_json_at at;
    const char *text = NULL;

    CLV_TRY(clv_json_member(object, key, true, &at, r->err));
    CLV_TRY(clv_json_string(&at, &text, r->err));
    for (int32_t i = 0; i < n; i++)
        if (strcmp(text, words[i]) == 0) {
            *ret = i;
            return CLV_OK;
        }
    return clv_fail(r->err, CLV_EFORMAT, "%s: '%.40s' is not one of '%s', '%s'%s%s%s%s%s%s",
                    SHOW(&at), text, words[0], words[1], n > 2 ? ", '" : "", n > 2 ? words[2] : "",
                    n > 2 ? "'" : "", n > 3 ? ", '" : "", n > 3 ? words[3] : "", n > 3 ? "'" : "");
}

static clv_status read_fingerprint(reader *r, const clv_json_at *root)
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

static clv_status read_proportion(reader *r, const clv_json_at *root)
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

static clv_status read_head(reader *r, const clv_json_at *root)
{
    clv_plan *plan = r->plan;
    int32_t objective = 0;
    int64_t version = 0;

    CLV_TRY(get_int(r, root, "schema_version", true, 0, INT32_MAX, &version));
    if (version != CLV_PLAN_JSON_VERSION)
        return clv_fail(r->err, CLV_EFORMAT, "%s: schema_version is %d, this program reads %d",
                        SHOW(root), (int)version, CLV_PLAN_JSON_VERSION);
    CLV_TRY(get_string(r, root, "model", false, &plan->model));
    CLV_TRY(read_fingerprint(r, root));
    CLV_TRY(get_string(r, root, "configuration", false, &plan->configuration));
    CLV_TRY(get_string(r, root, "cluster", false, &plan->cluster));
    CLV_TRY(get_string(r, root, "compiler", false, &plan->compiler));
    CLV_TRY(
        get_word(r, root, "objective", (const char *[]){ "latency", "throughput" }, 2, &objective));
    plan->objective = objective ? CLV_THROUGHPUT : CLV_LATENCY;
    return read_proportion(r, root);
}

/* After the devices: short_device is one of them. */
static clv_status read_outcome(reader *r, const clv_json_at *root)
{
    static const clv_outcome outcomes[] = { CLV_FITS, CLV_OOM, CLV_FAILED, CLV_INFEASIBLE };
    static const char *const words[] = { "fits", "out of memory", "failed", "rules conflict" };
    clv_plan *plan = r->plan;
    int32_t word = 0;

    CLV_TRY(get_word(r, root, "outcome", words, 4, &word));
    plan->outcome = outcomes[word];
    bool oom = plan->outcome == CLV_OOM;
    CLV_TRY(get_int32(r, root, "short_device", oom, 0, plan->n_devices - 1, &plan->short_device));
    CLV_TRY(get_count(r, root, "short_bytes", &plan->short_bytes));
    CLV_TRY(get_count(r, root, "latency_ns", &plan->latency_ns));
    return get_count(r, root, "period_ns", &plan->period_ns);
}

/* -- operators -- */

static clv_status read_run(reader *r, const clv_json_at *run, int32_t *device_of, int64_t *at)
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

static clv_status read_runs(reader *r, const clv_json_at *list, int32_t *device_of)
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

static clv_status read_backward_run(reader *r, const clv_json_at *run, bool *backward)
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
static clv_status read_backward(reader *r, const clv_json_at *list)
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

static clv_status read_operators(reader *r, const clv_json_at *root)
{
    static const char *const keys[] = { "count", "device_runs", "backward_runs", NULL };
    clv_json_at operators, runs;

    CLV_TRY(clv_json_member(root, "operators", true, &operators, r->err));
    CLV_TRY(clv_json_keys(&operators, keys, r->err));
    CLV_TRY(get_int32(r, &operators, "count", true, 0, CLV_PLAN_JSON_OPS_MAX, &r->plan->n_ops));
    CLV_TRY(clv_json_member(&operators, "device_runs", true, &runs, r->err));
    int32_t *device_of = CLV_NEW_ARRAY(r->arena, int32_t, r->plan->n_ops);
    r->ops_on = CLV_NEW_ARRAY(r->arena, int32_t, r->plan->n_devices);
    if (!device_of || !r->ops_on)
        return clv_fail_nomem(r->err, "a plan");
    CLV_TRY(read_runs(r, &runs, device_of));
    r->plan->device_of_op = device_of;
    CLV_TRY(clv_json_member(&operators, "backward_runs", false, &runs, r->err));
    return runs.json ? read_backward(r, &runs) : CLV_OK;
}

/* -- devices -- */

static clv_status read_device(reader *r, const clv_json_at *at, clv_plan_device *d)
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
    CLV_TRY(get_string(r, at, "name", true, &d->name));
    CLV_TRY(get_string(r, at, "kind", false, &d->kind));
    CLV_TRY(get_int32(r, at, "stage", true, -1, r->plan->n_stages - 1, &d->stage));
    CLV_TRY(get_int32(r, at, "operators", false, 0, CLV_PLAN_JSON_OPS_MAX, &d->n_ops));
    CLV_TRY(get_fact(r, at, "weight_bytes", &d->weight_bytes));
    CLV_TRY(get_fact(r, at, "activation_bytes", &d->activation_bytes));
    CLV_TRY(get_fact(r, at, "workspace_bytes", &d->workspace_bytes));
    CLV_TRY(get_fact(r, at, "in_flight_bytes", &d->in_flight_bytes));
    CLV_TRY(get_fact(r, at, "peak_bytes", &d->peak_bytes));
    CLV_TRY(get_fact(r, at, "capacity_bytes", &d->capacity_bytes));
    CLV_TRY(get_fact(r, at, "flops", &d->flops));
    CLV_TRY(get_fact(r, at, "busy_ns", &d->busy_ns));
    return get_list(r, at, "sharding_nodes", &d->sharding_nodes, &d->n_sharding_nodes);
}

/* Names are keys for people and for the annotation's device list: none empty, none twice. */
static clv_status check_name(reader *r, clv_map *names, const clv_json_at *at, int32_t device)
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

static clv_status read_devices(reader *r, const clv_json_at *list)
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
static clv_status check_device(reader *r, const clv_json_at *at, int32_t device)
{
    clv_plan_device *d = &r->plan->devices[device];
    int32_t n = r->ops_on[device];

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

static clv_status check_stages(reader *r, const clv_json_at *root)
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

static clv_status read_placement(reader *r, const clv_json_at *root)
{
    clv_json_at list, at = { 0 };

    CLV_TRY(get_int32(r, root, "stages", true, 0, CLV_PLAN_JSON_DEVICES_MAX, &r->plan->n_stages));
    CLV_TRY(clv_json_member(root, "devices", true, &list, r->err));
    CLV_TRY(read_devices(r, &list));
    CLV_TRY(read_operators(r, root));
    for (int32_t d = 0; d < r->plan->n_devices; d++) {
        at = clv_json_element(&list, d, d ? &at : NULL);
        CLV_TRY(check_device(r, &at, d));
    }
    return check_stages(r, root);
}

/* -- the rest -- */

static clv_status read_transfer(reader *r, const clv_json_at *at, clv_plan_transfer *t)
{
    static const char *const keys[] = { "tensor", "from", "to", "bytes", "ns", NULL };
    int32_t last = r->plan->n_devices - 1;

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(get_string(r, at, "tensor", true, &t->tensor));
    CLV_TRY(get_int32(r, at, "from", true, 0, last, &t->from));
    CLV_TRY(get_int32(r, at, "to", true, 0, last, &t->to));
    if (t->from == t->to)
        return clv_fail(r->err, CLV_EFORMAT, "%s: goes from device %d to itself", SHOW(at),
                        (int)t->to);
    CLV_TRY(get_fact(r, at, "bytes", &t->bytes));
    return get_fact(r, at, "ns", &t->ns);
}

static clv_status read_transfers(reader *r, const clv_json_at *root)
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

static clv_status read_annotations(reader *r, const clv_json_at *root)
{
    clv_json_at list;

    CLV_TRY(clv_json_member(root, "annotations", false, &list, r->err));
    return list.json ? clv_plan_read_annotations(&list, r->plan, r->arena, r->err) : CLV_OK;
}

/* Why the search stopped and what it proved; the gap follows from that. */
static clv_status read_proof(reader *r, const clv_json_at *search)
{
    clv_json_at at;
    double gap;

    CLV_TRY(get_string(r, search, "stopped", false, &r->plan->stopped));
    CLV_TRY(clv_json_member(search, "gap", false, &at, r->err));
    if (at.json)
        CLV_TRY(clv_json_number(&at, 0, 1, &gap, r->err));
    CLV_TRY(clv_json_member(search, "bound_ns", false, &at, r->err));
    if (!at.json || clv_json_is_null(&at))
        return CLV_OK;
    return get_count(r, search, "bound_ns", &r->plan->bound_ns);
}

static clv_status read_search(reader *r, const clv_json_at *root)
{
    static const char *const keys[] = { "name",     "judged", "fitting", "stopped",
                                        "bound_ns", "gap",    NULL };
    clv_plan *plan = r->plan;
    clv_json_at at;

    CLV_TRY(clv_json_member(root, "search", false, &at, r->err));
    if (!at.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&at, keys, r->err));
    CLV_TRY(get_string(r, &at, "name", false, &plan->search));
    CLV_TRY(get_int32(r, &at, "judged", false, 0, INT32_MAX, &plan->n_judged));
    CLV_TRY(get_int32(r, &at, "fitting", false, 0, plan->n_judged, &plan->n_fitting));
    return read_proof(r, &at);
}

static clv_status read_rule(reader *r, const clv_json_at *at, clv_plan_rule *rule)
{
    static const char *const keys[] = { "name", "why", "says", "state", NULL };
    static const char *const states[] = { "in force", "unused", "conflict", "left out" };
    int32_t word = 0;

    CLV_TRY(clv_json_keys(at, keys, r->err));
    CLV_TRY(get_string(r, at, "name", false, &rule->name));
    CLV_TRY(get_string(r, at, "why", false, &rule->why));
    CLV_TRY(get_string(r, at, "says", true, &rule->says));
    CLV_TRY(get_word(r, at, "state", states, 4, &word));
    rule->state = states[word];
    return CLV_OK;
}

static clv_status read_rules(reader *r, const clv_json_at *root)
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
static clv_status read_pipeline(reader *r, const clv_json_at *root)
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
    CLV_TRY(get_int32(r, &pipeline, "microbatches", true, 1, CLV_MICRO_MAX, &plan->microbatches));
    CLV_TRY(get_word(r, &pipeline, "chosen", (const char *[]){ "given", "filled", "memory" }, 3,
                     &word));
    plan->why_microbatches = reasons[word];
    CLV_TRY(get_fact(r, &pipeline, "fill_ns", &plan->fill_ns));
    CLV_TRY(get_fact(r, &pipeline, "drain_ns", &plan->drain_ns));
    CLV_TRY(get_count(r, &pipeline, "run_ns", &run));
    CLV_TRY(clv_json_member(&pipeline, "bubble", false, &at, r->err));
    return at.json ? clv_json_number(&at, 0, 1, &bubble, r->err) : CLV_OK;
}

static clv_status read_plan(reader *r, const clv_json_at *root)
{
    static const char *const keys[] = { "schema_version",    "model",
                                        "fingerprint",       "configuration",
                                        "cluster",           "compiler",
                                        "objective",         "available_memory_proportion",
                                        "outcome",           "short_device",
                                        "short_bytes",       "latency_ns",
                                        "period_ns",         "stages",
                                        "operators",         "devices",
                                        "transfers",         "search",
                                        "bindings",          "open_tensors",
                                        "unknown_operators", "notes",
                                        "annotations",       "rules",
                                        "conflict",          "pipeline",
                                        NULL };
    clv_plan *plan = r->plan;

    CLV_TRY(clv_json_keys(root, keys, r->err));
    CLV_TRY(read_head(r, root));
    CLV_TRY(read_placement(r, root));
    CLV_TRY(read_annotations(r, root));
    CLV_TRY(read_outcome(r, root));
    CLV_TRY(read_pipeline(r, root));
    CLV_TRY(read_transfers(r, root));
    CLV_TRY(read_search(r, root));
    CLV_TRY(get_list(r, root, "bindings", &plan->bindings, &plan->n_bindings));
    CLV_TRY(get_list(r, root, "open_tensors", &plan->open_tensors, &plan->n_open_tensors));
    CLV_TRY(get_list(r, root, "unknown_operators", &plan->unknown_ops, &plan->n_unknown_ops));
    CLV_TRY(get_string(r, root, "conflict", false, &plan->conflict));
    CLV_TRY(read_rules(r, root));
    return get_list(r, root, "notes", &plan->notes, &plan->n_notes);
}

clv_status clv_plan_read(const char *text, size_t n, const char *what, clv_arena *arena,
                         clv_plan **ret, clv_error *err)
{
    clv_json *json = NULL;
    reader r = { .arena = arena, .plan = CLV_NEW(arena, clv_plan), .err = err };

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
