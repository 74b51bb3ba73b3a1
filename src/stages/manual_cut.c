#include "stages/manual_cut.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/map.h"
#include "base/units.h"

/* Nodes are collected as written, then put in order of their devices by counting. */

#define NO_STAGE (-1)

typedef struct {
    const clv_graph *g;
    int32_t n_devices;
    clv_arena *arena;
    clv_map labels; /* to operators */
    bool *named;    /* n_ops */
    clv_op *node;   /* as written */
    int32_t *device, *stage;
    int32_t n;
    bool stages;
    clv_status wrong;
} reader;

static clv_status add_node(reader *r, clv_str name, int64_t device, clv_error *err)
{
    clv_op op = { clv_map_get(&r->labels, name) };
    if (op.i < 0)
        return clv_fail(err, r->wrong,
                        "sharding node '%.*s' is not an operator of the model's main graph",
                        CLV_STR_ARG(name));
    if (r->named[op.i])
        return clv_fail(err, r->wrong, "sharding node '%.*s' is given twice", CLV_STR_ARG(name));
    if (device < 0 || device >= r->n_devices)
        return clv_fail(err, r->wrong, "sharding node '%.*s' is for device %lld: expected 0 to %d",
                        CLV_STR_ARG(name), (long long)device, r->n_devices - 1);
    r->named[op.i] = true;
    r->node[r->n] = op;
    r->device[r->n] = (int32_t)device;
    r->stage[r->n++] = NO_STAGE;
    return CLV_OK;
}

/* -- "NODE=DEVICE,..." -- */

static clv_status read_list(reader *r, const char *text, clv_error *err)
{
    while (*text) {
        size_t n = strcspn(text, ",");
        const char *equals = memrchr(text, '=', n);
        if (!equals || equals == text || equals + 1 == text + n)
            return clv_fail(err, r->wrong,
                            "sharding nodes '%.*s': expected NODE=DEVICE, with commas between",
                            (int)(n > 100 ? 100 : n), text);
        char number[24];
        snprintf(number, sizeof number, "%.*s", (int)(text + n - equals - 1), equals + 1);
        int64_t device;
        CLV_TRY(clv_parse_int(number, "the device of a sharding node", 0, INT32_MAX, &device, err));
        CLV_TRY(add_node(r, (clv_str){ text, (int32_t)(equals - text) }, device, err));
        text += n + (text[n] == ',');
    }
    return CLV_OK;
}

/* -- JSON -- */

static clv_status read_devices(reader *r, const clv_json_at *info, clv_error *err)
{
    const char *key;
    for (int32_t i = 0; (key = clv_json_key_at(info, i)); i++) {
        clv_json_at at;
        int64_t device;
        CLV_TRY(clv_json_member(info, key, true, &at, err));
        CLV_TRY(clv_json_int(&at, 0, INT32_MAX, &device, err));
        CLV_TRY(add_node(r, clv_str_of(key), device, err));
    }
    return CLV_OK;
}

static clv_status read_stages(reader *r, const clv_json_at *info, clv_error *err)
{
    r->stages = true;
    for (int32_t i = 0; i < r->n; i++) {
        char key[CLV_MESSAGE_SIZE];
        clv_json_at at;
        int64_t stage;
        snprintf(key, sizeof key, "%.*s", CLV_STR_ARG(r->g->ops[r->node[i].i].label));
        CLV_TRY(clv_json_member(info, key, true, &at, err));
        CLV_TRY(clv_json_int(&at, 0, r->n_devices, &stage, err));
        r->stage[i] = (int32_t)stage;
    }
    if (clv_json_key_at(info, r->n))
        return clv_fail(
            err, r->wrong,
            "pipelining_info names '%s' and others: expected the nodes of sharding_info",
            clv_json_key_at(info, r->n));
    return CLV_OK;
}

static clv_status read_tree(reader *r, const clv_json_at *root, clv_error *err)
{
    static const char *const keys[] = { "sharding_info", "pipelining_info", NULL };
    clv_json_at devices, stages;
    CLV_TRY(clv_json_keys(root, keys, err));
    CLV_TRY(clv_json_member(root, "sharding_info", true, &devices, err));
    CLV_TRY(clv_json_member(root, "pipelining_info", false, &stages, err));
    CLV_TRY(read_devices(r, &devices, err));
    return stages.json ? read_stages(r, &stages, err) : CLV_OK;
}

static clv_status read_json(reader *r, const char *text, clv_error *err)
{
    clv_json *json;
    CLV_TRY(clv_json_parse(text, strlen(text), "sharding nodes", &json, err));
    clv_json_at root = clv_json_root(json, "sharding nodes");
    clv_status status = read_tree(r, &root, err);
    clv_json_free(json);
    return status;
}

/* -- both -- */

