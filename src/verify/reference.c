#include "verify/reference.h"

clv_status clv_reference_run(clv_reference *ref, clv_arena *arena, clv_runner_answer *ret,
                             clv_error *err)
{
    return clv_runner_run(&ref->runner, ref->what, ref->out, arena, ret, err);
}

clv_status clv_reference_run_others(clv_reference *ref, clv_arena *arena, clv_error *err)
{
    static const char *const level[CLV_REFERENCE_LEVELS] = { "none", "basic", "extended" };
    if (ref->asked)
        return CLV_OK;
    ref->asked = true;
    for (int32_t i = 0; i < CLV_REFERENCE_LEVELS; i++) {
        clv_runner_answer answer;
        clv_runner runner = ref->runner;
        char *out = clv_arena_printf(arena, "%s.%s", ref->out, level[i]);
        if (!out)
            return clv_fail_nomem(err, "running a model");
        runner.optimize = level[i];
        CLV_TRY(clv_runner_run(&runner, ref->what, out, arena, &answer, err));
        ref->other[i] = answer.fault ? NULL : out;
    }
    return CLV_OK;
}
