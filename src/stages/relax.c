#include "stages/relax.h"

#include <string.h>

#include "base/units.h"
#include "rules/conflicting_set.h"
#include "rules/unit_constraints.h"
#include "solver/partition/verdict_order.h"

#define RELAXED_MAX    8  /* rules of a conflicting set that are left out one by one */
#define RELAXED_JUDGED 40 /* candidates for each: enough to see what a rule costs */

typedef struct {
    clv_stage_search *s;
    const clv_partition_options *options;
} trial;

static clv_partition_options relaxed_options(const clv_stage_search *s,
                                             const clv_partition_options *options)
{
    clv_partition_options o = *options;
    clv_solve_detach(&o.solve);
    if (o.max_judged == 0 || o.max_judged > RELAXED_JUDGED)
        o.max_judged = RELAXED_JUDGED;
    if (s->req->compiler) /* which takes minutes for each */
        o.max_judged = 1;
    return o;
}

/* The result without the rules in skip, of a search beside s. */
static clv_status search_without(const clv_stage_search *s, const bool *skip,
                                 const clv_partition_options *options, clv_partition_result *ret,
                                 clv_error *err)
{
    clv_stage_search beside = clv_stage_search_beside(s);
    clv_partition_options o = relaxed_options(s, options);
    clv_mark scratch = clv_arena_mark(s->arena);
    beside.rules.skip = skip;
    beside.analysis.units = s->plain_units;
    clv_status status = clv_stage_search_open(&beside, s->cluster->n_devices, s->memory_bytes, err);
    if (status == CLV_OK)
        status = clv_stage_search_run(&beside, &o, ret, err);
    clv_stage_search_close(&beside);
    clv_arena_rewind(s->arena, scratch);
    ret->tried = NULL;
    ret->best.device_of = NULL;
    return status;
}

/* Is there an assignment of the units that meets the other rules? */
static clv_status find_assignment(void *ctx, const bool *skip, clv_rule_outcome *ret,
                                  clv_error *err)
{
    clv_stage_search *s = ((const trial *)ctx)->s;
    clv_partition_problem p = *s->problem;
    clv_rule_repair *o;
    clv_arena *scratch = clv_arena_new(clv_arena_alloc(s->arena), 0);
    int32_t *device_of = scratch ? CLV_NEW_ARRAY(scratch, int32_t, p.n_units) : NULL;
    clv_status status = CLV_OK;
    if (!device_of)
        status = clv_fail_nomem(err, "the rules of a search");
    if (status == CLV_OK)
        status =
            clv_unit_constraints_lower(&s->rules.rules, skip, s->analysis.units, &p, scratch, err);
    if (status == CLV_OK)
        status = clv_rule_repair_new(&p, scratch, &o, err);
    if (status == CLV_OK)
        *ret = clv_rule_repair_find(o, device_of);
    clv_arena_free(scratch);
    return status;
}

/* The same, and it fits; unknown where none was found. */
static clv_status find_fitting(void *ctx, const bool *skip, clv_rule_outcome *ret, clv_error *err)
{
    const trial *t = ctx;
    clv_partition_options o = *t->options;
    clv_partition_result result = { .solve = { .found = false } };
    o.first_fit = true;
    CLV_TRY(search_without(t->s, skip, &o, &result, err));
    *ret = result.solve.found ? CLV_RULES_FEASIBLE : CLV_RULES_UNDECIDED;
    return CLV_OK;
}

/* Which rule is left out; rule < 0: all. */
static clv_status skip_rule(const clv_stage_search *s, int32_t rule, bool **ret, clv_error *err)
{
    *ret = CLV_NEW_ARRAY(s->arena, bool, s->rules.rules.n);
    if (!*ret)
        return clv_fail_nomem(err, "the rules of a search");
    for (int32_t i = 0; i < s->rules.rules.n; i++)
        (*ret)[i] = rule < 0 || i == rule;
    return CLV_OK;
}

