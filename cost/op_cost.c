/* op_cost.c - one pass over the operators: formulas, traffic, bodies, sums.
 *
 * A body is costed where it is met, with the types that inference gave it there. What inference has
 * unfolded bounds the work, so calls of calls cost no more here than they did there.
 */
#include "cost/op_cost.h"

#include "cost/bytes.h"
#include "cost/flops.h"
#include "cost/parameters.h"
#include "cost/shapes.h"
#include "cost/weights.h"
#include "cost/workspace.h"

/* -- one operator without bodies -- */

/* Every output's value is known before the run: whoever compiles the model folds it away. */
static bool is_folded(const clv_types *types, const clv_op_info *op)
{
    const clv_graph *g = types->graph;
    if (op->n_out == 0)
        return false;
    for (int32_t k = 0; k < op->n_out; k++) {
        clv_tensor t = clv_op_output(g, op, k);
        if (t.i >= 0 && !types->value[t.i])
            return false;
    }
    return true;
}

/* Its sizes where it is a product of two tensors, attention, or a mixture of experts. */
static clv_kernel_shape shape_of(clv_sizing apart, int64_t matmul_flops)
{
    clv_sizing *s = &apart;
    clv_flops_kind kind = s->def->flops;
    int32_t second = clv_second_operand(s->rule.op);
    if (kind == CLV_FLOPS_ATTENTION)
        return clv_attention_sizes(s);
    if (kind == CLV_FLOPS_MOE)
        return clv_experts_sizes(s);
    if (kind != CLV_FLOPS_MATMUL && kind != CLV_FLOPS_GEMM && kind != CLV_FLOPS_CONV &&
        kind != CLV_FLOPS_CONV_TRANSPOSE && kind != CLV_FLOPS_MATMUL_NBITS &&
        !(kind == CLV_FLOPS_EINSUM && clv_rule_n_in(&s->rule) == 2))
        return (clv_kernel_shape){ .kind = CLV_SHAPE_NONE };
    int64_t packed = clv_size_in_elems(s, second);
    const clv_product_elems e = { { clv_size_in_elems(s, 0),
                                    clv_product_operand_elems(&s->rule, packed) },
                                  clv_size_out_elems(s, 0) };
    clv_dtype weights = clv_second_dtype(&s->rule, clv_rule_in(&s->rule, second)->dtype);
    if (kind == CLV_FLOPS_CONV || kind == CLV_FLOPS_CONV_TRANSPOSE)
        return clv_convolution_shape(matmul_flops, &e, weights, clv_size_in_tail(s, second, 2));
    return clv_product_shape(matmul_flops, &e, weights);
}

static void cost_plain(clv_sizing *s, clv_op_cost *ret)
{
    clv_work work = { 0, 0 };
    if (s->def) {
        clv_sizing apart = *s; /* what the workspace lacks is no lack of the cost */
        work = clv_flops(s);
        ret->workspace_bytes = clv_wanted_workspace(&apart);
        if (apart.open)
            ret->workspace_bytes = 0;
        s->overflow |= apart.overflow;
    }
    clv_traffic traffic = clv_bytes(s);
    ret->matmul_flops = work.matrix;
    ret->flops = clv_size_add(s, work.matrix, work.vector);
    ret->read_bytes = traffic.read;
    ret->write_bytes = traffic.write;
    if (s->def && work.matrix > 0)
        ret->shape = shape_of(*s, work.matrix);
}

/* -- bodies -- */

static void add_cost(clv_sizing *s, const clv_op_cost *from, clv_op_cost *to, int64_t *dearest)
{
    if (from->flops > *dearest) {
        *dearest = from->flops;
        to->math = from->math;
    }
    to->flops = clv_size_add(s, to->flops, from->flops);
    to->matmul_flops = clv_size_add(s, to->matmul_flops, from->matmul_flops);
    to->read_bytes = clv_size_add(s, to->read_bytes, from->read_bytes);
    to->write_bytes = clv_size_add(s, to->write_bytes, from->write_bytes);
    to->weight_bytes = clv_size_add(s, to->weight_bytes, from->weight_bytes);
    if (from->workspace_bytes > to->workspace_bytes)
        to->workspace_bytes = from->workspace_bytes;
}

