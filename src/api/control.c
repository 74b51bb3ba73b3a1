#include "api/control.h"

#include <string.h>

#include "base/clock.h"

#define STRUCT_MAX     4096 /* bytes; more is what an uninitialised struct says */
#define DEADLINE_MAX_S 1e9  /* 30 years; no sum of it and a clock leaves 64 bits */
#define JOBS_MAX       1024
#define COLUMNS_MIN    40
#define COLUMNS_MAX    1000

clv_status clv_struct_read(const void *given, size_t size, const char *name, void *ret,
                           clv_error *err)
{
    uint32_t given_size, own_size = (uint32_t)size;
    if (!given)
        return CLV_OK;
    memcpy(&given_size, given, sizeof given_size);
    if (given_size < sizeof given_size || given_size > STRUCT_MAX)
        return clv_fail(err, CLV_EUSAGE, "%s has size %u: expected it from %s_init()", name,
                        given_size, name);
    for (size_t i = size; i < given_size; i++)
        if (((const unsigned char *)given)[i] != 0)
            return clv_fail(err, CLV_EUSAGE,
                            "%s has size %u, and what this version of cleave does not know of it "
                            "is set: expected zeros beyond byte %zu",
                            name, given_size, size);
    memcpy(ret, given, given_size < size ? given_size : size);
    memcpy(ret, &own_size, sizeof own_size);
    return CLV_OK;
}

static clv_status check_columns(int columns, clv_error *err)
{
    return columns == 0 || (columns >= COLUMNS_MIN && columns <= COLUMNS_MAX)
               ? CLV_OK
               : clv_fail(err, CLV_EUSAGE, "report_columns is %d: expected 0 (%d) or %d to %d",
                          columns, CLV_REPORT_WIDTH, COLUMNS_MIN, COLUMNS_MAX);
}

clv_status clv_control_begin(const cleave_control *control, clv_control *ret, clv_error *err)
{
    *ret = (clv_control){ .start_ns = clv_now_ns(), .objective_unit = 1 };
    cleave_control_init(&ret->given);
    CLV_TRY(clv_struct_read(control, sizeof ret->given, "cleave_control", &ret->given, err));
    CLV_TRY(clv_check_enum("report", (int)ret->given.report, CLEAVE_REPORT_JSON,
                           "both, text or JSON", err));
    CLV_TRY(check_columns(ret->given.report_columns, err));
    const cleave_allocator *allocator = ret->given.allocator;
    if (allocator && allocator->resize)
        ret->alloc = (clv_alloc){ allocator->resize, allocator->ctx };
    return clv_control_check(ret, "the call began", err);
}

clv_status clv_control_check(const clv_control *control, const char *what, clv_error *err)
{
    return clv_control_stops((void *)control)
               ? clv_fail(err, CLV_ECANCELED, "stopped while %s", what)
               : CLV_OK;
}

const clv_alloc *clv_control_alloc(const clv_control *control)
{
    return control->alloc.resize ? &control->alloc : NULL;
}

clv_text_form clv_control_form(const clv_control *control)
{
    return (clv_text_form){ .columns = control->given.report_columns,
                            .colour = control->given.report_colour != 0 };
}

bool clv_control_stops(void *ctx)
{
    const cleave_control *c = &((const clv_control *)ctx)->given;
    return c->stop && c->stop(c->ctx) != 0;
}

static void relay_progress(void *ctx, const clv_solve_progress *p)
{
    const clv_control *c = ctx;
    double elapsed_s = clv_seconds_since(c->start_ns);
    cleave_progress shown = { .method = p->method ? p->method : "",
                              .found = !clv_objval_is_infinite(p->value),
                              .objective = clv_objval_number(p->value) * c->objective_unit,
                              .bound = clv_objval_number(p->bound) * c->objective_unit,
                              .candidates_judged = p->n_judged,
                              .candidates_waiting = p->n_waiting,
                              .elapsed_s = elapsed_s,
                              .left_s =
                                  p->n_judged > 0 ? elapsed_s / p->n_judged * p->n_waiting : -1 };
    c->given.progress(c->given.ctx, &shown);
}

void clv_control_solve(clv_control *control, clv_solve_options *ret)
{
    ret->stop = control->given.stop ? clv_control_stops : NULL;
    ret->stop_ctx = control;
    ret->progress = control->given.progress ? relay_progress : NULL;
    ret->progress_ctx = control;
}

clv_status clv_check_deadline(double deadline_s, clv_error *err)
{
    return deadline_s >= 0 && deadline_s <= DEADLINE_MAX_S
               ? CLV_OK
               : clv_fail(err, CLV_EUSAGE, "deadline_s is %g: expected 0 (none) to %.0f",
                          deadline_s, DEADLINE_MAX_S);
}

clv_status clv_check_gap(double gap, clv_error *err)
{
    return gap >= 0 && gap < 1
               ? CLV_OK
               : clv_fail(err, CLV_EUSAGE, "gap is %g: expected 0 (the optimum) to less than 1",
                          gap);
}

clv_status clv_check_jobs(int jobs, clv_error *err)
{
    return jobs >= 0 && jobs <= JOBS_MAX
               ? CLV_OK
               : clv_fail(err, CLV_EUSAGE, "jobs is %d: expected 1 to %d", jobs, JOBS_MAX);
}

clv_status clv_check_room(int devices, int64_t memory_bytes, clv_error *err)
{
    if (devices < 0)
        return clv_fail(err, CLV_EUSAGE, "devices is %d: expected 0 (as many as are best) or more",
                        devices);
    if (memory_bytes < 0)
        return clv_fail(err, CLV_EUSAGE, "memory_bytes is %lld: expected 0 (as described) or more",
                        (long long)memory_bytes);
    return CLV_OK;
}

clv_status clv_check_enum(const char *name, int value, int last, const char *words, clv_error *err)
{
    return value >= 0 && value <= last
               ? CLV_OK
               : clv_fail(err, CLV_EUSAGE, "%s is %d: expected 0 to %d (%s)", name, value, last,
                          words);
}

clv_status clv_check_objective(cleave_objective objective, clv_error *err)
{
    return clv_check_enum("objective", (int)objective, CLEAVE_DEVICES,
                          "latency, throughput or devices", err);
}

clv_status clv_check_weights(cleave_weights weights, clv_error *err)
{
    return clv_check_enum("weights", (int)weights, CLEAVE_WEIGHTS_RANGES,
                          "external, safetensors or ranges", err);
}
