#include "rules/tensor_constraints.h"

#include <stdio.h>

#include "cost/shard_choices.h"
#include "rules/choice_constraints.h"
#include "rules/split_reasons.h"
#include "sharding/moved_as.h"

/* Rules become, by tensor and axis, the dimension that the axis has to split, and by operator and
 * axis the factor; then each operator that they bear on is asked for a choice.
 */

#define LABEL_MAX 128 /* characters of a rule's label */

typedef struct {
    clv_tensor_constraints result;
    clv_choice_constraints c;
    const clv_constraints *rules;
    clv_arena *arena;
    bool *idle;
} builder;

/* What a rule says of axes: a set, in the mesh's order. */
typedef struct {
    int32_t rule;
    int32_t n;
    int32_t axis[CLV_MESH_AXES_MAX];
    int64_t parts;
    char text[CLV_MESH_AXES_MAX * (CLV_MESH_NAME_MAX + 1)]; /* "dp.tp" */
} axis_set;

static clv_status no_memory(clv_error *err) { return clv_fail_nomem(err, "rules on tensors"); }

static const char *label(const builder *b, int32_t rule, char buf[static LABEL_MAX])
{
    if (rule == CLV_DATA_PARALLEL_OPTION)
        return "--data-parallel";
    return clv_constraint_label(b->rules, rule, buf, LABEL_MAX);
}
#define RULE(rule) label(b, (rule), (char[LABEL_MAX]){ 0 })

static clv_str tensor_name(const builder *b, clv_tensor t)
{
    return clv_tensor_at(b->c.g, t)->name;
}
static clv_str op_name(const builder *b, clv_op op) { return clv_op_at(b->c.g, op)->label; }
static clv_str op_type(const builder *b, clv_op op) { return clv_op_at(b->c.g, op)->type; }

/* -- axes -- */

static void add_axis(const clv_mesh *mesh, axis_set *set, int32_t axis)
{
    size_t n = strlen(set->text);
    snprintf(set->text + n, sizeof set->text - n, "%s%s", set->n ? "." : "", mesh->name[axis]);
    set->axis[set->n++] = axis;
    set->parts *= mesh->size[axis];
}

static clv_status find_axis(const builder *b, int32_t rule, const char *name, int32_t *ret,
                            clv_error *err)
{
    const clv_mesh *mesh = b->c.mesh;
    char has[CLV_MESH_AXES_MAX * (CLV_MESH_NAME_MAX + 4)] = "";
    for (int32_t a = 0; a < mesh->n_axes; a++) {
        size_t n = strlen(has);
        if (strcmp(mesh->name[a], name) == 0) {
            *ret = a;
            return CLV_OK;
        }
        snprintf(has + n, sizeof has - n, "%s'%s'", a ? ", " : "", mesh->name[a]);
    }
    return clv_fail(err, CLV_EFORMAT, "%s: the mesh has no axis '%.80s', expected one of %s",
                    RULE(rule), name, has);
}

/* Those that a rule names, or all. */
static clv_status find_axes(const builder *b, int32_t rule, axis_set *ret, clv_error *err)
{
    const clv_split_constraint *s = b->rules->at[rule].split;
    *ret = (axis_set){ .rule = rule, .parts = 1 };
    for (int32_t i = 0; i < s->n_axes; i++) {
        int32_t axis = 0;
        CLV_TRY(find_axis(b, rule, s->axes[i], &axis, err));
        if (ret->n > 0 && axis < ret->axis[ret->n - 1])
            return clv_fail(err, CLV_EFORMAT,
                            "%s: '%.80s' is an axis outside of '%.80s' in the mesh, expected the "
                            "order of the mesh",
                            RULE(rule), s->axes[i], s->axes[i - 1]);
        add_axis(b->c.mesh, ret, axis);
    }
    for (int32_t a = 0; s->n_axes == 0 && a < b->c.mesh->n_axes; a++)
        add_axis(b->c.mesh, ret, a);
    return CLV_OK;
}

