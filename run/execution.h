/* execution.h - a program ready to run: its sessions are open, and what its models made is kept. */
#ifndef CLV_RUN_EXECUTION_H
#define CLV_RUN_EXECUTION_H

#include "run/collective_ops.h"
#include "run/program.h"

typedef struct {
    int threads; /* of one operator; 0: all, shared by what runs at once */
    clr_opt_level level;
    bool level_given; /* else none where models run at once */
    double timeout_s; /* of each wait of a device for others; 0: none */
    bool again; /* models one after the other run twice, of which the second time is reported */
    const char *profile; /* folder for the runtime's profiles, NULL: none */
    int32_t copy;        /* of the program: it runs on the devices of that one */
    int32_t beside;      /* executions that run at once, itself among them; 0: it alone */
} clr_execution_options;

/* Times of a model in one run. */
typedef struct {
    double run_s;    /* from its inputs being there to its end */
    double waited_s; /* of that, for other devices */
    double cpu_s;    /* processor time of the thread that ran it, less what it waited in: all of it,
                        with one thread a model */
} clr_model_times;

/* Memory of a model, by how the process grew; 0 where the system does not report it. Of models that
 * run at once only what loading took is known of each. */
typedef struct {
    int64_t loaded_bytes;    /* held when it was loaded: weights above all */
    int64_t load_peak_bytes; /* the most while it was being loaded */
    int64_t run_peak_bytes;  /* the most while it ran first, beyond what was held before */
} clr_model_memory;

/* What models made is kept for so many runs, so that one may be ahead of those who take it. */
#define CLR_RUNS_KEPT 2

typedef struct {
    const clr_ort *ort;
    clr_program *program;
    clr_session *sessions; /* one for each model */
    clr_collective_ops **collectives;
    clr_rendezvous *rendezvous;
    const char **names; /* of models, for messages: the device in this copy, or the file */
    OrtValue ***made[CLR_RUNS_KEPT]; /* outputs of each model, of run k in slot k % CLR_RUNS_KEPT */
    int32_t last_slot;               /* of the last run */
    OrtRunOptions **run_options;
    clr_model_times *times; /* of the last run */
    clr_model_memory *memory;
    bool measures_memory; /* of the next run */
    int64_t peak_bytes;   /* the most that the process has held so far */
    const clr_execution_options *options;
    clv_arena *arena;
} clr_execution;

/* Opens a session for each model, in order, and connects the program. All arguments outlive it. The
 * result is to be closed in any case. */
clv_status clr_execution_open(const clr_ort *ort, clr_program *program,
                              const clr_execution_options *options, clv_arena *arena,
                              clr_execution *ret, clv_error *err);
void clr_execution_close(clr_execution *execution); /* zeroed is fine */

/* What a model made in run number `run` under that name; it belongs to the execution. O(outputs).
 */
OrtValue *clr_execution_made(const clr_execution *execution, int32_t run, int32_t model,
                             const char *name);
/* Output i of the program after a run. *ret_own: a new value that is the caller's, NULL where *ret
 * belongs to the execution. */
clv_status clr_execution_output(clr_execution *execution, int32_t i, const OrtValue **ret,
                                OrtValue **ret_own, clv_error *err);

#endif
