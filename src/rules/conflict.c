/* conflict.c - a minimal conflicting set by dropping rules, larger lots first, as long as no plan
 * obeys what is left; then smaller ones, if there are few rules; then each rule of the set on
 * trial. The same for rules that leave too little memory, where a plan has to be searched for each
 * time.
 */
#include "rules/conflict.h"

#include "plan/plan_note.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "explain/no_fit.h"
#include "rules/constraints.h"
#include "rules/pins.h"
#include "solver/partition/obey.h"

#define RELAXED_MAX    8  /* rules of a conflicting set that are tried out, and told one by one */
#define RELAXED_JUDGED 40 /* candidates for each: enough to see what a rule costs */
#define SMALLER_TRIES                                                                              \
    200 /* sets smaller than a minimal one that are looked at: all of ten rules or so */
#define MEMORY_TRIES 30 /* the same where memory is short, and each is a search */

typedef struct {
    clv_run *r;
    const clv_search_options *options;
    bool *skip;     /* by rule; on trial */
    bool *core;     /* by rule: in the conflicting set */
    bool by_memory; /* a plan has to fit too */
    bool proven;
    int32_t n_core;
} conflict;

static clv_status tell(clv_run *r, const char *text)
{
    if (!text || !CLV_PUSH_ROOM(r->arena, r->told, r->n_told, r->cap_told))
        return clv_fail_nomem(r->err, "notes of a plan");
    r->told[r->n_told++] = text;
    return CLV_OK;
}

static const char *label(const clv_run *r, int32_t rule)
{
    char text[128];
    return clv_arena_printf(r->arena, "%s", clv_rule_label(&r->rules, rule, text, sizeof text));
}

/* -- a search with fewer rules -- */

static clv_search_options relaxed_options(const clv_run *r, const clv_search_options *options)
{
    clv_search_options o = *options;
    o.progress = NULL;
    if (o.max_judged == 0 || o.max_judged > RELAXED_JUDGED)
        o.max_judged = RELAXED_JUDGED;
    if (r->req->compiler) /* which takes minutes for each */
        o.max_judged = 1;
    return o;
}

/* What the plan would be without these, in a run of its own. */
static clv_status try_without(const clv_run *r, const bool *skip, const clv_search_options *options,
                              clv_search_result *ret)
{
    clv_run more = { .req = r->req,
                     .arena = r->arena,
                     .err = r->err,
                     .analysis = r->analysis,
                     .microbatches = r->microbatches,
                     .why_microbatches = r->why_microbatches };
    clv_search_options o = relaxed_options(r, options);
    clv_mark scratch = clv_arena_mark(r->arena);
    more.skip = skip;
    more.analysis.units = r->plain_units;
    clv_status status = clv_run_open(&more, r->cluster->n_devices, r->memory_bytes);
    if (status == CLV_OK)
        status = clv_run_search(&more, &o, ret);
    clv_run_close(&more);
    clv_arena_rewind(r->arena, scratch);
    ret->tried = NULL;
    ret->best.device_of = NULL;
    return status;
}

/* -- the smallest set -- */

/* Is there a plan that obeys the rules that are not on trial? */
static clv_status is_possible(conflict *c, clv_arena *arena, clv_obey_outcome *ret)
{
    clv_run *r = c->r;
    clv_partition p = *r->problem;
    clv_obey *o;
    int32_t *device_of = CLV_NEW_ARRAY(arena, int32_t, p.n_units);
    if (!device_of)
        return clv_fail_nomem(r->err, "the rules of a search");
    CLV_TRY(
        clv_pins_lower(&r->rules, c->skip, r->analysis.units, r->problem, arena, &p.rules, r->err));
    CLV_TRY(clv_obey_new(&p, arena, &o, r->err));
    *ret = clv_obey_find(o, device_of);
    return CLV_OK;
}

/* The same, and it fits; unknown where none was found. */
static clv_status may_fit(conflict *c, clv_obey_outcome *ret)
{
    clv_search_options o = *c->options;
    clv_search_result result = { .found = false };
    o.first_fit = true;
    CLV_TRY(try_without(c->r, c->skip, &o, &result));
    *ret = result.found ? CLV_OBEY_FOUND : CLV_OBEY_UNKNOWN;
    return CLV_OK;
}

static clv_status is_possible_now(conflict *c, clv_obey_outcome *ret)
{
    if (c->by_memory)
        return may_fit(c, ret);
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(c->r->arena), 0);
    if (!scratch)
        return clv_fail_nomem(c->r->err, "the rules of a search");
    clv_status status = is_possible(c, scratch, ret);
    clv_arena_free(scratch);
    return status;
}

