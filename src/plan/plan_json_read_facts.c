#include "plan/plan_json_read_facts.h"

#include <string.h>

#include "graph/graph.h"
#include "plan/plan_json.h"
#include "plan/plan_mesh.h"
#include "problem/micro.h"
#include "sharding/steps.h"

clv_status clv_plan_read_pipeline(const clv_json_at *root, clv_plan *plan, clv_error *err)
{
    static const char *const keys[] = { "microbatches", "chosen", "fill_ns", "drain_ns",
                                        "run_ns",       "bubble", NULL };
    clv_json_at pipeline, at;
    int32_t word = 0;
    int64_t run_ns = 0; /* this and the bubble follow from other numbers and are not kept */
    double bubble;

    CLV_TRY(clv_json_member(root, "pipeline", false, &pipeline, err));
    if (!pipeline.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&pipeline, keys, err));
    CLV_TRY(clv_plan_require_int32(&pipeline, "microbatches", 1, CLV_MICRO_MAX, &plan->microbatches,
                                   err));
    CLV_TRY(clv_plan_require_word(&pipeline, "chosen", clv_plan_micro_words, 3, &word, err));
    plan->why_microbatches = (clv_micro_reason)word;
    CLV_TRY(clv_plan_get_known_count(&pipeline, "fill_ns", &plan->fill_ns, err));
    CLV_TRY(clv_plan_get_known_count(&pipeline, "drain_ns", &plan->drain_ns, err));
    CLV_TRY(clv_plan_get_count(&pipeline, "run_ns", &run_ns, err));
    CLV_TRY(clv_json_member(&pipeline, "bubble", false, &at, err));
    return at.json ? clv_json_number(&at, 0, 1, &bubble, err) : CLV_OK;
}

clv_status clv_plan_read_transfers(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                   clv_error *err)
{
    static const char *const keys[] = { "tensor", "from", "to", "bytes", "ns", "basis", NULL };
    int32_t last = plan->n_devices - 1;
    clv_json_at at = { 0 };
    clv_plan_list list;

    CLV_TRY(clv_plan_get_list(root, "transfers", sizeof *plan->transfers, arena, &list, err));
    plan->transfers = list.room;
    plan->n_transfers = list.n;
    for (int32_t i = 0; i < list.n; i++) {
        clv_plan_transfer *t = &plan->transfers[i];
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        CLV_TRY(clv_json_keys(&at, keys, err));
        CLV_TRY(clv_plan_require_string(&at, "tensor", arena, &t->tensor, err));
        CLV_TRY(clv_plan_require_int32(&at, "from", 0, last, &t->from, err));
        CLV_TRY(clv_plan_require_int32(&at, "to", 0, last, &t->to, err));
        if (t->from == t->to)
            return clv_fail(err, CLV_EFORMAT, "%s: goes from device %d to itself",
                            CLV_PLAN_PATH(&at), (int)t->to);
        CLV_TRY(clv_plan_get_known_count(&at, "bytes", &t->bytes, err));
        CLV_TRY(clv_plan_get_known_count(&at, "ns", &t->ns, err));
        CLV_TRY(clv_plan_get_basis(&at, &t->basis, err));
    }
    return CLV_OK;
}

/* Numbers of devices, rising. */
static clv_status read_copy_devices(const clv_json_at *copy, int32_t last, clv_arena *arena,
                                    clv_plan_host_copy *ret, clv_error *err)
{
    clv_json_at at = { 0 };
    clv_plan_list list;
    int64_t device, before = -1;

    CLV_TRY(clv_plan_get_list(copy, "devices", sizeof(int32_t), arena, &list, err));
    for (int32_t i = 0; i < list.n; i++) {
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        CLV_TRY(clv_json_int(&at, 0, last, &device, err));
        if (device <= before)
            return clv_fail(err, CLV_EFORMAT,
                            "%s: is %d after %d, expected each device once, in their order",
                            CLV_PLAN_PATH(&at), (int)device, (int)before);
        ((int32_t *)list.room)[i] = (int32_t)device;
        before = device;
    }
    ret->devices = list.room;
    ret->n_devices = list.n;
    return CLV_OK;
}