static const char *words_for(const clv_stage_search *s, const clv_partition_result *result,
                             const char *without)
{
    char shown[32];
    const clv_verdict *v = &result->best.verdict;
    bool latency = s->req->search.objective == CLV_LATENCY;
    if (result->rules_unmet)
        return clv_arena_printf(s->arena, "without %s the rest cannot be satisfied either",
                                without);
    if (v->outcome == CLV_OOM)
        return clv_arena_printf(s->arena,
                                "without %s no plan was found that fits: device %d lacks %s",
                                without, v->device, clv_show_bytes(shown, v->short_bytes));
    if (v->outcome != CLV_FITS)
        return clv_arena_printf(s->arena, "without %s no candidate compiled", without);
    return clv_arena_printf(s->arena, "without %s a plan has a %s of %s", without,
                            latency ? "latency" : "period",
                            clv_show_time(shown, latency ? v->latency_ns : v->period_ns));
}

/* Leaves out each rule of the set by itself; *ret_skip: the one that gives the best plan, all where
 * none does. */
static clv_status relax_each(const trial *t, const clv_conflicting_set *set, bool **ret_skip,
                             clv_error *err)
{
    clv_stage_search *s = t->s;
    clv_partition_result best = { .rules_unmet = true };
    CLV_TRY(skip_rule(s, -1, ret_skip, err));
    for (int32_t i = 0, n = 0; i < s->rules.rules.n && n < RELAXED_MAX; i++) {
        bool *skip;
        clv_partition_result result = { .solve = { .found = false } };
        if (!set->core[i])
            continue;
        n++;
        CLV_TRY(skip_rule(s, i, &skip, err));
        CLV_TRY(search_without(s, skip, t->options, &result, err));
        const char *label = clv_rules_label(&s->rules.rules, i, s->arena);
        CLV_TRY(clv_rule_state_note(&s->rules, label ? words_for(s, &result, label) : NULL,
                                    s->arena, err));
        if (result.rules_unmet ||
            (!best.rules_unmet &&
             !clv_verdict_better(&result.best.verdict, &best.best.verdict, t->options->objective)))
            continue;
        best = result;
        *ret_skip = skip;
    }
    return CLV_OK;
}

clv_status clv_relax_conflict(clv_stage_search *s, const clv_partition_options *options,
                              bool proven, clv_partition_result *ret, clv_error *err)
{
    trial t = { s, options };
    clv_conflicting_set set = {
        .rules = &s->rules.rules, .find_plan = find_assignment, .ctx = &t, .proven = proven
    };
    clv_partition_options o = relaxed_options(s, options);
    int32_t devices = s->cluster->n_devices;
    const char *words;
    bool *skip;
    CLV_TRY(clv_conflicting_set_find(&set, s->arena, err));
    CLV_TRY(clv_conflicting_set_note(&set, &s->rules, &words, s->arena, err));
    CLV_TRY(relax_each(&t, &set, &skip, err));
    clv_stage_search_close(s);
    s->rules.skip = skip;
    s->rules.core = set.core;
    s->rules.conflict = words;
    s->by_ops = false;
    s->analysis.units = s->plain_units;
    CLV_TRY(clv_stage_search_open(s, devices, s->memory_bytes, err));
    return clv_stage_search_run(s, &o, ret, err);
}

clv_status clv_relax_memory(clv_stage_search *s, const clv_partition_options *options,
                            clv_error *err)
{
    trial t = { s, options };
    clv_conflicting_set set = {
        .rules = &s->rules.rules, .find_plan = find_fitting, .ctx = &t, .by_memory = true
    };
    clv_rule_outcome outcome = CLV_RULES_UNDECIDED;
    const char *words;
    bool *skip, any = false;
    for (int32_t i = 0; i < s->rules.rules.n; i++)
        any |= !s->rules.rules.at[i].unused && !s->rules.rules.at[i].split;
    if (!any || s->req->compiler)
        return CLV_OK;
    CLV_TRY(skip_rule(s, -1, &skip, err));
    CLV_TRY(find_fitting(&t, skip, &outcome, err));
    if (outcome != CLV_RULES_FEASIBLE)
        return clv_rule_state_note(
            &s->rules, "without the rules no plan was found that fits either", s->arena, err);
    CLV_TRY(clv_conflicting_set_find(&set, s->arena, err));
    CLV_TRY(clv_conflicting_set_note(&set, &s->rules, &words, s->arena, err));
    s->rules.core = set.core;
    return relax_each(&t, &set, &skip, err);
}
