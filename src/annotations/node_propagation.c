/* node_propagation.c - the inputs of a node brought together, device by device. */
#include "annotations/node_propagation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "annotations/spec_factors.h"
#include "sharding/rule_text.h"

typedef struct {
    const clv_spec_node *node;
    const clv_factors *f;
    clv_arena *scratch, *arena;
    const char *wrong;
    const char *rule; /* "the rule (...)->(...) of X"; NULL until it is needed */
    bool any;         /* some input has a spec */
    clv_cells cells;  /* of the inputs so far */
    int32_t *from;    /* by factor: the input that gave its run first, -1 */
    int64_t n_combinations;
    bool has_own; /* some input has a spec of the node's own */
    clv_followers followers;
} check;

/* -- words -- */

/* The node is wrong, for this reason. NULL: no memory. */
static clv_status refuse(check *c, const char *sentence, clv_error *err)
{
    c->wrong = sentence;
    return sentence ? CLV_OK : clv_fail_nomem(err, "checking specs");
}

#define REFUSE(...) refuse(c, clv_arena_printf(c->arena, __VA_ARGS__), err)

static const char *rule_of(check *c)
{
    const char *text = c->rule ? NULL : clv_factors_show(c->f, c->scratch);

    if (text)
        c->rule = clv_arena_printf(c->scratch, "the rule %.200s%s of %.*s", text,
                                   strlen(text) > 200 ? "..." : "", CLV_STR_ARG(c->node->op_type));
    return c->rule ? c->rule : "its rule";
}

static const char *run_text(char buf[static 64], clv_run_of run, int64_t size)
{
    if (run.n == size)
        snprintf(buf, 64, "all %" PRId64, size);
    else if (run.n == 1)
        snprintf(buf, 64, "%" PRId64, run.first);
    else
        snprintf(buf, 64, "%" PRId64 " to %" PRId64, run.first, run.first + run.n - 1);
    return buf;
}

/* -- one input -- */

static clv_status refuse_cut(check *c, const clv_spec_operand *x, const clv_operand_factors *o,
                             int32_t dim, clv_error *err)
{
    if (c->f->why_whole)
        return REFUSE("dimension %" PRId32 " of '%.80s' is split, but %s", dim, x->name,
                      c->f->why_whole);
    if (dim >= o->rank || o->dims[dim].n == 0)
        return REFUSE("dimension %" PRId32
                      " of '%.80s' is split, but by %s it is whole on every device",
                      dim, x->name, rule_of(c));
    return REFUSE("dimension %" PRId32 " of '%.80s' is cut within what belongs together: by %s its "
                  "parts are runs of one of its factors",
                  dim, x->name, rule_of(c));
}

/* What a factor asks of a part of it. */
static clv_status check_run(check *c, const clv_spec_operand *x, const clv_operand_factors *o,
                            int32_t factor, clv_run_of run, clv_error *err)
{
    const clv_factor *one = &c->f->factors[factor];
    int32_t dim = clv_factor_dim(o, factor);
    int64_t end = run.first + run.n, inner = 1;

    if (run.n < 0 || run.n == one->size || dim < 0)
        return CLV_OK;
    if (one->kind == CLV_FACTOR_WHOLE)
        return REFUSE("dimension %" PRId32
                      " of '%.80s' is split, but by %s every device needs all %" PRId64 " of %.12s",
                      dim, x->name, rule_of(c), one->size,
                      one->name[0] == '_' ? "them" : one->name);
    if (run.first % one->granule != 0 || (end % one->granule != 0 && end != one->size))
        return REFUSE("dimension %" PRId32 " of '%.80s' has a part from %" PRId64 " to %" PRId64
                      " of %.12s, but by %s parts are multiples of %" PRId64,
                      dim, x->name, run.first, end - 1, one->name, rule_of(c), one->granule);
    for (int32_t k = o->dims[dim].n - 1; o->dims[dim].at[k] != factor; k--)
        if (__builtin_mul_overflow(inner, c->f->factors[o->dims[dim].at[k]].size, &inner))
            return CLV_OK;
    if (one->kind == CLV_FACTOR_HALO && (one->before > run.n * inner || one->after > run.n * inner))
        return REFUSE("dimension %" PRId32 " of '%.80s' has a part of %" PRId64
                      ", but by %s a device needs %" PRId64 " before and %" PRId64
                      " after its own, from its neighbours alone",
                      dim, x->name, run.n * inner, rule_of(c), one->before, one->after);
    return CLV_OK;
}

