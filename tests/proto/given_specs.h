/* given_specs.h - sharding specs for the nodes of any model, made from bytes, and whether they are
 * what an annotated file gives back. For the round trip of random specs and for fuzzing.
 */
#ifndef CLV_TESTS_PROTO_GIVEN_SPECS_H
#define CLV_TESTS_PROTO_GIVEN_SPECS_H

#include <string.h>

#include "plan/plan.h"
#include "proto/read_annotations.h"

typedef struct {
    const uint8_t *bytes; /* used again from the start when they are at their end */
    size_t n, at;
    clv_arena *arena;
} spec_source;

static inline int32_t spec_below(spec_source *s, int32_t n)
{
    return s->n ? s->bytes[s->at++ % s->n] % n : 0;
}

static inline int64_t spec_number(spec_source *s)
{
    static const int64_t some[] = { 0,    1,     -1,        2,         -2,        127,      128,
                                    -128, 16384, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN };
    return some[spec_below(s, sizeof some / sizeof *some)];
}

static inline const int64_t *spec_numbers(spec_source *s, int32_t *ret_n)
{
    *ret_n = spec_below(s, 5);
    int64_t *at = CLV_NEW_ARRAY(s->arena, int64_t, *ret_n);
    for (int32_t i = 0; i < *ret_n; i++)
        at[i] = spec_number(s);
    return at;
}

static inline clv_sharding_spec spec_for(spec_source *s, const char *tensor)
{
    clv_sharding_spec spec = { .tensor = tensor, .n_groups = spec_below(s, 3) };
    clv_device_group *groups = CLV_NEW_ARRAY(s->arena, clv_device_group, spec.n_groups);
    spec.device = spec_numbers(s, &spec.n_device);
    for (int32_t i = 0; i < spec.n_groups; i++) {
        groups[i].key = spec_number(s);
        groups[i].devices = spec_numbers(s, &groups[i].n_devices);
    }
    spec.n_dims = spec_below(s, 4);
    clv_sharded_dim *dims = CLV_NEW_ARRAY(s->arena, clv_sharded_dim, spec.n_dims);
    for (int32_t i = 0; i < spec.n_dims; i++) {
        dims[i].axis = spec_number(s);
        dims[i].n_simple = spec_below(s, 4);
        clv_simple_sharding *f = CLV_NEW_ARRAY(s->arena, clv_simple_sharding, dims[i].n_simple);
        for (int32_t k = 0; k < dims[i].n_simple; k++) {
            int64_t size = spec_number(s);
            f[k].dim = size < 0 ? CLV_DIM_UNKNOWN : size;
            f[k].dim_param = size == -1 ? "batch" : size == -2 ? "" : NULL;
            f[k].num_shards = spec_number(s);
        }
        dims[i].simple = f;
    }
    spec.groups = groups;
    spec.dims = dims;
    return spec;
}

/* The name of tensor t as text; NULL for none, and for one that is no C string. */
static inline const char *spec_name(const clv_graph *g, clv_tensor t, clv_arena *arena)
{
    if (t.i < 0)
        return NULL;
    clv_str name = clv_tensor_at(g, t)->name;
    if (name.n == 0 || memchr(name.at, '\0', (size_t)name.n))
        return NULL;
    return clv_arena_printf(arena, "%.*s", CLV_STR_ARG(name));
}

/* About half of the tensors of one operator, each once. */
static inline void specs_of_op(spec_source *s, const clv_graph *g, const clv_op_info *op,
                               clv_node_annotation *note)
{
    int32_t n_in = clv_op_n_explicit(op), n = n_in + op->n_out;
    clv_sharding_spec *specs = CLV_NEW_ARRAY(s->arena, clv_sharding_spec, n < 8 ? n : 8);
    for (int32_t i = 0; i < n && note->n_specs < 8; i++) {
        clv_tensor t = i < n_in ? clv_op_input(g, op, i) : clv_op_output(g, op, i - n_in);
        const char *name = spec_below(s, 2) ? NULL : spec_name(g, t, s->arena);
        bool is_new = name != NULL;
        for (int32_t k = 0; is_new && k < note->n_specs; k++)
            is_new = strcmp(specs[k].tensor, name) != 0;
        if (is_new)
            specs[note->n_specs++] = spec_for(s, name);
    }
    note->specs = specs;
    note->has_stage = spec_below(s, 2);
    note->stage = note->has_stage ? (int32_t)spec_number(s) : 0;
}

