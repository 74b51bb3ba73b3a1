#include "rules/conflicting_set.h"

#include <string.h>

/* Sets smaller than a minimal one that are looked at: all of ten rules or so. */
#define SMALLER_TRIES 200
/* The same where memory is short, and each is a search. */
#define MEMORY_TRIES 30

typedef struct {
    clv_conflicting_set *c;
    bool *skip; /* by rule: left out, as no plan meets the others either */
    clv_arena *arena;
} filter;

/* Leaves [first, end) out if no plan meets the rest either. */
static clv_status leave_out(filter *f, int32_t first, int32_t end, clv_error *err)
{
    clv_conflicting_set *c = f->c;
    clv_rule_outcome outcome = CLV_RULES_UNDECIDED;
    bool any = false, all = true;
    bool *trial = CLV_NEW_ARRAY(f->arena, bool, c->rules->n);
    if (!trial)
        return clv_fail_nomem(err, "the rules of a search");
    memcpy(trial, f->skip, (size_t)c->rules->n * sizeof *trial);
    for (int32_t i = first; i < end; i++) {
        any |= !trial[i];
        trial[i] = true;
    }
    for (int32_t i = 0; i < c->rules->n; i++)
        all = all && trial[i];
    if (!any || (all && c->by_memory)) /* without rules it fits, also where time is up by now */
        return CLV_OK;
    CLV_TRY(c->find_plan(c->ctx, trial, &outcome, err));
    if (outcome == CLV_RULES_FEASIBLE || (c->proven && outcome == CLV_RULES_UNDECIDED))
        return CLV_OK;
    f->skip = trial;
    c->proven = outcome == CLV_RULES_INFEASIBLE; /* of what is left now */
    return CLV_OK;
}

static void set_core(filter *f)
{
    f->c->n_core = 0;
    for (int32_t i = 0; i < f->c->rules->n; i++) {
        f->c->core[i] = !f->skip[i];
        f->c->n_core += f->c->core[i];
    }
}

/* Adds size rules from first on to those that f->skip leaves, in all ways; *ret_found when no plan
 * meets one such set, which f->skip then leaves. */
static clv_status try_sets(filter *f, int32_t first, int32_t size, int32_t *tries, bool *ret_found,
                           clv_error *err)
{
    const clv_conflicting_set *c = f->c;
    clv_rule_outcome outcome = CLV_RULES_FEASIBLE;
    if (size == 0) {
        if (--*tries < 0)
            return CLV_OK;
        CLV_TRY(c->find_plan(c->ctx, f->skip, &outcome, err));
        *ret_found =
            outcome == CLV_RULES_INFEASIBLE || (c->by_memory && outcome != CLV_RULES_FEASIBLE);
        return CLV_OK;
    }
    for (int32_t i = first; i + size <= c->rules->n && *tries > 0; i++) {
        if (c->rules->at[i].unused)
            continue;
        f->skip[i] = false;
        CLV_TRY(try_sets(f, i + 1, size - 1, tries, ret_found, err));
        if (*ret_found)
            return CLV_OK;
        f->skip[i] = true;
    }
    return CLV_OK;
}

static clv_status find_smaller(filter *f, clv_error *err)
{
    clv_conflicting_set *c = f->c;
    int32_t tries = c->by_memory ? MEMORY_TRIES : SMALLER_TRIES, n = c->rules->n;
    bool found = false, *minimal = f->skip;
    f->skip = CLV_NEW_ARRAY(f->arena, bool, n);
    if (!f->skip)
        return clv_fail_nomem(err, "the rules of a search");
    memset(f->skip, true, (size_t)n * sizeof *f->skip);
    for (int32_t size = 1; size < c->n_core && !found && tries > 0; size++)
        CLV_TRY(try_sets(f, 0, size, &tries, &found, err));
    if (!found) {
        f->skip = minimal;
        return CLV_OK;
    }
    c->proven = !c->by_memory;
    set_core(f);
    return CLV_OK;
}

clv_status clv_conflicting_set_find(clv_conflicting_set *c, clv_arena *arena, clv_error *err)
{
    int32_t n = c->rules->n, lot = 1;
    filter f = { c, CLV_NEW_ARRAY(arena, bool, n), arena };
    c->core = CLV_NEW_ARRAY(arena, bool, n);
    if (!c->core || !f.skip)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t i = 0; i < n; i++)
        f.skip[i] = c->rules->at[i].unused;
    while (lot * 2 < n)
        lot *= 2;
    for (; lot > 0; lot /= 2)
        for (int32_t first = 0; first < n; first += lot)
            CLV_TRY(leave_out(&f, first, first + lot < n ? first + lot : n, err));
    set_core(&f);
    return find_smaller(&f, err);
}

/* -- in words -- */

/* What contradicts, or leaves too little memory. */
static const char *words_for(const clv_conflicting_set *c, clv_arena *arena)
{
    const char *list = clv_rules_list(c->rules, c->core, c->n_core, arena);
    const char *how = c->proven ? "" : ", as far as was searched";
    const char *them = c->n_core == 2 ? "both" : "them all";
    if (!list)
        return NULL;
    if (c->by_memory && c->n_core == 1)
        return clv_arena_printf(arena, "no plan was found that satisfies %s and fits", list);
    if (c->by_memory)
        return clv_arena_printf(
            arena, "%s leave too little memory: no plan was found that satisfies %s and fits", list,
            them);
    if (c->n_core == 1)
        return clv_arena_printf(arena, "no plan can satisfy %s%s", list, how);
    return clv_arena_printf(arena, "%s contradict each other: no plan satisfies %s%s", list, them,
                            how);
}

clv_status clv_conflicting_set_note(const clv_conflicting_set *c, clv_rule_state *notes,
                                    const char **ret_words, clv_arena *arena, clv_error *err)
{
    *ret_words = words_for(c, arena);
    CLV_TRY(clv_rule_state_note(notes, *ret_words, arena, err));
    for (int32_t i = 0; i < c->rules->n; i++) {
        const clv_constraint *rule = &c->rules->at[i];
        const char *label = c->core[i] ? clv_rules_label(c->rules, i, arena) : "";
        if (c->core[i])
            CLV_TRY(clv_rule_state_note(notes,
                                        label ? clv_arena_printf(arena, "%s: %s%s%s", label,
                                                                 rule->says, rule->why ? "; " : "",
                                                                 rule->why ? rule->why : "")
                                              : NULL,
                                        arena, err));
    }
    return CLV_OK;
}
