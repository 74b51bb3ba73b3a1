#include "plan/plan_annotations.h"

#include <inttypes.h>
#include <stdlib.h>

#include "plan/plan_mesh.h"

/* -- nodes by label -- */

static clv_status find_nodes(const clv_graph *g, clv_arena *arena, clv_plan_annotation *at,
                             int32_t n, clv_error *err)
{
    clv_map labels;

    CLV_TRY(clv_map_init(&labels, arena, g->n_ops, err));
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t id = 0;
        CLV_TRY(clv_map_put(&labels, g->ops[i].label, g->ops[i].file_index, &id, err));
    }
    for (int32_t i = 0; i < n; i++) {
        if (at[i].node)
            at[i].file_index = clv_map_get(&labels, clv_str_of(at[i].node));
        if (at[i].file_index < 0)
            return clv_fail(err, CLV_EFORMAT,
                            "the plan annotates node '%.200s', but the model's main graph has no "
                            "node of that name",
                            at[i].node ? at[i].node : "");
    }
    return CLV_OK;
}

static int by_position(const void *a, const void *b)
{
    int32_t x = ((const clv_plan_annotation *)a)->file_index;
    int32_t y = ((const clv_plan_annotation *)b)->file_index;

    return (x > y) - (x < y);
}

clv_status clv_plan_find_nodes(clv_plan *plan, const clv_graph *graph, clv_arena *arena,
                               clv_error *err)
{
    int32_t n = plan->n_annotations;

    if (n == 0)
        return CLV_OK;
    clv_plan_annotation *at = CLV_NEW_ARRAY(arena, clv_plan_annotation, n);
    if (!at)
        return clv_fail_nomem(err, "a plan");
    memcpy(at, plan->annotations, (size_t)n * sizeof *at);
    clv_mark mark = clv_arena_mark(arena);
    clv_status status = find_nodes(graph, arena, at, n, err);
    clv_arena_rewind(arena, mark);
    CLV_TRY(status);
    qsort(at, (size_t)n, sizeof *at, by_position);
    for (int32_t i = 1; i < n; i++)
        if (at[i].file_index == at[i - 1].file_index)
            return clv_fail(err, CLV_EFORMAT,
                            "the plan annotates node %" PRId32 "%s%.200s twice, expected once",
                            at[i].file_index, at[i].node ? " " : "", at[i].node ? at[i].node : "");
    plan->annotations = at;
    return CLV_OK;
}

/* -- the check -- */

clv_status clv_op_names(const clv_graph *graph, const clv_op_info *op, clv_arena *arena,
                        clv_map *ret, clv_error *err)
{
    int32_t n = clv_op_n_explicit(op), id = 0;

    CLV_TRY(clv_map_init(ret, arena, n, err));
    for (int32_t k = 0; k < n + op->n_out; k++) {
        clv_tensor t = k < n ? clv_op_input(graph, op, k) : clv_op_output(graph, op, k - n);
        if (t.i >= 0)
            CLV_TRY(clv_map_put(ret, clv_tensor_at(graph, t)->name, t.i, &id, err));
    }
    return CLV_OK;
}

/* The node whose annotation is checked. */
typedef struct {
    const clv_plan *plan;
    const clv_graph *graph;
    const clv_op_info *op;
    clv_arena *arena;
    clv_map names; /* of its inputs and outputs, to tensors */
    clv_map seen;  /* names that have a spec already */
} node_check;

clv_tensor clv_op_operand(const clv_graph *g, const clv_op_info *op, const char *name)
{
    for (int32_t k = 0; k < op->n_in + op->n_out; k++) {
        clv_tensor t = k < op->n_in ? clv_op_input(g, op, k) : clv_op_output(g, op, k - op->n_in);
        if (t.i >= 0 && clv_str_is(clv_tensor_at(g, t)->name, name))
            return t;
    }
    return CLV_NO_TENSOR;
}

static int32_t known_rank(const clv_graph *g, clv_tensor tensor)
{
    const clv_tensor_info *t = clv_tensor_at(g, tensor);

    if (t->role == CLV_TENSOR_WEIGHT)
        return g->weights[t->weight].rank;
    return t->declared && t->declared->kind == CLV_TYPE_TENSOR ? t->declared->rank
                                                               : CLV_RANK_UNKNOWN;
}

