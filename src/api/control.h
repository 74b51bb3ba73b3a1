/* control.h - what callers give with a call: structs of options of any version, and control. */
#ifndef CLV_API_CONTROL_H
#define CLV_API_CONTROL_H

#include "base/arena.h"
#include "cleave.h"
#include "explain/text.h"
#include "solver/common/solve.h"

/* Copies a struct that begins with its size, as the caller's version of cleave.h has it, over *ret,
 * which has size bytes and is initialised: what a smaller one has not keeps its default; what a
 * larger one has more must be zero. given NULL: all defaults. name: of the struct. CLV_EUSAGE. */
clv_status clv_struct_read(const void *given, size_t size, const char *name, void *ret,
                           clv_error *err);

/* The caller's cleave_control during a call, as the inside takes it. */
typedef struct {
    cleave_control given;
    clv_alloc alloc;       /* the caller's, or all NULL */
    int64_t start_ns;      /* of the call */
    double objective_unit; /* of progress: what one of the search's is in the API's */
} clv_control;

/* control NULL: none. The call begins. CLV_EUSAGE; CLV_ECANCELED where stop() says so already. */
clv_status clv_control_begin(const cleave_control *control, clv_control *ret, clv_error *err);
/* CLV_ECANCELED where stop() says so: "stopped while `what`". */
clv_status clv_control_check(const clv_control *control, const char *what, clv_error *err);
/* NULL where malloc is to be used. */
const clv_alloc *clv_control_alloc(const clv_control *control);
/* How texts of reports are to look. */
clv_text_form clv_control_form(const clv_control *control);
/* As callbacks of the inside; ctx: the clv_control. clv_control_solve() sets them, where the caller
 * has any. */
bool clv_control_stops(void *ctx);
void clv_control_solve(clv_control *control, clv_solve_options *ret);

/* Options that several searches have alike. */
clv_status clv_check_deadline(double deadline_s, clv_error *err);
clv_status clv_check_gap(double gap, clv_error *err);
clv_status clv_check_jobs(int jobs, clv_error *err);
clv_status clv_check_room(int devices, int64_t memory_bytes, clv_error *err);
/* An enum that begins with 0. words: of its values, "latency, throughput or devices". */
clv_status clv_check_enum(const char *name, int value, int last, const char *words, clv_error *err);
clv_status clv_check_weights(cleave_weights weights, clv_error *err);
clv_status clv_check_objective(cleave_objective objective, clv_error *err);

#endif
