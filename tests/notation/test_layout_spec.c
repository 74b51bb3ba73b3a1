/* test_layout_spec.c - every layout of small tensors as a spec: the spec's shards are the layout's
 * parts, device by device, and the way back gives the layout again.
 */
#include "notation/layout_spec.h"

#include <criterion/criterion.h>
#include <string.h>

#include "notation/layout_text.h"
#include "notation/spec_shards.h"
#include "sharding/steps.h"
#include "support/layout_sim.h"

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(layout_spec, .init = open_arena, .fini = close_arena);

static clv_layout_spec spec_of(const clv_layout *layout, const clv_mesh *mesh,
                               const clv_tensor_split *tensor)
{
    clv_layout_spec s = { 0 };
    clv_error err = { .message = "" };
    cr_assert_eq(clv_layout_to_spec(layout, mesh, tensor, arena, &s, &err), CLV_OK, "%s",
                 err.message);
    s.spec.tensor = "X";
    return s;
}

static bool is_lost(const clv_layout_spec *s)
{
    for (int32_t i = 0; i < s->n_omitted; i++)
        if (s->omitted[i].lost)
            return true;
    return false;
}

/* Elements of [0, n) in a box, as a set of bytes; dims row-major. */
static void elements(int32_t rank, const int64_t *dims, const int64_t *offset, const int64_t *size,
                     int32_t n, char *ret)
{
    for (int32_t e = 0; e < n; e++) {
        int64_t rest = e;
        ret[e] = 1;
        for (int32_t i = rank - 1; i >= 0; i--) {
            int64_t at = rest % dims[i];
            rest /= dims[i];
            ret[e] = (char)(ret[e] && at >= offset[i] && at < offset[i] + size[i]);
        }
    }
}

static bool same_parts(const clv_layout_spec *s, const clv_layout *layout, const clv_mesh *mesh,
                       const clv_tensor_split *t)
{
    clv_shards shards;
    clv_split_dims split;
    clv_part part;
    int32_t n = 1;
    char want[SIM_ELEMS], got[SIM_ELEMS];
    clv_error err = { .message = "" };

    for (int32_t d = 0; d < t->rank; d++)
        n *= (int32_t)t->dims[d];
    clv_status status = clv_spec_shards(&s->spec, t, arena, &shards, &err);
    if (status != CLV_OK)
        return false;
    cr_assert_eq(shards.n, mesh->n_devices);
    clv_split_dims_of(layout, t, &split);
    for (int32_t i = 0; i < shards.n; i++) {
        const clv_shard *shard = &shards.at[i];
        int32_t p = clv_mesh_position(mesh, (int32_t)shard->device);
        cr_assert_geq(p, 0);
        clv_layout_part(layout, mesh, t, &split, p, &part);
        elements(shards.rank, shards.dims, shard->offset, shard->size, n, got);
        elements(split.rank, split.dims, part.offset, part.size, n, want);
        if (memcmp(want, got, (size_t)n) != 0 || shard->bytes != part.bytes)
            return false;
    }
    return true;
}

