#include "graph/shapes_body.h"

#include <string.h>

#include "graph/shape_tools.h"

/* After so many rounds shapes are given up, after twice as many types are. Real loops need two. */
#define ROUNDS_MAX 8

typedef struct {
    const clv_graph *graph;
    int32_t index;               /* among the operator's bodies */
    int32_t n_in;                /* inputs of the body */
    int32_t first_in, first_out; /* of the body's inputs and outputs, where states start */
    int32_t n_states;
    clv_type *types;          /* n_in; states are widened in place */
    const clv_value **values; /* n_in */
    const clv_types *result;
} repeated;

static bool same_type(const clv_type *a, const clv_type *b)
{
    bool tensor = a->kind == CLV_TYPE_TENSOR || a->kind == CLV_TYPE_SPARSE;
    if (a->kind != b->kind || a->dtype != b->dtype || !a->elem != !b->elem)
        return false;
    if (tensor && a->rank != b->rank)
        return false;
    if (tensor && a->rank > 0 && memcmp(a->dims, b->dims, sizeof *a->dims * (size_t)a->rank) != 0)
        return false;
    return !a->elem || same_type(a->elem, b->elem);
}

static clv_status alloc_inputs(clv_rule *r, int32_t n, repeated *b, clv_error *err)
{
    b->n_in = n;
    b->types = CLV_NEW_ARRAY(r->arena, clv_type, n);
    b->values = CLV_NEW_ARRAY(r->arena, const clv_value *, n);
    if (!b->types || !b->values)
        return clv_fail_nomem(err, "the inputs of a body");
    if (b->graph->n_inputs != n)
        return clv_rule_fail(r, err, "the body has %d inputs, expected %d", b->graph->n_inputs, n);
    if (b->graph->n_outputs < b->first_out + b->n_states)
        return clv_rule_fail(r, err, "the body has %d outputs, expected at least %d",
                             b->graph->n_outputs, b->first_out + b->n_states);
    return CLV_OK;
}

/* A state that the body hands on untouched. */
static bool is_invariant(const repeated *b, int32_t s)
{
    return b->graph->outputs[b->first_out + s].i == b->graph->inputs[b->first_in + s].i;
}

static void forget_shapes(repeated *b, bool type_too)
{
    for (int32_t s = 0; s < b->n_states; s++) {
        clv_type *t = &b->types[b->first_in + s];
        if (is_invariant(b, s))
            continue;
        t->rank = CLV_RANK_UNKNOWN;
        if (type_too || t->elem)
            *t = (clv_type){ .rank = CLV_RANK_UNKNOWN };
    }
}

/* Infers the body until what comes out is what went in, widening the states by what it returns. */
static clv_status settle(clv_rule *r, repeated *b, clv_error *err)
{
    clv_body_inputs inputs = { b->n_in, b->types, b->values };
    bool changed = true;
    for (int32_t round = 0; changed; round++) {
        if (round >= ROUNDS_MAX)
            forget_shapes(b, round >= 2 * ROUNDS_MAX);
        CLV_TRY(clv_rule_body(r, b->index, &inputs, &b->result, err));
        changed = false;
        for (int32_t s = 0; s < b->n_states; s++) {
            clv_type *state = &b->types[b->first_in + s], merged;
            const clv_type *out = clv_body_output(b->result, b->first_out + s);
            if (is_invariant(b, s))
                continue;
            CLV_TRY(clv_rule_merge(r, state, out, &merged, err));
            changed |= !same_type(state, &merged);
            *state = merged;
        }
    }
    return CLV_OK;
}