static clv_op_cost cost_op(const clv_model *model, const clv_types *types, int32_t op,
                           const clv_rule *caller, clv_sizing *ret);

/* All operators of a body, and the initialisers that are its own. Bodies nest at most as deep as
 * inference went. */
static clv_op_cost cost_body(const clv_model *model, clv_sizing *owner, const clv_types *types,
                             const clv_rule *caller)
{
    const clv_graph *g = types->graph;
    clv_op_cost sum = { .math = CLV_DT_UNDEFINED };
    int64_t dearest = -1;
    for (int32_t i = 0; i < g->n_ops; i++) {
        clv_sizing s;
        clv_op_cost one = cost_op(model, types, i, caller, &s);
        owner->open |= s.open || g->ops[i].kind == CLV_OPKIND_UNKNOWN;
        owner->overflow |= s.overflow;
        add_cost(owner, &one, &sum, &dearest);
    }
    for (int32_t w = 0; w < g->n_weights; w++)
        sum.weight_bytes = clv_size_add(owner, sum.weight_bytes, g->weights[w].bytes);
    return sum;
}

/* An If costs what the branch that runs costs, or if that is not known the dearer one. */
static void choose_branch(clv_sizing *s, const clv_op_cost *branch, bool first, bool taken,
                          clv_op_cost *to)
{
    int64_t weights = clv_size_add(s, to->weight_bytes, branch->weight_bytes); /* both stay */
    if (first || taken || branch->flops > to->flops ||
        (branch->flops == to->flops && branch->read_bytes > to->read_bytes))
        *to = *branch;
    to->weight_bytes = weights;
}

static clv_op_cost cost_bodies(const clv_model *model, clv_sizing *s)
{
    const clv_types *types = s->rule.types;
    int32_t op = (int32_t)(s->rule.op - s->rule.graph->ops);
    int32_t first = types->first_body ? types->first_body[op] : 0;
    int32_t n = types->first_body ? types->first_body[op + 1] - first : 0;
    bool call = s->rule.op->kind == CLV_OPKIND_FUNCTION;
    bool choice = s->rule.op->domain.n == 0 && clv_str_is(s->rule.op->type, "If");
    clv_dim condition = choice ? clv_rule_scalar(&s->rule, 0) : CLV_DIM_UNKNOWN;
    int32_t taken = -1; /* of an If whose condition is known: attributes else_branch, then_branch */
    if (clv_dim_is_number(condition))
        (void)clv_rule_body_graph(&s->rule, condition ? "then_branch" : "else_branch", &taken);
    clv_op_cost sum = { .math = CLV_DT_UNDEFINED };
    int64_t dearest = -1;
    bool had_taken = false;
    for (int32_t b = 0; b < n; b++) {
        const clv_types *body = types->body[first + b];
        if (!body) {
            s->open = true;
            continue;
        }
        clv_op_cost one = cost_body(model, s, body, call ? &s->rule : s->rule.caller);
        if (!choice) {
            add_cost(s, &one, &sum, &dearest);
        } else if (had_taken) {
            sum.weight_bytes = clv_size_add(s, sum.weight_bytes, one.weight_bytes);
        } else {
            had_taken = b == taken;
            choose_branch(s, &one, b == 0, had_taken, &sum);
        }
    }
    int64_t trips = call || choice ? 1 : types->trips ? types->trips[op] : -1;
    if (trips < 0) {
        s->open = true; /* counted once */
        return sum;
    }
    sum.flops = clv_size_mul(s, sum.flops, trips);
    sum.matmul_flops = clv_size_mul(s, sum.matmul_flops, trips);
    sum.read_bytes = clv_size_mul(s, sum.read_bytes, trips);
    sum.write_bytes = clv_size_mul(s, sum.write_bytes, trips);
    return sum;
}