static clv_status read_copies_of(const clv_json_at *copies, const char *key, int32_t last,
                                 clv_arena *arena, clv_plan_list *ret, clv_error *err)
{
    static const char *const keys[] = { "tensor", "devices", "bytes", "ns", NULL };
    clv_json_at at = { 0 };

    CLV_TRY(clv_plan_get_list(copies, key, sizeof(clv_plan_host_copy), arena, ret, err));
    for (int32_t i = 0; i < ret->n; i++) {
        clv_plan_host_copy *copy = (clv_plan_host_copy *)ret->room + i;
        at = clv_json_element(&ret->at, i, i ? &at : NULL);
        CLV_TRY(clv_json_keys(&at, keys, err));
        CLV_TRY(clv_plan_require_string(&at, "tensor", arena, &copy->tensor, err));
        CLV_TRY(read_copy_devices(&at, last, arena, copy, err));
        CLV_TRY(clv_plan_get_count(&at, "bytes", &copy->bytes, err));
        CLV_TRY(clv_plan_get_count(&at, "ns", &copy->ns, err));
    }
    return CLV_OK;
}

clv_status clv_plan_read_host_copies(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                     clv_error *err)
{
    static const char *const keys[] = { "inputs_ns", "outputs_ns", "basis",
                                        "inputs",    "outputs",    NULL };
    int32_t last = plan->n_devices - 1;
    clv_json_at copies;
    clv_plan_list inputs, outputs;

    CLV_TRY(clv_json_member(root, "host_copies", false, &copies, err));
    if (!copies.json)
        return CLV_OK;
    clv_plan_host_copies *made = CLV_NEW(arena, clv_plan_host_copies);
    if (!made)
        return clv_fail_nomem(err, "a plan");
    CLV_TRY(clv_json_keys(&copies, keys, err));
    CLV_TRY(clv_plan_get_count(&copies, "inputs_ns", &made->inputs_ns, err));
    CLV_TRY(clv_plan_get_count(&copies, "outputs_ns", &made->outputs_ns, err));
    CLV_TRY(clv_plan_get_basis(&copies, &made->basis, err));
    CLV_TRY(read_copies_of(&copies, "inputs", last, arena, &inputs, err));
    CLV_TRY(read_copies_of(&copies, "outputs", last, arena, &outputs, err));
    made->inputs = inputs.room;
    made->n_inputs = inputs.n;
    made->outputs = outputs.room;
    made->n_outputs = outputs.n;
    plan->host_copies = made;
    return CLV_OK;
}

/* Numbers in a fixed order, none below 0. */
static clv_status read_numbers(const clv_json_at *kernel, const char *key, int64_t *ret, int32_t n,
                               clv_error *err)
{
    clv_json_at list, at = { 0 };
    int32_t n_there = 0;

    CLV_TRY(clv_json_member(kernel, key, true, &list, err));
    CLV_TRY(clv_json_length(&list, &n_there, err));
    if (n_there != n)
        return clv_fail(err, CLV_EFORMAT, "%s: has %d numbers, expected %d", CLV_PLAN_PATH(&list),
                        (int)n_there, (int)n);
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(clv_plan_read_count(&at, &ret[i], err));
    }
    return CLV_OK;
}

clv_status clv_plan_read_kernels(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                 clv_error *err)
{
    static const char *const keys[] = { "name", "kind",     "device", "operators",
                                        "ns",   "basis_ns", NULL };
    clv_json_at at = { 0 };
    clv_plan_list list;

    CLV_TRY(clv_plan_get_list(root, "kernels", sizeof *plan->kernels, arena, &list, err));
    for (int32_t i = 0; i < list.n; i++) {
        clv_plan_kernel *k = (clv_plan_kernel *)list.room + i;
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        CLV_TRY(clv_json_keys(&at, keys, err));
        CLV_TRY(clv_plan_require_string(&at, "name", arena, &k->name, err));
        CLV_TRY(clv_plan_require_string(&at, "kind", arena, &k->kind, err));
        CLV_TRY(clv_plan_require_int32(&at, "device", 0, plan->n_devices - 1, &k->device, err));
        CLV_TRY(clv_plan_require_int32(&at, "operators", 0, CLV_PLAN_JSON_OPS_MAX, &k->n_ops, err));
        CLV_TRY(read_numbers(&at, "ns", k->ns, CLV_N_TIME_CAUSES, err));
        CLV_TRY(read_numbers(&at, "basis_ns", k->basis_ns, CLV_N_BASES, err));
    }
    plan->kernels = list.room;
    plan->n_kernels = list.n;
    return CLV_OK;
}