/* The pieces that each round gives, stacked along a new axis. */
static clv_status set_stacked(clv_rule *r, int32_t out, const clv_type *piece, clv_dim length,
                              int64_t along, clv_error *err)
{
    clv_dim dims[CLV_RANK_MAX];
    int32_t axis, from = 0;
    if (!clv_type_ranked(piece) || piece->rank >= CLV_RANK_MAX)
        return clv_rule_set_unranked(r, out, piece->dtype, err);
    CLV_TRY(clv_rule_axis(r, along, piece->rank + 1, &axis, err));
    for (int32_t i = 0; i <= piece->rank; i++)
        dims[i] = i == axis ? length : piece->dims[from++];
    return clv_rule_set(r, out, piece->dtype, piece->rank + 1, dims, err);
}

/* -- If -- */

clv_status clv_shape_if(clv_rule *r, clv_error *err)
{
    clv_dim condition = clv_rule_scalar(r, 0);
    const char *const names[2] = { "else_branch", "then_branch" };
    const clv_types *branch[2] = { NULL, NULL };
    const clv_body_inputs no_inputs = { 0, NULL, NULL };
    for (int32_t i = 0; i < 2; i++) {
        int32_t index;
        if (clv_rule_body_graph(r, names[i], &index))
            CLV_TRY(clv_rule_body(r, index, &no_inputs, &branch[i], err));
    }
    if (!branch[0] || !branch[1])
        return CLV_OK;
    for (int32_t k = 0; k < clv_rule_n_out(r); k++) {
        clv_type both;
        if (k >= branch[0]->graph->n_outputs || k >= branch[1]->graph->n_outputs)
            return clv_rule_fail(r, err, "a branch has no output %d", k);
        if (clv_dim_is_number(condition)) {
            CLV_TRY(clv_rule_set_type(r, k, clv_body_output(branch[condition != 0], k), err));
            continue;
        }
        CLV_TRY(clv_rule_merge(r, clv_body_output(branch[0], k), clv_body_output(branch[1], k),
                               &both, err));
        CLV_TRY(clv_rule_set_type(r, k, &both, err));
    }
    return CLV_OK;
}

/* -- Loop -- */

/* The body only ever runs with a true condition. */
static const clv_dim true_element[1] = { 1 };
static const clv_value true_value = { .n = 1, .i = true_element };

static clv_status loop_inputs(clv_rule *r, repeated *b, clv_error *err)
{
    const clv_type *condition = clv_rule_in(r, 1);
    clv_type scalar = { .kind = CLV_TYPE_TENSOR, .dtype = CLV_DT_INT64 };
    CLV_TRY(alloc_inputs(r, b->n_states + 2, b, err));
    b->types[0] = scalar;
    scalar.dtype = CLV_DT_BOOL;
    b->types[1] = condition->kind == CLV_TYPE_UNKNOWN ? scalar : *condition;
    b->values[1] = clv_rule_has_in(r, 1) ? &true_value : NULL;
    for (int32_t s = 0; s < b->n_states; s++) {
        b->types[2 + s] = *clv_rule_in(r, 2 + s);
        b->values[2 + s] = is_invariant(b, s) ? clv_rule_value(r, 2 + s) : NULL;
    }
    return CLV_OK;
}

/* How often the body runs; -1 when not known. Without a condition what the body says is ignored. */
static int64_t loop_trips(const clv_rule *r, const repeated *b)
{
    clv_dim most = clv_rule_scalar(r, 0), start = clv_rule_scalar(r, 1);
    const clv_value *next = b->result->value[b->graph->outputs[0].i];
    bool has_most = clv_rule_has_in(r, 0), has_condition = clv_rule_has_in(r, 1);
    if ((clv_dim_is_number(most) && most <= 0) || start == 0)
        return 0;
    if (has_most && !clv_dim_is_number(most))
        return -1;
    if (!has_condition)
        return has_most ? most : -1;
    if (!clv_dim_is_number(start) || !next || !next->i || next->n != 1 ||
        !clv_dim_is_number(next->i[0]))
        return -1;
    if (next->i[0] == 0)
        return 1;
    return has_most ? most : -1;
}

