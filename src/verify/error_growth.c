#include "verify/error_growth.h"

#include <math.h>

#include "graph/ops.h"
#include "verify/numbers.h"

/* A body may sum over anything that goes into it. */
static double largest_ratio(const clv_types *types, const clv_op_info *op)
{
    const clv_graph *g = types->graph;
    double in = 1, out = HUGE_VAL;
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(g, op, k);
        double elems = t.i < 0 ? 0 : (double)clv_type_elems(&types->of[t.i]);
        in = elems > in ? elems : in;
    }
    for (int32_t k = 0; k < op->n_out; k++) {
        clv_tensor t = clv_op_output(g, op, k);
        double elems = t.i < 0 ? 0 : (double)clv_type_elems(&types->of[t.i]);
        out = elems > 0 && elems < out ? elems : out;
    }
    return isfinite(out) && in > out ? in / out : 1;
}

static double summed_terms(const clv_types *types, const clv_factors *f, const clv_op_info *op)
{
    double n = 1;
    if (f->n_factors == 0)
        return largest_ratio(types, op);
    for (int32_t i = 0; i < f->n_factors; i++) {
        bool summed =
            f->factors[i].kind == CLV_FACTOR_REDUCED || f->factors[i].kind == CLV_FACTOR_WHOLE;
        if (summed && !f->factors[i].by_index && f->factors[i].size > 1)
            n *= (double)f->factors[i].size;
    }
    return n;
}

/* What two runs of an operator may be apart by, whatever its values, in units of v. */
static double saturation_error(const clv_op_info *op)
{
    static const struct {
        const char *type;
        double error;
    } known[] = { { "Sigmoid", CLV_ERROR_OF_SIGMOID },
                  { "Tanh", CLV_ERROR_OF_TANH },
                  { "Erf", CLV_ERROR_OF_ERF },
                  { "Softmax", CLV_ERROR_OF_SOFTMAX } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (op->domain.n == 0 && clv_str_is(op->type, known[i].type))
            return 2 * known[i].error;
    return 0;
}

/* Of what operators only move. */
static double moved_error(const clv_types *types, const clv_op_info *op, const clv_error_growth *g)
{
    double most = 0;
    bool moves = op->kind >= 0 && clv_op_def_at(op->kind)->flops == CLV_FLOPS_NONE;
    for (int32_t k = 0; moves && k < op->n_in; k++) {
        clv_tensor t = clv_op_input(types->graph, op, k);
        most = t.i >= 0 && g->absolute[t.i] > most ? g->absolute[t.i] : most;
    }
    return most;
}

/* From the squares and terms of an operator's inputs those of its outputs. */
static void propagate(const clv_types *types, const clv_factors *f, const clv_op_info *op,
                      int32_t n_devices, clv_error_growth *g)
{
    double most = 0, longest = 0, n = summed_terms(types, f, op);
    double saturation = saturation_error(op), moved = moved_error(types, op, g);
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(types->graph, op, k);
        if (t.i < 0)
            continue;
        most = g->growth[t.i] > most ? g->growth[t.i] : most;
        longest = g->terms[t.i] > longest ? g->terms[t.i] : longest;
    }
    for (int32_t k = 0; k < op->n_out; k++) {
        clv_tensor t = clv_op_output(types->graph, op, k);
        if (t.i < 0)
            continue;
        double u = clv_dtype_rounding(types->of[t.i].dtype);
        double v = u > 0 ? (u < 0x1p-50 ? u : 0x1p-24) : 0;
        g->growth[t.i] = most + u * u * (1 + n_devices) + v * v * n;
        g->terms[t.i] = longest + n;
        g->absolute[t.i] = moved + saturation * v;
    }
}

clv_status clv_error_growth_of(const clv_types *types, const clv_factors *factors,
                               int32_t n_devices, clv_arena *arena, clv_error_growth *ret,
                               clv_error *err)
{
    const clv_graph *g = types->graph;
    ret->growth = CLV_NEW_ARRAY(arena, double, g->n_tensors); /* squares at first */
    ret->terms = CLV_NEW_ARRAY(arena, double, g->n_tensors);
    ret->absolute = CLV_NEW_ARRAY(arena, double, g->n_tensors);
    if (!ret->growth || !ret->terms || !ret->absolute)
        return clv_fail_nomem(err, "bounds of errors");
    for (int32_t i = 0; i < g->n_ops; i++)
        propagate(types, &factors[i], &g->ops[i], n_devices, ret);
    for (int32_t t = 0; t < g->n_tensors; t++)
        ret->growth[t] = CLV_ERROR_GROWTH_FACTOR * sqrt(ret->growth[t]);
    return CLV_OK;
}
