#include "plan/plan_note.h"

clv_status clv_plan_note(clv_plan *plan, const char *text, clv_arena *arena, clv_error *err)
{
    const char **notes = clv_arena_grow(arena, plan->notes, (size_t)plan->n_notes,
                                        (size_t)plan->n_notes + 1, sizeof *notes);
    if (!text || !notes)
        return clv_fail_nomem(err, "notes of a plan");
    plan->notes = notes;
    plan->notes[plan->n_notes++] = text;
    return CLV_OK;
}