/* With meshes, the devices of a spec are of the mesh that its operator runs on. */
static clv_status check_in_mesh(const node_check *c, const char *tensor, const int64_t *device,
                                int32_t n, clv_error *err)
{
    const clv_plan *plan = c->plan;
    int32_t lead = clv_plan_lead(plan, plan->device_of_op[c->op->file_index]);

    for (int32_t i = 0; i < n; i++)
        if (device[i] < 0 || device[i] >= plan->n_devices ||
            clv_plan_lead(plan, (int32_t)device[i]) != lead)
            return clv_fail(err, CLV_EFORMAT,
                            "operator '%.*s': '%.80s' is on device %" PRId64
                            ", which is not of the operator's mesh, whose first is '%s'",
                            CLV_STR_ARG(c->op->label), tensor, device[i], plan->devices[lead].name);
    return CLV_OK;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* A key of the map stands for its group. */
static clv_status check_mesh_devices(const node_check *c, const clv_sharding_spec *spec,
                                     clv_error *err)
{
    size_t n = (size_t)spec->n_groups;

    if (!clv_plan_has_mesh(c->plan))
        return CLV_OK;
    int64_t *keys = CLV_NEW_ARRAY(c->arena, int64_t, n);
    if (!keys)
        return clv_fail_nomem(err, "checking a plan");
    for (int32_t i = 0; i < spec->n_groups; i++) {
        keys[i] = spec->groups[i].key;
        CLV_TRY(check_in_mesh(c, spec->tensor, spec->groups[i].devices, spec->groups[i].n_devices,
                              err));
    }
    if (n)
        qsort(keys, n, sizeof *keys, by_value);
    for (int32_t i = 0; i < spec->n_device; i++)
        if (!n || !bsearch(&spec->device[i], keys, n, sizeof *keys, by_value))
            CLV_TRY(check_in_mesh(c, spec->tensor, &spec->device[i], 1, err));
    return CLV_OK;
}

static clv_status check_spec(node_check *c, const clv_sharding_spec *spec, clv_error *err)
{
    clv_error inner = { .message = "" };
    clv_tensor t = clv_op_named(&c->names, spec->tensor);
    int32_t n = (int32_t)c->seen.n, first = n;

    if (t.i < 0)
        return clv_fail(err, CLV_EFORMAT,
                        "operator '%.*s': '%.80s' is neither an input nor an output of it, only "
                        "those can have a sharding spec",
                        CLV_STR_ARG(c->op->label), spec->tensor);
    CLV_TRY(clv_map_put(&c->seen, clv_str_of(spec->tensor), n, &first, err));
    if (first != n)
        return clv_fail(err, CLV_EFORMAT,
                        "operator '%.*s': '%.80s' has two sharding specs, expected one",
                        CLV_STR_ARG(c->op->label), spec->tensor);
    clv_status status =
        clv_spec_check(spec, known_rank(c->graph, t), c->plan->n_devices, c->arena, &inner);
    if (status == CLV_OK)
        return check_mesh_devices(c, spec, err);
    return clv_fail(err, status, "operator '%.*s': %s", CLV_STR_ARG(c->op->label), inner.message);
}

static clv_status check_node(node_check *c, const clv_node_annotation *note, clv_error *err)
{
    CLV_TRY(clv_op_names(c->graph, c->op, c->arena, &c->names, err));
    CLV_TRY(clv_map_init(&c->seen, c->arena, note->n_specs, err));
    for (int32_t i = 0; i < note->n_specs; i++)
        CLV_TRY(check_spec(c, &note->specs[i], err));
    return CLV_OK;
}

static clv_status check_all(const clv_plan *plan, const clv_graph *g, clv_arena *arena,
                            clv_error *err)
{
    clv_op *op_at = CLV_NEW_ARRAY(arena, clv_op, g->n_ops);
    int32_t before = -1;

    if (!op_at)
        return clv_fail_nomem(err, "checking a plan");
    for (int32_t i = 0; i < g->n_ops; i++)
        op_at[g->ops[i].file_index] = (clv_op){ i };
    for (int32_t i = 0; i < plan->n_annotations; i++) {
        const clv_plan_annotation *a = &plan->annotations[i];
        if (a->file_index <= before || a->file_index >= g->n_ops)
            return clv_fail(err, CLV_EFORMAT,
                            "annotation %" PRId32 " of the plan is for node %" PRId32
                            ", expected one from %" PRId32 " to %" PRId32,
                            i, a->file_index, before + 1, g->n_ops - 1);
        before = a->file_index;
        clv_mark mark = clv_arena_mark(arena);
        node_check c = {
            .plan = plan, .graph = g, .op = clv_op_at(g, op_at[before]), .arena = arena
        };
        clv_status status = check_node(&c, &a->note, err);
        clv_arena_rewind(arena, mark);
        CLV_TRY(status);
    }
    return CLV_OK;
}

clv_status clv_plan_check_annotations(const clv_plan *plan, const clv_graph *graph,
                                      clv_arena *arena, clv_error *err)
{
    if (plan->n_annotations == 0)
        return CLV_OK;
    clv_mark mark = clv_arena_mark(arena);
    clv_status status = check_all(plan, graph, arena, err);
    clv_arena_rewind(arena, mark);
    return status;
}