/* Leaves [first, end) out if no plan obeys the rest either. */
static clv_status drop(conflict *c, int32_t first, int32_t end)
{
    clv_obey_outcome outcome = CLV_OBEY_UNKNOWN;
    bool any = false, all = true, proven = c->proven;
    bool *before = c->skip;
    bool *trial = CLV_NEW_ARRAY(c->r->arena, bool, c->r->rules.n);
    if (!trial)
        return clv_fail_nomem(c->r->err, "the rules of a search");
    memcpy(trial, before, (size_t)c->r->rules.n * sizeof *trial);
    for (int32_t i = first; i < end; i++) {
        any |= !trial[i];
        trial[i] = true;
    }
    for (int32_t i = 0; i < c->r->rules.n; i++)
        all = all && trial[i];
    if (!any || (all && c->by_memory)) /* without rules it fits, also where time is up by now */
        return CLV_OK;
    c->skip = trial;
    CLV_TRY(is_possible_now(c, &outcome));
    if (outcome == CLV_OBEY_FOUND || (proven && outcome == CLV_OBEY_UNKNOWN)) {
        c->skip = before;
        return CLV_OK;
    }
    c->proven = outcome == CLV_OBEY_NONE; /* of what is left now */
    return CLV_OK;
}

static void note_core(conflict *c)
{
    c->n_core = 0;
    for (int32_t i = 0; i < c->r->rules.n; i++) {
        c->core[i] = !c->skip[i];
        c->n_core += c->core[i];
    }
}

/* Adds rules from first on to those in c->skip that are not skipped, until there are size of them,
 * in all ways; *ret_found when no plan obeys one such set, which c->skip then leaves. */
static clv_status choose(conflict *c, int32_t first, int32_t size, int32_t *tries, bool *ret_found)
{
    clv_obey_outcome outcome = CLV_OBEY_FOUND;
    if (size == 0) {
        if (--*tries < 0)
            return CLV_OK;
        CLV_TRY(is_possible_now(c, &outcome));
        *ret_found = outcome == CLV_OBEY_NONE || (c->by_memory && outcome != CLV_OBEY_FOUND);
        return CLV_OK;
    }
    for (int32_t i = first; i + size <= c->r->rules.n && *tries > 0; i++) {
        if (c->r->rules.at[i].unused)
            continue;
        c->skip[i] = false;
        CLV_TRY(choose(c, i + 1, size - 1, tries, ret_found));
        if (*ret_found)
            return CLV_OK;
        c->skip[i] = true;
    }
    return CLV_OK;
}

/* A set of which no rule can go may still not be the smallest: smaller ones in order of their size.
 */
static clv_status find_smaller(conflict *c)
{
    int32_t tries = c->by_memory ? MEMORY_TRIES : SMALLER_TRIES, n = c->r->rules.n;
    bool found = false, *minimal = c->skip;
    c->skip = CLV_NEW_ARRAY(c->r->arena, bool, n);
    if (!c->skip)
        return clv_fail_nomem(c->r->err, "the rules of a search");
    memset(c->skip, true, (size_t)n * sizeof *c->skip);
    for (int32_t size = 1; size < c->n_core && !found && tries > 0; size++)
        CLV_TRY(choose(c, 0, size, &tries, &found));
    if (!found) {
        c->skip = minimal;
        return CLV_OK;
    }
    c->proven = !c->by_memory;
    note_core(c);
    return CLV_OK;
}

static clv_status find_core(conflict *c)
{
    int32_t n = c->r->rules.n, lot = 1;
    c->core = CLV_NEW_ARRAY(c->r->arena, bool, n);
    c->skip = CLV_NEW_ARRAY(c->r->arena, bool, n);
    if (!c->core || !c->skip)
        return clv_fail_nomem(c->r->err, "the rules of a search");
    for (int32_t i = 0; i < n; i++)
        c->skip[i] = c->r->rules.at[i].unused;
    while (lot * 2 < n)
        lot *= 2;
    for (; lot > 0; lot /= 2)
        for (int32_t first = 0; first < n; first += lot)
            CLV_TRY(drop(c, first, first + lot < n ? first + lot : n));
    note_core(c);
    return find_smaller(c);
}

/* -- in words -- */

/* "rules[0] 'a', rules[2] and rules[5]" */
static const char *list_rules(const clv_run *r, const bool *in, int32_t n)
{
    const char *text = "";
    for (int32_t i = 0, at = 0; text && i < r->rules.n; i++) {
        const char *one = in[i] ? label(r, i) : "";
        if (!in[i])
            continue;
        at++;
        if (one)
            text = clv_arena_printf(r->arena, "%s%s%s", text,
                                    at == 1   ? ""
                                    : at == n ? " and "
                                              : ", ",
                                    one);
    }
    return text;
}