static clv_status check_even(check *c, const clv_spec_operand *x, const clv_operand_factors *o,
                             int32_t factor, const clv_runs *runs, clv_error *err)
{
    if (!c->f->factors[factor].even)
        return CLV_OK;
    for (int32_t i = 1; i < runs->n; i++)
        if (runs->at[i].n != runs->at[0].n)
            return REFUSE("dimension %" PRId32 " of '%.80s' has parts of %" PRId64 " and %" PRId64
                          ", but by %s they must be of one size",
                          clv_factor_dim(o, factor), x->name, runs->at[0].n, runs->at[i].n,
                          rule_of(c));
    return CLV_OK;
}

/* Its cells are what the rule allows for this input alone. */
static clv_status check_input(check *c, int32_t k, const clv_cells *cells, clv_error *err)
{
    const clv_spec_operand *x = &c->node->in[k];
    const clv_operand_factors *o = &c->f->in[k];

    for (int32_t i = 0; i < cells->n && !c->wrong; i++)
        for (int32_t factor = 0; factor < c->f->n_factors && !c->wrong; factor++)
            CLV_TRY(check_run(c, x, o, factor, cells->at[i]->of[factor], err));
    for (int32_t factor = 0; factor < c->f->n_factors && !c->wrong; factor++) {
        clv_runs runs;
        if (cells->n == 0 || cells->at[0]->of[factor].n < 0)
            continue;
        CLV_TRY(clv_runs_of(cells, factor, c->scratch, &runs, err));
        CLV_TRY(check_even(c, x, o, factor, &runs, err));
        if (c->from[factor] >= 0)
            continue;
        c->from[factor] = k;
        if (__builtin_mul_overflow(c->n_combinations, runs.n, &c->n_combinations))
            c->n_combinations = INT64_MAX;
    }
    return CLV_OK;
}

/* -- two inputs -- */

/* The first factor of which two cells say different runs, or -1. */
static int32_t contradiction(const clv_cell *a, const clv_cell *b)
{
    for (int32_t i = 0; i < a->n_factors; i++)
        if (a->of[i].n >= 0 && b->of[i].n >= 0 && !clv_run_is(a->of[i], b->of[i]))
            return i;
    return -1;
}

/* "dimension 0 of 'a' and dimension 1 of 'b' are k in the rule ..., to be split alike; ..." */
static clv_status refuse_contradiction(check *c, int32_t k, const clv_cell *have,
                                       const clv_cell *come, clv_error *err)
{
    char one[64], other[64];
    const clv_spec_node *node = c->node;
    int32_t factor = contradiction(have, come);
    int32_t before = c->from[factor] >= 0 ? c->from[factor] : k;
    int64_t size = c->f->factors[factor].size;

    return REFUSE(
        "dimension %" PRId32 " of '%.80s' and dimension %" PRId32 " of '%.80s' are both %.12s "
        "in %s and have to be split alike, but device %" PRId64
        " has %s of the one and %s of the other%s",
        clv_factor_dim(&c->f->in[before], factor), node->in[before].name,
        clv_factor_dim(&c->f->in[k], factor), node->in[k].name, c->f->factors[factor].name,
        rule_of(c), have->device, run_text(one, have->of[factor], size),
        run_text(other, come->of[factor], size), node->in[k].spec ? "" : ", which has no spec");
}

/* The cells of one device. */
typedef struct {
    clv_cell *const *at;
    int32_t n;
} device_cells;

