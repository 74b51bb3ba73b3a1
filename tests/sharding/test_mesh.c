#include "sharding/mesh.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "cluster/cluster_json.h"
#include "cluster/route.h"
#include "sharding/mesh_levels.h"
#include "support/layout_sim.h"

static clv_arena *arena;
static clv_error err;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(mesh, .init = open_arena, .fini = close_arena);

static clv_cluster *cluster_of(const char *name)
{
    clv_cluster *c = NULL;
    cr_assert_eq(clv_cluster_load(name, TEST_SOURCE_DIR "/configs", arena, &c, &err), CLV_OK, "%s",
                 err.message);
    return c;
}

static clv_mesh_form form_of(const char *text)
{
    clv_mesh_form form = { 0 };
    cr_assert_eq(clv_mesh_form_parse(text, arena, &form, &err), CLV_OK, "%s", err.message);
    return form;
}

static const clv_mesh *mesh_of(const char *text, const clv_cluster *c)
{
    const clv_mesh *mesh = NULL;
    clv_mesh_form form = form_of(text);
    cr_assert_eq(clv_mesh_make(&form, c, CLV_MESH_ALL_DEVICES, arena, &mesh, &err), CLV_OK, "%s",
                 err.message);
    return mesh;
}

static void refused(const clv_mesh_form *form, const clv_cluster *c, const int32_t *device,
                    int32_t n, const char *sentence)
{
    const clv_mesh *mesh = NULL;
    err.message[0] = 0;
    cr_assert_eq(clv_mesh_make(form, c, (clv_mesh_devices){ device, n }, arena, &mesh, &err),
                 CLV_EUSAGE);
    cr_assert_str_eq(err.message, sentence);
    cr_assert_null(mesh);
}

static void not_read(const char *text, const char *sentence)
{
    clv_mesh_form form;
    cr_assert_eq(clv_mesh_form_parse(text, arena, &form, &err), CLV_EUSAGE, "'%s' was read", text);
    if (sentence)
        cr_assert_str_eq(err.message, sentence);
}

/* -- text -- */

Test(mesh, sizes_and_names_are_read)
{
    clv_mesh_form f = form_of("2x8");
    cr_assert(f.n_axes == 2 && f.size[0] == 2 && f.size[1] == 8 && f.size[2] == 1);
    cr_assert_null(f.name[0]);
    f = form_of("xp=2xax=4x8a=16");
    cr_assert(f.n_axes == 3 && f.size[0] == 2 && f.size[1] == 4 && f.size[2] == 16);
    cr_assert_str_eq(f.name[0], "xp");
    cr_assert_str_eq(f.name[1], "ax");
    cr_assert_str_eq(f.name[2], "8a");
    cr_assert_eq(form_of("16").n_axes, 1);
}