/* What contradicts, or leaves too little memory. */
static const char *say_core(const conflict *c)
{
    const clv_run *r = c->r;
    const char *list = list_rules(r, c->core, c->n_core);
    const char *how = c->proven ? "" : ", as far as was searched";
    if (!list)
        return NULL;
    if (c->by_memory && c->n_core == 1)
        return clv_arena_printf(r->arena, "no plan was found that obeys %s and fits", list);
    if (c->by_memory)
        return clv_arena_printf(
            r->arena, "%s leave too little memory: no plan was found that obeys %s and fits", list,
            c->n_core == 2 ? "both" : "them all");
    if (c->n_core == 1)
        return clv_arena_printf(r->arena, "no plan can obey %s%s", list, how);
    return clv_arena_printf(r->arena, "%s contradict each other: no plan obeys %s%s", list,
                            c->n_core == 2 ? "both" : "them all", how);
}

static clv_status tell_core(conflict *c)
{
    clv_run *r = c->r;
    const char *words = say_core(c);
    CLV_TRY(tell(r, words));
    r->conflict = c->by_memory ? NULL : words;
    for (int32_t i = 0; i < r->rules.n; i++) {
        const clv_rule *rule = &r->rules.at[i];
        const char *name = c->core[i] ? label(r, i) : "";
        if (c->core[i])
            CLV_TRY(
                tell(r, name ? clv_arena_printf(r->arena, "%s: %s%s%s", name, rule->says,
                                                rule->why ? "; " : "", rule->why ? rule->why : "")
                             : NULL));
    }
    return CLV_OK;
}

static const char *words_for(clv_run *r, const clv_search_result *result, const char *without)
{
    char time[32];
    const clv_verdict *v = &result->best.verdict;
    bool latency = r->req->search.objective == CLV_LATENCY;
    if (result->none_obeys)
        return clv_arena_printf(r->arena, "without %s the rest cannot be obeyed either", without);
    if (v->outcome == CLV_OOM)
        return clv_arena_printf(r->arena,
                                "without %s no plan was found that fits: device %d lacks %s",
                                without, v->device, clv_show_bytes(time, v->short_bytes));
    if (v->outcome != CLV_FITS)
        return clv_arena_printf(r->arena, "without %s no candidate compiled", without);
    return clv_arena_printf(r->arena, "without %s a plan has a %s of %s", without,
                            latency ? "latency" : "period",
                            clv_show_time(time, latency ? v->latency_ns : v->period_ns));
}

/* -- relaxing -- */

/* r on other rules: opened anew and searched. */
static clv_status search_without(clv_run *r, const bool *skip, const clv_search_options *options,
                                 clv_search_result *ret)
{
    int32_t devices = r->cluster->n_devices;
    clv_search_options o = relaxed_options(r, options);
    clv_run_close(r);
    r->skip = skip;
    r->by_ops = false;
    r->analysis.units = r->plain_units;
    CLV_TRY(clv_run_open(r, devices, r->memory_bytes));
    return clv_run_search(r, &o, ret);
}

static clv_status skip_one(clv_run *r, int32_t rule, bool **ret)
{
    *ret = CLV_NEW_ARRAY(r->arena, bool, r->rules.n);
    if (!*ret)
        return clv_fail_nomem(r->err, "the rules of a search");
    for (int32_t i = 0; i < r->rules.n; i++)
        (*ret)[i] = rule < 0 || i == rule;
    return CLV_OK;
}

/* Each rule of the set by itself; *ret_skip: the one that gives the best plan, all where none does.
 */
static clv_status relax(conflict *c, bool **ret_skip)
{
    clv_run *r = c->r;
    clv_search_result best = { .none_obeys = true };
    CLV_TRY(skip_one(r, -1, ret_skip));
    for (int32_t i = 0, n = 0; i < r->rules.n && n < RELAXED_MAX; i++) {
        bool *skip;
        clv_search_result result = { .found = false };
        if (!c->core[i])
            continue;
        n++;
        CLV_TRY(skip_one(r, i, &skip));
        CLV_TRY(try_without(r, skip, c->options, &result));
        const char *name = label(r, i);
        CLV_TRY(tell(r, name ? words_for(r, &result, name) : NULL));
        if (result.none_obeys ||
            (!best.none_obeys &&
             !clv_verdict_better(&result.best.verdict, &best.best.verdict, c->options->objective)))
            continue;
        best = result;
        *ret_skip = skip;
    }
    return CLV_OK;
}

clv_status clv_explain_conflict(clv_run *r, const clv_search_options *options, bool proven,
                                clv_search_result *ret)
{
    conflict c = { .r = r, .options = options, .proven = proven };
    bool *skip;
    CLV_TRY(find_core(&c));
    CLV_TRY(tell_core(&c));
    CLV_TRY(relax(&c, &skip));
    CLV_TRY(search_without(r, skip, options, ret));
    r->core = c.core;
    return CLV_OK;
}

