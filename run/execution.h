/* execution.h - runs a program: opens its sessions, hands tensors on, puts the outputs together. */
#ifndef CLV_RUN_EXECUTION_H
#define CLV_RUN_EXECUTION_H

#include "run/collective_ops.h"
#include "run/program.h"

typedef struct {
    int threads; /* of one operator; 0: all, shared by the devices that run at once */
    clr_opt_level level;
    bool level_given;    /* else none where models run at once */
    double timeout_s;    /* of each wait of a device for others; 0: none */
    const char *profile; /* folder for the runtime's profiles, NULL: none */
} clr_execution_options;

/* Times of a model in one run. */
typedef struct {
    double run_s;    /* from its inputs being there to its end */
    double waited_s; /* of that, for other devices */
    double cpu_s;    /* processor time of the thread that ran it, less what it waited in: all of it,
                        with    one thread a model */
} clr_model_times;

/* Memory of a model in bytes, by how the process grew; 0 where the system does not tell. Of models
 * that run at once only what loading took is known of each. */
typedef struct {
    int64_t loaded;    /* held when it was loaded: weights above all */
    int64_t load_most; /* the most while it was being loaded */
    int64_t run_most;  /* the most while it ran first, beyond what was held before */
} clr_model_memory;

/* What models made is kept for so many runs, so that one may be ahead of those who take it. */
#define CLR_RUNS_KEPT 2

typedef struct {
    const clr_ort *ort;
    clr_program *program;
    clr_session *sessions; /* one for each member */
    clr_collective_ops **collectives;
    clr_rendezvous *rendezvous;
    const char **names; /* of members, for messages: the device or the file */
    OrtValue **
        *made[CLR_RUNS_KEPT]; /* outputs of each member, of run k in slot k % CLR_RUNS_KEPT */
    int32_t last;             /* slot of the last run */
    OrtRunOptions **run_options;
    clr_model_times *times; /* of the last run */
    clr_model_memory *memory;
    bool looks;         /* memory of the next run is looked at */
    int64_t peak_bytes; /* the most that the process has held so far */
    const clr_execution_options *options;
    clv_arena *arena;
} clr_execution;

/* Opens a session for each model, in order, and connects the program. The result is to be closed in
 * any case. */
clv_status clr_execution_open(const clr_ort *ort, clr_program *program,
                              const clr_execution_options *options, clv_arena *arena,
                              clr_execution *ret, clv_error *err);
void clr_execution_close(clr_execution *execution); /* zeroed is fine */

/* One run. inputs: a value for each input of the program. *ret_s: from the first model's start to
 * the last one's end. What it gave is there until the next run. */
clv_status clr_execution_run(clr_execution *execution, OrtValue *const *inputs, double *ret_s,
                             clv_error *err);
/* So many runs, at least 1, one behind the other: each model on a thread of its own goes on to the
 * next run while others are still in this one. ret_end_s: of each run, when the last model ended
 * it, in seconds from the start. What the last one gave is there until the next. */
clv_status clr_execution_run_pipelined(clr_execution *execution, OrtValue *const *inputs,
                                       int32_t runs, double *ret_end_s, clv_error *err);
/* Output i of the program after a run. *ret_own: a new value that is the caller's, NULL where *ret
 * belongs to the execution. */
clv_status clr_execution_output(clr_execution *execution, int32_t i, const OrtValue **ret,
                                OrtValue **ret_own, clv_error *err);

#endif