static clv_speed_form form_of(clv_sizing apart)
{
    clv_sizing *s = &apart; /* sizes that are missing here are no lack of the cost */
    if (clv_rule_attr_int(&s->rule, "group", 1) <= 1)
        return CLV_SPEED_PLAIN;
    return clv_size_in_dim(s, clv_second_operand(s->rule.op), 1) == 1 ? CLV_SPEED_DEPTHWISE
                                                                      : CLV_SPEED_GROUPED;
}

/* *ret: whether sizes were missing or too large. */
static clv_op_cost cost_op(const clv_model *model, const clv_types *types, int32_t op,
                           const clv_rule *caller, clv_sizing *ret)
{
    const clv_graph *g = types->graph;
    const clv_op_info *info = &g->ops[op];
    clv_op_cost cost = { .math = CLV_DT_UNDEFINED };
    int64_t version = clv_graph_opset(g, info->domain);
    *ret = (clv_sizing){ .rule = { .model = model,
                                   .graph = g,
                                   .op = info,
                                   .version = version > 0 ? version : INT32_MAX,
                                   .types = (clv_types *)types, /* read only: see sizing.h */
                                   .caller = caller },
                         .def = info->kind >= 0 ? clv_op_def_at(info->kind) : NULL };
    bool bodies =
        info->kind == CLV_OPKIND_FUNCTION || (ret->def && ret->def->flops == CLV_FLOPS_BODY);
    if (bodies)
        cost = cost_bodies(model, ret);
    else if (!is_folded(types, info))
        cost_plain(ret, &cost);
    if (bodies && is_folded(types, info))
        cost = (clv_op_cost){ .weight_bytes = cost.weight_bytes };
    if (!bodies || cost.math == CLV_DT_UNDEFINED) {
        /* input 0's, or that of what a condition chooses from, or the output's */
        cost.math = clv_rule_in(&ret->rule, 0)->dtype;
        if (cost.math == CLV_DT_BOOL && clv_rule_n_in(&ret->rule) > 1)
            cost.math = clv_rule_in(&ret->rule, 1)->dtype;
        if (cost.math == CLV_DT_UNDEFINED)
            cost.math = clv_size_out(ret, 0)->dtype;
    }
    /* operands are brought to the narrower of two floating-point types, as engines do with 8 bits
     */
    bool multiplies = cost.shape.kind == CLV_SHAPE_PRODUCT || cost.shape.kind == CLV_SHAPE_EXPERTS;
    if (multiplies && clv_dtype_is_float(cost.shape.weights) &&
        clv_dtype_bits(cost.shape.weights) < clv_dtype_bits(cost.math))
        cost.math = cost.shape.weights;
    cost.share = cost.starts = 1;
    cost.speed = bodies || info->kind < 0 ? 0 : 1 + clv_speed_of(info->kind, form_of(*ret));
    return cost;
}

/* -- what lies in the file: every graph once -- */

static clv_status too_large(clv_str name, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT, "'%.*s': the sizes up to here do not fit 64 bits",
                    CLV_STR_ARG(name));
}

static int64_t constant_bytes_of(const clv_attr *attr)
{
    switch (attr->kind) {
    case CLV_ATTR_TENSOR:
        return attr->tensor[0].bytes;
    case CLV_ATTR_FLOAT:
    case CLV_ATTR_FLOATS:
        return (int64_t)attr->n * 4;
    case CLV_ATTR_INT:
    case CLV_ATTR_INTS:
        return (int64_t)attr->n * 8;
    case CLV_ATTR_NONE:
    case CLV_ATTR_STRING:
    case CLV_ATTR_STRINGS:
    case CLV_ATTR_GRAPH:
    case CLV_ATTR_GRAPHS:
    case CLV_ATTR_TENSORS:
    case CLV_ATTR_TYPE:
    case CLV_ATTR_TYPES:
        break;
    }
    return 0;
}