/* -- demands -- */

static clv_status fail_contradiction(const builder *b, int32_t first, int32_t second, clv_str name,
                                     clv_error *err)
{
    /* rules in the order of the file */
    bool given = first != CLV_DATA_PARALLEL_OPTION;
    int32_t one = given && first > second && second != CLV_DATA_PARALLEL_OPTION ? second : first;
    int32_t two = one == first ? second : first;
    return clv_fail(err, CLV_EFORMAT, "%s and %s contradict each other on '%.*s'", RULE(one),
                    RULE(two), CLV_STR_ARG(name));
}

/* name: of what it is demanded, for messages. */
static clv_status add_demand(const builder *b, clv_axis_demands *demands, const axis_set *over,
                             int16_t demand, clv_str name, clv_error *err)
{
    for (int32_t i = 0; i < over->n; i++) {
        int32_t a = over->axis[i];
        if (b->c.mesh->size[a] < 2 || demands->demand[a] == demand)
            continue;
        if (demands->demand[a] != CLV_DEMAND_ANY)
            return fail_contradiction(b, demands->rule[a], over->rule, name, err);
        demands->demand[a] = demand;
        demands->rule[a] = over->rule;
    }
    return CLV_OK;
}

static void mark_bound(builder *b, clv_tensor t)
{
    const clv_graph *g = b->c.g;
    const clv_tensor_info *info = clv_tensor_at(g, t);
    b->result.any = b->c.tensor_bound[t.i] = true;
    for (int32_t r = 0; clv_tensor_is_weight(g, t) && r < info->n_readers; r++)
        b->c.op_bound[g->readers_of[info->first_reader + r].i] = true;
}

/* Input or output k of an operator. */
typedef struct {
    clv_op op;
    bool is_output;
    int32_t k;
} operand;

/* Does the operator have a choice that makes its output, or needs its input, split so? */
static bool can_split(const builder *b, const operand *o, const axis_set *over, int32_t dim)
{
    const clv_mesh *mesh = b->c.mesh;
    const clv_factors *f = &b->c.factors[o->op.i];
    clv_op_choice choice = { { -1, -1, -1 } };
    do {
        clv_layout l = o->is_output ? clv_choice_out(f, mesh, &choice, o->k)
                                    : clv_choice_in(f, mesh, &choice, o->k);
        bool so = true;
        for (int32_t i = 0; so && i < over->n; i++)
            so = mesh->size[over->axis[i]] < 2 || l.dim[over->axis[i]] == dim;
        if (so && clv_choice_may(b->c.types, o->op, f, mesh, &choice))
            return true;
    } while (clv_choice_next(f, mesh, false, &choice));
    return false;
}

static clv_status check_can_split(const builder *b, const operand *o, const axis_set *over,
                                  int32_t dim, clv_error *err)
{
    const clv_factors *f = &b->c.factors[o->op.i];
    const clv_operand_factors *factors = NULL;
    char why[CLV_SPLIT_REASON];
    if (can_split(b, o, over, dim))
        return CLV_OK;
    if (o->k < (o->is_output ? f->n_out : f->n_in))
        factors = o->is_output ? &f->out[o->k] : &f->in[o->k];
    if (!clv_why_immovable(b->c.types, o->op, why))
        clv_why_dim_is_whole(f, op_type(b, o->op), factors, dim, over->parts, why);
    if (o->is_output)
        return clv_fail(err, CLV_EFORMAT, "%s: '%.*s' cannot split dim %d over %s: %s",
                        RULE(over->rule), CLV_STR_ARG(op_name(b, o->op)), (int)dim, over->text,
                        why);
    clv_str name = tensor_name(b, clv_op_input(b->c.g, clv_op_at(b->c.g, o->op), o->k));
    return clv_fail(err, CLV_EFORMAT, "%s: '%.*s' cannot split dim %d of '%.*s' over %s: %s",
                    RULE(over->rule), CLV_STR_ARG(op_name(b, o->op)), (int)dim, CLV_STR_ARG(name),
                    over->text, why);
}