Test(mesh, other_text_is_refused)
{
    not_read("1x2x3x4", "mesh '1x2x3x4' has more than 3 axes");
    const char *const bad[] = { "",     "x",     "2x",  "x2",  "2xx2",          "0x2",
                                "-1",   "2 x 2", "2*8", "dp=", "2x99999999999", "=",
                                "dp=x2" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        not_read(bad[i], NULL);
    clv_mesh_form f = form_of("=2");
    refused(&f, sim_cluster(arena, 2), NULL, 0,
            "axis 0 of the mesh has the name '', expected " CLV_MESH_NAME_RULE);
}

Test(mesh, names_are_words_that_go_into_every_text)
{
    static const char *const good[] = {
        "x", "ex", "8a", "d-p", "_", "größe", "0123456789012345678901234567890123456789"
    };
    static const char *const bad[] = { "",
                                       "-",
                                       "-d",
                                       "a b",
                                       "a,b",
                                       "a=b",
                                       "a.b",
                                       "a@b",
                                       "a*b",
                                       "{a}",
                                       "(a)",
                                       "2x",
                                       "a2xb",
                                       "a\"",
                                       "a\n",
                                       "a/b",
                                       "01234567890123456789012345678901234567890" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_expect(clv_mesh_is_name(good[i]), "'%s' is one", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_not(clv_mesh_is_name(bad[i]), "'%s' is none", bad[i]);
}

/* -- making one -- */

/* covers: C.026 */
Test(mesh, a_device_matrix_has_an_alias_for_each_axis)
{
    clv_cluster *c = sim_cluster(arena, 128);
    clv_mesh_form f = { 3, { 8, 4, 4 }, { "dp", "sp", "mp" } };
    const clv_mesh *mesh = NULL;
    cr_assert_eq(clv_mesh_make(&f, c, CLV_MESH_ALL_DEVICES, arena, &mesh, &err), CLV_OK);
    cr_assert_eq(mesh->n_devices, 128);
    cr_assert_str_eq(mesh->name[2], "mp");
    cr_assert_eq(clv_mesh_coord(mesh, 127, 0), 7);
    cr_assert_eq(clv_mesh_coord(mesh, 16 + 4 + 3, 0), 1);
    cr_assert_eq(clv_mesh_coord(mesh, 16 + 4 + 3, 1), 1);
    cr_assert_eq(clv_mesh_coord(mesh, 16 + 4 + 3, 2), 3);
}

/* covers: C.027 */
Test(mesh, what_does_not_match_is_said)
{
    clv_cluster *dgx = cluster_of("dgx-h100");
    clv_mesh_form f = form_of("2x8");
    refused(&f, dgx, NULL, 0, "mesh 2x8 has 16 devices, cluster 'dgx-h100' has 8");
    f = form_of("1024x1024x1024");
    refused(&f, dgx, NULL, 0, "mesh 1024x1024x1024 has over 1024 devices");
    f = (clv_mesh_form){ 2, { 2, 4, 1 }, { "dp", "dp" } };
    refused(&f, dgx, NULL, 0, "two axes of the mesh have the name 'dp'");
    f = (clv_mesh_form){ 2, { 2, 4, 1 }, { "dp" } };
    refused(&f, dgx, NULL, 0, "a mesh of 2 axes has 1 names, expected one for each");
    f = (clv_mesh_form){ 2, { 2, 4, 1 }, { "dp", "tp", "sp" } };
    refused(&f, dgx, NULL, 0, "a mesh of 2 axes has a name more: 'sp'");
    f = (clv_mesh_form){ 0, { 0 }, { 0 } };
    refused(&f, dgx, NULL, 0, "a mesh of 0 axes, expected 1 to 3");
    f = (clv_mesh_form){ 2, { 8, 0, 1 }, { 0 } };
    refused(&f, dgx, NULL, 0, "axis 1 of the mesh has size 0, expected at least 1");
}

Test(mesh, devices_of_it_are_of_the_cluster_and_each_once)
{
    clv_cluster *dgx = cluster_of("dgx-h100");
    clv_mesh_form f = form_of("2x2");
    const int32_t twice[] = { 4, 5, 4, 6 }, beyond[] = { 4, 5, 8, 6 }, some[] = { 7, 5, 4, 6 };
    const clv_mesh *mesh = NULL;
    refused(&f, dgx, twice, 4, "device 4 is in the mesh twice");
    refused(&f, dgx, beyond, 4, "device 2 of the mesh is 8, cluster 'dgx-h100' has 8 devices");
    refused(&f, dgx, some, 3, "mesh 2x2 has 4 devices, 3 are given");
    cr_assert_eq(clv_mesh_make(&f, dgx, (clv_mesh_devices){ some, 4 }, arena, &mesh, &err), CLV_OK);
    cr_assert_eq(clv_mesh_position(mesh, 4), 2);
    cr_assert_eq(clv_mesh_position(mesh, 0), -1);
}

/* -- groups -- */

static const char *groups(const clv_mesh *mesh, uint32_t axes)
{
    static char text[200];
    int32_t member[64], n = clv_mesh_count(mesh, axes), used = 0;
    clv_mesh_groups(mesh, axes, member);
    for (int32_t i = 0; i < mesh->n_devices; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%d",
                         i == 0       ? ""
                         : i % n == 0 ? " | "
                                      : " ",
                         (int)member[i]);
    return text;
}

Test(mesh, groups_are_those_that_differ_in_the_axes_alone)
{
    const clv_mesh *mesh = mesh_of("2x3", sim_cluster(arena, 6));
    cr_assert_str_eq(groups(mesh, 0), "0 | 1 | 2 | 3 | 4 | 5");
    cr_assert_str_eq(groups(mesh, 1), "0 3 | 1 4 | 2 5");
    cr_assert_str_eq(groups(mesh, 2), "0 1 2 | 3 4 5");
    cr_assert_str_eq(groups(mesh, 3), "0 1 2 3 4 5");
    mesh = mesh_of("2x2x2", sim_cluster(arena, 8));
    cr_assert_str_eq(groups(mesh, 5), "0 1 4 5 | 2 3 6 7");
    cr_assert_str_eq(groups(mesh, 2), "0 2 | 1 3 | 4 6 | 5 7");
}

/* -- meshes of a cluster -- */

static clv_link_levels levels_of(const clv_cluster *c, const int32_t *device, int32_t n)
{
    clv_link_levels levels = { 0 };
    cr_assert_eq(clv_mesh_levels(c, (clv_mesh_devices){ device, n }, arena, &levels, &err), CLV_OK);
    return levels;
}

static const char *forms(const clv_link_levels *levels, int32_t max_axes)
{
    static char text[2000];
    const clv_mesh_form *at;
    int32_t n, used = 0;
    text[0] = 0;
    cr_assert_eq(clv_mesh_forms(levels, max_axes, arena, &at, &n, &err), CLV_OK);
    for (int32_t i = 0; i < n; i++)
        for (int32_t a = 0; a < at[i].n_axes; a++)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%d",
                             a        ? "x"
                             : i == 0 ? ""
                                      : " ",
                             (int)at[i].size[a]);
    return text;
}

Test(mesh, link_levels_from_the_innermost)
{
    clv_link_levels levels = levels_of(cluster_of("dgx-h100-x4"), NULL, 0);
    cr_assert_eq(levels.n_levels, 2);
    cr_assert(levels.size[0] == 8 && levels.size[1] == 4);
    for (int32_t i = 0; i < 32; i++)
        cr_assert_eq(levels.order[i], i);
    levels = levels_of(cluster_of("dgx-h100"), NULL, 0);
    cr_assert(levels.n_levels == 1 && levels.size[0] == 8);
    levels = levels_of(cluster_of("cpu-2"), (const int32_t[]){ 1 }, 1);
    cr_assert(levels.n_levels == 1 && levels.size[0] == 1 && levels.order[0] == 1);
    cr_assert_str_eq(forms(&levels, 3), "1");
}

Test(mesh, more_levels_than_axes)
{
    clv_cluster *c = sim_cluster(arena, 24);
    clv_level four[] = { { "a", 2, { 100e9, 1, 1, CLV_ASSUMED } },
                         { "b", 3, { 50e9, 1, 1, CLV_ASSUMED } },
                         { "c", 2, { 10e9, 1, 1, CLV_ASSUMED } },
                         { "d", 2, { 1e9, 1, 1, CLV_ASSUMED } } };
    cr_assert_eq(clv_routes_by_levels(c, four, 4, arena, NULL), CLV_OK);
    clv_link_levels levels = levels_of(c, NULL, 0);
    cr_assert_eq(levels.n_levels, 4);
    cr_assert(levels.size[0] == 2 && levels.size[1] == 3 && levels.size[2] == 2 &&
              levels.size[3] == 2);
}

/* Fast pairs 0-2 and 1-3, a slow wire between 2 and 1. */
Test(mesh, neighbours_in_the_mesh_are_those_that_fast_links_join)
{
    clv_cluster *c = sim_cluster(arena, 4);
    clv_link links[] = { { "fast", 0, 2, { 100e9, 1, 1, CLV_ASSUMED } },
                         { "fast", 2, 0, { 100e9, 1, 1, CLV_ASSUMED } },
                         { "fast", 1, 3, { 100e9, 1, 1, CLV_ASSUMED } },
                         { "fast", 3, 1, { 100e9, 1, 1, CLV_ASSUMED } },
                         { "slow", 2, 1, { 1e9, 1, 1, CLV_ASSUMED } },
                         { "slow", 1, 2, { 1e9, 1, 1, CLV_ASSUMED } } };
    cr_assert_eq(clv_routes_by_links(c, "test", links, 6, arena, NULL), CLV_OK);
    clv_link_levels levels = levels_of(c, NULL, 0);
    const int32_t want[] = { 0, 2, 1, 3 };
    cr_assert(levels.n_levels == 2 && levels.size[0] == 2 && levels.size[1] == 2);
    cr_assert_arr_eq(levels.order, want, sizeof want);
}

Test(mesh, groups_of_unequal_size_make_no_level)
{
    clv_link_levels levels =
        levels_of(cluster_of("dgx-h100-x4"), (const int32_t[]){ 0, 1, 2, 3, 4, 8 }, 6);
    cr_assert(levels.n_levels == 1 && levels.size[0] == 6);
    levels = levels_of(cluster_of("h100-l40s"), NULL, 0); /* two pairs, of two kinds */
    cr_assert_eq(levels.order[0] / 2, levels.order[1] / 2);
}

Test(mesh, all_forms_keep_to_the_levels)
{
    clv_link_levels levels = levels_of(cluster_of("dgx-h100-x2"), NULL, 0);
    cr_assert_str_eq(forms(&levels, 1), "16");
    cr_assert_str_eq(forms(&levels, 3), "16 2x8 4x4 8x2 2x2x4 2x4x2 4x2x2");
    levels = levels_of(sim_cluster(arena, 12), NULL, 0);
    cr_assert_str_eq(forms(&levels, 2), "12 2x6 3x4 4x3 6x2");
    clv_level six_by_two[] = { { "a", 6, { 100e9, 1, 1, CLV_ASSUMED } },
                               { "b", 2, { 1e9, 1, 1, CLV_ASSUMED } } };
    clv_cluster *c = sim_cluster(arena, 12);
    cr_assert_eq(clv_routes_by_levels(c, six_by_two, 2, arena, NULL), CLV_OK);
    levels = levels_of(c, NULL, 0);
    cr_assert_str_eq(forms(&levels, 2), "12 2x6 4x3 6x2"); /* 3x4: four are no part of six */
}

/* covers: D.005 */
Test(mesh, shares_are_in_proportion_to_the_devices_rates)
{
    clv_cluster *c = cluster_of("h100-l40s");
    int64_t share[4], other[2];
    clv_mesh_shares(mesh_of("4", c), c, 0, CLV_DT_FLOAT16, share);
    cr_assert(share[0] == share[1] && share[2] == share[3] && share[0] > share[2] && share[2] > 0);
    double ratio = clv_device_matrix_rate(clv_device_kind_of(c, 2), CLV_DT_FLOAT16) /
                   clv_device_matrix_rate(clv_device_kind_of(c, 0), CLV_DT_FLOAT16);
    cr_assert_float_eq((double)share[2] / (double)share[0], ratio, 1e-5);
    clv_mesh_shares(mesh_of("2x2", c), c, 1, CLV_DT_FLOAT16, other);
    cr_assert_eq(other[0], other[1]); /* the slower of each counts */
}
