/* test_steps.c - every step from every layout, on real small tensors: the devices end up with just
 * the parts of the layout that the step leads to, and send each other no more than it says.
 */
#include "notation/layout_text.h"
#include "sharding/steps.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "support/layout_sim.h"

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(steps, .init = open_arena, .fini = close_arena);

static const clv_layouts *layouts_of(const clv_mesh *mesh, const clv_tensor_split *tensor,
                                     const clv_slot *more, int32_t n_more)
{
    const clv_layouts *all = NULL;
    clv_error err = { .message = "" };
    cr_assert_eq(clv_layouts_make(mesh, tensor, (clv_slots){ more, n_more }, arena, &all, &err),
                 CLV_OK, "%s", err.message);
    return all;
}

static const char *show(const clv_layouts *all, const clv_layout *l)
{
    static char buf[4][CLV_LAYOUT_TEXT];
    static int at;
    at = (at + 1) % 4;
    return clv_layout_show(buf[at], l, all->mesh, all->tensor.rank);
}

/* One step on a tensor of single bytes: bytes are elements. */
static void try_step(const clv_layouts *all, int32_t from, const clv_step_to *step)
{
    static sim s;
    int64_t pair = 0;
    int32_t n = step->kind == CLV_STEP_PERMUTE ? 1 : clv_mesh_count(all->mesh, step->axes);

    sim_lay_out(&s, all->mesh, &all->tensor, &all->at[from]);
    const char *wrong = sim_step(&s, step->kind, step->axes, &all->at[step->to], &pair);
    wrong = wrong ? wrong : sim_check(&s);
    cr_assert_null(wrong, "%s: %s over %u from %s to %s", wrong, clv_step_name(step->kind),
                   step->axes, show(all, &all->at[from]), show(all, &all->at[step->to]));
    bool sends = step->kind != CLV_STEP_SLICE && step->kind != CLV_STEP_NEUTRAL;
    if (sends && step->kind != CLV_STEP_ALL_REDUCE)
        cr_assert_leq(pair, step->bytes / n, "%s from %s to %s: %lld sent, %lld said",
                      clv_step_name(step->kind), show(all, &all->at[from]),
                      show(all, &all->at[step->to]), (long long)pair, (long long)(step->bytes / n));
    cr_assert_eq(sends, step->bytes > 0);
}

static int32_t try_all(const char *mesh, const clv_tensor_split *tensor, const clv_slot *more,
                       int32_t n_more)
{
    const clv_layouts *all = layouts_of(sim_mesh(arena, mesh), tensor, more, n_more);
    clv_step_list list = { 0 };
    bool kinds[CLV_N_STEPS] = { false };

    for (int32_t i = 0; i < all->n; i++) {
        list.n = 0;
        cr_assert_eq(clv_layouts_steps(all, i, arena, &list, NULL), CLV_OK);
        for (int32_t k = 0; k < list.n; k++) {
            try_step(all, i, &list.at[k]);
            kinds[list.at[k].kind] = true;
        }
    }
    for (int32_t k = 0; k < CLV_STEP_ALL_TO_ALL; k++)
        cr_assert(kinds[k], "mesh %s: no step is a %s", mesh, clv_step_name((clv_step_kind)k));
    return all->n;
}

static const char *const meshes[] = { "2", "4", "2x2", "2x3", "2x2x2" };
#define N_MESHES 5

static clv_tensor_split tensor_of(int32_t rank, const int64_t *dims, clv_uneven_policy policy)
{
    return (clv_tensor_split){ .rank = rank, .dims = dims, .dtype = CLV_DT_INT8, .policy = policy };
}

/* covers: C.009 */
Test(steps, are_right_on_every_layout_of_even_tensors)
{
    const int64_t dims[] = { 12, 6, 4 };
    for (int m = 0; m < N_MESHES; m++)
        for (int32_t rank = 1; rank <= 3; rank++) {
            clv_tensor_split t = tensor_of(rank, dims, CLV_UNEVEN_REFUSE);
            try_all(meshes[m], &t, NULL, 0);
        }
}

/* covers: A.021 */
Test(steps, are_right_on_every_layout_of_uneven_tensors)
{
    const int64_t dims[] = { 7, 5, 9 };
    for (int m = 0; m < N_MESHES; m++)
        for (int32_t rank = 1; rank <= 3; rank++)
            for (int p = CLV_UNEVEN_CEIL; p <= CLV_UNEVEN_BALANCED; p++) {
                clv_tensor_split t = tensor_of(rank, dims, (clv_uneven_policy)p);
                try_all(meshes[m], &t, NULL, 0);
            }
}

Test(steps, are_right_where_axes_split_inner_factors)
{
    const int64_t even[] = { 16, 6 }, uneven[] = { 12, 5 };
    const clv_slot slots[] = { { 0, 2, 1 }, { 0, 4, 1 }, { 1, 2, 1 }, { 0, 3, 1 }, { 0, 6, 1 } };
    for (int m = 0; m < N_MESHES; m++) {
        clv_tensor_split t = tensor_of(2, even, CLV_UNEVEN_REFUSE);
        try_all(meshes[m], &t, slots, 5);
        t = tensor_of(2, uneven, CLV_UNEVEN_CEIL);
        try_all(meshes[m], &t, slots, 5);
        t.policy = CLV_UNEVEN_BALANCED;
        try_all(meshes[m], &t, slots, 5);
    }
}

