/* test_spans.c - spans of elements against lists of single ones, for every layout of small tensors.
 */
#include "sharding/spans.h"

#include <criterion/criterion.h>

#include "sharding/steps.h"
#include "support/layout_sim.h"

#define MOST 64 /* elements of a dimension here */

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(spans, .init = open_arena, .fini = close_arena);

/* Which elements a device has, one by one: of the dimension taken apart, each box of factors. */
static void mark(const clv_layout *l, const clv_mesh *mesh, const clv_tensor_split *t, int32_t dim,
                 int32_t position, bool *has)
{
    clv_split_dims dims;
    clv_part part;
    clv_split_dims_of(l, t, &dims);
    clv_layout_part(l, mesh, t, &dims, position, &part);
    for (int64_t e = 0; e < t->dims[dim]; e++) {
        int64_t rest = e;
        has[e] = true;
        for (int32_t i = dims.rank - 1; i >= 0; i--) {
            if (dims.axis_of[i] != dim)
                continue;
            int64_t at = rest % dims.dims[i];
            rest /= dims.dims[i];
            has[e] = has[e] && at >= part.offset[i] && at < part.offset[i] + part.size[i];
        }
    }
}

/* Rising, apart from each other, and just these elements. */
static void are_just(const clv_spans *s, const bool *has, int64_t n)
{
    bool got[MOST] = { false };
    int64_t elems = 0, end = -1;
    for (int32_t i = 0; i < s->n; i++) {
        cr_assert_geq(s->span[i].n, 1);
        cr_assert_gt(s->span[i].at, end, "two spans touch");
        end = s->span[i].at + s->span[i].n;
        cr_assert_leq(end, n);
        elems += s->span[i].n;
        for (int64_t e = s->span[i].at; e < end; e++)
            got[e] = true;
    }
    cr_assert_eq(s->elems, elems);
    for (int64_t e = 0; e < n; e++)
        cr_assert_eq(got[e], has[e], "element %d", (int)e);
}

/* One part within another: the places of its elements, counted one by one. */
static void check_within(const clv_spans *part, const bool *mine, const clv_spans *all,
                         const bool *theirs, int64_t n)
{
    bool places[MOST] = { false }, inside = true;
    clv_spans at;
    clv_error err;
    int64_t place = 0;
    for (int64_t e = 0; e < n; e++) {
        inside = inside && (!mine[e] || theirs[e]);
        if (theirs[e])
            places[place++] = mine[e];
    }
    cr_assert_eq(clv_spans_has(all, part), inside);
    clv_status status = clv_spans_within(part, all, arena, &at, &err);
    cr_assert_eq(status, inside ? CLV_OK : CLV_EINTERNAL);
    if (inside)
        are_just(&at, places, place);
}

/* Every layout, dimension and device, and each against the same dimension under every other layout.
 */
static int check_all(const char *form, int64_t rows, int64_t columns, const clv_slot *slot,
                     int32_t n_slots)
{
    const int64_t sizes[] = { rows, columns };
    const clv_mesh *mesh = sim_mesh(arena, form);
    clv_tensor_split t = {
        .rank = 2, .dims = sizes, .dtype = CLV_DT_FLOAT, .policy = CLV_UNEVEN_CEIL
    };
    const clv_layouts *all;
    int n = 0;
    cr_assert_eq(clv_layouts_make(mesh, &t, (clv_slots){ slot, n_slots }, arena, &all, NULL),
                 CLV_OK);
    for (int32_t d = 0; d < 2; d++)
        for (int32_t p = 0; p < mesh->n_devices; p++)
            for (int32_t i = 0; i < all->n; i++) {
                bool mine[MOST], theirs[MOST];
                clv_spans a, b;
                mark(&all->at[i], mesh, &t, d, p, mine);
                cr_assert_eq(clv_layout_spans(&(clv_laid_out){ &all->at[i], mesh, &t }, d, p, arena,
                                              &a, NULL),
                             CLV_OK);
                are_just(&a, mine, sizes[d]);
                for (int32_t k = 0; k < all->n; k++, n++) {
                    mark(&all->at[k], mesh, &t, d, p, theirs);
                    cr_assert_eq(clv_layout_spans(&(clv_laid_out){ &all->at[k], mesh, &t }, d, p,
                                                  arena, &b, NULL),
                                 CLV_OK);
                    check_within(&a, mine, &b, theirs, sizes[d]);
                }
            }
    return n;
}

Test(spans, of_every_layout_are_the_elements_one_by_one)
{
    const clv_slot inner[] = { { 1, 3, 1 }, { 1, 1, 4 }, { 1, 3, 2 } };
    int n = check_all("2", 5, 12, inner, 3) + check_all("3x2", 4, 12, inner, 3) +
            check_all("2x2", 7, 12, NULL, 0) + check_all("2x2x2", 3, 12, inner, 1);
    cr_assert_gt(n, 10000);
}

/* Runs of neighbours that touch are one; what is not inside is reported, not found. */
Test(spans, touching_ones_are_joined)
{
    const clv_span pieces[] = { { 0, 2 }, { 4, 2 }, { 8, 2 } }, some[] = { { 1, 1 }, { 4, 2 } },
                   across[] = { { 1, 2 } };
    clv_spans all = { pieces, 3, 6 }, part = { some, 2, 3 }, gap = { across, 1, 2 },
              none = { NULL, 0, 0 }, at;
    clv_error err;
    cr_assert_eq(clv_spans_within(&part, &all, arena, &at, &err), CLV_OK);
    cr_assert_eq(at.n, 1);
    cr_assert_eq(at.span[0].at, 1);
    cr_assert_eq(at.span[0].n, 3);
    cr_assert(!clv_spans_has(&all, &gap));
    cr_assert_eq(clv_spans_within(&gap, &all, arena, &at, &err), CLV_EINTERNAL);
    cr_assert(clv_spans_has(&all, &none));
    cr_assert_eq(clv_spans_within(&none, &all, arena, &at, &err), CLV_OK);
    cr_assert_eq(at.n, 0);
    cr_assert(clv_spans_has(&none, &none));
    cr_assert(!clv_spans_has(&none, &part));
}

/* A device that has nothing of a dimension has no span of it. */
Test(spans, an_empty_part_has_none)
{
    const int64_t sizes[] = { 0, 4 };
    const clv_mesh *mesh = sim_mesh(arena, "2");
    clv_tensor_split t = { .rank = 2, .dims = sizes, .dtype = CLV_DT_FLOAT };
    clv_layout l = CLV_LAYOUT_COPIES;
    clv_spans s;
    cr_assert_eq(clv_layout_spans(&(clv_laid_out){ &l, mesh, &t }, 0, 1, arena, &s, NULL), CLV_OK);
    cr_assert_eq(s.n, 0);
    cr_assert_eq(s.elems, 0);
}

/* Two halves of each of 2^25 pairs: as many spans. */
Test(spans, too_many_are_refused)
{
    const int64_t sizes[] = { (int64_t)1 << 26 };
    const clv_mesh *mesh = sim_mesh(arena, "2");
    clv_tensor_split t = { .rank = 1, .dims = sizes, .dtype = CLV_DT_FLOAT };
    clv_layout l = CLV_LAYOUT_COPIES;
    clv_spans s;
    clv_error err;
    clv_layout_split(&l, 0, 0, 1 << 25);
    cr_assert_eq(clv_layout_check(&l, mesh, 1, &t, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(clv_layout_spans(&(clv_laid_out){ &l, mesh, &t }, 0, 0, arena, &s, &err),
                 CLV_ELIMIT);
    cr_assert(strstr(err.message, "16777216 spans"), "%s", err.message);
}