/* Whoever writes a tensor, or reads a weight, is able to split it so. */
static clv_status check_neighbours(const builder *b, clv_tensor t, const axis_set *over,
                                   int32_t dim, clv_error *err)
{
    const clv_graph *g = b->c.g;
    const clv_tensor_info *info = clv_tensor_at(g, t);
    clv_op from = info->producer;
    for (int32_t k = 0; from.i >= 0 && k < clv_op_at(g, from)->n_out; k++)
        if (clv_op_output(g, clv_op_at(g, from), k).i == t.i)
            CLV_TRY(check_can_split(b, &(operand){ from, true, k }, over, dim, err));
    for (int32_t r = 0; clv_tensor_is_weight(g, t) && r < info->n_readers; r++) {
        clv_op op = g->readers_of[info->first_reader + r];
        for (int32_t k = 0; k < clv_op_at(g, op)->n_in; k++)
            if (clv_op_input(g, clv_op_at(g, op), k).i == t.i)
                CLV_TRY(check_can_split(b, &(operand){ op, false, k }, over, dim, err));
    }
    return CLV_OK;
}

/* What is known before the run is no part of it, but for weights. */
static bool takes_part(const builder *b, clv_tensor t)
{
    return clv_tensor_is_weight(b->c.g, t) || !clv_shard_is_known(b->c.types, t);
}

/* The dimension from the front. */
static clv_status find_dim(const builder *b, clv_tensor t, const axis_set *over, int32_t dim,
                           int32_t *ret, clv_error *err)
{
    clv_tensor_split split;
    clv_str name = tensor_name(b, t);
    if (!clv_split_of_type(&b->c.types->of[t.i], &split))
        return clv_fail(err, CLV_EFORMAT, "%s: the shape of '%.*s' is not known", RULE(over->rule),
                        CLV_STR_ARG(name));
    *ret = dim < 0 ? dim + split.rank : dim;
    if (*ret < 0 || *ret >= split.rank)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: '%.*s' has %d dimension%s, so no dim %d that %s could split",
                        RULE(over->rule), CLV_STR_ARG(name), (int)split.rank,
                        split.rank == 1 ? "" : "s", (int)dim, over->text);
    if (split.dims[*ret] >= over->parts)
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT,
                    "%s: dim %d of '%.*s' has %lld elements, fewer than the %lld parts of %s",
                    RULE(over->rule), (int)*ret, CLV_STR_ARG(name), (long long)split.dims[*ret],
                    (long long)over->parts, over->text);
}

static clv_status split_tensor(builder *b, clv_tensor t, const axis_set *over, int32_t given_dim,
                               clv_error *err)
{
    int32_t dim = 0;
    if (!takes_part(b, t))
        return CLV_OK;
    CLV_TRY(find_dim(b, t, over, given_dim, &dim, err));
    CLV_TRY(check_neighbours(b, t, over, dim, err));
    CLV_TRY(add_demand(b, &b->c.tensor[t.i], over, (int16_t)dim, tensor_name(b, t), err));
    b->idle[over->rule] = false;
    mark_bound(b, t);
    return CLV_OK;
}

static clv_status keep_tensor_whole(builder *b, clv_tensor t, const axis_set *over, clv_error *err)
{
    if (over->rule >= 0)
        b->idle[over->rule] = false;
    if (!takes_part(b, t))
        return CLV_OK;
    mark_bound(b, t);
    return add_demand(b, &b->c.tensor[t.i], over, CLV_DEMAND_NONE, tensor_name(b, t), err);
}

static clv_status bind_op(builder *b, clv_op op, const axis_set *over, int16_t demand,
                          clv_error *err)
{
    if (over->rule >= 0)
        b->idle[over->rule] = false;
    b->c.op_bound[op.i] = true;
    b->result.any = true;
    return add_demand(b, &b->c.op[op.i], over, demand, op_name(b, op), err);
}

