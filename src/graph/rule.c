/* rule.c - what rules read of their operator, and how they set its outputs.
 *
 * Types are never changed once set, so an output with the dims of input 0 shares them: a chain of a
 * million elementwise operators keeps one array of dims.
 */
#include "graph/rule.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const clv_type unknown_type = { .rank = CLV_RANK_UNKNOWN };

/* -- inputs -- */

int32_t clv_rule_n_in(const clv_rule *r) { return clv_op_n_explicit(r->op); }

static clv_tensor input(const clv_rule *r, int32_t k)
{
    return k >= 0 && k < clv_rule_n_in(r) ? clv_op_input(r->graph, r->op, k) : CLV_NO_TENSOR;
}

bool clv_rule_has_in(const clv_rule *r, int32_t k) { return input(r, k).i >= 0; }

const clv_type *clv_rule_in(const clv_rule *r, int32_t k)
{
    clv_tensor t = input(r, k);
    return t.i >= 0 ? clv_type_read(r->types, r->op, k) : &unknown_type;
}

const clv_value *clv_rule_value(const clv_rule *r, int32_t k)
{
    clv_tensor t = input(r, k);
    return t.i >= 0 ? r->types->value[t.i] : NULL;
}

bool clv_rule_ints(const clv_rule *r, int32_t k, const int64_t **ret, int32_t *ret_n)
{
    const clv_value *value = clv_rule_value(r, k);
    if (!value || !value->i)
        return false;
    for (int32_t i = 0; i < value->n; i++)
        if (!clv_dim_is_number(value->i[i]))
            return false;
    *ret = value->i;
    *ret_n = value->n;
    return true;
}

/* -- dimensions that are open -- */

clv_dim clv_rule_add(const clv_rule *r, clv_dim a, clv_dim b)
{
    return clv_symbol_sums_add(r->relations ? &r->relations->sums : NULL, a, b);
}

clv_dim clv_rule_sub(const clv_rule *r, clv_dim a, clv_dim b)
{
    return clv_symbol_sums_sub(r->relations ? &r->relations->sums : NULL, a, b);
}

void clv_rule_relate(const clv_rule *r, clv_dim a, clv_dim b)
{
    if (r->always)
        clv_relate(r->relations, a, b);
}

/* -- attributes -- */

static const clv_attr *default_attr(const clv_graph *function, clv_str name)
{
    for (int32_t i = 0; function && i < function->n_default_attrs; i++)
        if (clv_str_eq(function->default_attrs[i].name, name))
            return &function->default_attrs[i];
    return NULL;
}

static const clv_attr *find_attr(const clv_rule *r, clv_str name)
{
    for (int32_t i = 0; i < r->op->n_attr; i++) {
        const clv_attr *attr = &r->graph->attrs[r->op->first_attr + i];
        if (!clv_str_eq(attr->name, name))
            continue;
        if (attr->ref.n == 0)
            return attr;
        if (!r->caller)
            return NULL;
        const clv_attr *given = find_attr(r->caller, attr->ref);
        return given ? given : default_attr(r->caller->op->function, attr->ref);
    }
    return NULL;
}

const clv_attr *clv_rule_attr(const clv_rule *r, const char *name)
{
    return find_attr(r, clv_str_of(name));
}

static const clv_attr *attr_of_kind(const clv_rule *r, const char *name, clv_attr_kind kind)
{
    const clv_attr *attr = clv_rule_attr(r, name);
    return attr && attr->kind == kind ? attr : NULL;
}

int64_t clv_rule_attr_int(const clv_rule *r, const char *name, int64_t otherwise)
{
    const clv_attr *attr = attr_of_kind(r, name, CLV_ATTR_INT);
    return attr ? attr->i : otherwise;
}

float clv_rule_attr_float(const clv_rule *r, const char *name, float otherwise)
{
    const clv_attr *attr = attr_of_kind(r, name, CLV_ATTR_FLOAT);
    return attr ? attr->f : otherwise;
}

clv_str clv_rule_attr_str(const clv_rule *r, const char *name, const char *otherwise)
{
    const clv_attr *attr = attr_of_kind(r, name, CLV_ATTR_STRING);
    return attr ? attr->s : clv_str_of(otherwise);
}

