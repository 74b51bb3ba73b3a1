/* graph_factors.c - the rules of all operators of a graph. Layers repeat: the rule of an operator
 * whose kind, attributes, shapes and values were seen before is the same.
 */
#include "base/key.h"
#include "base/map.h"
#include "sharding/resolve.h"

#define FEW 64 /* different operators that there is room for at once */
#define VALUE_MAX                                                                                  \
    64 /* elements of a value that are compared; with more an operator is like none                \
        */

static void add_type(clv_key *key, const clv_type *type)
{
    clv_key_add(key, (int64_t)type->kind);
    clv_key_add(key, (int64_t)type->dtype);
    clv_key_add(key, type->rank);
    if (type->kind == CLV_TYPE_TENSOR && type->rank > 0)
        clv_key_add_bytes(key, type->dims, (size_t)type->rank * sizeof *type->dims);
}

/* False: it is too long to be compared. */
static bool add_value(clv_key *key, const clv_value *value)
{
    clv_key_add(key, value ? value->n : -1);
    if (!value || value->n > VALUE_MAX)
        return !value;
    clv_key_add(key, value->i != NULL);
    if (value->i)
        clv_key_add_bytes(key, value->i, (size_t)value->n * sizeof *value->i);
    else
        clv_key_add_bytes(key, value->f, (size_t)value->n * sizeof *value->f);
    return true;
}

/* False: there may be no other like it, as it has a graph or a tensor. */
static bool add_attr(clv_key *key, const clv_attr *a)
{
    clv_key_add_bytes(key, a->name.at, (size_t)a->name.n);
    clv_key_add(key, (int64_t)a->kind);
    clv_key_add(key, a->n);
    switch (a->kind) {
    case CLV_ATTR_FLOAT:
        clv_key_add_bytes(key, &a->f, sizeof a->f);
        break;
    case CLV_ATTR_INT:
        clv_key_add(key, a->i);
        break;
    case CLV_ATTR_STRING:
        clv_key_add_bytes(key, a->s.at, (size_t)a->s.n);
        break;
    case CLV_ATTR_FLOATS:
        clv_key_add_bytes(key, a->floats, (size_t)a->n * sizeof *a->floats);
        break;
    case CLV_ATTR_INTS:
        clv_key_add_bytes(key, a->ints, (size_t)a->n * sizeof *a->ints);
        break;
    case CLV_ATTR_STRINGS:
        for (int32_t i = 0; i < a->n; i++)
            clv_key_add_bytes(key, a->strings[i].at, (size_t)a->strings[i].n);
        break;
    case CLV_ATTR_NONE:
    case CLV_ATTR_TENSOR:
    case CLV_ATTR_GRAPH:
    case CLV_ATTR_TYPE:
    case CLV_ATTR_TENSORS:
    case CLV_ATTR_GRAPHS:
    case CLV_ATTR_TYPES:
        return false;
    }
    return a->ref.n == 0;
}

/* All that its rule may look at; false: it is like no other. */
static bool make_key(clv_key *key, const clv_types *types, const clv_op_info *op)
{
    const clv_graph *g = types->graph;
    bool alike = op->kind >= 0 && op->n_implicit == 0;
    key->n = 0;
    clv_key_add(key, op->kind);
    clv_key_add(key, op->n_in);
    clv_key_add(key, op->n_out);
    clv_key_add(key, op->n_attr);
    clv_key_add_bytes(key, op->domain.at, (size_t)op->domain.n); /* which says the version */
    for (int32_t i = 0; i < op->n_attr && alike; i++)
        alike = add_attr(key, &g->attrs[op->first_attr + i]);
    for (int32_t k = 0; k < op->n_in + op->n_out && alike; k++) {
        clv_tensor t = k < op->n_in ? clv_op_input(g, op, k) : clv_op_output(g, op, k - op->n_in);
        clv_key_add(key, t.i < 0);
        if (t.i < 0)
            continue;
        add_type(key, &types->of[t.i]);
        alike = add_value(key, types->value ? types->value[t.i] : NULL);
    }
    return alike;
}

typedef struct {
    const clv_model *model;
    const clv_types *types;
    clv_arena *scratch, *keys, *arena;
    clv_factors *all;
    clv_error *err;
} resolver;

static clv_status resolve_each(resolver *r, clv_map *seen)
{
    const clv_graph *g = r->types->graph;
    clv_key key = { .arena = r->keys };
    for (int32_t i = 0; i < g->n_ops; i++) {
        int32_t first = i;
        if (make_key(&key, r->types, &g->ops[i])) {
            if (key.failed)
                return clv_fail_nomem(r->err, "the sharding rules");
            CLV_TRY(
                clv_map_put_key(seen, key.at, (size_t)key.n * sizeof *key.at, i, &first, r->err));
        }
        if (first < i)
            r->all[i] = r->all[first];
        else
            CLV_TRY(clv_factors_resolve_in(r->model, r->types, (clv_op){ i }, r->scratch, r->arena,
                                           &r->all[i], r->err));
    }
    return CLV_OK;
}

clv_status clv_factors_resolve_all(const clv_model *model, const clv_types *types, clv_arena *arena,
                                   clv_factors *ret, clv_error *err)
{
    resolver r = { .model = model,
                   .types = types,
                   .scratch = clv_arena_new(clv_arena_alloc(arena), 0),
                   .keys = clv_arena_new(clv_arena_alloc(arena), 0),
                   .arena = arena,
                   .all = ret,
                   .err = err };
    clv_map seen;
    clv_status status = r.scratch && r.keys ? clv_map_init(&seen, r.keys, FEW, err)
                                            : clv_fail_nomem(err, "the sharding rules");
    if (status == CLV_OK)
        status = resolve_each(&r, &seen);
    clv_arena_free(r.scratch);
    clv_arena_free(r.keys);
    return status;
}
