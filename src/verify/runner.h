/* runner.h - cleave-run, called as a program of its own: a model or a lowered folder, its outputs
 * in files.
 */
#ifndef CLV_VERIFY_RUNNER_H
#define CLV_VERIFY_RUNNER_H

#include "base/arena.h"
#include "graph/infer.h"

typedef struct {
    const char *program;  /* path of cleave-run */
    const char *inputs;   /* for its --inputs; NULL: all are random */
    const char *shapes;   /* for its --shape: "x=2x3,y=4"; NULL: none */
    const char *optimize; /* for its --optimize; NULL: as it does by itself */
    uint64_t seed;
    int32_t requests; /* for its --requests; 0: it is not given, and what is run has no copies */
    bool (*stop)(void *ctx); /* NULL: not asked */
    void *stop_ctx;
} clv_runner;

typedef struct {
    const char *fault;   /* the program's own sentence, or what became of it; NULL: it ran */
    const char *runtime; /* as it names itself; NULL: it does not */
    double ms;           /* of the run without loading; negative: not known */
    /* Copies that requests went round on, request k on copy k modulo them; 0: it does not say; -1:
     * they did otherwise. */
    int32_t copies;
} clv_runner_answer;

/* "x=2x3" for each input of the model that the file leaves open; NULL where there is none. */
clv_status clv_runner_shapes(const clv_types *types, clv_arena *arena, const char **ret,
                             clv_error *err);

/* Runs what (a model's path or a lowered folder); outputs come to out/output_0.pb and so on, those
 * of request k to out/request_k/output_0.pb.
 * CLV_ECANCELED, CLV_ENOMEM; CLV_EIO: the program cannot be started. */
clv_status clv_runner_run(const clv_runner *r, const char *what, const char *out, clv_arena *arena,
                          clv_runner_answer *ret, clv_error *err);

#endif