/* covers: A.021 */
Test(steps, are_right_where_parts_are_whole_units)
{
    const int64_t dims[] = { 20, 6 }, more[] = { 24, 5 };
    const clv_slot slots[] = { { 0, 1, 4 }, { 0, 2, 2 }, { 0, 5, 1 }, { 1, 1, 2 } };
    const clv_slot others[] = { { 0, 1, 4 }, { 0, 1, 8 }, { 0, 2, 4 }, { 0, 6, 1 } };
    for (int m = 0; m < N_MESHES; m++)
        for (int p = CLV_UNEVEN_CEIL; p <= CLV_UNEVEN_BALANCED; p++) {
            clv_tensor_split t = tensor_of(2, dims, (clv_uneven_policy)p);
            try_all(meshes[m], &t, slots, 4);
            t = tensor_of(2, more, (clv_uneven_policy)p);
            try_all(meshes[m], &t, others, 4);
        }
}

Test(steps, are_right_where_parts_have_shares)
{
    const int64_t dims[] = { 11, 8 }, unequal[] = { 1, 3 }, first[] = { 5, 2, 2 };
    const clv_slot slots[] = { { 1, 2, 1 } }, units[] = { { 1, 2, 1 }, { 1, 1, 2 } };
    const char *const some[] = { "2", "2x2", "2x3", "2x2x2" };
    for (int m = 0; m < 4; m++) {
        clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_BALANCED);
        t.share[0] = unequal;
        try_all(some[m], &t, slots, 1);
        t.share[1] = m == 2 ? first : unequal;
        try_all(some[m], &t, slots, 1);
        try_all(some[m], &t, units, 2);
    }
}

/* A ring of layouts: {dp.tp} and {tp.dp} have the same parts where these are equal. */
/* covers: E.056 */
Test(steps, equal_parts_on_other_devices_are_one_permute_away)
{
    const int64_t dims[] = { 12, 12 };
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_CEIL);
    for (int uneven = 0; uneven < 2; uneven++) {
        const int64_t other[] = { 13, 12 };
        t.dims = uneven ? other : dims;
        const clv_layouts *all = layouts_of(sim_mesh(arena, "2x3"), &t, NULL, 0);
        clv_layout from = CLV_LAYOUT_COPIES, to = CLV_LAYOUT_COPIES;
        clv_step_list list = { 0 };
        bool there = false;
        clv_layout_split(&from, 0, 0, 1);
        clv_layout_split(&from, 1, 0, 1);
        clv_layout_split(&to, 1, 0, 1);
        clv_layout_split(&to, 0, 0, 1);
        int32_t at = clv_layouts_find(all, &from);
        cr_assert_eq(clv_layouts_steps(all, at, arena, &list, NULL), CLV_OK);
        for (int32_t i = 0; i < list.n; i++)
            there |=
                list.at[i].kind == CLV_STEP_PERMUTE && list.at[i].to == clv_layouts_find(all, &to);
        cr_assert_eq(there, !uneven);
    }
}

Test(steps, layouts_are_found_by_what_they_are)
{
    const int64_t dims[] = { 8, 1, 4 };
    clv_tensor_split t = tensor_of(3, dims, CLV_UNEVEN_REFUSE);
    const clv_layouts *all = layouts_of(sim_mesh(arena, "2x2x2"), &t, NULL, 0);
    for (int32_t i = 0; i < all->n; i++) {
        clv_layout l = all->at[i];
        cr_assert_eq(clv_layouts_find(all, &l), i);
        for (int a = 0; a < 3; a++)
            if (l.dim[a] == CLV_AXIS_PARTIAL)
                l.reduce[a] = CLV_REDUCE_MAX;
        cr_assert_eq(clv_layouts_find(all, &l), i);
    }
    clv_layout l = CLV_LAYOUT_COPIES;
    clv_layout_split(&l, 0, 1, 1); /* a dimension of one element */
    cr_assert_eq(clv_layouts_find(all, &l), -1);
}

Test(steps, too_many_ways_to_split_are_refused)
{
    int64_t dims[CLV_SLOTS_MAX + 1];
    const clv_layouts *all = NULL;
    clv_error err;
    for (int i = 0; i <= CLV_SLOTS_MAX; i++)
        dims[i] = 2;
    clv_tensor_split t = tensor_of(CLV_SLOTS_MAX + 1, dims, CLV_UNEVEN_REFUSE);
    cr_assert_eq(
        clv_layouts_make(sim_mesh(arena, "2"), &t, (clv_slots){ NULL, 0 }, arena, &all, &err),
        CLV_ELIMIT);
    cr_assert_str_eq(err.message, "a tensor of rank 17 may be split in over 16 ways by one axis");
    t.rank = CLV_SLOTS_MAX;
    cr_assert_eq(
        clv_layouts_make(sim_mesh(arena, "2"), &t, (clv_slots){ NULL, 0 }, arena, &all, &err),
        CLV_OK);
    cr_assert_eq(all->n, CLV_SLOTS_MAX + 2);
}
