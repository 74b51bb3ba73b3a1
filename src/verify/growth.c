#include "verify/growth.h"

#include <math.h>

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

static double terms_of(const clv_types *types, const clv_factors *f, const clv_op_info *op)
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

static double square(double x) { return x * x; }

static void pass(const clv_types *types, const clv_factors *f, const clv_op_info *op,
                 int32_t n_devices, double *squares, double *length)
{
    const clv_graph *g = types->graph;
    double most = 0, longest = 0, n = terms_of(types, f, op);
    for (int32_t k = 0; k < op->n_in; k++) {
        clv_tensor t = clv_op_input(g, op, k);
        if (t.i < 0)
            continue;
        most = squares[t.i] > most ? squares[t.i] : most;
        longest = length[t.i] > longest ? length[t.i] : longest;
    }
    for (int32_t k = 0; k < op->n_out; k++) {
        clv_tensor t = clv_op_output(g, op, k);
        if (t.i < 0)
            continue;
        clv_dtype dtype = types->of[t.i].dtype;
        double u = clv_dtype_rounding(dtype);
        double v = u > 0 ? (u < 0x1p-50 ? u : 0x1p-24) : 0;
        squares[t.i] = most + square(u) * (1 + n_devices) + square(v) * n;
        length[t.i] = longest + n;
    }
}

clv_status clv_growth(const clv_types *types, const clv_factors *factors, int32_t n_devices,
                      clv_arena *arena, double **ret, double **ret_length, clv_error *err)
{
    const clv_graph *g = types->graph;
    double *all = CLV_NEW_ARRAY(arena, double, g->n_tensors);
    double *length = CLV_NEW_ARRAY(arena, double, g->n_tensors);
    if (!all || !length)
        return clv_fail_nomem(err, "bounds of errors");
    for (int32_t i = 0; i < g->n_ops; i++)
        pass(types, &factors[i], &g->ops[i], n_devices, all, length);
    for (int32_t t = 0; t < g->n_tensors; t++)
        all[t] = CLV_GROWTH_FACTOR * sqrt(all[t]);
    *ret = all;
    if (ret_length)
        *ret_length = length;
    return CLV_OK;
}