static void comes_back(const clv_layout_spec *s, const clv_layout *layout, const clv_mesh *mesh,
                       const clv_tensor_split *t)
{
    const clv_layout *back = NULL;
    clv_layout want = *layout;
    cr_assert_eq(clv_layout_from_spec(&s->spec, mesh, t, arena, &back, NULL), CLV_OK);
    cr_assert(back);
    for (int a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (want.dim[a] == CLV_AXIS_PARTIAL)
            clv_layout_unsplit(&want, a);
    char x[CLV_LAYOUT_TEXT], y[CLV_LAYOUT_TEXT];
    cr_assert(clv_layout_equal(back, &want), "%s became %s",
              clv_layout_show(x, &want, mesh, t->rank), clv_layout_show(y, back, mesh, t->rank));
}

/* Returns how many layouts lost their sizes. */
static int32_t try_all(const clv_mesh *mesh, const clv_tensor_split *t, const clv_slot *more,
                       int32_t n_more)
{
    const clv_layouts *all = NULL;
    int32_t n_lost = 0;
    char text[CLV_LAYOUT_TEXT];
    cr_assert_eq(clv_layouts_make(mesh, t, (clv_slots){ more, n_more }, arena, &all, NULL), CLV_OK);
    for (int32_t i = 0; i < all->n; i++) {
        clv_mark mark = clv_arena_mark(arena);
        clv_layout_spec s = spec_of(&all->at[i], mesh, t);
        bool lost = is_lost(&s);
        n_lost += lost;
        cr_assert_eq(same_parts(&s, &all->at[i], mesh, t), !lost, "%s",
                     clv_layout_show(text, &all->at[i], mesh, t->rank));
        comes_back(&s, &all->at[i], mesh, t);
        int32_t partial = 0;
        for (int32_t k = 0; k < s.n_omitted; k++)
            partial += s.omitted[k].kind == CLV_OMITTED_PARTIAL;
        cr_assert_eq(partial, __builtin_popcount(clv_layout_partial_axes(&all->at[i])));
        clv_arena_rewind(arena, mark);
    }
    return n_lost;
}

static clv_tensor_split tensor_of(int32_t rank, const int64_t *dims, clv_uneven_policy policy)
{
    return (clv_tensor_split){ .rank = rank, .dims = dims, .dtype = CLV_DT_INT8, .policy = policy };
}

static const char *const meshes[] = { "2", "4", "2x2", "2x3", "2x2x2", "1x2" };
#define N_MESHES 6

/* covers: A.011 A.012 A.016 A.018 A.019 A.020 A.022 C.013 */
Test(layout_spec, gives_every_device_its_part_of_even_tensors)
{
    const int64_t dims[] = { 12, 6, 4 };
    for (int m = 0; m < N_MESHES; m++)
        for (int32_t rank = 0; rank <= 3; rank++) {
            clv_tensor_split t = tensor_of(rank, dims, CLV_UNEVEN_REFUSE);
            cr_assert_eq(try_all(sim_mesh(arena, meshes[m]), &t, NULL, 0), 0);
        }
}

/* covers: A.021 */
Test(layout_spec, gives_every_device_its_part_of_uneven_tensors_or_says_not)
{
    const int64_t dims[] = { 7, 5, 9 };
    for (int m = 0; m < N_MESHES; m++)
        for (int32_t rank = 1; rank <= 3; rank++)
            for (int p = CLV_UNEVEN_CEIL; p <= CLV_UNEVEN_BALANCED; p++) {
                clv_tensor_split t = tensor_of(rank, dims, (clv_uneven_policy)p);
                int32_t lost = try_all(sim_mesh(arena, meshes[m]), &t, NULL, 0);
                bool one_axis = m < 2 || m == 5; /* only nested axes cut otherwise */
                if (one_axis)
                    cr_assert_eq(lost, 0);
            }
}

/* covers: A.034 A.036 */
Test(layout_spec, fused_dimensions_have_a_sharding_for_each_factor)
{
    const int64_t dims[] = { 16, 6 }, uneven[] = { 12, 5 };
    const clv_slot slots[] = { { 0, 2, 1 }, { 0, 4, 1 }, { 1, 2, 1 }, { 0, 3, 1 } };
    for (int m = 0; m < N_MESHES; m++) {
        clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_REFUSE);
        cr_assert_eq(try_all(sim_mesh(arena, meshes[m]), &t, slots, 4), 0);
        t = tensor_of(2, uneven, CLV_UNEVEN_CEIL);
        try_all(sim_mesh(arena, meshes[m]), &t, slots, 4);
    }
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_REFUSE);
    clv_layout l = CLV_LAYOUT_COPIES;
    clv_layout_split(&l, 0, 0, 1);
    clv_layout_split(&l, 1, 0, 4);
    clv_layout_spec s = spec_of(&l, sim_mesh(arena, "2x2"), &t);
    cr_assert_eq(s.spec.n_dims, 1);
    cr_assert_eq(s.spec.dims[0].n_simple, 2);
    cr_assert(s.spec.dims[0].simple[0].dim == 4 && s.spec.dims[0].simple[0].num_shards == 2);
    cr_assert(s.spec.dims[0].simple[1].dim == CLV_DIM_UNKNOWN &&
              s.spec.dims[0].simple[1].num_shards == 2);
}

