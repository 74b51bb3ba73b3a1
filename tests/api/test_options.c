/* test_options.c - every number of every struct of options that is out of its range is refused, by
 * its name, its value and what was expected. */
#include <criterion/criterion.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "support/api.h"
#include "support/api_fixture.h"

static api_fixture f;

static void set_up(void) { api_fixture_make(&f); }
static void tear_down(void) { api_fixture_free(&f); }

TestSuite(options, .init = set_up, .fini = tear_down);

/* -- calls with such a struct. Each gives nothing -- */

static cleave_status plan(const void *o)
{
    cleave_plan *p = NULL;
    cleave_status s = cleave_plan_make(f.model, o, NULL, &p, &f.error);
    cr_expect_null(p);
    return s;
}

static cleave_status place(const void *o)
{
    cleave_place_solution *p = NULL;
    cleave_status s = cleave_place_solve(f.place, o, NULL, &p, &f.error);
    cr_expect_null(p);
    return s;
}

static cleave_status mps(const void *o)
{
    return cleave_place_problem_save_mps(f.place, o, f.path[API_OUTPUT], NULL, &f.error);
}

static cleave_status solve(const void *o)
{
    cleave_intra_op_solution *p = NULL;
    cleave_status s = cleave_intra_op_solve(f.intra_op, o, NULL, &p, &f.error);
    cr_expect_null(p);
    return s;
}

static cleave_status shards(const void *o)
{
    cleave_report *r = NULL;
    cleave_status s = cleave_model_shards(f.model, o, NULL, &r, NULL, &f.error);
    cr_expect_null(r);
    return s;
}

static cleave_status shard(const void *o)
{
    return cleave_shard(f.model, f.path[API_PLAN], f.path[API_OUTPUT], o, NULL, &f.error);
}

static cleave_status reshard(const void *o)
{
    cleave_report *r = NULL;
    cleave_status s = cleave_reshard(f.path[API_SHARDS], f.path[API_PLAN], f.path[API_OUTPUT], o,
                                     NULL, &r, &f.error);
    cr_expect_null(r);
    return s;
}

static cleave_status lower(const void *o)
{
    cleave_report *r = NULL;
    cleave_status s = cleave_lower(f.model, f.plan, o, f.path[API_OUTPUT], NULL, &r, &f.error);
    cr_expect_null(r);
    return s;
}

static cleave_status calibrate(const void *o)
{
    cleave_report *r = NULL;
    cleave_status s = cleave_calibrate(o, f.path[API_OUTPUT], NULL, &r, &f.error);
    cr_expect_null(r);
    return s;
}

static cleave_status controlled(const void *o)
{
    cleave_report *r = NULL;
    cleave_status s = cleave_rules("MatMul", o, &r, &f.error);
    cr_expect_null(r);
    return s;
}

/* -- what is wrong -- */

/* Options as their _init() makes them; the largest of the structs. */
typedef union {
    cleave_plan_options plan;
    cleave_place_options place;
    cleave_intra_op_options solve;
    cleave_shards_options shards;
    cleave_shard_options shard;
    cleave_lower_options lower;
    cleave_calibrate_options calibrate;
    cleave_control control;
} any_options;

static void init(any_options *o, cleave_status (*call)(const void *))
{
    memset(o, 0, sizeof *o);
    if (call == plan)
        cleave_plan_options_init(&o->plan);
    else if (call == place || call == mps)
        cleave_place_options_init(&o->place);
    else if (call == solve)
        cleave_intra_op_options_init(&o->solve);
    else if (call == shards)
        cleave_shards_options_init(&o->shards);
    else if (call == shard || call == reshard)
        cleave_shard_options_init(&o->shard);
    else if (call == lower)
        cleave_lower_options_init(&o->lower);
    else if (call == calibrate)
        cleave_calibrate_options_init(&o->calibrate);
    else
        cleave_control_init(&o->control);
}

static void expect_refused(cleave_status (*call)(const void *), const any_options *o,
                           const char *words)
{
    memset(&f.error, 0, sizeof f.error);
    cr_expect_eq(call(o), CLEAVE_EUSAGE, "%s: %s", words, f.error.message);
    cr_expect(strstr(f.error.message, words), "%s: expected '%s'", f.error.message, words);
    cr_expect(strstr(f.error.message, "expected "), "%s", f.error.message);
}