/* Every pair of a cell so far and a new one that go together. */
static clv_status join_device(check *c, int32_t k, device_cells a, device_cells b, clv_cells *to,
                              clv_error *err)
{
    int32_t n = to->n;

    if ((int64_t)a.n * b.n > CLV_CELLS_MAX)
        return clv_fail(err, CLV_ELIMIT, "its specs make over %d parts", CLV_CELLS_MAX);
    for (int32_t i = 0; i < a.n; i++)
        for (int32_t j = 0; j < b.n; j++) {
            if (contradiction(a.at[i], b.at[j]) >= 0)
                continue;
            clv_cell *both = clv_cell_new(a.at[i]->device, c->f->n_factors, c->scratch);
            for (int32_t f = 0; both && f < c->f->n_factors; f++)
                both->of[f] = a.at[i]->of[f].n >= 0 ? a.at[i]->of[f] : b.at[j]->of[f];
            CLV_TRY(clv_cells_push(to, both, c->scratch, err));
        }
    return to->n > n ? CLV_OK : refuse_contradiction(c, k, a.at[0], b.at[0], err);
}

static device_cells cells_of_device(const clv_cells *cells, int32_t first)
{
    device_cells of = { cells->at + first, 0 };

    while (first + of.n < cells->n && of.at[of.n]->device == of.at[0]->device)
        of.n++;
    return of;
}

/* Devices that have parts of only some of the inputs do not take part. */
static clv_status join_input(check *c, int32_t k, const clv_cells *new, clv_error *err)
{
    clv_cells to = { 0 };

    for (int32_t i = 0, j = 0; i < c->cells.n && j < new->n && !c->wrong;) {
        device_cells a = cells_of_device(&c->cells, i), b = cells_of_device(new, j);
        int64_t one = a.at[0]->device, other = b.at[0]->device;
        if (one == other)
            CLV_TRY(join_device(c, k, a, b, &to, err));
        i += one <= other ? a.n : 0;
        j += other <= one ? b.n : 0;
    }
    if (!c->wrong && to.n == 0)
        return REFUSE(
            "'%.80s' is on none of the devices that have parts of its other inputs, where "
            "%s needs them together",
            c->node->in[k].name, rule_of(c));
    clv_cells_sort(&to);
    c->cells = to;
    return CLV_OK;
}

static clv_status add_input(check *c, int32_t k, clv_error *err)
{
    const clv_spec_operand *x = &c->node->in[k];
    clv_cells new = { 0 };
    int32_t dim = -1;

    CLV_TRY(clv_shard_cells(&(clv_ruled_operand){ c->f, &c->f->in[k], x->type->rank }, x->shards,
                            c->scratch, &new, &dim, err));
    if (dim >= 0)
        return refuse_cut(c, x, &c->f->in[k], dim, err);
    CLV_TRY(check_input(c, k, &new, err));
    if (c->wrong || new.n == 0)
        return CLV_OK;
    if (c->any)
        return join_input(c, k, &new, err);
    c->any = true;
    c->cells = new;
    return CLV_OK;
}

/* As it is delivered, unless that does not go with the node's own specs: then those decide. */
static clv_status add_delivered(check *c, int32_t k, clv_error *err)
{
    check before = *c;
    size_t size = (size_t)c->f->n_factors * sizeof *c->from;
    int32_t *from = CLV_NEW_ARRAY(c->scratch, int32_t, c->f->n_factors);
    if (!from)
        return clv_fail_nomem(err, "checking specs");
    memcpy(from, c->from, size);
    CLV_TRY(add_input(c, k, err));
    if (!c->wrong || !c->has_own)
        return CLV_OK;
    *c = before;
    memcpy(c->from, from, size);
    c->followers.follows[k] = true;
    return CLV_OK;
}

/* An input without a spec is whole on whatever device it is wanted: each takes its part of it. */
static clv_status add_whole(check *c, int32_t k, clv_error *err)
{
    const clv_operand_factors *o = &c->f->in[k];
    clv_cell *whole = clv_cell_new(0, c->f->n_factors, c->scratch);

    if (!whole)
        return clv_fail_nomem(err, "checking specs");
    for (int32_t i = 0; i < o->rank; i++)
        for (int32_t j = 0; j < o->dims[i].n; j++) {
            int32_t factor = o->dims[i].at[j];
            whole->of[factor] = (clv_run_of){ 0, c->f->factors[factor].size };
        }
    for (int32_t i = 0; i < c->cells.n; i++) {
        if (contradiction(c->cells.at[i], whole) < 0)
            continue;
        c->followers.follows[k] = c->has_own;
        return c->has_own ? CLV_OK : refuse_contradiction(c, k, c->cells.at[i], whole, err);
    }
    return CLV_OK;
}