/* A dimension of units is a dimension of two factors, of which the first is split. covers: A.021 */
Test(layout_spec, units_are_a_factor_of_their_own)
{
    const int64_t dims[] = { 20, 6 };
    const clv_slot slots[] = { { 0, 1, 4 }, { 0, 2, 2 }, { 0, 5, 1 }, { 1, 1, 2 } };
    for (int m = 0; m < N_MESHES; m++) {
        clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_CEIL);
        int32_t lost = try_all(sim_mesh(arena, meshes[m]), &t, slots, 4);
        bool one_axis = m < 2 || m == 5; /* only nested axes cut otherwise */
        if (one_axis)
            cr_assert_eq(lost, 0);
    }
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_CEIL);
    clv_layout l = CLV_LAYOUT_COPIES;
    clv_layout_split_units(&l, 0, 0, 1, 4);
    clv_layout_spec s = spec_of(&l, sim_mesh(arena, "2"), &t);
    cr_assert_eq(s.spec.dims[0].n_simple, 2);
    cr_assert(s.spec.dims[0].simple[0].dim == 5 && s.spec.dims[0].simple[0].num_shards == 2);
    cr_assert(s.spec.dims[0].simple[1].dim == CLV_DIM_UNKNOWN &&
              s.spec.dims[0].simple[1].num_shards == 1);
    cr_assert_eq(s.n_omitted, 1);
    cr_assert_str_eq(s.omitted[0].text, "dimension 0 of 20 elements has parts of 12, 8");
    cr_assert_not(s.omitted[0].lost);
}

/* covers: A.023 A.024 A.025 A.028 */
Test(layout_spec, copies_are_groups_with_negative_keys)
{
    const int64_t dims[] = { 4, 4 };
    const clv_mesh *mesh = sim_mesh(arena, "2x2");
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_REFUSE);
    clv_layout l = CLV_LAYOUT_COPIES;
    clv_layout_spec s = spec_of(&l, mesh, &t);
    cr_assert(s.spec.n_device == 1 && s.spec.device[0] == -1 && s.spec.n_dims == 0);
    cr_assert(s.spec.n_groups == 1 && s.spec.groups[0].n_devices == 4);
    clv_layout_split(&l, 1, 0, 1); /* tp splits rows, dp copies */
    s = spec_of(&l, mesh, &t);
    cr_assert(s.spec.n_device == 2 && s.spec.device[0] == -1 && s.spec.device[1] == -2);
    cr_assert(s.spec.groups[0].devices[0] == 0 && s.spec.groups[0].devices[1] == 2);
    cr_assert(s.spec.groups[1].devices[0] == 1 && s.spec.groups[1].devices[1] == 3);
    cr_assert_eq(s.n_omitted, 0);
}

/* One axis cuts what another one leaves; who counts six parts of 16 gets 3, 3, 3, 3, 3 and 1. */
Test(layout_spec, uneven_parts_within_even_ones_are_factors_of_a_dimension)
{
    const int64_t dims[] = { 16, 4 };
    const clv_mesh *mesh = sim_mesh(arena, "2x3");
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_CEIL);
    clv_layout l = CLV_LAYOUT_COPIES;
    const clv_layout *back = NULL;
    clv_layout_split(&l, 0, 0, 1);
    clv_layout_split(&l, 1, 0, 1);
    clv_layout_spec s = spec_of(&l, mesh, &t);
    cr_assert_eq(s.n_omitted, 1);
    cr_assert_str_eq(s.omitted[0].text, "dimension 0 of 16 elements has parts of 3, 3, 2, 3, 3, 2");
    cr_assert(!s.omitted[0].lost);
    cr_assert_eq(s.spec.dims[0].n_simple, 2);
    cr_assert_eq(s.spec.dims[0].simple[0].dim, 2);
    cr_assert_eq(s.spec.dims[0].simple[0].num_shards, 2);
    cr_assert_eq(s.spec.dims[0].simple[1].num_shards, 3);
    cr_assert_eq(clv_layout_from_spec(&s.spec, mesh, &t, arena, &back, NULL), CLV_OK);
    cr_assert(back);
    clv_layout plain = clv_layout_plain(back, mesh);
    cr_assert(clv_layout_equal(&plain, &l));
}