#define PLAN(field)      plan, offsetof(cleave_plan_options, field), #field
#define PLACE(field)     place, offsetof(cleave_place_options, field), #field
#define MPS(field)       mps, offsetof(cleave_place_options, field), #field
#define SOLVE(field)     solve, offsetof(cleave_intra_op_options, field), #field
#define SHARDS(field)    shards, offsetof(cleave_shards_options, field), #field
#define SHARD(field)     shard, offsetof(cleave_shard_options, field), #field
#define RESHARD(field)   reshard, offsetof(cleave_shard_options, field), #field
#define LOWER(field)     lower, offsetof(cleave_lower_options, field), #field
#define CALIBRATE(field) calibrate, offsetof(cleave_calibrate_options, field), #field
#define CONTROL(field)   controlled, offsetof(cleave_control, field), #field

/* Enums and counts: the number after the last, and those before 0. */
Test(options, whole_numbers_out_of_range_are_refused)
{
    static const struct {
        cleave_status (*call)(const void *);
        size_t at;
        const char *field;
        int after; /* 0: any number may be right */
    } cases[] = {
        { PLAN(devices), 0 },
        { PLAN(objective), 3 },
        { PLAN(jobs), 1025 },
        { PLAN(max_candidates), 0 },
        { PLAN(max_tensor_devices), 0 },
        { PLAN(stages), 0 },
        { PLAN(microbatches), 1000001 },
        { PLACE(objective), 3 },
        { MPS(objective), 3 },
        { SOLVE(jobs), 1025 },
        { SHARDS(uneven), 3 },
        { SHARD(weights), 3 },
        { SHARD(fill), 3 },
        { RESHARD(weights), 3 },
        { RESHARD(fill), 3 },
        { LOWER(form), 5 },
        { LOWER(collectives), 2 },
        { LOWER(weights), 3 },
        { CALIBRATE(devices), 65 },
        { CONTROL(report), 3 },
        { CONTROL(report_columns), 39 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int wrong[] = { -1, INT32_MIN, cases[i].after, cases[i].after ? 77777777 : 0 };
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            any_options o;
            char words[64];
            if (wrong[k] == 0)
                continue;
            init(&o, cases[i].call);
            memcpy((char *)&o + cases[i].at, &wrong[k], sizeof wrong[k]);
            snprintf(words, sizeof words, "%s is %d: ", cases[i].field, wrong[k]);
            expect_refused(cases[i].call, &o, words);
        }
    }
}

Test(options, bytes_out_of_range_are_refused)
{
    static const struct {
        cleave_status (*call)(const void *);
        size_t at;
        const char *field;
    } cases[] = { { PLAN(memory_bytes) }, { SHARD(max_file_bytes) }, { RESHARD(max_file_bytes) } };
    static const int64_t wrong[] = { -1, INT64_MIN };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            any_options o;
            char words[64];
            init(&o, cases[i].call);
            memcpy((char *)&o + cases[i].at, &wrong[k], sizeof wrong[k]);
            snprintf(words, sizeof words, "%s is %lld: ", cases[i].field, (long long)wrong[k]);
            expect_refused(cases[i].call, &o, words);
        }
}

Test(options, real_numbers_out_of_range_are_refused)
{
    static const struct {
        cleave_status (*call)(const void *);
        size_t at;
        const char *field;
        double too_much; /* 0: none */
    } cases[] = {
        { PLAN(deadline_s), 1.1e9 },
        { PLAN(gap), 1 },
        { PLAN(overlap), 1.1 },
        { PLAN(compiler_timeout_s), 1.1e9 },
        { PLACE(deadline_s), 1.1e9 },
        { PLACE(gap), 1 },
        { PLACE(max_load), 0 },
        { MPS(deadline_s), 1.1e9 },
        { MPS(gap), 1 },
        { SOLVE(deadline_s), 1.1e9 },
        { SOLVE(gap), 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double wrong[] = { -0.1,        -1e300,           (double)INFINITY, (double)-INFINITY,
                                 (double)NAN, cases[i].too_much };
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            any_options o;
            char words[64];
            if (wrong[k] == 0)
                continue;
            init(&o, cases[i].call);
            memcpy((char *)&o + cases[i].at, &wrong[k], sizeof wrong[k]);
            snprintf(words, sizeof words, "%s is %g: ", cases[i].field, wrong[k]);
            expect_refused(cases[i].call, &o, words);
        }
    }
}

Test(options, a_load_is_limited_for_fewest_devices_only)
{
    any_options o;
    init(&o, place);
    o.place.max_load = 4;
    cr_expect_eq(place(&o), CLEAVE_EUSAGE);
    cr_expect(strstr(f.error.message, "max_load is 4: it goes with the objective of fewest"), "%s",
              f.error.message);
}