/* -- rules -- */

static clv_status split_factor(builder *b, clv_op op, const axis_set *over, const char *name,
                               clv_error *err)
{
    const clv_factors *f = &b->c.factors[op.i];
    clv_op_choice choice = { { -1, -1, -1 } };
    char words[CLV_SPLIT_REASON];
    int16_t factor = 0;
    clv_str who = op_name(b, op), type = op_type(b, op);
    while (factor < f->n_factors && strcmp(f->factors[factor].name, name) != 0)
        factor++;
    if (factor == f->n_factors)
        return clv_fail(err, CLV_EFORMAT, "%s: '%.*s' (%.*s) has no factor '%s' for %s: %s%s",
                        RULE(over->rule), CLV_STR_ARG(who), CLV_STR_ARG(type), name, over->text,
                        f->why_whole ? "" : "it has ",
                        f->why_whole ? f->why_whole : clv_list_factors(f, words));
    for (int32_t i = 0; i < over->n; i++)
        choice.factor[over->axis[i]] = factor;
    if (clv_choice_may(b->c.types, op, f, b->c.mesh, &choice) &&
        (f->factors[factor].kind == CLV_FACTOR_PARALLEL ||
         f->factors[factor].kind == CLV_FACTOR_REDUCED ||
         f->factors[factor].kind == CLV_FACTOR_SUMMANDS))
        return bind_op(b, op, over, factor, err);
    if (!clv_why_immovable(b->c.types, op, words))
        clv_why_factor_is_whole(f, type, factor, over->parts, words);
    return clv_fail(err, CLV_EFORMAT, "%s: '%.*s' cannot split its factor '%s' over %s: %s",
                    RULE(over->rule), CLV_STR_ARG(who), name, over->text, words);
}

static clv_status split_outputs(builder *b, clv_op op, const axis_set *over, int32_t dim,
                                clv_error *err)
{
    const clv_op_info *info = clv_op_at(b->c.g, op);
    for (int32_t k = 0; k < info->n_out; k++) {
        clv_tensor t = clv_op_output(b->c.g, info, k);
        if (t.i >= 0)
            CLV_TRY(split_tensor(b, t, over, dim, err));
    }
    return CLV_OK;
}

static clv_status lower_rule(builder *b, int32_t rule, clv_error *err)
{
    const clv_constraint *r = &b->rules->at[rule];
    const clv_split_constraint *s = r->split;
    axis_set over;
    CLV_TRY(find_axes(b, rule, &over, err));
    b->idle[rule] = true;
    for (int32_t i = 0; i < s->n_tensors; i++)
        CLV_TRY(r->kind == CLV_CONSTRAINT_WHOLE
                    ? keep_tensor_whole(b, s->tensors[i], &over, err)
                    : split_tensor(b, s->tensors[i], &over, s->dim, err));
    for (int32_t i = 0; i < s->n_ops; i++) {
        if (!clv_shard_takes_part(b->c.types, s->ops[i]))
            continue;
        if (r->kind == CLV_CONSTRAINT_WHOLE)
            CLV_TRY(bind_op(b, s->ops[i], &over, CLV_DEMAND_NONE, err));
        else
            CLV_TRY(s->factor ? split_factor(b, s->ops[i], &over, s->factor, err)
                              : split_outputs(b, s->ops[i], &over, s->dim, err));
    }
    return CLV_OK;
}

/* -- the batch -- */