clv_status clv_shape_loop(clv_rule *r, clv_error *err)
{
    repeated b = { .first_in = 2, .first_out = 1, .n_states = clv_rule_n_in(r) - 2 };
    b.graph = clv_rule_body_graph(r, "body", &b.index);
    if (!b.graph)
        return CLV_OK;
    if (b.n_states < 0)
        return clv_rule_fail(r, err, "%d inputs, expected at least 2", clv_rule_n_in(r));
    CLV_TRY(loop_inputs(r, &b, err));
    CLV_TRY(settle(r, &b, err));
    int64_t trips = loop_trips(r, &b);
    clv_rule_trips(r, trips);
    for (int32_t s = 0; s < b.n_states; s++) {
        const clv_type *final = &b.types[2 + s]; /* what went in or what came out */
        if (trips == 0 || is_invariant(&b, s))
            final = clv_rule_in(r, 2 + s);
        else if (trips > 0)
            final = clv_body_output(b.result, 1 + s);
        CLV_TRY(clv_rule_set_type(r, s, final, err));
    }
    for (int32_t k = 1 + b.n_states; k < b.graph->n_outputs; k++)
        CLV_TRY(set_stacked(r, k - 1, clv_body_output(b.result, k),
                            trips >= 0 ? trips : CLV_DIM_UNKNOWN, 0, err));
    return CLV_OK;
}

/* -- Scan -- */

typedef struct {
    repeated b;
    int32_t skip;    /* inputs before the states: version 8 has the lengths of the sequences */
    int32_t n_scans; /* inputs that are scanned */
    bool batched;    /* version 8: dimension 0 is a batch that the body does not see */
    clv_dim batch, length;
} scan;

static int64_t axis_from(const clv_rule *r, const char *name, int32_t k)
{
    const int64_t *axes;
    int32_t n;
    return clv_rule_attr_ints(r, name, &axes, &n) && k < n ? axes[k] : 0;
}

/* type without dimension `axis`, which is returned. */
static clv_status drop_axis(clv_rule *r, int64_t along, clv_type *type, clv_dim *ret,
                            clv_error *err)
{
    clv_dim *dims;
    int32_t axis, to = 0;
    *ret = CLV_DIM_UNKNOWN;
    if (!clv_type_ranked(type))
        return CLV_OK;
    CLV_TRY(clv_rule_axis(r, along, type->rank, &axis, err));
    if (!(dims = CLV_NEW_ARRAY(r->arena, clv_dim, type->rank)))
        return clv_fail_nomem(err, "a shape");
    for (int32_t i = 0; i < type->rank; i++)
        if (i != axis)
            dims[to++] = type->dims[i];
    *ret = type->dims[axis];
    type->rank--;
    type->dims = dims;
    return CLV_OK;
}

static clv_status scan_inputs(clv_rule *r, scan *s, clv_error *err)
{
    clv_dim d;
    CLV_TRY(alloc_inputs(r, s->b.n_states + s->n_scans, &s->b, err));
    for (int32_t k = 0; k < s->b.n_in; k++) {
        clv_type *type = &s->b.types[k];
        *type = *clv_rule_in(r, s->skip + k);
        if (s->batched) {
            CLV_TRY(drop_axis(r, 0, type, &d, err));
            CLV_TRY(clv_rule_same_dim(r, s->batch, d, "the batch", &s->batch, err));
        }
        if (k < s->b.n_states)
            continue;
        CLV_TRY(drop_axis(r, axis_from(r, "scan_input_axes", k - s->b.n_states), type, &d, err));
        CLV_TRY(clv_rule_same_dim(r, s->length, d, "the scanned length", &s->length, err));
    }
    return CLV_OK;
}