bool clv_rule_attr_ints(const clv_rule *r, const char *name, const int64_t **ret, int32_t *ret_n)
{
    const clv_attr *attr = attr_of_kind(r, name, CLV_ATTR_INTS);
    if (!attr)
        return false;
    *ret = attr->ints;
    *ret_n = attr->n;
    return true;
}

bool clv_rule_axes(const clv_rule *r, const char *attr, int32_t k, const int64_t **ret,
                   int32_t *ret_n)
{
    if (clv_rule_attr_ints(r, attr, ret, ret_n))
        return true;
    if (clv_rule_has_in(r, k))
        return clv_rule_ints(r, k, ret, ret_n);
    *ret = NULL;
    *ret_n = -1;
    return true;
}

/* -- outputs -- */

int32_t clv_rule_n_out(const clv_rule *r) { return r->op->n_out; }

static clv_tensor output(const clv_rule *r, int32_t k)
{
    return k >= 0 ? clv_op_output(r->graph, r->op, k) : CLV_NO_TENSOR;
}

bool clv_rule_has_out(const clv_rule *r, int32_t k) { return output(r, k).i >= 0; }

/* The dims, kept in the arena, or input 0's where they are the same. */
static clv_status keep_dims(clv_rule *r, int32_t rank, const clv_dim *dims, const clv_dim **ret,
                            clv_error *err)
{
    *ret = NULL;
    if (rank <= 0)
        return CLV_OK;
    const clv_type *first = clv_rule_in(r, 0);
    if (first->rank == rank && first->dims &&
        (first->dims == dims || memcmp(first->dims, dims, (size_t)rank * sizeof *dims) == 0)) {
        *ret = first->dims;
        return CLV_OK;
    }
    clv_dim *copy = CLV_NEW_ARRAY(r->arena, clv_dim, rank);
    if (!copy)
        return clv_fail_nomem(err, "a shape");
    memcpy(copy, dims, (size_t)rank * sizeof *dims);
    *ret = copy;
    return CLV_OK;
}

static clv_status check_rank(clv_rule *r, int32_t rank, clv_error *err)
{
    if (rank <= CLV_RANK_MAX)
        return CLV_OK;
    return clv_rule_fail(r, err, "an output has rank %d, above the limit of %d", rank,
                         CLV_RANK_MAX);
}

clv_status clv_rule_set(clv_rule *r, int32_t k, clv_dtype dtype, int32_t rank, const clv_dim *dims,
                        clv_error *err)
{
    clv_tensor t = output(r, k);
    if (t.i < 0)
        return CLV_OK;
    CLV_TRY(check_rank(r, rank, err));
    clv_type type = { .kind = CLV_TYPE_TENSOR, .dtype = dtype, .rank = rank };
    CLV_TRY(keep_dims(r, rank, dims, &type.dims, err));
    r->types->of[t.i] = type;
    return CLV_OK;
}

static clv_status copy_elem(clv_rule *r, const clv_type *elem, const clv_type **ret, clv_error *err)
{
    clv_type *copy = CLV_NEW(r->arena, clv_type);
    if (!copy)
        return clv_fail_nomem(err, "a type");
    *copy = *elem;
    CLV_TRY(keep_dims(r, elem->rank, elem->dims, &copy->dims, err));
    if (elem->elem)
        CLV_TRY(copy_elem(r, elem->elem, &copy->elem, err));
    *ret = copy;
    return CLV_OK;
}

clv_status clv_rule_set_type(clv_rule *r, int32_t k, const clv_type *type, clv_error *err)
{
    clv_tensor t = output(r, k);
    if (t.i < 0)
        return CLV_OK;
    bool dense = type->kind == CLV_TYPE_TENSOR || type->kind == CLV_TYPE_SPARSE;
    clv_type copy = *type;
    CLV_TRY(check_rank(r, dense ? type->rank : 0, err));
    CLV_TRY(keep_dims(r, dense ? type->rank : 0, type->dims, &copy.dims, err));
    if (type->elem && type->elem != clv_rule_in(r, 0)->elem)
        CLV_TRY(copy_elem(r, type->elem, &copy.elem, err));
    r->types->of[t.i] = copy;
    return CLV_OK;
}