static clv_status count_file(const clv_graph *g, clv_costs *costs, clv_error *err)
{
    for (int32_t w = 0; w < g->n_weights; w++) {
        const clv_const *at = &g->weights[w];
        int64_t elems = clv_dtype_is_float(at->dtype) ? at->elems : 0;
        if (__builtin_add_overflow(costs->parameters, elems, &costs->parameters) ||
            __builtin_add_overflow(costs->total.weight_bytes, at->bytes,
                                   &costs->total.weight_bytes))
            return too_large(at->name, err);
    }
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        bool constant = op->kind >= 0 && clv_op_def_at(op->kind)->bytes == CLV_BYTES_CONST;
        if (__builtin_add_overflow(costs->parameters, clv_constant_parameters(g, op),
                                   &costs->parameters))
            return too_large(op->label, err);
        for (int32_t a = 0; a < op->n_attr; a++) {
            const clv_attr *attr = &g->attrs[op->first_attr + a];
            bool graphs = attr->kind == CLV_ATTR_GRAPH || attr->kind == CLV_ATTR_GRAPHS;
            if (constant && attr->ref.n == 0 &&
                __builtin_add_overflow(costs->constant_bytes, constant_bytes_of(attr),
                                       &costs->constant_bytes))
                return too_large(op->label, err);
            for (int32_t b = 0; graphs && attr->ref.n == 0 && b < attr->n; b++)
                CLV_TRY(count_file(attr->graph[b], costs, err));
        }
    }
    return CLV_OK;
}

/* -- all operators -- */

/* -- all operators -- */

/* seen: by initialiser, zeroed. */
static clv_status cost_main(const clv_model *model, const clv_types *types, int32_t *seen,
                            clv_costs *costs, clv_error *err)
{
    const clv_graph *g = types->graph;
    clv_op_cost *total = &costs->total;
    for (int32_t i = 0; i < g->n_ops; i++) {
        clv_sizing s;
        clv_op_cost one = cost_op(model, types, i, NULL, &s);
        int64_t direct = clv_weights_read(g, (clv_op){ i }, i + 1, seen);
        one.weight_bytes = clv_size_add(&s, one.weight_bytes, direct);
        total->flops = clv_size_add(&s, total->flops, one.flops);
        total->matmul_flops = clv_size_add(&s, total->matmul_flops, one.matmul_flops);
        total->read_bytes = clv_size_add(&s, total->read_bytes, one.read_bytes);
        total->write_bytes = clv_size_add(&s, total->write_bytes, one.write_bytes);
        total->workspace_bytes = clv_size_add(&s, total->workspace_bytes, one.workspace_bytes);
        if (s.overflow || direct == INT64_MAX)
            return clv_fail(err, CLV_EFORMAT,
                            "operator '%.*s' (%.*s): its cost, or the sum up to it, does not fit "
                            "64 bits",
                            CLV_STR_ARG(g->ops[i].label), CLV_STR_ARG(g->ops[i].type));
        costs->of[i] = one;
        if (g->ops[i].kind == CLV_OPKIND_UNKNOWN)
            costs->unknown[costs->n_unknown++] = (clv_op){ i };
        if (s.open)
            costs->unsized[costs->n_unsized++] = (clv_op){ i };
    }
    return CLV_OK;
}

clv_status clv_costs_build(const clv_model *model, const clv_types *types, clv_arena *arena,
                           clv_costs **ret, clv_error *err)
{
    const clv_graph *g = types->graph;
    clv_costs *costs = CLV_NEW(arena, clv_costs);
    if (!costs)
        return clv_fail_nomem(err, "costs");
    *costs = (clv_costs){ .graph = g,
                          .types = types,
                          .of = CLV_NEW_ROOM(arena, clv_op_cost, g->n_ops),
                          .unknown = CLV_NEW_ROOM(arena, clv_op, g->n_ops),
                          .unsized = CLV_NEW_ROOM(arena, clv_op, g->n_ops) };
    clv_mark mark = clv_arena_mark(arena);
    int32_t *seen = CLV_NEW_ARRAY(arena, int32_t, g->n_weights);
    if (!costs->of || !costs->unknown || !costs->unsized || !seen)
        return clv_fail_nomem(err, "costs");
    CLV_TRY(count_file(g, costs, err));
    for (int32_t f = 0; f < model->n_functions; f++)
        CLV_TRY(count_file(model->functions[f], costs, err));
    CLV_TRY(cost_main(model, types, seen, costs, err));
    clv_arena_rewind(arena, mark);
    *ret = costs;
    return CLV_OK;
}
