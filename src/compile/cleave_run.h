/* cleave_run.h - cleave-run, called as a program of its own: started and followed to its end, and
 * its answer opened. What is to be said of a bad end is up to whoever calls.
 */
#ifndef CLV_COMPILE_CLEAVE_RUN_H
#define CLV_COMPILE_CLEAVE_RUN_H

#include "base/json.h"
#include "compile/process.h"

typedef struct {
    const char *program;      /* a path, or a name that the shell finds */
    const char *const *words; /* of its command line, as they are; NULL-terminated */
    const char *folder;       /* working directory */
    int64_t timeout_ms;
    bool (*stop)(void *ctx); /* NULL: not asked */
    void *stop_ctx;
} clv_cleave_run;

/* CLV_ENOMEM is the only failure; what became of it is in *ret. */
clv_status clv_cleave_run_call(const clv_cleave_run *call, clv_arena *arena,
                               clv_process_result *ret, clv_error *err);

/* The JSON that a run which ended well has written; *ret is to be freed. CLV_EFORMAT: it is none.
 * Messages call it the program's answer. */
clv_status clv_cleave_run_answer(const char *program, const clv_process_result *result,
                                 clv_arena *arena, clv_json **ret, clv_json_at *ret_root,
                                 clv_error *err);

#endif
