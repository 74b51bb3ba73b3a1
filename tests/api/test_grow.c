/* test_grow.c - programs built for an older or a newer cleave.h: their structs have another size.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/api_fixture.h"

static api_fixture f;

static void set_up(void) { api_fixture_make(&f); }
static void tear_down(void) { api_fixture_free(&f); }

TestSuite(api_grow, .init = set_up, .fini = tear_down);

/* -- one call for each struct, with the bytes of it -- */

static cleave_status with_control(const void *o)
{
    cleave_report *report = NULL;
    cleave_status s = cleave_model_inspect(f.model, o, &report, &f.error);
    cleave_report_free(report);
    return s;
}

static cleave_status with_shards(const void *o)
{
    cleave_report *report = NULL;
    cleave_status s = cleave_model_shards(f.model, o, NULL, &report, NULL, &f.error);
    cleave_report_free(report);
    return s;
}

static cleave_status with_plan(const void *o)
{
    cleave_plan *made = NULL;
    cleave_status s = cleave_plan_make(f.model, o, NULL, &made, &f.error);
    cleave_plan_free(made);
    return s;
}

static cleave_status with_place(const void *o)
{
    cleave_place_solution *a = NULL;
    cleave_status s = cleave_place_solve(f.place, o, NULL, &a, &f.error);
    cleave_place_solution_free(a);
    return s;
}

static cleave_status with_mps(const void *o)
{
    return cleave_place_problem_save_mps(f.place, o, f.path[API_OUTPUT], NULL, &f.error);
}

static cleave_status with_intra_op(const void *o)
{
    cleave_intra_op_solution *a = NULL;
    cleave_status s = cleave_intra_op_solve(f.intra_op, o, NULL, &a, &f.error);
    cleave_intra_op_solution_free(a);
    return s;
}

static cleave_status with_shard(const void *o)
{
    api_fixture_clean(&f);
    return cleave_shard(f.model, f.path[API_PLAN], f.path[API_OUTPUT], o, NULL, &f.error);
}

static cleave_status with_reshard(const void *o)
{
    return cleave_reshard(f.path[API_SHARDS], f.path[API_PLAN], NULL, o, NULL, NULL, &f.error);
}

static cleave_status with_annotate(const void *o)
{
    api_fixture_clean(&f);
    return cleave_annotate(f.model, f.plan, o, f.path[API_OUTPUT], NULL, &f.error);
}

static cleave_status with_lower(const void *o)
{
    api_fixture_clean(&f);
    return cleave_lower(f.model, f.plan, o, f.path[API_OUTPUT], NULL, NULL, &f.error);
}

static cleave_status with_verify(const void *o)
{
    cleave_verification *v = NULL;
    cleave_status s = cleave_verify(f.model, f.plan, o, NULL, &v, &f.error);
    cleave_verification_free(v);
    return s;
}

static cleave_status with_clusters(const void *o)
{
    cleave_report *r = NULL;
    cleave_status s = cleave_clusters(o, NULL, &r, &f.error);
    cleave_report_free(r);
    return s;
}

/* Where the struct is right, the path is not. */
static cleave_status with_calibrate(const void *o)
{
    cleave_status s = cleave_calibrate(o, "/nowhere/c.json", NULL, NULL, &f.error);
    return s == CLEAVE_EIO ? CLEAVE_OK : s;
}

/* Without a device the sentence says so; a struct that is wrong is said first. */
static cleave_status with_measured(const void *o)
{
    cleave_status s = cleave_measured_score(f.folder, o, NULL, NULL, &f.error);
    bool none = strstr(f.error.message, "no device is given") != NULL;
    return s == CLEAVE_EUSAGE && none ? CLEAVE_OK : s;
}

static const struct {
    const char *name;
    size_t size;
    cleave_status (*call)(const void *given);
} structs[] = {
    { "cleave_control", sizeof(cleave_control), with_control },
    { "cleave_shards_options", sizeof(cleave_shards_options), with_shards },
    { "cleave_clusters_options", sizeof(cleave_clusters_options), with_clusters },
    { "cleave_plan_options", sizeof(cleave_plan_options), with_plan },
    { "cleave_place_options", sizeof(cleave_place_options), with_place },
    { "cleave_place_options", sizeof(cleave_place_options), with_mps },
    { "cleave_intra_op_options", sizeof(cleave_intra_op_options), with_intra_op },
    { "cleave_shard_options", sizeof(cleave_shard_options), with_shard },
    { "cleave_shard_options", sizeof(cleave_shard_options), with_reshard },
    { "cleave_annotate_options", sizeof(cleave_annotate_options), with_annotate },
    { "cleave_lower_options", sizeof(cleave_lower_options), with_lower },
    { "cleave_verify_options", sizeof(cleave_verify_options), with_verify },
    { "cleave_calibrate_options", sizeof(cleave_calibrate_options), with_calibrate },
    { "cleave_measured_options", sizeof(cleave_measured_options), with_measured },
};