static clv_status set_value(clv_rule *r, clv_tensor t, int32_t n, const void *elems, bool whole,
                            clv_error *err)
{
    static const clv_dim nothing[1];
    clv_value *value = CLV_NEW(r->arena, clv_value);
    void *copy = n ? clv_arena_take_array(r->arena, (size_t)n, sizeof(clv_dim)) : NULL;
    if (!value || (n && !copy))
        return clv_fail_nomem(err, "a folded value");
    if (n)
        memcpy(copy, elems, (size_t)n * sizeof(clv_dim));
    const void *kept = n ? copy : nothing;
    *value = (clv_value){ .n = n, .i = whole ? kept : NULL, .f = whole ? NULL : kept };
    r->types->value[t.i] = value;
    return CLV_OK;
}

clv_status clv_rule_set_ints(clv_rule *r, int32_t k, int32_t n, const clv_dim *ints, clv_error *err)
{
    clv_tensor t = output(r, k);
    return t.i < 0 || n > CLV_VALUE_MAX ? CLV_OK : set_value(r, t, n, ints, true, err);
}

clv_status clv_rule_set_floats(clv_rule *r, int32_t k, int32_t n, const double *floats,
                               clv_error *err)
{
    _Static_assert(sizeof(double) == sizeof(clv_dim), "both kinds of element are copied alike");
    clv_tensor t = output(r, k);
    return t.i < 0 || n > CLV_VALUE_MAX ? CLV_OK : set_value(r, t, n, floats, false, err);
}

/* -- bodies -- */

static bool has_bodies(const clv_attr *attr)
{
    return (attr->kind == CLV_ATTR_GRAPH || attr->kind == CLV_ATTR_GRAPHS) && attr->ref.n == 0;
}

const clv_graph *clv_rule_body_graph(const clv_rule *r, const char *name, int32_t *ret_index)
{
    int32_t index = 0;
    for (int32_t i = 0; i < r->op->n_attr; i++) {
        const clv_attr *attr = &r->graph->attrs[r->op->first_attr + i];
        if (!has_bodies(attr))
            continue;
        if (attr->n > 0 && clv_str_is(attr->name, name)) {
            *ret_index = index;
            return attr->graph[0];
        }
        index += attr->n;
    }
    return NULL;
}

/* Body number b of an operator, in the order of its graph attributes. NULL: it has not so many. */
static const clv_graph *body_at(const clv_rule *r, int32_t b)
{
    if (r->op->kind == CLV_OPKIND_FUNCTION)
        return b == 0 ? r->op->function : NULL;
    for (int32_t i = 0; i < r->op->n_attr; i++) {
        const clv_attr *attr = &r->graph->attrs[r->op->first_attr + i];
        if (!has_bodies(attr))
            continue;
        if (b < attr->n)
            return attr->graph[b];
        b -= attr->n;
    }
    return NULL;
}

clv_status clv_rule_body(clv_rule *r, int32_t b, const clv_body_inputs *in, const clv_types **ret,
                         clv_error *err)
{
    const clv_graph *graph = body_at(r, b);
    clv_types *body = NULL;
    if (!graph)
        return clv_rule_fail(r, err, "has no body number %d", b);
    CLV_TRY(r->infer_body(r, graph, in, &body, err));
    r->types->body[r->types->first_body[r->op - r->graph->ops] + b] = body;
    *ret = body;
    return CLV_OK;
}

void clv_rule_trips(clv_rule *r, int64_t trips)
{
    if (r->types->trips)
        r->types->trips[r->op - r->graph->ops] = trips;
}

/* -- failing -- */

clv_status clv_rule_fail(const clv_rule *r, clv_error *err, const char *fmt, ...)
{
    char words[CLV_MESSAGE_SIZE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof words, fmt, args);
    va_end(args);
    return clv_fail(err, CLV_EFORMAT, "operator '%.*s' (%.*s): %s", CLV_STR_ARG(r->op->label),
                    CLV_STR_ARG(r->op->type), words);
}