/* -- with meshes -- */

static clv_status read_kind(const clv_json_at *collective, const char **ret, clv_error *err)
{
    clv_json_at at;
    const char *text = NULL;

    CLV_TRY(clv_json_member(collective, "kind", true, &at, err));
    CLV_TRY(clv_json_string(&at, &text, err));
    for (int32_t k = 0; k < CLV_N_STEPS; k++)
        if (strcmp(text, clv_step_name((clv_step_kind)k)) == 0) {
            *ret = clv_step_name((clv_step_kind)k);
            return CLV_OK;
        }
    return clv_fail(err, CLV_EFORMAT,
                    "%s: '%.40s' is no collective, expected one like '%s' or '%s'",
                    CLV_PLAN_PATH(&at), text, clv_step_name(CLV_STEP_ALL_REDUCE),
                    clv_step_name(CLV_STEP_ALL_GATHER));
}

static clv_status read_collective(const clv_json_at *at, const clv_plan *plan, clv_arena *arena,
                                  clv_plan_collective *c, clv_error *err)
{
    static const char *const keys[] = { "kind", "axes", "stage", "tensor", "reader",
                                        "from", "to",   "bytes", "ns",     NULL };
    char buf[CLV_MESH_FAULT];

    CLV_TRY(clv_json_keys(at, keys, err));
    CLV_TRY(read_kind(at, &c->kind, err));
    CLV_TRY(clv_plan_require_string(at, "axes", arena, &c->axes, err));
    const char *fault = clv_plan_axes_fault(plan, c->axes, buf);
    if (fault)
        return clv_fail(err, CLV_EFORMAT, "%s.axes: %s", CLV_PLAN_PATH(at), fault);
    CLV_TRY(clv_plan_require_int32(at, "stage", 0, plan->n_stages - 1, &c->stage, err));
    CLV_TRY(clv_plan_require_string(at, "tensor", arena, &c->tensor, err));
    CLV_TRY(clv_plan_get_string(at, "reader", arena, &c->reader, err));
    CLV_TRY(clv_plan_get_string(at, "from", arena, &c->from, err));
    CLV_TRY(clv_plan_get_string(at, "to", arena, &c->to, err));
    CLV_TRY(clv_plan_get_known_count(at, "bytes", &c->bytes, err));
    return clv_plan_get_known_count(at, "ns", &c->ns, err);
}

clv_status clv_plan_read_collectives(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                     clv_error *err)
{
    clv_json_at at = { 0 };
    clv_plan_list list;

    CLV_TRY(clv_plan_get_list(root, "collectives", sizeof *plan->collectives, arena, &list, err));
    if (list.n > 0 && !clv_plan_has_mesh(plan))
        return clv_fail(err, CLV_EFORMAT, "%s: the plan has collectives, but no mesh",
                        CLV_PLAN_PATH(&list.at));
    plan->collectives = list.room;
    for (int32_t i = 0; i < list.n; i++) {
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        CLV_TRY(read_collective(&at, plan, arena, &plan->collectives[i], err));
    }
    plan->n_collectives = list.n;
    return CLV_OK;
}

static clv_status read_findings(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                clv_error *err)
{
    static const char *const keys[] = { "name", "axes", "count", "of", NULL };
    clv_json_at at = { 0 };
    clv_plan_list list;

    CLV_TRY(clv_plan_get_list(root, "found", sizeof *plan->found, arena, &list, err));
    for (int32_t i = 0; i < list.n; i++) {
        clv_plan_finding *f = (clv_plan_finding *)list.room + i;
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        f->axes = "";
        CLV_TRY(clv_json_keys(&at, keys, err));
        CLV_TRY(clv_plan_require_string(&at, "name", arena, &f->name, err));
        CLV_TRY(clv_plan_get_string(&at, "axes", arena, &f->axes, err));
        CLV_TRY(clv_plan_require_int32(&at, "count", 0, INT32_MAX, &f->n, err));
        CLV_TRY(clv_plan_require_string(&at, "of", arena, &f->of, err));
    }
    plan->found = list.room;
    plan->n_found = list.n;
    return CLV_OK;
}

