#include "run/measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compare.h"
#include "run/run_program.h"

static clv_status find_median(clr_measured *m, const clr_model_times *times, size_t n_models,
                              clv_arena *arena, clv_error *err)
{
    double *sorted = CLV_NEW_ARRAY(arena, double, m->n);

    if (!sorted)
        return clv_fail_nomem(err, "times");
    memcpy(sorted, m->run_s, (size_t)m->n * sizeof *sorted);
    qsort(sorted, (size_t)m->n, sizeof *sorted, clv_compare_double);
    m->median_s = sorted[(m->n - 1) / 2];
    for (int i = 0; i < m->n && !m->times; i++)
        if (m->run_s[i] <= m->median_s && m->run_s[i] >= m->median_s)
            m->times = times + (size_t)i * n_models;
    return CLV_OK;
}

static bool has_time(const clr_measure_options *o, int64_t start_ns, double part)
{
    return o->budget_s <= 0 || clv_seconds_since(start_ns) < o->budget_s * part;
}

clv_status clr_measure(clr_execution *x, OrtValue *const *inputs, const clr_measure_options *o,
                       clv_arena *arena, clr_measured *ret, clv_error *err)
{
    size_t n_models = (size_t)x->program->n_models;
    double *run_s = CLV_NEW_ARRAY(arena, double, o->repeat);
    clr_model_times *times = CLV_NEW_ARRAY(arena, clr_model_times, (size_t)o->repeat * n_models);
    clr_measured m = { .run_s = run_s, .all = times };
    int64_t start = clv_now_ns();
    double unused;

    if (!run_s || !times)
        return clv_fail_nomem(err, "times");
    for (; m.warmup < o->warmup && has_time(o, start, 0.25); m.warmup++)
        CLV_TRY(clr_execution_run(x, inputs, &unused, err));
    for (; m.n < o->repeat && (m.n == 0 || has_time(o, start, 1)); m.n++) {
        CLV_TRY(clr_execution_run(x, inputs, &run_s[m.n], err));
        memcpy(times + (size_t)m.n * n_models, x->times, n_models * sizeof *times);
    }
    CLV_TRY(find_median(&m, times, n_models, arena, err));
    *ret = m;
    return CLV_OK;
}
