/* test_cross.c - between meshes: every device gets what it lacks, counted element by element. */
#include "cost/cross.h"

#include <criterion/criterion.h>
#include <math.h>

#include "cluster/route.h"
#include "support/layout_sim.h"

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(cross, .init = open_arena, .fini = close_arena);

/* Two nodes of n: 100 GB/s and 1000 ns inside, 10 GB/s and 5000 ns across. */
static clv_cluster *nodes_of(int32_t n)
{
    clv_cluster *c = sim_cluster(arena, 2 * n);
    clv_level levels[] = { { "near", n, { 100e9, 1000, 1, CLV_ASSUMED } },
                           { "far", 2, { 10e9, 5000, 1, CLV_ASSUMED } } };
    cr_assert_eq(clv_routes_by_levels(c, levels, 2, arena, NULL), CLV_OK);
    return c;
}

static const clv_mesh *mesh_at(const clv_cluster *c, const char *text, int32_t first)
{
    clv_mesh_form form;
    const clv_mesh *mesh = NULL;
    int32_t device[SIM_DEVICES];
    cr_assert_eq(clv_mesh_form_parse(text, arena, &form, NULL), CLV_OK);
    int32_t n = form.size[0] * form.size[1] * form.size[2];
    for (int32_t i = 0; i < n; i++)
        device[i] = first + i;
    cr_assert_eq(clv_mesh_make(&form, c, (clv_mesh_devices){ device, n }, arena, &mesh, NULL),
                 CLV_OK);
    return mesh;
}

static clv_cross cross_of(const clv_mesh_tensor *from, const clv_mesh_tensor *to)
{
    clv_cross cross = { 0 };
    clv_error err = { .message = "" };
    cr_assert_eq(clv_cross_find(from, to, arena, &cross, &err), CLV_OK, "%s", err.message);
    return cross;
}

/* Elements that devices of the second mesh need and do not have themselves. */
static int64_t lacking(const clv_mesh_tensor *from, const clv_mesh_tensor *to)
{
    static sim a, b;
    int64_t n = 0;
    sim_lay_out(&a, from->mesh, from->tensor, from->layout);
    sim_lay_out(&b, to->mesh, to->tensor, to->layout);
    for (int32_t p = 0; p < to->mesh->n_devices; p++) {
        int32_t q = clv_mesh_position(from->mesh, to->mesh->device[p]);
        for (int32_t e = 0; e < b.n_elems; e++)
            n += b.has[p][e] && !(q >= 0 && a.has[q][e]);
    }
    return n;
}

static void try_all(const clv_cluster *c, const clv_mesh *first, const clv_mesh *second,
                    const clv_tensor_split *t)
{
    const clv_slot slots[] = { { 0, 2, 1 }, { 0, 3, 1 }, { 0, 1, 2 }, { 0, 1, 4 } };
    const clv_layouts *from = NULL, *to = NULL;
    cr_assert_eq(clv_layouts_make(first, t, (clv_slots){ slots, 4 }, arena, &from, NULL), CLV_OK);
    cr_assert_eq(clv_layouts_make(second, t, (clv_slots){ slots, 4 }, arena, &to, NULL), CLV_OK);
    for (int32_t i = 0; i < from->n; i++)
        for (int32_t j = 0; j < to->n; j++) {
            clv_mesh_tensor a = { c, first, t, &from->at[i] }, b = { c, second, t, &to->at[j] };
            if (clv_layout_partial_axes(a.layout) || clv_layout_partial_axes(b.layout))
                continue;
            clv_cross cross = cross_of(&a, &b);
            cr_assert_eq(cross.bytes, lacking(&a, &b));
            cr_assert_eq(cross.ns > 0, cross.bytes > 0);
        }
}