static clv_status read_uneven(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                              clv_error *err)
{
    static const char *const keys[] = { "tensor", "axis", "sizes", NULL };
    clv_json_at at = { 0 };
    clv_plan_list list;

    CLV_TRY(clv_plan_get_list(root, "uneven_parts", sizeof *plan->uneven, arena, &list, err));
    for (int32_t i = 0; i < list.n; i++) {
        clv_plan_uneven *u = (clv_plan_uneven *)list.room + i;
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        CLV_TRY(clv_json_keys(&at, keys, err));
        CLV_TRY(clv_plan_require_string(&at, "tensor", arena, &u->tensor, err));
        CLV_TRY(clv_plan_require_int32(&at, "axis", 0, CLV_RANK_MAX - 1, &u->dim, err));
        CLV_TRY(clv_plan_require_string(&at, "sizes", arena, &u->sizes, err));
    }
    plan->uneven = list.room;
    plan->n_uneven = list.n;
    return CLV_OK;
}

static clv_status read_partial(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                               clv_error *err)
{
    static const char *const keys[] = { "tensor", "layout", NULL };
    clv_json_at at = { 0 };
    clv_plan_list list;

    CLV_TRY(clv_plan_get_list(root, "partial_sums", sizeof *plan->partial, arena, &list, err));
    for (int32_t i = 0; i < list.n; i++) {
        clv_plan_partial *p = (clv_plan_partial *)list.room + i;
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        CLV_TRY(clv_json_keys(&at, keys, err));
        CLV_TRY(clv_plan_require_string(&at, "tensor", arena, &p->tensor, err));
        CLV_TRY(clv_plan_require_string(&at, "layout", arena, &p->layout, err));
    }
    plan->partial = list.room;
    plan->n_partial = list.n;
    return CLV_OK;
}

clv_status clv_plan_read_found(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                               clv_error *err)
{
    CLV_TRY(read_findings(root, plan, arena, err));
    CLV_TRY(read_uneven(root, plan, arena, err));
    return read_partial(root, plan, arena, err);
}

/* -- how it was found -- */

clv_status clv_plan_read_search(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                                clv_error *err)
{
    static const char *const keys[] = { "name",     "judged", "fitting", "stopped",
                                        "bound_ns", "gap",    NULL };
    clv_json_at search, at;
    double gap;

    CLV_TRY(clv_json_member(root, "search", false, &search, err));
    if (!search.json)
        return CLV_OK;
    CLV_TRY(clv_json_keys(&search, keys, err));
    CLV_TRY(clv_plan_get_string(&search, "name", arena, &plan->search, err));
    CLV_TRY(clv_plan_get_int32(&search, "judged", 0, INT32_MAX, &plan->n_judged, err));
    CLV_TRY(clv_plan_get_int32(&search, "fitting", 0, plan->n_judged, &plan->n_fitting, err));
    CLV_TRY(clv_plan_get_string(&search, "stopped", arena, &plan->stopped, err));
    CLV_TRY(clv_json_member(&search, "gap", false, &at, err));
    if (at.json)
        CLV_TRY(clv_json_number(&at, 0, 1, &gap, err));
    CLV_TRY(clv_json_member(&search, "bound_ns", false, &at, err));
    if (!at.json || clv_json_is_null(&at))
        return CLV_OK;
    return clv_plan_get_count(&search, "bound_ns", &plan->bound_ns, err);
}

clv_status clv_plan_read_rules(const clv_json_at *root, clv_plan *plan, clv_arena *arena,
                               clv_error *err)
{
    static const char *const keys[] = { "name", "why", "says", "state", NULL };
    static const char *const states[] = { "in force", "unused", "conflict", "left out" };
    clv_json_at at = { 0 };
    clv_plan_list list;

    CLV_TRY(clv_plan_get_list(root, "rules", sizeof *plan->rules, arena, &list, err));
    plan->rules = list.room;
    plan->n_rules = list.n;
    for (int32_t i = 0; i < list.n; i++) {
        clv_plan_rule *rule = &plan->rules[i];
        int32_t word = 0;
        at = clv_json_element(&list.at, i, i ? &at : NULL);
        CLV_TRY(clv_json_keys(&at, keys, err));
        CLV_TRY(clv_plan_get_string(&at, "name", arena, &rule->name, err));
        CLV_TRY(clv_plan_get_string(&at, "why", arena, &rule->why, err));
        CLV_TRY(clv_plan_require_string(&at, "says", arena, &rule->says, err));
        CLV_TRY(clv_plan_require_word(&at, "state", states, 4, &word, err));
        rule->state = states[word];
    }
    return CLV_OK;
}