#define N_STRUCTS (sizeof structs / sizeof *structs)

union given {
    uint64_t aligned[128];
    unsigned char bytes[1024];
    uint32_t size;
    cleave_place_options place;
};

/* All zero but for the size; of placement options the objective too, as its _init has it. */
static void make_struct(union given *given, size_t i, uint32_t size)
{
    memset(given, 0, sizeof *given);
    if (strcmp(structs[i].name, "cleave_place_options") == 0)
        cleave_place_options_init(&given->place);
    given->size = size;
}

Test(api_grow, a_smaller_struct_leaves_the_rest_at_its_default)
{
    for (size_t i = 0; i < N_STRUCTS; i++) {
        union given given;
        make_struct(&given, i, 8);
        memset(given.bytes + 8, 0xa5, sizeof given.bytes - 8); /* not the library's to read */
        cr_expect_eq(structs[i].call(&given), CLEAVE_OK, "%s: %s", structs[i].name,
                     f.error.message);
    }
}

Test(api_grow, a_larger_struct_is_taken_where_what_is_not_known_is_zero)
{
    for (size_t i = 0; i < N_STRUCTS; i++) {
        union given given;
        make_struct(&given, i, (uint32_t)structs[i].size + 24);
        memset(given.bytes + structs[i].size + 24, 0xa5, 8);
        cr_expect_eq(structs[i].call(&given), CLEAVE_OK, "%s: %s", structs[i].name,
                     f.error.message);
    }
}

Test(api_grow, a_larger_struct_is_refused_where_what_is_not_known_is_set)
{
    for (size_t i = 0; i < N_STRUCTS; i++) {
        union given given;
        char want[200];
        make_struct(&given, i, (uint32_t)structs[i].size + 24);
        given.bytes[structs[i].size + 23] = 1;
        cr_expect_eq(structs[i].call(&given), CLEAVE_EUSAGE, "%s", structs[i].name);
        snprintf(want, sizeof want, "%s has size %zu, and what this version", structs[i].name,
                 structs[i].size + 24);
        cr_expect(strstr(f.error.message, want), "%s", f.error.message);
    }
}

Test(api_grow, a_struct_that_was_not_initialised_is_refused)
{
    static const uint32_t sizes[] = { 0, 3, 0xa5a5a5a5 };
    for (size_t i = 0; i < N_STRUCTS; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            union given given;
            char want[200];
            make_struct(&given, i, sizes[k]);
            cr_expect_eq(structs[i].call(&given), CLEAVE_EUSAGE, "%s", structs[i].name);
            snprintf(want, sizeof want, "%s has size %u: expected it from %s_init()",
                     structs[i].name, sizes[k], structs[i].name);
            cr_expect_str_eq(f.error.message, want);
        }
}

/* -- versions and names -- */

Test(api_grow, the_version_of_the_library_is_that_of_its_header)
{
    char want[32];
    snprintf(want, sizeof want, "%d.%d.%d", CLEAVE_VERSION_MAJOR, CLEAVE_VERSION_MINOR,
             CLEAVE_VERSION_PATCH);
    cr_expect_str_eq(cleave_version(), want);
    cr_expect_eq(cleave_version_number(), (unsigned)CLEAVE_VERSION_NUMBER);
}

Test(api_grow, each_value_has_a_name_of_its_own)
{
    static const char *const statuses[] = { "ok",    "no plan", "usage",  "input",    "unsupported",
                                            "limit", "io",      "memory", "canceled", "internal" };
    static const char *const ends[] = { "unknown",  "optimal", "gap",   "infeasible", "searched",
                                        "deadline", "stopped", "limit", "first fit" };
    for (int i = 0; i < 10; i++)
        cr_expect_str_eq(cleave_status_name((cleave_status)i), statuses[i]);
    for (int i = 0; i < 9; i++)
        cr_expect_str_eq(cleave_end_name((cleave_end)i), ends[i]);
    cr_expect_str_eq(cleave_objective_name(CLEAVE_DEVICES), "devices");
    cr_expect_str_eq(cleave_form_name(CLEAVE_FORM_ORT_OPTIONS), "ort-options");
    cr_expect_str_eq(cleave_collectives_name(CLEAVE_COLLECTIVES_TENSORRT), "tensorrt");
    cr_expect_str_eq(cleave_weights_name(CLEAVE_WEIGHTS_RANGES), "ranges");
    cr_expect_str_eq(cleave_status_name((cleave_status)10), "unknown");
    cr_expect_str_eq(cleave_status_name((cleave_status)-1), "unknown");
    cr_expect_str_eq(cleave_end_name((cleave_end)9), "unknown");
    cr_expect_str_eq(cleave_objective_name((cleave_objective)3), "unknown");
}