/* Can the operator split the batch, with its weights as copies, and no sum over it? */
static bool can_split_batch(const builder *b, clv_op op, const axis_set *over)
{
    const clv_factors *f = &b->c.factors[op.i];
    const clv_op_info *info = clv_op_at(b->c.g, op);
    bool can = false;
    for (int16_t i = 0; i < f->n_factors && !can; i++) {
        clv_op_choice choice = { { -1, -1, -1 } };
        if (f->factors[i].kind != CLV_FACTOR_PARALLEL || f->factors[i].by_index ||
            !clv_batch_dims_has_factor(&b->c.batch, b->c.g, op, f, i))
            continue;
        for (int32_t a = 0; a < over->n; a++)
            choice.factor[over->axis[a]] = i;
        can = clv_choice_may(b->c.types, op, f, b->c.mesh, &choice);
        for (int32_t k = 0; k < info->n_in && can; k++) {
            clv_tensor t = clv_op_input(b->c.g, info, k);
            clv_layout l = clv_choice_in(f, b->c.mesh, &choice, k);
            can = t.i < 0 || !clv_tensor_is_weight(b->c.g, t) ||
                  clv_layout_equal(&l, &CLV_LAYOUT_COPIES);
        }
    }
    return can;
}

/* An operator that has to split something is left to do so if that is the batch. */
static clv_status bind_to_batch(builder *b, clv_op op, const axis_set *over, clv_error *err)
{
    const clv_factors *f = &b->c.factors[op.i];
    clv_axis_demands *demands = &b->c.op[op.i];
    int16_t batch = can_split_batch(b, op, over) ? CLV_DEMAND_BATCH : CLV_DEMAND_BATCH_OR_NONE;
    for (int32_t i = 0; i < over->n; i++) {
        int32_t a = over->axis[i];
        int16_t demand = demands->demand[a];
        if (demand >= 0 && !clv_batch_dims_has_factor(&b->c.batch, b->c.g, op, f, demand))
            return fail_contradiction(b, demands->rule[a], over->rule, op_name(b, op), err);
        axis_set one = { .rule = over->rule, .n = 1, .axis = { a } };
        if (demand == CLV_DEMAND_ANY)
            CLV_TRY(bind_op(b, op, &one, batch, err));
    }
    return CLV_OK;
}

/* A tensor that has to be split by another rule may be so if that is its batch. */
static clv_status check_batch(const builder *b, clv_tensor t, const axis_set *over, clv_error *err)
{
    const clv_axis_demands *demands = &b->c.tensor[t.i];
    for (int32_t i = 0; i < over->n; i++) {
        int32_t a = over->axis[i];
        if (demands->demand[a] >= 0 && !clv_batch_dims_is_at(&b->c.batch, t, demands->demand[a]))
            return fail_contradiction(b, demands->rule[a], over->rule, tensor_name(b, t), err);
    }
    return CLV_OK;
}

/* Inputs are split by batch, weights are copies, and operators split the batch where they can, else
 * nothing. */
static clv_status lower_data_parallel(builder *b, const axis_set *over, clv_error *err)
{
    const clv_graph *g = b->c.g;
    if (b->c.batch.size < over->parts)
        return clv_fail(
            err, CLV_EFORMAT,
            "%s: the batch, the leading dimension of the model's inputs, is %lld, fewer "
            "than the %lld parts of %s",
            RULE(over->rule), (long long)b->c.batch.size, (long long)over->parts,
            over->rule == CLV_DATA_PARALLEL_OPTION ? "the mesh's outermost axis" : over->text);
    if (over->rule >= 0)
        b->idle[over->rule] = false;
    for (int32_t i = 0; i < g->n_tensors; i++) {
        clv_tensor t = { i };
        clv_tensor_role role = clv_tensor_at(g, t)->role;
        if (role == CLV_TENSOR_WEIGHT) {
            CLV_TRY(keep_tensor_whole(b, t, over, err));
        } else if (role == CLV_TENSOR_INPUT && b->c.batch.at[i].outer > 0) {
            mark_bound(b, t);
            CLV_TRY(add_demand(b, &b->c.tensor[i], over, 0, tensor_name(b, t), err));
        } else {
            CLV_TRY(check_batch(b, t, over, err));
        }
    }
    for (int32_t i = 0; i < g->n_ops; i++)
        if (clv_shard_takes_part(b->c.types, (clv_op){ i }))
            CLV_TRY(bind_to_batch(b, (clv_op){ i }, over, err));
    return CLV_OK;
}