static clv_status read_labels(reader *r, clv_error *err)
{
    size_t n = (size_t)r->g->n_ops;
    r->named = CLV_NEW_ARRAY(r->arena, bool, n);
    r->node = CLV_NEW_ARRAY(r->arena, clv_op, n);
    r->device = CLV_NEW_ARRAY(r->arena, int32_t, n);
    r->stage = CLV_NEW_ARRAY(r->arena, int32_t, n);
    if (!r->named || !r->node || !r->device || !r->stage)
        return clv_fail_nomem(err, "sharding nodes");
    CLV_TRY(clv_map_init(&r->labels, r->arena, r->g->n_ops, err));
    for (int32_t i = 0; i < r->g->n_ops; i++)
        CLV_TRY(clv_map_put(&r->labels, r->g->ops[i].label, i, NULL, err));
    return CLV_OK;
}

static clv_status check_stages(reader *r, const clv_manual_cut *cut, clv_error *err)
{
    for (int32_t i = 1; r->stages && i < cut->n; i++)
        if (cut->device[i] == cut->device[i - 1] && cut->stage[i] != cut->stage[i - 1])
            return clv_fail(err, r->wrong,
                            "device %d has stages %d and %d: expected one stage a device",
                            cut->device[i], cut->stage[i - 1], cut->stage[i]);
    return CLV_OK;
}

/* By device; as written within one. O(nodes + devices). */
static clv_status sort_by_device(reader *r, clv_manual_cut *cut, clv_error *err)
{
    int32_t *next = CLV_NEW_ARRAY(r->arena, int32_t, (size_t)r->n_devices + 1);
    cut->node = CLV_NEW_ARRAY(r->arena, clv_op, r->n);
    cut->device = CLV_NEW_ARRAY(r->arena, int32_t, r->n);
    cut->stage = CLV_NEW_ARRAY(r->arena, int32_t, r->n);
    if (!next || !cut->node || !cut->device || !cut->stage)
        return clv_fail_nomem(err, "sharding nodes");
    for (int32_t i = 0; i < r->n; i++)
        next[r->device[i] + 1]++;
    for (int32_t d = 0; d < r->n_devices; d++)
        next[d + 1] += next[d];
    for (int32_t i = 0; i < r->n; i++) {
        int32_t k = next[r->device[i]]++;
        cut->node[k] = r->node[i];
        cut->device[k] = r->device[i];
        cut->stage[k] = r->stage[i];
        if (r->device[i] > cut->rest_device)
            cut->rest_device = r->device[i];
        if (r->stage[i] > cut->rest_stage)
            cut->rest_stage = r->stage[i];
    }
    cut->n = r->n;
    CLV_TRY(check_stages(r, cut, err));
    if (!r->stages)
        cut->stage = NULL;
    if (++cut->rest_device >= r->n_devices)
        return clv_fail(err, r->wrong,
                        "sharding nodes name device %d: expected at most %d, because what is left "
                        "over goes to the device after the highest",
                        cut->rest_device - 1, r->n_devices - 2);
    cut->rest_stage++;
    return CLV_OK;
}

clv_status clv_manual_cut_parse(const char *text, const clv_graph *g, int32_t n_devices,
                                clv_arena *arena, clv_manual_cut *ret, clv_error *err)
{
    text += strspn(text, " \t\r\n");
    clv_status wrong = text[0] == '{' ? CLV_EFORMAT : CLV_EUSAGE;
    reader r = { .g = g, .n_devices = n_devices, .arena = arena, .wrong = wrong };
    clv_manual_cut cut = { .rest_device = -1, .rest_stage = -1, .wrong = wrong };
    if (n_devices < 2)
        return clv_fail(err, wrong,
                        "sharding nodes are given for %d device: expected at least 2, because what "
                        "is left over goes to the device after the highest",
                        n_devices);
    CLV_TRY(read_labels(&r, err));
    CLV_TRY(text[0] == '{' ? read_json(&r, text, err) : read_list(&r, text, err));
    if (r.n == 0)
        return clv_fail(err, wrong, "no sharding node is given: expected NODE=DEVICE");
    CLV_TRY(sort_by_device(&r, &cut, err));
    *ret = cut;
    return CLV_OK;
}

clv_status clv_manual_cut_check(const clv_manual_cut *cut, const clv_subgraphs *units,
                                const clv_graph *g, clv_error *err)
{
    for (int32_t i = 0; i < cut->n; i++) {
        int32_t taker = units->of[cut->node[i].i]; /* unit k is what the node k brings */
        if (taker < cut->n && cut->device[taker] != cut->device[i])
            return clv_fail(err, cut->wrong,
                            "sharding node '%.*s' is for device %d, but '%.*s' comes after it and "
                            "brings it to device %d: expected a device of at most %d",
                            CLV_STR_ARG(g->ops[cut->node[i].i].label), cut->device[i],
                            CLV_STR_ARG(g->ops[cut->node[taker].i].label), cut->device[taker],
                            cut->device[taker]);
    }
    return CLV_OK;
}