/* Gives the plan specs and stages for about half of the nodes. */
static inline void plan_give_specs(clv_plan *plan, const clv_model *model, spec_source *s)
{
    const clv_graph *g = model->main;
    clv_plan_annotation *given = CLV_NEW_ARRAY(s->arena, clv_plan_annotation, g->n_ops);
    bool *wanted = CLV_NEW_ARRAY(s->arena, bool, g->n_ops);
    const clv_op_info **by_file = CLV_NEW_ARRAY(s->arena, const clv_op_info *, g->n_ops);
    for (int32_t i = 0; i < g->n_ops; i++) {
        by_file[g->ops[i].file_index] = &g->ops[i];
        wanted[i] = spec_below(s, 2);
    }
    for (int32_t i = 0; i < g->n_ops; i++) {
        if (!wanted[i])
            continue;
        given[plan->n_annotations].file_index = i;
        specs_of_op(s, g, by_file[i], &given[plan->n_annotations++].note);
    }
    plan->annotations = given;
}

/* -- reading back -- */

static inline bool same_numbers(const int64_t *a, int32_t n_a, const int64_t *b, int32_t n_b)
{
    return n_a == n_b && (n_a == 0 || memcmp(a, b, (size_t)n_a * sizeof *a) == 0);
}

static inline bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static inline bool same_dim(const clv_sharded_dim *a, const clv_sharded_dim *b)
{
    bool same = a->axis == b->axis && a->n_simple == b->n_simple;
    for (int32_t i = 0; same && i < a->n_simple; i++)
        same = a->simple[i].dim == b->simple[i].dim &&
               same_text(a->simple[i].dim_param, b->simple[i].dim_param) &&
               a->simple[i].num_shards == b->simple[i].num_shards;
    return same;
}

static inline bool same_spec(const clv_sharding_spec *a, const clv_sharding_spec *b)
{
    bool same = same_text(a->tensor, b->tensor) && a->n_groups == b->n_groups &&
                same_numbers(a->device, a->n_device, b->device, b->n_device) &&
                a->n_dims == b->n_dims;
    for (int32_t i = 0; same && i < a->n_groups; i++)
        same = a->groups[i].key == b->groups[i].key &&
               same_numbers(a->groups[i].devices, a->groups[i].n_devices, b->groups[i].devices,
                            b->groups[i].n_devices);
    for (int32_t i = 0; same && i < a->n_dims; i++)
        same = same_dim(&a->dims[i], &b->dims[i]);
    return same;
}

/* What was given for a tensor; NULL: nothing. */
static inline const clv_sharding_spec *given_for(const clv_plan_annotation *a, const char *tensor)
{
    for (int32_t i = 0; a && i < a->note.n_specs; i++)
        if (same_text(a->note.specs[i].tensor, tensor))
            return &a->note.specs[i];
    return NULL;
}

/* The note of one node is what was given (a NULL: nothing was), else the default. */
static inline bool is_as_planned(const clv_node_annotation *note, const clv_plan *plan,
                                 int32_t node, const clv_plan_annotation *a)
{
    int64_t device = plan->device_of_op[node], stage = plan->devices[device].stage;
    bool has_stage = stage >= 0, same = true;
    int32_t found = 0;
    if (a && a->note.has_stage) {
        has_stage = true;
        stage = a->note.stage;
    }
    for (int32_t i = 0; same && i < note->n_specs; i++) {
        const clv_sharding_spec *given = given_for(a, note->specs[i].tensor);
        const clv_sharding_spec whole = { note->specs[i].tensor, &device, 1, NULL, 0, NULL, 0 };
        found += given != NULL;
        same = same_spec(&note->specs[i], given ? given : &whole);
    }
    return same && (!a || found == a->note.n_specs) && note->has_stage == has_stage &&
           (!has_stage || note->stage == stage);
}

/* Every node of the plan has one note under the last configuration, and it is as planned. */
static inline bool reads_back_as_planned(const clv_annotation_set *set, const clv_plan *plan)
{
    int32_t node = 0, k = 0;
    if (!set->n_configurations)
        return false;
    const char *ours = set->configurations[set->n_configurations - 1].name;
    for (int32_t i = 0; i < set->n_nodes; i++) {
        if (!same_text(set->nodes[i].note.configuration, ours))
            continue;
        bool given = k < plan->n_annotations && plan->annotations[k].file_index == node;
        if (set->nodes[i].file_index != node ||
            !is_as_planned(&set->nodes[i].note, plan, node, given ? &plan->annotations[k] : NULL))
            return false;
        k += given;
        node++;
    }
    return node == plan->n_ops && k == plan->n_annotations;
}

#endif