/* The option first, then the rules in the order of the file. */
static clv_status lower_all_data_parallel(builder *b, bool option, clv_error *err)
{
    bool found = false;
    for (int32_t i = option ? CLV_DATA_PARALLEL_OPTION : 0; i < b->rules->n;
         i = i == CLV_DATA_PARALLEL_OPTION ? 0 : i + 1) {
        axis_set over = { .rule = CLV_DATA_PARALLEL_OPTION, .parts = 1 };
        if (i >= 0 &&
            (b->rules->at[i].kind != CLV_CONSTRAINT_DATA_PARALLEL || b->rules->at[i].unused))
            continue;
        if (i >= 0)
            CLV_TRY(find_axes(b, i, &over, err));
        else
            add_axis(b->c.mesh, &over, 0);
        if (!found)
            CLV_TRY(clv_batch_dims_find(b->c.types, b->c.factors, b->arena, &b->c.batch, err));
        found = true;
        CLV_TRY(lower_data_parallel(b, &over, err));
    }
    return CLV_OK;
}

/* -- is there a choice left? -- */

/* One rule alone was looked at before, dimension by dimension; what is left of it is an operator
 * that reads two of its weights, or one twice. */
static clv_status explain_unsatisfiable(builder *b, clv_op op, clv_error *err)
{
    int32_t on[CLV_CONSTRAINTS_ON_OP], n = clv_constraints_on_op(&b->c, op, on);
    char list[CLV_SPLIT_REASON] = "";
    clv_str name = op_name(b, op);
    size_t length = 0;
    for (int32_t i = 0; i < n; i++)
        if (!clv_op_is_satisfiable(&b->c, op, on[i], on[i]))
            return clv_fail(err, CLV_EFORMAT,
                            "%s: '%.*s' (%.*s) cannot split all that the rule names at once",
                            RULE(on[i]), CLV_STR_ARG(name), CLV_STR_ARG(op_type(b, op)));
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < i; k++)
            if (!clv_op_is_satisfiable(&b->c, op, on[k], on[i]))
                return fail_contradiction(b, on[k], on[i], name, err);
    for (int32_t i = 0; i < n && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                   i == 0       ? ""
                                   : i == n - 1 ? " and "
                                                : ", ",
                                   RULE(on[i]));
    b->result.conflict = clv_arena_printf(b->arena, "no way to split '%.*s' satisfies %s together",
                                          CLV_STR_ARG(name), list);
    return b->result.conflict ? CLV_OK : no_memory(err);
}

/* The plainest layout that satisfies; none may be cut where it cannot be. */
static clv_status set_plainest_layouts(builder *b, clv_error *err)
{
    const clv_mesh *mesh = b->c.mesh;
    for (int32_t t = 0; t < b->c.g->n_tensors; t++) {
        const clv_axis_demands *demands = &b->c.tensor[t];
        clv_layout *like = &b->c.like[t];
        clv_tensor_split split;
        clv_error why;
        int32_t rule = CLV_NO_CONSTRAINT;
        if (!b->c.tensor_bound[t] || clv_tensor_is_weight(b->c.g, (clv_tensor){ t }))
            continue;
        *like = CLV_LAYOUT_COPIES;
        for (int32_t a = 0; a < mesh->n_axes; a++)
            if (demands->demand[a] >= 0) {
                clv_layout_split(like, a, demands->demand[a], 1);
                rule = demands->rule[a];
            }
        if (rule == CLV_NO_CONSTRAINT || !clv_split_of_type(&b->c.types->of[t], &split))
            continue;
        if (clv_layout_check(like, mesh, split.rank, &split, &why) != CLV_OK)
            return clv_fail(err, CLV_EFORMAT, "%s: '%.*s' cannot be split so: %.200s", RULE(rule),
                            CLV_STR_ARG(tensor_name(b, (clv_tensor){ t })), why.message);
        *like = clv_layout_plain(like, mesh);
    }
    return CLV_OK;
}