/* covers: E.056 */
Test(cross, every_device_gets_what_it_lacks_and_no_more)
{
    clv_cluster *c = nodes_of(8);
    const int64_t even[] = { 12, 4 }, uneven[] = { 6, 5 };
    const clv_mesh *pairs[][2] = { { mesh_at(c, "2x2", 0), mesh_at(c, "2x2", 8) },
                                   { mesh_at(c, "4", 0), mesh_at(c, "2x3", 6) },
                                   { mesh_at(c, "2x2", 0), mesh_at(c, "4", 2) },
                                   { mesh_at(c, "2x2", 0), mesh_at(c, "2x2", 0) },
                                   { mesh_at(c, "1", 0), mesh_at(c, "2x2x2", 8) } };
    for (int i = 0; i < 5; i++) {
        clv_tensor_split t = { 2, even, CLV_DT_INT8, CLV_UNEVEN_CEIL, { NULL } };
        try_all(c, pairs[i][0], pairs[i][1], &t);
        t.dims = uneven;
        t.policy = CLV_UNEVEN_BALANCED;
        try_all(c, pairs[i][0], pairs[i][1], &t);
    }
}

Test(cross, equal_layouts_on_equal_meshes_cost_nothing)
{
    clv_cluster *c = nodes_of(4);
    const int64_t dims[] = { 8 };
    clv_tensor_split t = { 1, dims, CLV_DT_INT8, CLV_UNEVEN_REFUSE, { NULL } };
    clv_layout l = CLV_LAYOUT_COPIES;
    clv_layout_split(&l, 0, 0, 1);
    clv_mesh_tensor place = { c, mesh_at(c, "4", 0), &t, &l };
    clv_cross cross = cross_of(&place, &place);
    cr_assert(cross.ns == 0 && cross.bytes == 0 && cross.n_transfers == 0);
}

/* Four copies to four copies: each sends to one; cut in four and gathered behind the slow link it
 * is a quarter on the slow link and three quarters on the fast one. */
Test(cross, parts_over_the_slow_link_and_put_together_behind_it)
{
    clv_cluster *c = nodes_of(4);
    const int64_t dims[] = { 1 << 24 };
    clv_tensor_split t = { 1, dims, CLV_DT_INT8, CLV_UNEVEN_REFUSE, { NULL } };
    clv_layout copies = CLV_LAYOUT_COPIES;
    const clv_mesh *second = mesh_at(c, "4", 4);
    clv_mesh_tensor from = { c, mesh_at(c, "4", 0), &t, &copies }, to = { c, second, &t, &copies };
    clv_reshard *r = NULL;
    const clv_comms *comms = NULL;
    double bytes = 1 << 24;
    clv_cross_way way = { .ns = -1 };

    clv_cross cross = cross_of(&from, &to);
    cr_assert_eq(cross.n_transfers, 4);
    cr_assert_float_eq((double)cross.ns, 5000 + bytes / 10, 2);
    cr_assert_eq(clv_comms_make(c, second, NULL, arena, &comms, NULL), CLV_OK);
    cr_assert_eq(clv_reshard_make(comms, &(clv_reshard_tensor){ &t, NULL, 0 }, arena, &r, NULL),
                 CLV_OK);
    cr_assert_eq(clv_cross_best(&from, r, &copies, arena, &way, NULL), CLV_OK);
    cr_assert_eq(way.via.dim[0], 0);
    cr_assert_float_eq((double)way.ns, 5000 + bytes / 4 / 10 + 2 * 1000 + bytes * 3 / 4 / 100, 4);
}

Test(cross, partial_results_stay_where_they_are)
{
    clv_cluster *c = nodes_of(4);
    const int64_t dims[] = { 8 };
    clv_tensor_split t = { 1, dims, CLV_DT_INT8, CLV_UNEVEN_REFUSE, { NULL } };
    clv_layout sum = CLV_LAYOUT_COPIES, copies = CLV_LAYOUT_COPIES;
    sum.dim[0] = CLV_AXIS_PARTIAL;
    sum.reduce[0] = CLV_REDUCE_SUM;
    clv_mesh_tensor from = { c, mesh_at(c, "4", 0), &t, &sum },
                    to = { c, mesh_at(c, "4", 4), &t, &copies };
    clv_cross cross;
    clv_error err;
    cr_assert_eq(clv_cross_find(&from, &to, arena, &cross, &err), CLV_EUSAGE);
    cr_assert_str_eq(err.message, "partial results over axis tp cannot go to another mesh");
}