Test(layout_spec, what_the_schema_has_no_word_for_is_reported)
{
    const int64_t dims[] = { 10, 4 }, nine[] = { 9, 4 }, share[] = { 1, 4 };
    const clv_mesh *mesh = sim_mesh(arena, "2x2x2");
    clv_tensor_split t = tensor_of(2, dims, CLV_UNEVEN_BALANCED);
    clv_layout l = CLV_LAYOUT_COPIES;
    clv_layout_split(&l, 0, 0, 1);
    clv_layout_split(&l, 1, 0, 1);
    l.dim[2] = CLV_AXIS_PARTIAL;
    l.reduce[2] = CLV_REDUCE_MAX;
    clv_layout_spec s = spec_of(&l, mesh, &t);
    cr_assert_eq(s.n_omitted, 2);
    cr_assert_str_eq(s.omitted[0].text, "partial results by max over axis tp");
    cr_assert(s.omitted[0].kind == CLV_OMITTED_PARTIAL && s.omitted[0].axis == 2);
    cr_assert_str_eq(s.omitted[1].text, "dimension 0 of 10 elements has parts of 3, 2, 3, 2");
    cr_assert(s.omitted[1].kind == CLV_OMITTED_SIZES && s.omitted[1].dim == 0);
    t = tensor_of(2, nine, CLV_UNEVEN_CEIL); /* at once: 3, 3, 3 and none */
    s = spec_of(&l, mesh, &t);
    cr_assert_str_eq(s.omitted[1].text, "dimension 0 of 9 elements has parts of 3, 2, 2, 2");
    cr_assert(s.omitted[1].lost);
    t = tensor_of(2, dims, CLV_UNEVEN_BALANCED);
    l = CLV_LAYOUT_COPIES;
    clv_layout_split(&l, 0, 0, 1);
    t.share[0] = share;
    s = spec_of(&l, mesh, &t);
    cr_assert_str_eq(s.omitted[0].text, "dimension 0 of 10 elements has parts of 2, 8");
    cr_assert(s.omitted[0].lost);
}

/* covers: A.015 A.017 */
Test(layout_spec, specs_by_other_hands_are_understood)
{
    const clv_mesh *mesh = sim_mesh(arena, "2x2");
    const int64_t dims[] = { 4, 4 }, in_order[] = { 0, 1, 2, 3 }, turned[] = { 0, 3, 2, 1 };
    const clv_simple_sharding two = { .dim = CLV_DIM_UNKNOWN, .num_shards = 2 };
    const clv_sharded_dim both[] = { { 1, &two, 1 }, { -2, &two, 1 } };
    clv_sharding_spec spec = {
        .tensor = "X", .device = in_order, .n_device = 4, .dims = both, .n_dims = 2
    };
    const clv_tensor_split tensor = { .rank = 2, .dims = dims };
    const clv_layout *l = NULL;
    char text[CLV_LAYOUT_TEXT];
    cr_assert_eq(clv_layout_from_spec(&spec, mesh, &tensor, arena, &l, NULL), CLV_OK);
    cr_assert(l);
    cr_assert_str_eq(clv_layout_show(text, l, mesh, 2), "{tp, dp}"); /* axis 1 is listed first */
    spec.device = turned;
    cr_assert_eq(clv_layout_from_spec(&spec, mesh, &tensor, arena, &l, NULL), CLV_OK);
    cr_assert_null(l);
    spec.n_device = 3;
    cr_assert_eq(clv_layout_from_spec(&spec, mesh, &tensor, arena, &l, NULL), CLV_EFORMAT);
}

Test(layout_spec, specs_beyond_the_mesh_have_no_layout)
{
    const clv_mesh *mesh = sim_mesh(arena, "2x2");
    const int64_t dims[] = { 4, 4 }, two_of_it[] = { 0, 1 }, strange[] = { 0, 1, 2, 9 };
    const clv_simple_sharding two = { .dim = CLV_DIM_UNKNOWN, .num_shards = 2 },
                              four = { .dim = CLV_DIM_UNKNOWN, .num_shards = 4 };
    const clv_sharded_dim halves = { 0, &two, 1 }, quarters = { 0, &four, 1 };
    clv_sharding_spec spec = {
        .tensor = "X", .device = two_of_it, .n_device = 2, .dims = &halves, .n_dims = 1
    };
    const clv_tensor_split tensor = { .rank = 2, .dims = dims };
    const clv_layout *l = &CLV_LAYOUT_COPIES;
    cr_assert_eq(clv_layout_from_spec(&spec, mesh, &tensor, arena, &l, NULL), CLV_OK);
    cr_assert_null(l);
    spec = (clv_sharding_spec){
        .tensor = "X", .device = strange, .n_device = 4, .dims = &quarters, .n_dims = 1
    };
    l = &CLV_LAYOUT_COPIES;
    cr_assert_eq(clv_layout_from_spec(&spec, mesh, &tensor, arena, &l, NULL), CLV_OK);
    cr_assert_null(l);
}