/* -- all -- */

static bool is_on_tensors(const clv_constraint *rule) { return rule->split && !rule->unused; }

bool clv_tensor_constraints_asked(const clv_constraints *rules)
{
    bool any = false;
    for (int32_t i = 0; i < rules->n && !any; i++)
        any = is_on_tensors(&rules->at[i]);
    return any;
}

bool clv_tensor_constraints_need_mesh(const clv_constraints *rules)
{
    bool any = false;
    for (int32_t i = 0; i < rules->n && !any; i++)
        any = is_on_tensors(&rules->at[i]) && rules->at[i].kind != CLV_CONSTRAINT_WHOLE;
    return any;
}

static clv_status allocate(builder *b, clv_error *err)
{
    static const clv_axis_demands none = { { CLV_DEMAND_ANY, CLV_DEMAND_ANY, CLV_DEMAND_ANY },
                                           { CLV_NO_CONSTRAINT, CLV_NO_CONSTRAINT,
                                             CLV_NO_CONSTRAINT } };
    clv_choice_constraints *c = &b->c;
    int32_t n_tensors = c->g->n_tensors, n_ops = c->g->n_ops;
    c->tensor = CLV_NEW_ARRAY(b->arena, clv_axis_demands, n_tensors);
    c->op = CLV_NEW_ARRAY(b->arena, clv_axis_demands, n_ops);
    c->tensor_bound = CLV_NEW_ARRAY(b->arena, bool, n_tensors);
    c->op_bound = CLV_NEW_ARRAY(b->arena, bool, n_ops);
    c->like = CLV_NEW_ARRAY(b->arena, clv_layout, n_tensors);
    b->idle = CLV_NEW_ARRAY(b->arena, bool, b->rules->n);
    if (!c->tensor || !c->op || !c->tensor_bound || !c->op_bound || !c->like || !b->idle)
        return no_memory(err);
    for (int32_t t = 0; t < n_tensors; t++)
        c->tensor[t] = none;
    for (int32_t i = 0; i < n_ops; i++)
        c->op[i] = none;
    return CLV_OK;
}

clv_status clv_tensor_constraints_make(const clv_constraints *rules, bool data_parallel,
                                       const clv_split_model *model, clv_arena *arena,
                                       clv_tensor_constraints **ret, clv_error *err)
{
    const clv_graph *g = model->types->graph;
    builder *b = CLV_NEW(arena, builder);
    if (!b)
        return no_memory(err);
    *b = (builder){
        .rules = rules,
        .c = { .types = model->types, .g = g, .factors = model->factors, .mesh = model->mesh },
        .arena = arena
    };
    CLV_TRY(allocate(b, err));
    for (int32_t i = 0; i < rules->n; i++)
        if (is_on_tensors(&rules->at[i]) && rules->at[i].kind != CLV_CONSTRAINT_DATA_PARALLEL)
            CLV_TRY(lower_rule(b, i, err));
    CLV_TRY(lower_all_data_parallel(b, data_parallel, err));
    CLV_TRY(set_plainest_layouts(b, err));
    for (int32_t i = 0; i < g->n_ops && !b->result.conflict; i++) {
        clv_op op = { i };
        if (b->c.op_bound[i] && clv_shard_takes_part(b->c.types, op) &&
            !clv_op_is_satisfiable(&b->c, op, CLV_ALL_CONSTRAINTS, CLV_NO_CONSTRAINT))
            CLV_TRY(explain_unsatisfiable(b, op, err));
    }
    b->result.idle = b->idle;
    b->result.filter = clv_choice_constraints_filter(&b->c);
    *ret = &b->result;
    return CLV_OK;
}