/* -- all of them -- */

/* Is every combination of runs on some device? */
static clv_status check_covered(check *c, clv_error *err)
{
    int32_t n = 0;
    clv_cell **at = CLV_NEW_ARRAY(c->scratch, clv_cell *, c->cells.n);

    if (!at)
        return clv_fail_nomem(err, "checking specs");
    memcpy(at, c->cells.at, (size_t)c->cells.n * sizeof(clv_cell *));
    qsort(at, (size_t)c->cells.n, sizeof(clv_cell *), clv_cell_by_runs);
    for (int32_t i = 0; i < c->cells.n; i++)
        n += i == 0 || contradiction(at[i], at[i - 1]) >= 0;
    if (n >= c->n_combinations)
        return CLV_OK;
    return REFUSE("its inputs are split into %" PRId64
                  " combinations of parts by %s, but only %" PRId32
                  " of them are together on a device",
                  c->n_combinations, rule_of(c), n);
}

static clv_status propagate(check *c, clv_output_spec *out, clv_error *err)
{
    const clv_spec_operand *in = c->node->in;
    /* where outputs are known beforehand it does not matter where the inputs are */
    int32_t n_in = c->f->by_shape ? 0 : c->f->n_in;

    for (int32_t k = 0; k < n_in && !c->wrong; k++)
        if (in[k].name && in[k].spec && in[k].is_own)
            CLV_TRY(add_input(c, k, err));
    c->has_own = c->any;
    for (int32_t k = 0; k < n_in && !c->wrong; k++)
        if (in[k].name && in[k].spec && !in[k].is_own)
            CLV_TRY(add_delivered(c, k, err));
    for (int32_t k = 0; k < n_in && !c->wrong && c->any; k++)
        if (in[k].name && !in[k].spec)
            CLV_TRY(add_whole(c, k, err));
    if (!c->wrong && c->any)
        CLV_TRY(check_covered(c, err));
    if (!c->wrong && c->any)
        return clv_output_specs_infer(c->node, &c->cells, c->scratch, c->arena, out, err);
    for (int32_t k = 0; k < c->f->n_out && !c->wrong; k++)
        if (c->node->out[k].name) /* whole on whatever device wants it: an own spec says which */
            out[k] =
                (clv_output_spec){ .n_summands = 1, .own_differs = c->node->out[k].spec != NULL };
    return CLV_OK;
}

clv_status clv_propagate_node(const clv_spec_node *given, clv_arena *scratch, clv_arena *arena,
                              clv_node_outcome *ret, clv_error *err)
{
    clv_mark mark = clv_arena_mark(scratch);
    clv_spec_node node = *given;
    CLV_TRY(clv_factors_for_specs(given, scratch, &node.factors, err));
    const clv_factors *f = node.factors;
    check c = { .node = &node,
                .f = f,
                .scratch = scratch,
                .arena = arena,
                .from = CLV_NEW_ARRAY(scratch, int32_t, f->n_factors),
                .n_combinations = 1,
                .followers = { CLV_NEW_ARRAY(arena, bool, f->n_in),
                               CLV_NEW_ARRAY(arena, const clv_sharding_spec *, f->n_in) } };
    clv_output_spec *out = CLV_NEW_ARRAY(arena, clv_output_spec, f->n_out);
    if (!c.from || !c.followers.follows || !c.followers.taken_as || !out)
        return clv_fail_nomem(err, "checking specs");
    for (int32_t i = 0; i < f->n_factors; i++)
        c.from[i] = -1;
    clv_status status = propagate(&c, out, err);
    if (status == CLV_OK && !c.wrong)
        status = clv_followers_infer(&node, &c.cells, scratch, arena, &c.followers, err);
    if (status == CLV_OK)
        *ret = (clv_node_outcome){ c.wrong, out, c.followers };
    clv_arena_rewind(scratch, mark);
    return status;
}
