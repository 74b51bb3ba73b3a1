/* external.h - a command as a compiler, or a function of the host, asked of each candidate:
 * docs/compiler-protocol.md. */
#ifndef CLV_COMPILE_EXTERNAL_H
#define CLV_COMPILE_EXTERNAL_H

#include "compile/compiler.h"

/* Writes the candidate's annotated model and plan into its folder: this layer knows no file format.
 */
typedef struct {
    clv_status (*emit)(void *ctx, const clv_assignment *candidate, const char *folder,
                       clv_arena *arena, clv_error *err);
    void *ctx;
} clv_emitter;

/* What is asked of a function of the host in place of a command. */
typedef struct {
    const char *folder; /* with model.onnx, plan.json and options.json */
    int32_t n_devices, worker;
} clv_call;

/* A function of the host. It answers as a command would, on whichever thread; not 0: it failed, and
 * the text says why. */
typedef struct clv_host_compiler {
    int (*ask)(void *ctx, const clv_call *call, char *answer, size_t capacity);
    void *ctx;
} clv_host_compiler;

typedef struct {
    const char *source;  /* path of the model that is planned; NULL: none */
    const char *command; /* given to /bin/sh -c, with the folder as working directory */
    const clv_host_compiler
        *host;                /* is asked in place of the command, which names it; NULL: none */
    int64_t timeout_ms;       /* then the whole process group is killed; 0: 600 s */
    int64_t max_answer_bytes; /* 0: 64 KiB */
    clv_emitter emitter;
    bool (*stop)(void *ctx); /* polled while waiting, on any worker's thread; true ends the call
                                with CLV_ECANCELED; may be NULL */
    void *stop_ctx;
} clv_external_options;

/* The workload and what options points to, but for the command, outlive it. Any number of workers
 * may use it. CLV_ENOMEM. */
clv_status clv_external_open(const clv_workload *workload, const clv_external_options *options,
                             const clv_alloc *alloc, clv_compiler **ret, clv_error *err);

#endif
