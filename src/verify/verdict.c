#include "verify/verdict.h"

clv_verify_verdict clv_verdict_of(const clv_verify_result *r)
{
    int32_t n_blind = 0, n_differ = 0, n_faults = 0, n_unwritten = 0;
    if (r->why_not_written)
        return CLV_VERDICT_NOT_WRITTEN;
    if (!r->proof.holds || !r->stages.holds)
        return CLV_VERDICT_NOT_PROVEN;
    for (int32_t i = 0; i < r->n_forms; i++) {
        const clv_verified_form *f = &r->form[i];
        n_differ += f->n_differ > 0 || f->unlike;
        n_faults += f->fault != NULL;
        n_unwritten += f->why_not != NULL;
        n_blind += f->n_blind > 0 && f->n_blind == f->n;
    }
    if (r->original_fault)
        return CLV_VERDICT_DOES_NOT_RUN;
    if (n_differ > 0)
        return CLV_VERDICT_DIFFERS;
    if (n_faults > 0)
        return CLV_VERDICT_DOES_NOT_RUN;
    if (n_unwritten > 0)
        return CLV_VERDICT_NOT_WRITTEN;
    bool compared = r->n_forms > 0 && n_blind == 0 && !r->why_not_run;
    return compared ? CLV_VERDICT_AGREES : CLV_VERDICT_PROVEN;
}

const char *clv_verdict_name(clv_verify_verdict verdict)
{
    static const char *const name[] = {
        [CLV_VERDICT_AGREES] = "agrees",           [CLV_VERDICT_PROVEN] = "proven",
        [CLV_VERDICT_NOT_PROVEN] = "not_proven",   [CLV_VERDICT_DIFFERS] = "differs",
        [CLV_VERDICT_NOT_WRITTEN] = "not_written", [CLV_VERDICT_DOES_NOT_RUN] = "does_not_run",
    };
    return name[verdict];
}

/* The first form that was not written, or did not run. */
static const clv_verified_form *first_unseen(const clv_verify_result *r, bool unwritten)
{
    for (int32_t i = 0; i < r->n_forms; i++)
        if (unwritten ? r->form[i].why_not : r->form[i].fault)
            return &r->form[i];
    return NULL;
}

/* The first form that shows nothing. */
static const clv_verified_form *first_blind(const clv_verify_result *r)
{
    for (int32_t i = 0; i < r->n_forms; i++)
        if (r->form[i].n_blind > 0 && r->form[i].n_blind == r->form[i].n)
            return &r->form[i];
    return NULL;
}

clv_status clv_verdict_sentence(const clv_verify_result *r, clv_arena *arena, const char **ret,
                                clv_error *err)
{
    const clv_verified_form *f;
    const char *folder;
    switch (clv_verdict_of(r)) {
    case CLV_VERDICT_AGREES:
        *ret = r->is_folder ? "the plan is proven, and the folder computes what the model computes"
                            : "the plan is proven, and computes what the model computes";
        break;
    case CLV_VERDICT_PROVEN:
        f = first_blind(r);
        folder = r->is_folder ? " and the folder is what it gives" : "";
        *ret = f ? clv_arena_printf(arena,
                                    "the plan is proven%s, not compared (as '%s' all outputs are "
                                    "within the errors allowed)",
                                    folder, f->form)
                 : clv_arena_printf(arena, "the plan is proven%s, not run (%s)", folder,
                                    r->why_not_run ? r->why_not_run : "it has no form");
        break;
    case CLV_VERDICT_NOT_PROVEN:
        *ret = clv_arena_printf(arena, "the plan is not proven: %s",
                                r->proof.holds ? r->stages.fault : r->proof.fault);
        break;
    case CLV_VERDICT_DIFFERS:
        *ret = r->form[0].unlike
                   ? clv_arena_printf(arena, "the folder is not what the plan gives: %s",
                                      r->form[0].unlike)
                   : "the plan does not compute what the model computes";
        break;
    case CLV_VERDICT_NOT_WRITTEN:
        f = first_unseen(r, true);
        *ret = f ? clv_arena_printf(arena, "the plan is proven, but cannot be written as '%s'",
                                    f->form)
                 : clv_arena_printf(arena, "the plan cannot be written: %s", r->why_not_written);
        break;
    case CLV_VERDICT_DOES_NOT_RUN:
        f = r->original_fault ? NULL : first_unseen(r, false);
        *ret = f ? clv_arena_printf(arena, "the plan is proven, but does not run as '%s'", f->form)
               : r->n_forms > 0
                   ? "the plan is proven, not compared: the model itself is not what its file says"
                   : "the plan is proven, not run: the model itself does not run";
        break;
    }
    return *ret ? CLV_OK : clv_fail_nomem(err, "a verdict");
}