clv_status clv_tell_rules_and_memory(clv_run *r, const clv_search_options *options)
{
    conflict c = { .r = r, .options = options, .by_memory = true };
    clv_obey_outcome outcome = CLV_OBEY_UNKNOWN;
    int32_t n = 0;
    if (r->req->compiler)
        return CLV_OK;
    for (int32_t i = 0; i < r->rules.n; i++)
        n += !r->rules.at[i].unused && !r->rules.at[i].split;
    if (n == 0)
        return CLV_OK;
    CLV_TRY(skip_one(r, -1, &c.skip));
    CLV_TRY(may_fit(&c, &outcome));
    if (outcome != CLV_OBEY_FOUND)
        return tell(r, "without the rules no plan was found that fits either");
    CLV_TRY(find_core(&c));
    CLV_TRY(tell_core(&c));
    r->core = c.core;
    return relax(&c, &c.skip);
}

/* -- plans -- */

static clv_status lay_out(clv_run *r, const clv_plan *plan, int32_t **device_of, int32_t **stage_of)
{
    const clv_graph *g = r->req->model->main;
    *device_of = CLV_NEW_ARRAY(r->arena, int32_t, g->n_ops);
    *stage_of = CLV_NEW_ARRAY(r->arena, int32_t, plan->n_devices);
    if (!*device_of || !*stage_of)
        return clv_fail_nomem(r->err, "the rules of a plan");
    for (int32_t i = 0; i < g->n_ops; i++)
        (*device_of)[i] = plan->device_of_op[g->ops[i].file_index];
    for (int32_t d = 0; d < plan->n_devices; d++)
        (*stage_of)[d] = plan->devices[d].stage;
    return CLV_OK;
}

clv_status clv_explain_broken(clv_run *r, const clv_plan *plan)
{
    int32_t *device_of, *stage_of, n = 0;
    bool *skip;
    if (r->rules.n == 0)
        return CLV_OK;
    CLV_TRY(lay_out(r, plan, &device_of, &stage_of));
    CLV_TRY(skip_one(r, r->rules.n, &skip));
    for (;; n++) {
        int32_t broken =
            clv_constraints_broken(&r->rules, device_of, stage_of, plan->n_stages, skip, r->arena);
        if (broken < 0)
            break;
        skip[broken] = true;
        const char *name = label(r, broken);
        CLV_TRY(tell(r, name ? clv_arena_printf(r->arena, "the cut given by hand breaks %s: %s",
                                                name, r->rules.at[broken].says)
                             : NULL));
    }
    if (n == 0)
        return CLV_OK;
    const char *list = list_rules(r, skip, n);
    r->core = skip;
    r->conflict = list ? clv_arena_printf(r->arena, "the cut given by hand breaks %s", list) : NULL;
    return r->conflict ? CLV_OK : clv_fail_nomem(r->err, "the rules of a plan");
}

clv_status clv_check_rules(clv_run *r, const clv_plan *plan)
{
    int32_t *device_of, *stage_of;
    char text[128];
    if (r->rules.n == 0)
        return CLV_OK;
    CLV_TRY(lay_out(r, plan, &device_of, &stage_of));
    int32_t broken =
        clv_constraints_broken(&r->rules, device_of, stage_of, plan->n_stages, r->skip, r->arena);
    if (broken < 0)
        return CLV_OK;
    return clv_fail(r->err, CLV_EINTERNAL, "the plan breaks %s: %s",
                    clv_rule_label(&r->rules, broken, text, sizeof text), r->rules.at[broken].says);
}

static const char *state_of(const clv_run *r, int32_t rule)
{
    if (r->rules.at[rule].unused)
        return "unused";
    if (r->core && r->core[rule])
        return "conflict";
    return r->skip && r->skip[rule] ? "left out" : "in force";
}

clv_status clv_note_rules(clv_run *r, clv_plan *plan)
{
    plan->conflict = r->conflict;
    plan->rules = CLV_NEW_ARRAY(r->arena, clv_plan_rule, r->rules.n);
    if (!plan->rules)
        return clv_fail_nomem(r->err, "the rules of a plan");
    for (int32_t i = 0; i < r->rules.n; i++) {
        const clv_rule *rule = &r->rules.at[i];
        plan->rules[plan->n_rules++] =
            (clv_plan_rule){ rule->name, rule->why, rule->says, state_of(r, i) };
    }
    for (int32_t i = 0; i < r->n_told; i++)
        CLV_TRY(clv_plan_note(plan, r->told[i], r->arena, r->err));
    for (int32_t i = 0; i < r->rules.n_warnings; i++)
        CLV_TRY(clv_plan_note(plan, r->rules.warnings[i], r->arena, r->err));
    return CLV_OK;
}