static clv_status set_scanned(clv_rule *r, const scan *s, int32_t out, clv_error *err)
{
    const clv_type *piece = clv_body_output(s->b.result, out);
    clv_dim dims[CLV_RANK_MAX];
    if (!s->batched)
        return set_stacked(r, out, piece, s->length,
                           axis_from(r, "scan_output_axes", out - s->b.n_states), err);
    if (!clv_type_ranked(piece) || piece->rank + 2 > CLV_RANK_MAX)
        return clv_rule_set_unranked(r, out, piece->dtype, err);
    dims[0] = s->batch;
    dims[1] = s->length;
    for (int32_t i = 0; i < piece->rank; i++)
        dims[2 + i] = piece->dims[i];
    return clv_rule_set(r, out, piece->dtype, piece->rank + 2, dims, err);
}

clv_status clv_shape_scan(clv_rule *r, clv_error *err)
{
    bool batched = r->version < 9;
    scan s = {
        .skip = batched, .batched = batched, .batch = CLV_DIM_UNKNOWN, .length = CLV_DIM_UNKNOWN
    };
    int64_t n_scans = clv_rule_attr_int(r, "num_scan_inputs", 0);
    s.b.graph = clv_rule_body_graph(r, "body", &s.b.index);
    if (!s.b.graph)
        return CLV_OK;
    if (n_scans < 1 || n_scans > clv_rule_n_in(r) - s.skip)
        return clv_rule_fail(r, err, "num_scan_inputs is %lld of %d inputs", (long long)n_scans,
                             clv_rule_n_in(r));
    s.n_scans = (int32_t)n_scans;
    s.b.n_states = clv_rule_n_in(r) - s.skip - s.n_scans;
    CLV_TRY(scan_inputs(r, &s, err));
    CLV_TRY(settle(r, &s.b, err));
    clv_dim trips = batched ? clv_dim_mul(s.length, s.batch) : s.length;
    clv_rule_trips(r, clv_dim_is_number(trips) ? trips : -1);
    for (int32_t k = 0; k < s.b.n_states; k++)
        CLV_TRY(batched ? set_stacked(r, k, &s.b.types[k], s.batch, 0, err)
                        : clv_rule_set_type(r, k, &s.b.types[k], err));
    for (int32_t k = s.b.n_states; k < s.b.graph->n_outputs; k++)
        CLV_TRY(set_scanned(r, &s, k, err));
    return CLV_OK;
}

/* -- generation -- */

/* The bodies are inferred with what the file declares of their inputs. */
static clv_status infer_bodies(clv_rule *r, clv_error *err)
{
    const clv_types *body;
    const int32_t *first =
        r->types->first_body ? &r->types->first_body[r->op - r->graph->ops] : NULL;
    for (int32_t b = 0; first && b < first[1] - first[0]; b++)
        CLV_TRY(clv_rule_body(r, b, &(clv_body_inputs){ 0, NULL, NULL }, &body, err));
    return CLV_OK;
}

clv_status clv_shape_beam_search(clv_rule *r, clv_error *err)
{
    clv_dim batch = clv_type_dim(clv_rule_in(r, 0), 0), max_length = clv_rule_scalar(r, 1);
    clv_dim beams = clv_rule_scalar(r, 3), returned = clv_rule_scalar(r, 4);
    clv_dim sequences[3] = { batch, returned, max_length };
    clv_dim scores[4] = { CLV_DIM_UNKNOWN, batch, beams, CLV_DIM_UNKNOWN };
    CLV_TRY(infer_bodies(r, err));
    CLV_TRY(clv_rule_set(r, 0, CLV_DT_INT32, 3, sequences, err));
    CLV_TRY(clv_rule_set(r, 1, CLV_DT_UNDEFINED, 2, sequences, err));
    return clv_rule_set(r, 2, CLV_DT_UNDEFINED, 4, scores, err);
}

clv_status clv_shape_greedy_search(clv_rule *r, clv_error *err)
{
    clv_dim sequences[2] = { clv_type_dim(clv_rule_in(r, 0), 0), clv_rule_scalar(r, 1) };
    CLV_TRY(infer_bodies(r, err));
    return clv_rule_set(r, 0, CLV_DT_INT32, 2, sequences, err);
}
